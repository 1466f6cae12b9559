"""One sentence for every verdict, made from what it rests on: the words on both sides and the document (ADR 0097).

The sentence is part of the report and of its hash. Of a fact it repeats no more than the values, names or few words
that differ, which the evidence keeps as well; longer stretches are quoted in answers alone. Rules make it, so that the
same report gives the same sentence.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import AlignedValue, Basis, Distortion, DistortionType, Evidence, Judgement, Verdict
from services.dpe.domain.text_types import Claim, Span

MAX_WORDS_CHARS: Final = 80
"""A longer stretch is not repeated in a sentence."""
MAX_NAME_CHARS: Final = 120
"""So much is shown of a document's title and of a section."""
MAX_NAMED: Final = 3
"""Values of one kind that a sentence names."""
_TELLING: Final = 3
"""Characters of a doubtful stretch above which it is named: "if" says nothing."""
_SHORT_ID: Final = 8


@dataclass(frozen=True, slots=True)
class Grounds:
    """Everything that a sentence is made from."""

    claim: Claim
    judgement: Judgement
    distortions: tuple[Distortion, ...]
    answer: str
    facts: Mapping[str, EnvelopeFact]

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
    for item in analysis.outputs.distortions or ():
        by_claim[item.claim_id].append(item)
    claims = {claim.claim_id: claim for claim in analysis.outputs.claims}
    facts = {fact.fact_id: fact for fact in analysis.input.facts}
    return {
        key: replace(
            judgement, why=why(Grounds(claims[key], judgement, tuple(by_claim[key]), analysis.input.answer, facts))
        )
        for key, judgement in judgements.items()
    }


def why(grounds: Grounds) -> str:
    """Return the sentence; empty where there is no verdict."""
    match grounds.judgement.verdict:
        case Verdict.NONE:
            return ""
        case Verdict.SUPPORTED:
            return _supported(grounds)
        case Verdict.CONTRADICTED:
            return _contradicted(grounds)
        case _:
            return _unsupported(grounds)


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
    return f"{_capital(place)} bears it out{_probability(grounds.judgement.support)}."


def _same_values(equal: Sequence[AlignedValue], place: str) -> str:
    named = equal[:MAX_NAMED]
    if all(pair.known.text.casefold() == pair.claimed.text.casefold() for pair in named):
        return f"{_listed([pair.known.text for pair in named])} in {place}, as the answer says."
    says = _listed([pair.claimed.text for pair in named])
    return f"{_listed([pair.known.text for pair in named])} in {place}; the answer says {says}, which is the same."


def _contradicted(grounds: Grounds) -> str:
    told = [text for item in grounds.distortions if (text := _distorted(grounds, item))]
    if told:
        return told[0]
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
    return f"{_capital(place)} says otherwise{_probability(judgement.contradiction)}."


def _distorted(grounds: Grounds, item: Distortion) -> str:
    place = grounds.place(item.fact_id)
    if item.values is not None:
        form = (
            "“{}” in {}; the answer says “{}”."
            if item.type is DistortionType.NEGATION_FLIP
            else "{} in {}; the answer says {}."
        )
        return form.format(_cut(item.values.known.text), place, _cut(item.values.claimed.text))
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


def _unsupported(grounds: Grounds) -> str:
    first = grounds.first
    if first is None:
        return "The envelope holds no fact about it."
    nearest = f"the nearest is {grounds.place(first.fact_id)}"
    doubtful = max(grounds.judgement.doubtful, key=lambda item: (item.score, -item.span.start), default=None)
    words = grounds.said(doubtful.span) if doubtful is not None else ""
    return f"Nothing that was read bears {f'“{words}”' if len(words) > _TELLING else 'this'} out; {nearest}."


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
