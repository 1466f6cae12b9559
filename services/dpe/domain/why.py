"""One sentence for every verdict, made from what it rests on: the words on both sides and the document (ADR 0097).

The sentence is part of the report and of its hash. Of a fact it repeats no more than the values, names or few words
that differ, which the evidence keeps as well; longer stretches are quoted in answers alone. Rules make it, so that the
same report gives the same sentence.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.answer_words import only_answers
from services.common.reading.text_types import Claim, Span
from services.common.reading.values import scan_values
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import (
    AlignedValue,
    Basis,
    Distortion,
    DistortionType,
    Doubt,
    DoubtKind,
    Evidence,
    Judgement,
    Rule,
    Verdict,
)
from services.dpe.domain.verdicts import decides

MAX_WORDS_CHARS: Final = 80
"""A longer stretch is not repeated in a sentence."""
MAX_NAME_CHARS: Final = 120
"""So much is shown of a document's title and of a section."""
MAX_NAMED: Final = 3
"""Values of one kind that a sentence names."""
_TELLING: Final = 3
"""Characters of a doubtful stretch above which it is named: "if" says nothing."""
_SHORT_ID: Final = 8
_NAMED_AS_THEY_ARE: Final = frozenset({Rule.FREQUENCY, Rule.NAME, Rule.PARTIES, Rule.MEMBER, Rule.ROW})
"""Rules whose words are names or values; of the others the wording itself is quoted."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """Everything that a sentence is made from."""

    claim: Claim
    judgement: Judgement
    distortions: tuple[Distortion, ...]
    answer: str
    facts: Mapping[str, EnvelopeFact]
    asked: tuple[str, Span] | None = None
    """The fact, and the words in it, that the question asks about, where the claim stands elsewhere (ADR 0216)."""

    @property
    def first(self) -> Evidence | None:
        """The evidence that decided."""
        return self.judgement.evidence[0] if self.judgement.evidence else None

    def place(self, fact_id: str) -> str:
        """Return the document of a fact."""
        return place_name(self.facts[fact_id]) if fact_id in self.facts else f"fact {fact_id[:_SHORT_ID]}"

    def said(self, span: Span) -> str:
        """Return the answer's words, or nothing when they are too many to repeat."""
        return _short(self.answer[span.start : span.end])

    def known(self, fact_id: str, span: Span) -> str:
        """Return the fact's words, or nothing when they are too many to repeat."""
        return _short(self.facts[fact_id].content[span.start : span.end]) if fact_id in self.facts else ""


