"""Answers of a few words that stand in another place than what was asked (SPEC-005 §5.3, ADR 0216).

"£12." to "What does Basic cost?" is borne out by the row of Plus. An answer that means nothing without its question is
therefore held against the place that the question names most: where that place gives something else, and the answer's
own places are named clearly less, it is taken from elsewhere. In a table that decides; in prose it is a doubt.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.questions.answering import is_bare_answer
from services.common.questions.kinds import Kind
from services.common.questions.reading import Question, needs, read_question
from services.common.questions.told import question_sentences
from services.common.reading.agreement import agrees, comparable
from services.common.reading.answer_words import only_answers
from services.common.reading.bounds import Bound, bound_of
from services.common.reading.clauses import finite_verb_at
from services.common.reading.places import PLACED
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Claim, Span, Value
from services.common.reading.words import words
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.asked_ends import asked_end, at_end
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
LEAST_NAMED: Final = 0.6
"""So much of a question a cell has to name to decide."""
LEAST_EXACT: Final = 0.9
"""So much, where the answer's value stands nowhere."""
_HELD: Final = 0.75
"""Share of an answer's words in a place that holds it."""
_BESIDE_VALUES: Final = 0.5
"""The same beside values."""
BARE_WORDS: Final = frozenset(stems("at least at most maximum minimum about only it costs you pay the price charge"))
"""Words that no place needs to have."""
_MOST_CELL_WORDS: Final = 5
"""A cell of more words says under which condition."""
_QUALIFIED: Final = re.compile(
    r"\b(?:not|never|no longer|except|but|anything|everything|unless|if|or|average|instead|neither)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""With one of these an answer says less than a place, or something else."""
_RECKONED: Final = re.compile(
    r"\b(?:total|altogether|together|sum|comes? to|more|less|fewer|extra|further|another|additional(?:ly)?|each|below"
    r"|above|cheaper|dearer|than|off|half|twice|double)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:more|less|fewer|difference|extra|longer|shorter|cheaper|dearer|higher|lower|older|younger|save|saving|total"
    r"|altogether|together|combined|both|each|and|or|average|other|first|per)\b",
    re.IGNORECASE,
)
"""A question with one of these asks for what has to be reckoned, or for several things."""
_TURNS: Final = re.compile(
    r"\b(?:free|closed?|shut|without|except|excluded|exempt|waived|un\w{3,20}|refuse|avoid|forbid|forbidden|prohibited"
    r"|banned|missing|lack\w{0,4}|stop|instead|no|not|nothing|none|never)\b",
    re.IGNORECASE,
)
_OBLIGES: Final = re.compile(
    r"\b(?:pay|paying|need|needed|must|have to|extra|costs?|charge\w{0,2}|fees?)\b", re.IGNORECASE
)
"""With one of these "yes" may be what a cell with "none" says."""
_DENIES: Final = re.compile(r"\b(?:not|no|neither|nor|never)\b|n['\u2019]t\b", re.IGNORECASE)
_SIGN: Final = re.compile(r"\s?[-+\u2212\u2013]")
_SOME: Final = re.compile(r"(?:yes|included|available|allowed|open|offered|permitted|possible)\.?", re.IGNORECASE)


def answer_places(analysis: Analysis) -> dict[str, AnswerPlace]:
    """Return the places that claims are about: where the question says it, and of those with a superlative."""
    claims = judged_claims(analysis.outputs.text.claims)
    asking = question_sentences(analysis.input.query)
    is_one = len(asking) == 1 and len(asking[0]) <= _MOST_ASKED and len(needs(asking[0])) == 1
    leaning = _leaning(claims, read_question(asking[0], analysis.input.leans_on)) if is_one else None
    calling = [one for one in claims if one is not leaning and _calls_extreme(one.text)][:_MOST_CALLED]
    if leaning is None and not calling:
        return {}
    views = analysis.outputs.text.fact_views
    places = tuple(read_asked_places(views))
    found = {} if leaning is None else {leaning: _found(leaning, Asked(asking[0], places, analysis.input.leans_on))}
    found |= {claim: _called(claim, places) for claim in calling}
    return {
        claim.claim_id: replace(_answer_place(claim, item, views[item.place.fact_index]), is_asked=claim is leaning)
        for claim, item in found.items()
        if item is not None
    }


def _leaning(claims: Sequence[Claim], question: Question) -> Claim | None:
    """Return the claim that is all of the first sentence, where it says nothing without the question."""
    first = [one for one in claims if one.sentence_index == 0]
    return first[0] if len(first) == 1 and _leans(first[0].text, question) else None


def _calls_extreme(text: str) -> bool:
    return len(text) <= _CALLED_CHARS and names_extreme(text) and len(words(text)) <= _MOST_SAID


_MOST_ASKED: Final = 600
"""Characters of a question; a longer one tells a story, and every place is held against each of its words."""
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
        by_words: the answer gives a name, or other words, and no value.
    """

    place: AskedPlace
    claimed: Value | None = None
    known: Value | None = None
    decides: bool = False
    is_turned: bool = False
    is_own: bool = False
    by_words: bool = False


def _found(claim: Claim, asked: Asked) -> _Found | None:
    """Return the place that is asked about; ``None`` where a claim or a question says more than a place could."""
    values = [value for value in claim.values if value.kind in PLACED]
    group = compared(asked)
    if group is not None:
        return _by_extreme(claim, asked, values, group)
    if asked.kind is Kind.YES_NO and not values:
        return _by_polarity(claim, asked)
    if _QUALIFIED.search(claim.text):
        return None
    if not values:
        return _by_words(claim, asked)
    denied = _by_polarity(claim, asked) if asked.kind is Kind.YES_NO else None
    if denied is not None and not any(agrees(one, known) for one in values for known in denied.place.values):
        return denied
    end = asked_end(asked.text) if len(values) == 1 else None
    return _by_value(claim, values, asked) if end is None else _by_end(claim, values, asked, end)


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


def _by_extreme(claim: Claim, asked: Asked, values: Sequence[Value], group: Compared) -> _Found | None:
    """Say whether an answer gives the name or the amount of what has the least or the most, and nothing besides."""
    if _QUALIFIED.search(claim.text):
        return None
    said = frozenset(stems(claim.text))
    called = [frozenset(stems(name)) for name in group.names]
    spoken = {name for name in called if name and name <= said}
    longest = {name for name in spoken if not any(name < other for other in spoken)}
    named = [place for name, place in zip(called, group.places, strict=True) if name in longest]
    given = named or [place for place in group.places if any(agrees(one, place.values[0]) for one in values)]
    of_values = frozenset(stem for value in claim.values for stem in stems(value.text))
    if not given or len(named) > 1 or said - asked.stems - of_values - BARE_WORDS - group.words - given[0].names:
        return None
    if group.holds(given[0]):
        return _Found(given[0], is_own=True)
    name, best = group.best
    return _Found(best, None, _named_value(best.values[0], name), decides=True)


def _named_value(value: Value, name: str) -> Value:
    """Return a value with the name of its row, as it is set against an answer: "Basic: 5 euros"."""
    return replace(value, kind=EntityKind.OTHER, text=f"{name[:1].upper()}{name[1:]}: {value.text}")


def _called(claim: Claim, places: Sequence[AskedPlace]) -> _Found | None:
    """Say whether what a claim calls the least or the most is that: "The cheapest plan is Basic"."""
    asked = Asked(without_values(claim.text, Span(0, len(claim.text)), claim.values, claim.start), places)
    group = compared(asked, is_claim=True)
    return None if group is None else _by_extreme(claim, asked, (), group)


def _by_value(claim: Claim, values: Sequence[Value], asked: Asked) -> _Found | None:
    """Say whether all of an answer's values stand in the place that is asked about, or others."""
    rest = _words_of(claim, asked) & asked.vocabulary
    own: list[_Best] = []
    others: list[_Best] = []
    for place in asked.places:
        open_ones = [value for value in values if not any(agrees(value, known) for known in place.values)]
        if not open_ones and len(rest & place.own) >= _BESIDE_VALUES * len(rest):
            own.append(_Best(asked.share(place, by_name=True), place))
            continue
        pairs = ((value, known) for value in open_ones for known in place.values if _measure_one(value, known))
        pair = next(pairs, None)
        if pair is not None or (open_ones and place.says_nothing):
            others.append(_Best(asked.share(place, by_name=True), place, *(pair or (open_ones[0], None))))
    mine = own or _with_first(values, asked)
    found = _weighed(mine, others, asked)
    if found is None or found.is_own:
        is_own = found is not None and bool(own) and _gives_all(claim, values, found.place, asked)
        return found if is_own else None
    if _is_plain(claim, found, asked) and not _may_hold(claim, found):
        return found
    return replace(found, decides=False) if mine else None


def _by_end(claim: Claim, values: Sequence[Value], asked: Asked, end: int) -> _Found | None:
    """Say whether an answer's one value is the end of a time that is asked for: "At 9:00" of "9:00-18:00".

    The other end of the very place that is asked about is a doubt in a sentence.
    """
    ended = asked.of([at_end(place, end) for place in asked.places])
    found = _by_value(claim, values, ended)
    if found is not None:
        return found
    ranked = [
        (ended.share(here, by_name=True), here, place) for place, here in zip(asked.places, ended.places, strict=True)
    ]
    most = max((share for share, _, _ in ranked), default=0.0)  # no fact has a place
    first = [(here, place) for share, here, place in ranked if share == most]
    if any(agrees(values[0], known) for here, _ in first for known in here.values):
        return None
    taken = [here for here, place in first if any(agrees(values[0], known) for known in place.values)]
    return _Found(taken[0], values[0], taken[0].values[0]) if taken and most >= LEAST_NAMED else None


def _with_first(values: Sequence[Value], asked: Asked) -> list[_Best]:
    """Return the places that hold the first value of an answer: no place holds all."""
    return [
        _Best(asked.share(place, by_name=True), place)
        for place in asked.places
        if any(agrees(values[0], known) for known in place.values)
    ]


def _gives_all(claim: Claim, values: Sequence[Value], place: AskedPlace, asked: Asked) -> bool:
    """Say whether a claim says what a cell says: as many values, limited as there, and no other word."""
    if len(values) != len(place.values) or _words_of(claim, asked) - place.own - place.around:
        return False
    limits = zip(values, place.values, strict=True)
    return all(
        bound_of(claim.text, claim.start, said) is bound_of(place.text, place.span.start, known)
        for said, known in limits
    )


def _may_hold(claim: Claim, found: "_Found") -> bool:
    """Say whether a limit is true of a value that is another one: "under 10 euros" of 5; of dates nobody knows."""
    claimed, known = found.claimed, found.known
    side = None if claimed is None else bound_of(claim.text, claim.start, claimed)
    if claimed is None or known is None or side is None:
        return False
    if claimed.magnitude is None or known.magnitude is None:
        return True
    return known.magnitude <= claimed.magnitude if side is Bound.AT_MOST else known.magnitude >= claimed.magnitude


def _is_plain(claim: Claim, found: "_Found", asked: Asked) -> bool:
    """Say whether a cell that gives something else leaves no other reading of an answer or its question."""
    claimed, known, cell = found.claimed, found.known, found.place.cell
    if cell is None or claimed is None or claimed.approximate or len(words(found.place.text)) > _MOST_CELL_WORDS:
        return False
    if known is not None and (known.unit != claimed.unit or _is_about(claimed, known) or _SIGN.match(found.place.text)):
        return False
    return not _RECKONED.search(claim.text) and not _COMPARED.search(asked.text)


def _is_about(claimed: Value, known: Value) -> bool:
    """Say whether two amounts are nearly one: "1.5 weeks" and "10 days"."""
    if claimed.magnitude is None or not known.magnitude:
        return False
    return abs(claimed.magnitude - known.magnitude) <= _ABOUT * abs(known.magnitude)


_ABOUT: Final = Decimal("0.06")


def _measure_one(value: Value, known: Value) -> bool:
    """Say whether two values measure one thing; "the 3rd" is no sum of money."""
    is_date = EntityKind.DATE in {value.kind, known.kind}
    return comparable(value, known) and (is_date or bool(value.unit) == bool(known.unit))


def _by_words(claim: Claim, asked: Asked) -> _Found | None:
    """Say whether an answer's words stand in the place that is asked about, or others.

    That decides only where the question gives the amount of another row: "Which plan costs 12 euros?".
    """
    rest = _words_of(claim, asked) & asked.vocabulary
    if not rest or _TURNS.search(asked.text) or _DENIES.search(asked.text):
        return None
    own: list[_Best] = []
    others: list[_Best] = []
    for place in asked.places:
        is_own = len(rest & place.own) >= _HELD * len(rest) and not place.says_nothing
        (own if is_own else others).append(_Best(asked.share(place), place))
    # A question that does not name a row asks for it by what its other cells say: "Who is in room 12?".
    rows = {_row(one.place) for one in own if not _is_named(one.place, asked)} - {None}
    others = [one for one in others if _row(one.place) not in rows]
    found = _weighed(own, others, asked) if own else None
    if found is None:
        return None
    found = replace(found, by_words=True)
    if found.is_own:
        return found
    given = any(agrees(value, known) for value in asked.values for known in found.place.values)
    columns = {_column(one.place) for one in own} - {None}
    return replace(found, decides=found.decides and given and _column(found.place) in columns)


def _column(place: AskedPlace) -> tuple[Hashable, int] | None:
    return None if place.cell is None else (place.within, place.cell.column)


def _is_named(place: AskedPlace, asked: Asked) -> bool:
    return place.cell is not None and not asked.stems.isdisjoint(stems(place.cell.label))


def _row(place: AskedPlace) -> tuple[int, Hashable, str] | None:
    return None if place.cell is None else (place.fact_index, place.within, place.cell.label)


def _weighed(own: Sequence[_Best], others: Sequence[_Best], asked: Asked) -> _Found | None:
    """Return the place that is asked about where it is clearly one of the answer's, or clearly none of them."""
    mine, best = (max(each, key=lambda one: one.rank, default=None) for each in (own, others))
    share, other = (0.0 if one is None else one.share for one in (mine, best))
    ratio = CLOSE if mine is not None and best is not None and mine.place.within == best.place.within else ELSEWHERE
    is_called = mine is not None and best is not None and _is_called(best.place, mine.place, asked)
    if mine is not None and share >= LEAST_NAMED and other <= ratio * share and not is_called:
        is_own = mine.place.cell is not None and asked.fits(mine.place)
        return _Found(mine.place, is_own=True) if is_own else None
    if best is None or (share >= ratio * other and not is_called):
        return None
    is_cell = best.place.cell is not None and asked.fits(best.place)
    if mine is None:
        is_one = best.known is not None and len(best.place.values) == 1 and not asked.values
        is_exact = is_cell and is_one and other >= LEAST_EXACT and not asked.periods - best.place.own
        return _Found(best.place, best.claimed, best.known, decides=True) if is_exact else None
    least = LEAST_EXACT if best.place.says_nothing else LEAST_NAMED
    return _Found(best.place, best.claimed, best.known, decides=is_cell and other >= least)


def _is_called(best: AskedPlace, mine: AskedPlace, asked: Asked) -> bool:
    """Say whether a question calls the column of one of two cells of a row, and nothing of the other's."""
    if mine.cell is None or best.cell is None or _row(mine) != _row(best):
        return False
    own, other = frozenset(stems(mine.cell.head)), frozenset(stems(best.cell.head))
    return bool(other) and other <= asked.stems and own.isdisjoint(asked.stems)


def _by_polarity(claim: Claim, asked: Asked) -> _Found | None:
    """Return the place that is asked about, where it says yes or no, and whether the answer says the same.

    A cell that says nothing else decides. A sentence that denies what an answer affirms is a doubt.
    """
    said = _YES_NO.match(claim.text)
    if said is None or not asked.places or _TURNS.search(asked.text) or is_negated(asked.text):
        return None
    ranked = sorted(
        (_Best(asked.share(place, by_name=True), place) for place in asked.places), key=lambda one: -one.share
    )
    first, others = ranked[0], ranked[1:]
    place, is_alone = first.place, not others or others[0].share <= ELSEWHERE * first.share
    if first.share < (LEAST_NAMED if is_alone else LEAST_EXACT) or not asked.fits(place, by_name=True):
        return None
    if place.cell is None:
        return _Found(place) if said["yes"] and is_alone and is_negated(place.text) else None
    has_some = _SOME.fullmatch(place.text.strip()) is not None
    is_open = _OBLIGES.search(asked.text) or _TURNS.search(place.cell.head)
    if is_open or not is_alone or not (has_some or place.says_nothing):
        return None
    if only_answers(claim.text) is None or not asked.known <= place.names | place.around:
        return None  # what stands behind the "yes", or another word of the question, may make the difference
    is_own = has_some is bool(said["yes"])
    return _Found(place, decides=not is_own, is_turned=not is_own, is_own=is_own)


_YES_NO: Final = re.compile(r"\W{0,4}(?:(?P<yes>yes|yeah|yep)|no|nope)\b", re.IGNORECASE)


def _words_of(claim: Claim, asked: Asked) -> frozenset[str]:
    """Return the words of an answer without those of its question and of its values."""
    of_values = frozenset(stem for value in claim.values for stem in stems(value.text))
    return frozenset(stems(claim.text)) - asked.stems - of_values - BARE_WORDS


def _answer_place(claim: Claim, item: _Found, view: FactView) -> AnswerPlace:
    place, known = item.place, item.known
    there = place.span if known is None else Span(known.start, known.end)
    if not item.decides:
        return AnswerPlace(place.fact_index, there, item.is_own, is_named=item.by_words)
    text = claim.text.rstrip(" .!")
    whole = Value(EntityKind.OTHER, text, claim.start, claim.start + len(text), text.casefold())
    claimed = item.claimed or whole
    stands = known or quoted_words(view.fact.content, there)
    if (place.cell is not None and stands.kind is not EntityKind.OTHER) or known is None:
        stands = _named_value(stands, place.cell.label) if place.cell is not None else stands
    kind = DistortionType.NUMBER_CHANGED if known is not None else DistortionType.ENTITY_SUBSTITUTED
    found = Distortion(
        DistortionType.NEGATION_FLIP if item.is_turned else kind,
        claim.claim_id,
        view.fact.fact_id,
        Span(claimed.start, claimed.end),
        there,
        AlignedValue(claimed, stands, equal=False),
        Rule.ROW,
    )
    return AnswerPlace(place.fact_index, there, distortion=found)
