"""Words and sentences of a text, as the grounding model compares them: regular expressions, no language model.

A word is compared by its stem, a deliberately light one: it takes off what English inflects (plural, past tense,
``-ing``, ``'s``) and knows the common irregular verbs. Characters of scripts that are written without spaces count as
words of their own. Numbers keep their value: ``1,000`` and ``1000`` are the same word, and so are ``five`` and ``5``.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_SENTENCE_CHARACTERS: Final = 400
"""A longer sentence (a table, a list without stops) is read in pieces of whole words."""

_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces
    r"|\d+(?:[.,:]\d+)*"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['\u2019][^\W\d_]+)*"
)
_BOUNDARY: Final = re.compile(
    r"[\n.!?\u3002\uff01\uff1f](?:"  # one set in front: the search skips what cannot end a sentence
    r"(?<=\n)\s*"
    r"|(?<=[\u3002\uff01\uff1f])"
    r"|(?<=[.!?])(?<![.!?]{2})[.!?]*+[\"'\u201d\u2019)\]]*+\s+(?=[\"'\u201c\u2018(\[]*[A-Z0-9\u00c0-\u00de])"
    r"|(?<=[a-z)\d][.!?])(?=[A-Z][a-z])"  # passages that were joined without a space
    r"|(?<=\s[.!?])\s+(?=\S)"  # text that was tokenised: "... 1943 . Mary ..."
    r")"
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'“])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Sen|Rep|Gov|Lt|Col|Capt|Sgt|Rev|Hon|No|vs|etc|Inc|Ltd|Co|"
    r"Corp|Mt|Ft|Fig|Vol|pp|ca|cf|al|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|U\.N|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
    r"\.\s*$"
)
_ABBREVIATION_REACH: Final = 12

STOP_WORDS: Final = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers herself him
    himself his how i if in into is it its itself just me more most my myself nor of off on once only or other our
    ours out over own s same she should so some such t than that the their theirs them themselves then there these they
    this those through to too under until up upon us very was we were what when where which while who whom whose why
    will with would you your yours yourself d ll m o re ve may might shall must although though however since per via
    within without among another""".split()  # noqa: SIM905 - a list of one word a line would be a page
)
"""Words that say nothing about what a text is about. Negations are not among them."""

_IRREGULAR: Final = {
    form: verb
    for verb, forms in {
        "begin": "began begun",
        "become": "became",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "choose": "chose chosen",
        "come": "came",
        "die": "dying died",
        "draw": "drew drawn",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone",
        "grow": "grew grown",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lose": "lost",
        "make": "made",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "pay": "paid",
        "rise": "rose risen",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "shoot": "shot",
        "sing": "sang sung",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "steal": "stole stolen",
        "strike": "struck",
        "swim": "swam",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "win": "won",
        "wear": "wore worn",
        "woman": "women",
        "child": "children",
        "person": "people",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_UNITS: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: Final = {word: str(value) for value, word in enumerate(_UNITS.split()) if word != "one"} | {
    word: str(value) for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)
}
"""Numbers in words and in digits; "one" is left out, which mostly is a pronoun."""
_VOWELS: Final = frozenset("aeiouy")
_BARE: Final = "-"
_SUFFIXES: Final = (
    ("ies", 5, "y"),
    ("ied", 5, "y"),
    ("sses", 5, "ss"),
    ("shes", 5, "sh"),
    ("ches", 5, "ch"),
    ("xes", 5, "x"),
    ("s", 4, ""),
    ("ing", 6, _BARE),
    ("ed", 5, _BARE),
    ("ly", 6, ""),
)
"""Suffix, least length of a word that loses it, replacement; ``_BARE``: undouble the last letter, keep a vowel."""
_NO_PLURAL: Final = ("ss", "us", "is")
_LEAST_WITHOUT_E: Final = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: ``text[start:end]``, offsets in Unicode code points."""

    stem: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Return the words of a text in order, stop words included."""
    return [Word(stem(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


def stems(text: str) -> list[str]:
    """Return the stems of a text's words in order, stop words included."""
    return [stem(word) for word in _WORD.findall(text)]


def shared_words(first: Counter[str], second: Counter[str]) -> float:
    """Return the share of words that two texts have in common (Dice), repetitions counted."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return what a word is compared by."""
    if word[0].isdecimal():
        return _plain_number(word)
    low = word.lower().replace("\u2019", "'")
    if low.endswith("n't"):
        return "not"
    low = low.split("'", 1)[0] or low
    if low in STOP_WORDS:
        return low
    return NUMBER_WORDS.get(low) or _without_suffix(_IRREGULAR.get(low, low))


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences as offsets (start, end), in order, without surrounding white space; none is empty.

    Ends at a full stop before a capital letter, at a line break, at the end of a text that was tokenised; not after
    common abbreviations and initials. A sentence beyond ``MAX_SENTENCE_CHARACTERS`` comes in several pieces.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        end = boundary.end()
        if _ABBREVIATION.search(text, max(start, end - _ABBREVIATION_REACH), end) and "\n" not in boundary.group():
            continue
        _append(text, start, end, spans)
        start = end
    _append(text, start, len(text), spans)
    return spans


def _append(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    while end - start > MAX_SENTENCE_CHARACTERS:
        cut = text.rfind(" ", start + 1, start + MAX_SENTENCE_CHARACTERS)
        if cut < 0:
            cut = start + MAX_SENTENCE_CHARACTERS
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        spans.append((start, end))


def _plain_number(word: str) -> str:
    plain = word.replace(",", "")
    if "." in plain and plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain


def _without_suffix(word: str) -> str:
    """Take off an inflection; the result need not be a word, it only has to be the same for all its forms."""
    for suffix, least, replacement in _SUFFIXES:
        if len(word) >= least and word.endswith(suffix) and not word.endswith(_NO_PLURAL):
            kept = word[: -len(suffix)]
            if replacement == _BARE and _VOWELS.isdisjoint(kept):
                continue
            word = _undoubled(kept) if replacement == _BARE else kept + replacement
            break
    if len(word) < _LEAST_WITHOUT_E or not word.endswith("e"):
        return word
    return f"{word[:-2]}y" if word.endswith("ie") else word[:-1]


def _undoubled(word: str) -> str:
    doubled = word[-1] == word[-2:-1] and word[-1] not in "lsz"
    return word[:-1] if doubled else word
