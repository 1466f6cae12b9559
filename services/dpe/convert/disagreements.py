"""What current sources disagree on, in the report: the values, their documents, and the claims that take a side."""

from crp.dpe.v1 import report_pb2

from services.dpe.convert.findings import source_message
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.results import Outputs


def fill_disagreements(message: report_pb2.DpeReport, given: AnalysisInput, outputs: Outputs) -> None:
    """Add what the envelope says that its current facts disagree on (ADR 0109); facts that it lacks are left out."""
    facts = {fact.fact_id: fact for fact in (*given.facts, *given.disputed)}
    for disagreement in given.disagreements:
        values = [(facts[fact_id], text) for fact_id, text in disagreement.values if fact_id in facts]
        if len(values) < len(disagreement.values):
            continue
        ids = {fact.fact_id for fact, _ in values}
        message.source_disagreements.append(
            report_pb2.SourceDisagreement(
                values=[
                    report_pb2.DisagreeingValue(
                        fact_id=fact.fact_id,
                        text=text,
                        source=None if fact.source is None else source_message(fact.source),
                    )
                    for fact, text in values
                ],
                claim_ids=[
                    claim.claim_id
                    for claim in outputs.text.claims
                    if (judgement := outputs.fidelity.judgements.get(claim.claim_id)) is not None
                    and any(item.fact_id in ids and item.aligned for item in judgement.evidence)
                ],
            )
        )
