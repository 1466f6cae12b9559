"""The words that options take: known before a command's own module is loaded."""

from enum import StrEnum, unique


@unique
class DagForm(StrEnum):
    """What ``dag --format`` takes."""

    TREE = "tree"
    DOT = "dot"
    MERMAID = "mermaid"
    JSON = "json"


@unique
class ExportForm(StrEnum):
    """What ``export --format`` takes."""

    NDJSON = "ndjson"
    OCSF = "ocsf"


@unique
class GroundingWord(StrEnum):
    """What ``--grounding-mode`` takes (CRP-LLM-Grounding-Mode)."""

    STRICT = "context-strict"
    PREFERRED = "context-preferred"
    OPEN = "open"


@unique
class LevelWord(StrEnum):
    """What ``--fail-on`` takes (CRP-SPEC-005 §7.4)."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"
