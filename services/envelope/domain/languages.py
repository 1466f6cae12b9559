"""Which language a fact is in, by its function words and its script; no model (ADR 0113).

For people who look at a document: the rules and the default models were made for English.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

from services.common.function_words import FUNCTION_WORDS
from services.common.grounding.words import STOP_WORDS
from services.common.reading.lexicon import AUXILIARIES, NEGATORS

UNDETERMINED: Final = "und"
_WORD: Final = re.compile(r"[^\W\d_]+")
_LISTED_IN: Final[dict[str, list[str]]] = {}
for _code, _listed in FUNCTION_WORDS.items():
    for _word in _listed.split():
        _LISTED_IN.setdefault(_word, []).append(_code)
for _word in (STOP_WORDS | NEGATORS | AUXILIARIES) - {"d", "ll", "m", "o", "re", "s", "t", "ve"}:
    _LISTED_IN.setdefault(_word, []).append("en")
_SCRIPTS: Final = {
    "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr", "CJK": "Hani", "HANGUL": "Hang",
    "DEVANAGARI": "Deva", "THAI": "Thai", "ARMENIAN": "Armn", "GEORGIAN": "Geor", "BENGALI": "Beng", "TAMIL": "Taml",
}  # fmt: skip
_MAX_CHARS: Final = 2_000
_TELLING_IN_ROWS: Final = 2


def language_of(text: str, least: int = 1) -> str:
    """Return an ISO 639-1 code, or ``und``, with the script where it is not Latin.

    The language with most of the function words wins; English where it is one of several.

    Args:
        text: a fact.
        least: so many different function words tell a language other than English.
    """
    text = text[:_MAX_CHARS]
    if not text.isascii() and (script := _other_script(text)):
        return f"{UNDETERMINED}-{script}"
    words = _WORD.findall(text.lower())
    told = Counter(code for word in set(words) for code in _LISTED_IN.get(word, ()))
    counts = Counter(code for word in words for code in _LISTED_IN.get(word, ()) if code == "en" or told[code] >= least)
    if not counts:
        return UNDETERMINED
    most = max(counts.values())
    return "en" if counts["en"] == most else min(code for code, count in counts.items() if count == most)


def languages_of(texts: Iterable[tuple[str, bool]], declared: str) -> dict[str, int]:
    """Return how many texts are in which language, the most frequent first.

    A row of a table holds names and figures, and seldom a word that tells (one alone, as in "Plan: Plus" or "Est: 4",
    is a name): it is in the language that the document declares, or else in that of most of its other texts.

    Args:
        texts: each with whether it is a row of a table.
        declared: ISO 639-1 code; empty where the document says nothing.
    """
    counts: Counter[str] = Counter()
    rows = 0
    for text, is_row in texts:
        code = language_of(text, _TELLING_IN_ROWS if is_row else 1)
        if is_row and code == UNDETERMINED:
            rows += 1
        else:
            counts[code] += 1
    told = {code: count for code, count in counts.items() if not code.startswith(UNDETERMINED)}
    if rows:
        counts[declared or max(told, key=lambda code: (told[code], code == "en"), default=UNDETERMINED)] += rows
    return dict(counts.most_common())


def _other_script(text: str) -> str:
    """Return the script of most letters where that is not the Latin one, else nothing."""
    letters = [char for char in text if char.isalpha()]
    beyond = [char for char in letters if not char.isascii()]
    if 2 * len(beyond) <= len(letters):
        return ""
    names = Counter(unicodedata.name(char, "").partition(" ")[0] for char in beyond)
    if 2 * names["LATIN"] >= len(beyond):
        return ""
    if names["HIRAGANA"] or names["KATAKANA"]:
        return "Jpan"
    found = next((name for name, _ in names.most_common() if name in _SCRIPTS), "")
    return _SCRIPTS.get(found, "Zyyy")
