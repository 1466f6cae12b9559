"""What there is to tell of a checked answer, in the order in which it matters; screen and page draw it (ADR 0097).

Everything is read from the report; nothing is judged here. Texts are as they came: who draws them escapes them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, quality_pb2, report_pb2

from services.cli.opinions import opinion_line
from services.cli.reasons import level_reasons, score_of
from services.cli.words import enum_text
from services.common.counting import counted as _count

MAX_OMISSIONS: Final = 3
SHORT_ID: Final = 8
"""Characters of a fact's id that are shown; ``facts show`` takes them."""
_PROBLEMS: Final = ("CONTRADICTED", "UNSUPPORTED", "UNDECIDED", "SUPERSEDED")


@unique
class Mark(StrEnum):
    """What is wrong with a stretch of the answer."""

    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    SUPERSEDED = "superseded"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the answer; ``mark`` is ``None`` where nothing is wrong with it."""

    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document and where they stand.

    Attributes:
        words: empty where they are not to be had: the fact was erased, or this user may not read it.
        document: title, section and page; empty where nothing is known of them.
        fact: by what to ask ``groundtrail facts show``.
    """

    words: str
    document: str
    fact: str


@dataclass(frozen=True, slots=True)
class ToldClaim:
    """A claim with its verdict; ``verdict`` is the kind of claim in lower case for one that gets none."""

    claim_id: str
    text: str
    verdict: str
    why: str
    quotes: tuple[Quote, ...]

    @property
    def is_problem(self) -> bool:
        """Say whether a reader has to look at it."""
        return self.verdict in _PROBLEMS


@dataclass(frozen=True, slots=True)
class ToldAnswer:
    """Everything that is told of an answer.

    Attributes:
        headline: level and the score that it rests on, what was found, the chain.
        reasons: why the level is what it is, each one sentence.
        pieces: the answer with what is wrong marked; empty when there is no text.
        omitted: the worst omissions, severity and quote.
        omitted_total: how many there are.
        disagreements: what current sources disagree on, each one sentence.
        contradictions: of the answer with itself and with earlier ones, each one sentence, the gravest first.
        second_opinion: what it did, in one line; empty where none was to be asked for.
    """

    level: str
    headline: tuple[str, ...]
    reasons: tuple[str, ...]
    pieces: tuple[Piece, ...]
    claims: tuple[ToldClaim, ...]
    omitted: tuple[tuple[str, Quote], ...]
    omitted_total: int
    unanswered: tuple[str, ...] = field(default=())
    disagreements: tuple[str, ...] = field(default=())
    contradictions: tuple[str, ...] = field(default=())
    second_opinion: str = ""


def told_answer(
    report: report_pb2.DpeReport, text: str, *, chain: str = "", contents: Mapping[str, str] | None = None
) -> ToldAnswer:
    """Return what to tell.

    Args:
        report: of the answer; without quotes when it comes from the store.
        text: the answer; empty when it was withheld or erased.
        chain: state of the chain as the header says it; empty = as the report says.
        contents: facts by id, for quotes that the report lacks.
    """
    quote = _quoter(contents or {})
    claims = tuple(_claim(claim, quote) for claim in report.claims)
    level = enum_text(taxonomy.RiskLevel, report.risk_level)
    omitted = tuple(
        (enum_text(finding_pb2.OmissionSeverity, item.severity), _omitted(item, contents or {}))
        for item in report.omissions[:MAX_OMISSIONS]
    )
    return ToldAnswer(
        level=level,
        headline=(*_headline(report, level, claims), *_chain(chain, report)),
        reasons=tuple(level_reasons(report)),
        pieces=tuple(marked(text, marks(report))) if text else (),
        claims=claims,
        omitted=omitted,
        omitted_total=sum(report.omission_summary.values()),
        unanswered=_unanswered(report),
        disagreements=tuple(map(_disagreement, report.source_disagreements)),
        contradictions=_contradictions(report),
        second_opinion=opinion_line(report),
    )


def _chain(now: str, report: report_pb2.DpeReport) -> tuple[str, ...]:
    """Return the state of the chain; nothing of an answer that was withheld, for it is no window of one."""
    if not now and not report.chain_integrity:
        return ()
    return (f"chain {now or enum_text(taxonomy.ChainIntegrity, report.chain_integrity)}",)


def _contradictions(report: report_pb2.DpeReport) -> tuple[str, ...]:
    """Return the sentences on contradictions; of a withheld answer there are none."""
    found = [*report.cross_window_contradictions, *report.contradictions]
    return tuple(item.why for item in sorted(found, key=lambda item: -item.severity) if item.why)


def _disagreement(item: report_pb2.SourceDisagreement) -> str:
    said = [
        f"{value.text} in {document_name(value.source) or f'fact {value.fact_id[:SHORT_ID]}'}" for value in item.values
    ]
    return f"sources disagree: {', '.join(said)}"


def _headline(report: report_pb2.DpeReport, level: str, claims: Sequence[ToldClaim]) -> list[str]:
    score = "" if (found := score_of(report)) is None else f" {found:.2f}"
    parts = [f"{level}{score}", _verdicts(claims)]
    parts += [_count(report.fabrication_count, "fabrication")] if report.fabrication_count else []
    stripped = sum(item.type == finding_pb2.DISTORTION_TYPE_CONTEXT_STRIPPED for item in report.distortions)
    parts += [f"{_count(stripped, 'condition')} left out"] if stripped else []
    parts += [_count(report.contradiction_count, "contradiction")] if report.contradiction_count else []
    parts += ["sources disagree"] if report.source_disagreements else []
    if unanswered := _unanswered(report):
        parts.append(f"{len(unanswered)} of {_count(report.sub_queries_total, 'part')} unanswered")
    return parts


