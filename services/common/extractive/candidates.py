"""Passages that may answer a question, and what tells of each whether it does (ADR 0191).

A question is mostly asked in other words than its answer is written in. What tells is therefore not the shared words
alone: how near the passage is to the question in meaning, with the conversation and without; whether it entails what is
asked; whether each word of the question finds one like it; whether what is expected stands there (``expecting``); where
the answer to the question before stood. Encoders are asked by ``selecting``; everything here is pure.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.extractive.composing import ASKS_PAST, Source, Unit
from services.common.extractive.expecting import (
    lacks_expected,
    names_no_holder,
    names_other_year,
    tells_of_its_document,
)
from services.common.extractive.sides import stands_on_other_side
from services.common.questions.following import joined
from services.common.questions.kinds import asked_kind
from services.common.questions.matching import fit_terms, rarity
from services.common.questions.reading import Question
from services.common.questions.terms import STOP_WORDS, plain_words, terms

Vectors: TypeAlias = NDArray[np.float32]

MOST_EMBEDDED: Final = 20
"""Passages whose meaning is compared with the question's; the envelope's own order chooses them."""
MOST_READ: Final = 8
"""Passages that the entailment model reads with the question, and whose words are compared one by one."""
MOST_WORDS: Final = 60
"""Words of a passage, and of a question, that are compared one by one."""
_LEAST_DATED: Final = re.compile(
    r"\b(?:in|on|before|until|by|during|back in) (?:the (?:year|spring|summer|autumn|winter) (?:of )?)?"
    r"(?:(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December) )?"
    r"(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_WAS: Final = re.compile(
    r"\b(?:was|were|did|had|used to|applied|cost|back then|then|at (?:the|that) time)\b", re.IGNORECASE
)
_NOW: Final = re.compile(r"\b(?:now|nowadays|today|currently|at present|these days)\b", re.IGNORECASE)

SIGNS: Final = (
    "near",
    "near_own",
    "entails",
    "contradicts",
    "thing",
    "own",
    "lacks_expected",
    "words",
    "least_word",
    "rare_words",
    "past",
    "row",
    "length",
    "follows_near_own",
    "follows_section",
    "follows_before",
    "other_year",
    "lacks_bound",
    "lacks_focus",
    "by_rule",
)
"""What is told of a passage, in the order of the weights."""


@dataclass(frozen=True, slots=True)
class Need:
    """One question as it is compared.

    Attributes:
        question: as read.
        earlier: the questions that it leans on, nearest first.
        kind_text: the text that says which kind is asked for.
        asks_past: what no longer applies is asked for.
        tells: how much each stem of the question tells among the passages.
    """

    question: Question
    earlier: tuple[str, ...]
    kind_text: str
    asks_past: bool
    tells: Mapping[str, float]

    @property
    def texts(self) -> tuple[str, ...]:
        """What vectors are wanted of: the question with its conversation, alone, and the one before it."""
        before = (joined(self.earlier[0], self.earlier[1:]),) if self.earlier else ()
        return (joined(self.question.text, self.earlier), self.question.text, *before)

    @property
    def words(self) -> list[str]:
        """Return the content words of the question itself."""
        return content_words(self.question.text)

    @property
    def worths(self) -> NDArray[np.float64]:
        """Return how much each of ``words`` tells: the rarer, the more; shape ``(len(words),)``."""
        return np.array([max((self.tells.get(each, 0.0) for each in terms(word)), default=0.0) for word in self.words])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may answer.

    Attributes:
        unit: the passage.
        text: as it is compared: with the heading above it, where it is a sentence.
        section: the headings that it stands under.
        relevance: the fact's, 0.0-1.0.
        signs: by name, those known so far.
    """

    unit: Unit
    text: str
    section: str
    relevance: float
    signs: Mapping[str, float]

    def knowing(self, **signs: float) -> "Candidate":
        """Return the candidate with further signs."""
        return Candidate(self.unit, self.text, self.section, self.relevance, {**self.signs, **signs})

    @property
    def early(self) -> float:
        """What is told before the slow models are asked."""
        signs = self.signs
        near = signs.get("near", self.relevance)
        told = near + 0.5 * signs.get("near_own", near) + 0.2 * (signs["own"] + signs["thing"])
        return told + 0.2 * signs.get("follows_section", 0.0) + 0.3 * signs["by_rule"] - 0.15 * signs["lacks_expected"]

    def row(self) -> NDArray[np.float64]:
        """Return the signs in the order of ``SIGNS``."""
        return np.array([self.signs[name] for name in SIGNS], dtype=np.float64)


def need_of(question: Question, earlier: tuple[str, ...], units: Sequence[Unit]) -> Need:
    """Return a question as it is compared with the passages of all facts."""
    texts = (question.text, *earlier)
    kind_text = next((each for each in texts if asked_kind(each) is not None), question.text)
    tells = rarity((unit.inside | unit.over for unit in units), question.weights) if question.weights else {}
    return Need(question, earlier, kind_text, _asks_past(texts), tells)


