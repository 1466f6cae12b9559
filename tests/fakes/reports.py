"""A report of an answer with everything that screens and pages show: three claims, one of them wrong."""

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

TEXT = "Claims files are kept for 3 years. Recordings are kept for 6 months. The founder was Ada Quill."
QUOTE = "Claims files are kept for 10 years after the file is closed."
WHY = "10 years in Data retention › Retention, p. 3; the answer says 3 years."  # noqa: RUF001
FACT_ID = "1aff23c4-0000-4000-8000-000000000000"


def source(title="Data retention"):
    return text_pb2.FactSource(source_id=FACT_ID, uri="file:15.md", title=title, section="Retention", page=3)


def span(words, text=TEXT):
    start = text.index(words)
    return text_pb2.TextSpan(start=start, end=start + len(words))


def report(level="HIGH", why=WHY, quote=QUOTE, title="Data retention"):
    made = report_pb2.DpeReport(
        report_id="2244d32f-8a56-4aba-9f92-cc27345b159d",
        session_id="crp_sess_" + "a" * 32,
        window_number=1,
        risk_level=f"RISK_LEVEL_{level}",
        composite_score=0.5,
        fabrication_count=1,
        chain_integrity=taxonomy.CHAIN_INTEGRITY_VALID,
        omission_summary={"CRITICAL": 1, "HIGH": 0, "MEDIUM": 4},
    )
    made.risk_signals.add(kind=report_pb2.RISK_SIGNAL_KIND_ATTRIBUTION, value=1 / 3)
    made.risk_signals.add(kind=report_pb2.RISK_SIGNAL_KIND_FIDELITY, value=0.4)
    for number, (words, verdict, said) in enumerate(
        (
            ("Claims files are kept for 3 years.", "CONTRADICTED", why),
            ("Recordings are kept for 6 months.", "SUPPORTED", "Stands word for word in Data retention."),
            ("The founder was Ada Quill.", "UNSUPPORTED", "Nothing that was read bears out “Ada Quill”."),
        ),
        start=1,
    ):
        claim = made.claims.add(
            claim_id=f"c{number}",
            text=words,
            span=span(words),
            claim_type=claim_pb2.CLAIM_TYPE_FACTUAL,
            verdict=f"CLAIM_VERDICT_{verdict}",
        )
        claim.judgement.why = said
        claim.judgement.evidence.add(
            fact_id=FACT_ID, fact_span=text_pb2.TextSpan(start=0, end=len(quote)), source=source(title), quote=quote
        )
        claim.entities.add(text="Ada Quill")
    wrong = made.distortions.add(claim_id="c1", type=finding_pb2.DISTORTION_TYPE_NUMBER_CHANGED, fact_id=FACT_ID)
    wrong.values.answer_text, wrong.values.fact_text = "3 years", "10 years"
    wrong.values.answer_span.CopyFrom(span("3 years"))
    invented = made.fabrications.add(claim_id="c3")
    invented.entity.text = "Ada Quill"
    invented.entity.span.CopyFrom(span("Ada Quill"))
    for number in range(5):
        severity = finding_pb2.OMISSION_SEVERITY_CRITICAL if number == 0 else finding_pb2.OMISSION_SEVERITY_MEDIUM
        made.omissions.add(fact_id=FACT_ID, severity=severity, source=source(title), quote=f"Left out {number}.")
    made.stages.add(number=4, name="Entailment Scoring", status=taxonomy.STAGE_STATUS_SKIPPED, detail="No model.")
    made.stages.add(number=1, name="Claim Segmentation", status=taxonomy.STAGE_STATUS_COMPLETED)
    made.models.add(role="embedding", fingerprint="e@1")
    return made


def answered(**given):
    response = dispatch.DispatchResponse()
    response.answer.text = TEXT
    response.answer.report.CopyFrom(report(**given))
    response.answer.chain_integrity = taxonomy.CHAIN_INTEGRITY_VALID
    response.answer.model_fingerprint = "llm@1;sha256:abc"
    response.headers.add(name="CRP-Safety-Risk-Level", value="HIGH")
    response.violations.add(
        directive="warn-on HIGH", description="the risk is HIGH", enforcement=dispatch_pb2.ENFORCEMENT_WARNED
    )
    response.warnings.add(code="X", message="the session has reached max_windows")
    return response
