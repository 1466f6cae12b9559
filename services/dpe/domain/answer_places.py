"""Answers of a few words that stand in another place than what was asked (SPEC-005 §5.3, ADR 0216).

"£12." to "What does Basic cost?" is borne out by the row of Plus. An answer that means nothing without its question is
therefore held against the place that the question names most: where that place gives something else, and the answer's
own places are named clearly less, it is taken from elsewhere. In a table that decides; in prose it is a doubt.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.questions.answering import is_bare_answer
from services.common.questions.kinds import Kind
from services.common.questions.reading import Question, needs, read_question
from services.common.questions.told import question_sentences
from services.common.reading.agreement import agrees, comparable
from services.common.reading.bounds import bound_of
from services.common.reading.clauses import finite_verb_at
from services.common.reading.places import PLACED
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Claim, Span, Value
from services.common.reading.words import words
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.asked_places import Asked, AskedPlace, read_asked_places, stems
from services.dpe.domain.departed import quoted_words
from services.dpe.domain.facts import FactView, without_values
from services.dpe.domain.findings import AlignedValue, AnswerPlace, Distortion, DistortionType, Rule
from services.dpe.domain.superlatives import Compared, compared, names_extreme
from services.dpe.domain.verdict_eligibility import judged_claims

ELSEWHERE: Final = 0.8
"""Share of what the best place names of the question, below which an answer's own places are others; on answers of a
few words for development (ADR 0216)."""
CLOSE: Final = 0.95
"""The same between cells of one table, and between parts of one sentence, which have all other words in common."""
NAMED: Final = 0.6
"""So much of a question a cell has to name to decide."""
EXACT: Final = 0.9
"""So much, where the answer's value stands nowhere."""
_HELD: Final = 0.75
"""Share of an answer's words in a place that holds it."""
_BESIDE_VALUES: Final = 0.5
"""The same beside values."""
_BOUNDS: Final = frozenset(stems("at least at most maximum minimum about only it costs you pay the price charge"))
"""Words that no place needs to have."""
_RECKONED: Final = re.compile(
    r"\b(?:total|altogether|together|sum|comes? to|more|less|fewer|extra|further|another|additional(?:ly)?|each)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:more|less|fewer|difference|extra|longer|shorter|cheaper|dearer|higher|lower|older|younger|save|saving|total"
    r"|altogether|together|combined|both|each)\b",
    re.IGNORECASE,
)
"""A question with one of these asks for what has to be reckoned, or for several things."""
_TURNS: Final = re.compile(
    r"\b(?:free|closed?|without|except|excluded|exempt|waived|un\w{3,20}|refuse|avoid|forbid|forbidden|prohibited)\b",
    re.IGNORECASE,
)
"""With one of these "yes" may be what a cell with "none" says."""
_DENIES: Final = re.compile(r"\b(?:not|no|neither|nor|never)\b|n['\u2019]t\b", re.IGNORECASE)
_SOME: Final = re.compile(r"(?:yes|included|available|allowed|open)\b", re.IGNORECASE)


def answer_places(analysis: Analysis) -> dict[str, AnswerPlace]:
    """Return the places that claims are about: where the question says it, and of those with a superlative."""
    claims = judged_claims(analysis.outputs.text.claims)
    asking = question_sentences(analysis.input.query)
    is_one = len(asking) == 1 and len(needs(asking[0])) == 1
    leaning = _leaning(claims, read_question(asking[0], analysis.input.leans_on)) if is_one else None
    calling = [one for one in claims if one is not leaning and _calls_extreme(one.text)][:_MOST_CALLED]
    if leaning is None and not calling:
        return {}
    views = analysis.outputs.text.fact_views
    places = tuple(read_asked_places(views))
    found = {} if leaning is None else {leaning: _found(leaning, Asked(asking[0], places, analysis.input.leans_on))}
    found |= {claim: _called(claim, places) for claim in calling}
    return {
        claim.claim_id: _answer_place(claim, item, views[item.place.fact_index])
        for claim, item in found.items()
        if item is not None
    }


def _leaning(claims: Sequence[Claim], question: Question) -> Claim | None:
    """Return the claim that is all of the first sentence, where it says nothing without the question."""
    first = [one for one in claims if one.sentence_index == 0]
    return first[0] if len(first) == 1 and _leans(first[0].text, question) else None


def _calls_extreme(text: str) -> bool:
    return len(text) <= _CALLED_CHARS and names_extreme(text) and len(words(text)) <= _MOST_SAID


_MOST_SAID: Final = 16
_CALLED_CHARS: Final = 200
_MOST_CALLED: Final = 8
"""So many claims of an answer are held against every cell."""