def _asks_past(texts: Sequence[str]) -> bool:
    """Say whether what no longer applies is asked for; "now" ends what an earlier question asked of the past."""
    if _NOW.search(texts[0]):
        return False
    return any(ASKS_PAST.search(each) or (_LEAST_DATED.search(each) and _WAS.search(each)) for each in texts)


def first_candidates(
    need: Need, units: Sequence[Unit], sources: Sequence[Source], by_rule: Sequence[str]
) -> list[Candidate]:
    """Return the passages whose meaning is worth comparing, ``MOST_EMBEDDED`` at most, each text once.

    Args:
        need: the question.
        units: the passages of all facts.
        sources: the facts.
        by_rule: what the rules over words would quote.
    """
    question = need.question
    chosen = frozenset(by_rule)
    found: dict[str, Candidate] = {}
    for unit in units:
        text, source = unit.passage.text, sources[unit.fact]
        everything = f"{source.location} {source.content}"
        if text in found or _answers_nothing(question.text, text, everything):
            continue
        if stands_on_other_side(question, text, is_row=unit.passage.is_row):
            continue
        fit = fit_terms(question, (unit.inside, unit.over), text, need.tells)
        shown = text if unit.passage.is_row else _with_heading(text, source.location)
        signs = {
            "thing": fit.thing,
            "own": fit.own,
            "lacks_expected": float(lacks_expected(question, need.kind_text, text)),
            "past": float(unit.past) * (-1.0 if need.asks_past else 1.0),
            "row": float(unit.passage.is_row),
            "length": math.log(1 + len(unit.inside)),
            "other_year": float(names_other_year(question.text, everything)),
            "lacks_bound": float(not fit.names_bounds),
            "lacks_focus": float(not fit.names_focus),
            "by_rule": float(text in chosen),
        }
        found[text] = Candidate(unit, shown, source.location, source.relevance_score, signs)
    return sorted(found.values(), key=lambda each: (-each.early, each.unit.fact, each.unit.passage.position))[
        :MOST_EMBEDDED
    ]


def _answers_nothing(question: str, text: str, everything: str) -> bool:
    return tells_of_its_document(question, text) or names_no_holder(question, everything)


def _with_heading(text: str, location: str) -> str:
    heading = location.rpartition(" > ")[2].lstrip("# ").rstrip()
    return f"{heading}: {text}" if heading else text


def near_candidates(candidates: Sequence[Candidate], asked: Vectors, passages: Vectors) -> list[Candidate]:
    """Return the passages that the slow models read, ``MOST_READ`` at most.

    Args:
        candidates: as ``first_candidates`` gives them.
        asked: unit vectors of the question's ``texts``, shape ``(2 or 3, dimension)``.
        passages: unit vectors of the candidates' texts, shape ``(len(candidates), dimension)``.
    """
    near = passages @ asked.T
    follows = len(asked) > 2  # noqa: PLR2004 - the third is the question before
    sections: dict[str, float] = {}
    if follows:
        for each, row in zip(candidates, near, strict=True):
            sections[each.section] = max(sections.get(each.section, -1.0), float(row[2]))
    known = [
        each.knowing(
            near=float(row[0]),
            near_own=float(row[1]),
            follows_near_own=float(row[1]) if follows else 0.0,
            follows_section=sections.get(each.section, 0.0),
            follows_before=float(row[2]) if follows else 0.0,
        )
        for each, row in zip(candidates, near, strict=True)
    ]
    return sorted(known, key=lambda each: (-each.early, each.unit.fact, each.unit.passage.position))[:MOST_READ]


def read_candidate(
    candidate: Candidate, entailment: Sequence[float], likeness: Vectors | None, worths: NDArray[np.float64]
) -> Candidate:
    """Return a passage with what the slow models say.

    Args:
        candidate: the passage.
        entailment: entailment, neutral, contradiction of the question by the passage; they sum to 1.
        likeness: cosine of each word of the question (rows) with each of the passage; ``None`` where one has no word.
        worths: how much each word of the question tells.
    """
    best = np.zeros(1) if likeness is None else likeness.max(axis=1)
    whole = float(worths.sum())
    rare = float(best @ worths) / whole if likeness is not None and whole > 0.0 else float(best.mean())
    return candidate.knowing(
        entails=float(entailment[0]),
        contradicts=float(entailment[2]),
        words=float(best.mean()),
        least_word=float(best.min()),
        rare_words=rare,
    )


def content_words(text: str) -> list[str]:
    """Return the words of a text that carry content, each once, ``MOST_WORDS`` at most."""
    words = (word for word in plain_words(text) if word not in STOP_WORDS)
    return list(dict.fromkeys(words))[:MOST_WORDS]
