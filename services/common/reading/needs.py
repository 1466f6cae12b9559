"""What must stand in a text for a pattern to match it, so that most patterns need not be tried on most texts.

A scan of a sentence takes as long as its patterns search, and most of them search in vain: a sentence without a colon
holds no clock. What a pattern needs is told by substrings and at most one small pattern; it may be met by a text in
which the pattern then matches nothing, never the other way round. Texts are in lower case and have no letter that a
pattern without regard to case would take for one of ASCII's (``letters``).
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from services.common.reading.numerals import FRACTIONS, NUMBER_WORDS

_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True)
class Glance:
    """What a text has, looked at once for all patterns.

    Attributes:
        text: what is scanned.
        lowered: the same in lower case.
    """

    text: str
    lowered: str

    @cached_property
    def has_digit(self) -> bool:
        """Whether it has a digit of any script."""
        return _DIGIT.search(self.text) is not None

    @cached_property
    def has_numeral(self) -> bool:
        """Whether it has anything of which a number can be made."""
        return self.has_digit or _has_one(self.lowered, _NUMERALS)


@dataclass(frozen=True, slots=True)
class Needs:
    """All of what is named must be there.

    Attributes:
        some: one of these, unless ``mark`` is found; empty = none is needed.
        mark: stands for one more of ``some``.
        digit: a digit.
        numeral: a digit, a fraction or a word for a number.
    """

    some: tuple[str, ...] = ()
    mark: re.Pattern[str] | None = None
    digit: bool = False
    numeral: bool = False

    def met(self, glance: Glance) -> bool:
        """Say whether the text has it."""
        if (self.digit and not glance.has_digit) or (self.numeral and not glance.has_numeral):
            return False
        if not self.some and self.mark is None:
            return True
        lowered = glance.lowered
        return _has_one(lowered, self.some) or (self.mark is not None and self.mark.search(lowered) is not None)


_NUMERALS: Final = (*FRACTIONS, *sorted(NUMBER_WORDS))


def _has_one(lowered: str, some: tuple[str, ...]) -> bool:
    for one in some:  # noqa: SIM110 - a scan does little else, and no generator is made for it
        if one in lowered:
            return True
    return False
