"""Questions with short answers made from sentences of a passage: the right answer, and a wrong one of the same kind.

Only shapes that turn into a grammatical question by rule are used; what does not fit makes no question.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.contrasts.change import Scene
from training.contrasts.dates import other_dates
from training.contrasts.mentions import GENERIC, dates, names
from training.contrasts.numbers import other_values
from training.words import is_function_word

_BE: Final = r"(?P<be>was|were|is|are)"
_WHEN: Final = re.compile(
    rf"^(?P<subject>[^,;:()]{{3,60}}?) {_BE} (?P<rest>[a-z][^,;:()]{{2,70}}?) (?:in|on) "
    rf"(?P<answer>(?:[A-Z][a-z]+ )?(?:\d{{1,2}}, )?\d{{4}})\.?$"
)
_BORN: Final = re.compile(
    r"^(?P<subject>[A-Z][^,;:()]{2,40}?) \((?:born )?(?P<answer>(?:[A-Z][a-z]+ \d{1,2}"
    r"|\d{1,2} [A-Z][a-z]+),? \d{4})(?: ?[-–]|\))"  # noqa: RUF001
)
_HOW_MANY: Final = re.compile(
    r"^(?P<subject>[^,;:()]{3,60}?) (?P<have>has|have|had) (?P<answer>\d[\d,]*|two|three|four|five|six|seven"
    r"|eight|nine|ten) (?P<noun>[a-z]+s)\b(?P<rest>[^,;:()]{0,60}?)\.?$"
)
_THERE: Final = re.compile(
    r"^There (?P<be>are|were) (?:about |nearly |over )?(?P<answer>\d[\d,]*|two|three|four|five|six|seven"
    r"|eight|nine|ten) (?P<rest>[a-z][^,;:()]{3,70}?)\.?$"
)
_COUNT_FIRST: Final = re.compile(
    r"^(?:About |Nearly |Over |More than |At least )?(?P<answer>\d[\d,]*|Two|Three|Four|Five|Six|Seven|Eight"
    r"|Nine|Ten) (?P<rest>(?:[a-z]+s|people|men|women|children) [^;:()]{5,90}?)\.?$"
)
_VERB: Final = re.compile(
    r"^ (?P<rest>(?:is|was|has|had|won|wrote|became|played|led|made|took|founded|directed|produced|created"
    r"|released|starred"
    r"|received|served|published|married|joined|defeated|discovered|invented|designed|acquired|scored|died|said|announced"
    r"|appeared|moved|recorded|signed|bought|built|hosted|sold|met|left|held|won)\b[^;:()\"]{4,110}?)\.?$"
)
_BY: Final = re.compile(rf"^(?P<subject>[^,;:()]{{3,60}}?) {_BE} (?P<rest>[a-z]+(?:ed|en|wn|t)) by $")
_SPOKEN: Final = re.compile(r"^(?:he|she|it|they|this|these|that|those|his|her|its|their|we|i|you)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a passage, its answer there, and an answer of the same kind that is wrong."""

    question: str
    right: str
    wrong: str


def asked(sentence: str, scene: Scene, choice: random.Random) -> list[Asked]:
    """Return the questions that a sentence answers by one of the known shapes."""
    if _SPOKEN.match(sentence):
        return []  # nobody could tell from the question what it is about
    return [*_dates(sentence, scene, choice), *_counts(sentence, scene, choice), *_names(sentence, scene, choice)]


def wrong_answer(right: str, scene: Scene, choice: random.Random) -> str | None:
    """Return another answer of the same kind: a date, a number or a name; None for answers of other kinds."""
    whole = right.strip().rstrip(".")
    for find in (other_dates, other_values):
        changes = [change for change in find(whole, scene, choice) if change.kind != "dates.weekday"]
        if changes:
            edit = choice.choice(changes).edits[0]
            return whole[: edit.start] + edit.text + whole[edit.end :]
    there = names(f"by {whole}")
    if len(there) == 1 and there[0].text == whole:
        return _other_name(whole, there[0].kind, scene, choice)
    return None


def _dates(sentence: str, scene: Scene, choice: random.Random) -> Iterator[Asked]:
    match = _WHEN.match(sentence)
    if match is not None and dates(match["answer"]):
        year = match["answer"].isdigit()
        question = f"{'In what year' if year else 'When'} {match['be']} {_inner(match['subject'])} {match['rest']}?"
        yield from _pair(question, match["answer"], scene, choice)
    match = _BORN.match(sentence)
    if match is not None:
        yield from _pair(f"When was {_inner(match['subject'])} born?", match["answer"], scene, choice)


def _counts(sentence: str, scene: Scene, choice: random.Random) -> Iterator[Asked]:
    match = _HOW_MANY.match(sentence)
    if match is not None:
        helper = {"has": "does", "have": "do", "had": "did"}[match["have"]]
        question = f"How many {match['noun']} {helper} {_inner(match['subject'])} have{match['rest']}?"
        yield from _pair(question, match["answer"], scene, choice)
    match = _THERE.match(sentence)
    if match is not None:
        noun, _, rest = match["rest"].partition(" ")
        yield from _pair(f"How many {noun} {match['be']} there {rest}".rstrip() + "?", match["answer"], scene, choice)
    match = _COUNT_FIRST.match(sentence)
    if match is not None:
        yield from _pair(f"How many {match['rest']}?", match["answer"], scene, choice)


def _names(sentence: str, scene: Scene, choice: random.Random) -> Iterator[Asked]:
    there = names(sentence)
    for name in there:
        before, after = sentence[: name.start], sentence[name.end :]
        match = _VERB.match(after) if not before and name.kind != "single" else None
        if match is not None:
            word = "Who" if name.kind == "person" else "What"
            yield from _named(f"{word} {match['rest']}?", name.text, name.kind, scene, choice)
        match = _BY.match(before)
        if match is not None and name.kind == "person" and after.strip(" .") == "":
            question = f"Who {match['be']} {_inner(match['subject'])} {match['rest']} by?"
            yield from _named(question, name.text, name.kind, scene, choice)


def _pair(question: str, right: str, scene: Scene, choice: random.Random) -> Iterator[Asked]:
    wrong = wrong_answer(f"{right} x", scene, choice)  # a number word counts only before another word
    if wrong is not None:
        yield Asked(question, right, wrong.removesuffix(" x"))


def _named(question: str, right: str, kind: str, scene: Scene, choice: random.Random) -> Iterator[Asked]:
    wrong = _other_name(right, kind, scene, choice)
    if wrong is not None:
        yield Asked(question, right, wrong)


def _other_name(right: str, kind: str, scene: Scene, choice: random.Random) -> str | None:
    words = set(right.lower().split())
    near = _distinct([name.text for name in names(scene.premise) if name.kind == kind], words)
    pool_of_kind = scene.names.get(kind, ())
    far = _distinct(choice.sample(pool_of_kind, min(8, len(pool_of_kind))), words)
    pool = near if near and choice.random() < 0.7 else far  # noqa: PLR2004 - mostly one that the passage has too
    return choice.choice(pool) if pool else None


def _distinct(pool: Sequence[str], words: set[str]) -> list[str]:
    return sorted({name for name in pool if not (words & set(name.lower().split())) - GENERIC})


def _inner(subject: str) -> str:
    """Return a subject as it stands within a sentence: an article at its beginning in lower case."""
    first = subject.split(maxsplit=1)[0]
    return first.lower() + subject[len(first) :] if is_function_word(first) else subject
