"""The built-in answerer: the one sentence or row of the envelope that answers best (ADR 0020, ADR 0096).

It writes no word of its own but one fixed sentence when nothing answers, and it is deterministic: the same question,
facts and conversation give the same text. A sentence answers when it holds the kind of answer that is expected and
names the thing that is asked for; the best is quoted whole, with the sentence that it leans on or the exception that
follows. A question of two parts gets a sentence for each. What a newer document replaced answers only where nothing
current does, or where the past is asked about.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from services.common.extractive.sentences import CLOSING_MARKS, Passage, quotable_passages
from services.common.extractive.sides import stands_on_other_side
from services.common.questions.kinds import Kind
from services.common.questions.matching import Fit, counts, fit_terms, rarity
from services.common.questions.reading import Question, Tense, read_needs
from services.common.questions.terms import STOP_WORDS, plain_words, terms

NOT_FOUND: Final = "The provided context does not contain an answer to this question."
NOTHING_NEW: Final = "The provided context does not contain anything on this question beyond the earlier answer."

LEXICAL_WEIGHT: Final = 0.65
RELEVANCE_WEIGHT: Final = 0.35
SENTENCE_BONUS: Final = 0.04
"""A sentence is easier to read than a row that says the same."""
LENGTH_COST: Final = 0.004
"""For each content word beyond those of the question: of two that answer, the shorter says less beside it."""
PAST_BONUS: Final = 0.30
DUPLICATE_OVERLAP: Final = 0.80
LEAST_OWN: Final = 0.33
"""A sentence that names less of what is asked about answers something else, however near its meaning."""
LEAST_OWN_OF_YES: Final = 0.60
"""The same for what is answered by yes or no: any sentence holds such an answer, so the thing alone tells."""
LEAST_TOGETHER: Final = 1.20
"""What is named, 0.0-1.0, and the fact's nearness in meaning, 0.0-1.0, together, or"""
SURE_RELEVANCE: Final = 0.66
"""a fact this near."""
KIND_TELLS: Final = 0.15
"""What a held kind adds that few sentences hold: a reason."""
COUNTED_BONUS: Final = 0.12
"""For a number before the noun that is counted ("five members" to "how many members"), and for a bound in the very
words of the question ("above €500,000")."""
FORM_BONUS: Final = 0.05
"""For words in the very form of the question."""
NARRATIVE_COST: Final = 0.12
"""For what tells of one past event, where a rule is asked for."""

