"""The classes of patterns and their weights (Director-AI page, stage 1). Its numbers are starting points."""

from enum import StrEnum, unique
from typing import Final


@unique
class PatternClass(StrEnum):
    """What a pattern is a sign of."""

    OVERRIDE = "override"
    DELIMITER = "delimiter"
    ROLE = "role"
    EXFILTRATION = "exfiltration"
    BASE64 = "base64"
    PATH = "path"
    MARKUP = "markup"
    BIDIRECTIONAL_CONTROL = "bidirectional_control"
    CONTROL_CHARACTER = "control_character"
    ESCAPE = "escape"
    OUTPUT_MANIPULATION = "output_manipulation"


WEIGHTS: Final = {
    PatternClass.OVERRIDE: 0.9,
    PatternClass.DELIMITER: 0.9,
    PatternClass.ROLE: 0.8,
    PatternClass.EXFILTRATION: 0.8,
    PatternClass.BASE64: 0.8,
    PatternClass.PATH: 0.8,
    PatternClass.MARKUP: 0.8,
    PatternClass.BIDIRECTIONAL_CONTROL: 0.7,
    PatternClass.CONTROL_CHARACTER: 0.6,
    PatternClass.ESCAPE: 0.5,
    PatternClass.OUTPUT_MANIPULATION: 0.3,
}
