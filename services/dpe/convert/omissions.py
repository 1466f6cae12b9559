"""Omissions to messages: those that belong to the question, the worst first; the rest is counted (ADR 0097)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from crp.dpe.v1 import report_pb2

from services.dpe.convert.findings import omission_message
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Omission, OmissionSeverity
from services.dpe.domain.results import Outputs

_RANK: Final = {severity: place for place, severity in enumerate(OmissionSeverity)}


def fill_omissions(message: report_pb2.DpeReport, outputs: Outputs, facts: Sequence[EnvelopeFact]) -> None:
    """Fill in what stage 10 found; nothing where it did not run."""
    if outputs.omission.found is None:
        return
    asked = [item for item in outputs.omission.found if item.asked]
    message.omission_summary.update(_counted(asked))
    message.omissions_in_envelope.update(_counted(outputs.omission.found))
    sources = {fact.fact_id: fact.source for fact in facts}
    message.omissions.extend(omission_message(item, sources.get(item.fact_id)) for item in sorted(asked, key=_worst))


def _counted(items: Iterable[Omission]) -> dict[str, int]:
    counted = Counter(item.severity for item in items)
    return {str(kind): counted[kind] for kind in OmissionSeverity}


def _worst(item: Omission) -> tuple[int, float]:
    return -_RANK[item.severity], -(item.query_similarity or 0.0)