SUPERSEDED: Final = re.compile(
    r"\b(?:superseded|no longer (?:applies|apply|valid|in force)|repealed|abolished|withdrawn|formerly|previously|"
    r"old (?:rule|page|version|rate|policy)|at the time|used to|had to be|(?:rule|version) of (?:19|20)\d\d|"
    r"the (?:rules?|thresholds|rates|limits) before|"
    r"until (?:the same date|\d{1,2} \w+ (?:19|20)\d\d|\w+ \d{1,2}, (?:19|20)\d\d|(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
ASKS_PAST: Final = re.compile(
    r"\b(?:old|earlier|former(?:ly)?|previous(?:ly)?|superseded|before (?:that|then|the|it|january|february|march|april"
    r"|may|june|july|august|september|october|november|december|\d+)|until|used to|history|historic(?:al)?"
    r"|in the past|replaced|back then)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A fact to quote from; ``stale`` when a newer version of its document replaced it.

    Attributes:
        location: the headings that it stands under, outermost first, as the source names them; empty when unknown.
        holds_from: first day on which it holds, of one that does not yet; ``None`` for every other.
    """

    fact_id: str
    content: str
    relevance_score: float
    stale: bool = False
    location: str = ""
    holds_from: date | None = None


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """How long an answer may be and how good a passage has to be (0.0-1.0)."""

    max_passages: int
    min_score: float


@dataclass(frozen=True, slots=True)
class Extract:
    """A composed answer: ``passages`` are verbatim, ``fact_ids`` say where each stands; empty when nothing fits."""

    text: str
    passages: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, and the conversation around it.

    Attributes:
        question: the question alone.
        leans_on: questions of the conversation that it leans on, nearest first.
        said: answers of earlier windows that must not be said again.
    """

    question: str
    leans_on: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A passage with what is compared.

    Attributes:
        fact: index of the fact that it stands in.
        inside: stems of the passage.
        over: stems of the headings above it and of the sentence before it.
        past: it stands under a superseded title, says that it no longer applies, or is stale.
    """

    passage: Passage
    fact: int
    inside: frozenset[str]
    over: frozenset[str]
    past: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    unit: Unit
    score: float
    rank: tuple[int, int]


def extract(asked: Asked, sources: Sequence[Source], limits: ExtractLimits) -> Extract:
    """Compose the answer.

    Args:
        asked: the question and its conversation.
        sources: the facts in envelope order.
        limits: bounds of the answer.
    """
    units = units_of(sources)
    said = [frozenset(terms(each.text)) for text in asked.said for each in quotable_passages(text)]
    asks_past = bool(ASKS_PAST.search(asked.question)) or any(ASKS_PAST.search(each) for each in asked.leans_on)
    chosen: list[Unit] = []
    had_answer = False
    for need in read_needs(asked.question, asked.leans_on):
        answers = _answers(need, units, sources, asks_past=asks_past, least=limits.min_score)
        had_answer = had_answer or bool(answers)
        fresh = [each.unit for each in answers if not repeats(each.unit, said)]
        if fresh and len(chosen) < limits.max_passages and not repeats(fresh[0], [each.inside for each in chosen]):
            chosen.append(fresh[0])
    if not chosen:
        return Extract(NOTHING_NEW if had_answer else NOT_FOUND)
    ordered = in_reading_order(chosen)
    return Extract(
        composed([each.passage.text for each in ordered]),
        tuple(each.passage.text for each in ordered),
        tuple(sources[each.fact].fact_id for each in ordered),
    )


def units_of(sources: Sequence[Source]) -> list[Unit]:
    """Return the passages of the facts, in their order."""
    found: list[Unit] = []
    for number, source in enumerate(sources):
        headings = frozenset(terms(source.location))
        of_past = source.stale or bool(SUPERSEDED.search(source.location))
        for passage in quotable_passages(source.content, source.location):
            inside = frozenset(terms(passage.text))
            over = headings | frozenset(terms(passage.lead))
            found.append(Unit(passage, number, inside, over, of_past or bool(SUPERSEDED.search(passage.text))))
    return found


def _answers(
    need: Question, units: Sequence[Unit], sources: Sequence[Source], *, asks_past: bool, least: float
) -> list[_Candidate]:
    """Return what answers, best first; ties by envelope order. What is of the past stands behind what is current."""
    if not need.weights:
        return []
    tells = rarity((unit.inside | unit.over for unit in units), need.weights)
    found: list[_Candidate] = []
    for unit in units:
        fitting = fit_terms(need, (unit.inside, unit.over), unit.passage.text, tells)
        relevance = sources[unit.fact].relevance_score
        if not _is_answer(need, fitting, relevance, is_row=unit.passage.is_row):
            continue
        if stands_on_other_side(need, unit.passage.text, is_row=unit.passage.is_row):
            continue
        score = _score(need, unit, fitting, relevance) + (PAST_BONUS if asks_past and unit.past else 0.0)
        if score >= least:
            found.append(_Candidate(unit, score, (unit.fact, unit.passage.position)))
    behind = not asks_past
    return sorted(found, key=lambda each: (behind and each.unit.past, -each.score, each.rank))


def _is_answer(need: Question, fitting: Fit, relevance: float, *, is_row: bool) -> bool:
    if not fitting.holds_kind or not fitting.names_focus:
        return False
    least = LEAST_OWN_OF_YES if need.kind is Kind.YES_NO else LEAST_OWN
    if fitting.own < least or fitting.thing < LEAST_OWN:
        return False
    if not fitting.names_bounds:
        return False
    if relevance >= SURE_RELEVANCE:
        return True
    together = fitting.own + relevance + (KIND_TELLS if need.kind is Kind.REASON else 0.0)
    # A row names things and values; what is done goes without saying where the noun that is asked for is named.
    named = fitting.names_done or is_row or bool(need.focus)
    return named and together >= LEAST_TOGETHER


def _score(need: Question, unit: Unit, fitting: Fit, relevance: float) -> float:
    text = unit.passage.text
    extra = len(unit.inside.difference(need.weights))
    lexical = (fitting.thing + fitting.own) / 2
    score = LEXICAL_WEIGHT * lexical + RELEVANCE_WEIGHT * relevance - LENGTH_COST * extra
    if need.kind is Kind.NUMBER and need.focus and counts(text, need.focus):
        score += COUNTED_BONUS
    if need.tense is not Tense.PAST and _NARRATES.search(text) and not _RULES.search(text):
        score -= NARRATIVE_COST * (2 if need.tense is Tense.RULE else 1)
    if any(phrase in text.lower() for phrase in need.bound_phrases):
        score += COUNTED_BONUS
    words = frozenset(plain_words(text))
    asked = [word for word in plain_words(need.text) if word not in STOP_WORDS]
    forms = sum(1 for word in asked if word in words) / len(asked) if asked else 0.0
    return score + FORM_BONUS * forms + (0.0 if unit.passage.is_row else SENTENCE_BONUS)


_NARRATES: Final = re.compile(r"\b(?:was|were|took|had|did|came|brought|missed|led|found|adopted|rose|fell|became)\b")
_RULES: Final = re.compile(r"\b(?:must|may|is|are|has|have|can|shall|pays|needs|will)\b")


def repeats(unit: Unit, said: Sequence[frozenset[str]]) -> bool:
    """Say whether a passage says what was said: it shares most of the words."""
    return any(_overlap(unit.inside, other) >= DUPLICATE_OVERLAP for other in said)


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of the shorter one's terms that both hold; 1.0 also when one lies within the other."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def in_reading_order(chosen: Sequence[Unit]) -> list[Unit]:
    """Return the facts as they answer the parts, and within a fact the passages as they stand."""
    rank = {fact: order for order, fact in enumerate(dict.fromkeys(each.fact for each in chosen))}
    return sorted(chosen, key=lambda each: (rank[each.fact], each.passage.position))


def composed(texts: Sequence[str]) -> str:
    """Join passages with a space, or with a line break after one that has no closing mark of its own."""
    parts: list[str] = []
    for text in texts:
        if parts:
            parts.append(" " if parts[-1].rstrip(CLOSING_MARKS).endswith((".", "!", "…")) else "\n")
        parts.append(text)
    return "".join(parts)