def _leans(text: str, question: Question) -> bool:
    """Say whether a claim is few words: without a verb, of a pronoun, or of the question and a value alone.

    "Until 5 pm", "It costs 9 euros a month", "The notice is 30 days".
    """
    tokens = words(text)
    if len(tokens) > _MOST_WORDS:
        return False
    return finite_verb_at(tokens) is None or _PRONOUN.match(text) is not None or is_bare_answer(question, text)


_MOST_WORDS: Final = 8
_PRONOUN: Final = re.compile(
    r"\W{0,4}(?:(?:yes|no),? )?(?:it|that|this|they|these|those|he|she|you|we|i|there|yes|no)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Found:
    """The place that is asked about.

    Attributes:
        claimed: the answer's value; ``None`` for its words.
        known: the value that stands there; ``None`` for all that stands there.
        decides: nothing else can be meant.
        is_turned: it says no where the answer says yes, or the other way round.
        is_own: the answer stands there.
    """

    place: AskedPlace
    claimed: Value | None = None
    known: Value | None = None
    decides: bool = False
    is_turned: bool = False
    is_own: bool = False


def _found(claim: Claim, asked: Asked) -> _Found | None:
    values = [value for value in claim.values if value.kind in PLACED]
    group = compared(asked)
    if group is not None:
        return _by_extreme(claim, values, group)
    if values:
        return _by_value(claim, values, asked)
    if asked.kind is Kind.YES_NO:
        return _by_polarity(claim, asked)
    return _by_words(claim, asked)


@dataclass(frozen=True, slots=True)
class _Best:
    """The place that names most of a question, of those that hold an answer or of those that do not."""

    share: float
    place: AskedPlace
    claimed: Value | None = None
    known: Value | None = None

    @property
    def rank(self) -> tuple[float, bool]:
        """More of the question first, then what gives a value."""
        return self.share, self.known is not None


def _by_extreme(claim: Claim, values: Sequence[Value], group: Compared) -> _Found | None:
    """Say whether an answer gives the name or the amount of what has the least or the most."""
    if _DENIES.search(claim.text):
        return None
    said = frozenset(stems(claim.text))
    called = [frozenset(stems(name)) for name in group.names]
    spoken = {name for name in called if name and name <= said}
    longest = {name for name in spoken if not any(name < other for other in spoken)}
    named = [place for name, place in zip(called, group.places, strict=True) if name in longest]
    given = named or [place for place in group.places if any(agrees(one, place.values[0]) for one in values)]
    if not given or len(named) > 1:
        return None
    if group.holds(given[0]):
        return _Found(given[0], is_own=True)
    name, best = group.best
    amount = best.values[0]
    known = replace(amount, kind=EntityKind.OTHER, text=f"{name[:1].upper()}{name[1:]} ({amount.text})")
    return _Found(best, None, known, decides=True)


def _called(claim: Claim, places: Sequence[AskedPlace]) -> _Found | None:
    """Say whether what a claim calls the least or the most is that: "The cheapest plan is Basic"."""
    text = without_values(claim.text, Span(0, len(claim.text)), claim.values, claim.start)
    group = compared(Asked(text, places))
    return None if group is None else _by_extreme(claim, (), group)


def _by_value(claim: Claim, values: Sequence[Value], asked: Asked) -> _Found | None:
    """Say whether all of an answer's values stand in the place that is asked about, or others."""
    rest = _words_of(claim, asked)
    own: list[_Best] = []
    others: list[_Best] = []
    for place in asked.places:
        open_ones = [value for value in values if not any(agrees(value, known) for known in place.values)]
        if not open_ones and len(rest & place.own) >= _BESIDE_VALUES * len(rest):
            own.append(_Best(asked.share(place), place))
            continue
        pairs = ((value, known) for value in open_ones for known in place.values if _measure_one(value, known))
        pair = next(pairs, None)
        if pair is not None or (open_ones and place.says_nothing):
            others.append(_Best(asked.share(place), place, *(pair or (open_ones[0], None))))
    own = own or [_Best(asked.share(place), place) for place in asked.places if _holds_first(values, place)]
    held = {id(one.place) for one in own}
    others = [one for one in others if id(one.place) not in held]
    is_plain = not _RECKONED.search(claim.text) and not _COMPARED.search(asked.text)
    found = _weighed(own, others, asked, rest, is_plain=is_plain)
    is_turned = found is not None and found.is_own and any(_is_other_side(claim, one, found.place) for one in values)
    return None if is_turned else found


def _is_other_side(claim: Claim, value: Value, place: AskedPlace) -> bool:
    """Say whether a claim limits a value the other way round: "at least 40 hours" beside "up to 40 hours"."""
    said = bound_of(claim.text, claim.start, value)
    known = [bound_of(place.text, place.span.start, one) for one in place.values if agrees(value, one)]
    return said is not None and said.other in known


def _holds_first(values: Sequence[Value], place: AskedPlace) -> bool:
    return any(agrees(values[0], known) for known in place.values)


def _measure_one(value: Value, known: Value) -> bool:
    """Say whether two values measure one thing; "the 3rd" is no sum of money."""
    return comparable(value, known) and (
        bool(value.unit) == bool(known.unit) or EntityKind.DATE in {value.kind, known.kind}
    )


def _by_words(claim: Claim, asked: Asked) -> _Found | None:
    """Say whether an answer's words stand in the place that is asked about, or others."""
    rest = _words_of(claim, asked)
    if not rest:
        return None
    own: list[_Best] = []
    others: list[_Best] = []
    for place in asked.places:
        is_own = len(rest & place.own) >= _HELD * len(rest) and not place.says_nothing
        (own if is_own else others).append(_Best(asked.share(place), place))
    return _weighed(own, others, asked, rest, is_plain=True) if own else None


def _weighed(
    own: Sequence[_Best], others: Sequence[_Best], asked: Asked, rest: frozenset[str], *, is_plain: bool
) -> _Found | None:
    """Return the place that is asked about where it is clearly one of the answer's, or clearly none of them."""
    mine, best = (max(each, key=lambda one: one.rank, default=None) for each in (own, others))
    share, other = (0.0 if one is None else one.share for one in (mine, best))
    ratio = CLOSE if mine is not None and best is not None and mine.place.within == best.place.within else ELSEWHERE
    if mine is not None and share >= NAMED and other <= ratio * share:
        is_own = mine.place.cell is not None and asked.fits(mine.place) and rest <= mine.place.own | mine.place.around
        return _Found(mine.place, is_own=True) if is_own else None
    if best is None or share >= ratio * other:
        return None
    is_cell = best.place.cell is not None and is_plain and asked.fits(best.place)
    if mine is None:
        is_one = best.known is not None and len(best.place.values) == 1 and not asked.values
        is_exact = is_cell and is_one and other >= EXACT and not asked.periods - best.place.own
        return _Found(best.place, best.claimed, best.known, decides=True) if is_exact else None
    least = EXACT if best.place.says_nothing else NAMED
    return _Found(best.place, best.claimed, best.known, decides=is_cell and other >= least)


def _by_polarity(claim: Claim, asked: Asked) -> _Found | None:
    """Return the place that is asked about, where it says yes or no, and whether the answer says the same.

    A cell decides. A sentence that denies what an answer affirms is a doubt.
    """
    said = _YES_NO.match(claim.text)
    if said is None or not asked.places or _TURNS.search(asked.text) or is_negated(asked.text):
        return None
    first, *others = sorted((_Best(asked.share(place), place) for place in asked.places), key=lambda one: -one.share)
    place, is_alone = first.place, not others or others[0].share <= ELSEWHERE * first.share
    if first.share < (NAMED if is_alone else EXACT) or not asked.fits(place):
        return None
    if place.cell is None:
        return _Found(place) if said["yes"] and is_alone and is_negated(place.text) else None
    has_some = _SOME.match(place.text) is not None
    if _TURNS.search(place.cell.head) or not (has_some or place.says_nothing):
        return None
    is_own = has_some is bool(said["yes"])
    return _Found(place, decides=not is_own, is_turned=not is_own, is_own=is_own)


_YES_NO: Final = re.compile(r"\W{0,4}(?:(?P<yes>yes|yeah|yep)|no|nope)\b", re.IGNORECASE)


def _words_of(claim: Claim, asked: Asked) -> frozenset[str]:
    """Return the words of an answer that some place has, without those of its question and of its values."""
    of_values = frozenset(stem for value in claim.values for stem in stems(value.text))
    return (frozenset(stems(claim.text)) - asked.stems - of_values - _BOUNDS) & asked.vocabulary


def _answer_place(claim: Claim, item: _Found, view: FactView) -> AnswerPlace:
    there = item.place.span if item.known is None else Span(item.known.start, item.known.end)
    if not item.decides:
        return AnswerPlace(item.place.fact_index, there, item.is_own)
    text = claim.text.rstrip(" .!")
    whole = Value(EntityKind.OTHER, text, claim.start, claim.start + len(text), text.casefold())
    claimed = item.claimed or whole
    said = Span(claimed.start, claimed.end)
    known = item.known or quoted_words(view.fact.content, there)
    kind = DistortionType.NUMBER_CHANGED if item.known is not None else DistortionType.ENTITY_SUBSTITUTED
    found = Distortion(
        DistortionType.NEGATION_FLIP if item.is_turned else kind,
        claim.claim_id,
        view.fact.fact_id,
        said,
        there,
        AlignedValue(claimed, known, equal=False),
        Rule.ROW,
    )
    return AnswerPlace(item.place.fact_index, there, distortion=found)