def explained(analysis: Analysis, judgements: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Return the judgements, each that has a verdict with its sentence."""
    by_claim: dict[str, list[Distortion]] = defaultdict(list)
    for item in analysis.outputs.distortion.found or ():
        by_claim[item.claim_id].append(item)
    claims = {claim.claim_id: claim for claim in analysis.outputs.text.claims}
    facts = {fact.fact_id: fact for fact in analysis.input.facts}
    asked = {
        key: (analysis.input.facts[place.fact_index].fact_id, place.span)
        for key, place in analysis.outputs.attribution.answer_places.items()
        if place.is_doubt
    }
    answer = analysis.input.answer
    return {
        key: replace(
            judgement,
            why=why(Grounds(claims[key], judgement, tuple(by_claim[key]), answer, facts, asked.get(key))),
        )
        for key, judgement in judgements.items()
    }


def why(grounds: Grounds) -> str:
    """Return the sentence; empty where there is no verdict."""
    if grounds.judgement.basis is Basis.SECOND_OPINION:
        return _by_second_opinion(grounds)
    said = _SENTENCES.get(grounds.judgement.verdict)
    return "" if said is None else said(grounds)


def place_name(fact: EnvelopeFact) -> str:
    """Return where a fact stands as people say it: title, section and page; its id where nothing is known of it."""
    source = fact.source
    name = "" if source is None else _cut(source.title) or _cut(source.uri)
    if source is None or not name:
        return f"fact {fact.fact_id[:_SHORT_ID]}"
    section = _cut(source.section)
    under = f" › {section}" if section else ""  # noqa: RUF001 - what people read between headings
    return f"{name}{under}{f', p. {source.page}' if source.page else ''}"


def _supported(grounds: Grounds) -> str:
    first = grounds.first
    if first is None:
        return "The facts that were read bear it out."
    place = grounds.place(first.fact_id)
    if grounds.judgement.basis is Basis.QUOTATION:
        return f"Stands word for word in {place}."
    for item in grounds.judgement.evidence:
        equal = _distinct([pair for pair in item.aligned if pair.equal])
        if equal:
            return _same_values(equal, grounds.place(item.fact_id))
    if grounds.judgement.basis is Basis.VALUES:
        return f"{_capital(place)} says so."
    return f"{_capital(place)} bears it out{_probability(grounds.judgement.support)}."


def _by_second_opinion(grounds: Grounds) -> str:
    """Return who moved the verdict (ADR 0119)."""
    first, who = grounds.first, _cut(grounds.judgement.told_by)
    place = "the facts that were read" if first is None else grounds.place(first.fact_id)
    if grounds.judgement.verdict is Verdict.SUPPORTED:
        return f"Borne out by {place}, by a second opinion ({who}) alone."
    return f"Not borne out by {place}, by a second opinion ({who}) alone."


def _superseded(grounds: Grounds) -> str:
    """Return what bears it out, and when that held (ADR 0109)."""
    first = grounds.first
    known = grounds.facts.get(first.fact_id) if first is not None else None
    time = known.time if known is not None and known.time else "does not hold now"
    return f"{_supported(grounds)} That {time}."


def _same_values(equal: Sequence[AlignedValue], place: str) -> str:
    named = equal[:MAX_NAMED]
    reckoned = [_short(pair.derivation) for pair in named if pair.derivation]
    if any(reckoned):
        plain = [pair.known.text for pair in named if not pair.derivation]
        also = f", which has {_listed(plain)} too" if plain else ""
        return f"{'; '.join(filter(None, dict.fromkeys(reckoned)))}, by {place}{also}."
    if all(pair.known.text.casefold() == pair.claimed.text.casefold() for pair in named):
        return f"{_listed([pair.known.text for pair in named])} in {place}, as the answer says."
    says = _listed([pair.claimed.text for pair in named])
    is_same = all(pair.derivation or pair.known.normal == pair.claimed.normal for pair in named)
    worth = "which is the same" if is_same else "which agrees with it"
    return f"{_listed([pair.known.text for pair in named])} in {place}; the answer says {says}, {worth}."


def _contradicted(grounds: Grounds) -> str:
    if told := _told(grounds):
        return told
    judgement, first = grounds.judgement, grounds.first
    if judgement.basis is Basis.CONSTRAINT and judgement.conflict is not None:
        ids = [f"“{_cut(each)}”" for each in judgement.conflict.constraint_ids[:MAX_NAMED]]
        return f"The answer violates the constraint{'s' if len(ids) > 1 else ''} {_listed(ids)}."
    if first is None:
        return "The facts that were read say otherwise."
    different = _distinct([pair for item in judgement.evidence for pair in item.aligned if not pair.equal])
    place = grounds.place(first.fact_id)
    if different:
        return f"{different[0].known.text} in {place}; the answer says {different[0].claimed.text}."
    return f"{_capital(place)} seems to say otherwise{_probability(judgement.contradiction)}."


def _told(grounds: Grounds) -> str:
    """Return what a rule found, what decides first; away from its source it may be of something else."""
    for item in sorted(grounds.distortions, key=lambda one: (not decides(one), one.rule is Rule.LIMIT)):
        if text := _distorted(grounds, item):
            return text if item.is_near else f"{text} {_UNSURE}"
    return ""


_UNSURE: Final = "That may be said of something else."


def _distorted(grounds: Grounds, item: Distortion) -> str:
    place = grounds.place(item.fact_id)
    if item.values is not None:
        return _set_against(grounds, item, item.values, place)
    known, said = grounds.known(item.fact_id, item.fact_span), grounds.said(item.answer_span)
    match item.type:
        case DistortionType.CONTEXT_STRIPPED:
            limit = f"“{known}”, which limits it in {place}," if known else f"What limits it in {place}"
            return f"{limit} is missing from the answer."
        case DistortionType.NEGATION_FLIP:
            return _turned(place, known, said)
        case _ if known and said and known.casefold() != said.casefold():
            return f"{known} in {place}; the answer says {said}."
        case DistortionType.ENTITY_SUBSTITUTED:
            return f"{_capital(place)} says it of another, or the other way round."
        case _:
            return f"{_capital(place)} says otherwise of the same value."


def _set_against(grounds: Grounds, item: Distortion, values: AlignedValue, place: str) -> str:
    """Return the words of both sides; where the value is the same, with the words before it that differ."""
    known, said = _cut(values.known.text), _cut(values.claimed.text)
    is_one = values.turned or _worth(known) == _worth(said) != []
    if is_one and item.fact_id in grounds.facts:
        for words in range(_LIMIT_WORDS, _LIMIT_WORDS + 3):
            said = _with_words(grounds.answer, item.answer_span, words)
            known = _with_words(grounds.facts[item.fact_id].content, item.fact_span, words)
            if _without(said, values.claimed.text) != _without(known, values.known.text):
                break
    is_wording = values.claimed.kind is EntityKind.OTHER and item.rule not in _NAMED_AS_THEY_ARE
    form = "“{}” in {}; the answer says “{}”." if is_wording or is_one else "{} in {}; the answer says {}."
    return form.format(known, place, said)


def _worth(text: str) -> list[str]:
    return [value.normal for value in scan_values(text)]


_LIMIT_WORDS: Final = 2
"""Words before a value that set its limit: "at least", "no more than"."""
_BEHIND: Final = re.compile(
    r" (?:or|and) (?:more|less|fewer|over|under|above|below|later|earlier|longer)\b", re.IGNORECASE
)


def _with_words(text: str, span: Span, words: int) -> str:
    before = text[max(0, span.start - _BEFORE_CHARS) : span.start].split()[-words:]
    # A limit does not reach over the end of a sentence or a comma.
    cut = max((number for number, word in enumerate(before) if word[-1] in ".,;:"), default=-1)
    behind = _BEHIND.match(text, span.end)
    return " ".join([*before[cut + 1 :], text[span.start : span.end] + (behind.group() if behind else "")])


_BEFORE_CHARS: Final = 80


def _without(text: str, value: str) -> str:
    return text.replace(value, "").strip().casefold()


def _turned(place: str, known: str, said: str) -> str:
    """A word that stands on one side alone is named; where both sides have one, both are."""
    known, said = (text if " " not in text else "" for text in (known, said))
    if known and said:
        return f"“{known}” in {place}; the answer says “{said}”."
    if known:
        return f"“{known}” in {place} is missing from the answer, which says the opposite."
    if said:
        return f"The answer says “{said}”, which {place} does not: it says the opposite."
    return f"{_capital(place)} says the opposite."


def _undecided(grounds: Grounds) -> str:
    first = grounds.first
    place = "what was read" if first is None else grounds.place(first.fact_id)
    if grounds.judgement.basis is Basis.CONTRADICTION:
        support, denied = map(_probability, (grounds.judgement.support, grounds.judgement.contradiction))
        return f"{_capital(place)} leaves it open: one model finds it borne out{support}, another denied{denied}."
    if grounds.asked is not None:
        fact_id, span = grounds.asked
        known, place = grounds.known(fact_id, span), grounds.place(fact_id)
        named = f"“{known}” in {place}" if known else _capital(place)
        return f"{named} is nearer to what was asked than where the answer stands."
    if grounds.judgement.doubt is not None:
        return _doubted(grounds.judgement.doubt, place)
    if only_answers(grounds.claim.text) is not None:
        return "A word alone answers, and says nothing that a document could be held against."
    return f"It cannot be told from {place} whether this holds{_probability(grounds.judgement.support)}."


def _doubted(doubt: Doubt, place: str) -> str:
    said = [f"“{word}”" for word in map(_short, doubt.words[:MAX_NAMED]) if word]
    if doubt.kind is DoubtKind.SAID_OTHERWISE:
        ours, theirs = doubt.words
        return f"The answer says “{ours}”, and {place} “{theirs}”: whether of the same cannot be told."
    if doubt.kind is DoubtKind.EXCEPTED:
        return (
            f"{_capital(place)} leaves out what the answer speaks of: {said[0] if said else 'there is an exception'}."
        )
    if doubt.kind is DoubtKind.ADDED:
        return f"{said[0] if said else 'The amount'} in {place} is beside another; the answer gives it as the whole."
    if doubt.kind is DoubtKind.WORDS_UNKNOWN:
        return f"None of its words stands in what was read{f': {_listed(said)}' if said else ''}."
    if len(said) > 1:
        return f"{_listed(said)} stand in no fact by themselves, and follow from none that was read."
    return f"{said[0] if said else 'A value'} stands in no fact by itself, and follows from none that was read."


def _unsupported(grounds: Grounds) -> str:
    first = grounds.first
    if first is None:
        return "The envelope holds no fact about it."
    told = _told(grounds)
    if told and grounds.judgement.basis is Basis.DISTORTION:
        return told
    nearest = f"the nearest is {grounds.place(first.fact_id)}"
    doubtful = max(grounds.judgement.doubtful, key=lambda item: (item.score, -item.span.start), default=None)
    words = grounds.said(_whole_words(grounds.answer, doubtful.span)) if doubtful is not None else ""
    return f"Nothing that was read bears {f'“{words}”' if len(words) > _TELLING else 'this'} out; {nearest}."


_SENTENCES: Final[Mapping[Verdict, Callable[[Grounds], str]]] = {
    Verdict.SUPPORTED: _supported,
    Verdict.SUPERSEDED: _superseded,
    Verdict.CONTRADICTED: _contradicted,
    Verdict.UNDECIDED: _undecided,
    Verdict.UNSUPPORTED: _unsupported,
}
_WORD_PART: Final = re.compile(r"[^\s,;()\"“”]*")


def _whole_words(text: str, span: Span) -> Span:
    """Return a stretch with the rest of the words that it cuts: "2027-05-12", not "05-12"."""
    before = _WORD_PART.match(text[max(0, span.start - MAX_WORDS_CHARS) : span.start][::-1])
    behind = _WORD_PART.match(text, span.end, span.end + MAX_WORDS_CHARS)
    start = span.start - (len(before.group()) if before is not None else 0)
    end = behind.end() if behind is not None else span.end
    return Span(start, start + len(text[start:end].rstrip(".:!?")))


def _distinct(pairs: Sequence[AlignedValue]) -> list[AlignedValue]:
    return list({(pair.claimed.text, pair.known.text): pair for pair in pairs}.values())


def _listed(texts: Sequence[str]) -> str:
    cut = [_cut(text) for text in dict.fromkeys(texts)]
    return cut[0] if len(cut) == 1 else f"{', '.join(cut[:-1])} and {cut[-1]}"


def _probability(value: float | None) -> str:
    return "" if value is None else f" (probability {value:.2f})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("fact ") else text


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_NAME_CHARS else f"{line[: MAX_NAME_CHARS - 1]}…"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_WORDS_CHARS else ""
