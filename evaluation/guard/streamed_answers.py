"""Answers to be streamed: faithful ones, and the same with one sentence made false, which is known.

``summaries``: answers as models and people write them, each checked by people, and the same with one edit that makes
it false (GROUNDTRAIL_EVAL_DATA, grounding; folds that no model was fitted on). ``planted``: sentences of a text itself,
and the same with a number or a negation changed by rule in one of them (the same data): what an answer that quotes is.
``corpus``: claims of a passage that it
bears out, worded as far from it as they can be, and one of them changed for its twin (training/corpus, the train part):
minimal pairs, which no overlap tells apart. ``pairs``: the same of tests/vectors/dpe/pairs, development. What is drawn
is drawn from a fixed seed.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from evaluation import corpus, pairs
from evaluation.data import read_rows
from services.common.reading.sentences import sentences
from services.common.reading.text_types import SentenceKind

SEED: Final = 20
TOGETHER: Final = 3
"""Pairs that one answer is made of."""
EDITED: Final = ("summedits_", "ragtruth_summary")
"""Answers that people judged; of the false ones it is known which words are."""
PLANTED: Final = 500
"""Answers of ``planted`` that are faithful, and as many falsified ones."""
_TOKEN: Final = re.compile(r"\s*\S{1,5}|\s+\Z")
"""About a token of a language model: a few letters, with the blank before them."""
_CLAIMS: Final = (3, 2)
"""So many claims of a passage make its first answer, so many its second."""


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """An answer with what it is held against.

    Attributes:
        kind: what was changed; ``faithful`` where nothing was.
        false_start, false_end: the false sentence in characters; -1 in a faithful answer.
    """

    id: str
    source: str
    kind: str
    prompt: str
    facts: tuple[str, ...]
    text: str
    false_start: int = -1
    false_end: int = -1

    @property
    def is_faithful(self) -> bool:
        """Whether no sentence was changed."""
        return self.false_end < 0

    def tokens(self) -> list[str]:
        """Return the answer cut into pieces about as long as a language model's tokens."""
        return _TOKEN.findall(self.text)


def from_summaries(folder: Path, sets: tuple[str, ...] = EDITED) -> Iterator[StreamedAnswer]:
    """Yield faithful answers of several sentences and edited ones by turns, as many of the one as of the other.

    Args:
        folder: GROUNDTRAIL_EVAL_DATA.
        sets: what the names of their sets begin with.

    Raises:
        EvaluationDataError: the data are not there.
    """
    rows = [row for name in ("dev", "more") for row in read_rows(folder / "grounding" / f"{name}.jsonl.gz")]
    told = [row for row in rows if row["dataset"].startswith(sets) and row["fold"] != "fit"]
    faithful = [one for row in told if row["supported"] and (one := _summary(row)) is not None]
    edited = [one for row in told if not row["supported"] and (one := _summary(row)) is not None]
    draw = random.Random(SEED)  # noqa: S311 - drawn again the same, not secret
    for some in (faithful, edited):
        some.sort(key=lambda one: one.id)
        draw.shuffle(some)
    for pair in zip(faithful, edited, strict=False):
        yield from pair


def _summary(row: Mapping[str, Any]) -> StreamedAnswer | None:
    """Return a row as an answer; ``None`` for one of a single sentence, or with no one sentence that is false."""
    text = row["claim"].strip()
    there = sentences(text)
    spans = row.get("spans", [])
    if len(there) < _LEAST_SENTENCES or (not row["supported"] and not spans):
        return None
    facts = tuple(part for part in row["context"] if part.strip())
    if row["supported"]:
        return StreamedAnswer(row["id"], row["dataset"], "faithful", _ASKED, facts, text)
    by = len(row["claim"]) - len(row["claim"].lstrip())
    wrong = [one for one in there if any(s["start"] - by < one.end and s["end"] - by > one.start for s in spans)]
    if len(wrong) != 1:
        return None
    return StreamedAnswer(row["id"], row["dataset"], "edited", _ASKED, facts, text, wrong[0].start, wrong[0].end)


_LEAST_SENTENCES: Final = 2
_ASKED: Final = "Sum up the text."


def from_planted(folder: Path, most: int = PLANTED) -> Iterator[StreamedAnswer]:
    """Yield answers of sentences of a text, each followed by its falsified twin, texts of all sets in one drawn order.

    Args:
        folder: GROUNDTRAIL_EVAL_DATA.
        most: so many answers of each of the two kinds.

    Raises:
        EvaluationDataError: the data are not there.
    """
    rows = [row for name in ("dev", "more") for row in read_rows(folder / "grounding" / f"{name}.jsonl.gz")]
    texts: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        text = "\n".join(row["context"])
        if row["fold"] != "fit" and _LEAST_CHARS <= len(text) <= _MOST_CHARS:
            texts.setdefault(text, row)
    draw = random.Random(SEED)  # noqa: S311 - drawn again the same, not secret
    order = sorted(texts)
    draw.shuffle(order)
    made = (both for text in order if (both := _planted(texts[text], text, draw)) is not None)
    for true, false in islice(made, most):
        yield true
        yield false


