"""A part of a query that leans on another is searched for with what it leans on (SPEC-003 §5.2 step 1.1, ADR 0110).

"What is the capital of France and what is its population?" is cut into two needs; the second alone would bring whatever
has a population. Its pronoun gives way to what the part before it is about; a part that is a mere "And to bytes?" is
asked together with the question before it. Nothing is looked for outside of the query.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.questions.decomposition.words import AUXILIARIES, PARTICLES, QUESTION_WORDS, alternatives

_AUX: Final = frozenset(AUXILIARIES.split())
_WH: Final = frozenset(QUESTION_WORDS.split())
_PRONOUN: Final = re.compile(
    rf"(?<![\w'-])(?:(?P<its>its|their)(?=\s\w)"
    rf"|(?P<it>it|they|them|he|she|him)(?![\w'-]|\s(?:possible|necessary|safe|better|worth|ok|okay|true)\b)"
    rf"|(?:these|those|this|that|one)(?=$|[?.,;!]|\s(?:{alternatives(AUXILIARIES)}|mean|means)\b))",
    re.IGNORECASE,
)
_ASKERS: Final = frozenset({"i", "we", "you", "one"})
_BUILDING: Final = (
    _WH
    | _AUX
    | _ASKERS
    | frozenset(
        """long much many often far soon my our your a an the to of in on at for by from with and or also then please us
        there any not only still ever be been being until after under since""".split()  # noqa: SIM905
    )
)
"""Words that build a question and name nothing."""
_FRAME: Final = re.compile(
    r"(?:please\s|kindly\s|(?:can|could|would|will)\syou\s(?:please\s)?"
    r"|(?:explain|describe|show|tell|give|list|outline|summari[sz]e|find|define)\s(?:me\s|us\s)?(?:about\s)?"
    r"|(?:(?:in|after|before|during|by|for|to|at|on|from|with|within|under|since|until)\s)?(?:how|what|which|who|whom|whose|where|when|why)\s"
    r"(?:(?:long|much|many|often|far)\s)?){1,3}",
    re.IGNORECASE,
)
_DETERMINERS: Final = frozenset("the a an this that which no any each every another".split())  # noqa: SIM905
_INFINITIVES: Final = frozenset({"be", "have", "go", "get", "do"})
_NAMES_BEFORE: Final = 2
"""So many words before a pronoun that name something may be what it means."""
_MOST_SUBJECT_WORDS: Final = 8
_MOST_ADDED_WORDS: Final = 3
_CLAUSE: Final = re.compile(
    r",|\s(?:that|which|who|whose|when|if|because|since|although|while|before|after|until)\s", re.IGNORECASE
)
_ALLOWED: Final = re.compile(r"\w+(?:ed|able)\sto\s\w+\s", re.IGNORECASE)
_BARE_END: Final = re.compile(
    r"\w+(?:ed|ing)|made|paid|held|built|sold|sent|kept|found|met|won|lost|written|taken|given", re.IGNORECASE
)


def resolved(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts, each that leans on the one before it with what that is about."""
    found: list[str] = []
    subject = former = ""
    for part in parts:
        match = _dangling(part) if subject else None
        if match is not None:
            what = f"{subject}'s" if match["its"] else subject
            found.append(f"{part[: match.start()]}{what}{part[match.end() :]}")
        elif _asks(former) and not _asks(part) and len(part.split()) <= _MOST_ADDED_WORDS:
            found.append(f"{former}, {part}")
        else:
            subject = _subject(part) or subject
            former = part
            found.append(part)
    return tuple(found)


def _asks(part: str) -> bool:
    words = part.split(" ", 2)[:2]
    return any(word.lower() in _WH | _AUX for word in words)


def _dangling(part: str) -> "re.Match[str] | None":
    """Return the first pronoun that means nothing in its own part."""
    match = _PRONOUN.search(part)
    if match is None:
        return None
    before = [word for word in re.findall(r"[\w'-]+", part[: match.start()].lower()) if word not in _BUILDING]
    if match.group().lower() == "one" and _DETERMINERS & set(part[: match.start()].lower().split()[-2:]):
        return None  # "the immediate one" has its own thing in mind
    ends = not part[match.end() :].strip(" ?.,;!")
    return match if len(before) < _NAMES_BEFORE or ends else None


def _subject(part: str) -> str:
    """Return what a part is about: the thing that is done something with, or that does something; empty for none."""
    text = part.strip(" ?.!,;")
    frame = _FRAME.match(text)
    words = (text[frame.end() :] if frame else text).split()
    asked = next((number for number, word in enumerate(words[:4]) if word.lower() in _AUX), None)
    if asked is not None and frame is not None:
        named, words = words[:asked], words[asked + 1 :]
    elif words and words[0].lower() in _AUX:
        named, words = [], words[1:]
    else:
        if frame and frame.group().split()[-1].lower() == "who":
            words = words[1:]  # "who wrote the report"
        return _plain(_CLAUSE.split(" ".join(words), maxsplit=1)[0].split())
    if words and words[0].lower() in _ASKERS:
        words = words[2:]  # the verb goes with them
        if words and words[0].lower() in PARTICLES:
            words = words[1:]
        return _plain(_CLAUSE.split(" ".join(words), maxsplit=1)[0].split()) or _plain(named)
    allowed = _ALLOWED.match(" ".join(words))
    text = " ".join(words)[allowed.end() :] if allowed else " ".join(words)
    kept = _CLAUSE.split(text, maxsplit=1)[0].split()
    stop = next((number for number, word in enumerate(kept) if number and word.lower() in _AUX), len(kept))
    kept = kept[:stop]
    kept = _without_infinitives(kept)
    if len(kept) > 1 and not allowed and asked is not None and (_is_done(words, kept) or _BARE_END.fullmatch(kept[-1])):
        kept = _without_infinitives(kept[:-1])
    return _plain(kept)


def _without_infinitives(words: list[str]) -> list[str]:
    while len(words) > 1 and words[-1].lower() in _INFINITIVES:
        words = words[:-1]
    return words


def _is_done(words: Sequence[str], kept: Sequence[str]) -> bool:
    """Say whether the last word is the verb: "does the warranty include"."""
    return len(kept) == len(words) and kept[0].lower() in {"the", "a", "an", "my", "our", "your"} and len(kept) == 3  # noqa: PLR2004


def _plain(words: Sequence[str]) -> str:
    text = " ".join(words[:_MOST_SUBJECT_WORDS])
    named = [word for word in text.lower().split() if word not in _BUILDING]
    return "" if not named or _PRONOUN.fullmatch(text) or _PRONOUN.match(text) else text
