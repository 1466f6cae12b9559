"""Who a person is: names from the recogniser, forms of address and known given names, dates of birth, ages."""

import re
from collections.abc import Iterator
from typing import Any, Final

import regex
from presidio_analyzer import EntityRecognizer, RecognizerResult

from services.common.adapters.presidio.given_names import GIVEN_NAMES
from services.common.adapters.presidio.nearby import about_a_person
from services.common.adapters.presidio.rules import RuleRecognizer, always

_WORD: Final = r"\p{Lu}[\p{L}'-]{0,30}\.?"
_PARTICLE: Final = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|el|al|bin|ibn|ter|zu|y|e)[ ]){0,3}"
_NAME: Final = rf"(?:{_WORD}[ ]){{0,3}}{_PARTICLE}\p{{Lu}}[\p{{L}}'-]{{1,30}}"
_FULL_NAME: Final = rf"(?:{_WORD}[ ]){{1,3}}{_PARTICLE}\p{{Lu}}[\p{{L}}'-]{{1,30}}"
_TITLES: Final = "Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Frau|Monsieur|Madame|Mme|Sr|Sra|Signor|Signora"
_ROLES: Final = (
    "[Nn]ame|[Pp]atient|[Cc]ustomer|[Ii]nsured|[Pp]olicyholder|[Cc]laimant|[Cc]ontact|[Ss]igned|[Aa]pplicant|"
    "[Ee]mployee"
)
_DONE_BY: Final = (
    r"(?<!\w)(?:(?:it's|is) under|called|named|assistant to|written by|directed by|starring)\s"
    rf"(?<data>{_FULL_NAME})(?!\w)"
)
_CLOSE_KIN: Final = (
    "wife|husband|fiancée?|son|daughter|kid|mum|mom|dad|brother|sister|uncle|aunt|cousin|nephew|niece|grandmother|"
    "grandfather|girlfriend|boyfriend|widow"
)
_KIN: Final = rf"{_CLOSE_KIN}|partner|spouse|child|mother|father|friend|neighbou?r|boss|colleague"
_NO_INITIAL: Final = (
    "Vitamin|Plan|Type|Class|Section|Appendix|Part|Schedule|Exhibit|Hepatitis|Influenza|Group|Category|Option|Table|"
    "Figure|Building|Block|Unit|Line|Phase|Grade|Form|Annex|Article|Column|Item|Level|Model|Series|Tier|Zone|Gate|"
    "Terminal|Wing|Stage|Team|Schengen|Point|Step|Version|Chapter|Paragraph|Route|Bus|Room|Hall|Lot|The|A|An|If|When"
)
_PLAIN: Final = r"\p{Lu}\p{Ll}[\p{L}'-]{0,30}"
_FIRST_WORD: Final = rf"(?!(?:{_NO_INITIAL})[ ]){_PLAIN}"
_LAST_WORD: Final = rf"(?!(?:{_NO_INITIAL})\b){_PLAIN}"
_WITH_INITIAL: Final = rf"(?<![\w.-])(?<data>{_FIRST_WORD}[ ](?!I[ ])\p{{Lu}}\.?[ ]{_LAST_WORD})(?!\w)"
"""A word, an initial and a word: hardly anything else is written so."""
_SIGNED: Final = (
    r"(?<!\w)(?:[Dd]irected|[Ww]ritten|[Pp]repared|[Ss]igned|[Aa]pproved|[Rr]eviewed|[Ss]ubmitted|[Rr]eported)\s[Bb]y:"
    rf"\s{{0,4}}(?<data>{_NAME})(?!\w)"
)
_ADDRESSED: Final = (
    rf"(?<!\w)(?:{_TITLES})\b\.?[ ](?<data>{_NAME})(?!\w)",
    _WITH_INITIAL,
    rf"(?<!\w)(?:[Mm]y|[Hh]is|[Hh]er)\s(?:{_KIN})(?:'s\sname)?,?\s(?:is\s)?(?<data>{_NAME})(?!\w)",
    rf"(?<![\w'-])(?<data>\p{{Lu}}\p{{Ll}}[\p{{L}}-]{{1,30}})'s\s(?:{_CLOSE_KIN})(?![\w-]|\s(?:compan|ship|firm|cit|paper))",
    _SIGNED,
    rf"(?<!\w)(?:[Mm]y|[Hh]is|[Hh]er|[Tt]he)\s(?:(?:full|last|first|maiden|sur)[ ]?)?name\sis\s(?<data>{_NAME})(?!\w)",
    rf"(?<!\w)(?:[Cc]alls?|[Cc]alled)\s(?:me|him|her)\s(?<data>{_NAME})(?!\w)",
    rf"(?<!\w)(?:{_ROLES}):\s?(?<data>{_NAME})(?!\w)",
    rf"(?<!\w)(?:Dear|Hi|Hello)\s(?<data>{_FULL_NAME})(?=[,:\n])",
    _DONE_BY,
)
_ADDRESSED_CONFIDENCE: Final = 0.8

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember)\.?"
)
_DATE: Final = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./ -]\d{1,2}[./ -](?:\d{4}|\d{2})|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)?[ -](?:of[ ])?{_MONTH}[ ,-]{{1,2}}\d{{4}}|"
    rf"{_MONTH}[ ]\d{{1,2}}(?:st|nd|rd|th)?,?[ ]\d{{4}})"
)
_BORN: Final = (
    r"(?:born|birth(?:day|date)?|birth[ ]date|date[ ]of[ ]birth|d\.?o\.?b\b\.?|geboren|geb\.|geburtsdatum|née?|"
    r"naissance)"
)
_BIRTH: Final = regex.compile(
    rf"(?<!\w){_BORN}(?!\w)[^\d\n]{{0,40}}?(?<!\w)(?<data>{_DATE})(?!\w)|"
    rf"(?<!\w)(?<data>{_DATE})[ ]?(?:\(|as[ ]|is[ ])?[^\d\n]{{0,12}}(?<!\w){_BORN}(?!\w)",
    regex.IGNORECASE,
)
_BIRTH_HINTS: Final = ("born", "birth", "dob", "d.o.b", "do.b", "d.ob", "gebor", "geb.", "geburt", "né", "naissance")
_YEAR: Final = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_FIRST_LIVING_YEAR: Final = 1900
"""GDPR recital 27: the dead have no personal data; nobody who lives was born before."""

