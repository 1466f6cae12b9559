"""A text that is searched in windows: the same matches as in the whole, wherever windows end.

And patterns that are not tried where a text lacks what they need: none of them would have matched.
"""

import re

from hypothesis import given
from hypothesis import strategies as st

from bench.linear_kinds import KINDS
from services.common.reading import values
from services.common.reading.folding import folded
from services.common.reading.needs import Glance
from services.common.reading.scanning import WINDOW, find_all
from tests.each import each

_PATTERNS = [pattern for pattern, *_ in values._SCANNERS if pattern not in values._ADDRESSES]
_PIECE = st.one_of(
    st.sampled_from(
        ("5 days ", "12 %", " €1,000 ", "one hundred and five ", "12:30", " from 2 to 3 kg", "abc-12/x", "\n1. ")
    ),
    st.text("ab 1.,-%€ \n", max_size=40),
    st.sampled_from(("word and words ", " " * 300, "7" * 40, "two three ", "section 4.1 ")),
)


@given(st.lists(_PIECE, min_size=1, max_size=60), st.integers(1, 80))
def test_windows_find_what_the_whole_finds(pieces: list[str], times: int) -> None:
    text = ("".join(pieces) * times)[: 6 * WINDOW]
    for pattern in _PATTERNS:
        assert [m.span() for m in find_all(pattern, text)] == [m.span() for m in pattern.finditer(text)]


@each("kind", KINDS[::7], ids=lambda kind: re.sub(r"\W+", "-", kind.name)[:40])
def test_windows_find_what_the_whole_finds_in_repetition(kind: object) -> None:
    text = kind.make(5 * WINDOW)  # type: ignore[attr-defined]
    for pattern in _PATTERNS:
        assert [m.span() for m in find_all(pattern, text)] == [m.span() for m in pattern.finditer(text)]


_MATCHING = (  # noqa: SIM905 - a list for readers
    "https://x.org|www.x.org|a.b@c.de|[fact 1, 3]|[2]|doi: 10/x|arXiv:1|(Smith et al., 2020)|Article 4|art. 4|Rule iv|"
    "\u00a7 9|pp. 3|Schedule II|2024-03-01|1 March|Q1 of 2024|3/4/2024|second quarter|Q2|H1 2024|first half of 2024|"
    "FY24|fiscal year 2024|twelfth century|1930s|5th of each month|third day of the month|in June|12:30|3 pm|3 a.m.|"
    "8 to 10 am|"
    "noon|half past six|eight o'clock|six in the evening|9 at night|a quarter to seven|twice a week|3 times per day|"
    "every second month|after each week|third working day|second Monday|a year and a half|three quarters of an hour|"
    "half an hour|an hour and ten minutes|half past midnight|"
    "two thirds|a quarter of|in half|half of|2/3 of|nine out of ten|1 in 5|3 of every 4|3 times|tenfold|"
    "3x|5 x|by a factor of two|halved|once per year|doubling|trebled|2 to 3 kg|2\u20133 %|$ 5|5 EUR|6 pounds sterling|"
    "seven cents|A$4|nine per cent|5 bps|6 pp|4 percentage points|a month\u2019s salary|a year's notice|"
    "three gross monthly salaries|within a fortnight|\u00bd kg|two dozen days|5 km|in 1066|since 2024 |AB-12|"
    "7777777777777777777777777777777|41|twenty-one|one hundred and five|\u0661\u0662|MILLION|step 3|2) |\n# 4. |"
    "\u017fix day\u017f|5 \u212ag|5 m\u0130les|TW\u0130CE A WEEK|\u0131n June|word|is due|."
).split("|")


def lacked_though_matched(text: str) -> list[str]:
    plain = folded(text)
    glance = Glance(text, plain.lower())
    scanners = [
        (pattern, text if pattern in values._ADDRESSES else plain, needs.met(glance))
        for pattern, _, needs in values._SCANNERS
    ]
    scanners += [(pattern, text, glance.has_digit) for pattern in (values._LABEL, values._LIST_MARK)]
    return [pattern.pattern for pattern, source, met in scanners if not met and pattern.search(source)]


_PIECES = st.lists(st.one_of(st.sampled_from(_MATCHING), _PIECE), max_size=5)


@given(_PIECES, st.sampled_from(("", " ", "\n")), st.sampled_from((str, str.upper)))
def test_what_a_pattern_needs_stands_wherever_it_matches(pieces: list[str], between: str, cased: type[str]) -> None:
    assert lacked_though_matched(cased(between.join(pieces))) == []


def test_every_pattern_is_seen_to_match() -> None:
    patterns = [pattern for pattern, *_ in values._SCANNERS]
    assert [one.pattern for one in patterns if not any(map(one.search, _MATCHING))] == []
    assert [lacked_though_matched(one) for one in _MATCHING] == [[]] * len(_MATCHING)
