"""One length of time without a numeral, and what is paid by time (SPEC-005 §5).

"A month's rent" is that of one month, "three monthly rents" those of three; "within a week" and "no later than a
fortnight" name seven days and fourteen.
"""

import re
from typing import Final

from services.common.reading.numerals import NUMBER

_OF_A_KIND: Final = r"(?:(?:net|gross|basic|full)\s)?"

TIMES_WORTH: Final = re.compile(
    rf"(?<!%\sof\s)(?<!percent\sof\s)\ba\s(?P<unit>week|month|quarter|year)(?=['\u2019]s\s{_OF_A_KIND}(?:rent|salary|pay|wages|notice)\b)",
    re.IGNORECASE,
)
"""One period; ``unit`` is its word. A share of it ("10% of a year's salary") is a share, no period."""
MONTHLY_SUMS: Final = re.compile(
    rf"(?<![\w.,])(?P<n>{NUMBER})\s{_OF_A_KIND}monthly(?=\s(?:rents|salaries|wages)\b)", re.IGNORECASE
)
"""Several months; ``n`` is how many."""

ONE_LENGTH: Final = re.compile(
    r"(?:(?<=\bwithin\s)|(?<=\bthan\s)|(?<=\bleast\s)|(?<=\bmost\s)|(?<=\bafter\s))an?\s"
    r"(?P<unit>hour|day|week|fortnight|month|quarter|year)\b(?!['\u2019-]|\sor\s(?:so|two|more)\b|\sof\sthe\b)",
    re.IGNORECASE,
)
"""A length that a limit names; ``unit`` is its word. What an amount is for ("£20 a month") is none."""