_OLD: Final = r"(?<data>\d{1,3})"
_SOMEBODY: Final = r"(?:fe)?male|man|woman|boy|girl|patient|gentleman|lady"
_OF_SOMEBODY: Final = regex.compile(
    rf"(?<![\w.-]){_OLD}[ -]?(?:years?|yrs?|y)[ -]?(?:old|/o)?[ ](?:{_SOMEBODY})(?!\w)", regex.IGNORECASE
)
_AGE: Final = (
    rf"(?<![\w.-]){_OLD}[ -]?(?:(?:years?|yrs?)[ -]?old|yo|y/o|years[ ]of[ ]age)(?!\w)",
    rf"(?<!\w)(?:aged?|turn(?:ed|s|ing)?|age[ ]of|age:|[s]he[ ]was|he[ ]was)[ ]{_OLD}(?![\w%:-]|[.,]\d|[ ]\p{{Ll}})",
    rf"(?<!\w)(?:I'm|I[ ]am|he[ ]is|she[ ]is)[ ](?:just[ ])?{_OLD}(?![\w%:]|[.,]\d|[ ](?!and|but|years)[a-z])",
)
_AGE_HINTS: Final = ("old", "yo", "y/o", "years of", "age", "turn", "i'm", "i am", "he is", "he was")
_OLDEST: Final = 120


def recognizers() -> list[EntityRecognizer]:
    """Return the recognisers of this module."""
    ages = tuple(regex.compile(pattern, regex.IGNORECASE) for pattern in _AGE)
    return [
        Persons(),
        RuleRecognizer("DATE_OF_BIRTH", (_BIRTH,), _birth, _BIRTH_HINTS),
        RuleRecognizer("AGE", ages, _age, _AGE_HINTS),
        RuleRecognizer("AGE", (_OF_SOMEBODY,), always(0.7), ("old", "y")),
    ]


_FULL, _SINGLE, _AGAIN = 0.75, 0.55, 0.55
_NOT_A_NAME: Final = regex.compile(
    r"[\d@#/\\<>=_*|{}]|^\p{Ll}+$|\b(?:Inc|Incorporated|Ltd|LLC|GmbH|AG|Corp|Corporation|Group|Orchestra|University|"
    r"Company|Co|Bank|Insurance|Mutual|Association|Officer|Solutions|Institute|Agency|Department|Investments|Holdings|Partners|Capital|"
    r"Street|Str|Road|Avenue|Lane|Square|Squares)\b"
)