def _planted(row: Mapping[str, Any], text: str, draw: random.Random) -> tuple[StreamedAnswer, StreamedAnswer] | None:
    """Return sentences of a text, and the same with one of them falsified; ``None`` where it has too few."""
    there = [text[one.start : one.end] for one in sentences(text) if one.kind is SentenceKind.PROSE]
    plain = list(dict.fromkeys(one for one in there if _PLAIN.fullmatch(one)))
    changed = {one: false for one in plain if (false := _falsified(one)) is not None}
    if len(plain) < _QUOTED or not changed:
        return None
    wrong = draw.choice(list(changed))
    others = draw.sample([one for one in plain if one != wrong], _QUOTED - 1)
    said = [one for one in plain if one == wrong or one in others]
    kind = "number" if any(char.isdigit() for char in wrong) else "negation"
    both = [(one, changed[wrong] if one == wrong else one) for one in said]
    begin = sum(len(true) + 1 for true, _ in both[: said.index(wrong)])
    facts, name = tuple(part for part in row["context"] if part.strip()), f"{row['id']}-quoted"
    told = " ".join(false for _, false in both)
    end = begin + len(changed[wrong])
    return (
        StreamedAnswer(f"{name}-true", row["dataset"], "faithful", _ASKED, facts, " ".join(said)),
        StreamedAnswer(f"{name}-false", row["dataset"], kind, _ASKED, facts, told, begin, end),
    )


_QUOTED: Final = 4
_LEAST_CHARS: Final = 800
_MOST_CHARS: Final = 4_000
_PLAIN: Final = re.compile(r"[A-Z][^\n\"“”|]{50,240}[a-z]\.")
_NUMBER: Final = re.compile(r"(?<![\w.,-])\d{1,4}(?![\w.,-])")
_VERB: Final = re.compile(r"\b(is|was|are|were|has|had|will|can) (?!not\b)")


def _falsified(sentence: str) -> str | None:
    """Return a sentence with its first number half as large again, else with its first verb denied."""
    number = _NUMBER.search(sentence)
    if number is not None:
        other = str(int(number.group()) + max(2, int(number.group()) // 2))
        return sentence[: number.start()] + other + sentence[number.end() :]
    verb = _VERB.search(sentence)
    return None if verb is None else f"{sentence[: verb.end()]}not {sentence[verb.end() :]}"


def from_corpus() -> Iterator[StreamedAnswer]:
    """Yield two faithful answers for each passage, each followed by its falsified twin.

    Raises:
        EvaluationDataError: the corpus is not there.
    """
    draw = random.Random(SEED)  # noqa: S311 - drawn again the same, not secret
    for row in read_rows(corpus.TRAIN):
        true = {claim["id"]: claim for claim in row["claims"] if claim["supported"]}
        twins = {claim["twin"]: claim for claim in row["claims"] if not claim["supported"]}
        both = [
            (claim["claim"], twins[key]["claim"], twins[key]["kind"]) for key, claim in true.items() if key in twins
        ]
        facts = (f"{row['title']}\n\n{row['passage']}",)
        at = 0
        for number, size in enumerate(_CLAIMS, 1):
            part = both[at : at + size]
            at += size
            if len(part) == size:
                yield from _twins(f"{row['id']}-{number}", "corpus", "", facts, part, draw)


def from_pairs() -> Iterator[StreamedAnswer]:
    """Yield answers made of three records each, each followed by its falsified twin."""
    draw = random.Random(SEED)  # noqa: S311 - drawn again the same, not secret
    records = [one for one in pairs.read_part(pairs.Part.DEVELOPMENT) if one.false_answer]
    draw.shuffle(records)
    for at in range(len(records)):
        some = [records[(at + step) % len(records)] for step in range(TOGETHER)]
        both = [(one.true_answer, one.false_answer or "", one.kind) for one in some]
        facts = tuple(fact for one in some for fact in one.facts)
        prompt = " ".join(one.question for one in some)
        yield from _twins(f"{some[0].id}-3", "pairs", prompt, facts, both, draw)


def _twins(
    name: str,
    source: str,
    prompt: str,
    facts: tuple[str, ...],
    both: Sequence[tuple[str, str, str]],
    draw: random.Random,
) -> Iterator[StreamedAnswer]:
    said = [true for true, _, _ in both]
    yield StreamedAnswer(f"{name}-true", source, "faithful", prompt, facts, " ".join(said))
    at = draw.randrange(len(both))
    true, false, kind = both[at]
    said[at] = false
    text, begin = " ".join(said), sum(len(one) + 1 for one in said[:at])
    start, end = _changed(true, false)
    yield StreamedAnswer(f"{name}-false", source, kind, prompt, facts, text, begin + start, begin + end)


def _changed(true: str, false: str) -> tuple[int, int]:
    """Return the first sentence of the false answer that the true one does not hold."""
    known = {true[one.start : one.end] for one in sentences(true)}
    found = [one for one in sentences(false) if false[one.start : one.end] not in known]
    return (found[0].start, found[0].end) if found else (0, len(false))
