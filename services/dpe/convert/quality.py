"""What stages 6 to 9 found, and the score over them, (SPEC-005 §8.4, §9.4, §10.4, §11.6, §18)."""

from typing import Final

from crp.dpe.v1 import finding_pb2, quality_pb2, report_pb2

from services.common.rpc.enums import QUALITY_TIERS, EnumTable
from services.common.taxonomy import RepetitionLevel
from services.dpe.convert.findings import cross_contradiction_message, enum_value
from services.dpe.domain.register import Register
from services.dpe.domain.relevant import Relevance
from services.dpe.domain.results import FlowSignals, Outputs
from services.dpe.domain.stages.s13_report import maximum_tier

_REPETITIONS: Final = EnumTable(report_pb2.RepetitionLevel, RepetitionLevel)
_COMPLETENESS: Final = (  # SPEC-005 §10.2
    (0.90, report_pb2.COMPLETENESS_LEVEL_COMPLETE),
    (0.70, report_pb2.COMPLETENESS_LEVEL_MOSTLY_COMPLETE),
    (0.40, report_pb2.COMPLETENESS_LEVEL_PARTIAL),
    (0.0, report_pb2.COMPLETENESS_LEVEL_INCOMPLETE),
)


def fill_coherence(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    """Add the contradictions with earlier windows to a report that holds those within the window."""
    message.coverage.cross_window_pairs_total = outputs.coherence.pairs_total
    message.coverage.cross_window_pairs_scored = outputs.coherence.pairs_scored
    if outputs.coherence.score is not None:
        message.coherence_score = outputs.coherence.score
    within, across = outputs.contradiction.found, outputs.coherence.found
    if within is None and across is None:
        return
    message.contradiction_count = len(within or ()) + len(across or ())
    message.cross_window_contradictions.extend(
        cross_contradiction_message(item, message.window_id) for item in across or ()
    )
    scopes = {
        (True, False): finding_pb2.CONTRADICTION_SCOPE_INTRA,
        (False, True): finding_pb2.CONTRADICTION_SCOPE_CROSS_WINDOW,
        (True, True): finding_pb2.CONTRADICTION_SCOPE_BOTH,
    }
    message.contradiction_scope = scopes.get((bool(within), bool(across)), finding_pb2.CONTRADICTION_SCOPE_UNSPECIFIED)


def fill_quality(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    """Add repetition, completeness, flow and the quality score."""
    if outputs.repetition.level is not None and outputs.repetition.overlap is not None:
        message.repetition_level = _REPETITIONS.number(outputs.repetition.level)
        message.repetition_overlap = outputs.repetition.overlap
    if outputs.completeness.score is not None:
        score = outputs.completeness.score
        message.completeness_score = score
        message.completeness_level = next(level for bound, level in _COMPLETENESS if score >= bound)
        message.uncovered_sub_queries.extend(outputs.completeness.uncovered_sub_queries)
        message.sub_queries_total = outputs.completeness.sub_queries_total
    if outputs.completeness.relevance is not None:
        message.relevance.CopyFrom(_relevance(outputs.completeness.relevance))
    if outputs.flow.score is not None:
        message.flow_score = outputs.flow.score
    if outputs.flow.signals is not None:
        message.flow_signals.CopyFrom(_flow(outputs.flow.signals))
    message.quality_degraded = outputs.quality.degraded
    if outputs.quality.score is not None:
        message.quality_score = outputs.quality.score
        tier = maximum_tier(outputs.quality.score, degraded=outputs.quality.degraded)
        message.maximum_quality_tier = QUALITY_TIERS.number(tier)


def _flow(signals: FlowSignals) -> quality_pb2.FlowSignals:
    return quality_pb2.FlowSignals(
        prior_window_id=signals.prior_window_id,
        opening_coherence=signals.opening_coherence,
        topic_continuity=signals.topic_continuity,
        register_consistency=signals.register_consistency,
        has_transition=signals.has_transition,
        register=_register(signals.register),
        prior_register=_register(signals.prior_register),
    )


def _register(register: Register) -> quality_pb2.RegisterMeasures:
    return quality_pb2.RegisterMeasures(
        mean_sentence_words=register.sentence_words,
        mean_word_letters=register.word_letters,
        passive_ratio=register.passive_ratio,
        person=enum_value(quality_pb2.GrammaticalPerson, f"GRAMMATICAL_PERSON_{register.person}"),
    )


def _relevance(found: Relevance) -> quality_pb2.Relevance:
    return quality_pb2.Relevance(
        status=enum_value(quality_pb2.RelevanceStatus, f"RELEVANCE_STATUS_{found.status}"),
        score=found.score,
        expected=[enum_value(quality_pb2.AnswerKind, f"ANSWER_KIND_{kind}") for kind in found.expected],
        questions_total=len(found.questions),
        unanswered_questions=found.unanswered,
        reason=str(found.reason),
    )
