"""Splitting a paragraph into sentences by rule: terminal punctuation, then what follows decides.

Deliberately small: it serves fact boundaries, where a missed boundary costs little (two assertions in one fact) and a
wrong one costs a broken fact. So every doubtful boundary is no boundary.
"""

import re
from typing import Final

_ABBREVIATIONS: Final = frozenset(
    {
        *(
            "art",
            "arts",
            "sec",
            "par",
            "para",
            "no",
            "nos",
            "nr",
            "vol",
            "ed",
            "eds",
            "fig",
            "figs",
            "tab",
            "eq",
            "p",
            "pp",
        ),
        *("dr", "mr", "mrs", "ms", "prof", "rev", "st", "jr", "sr", "hon", "gen", "capt", "col", "lt", "sgt"),
        *("inc", "ltd", "corp", "co", "bros", "dept", "univ", "assn", "gov"),
        *(
            "e.g",
            "i.e",
            "eg",
            "ie",
            "etc",
            "cf",
            "vs",
            "v",
            "viz",
            "al",
            "ca",
            "approx",
            "resp",
            "incl",
            "excl",
            "max",
            "min",
        ),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
        *("mon", "tue", "wed", "thu", "fri", "sat", "sun", "a.m", "p.m", "u.s", "u.k", "e.u"),
    }
)
"""Words, without their last full stop, after which a full stop does not end a sentence."""

_ALWAYS_CONTINUES: Final = frozenset({"etc", "a.m", "p.m", "inc", "ltd", "corp", "co", "jr", "sr"})
"""Abbreviations that do end a sentence when a capital follows after white space."""

_OPENING: Final = "\"'\u201c\u2018\u00ab(["
_CLOSING: Final = "\"'\u201d\u2019\u00bb)]"
_BOUNDARY: Final = re.compile(
    rf"(?<![.!?\u2026])([.!?\u2026]++)([{re.escape(_CLOSING)}]*+)(\s++)(?=([{re.escape(_OPENING)}]*)(\S))"
)
_LAST_WORD: Final = re.compile(r"(?<!\S)\S++$")
_ORDINAL: Final = re.compile(r"(?:(?<!\S)([^\W\d_]{2,6}) )?(?<!\S)\d{1,2}$")
_ORDINAL_BEFORE: Final = frozenset(
    {
        "am",
        "vom",
        "zum",
        "zur",
        "bis",
        "der",
        "die",
        "das",
        "dem",
        "den",
        "des",
        "im",
        "ab",
        "seit",
        "beim",
        "jeden",
        "jedem",
    }
)
_MONTH: Final = re.compile(
    r"(?:jan(?:uar)?|j\u00e4nner|feb(?:ruar)?|m\u00e4rz|apr(?:il)?|mai|juni?|juli?|aug(?:ust)?|sept?(?:ember)?|okt(?:ober)?|nov(?:ember)?"
    r"|dez(?:ember)?)\b",
    re.IGNORECASE,
)
_LONGEST_WORD: Final = 64
"""Longer words are no abbreviation, whatever stands at their end."""


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of one paragraph, stripped, in order; their words are exactly the paragraph's."""
    sentences: list[str] = []
    start = len(text) - len(text.lstrip())
    for match in _BOUNDARY.finditer(text):
        # Only the last word is looked at: the whole sentence so far would be read again at each of its full stops.
        before = text[max(start, match.start() - _LONGEST_WORD) : match.start()]
        after = text[match.end() : match.end() + _LONGEST_WORD]
        if _is_counted(before, match.group(1), after):
            continue
        if _ends_sentence(before, match.group(1), match.group(5), opens=match.start() - len(before) == start):
            sentences.append(text[start : match.end(2)].strip())
            start = match.end()
    rest = text[start:].strip()
    if rest:
        sentences.append(rest)
    return tuple(sentences)


def _is_counted(before: str, mark: str, after: str) -> bool:
    """Say whether a full stop makes an ordinal of a number, as German writes it: ``am 5. April``, ``der 3. Tag``."""
    found = _ORDINAL.search(before)
    if mark != "." or found is None:
        return False
    named = _MONTH.match(after) is not None
    return named or (found[1] or "").lower() in _ORDINAL_BEFORE


def _ends_sentence(before: str, mark: str, following: str, *, opens: bool) -> bool:
    if not (following.isupper() or following.isdigit() or not following.isalnum()):
        return False
    if mark != ".":
        return True
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found.group().lstrip(_OPENING)
    bare = word.lower()
    if bare in _ALWAYS_CONTINUES:
        return following.isupper()
    if bare in _ABBREVIATIONS:
        return False
    is_initial = len(word) == 1 and word.isalpha() and word.isupper()
    is_list_number = word.isdigit() and opens and before.strip() == word
    return not (is_initial or is_list_number)