def _unanswered(report: report_pb2.DpeReport) -> tuple[str, ...]:
    """Return the parts of the query that nothing covers by likeness (SPEC-005 §10), unless all are known as answered.

    Relevance finds the expected kind of answer in words of its own as well (ADR 0096, 0192).
    """
    relevance = report.relevance
    is_answered = relevance.status == quality_pb2.RELEVANCE_STATUS_RELEVANT and not relevance.unanswered_questions
    if is_answered and relevance.questions_total >= report.sub_queries_total:
        return ()
    return tuple(report.uncovered_sub_queries)


def _verdicts(claims: Sequence[ToldClaim]) -> str:
    counted = Counter(claim.verdict for claim in claims)
    judged = sum(counted[word] for word in ("SUPPORTED", *_PROBLEMS))
    if not judged:
        return f"{_count(len(claims), 'claim')}, none judged" if claims else "no claims"
    found = [f"{counted[word]} {word.lower()}" for word in _PROBLEMS if counted[word]]
    if not found:
        return f"{_count(judged, 'claim')} supported"
    first, *rest = found
    number, word = first.split(" ")
    return ", ".join([f"{number} of {_count(judged, 'claim')} {word}", *rest])


def _claim(claim: claim_pb2.Claim, quote: Callable[[claim_pb2.Evidence], Quote]) -> ToldClaim:
    kind = enum_text(claim_pb2.ClaimType, claim.claim_type).lower()
    verdict = enum_text(claim_pb2.ClaimVerdict, claim.verdict) if claim.verdict else kind
    evidence = claim.judgement.evidence or claim.attribution.evidence
    text = claim.text or f"characters {claim.span.start} to {claim.span.end} of the answer"
    return ToldClaim(claim.claim_id, text, verdict, claim.judgement.why, tuple(quote(item) for item in evidence[:1]))


def _quoter(contents: Mapping[str, str]) -> Callable[[claim_pb2.Evidence], Quote]:
    def quoted(item: claim_pb2.Evidence) -> Quote:
        words = item.quote or contents.get(item.fact_id, "")[item.fact_span.start : item.fact_span.end]
        return Quote(words, document_name(item.source), f"(fact {item.fact_id[:SHORT_ID]})")

    return quoted


def _omitted(item: finding_pb2.Omission, contents: Mapping[str, str]) -> Quote:
    words = item.quote or contents.get(item.fact_id, "")
    return Quote(words, document_name(item.source), f"(fact {item.fact_id[:SHORT_ID]})")


def document_name(source: text_pb2.FactSource) -> str:
    """Return title, section and page as people say them; empty where nothing is known."""
    name = source.title or source.uri
    if not name:
        return ""
    section = f" › {source.section}" if source.section else ""  # noqa: RUF001 - what people read between headings
    return f"{name}{section}{f', p. {source.page}' if source.page else ''}"


_WHOLLY_MARKED: Final = {
    claim_pb2.CLAIM_VERDICT_UNSUPPORTED: Mark.UNSUPPORTED,
    claim_pb2.CLAIM_VERDICT_SUPERSEDED: Mark.SUPERSEDED,
    claim_pb2.CLAIM_VERDICT_UNDECIDED: Mark.UNDECIDED,
}


def marks(report: report_pb2.DpeReport) -> list[tuple[int, int, Mark]]:
    """Return the stretches of the answer that something is wrong with: as few words as the report knows."""
    found: list[tuple[int, int, Mark]] = []
    wrong: set[str] = set()
    contradicted = {claim.claim_id for claim in report.claims if claim.verdict == claim_pb2.CLAIM_VERDICT_CONTRADICTED}
    for item in report.distortions:
        if item.claim_id in contradicted:
            span = item.values.answer_span if item.HasField("values") else item.answer_span
            found.append((span.start, span.end, Mark.CONTRADICTED))
            wrong.add(item.claim_id)
    for fabrication in report.fabrications:
        span = fabrication.entity.span
        found.append((span.start, span.end, Mark.UNSUPPORTED))
        wrong.add(fabrication.claim_id)
    for claim in report.claims:
        if claim.claim_id in contradicted and claim.claim_id not in wrong:
            found += _whole(claim, Mark.CONTRADICTED)
        elif claim.verdict in _WHOLLY_MARKED and claim.claim_id not in wrong:
            found += _whole(claim, _WHOLLY_MARKED[claim.verdict])
    return found


def _whole(claim: claim_pb2.Claim, mark: Mark) -> list[tuple[int, int, Mark]]:
    """Return what nothing supports of a claim, or all of it where no words are known."""
    spans = [item.span for item in claim.judgement.unsupported_spans] or [claim.span]
    return [(span.start, span.end, mark) for span in spans]


def marked(text: str, found: Iterable[tuple[int, int, Mark]]) -> list[Piece]:
    """Cut a text into pieces by its marks; where they overlap, the one that begins first and is longer stands."""
    pieces: list[Piece] = []
    at = 0
    for start, end, mark in sorted(found, key=lambda one: (one[0], -one[1], one[2])):
        first, last = max(start, at), min(end, len(text))
        if first >= last:
            continue
        if first > at:
            pieces.append(Piece(text[at:first]))
        pieces.append(Piece(text[first:last], mark))
        at = last
    return [*pieces, Piece(text[at:])] if at < len(text) else pieces