class Persons(RuleRecognizer):
    """Persons: the recogniser's, those who are addressed, and both again by a part of a full name.

    Numbers, signs and the words of firms and streets make no name, and neither does a word that the same text also
    writes small: "Motor" beside "motor insurance". A part counts where it stands as a word of its own, so that "Maria
    Keller … Keller" is one person twice.
    """

    def __init__(self) -> None:
        patterns = tuple(regex.compile(pattern) for pattern in _ADDRESSED)
        super().__init__("PERSON", patterns, always(_ADDRESSED_CONFIDENCE))

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        """Return the persons."""
        small = set(_SMALL.findall(text))
        found = [
            one for one in super().analyze(text, entities, nlp_artifacts) if _is_name(text[one.start : one.end], small)
        ]
        found += self._known(text, small)
        for one in nlp_artifacts.entities:
            for start, end in _lines(text, one.start_char, one.end_char):
                name = text[start:end]
                if not _NOT_A_NAME.search(name) and _is_name(name, small):
                    found.append(self.result(start, end, _FULL if " " in name else _SINGLE))
        return found + self._again(text, found, small)

    def _known(self, text: str, small: set[str]) -> list[RecognizerResult]:
        """Return names that begin with a known given name, with the surname where one follows."""
        found = []
        end = 0
        for match in _GIVEN.finditer(text):
            given, start = match.group("given"), match.start()
            if start < end or given not in GIVEN_NAMES or given.lower() in small:
                continue
            more = _MORE.match(text, match.end())
            end = more.end() if more is not None else match.end()
            if _NOT_A_NAME.search(text, start, end):
                end = match.end()
            found.append(self.result(start, end, _FULL if " " in text[start:end] else _SINGLE))
        return found

    def _again(self, text: str, found: list[RecognizerResult], small: set[str]) -> list[RecognizerResult]:
        names = (text[one.start : one.end] for one in found)
        parts = {part for name in names if " " in name for part in name.split() if _is_part(part, small)}
        if not parts:
            return []
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(parts)))})(?!\w)")
        taken = {place for one in found for place in range(one.start, one.end)}
        return [self.result(*match.span(), _AGAIN) for match in pattern.finditer(text) if match.start() not in taken]


_MIN_PART: Final = 4
_SURNAME: Final = rf"(?!(?:Suite|Apt|Unit|Flat|Floor|Box|Room)\b){_PLAIN}"
_GIVEN: Final = regex.compile(
    r"(?<![\w.'\u2019/-])(?<given>\p{Lu}\p{Ll}[\p{L}]{0,14})(?:-\p{Lu}\p{Ll}{1,14})?+(?![\w@])"
)
_MORE: Final = regex.compile(rf"(?:[ ](?:\p{{Lu}}\.?[ ])?{_PARTICLE}{_SURNAME}){{1,2}}(?![\w@])")


_SMALL: Final = re.compile(r"(?<![\w@.])[^\W\d_A-Z][^\W\d_]+(?![\w@])")


def _is_part(word: str, small: set[str]) -> bool:
    return len(word) >= _MIN_PART and word.isalpha() and word[0].isupper() and word.lower() not in small


def _is_name(name: str, small: set[str]) -> bool:
    """Say whether some word of it is capitalised and not one that the text also writes small."""
    return any(word[:1].isupper() and word.strip(".,'").lower() not in small for word in name.split())


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the first line of an entity that runs over several: a name does not."""
    stop = text.find("\n", start, end)
    stop = end if stop < 0 else stop
    if text[start:stop].strip():
        yield start, start + len(text[start:stop].rstrip())


def _birth(text: str, start: int, end: int, _artifacts: Any) -> float | None:
    year = _YEAR.search(text, start, end)
    return None if year is not None and int(year.group(1)) < _FIRST_LIVING_YEAR else 0.9


def _age(text: str, start: int, end: int, artifacts: Any) -> float | None:
    return 0.7 if int(text[start:end]) <= _OLDEST and about_a_person(text, start, end, artifacts) else None
