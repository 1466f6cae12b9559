"""Between the bodies of check mode and ``ProvenanceService.Check``; pure, so that it can run beside the event loop."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import claim_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from groundtrail.grounds import Grounds

from services.common.errors import FieldViolation, InvalidRequestError
from services.common.injection.masking import MARK
from services.common.rpc.canonical import message_json
from services.gateway.check_policy import PolicyVerdict, policy_verdict
from services.gateway.domain.outcome import PolicyInForce
from services.gateway.domain.source_screening import SourceFinding, SourceScreening
from services.gateway.doors.http.check_schemas import CheckForm, DocumentForm, FactForm, GuardrailOptions

_MARKDOWN: Final = "text/markdown"
_MOST_TITLE: Final = 1_000
_WORST_FIRST: Final = ("CONTRADICTED", "SUPERSEDED", "UNSUPPORTED", "UNDECIDED")
_MOST_NAMED: Final = 3
_MOST_QUOTED: Final = 200


def form_request(form: CheckForm, grounds: Grounds) -> pb.CheckRequest:
    """Return the request of ``/v1/check``: what the form names first, then what its messages hold.

    Raises:
        InvalidRequestError: INVALID_FIELD: a document has neither text nor content, or both, or no base64.
    """
    request = pb.CheckRequest(answer=form.answer, question=form.question or grounds.question)
    _add(request, form.facts, form.documents, grounds)
    request.earlier_answers.extend([*form.earlier_answers, *grounds.earlier_answers])
    return request


def guardrail_request(answer: str, options: GuardrailOptions, grounds: Grounds) -> pb.CheckRequest:
    """Return the request for one text that a proxy shows. Raises as ``form_request``."""
    request = pb.CheckRequest(answer=answer, question=options.question or grounds.question)
    _add(request, options.facts, options.documents, grounds)
    request.earlier_answers.extend(grounds.earlier_answers)
    return request


def screened_sources(form: CheckForm | GuardrailOptions, screening: SourceScreening) -> dict[str, Any]:
    """Return a form's facts and documents as they go on; what is in base64 is read elsewhere, and stays."""
    facts = [_fact(fact, screening, f"facts[{number}]") for number, fact in enumerate(form.facts)]
    documents = [
        one if one.text is None else one.model_copy(update={"text": screening.text(one.text, f"documents[{number}]")})
        for number, one in enumerate(form.documents)
    ]
    return {
        "facts": [one for one in facts if one.content.strip() != MARK],
        "documents": [one for one in documents if one.text is None or one.text.strip() != MARK],
    }


def _fact(fact: str | FactForm, screening: SourceScreening, place: str) -> FactForm:
    one = FactForm(content=fact) if isinstance(fact, str) else fact
    return one.model_copy(update={"content": screening.text(one.content, place)})


def has_sources(request: pb.CheckRequest) -> bool:
    """Say whether there is anything to hold the answer against but what was answered before."""
    return bool(request.facts or request.documents)


def check_answer(
    response: pb.CheckResponse,
    force: PolicyInForce,
    grounds: Grounds,
    *,
    report: bool,
    injections: Sequence[SourceFinding] = (),
) -> dict[str, Any]:
    """Return what ``/v1/check`` answers; fields as ``CheckAnswer``."""
    verdict = policy_verdict(response.report, force)
    claims = judged_claims(response.report)
    return {
        "risk_level": taxonomy_pb2.RiskLevel.Name(response.report.risk_level).removeprefix("RISK_LEVEL_"),
        "supported": sum(claim["verdict"] == "SUPPORTED" for claim in claims),
        "judged": len(claims),
        "withheld": bool(verdict.halt_reason),
        "claims": claims,
        "policy": _policy(verdict),
        "unreadable_parts": grounds.unreadable,
        "injections": [one.told() for one in injections],
        "warnings": list(response.warnings),
        "facts": [message_json(fact) for fact in response.facts],
        "report": message_json(response.report) if report else None,
    }


def judged_claims(report: report_pb2.DpeReport, offset: int = 0) -> list[dict[str, Any]]:
    """Return the claims of a report that have a verdict, in the order of the answer.

    Args:
        report: of the answer, or of the part of it that begins at ``offset``.
        offset: characters before the part.
    """
    return [
        {
            "text": claim.text,
            "start": claim.span.start + offset,
            "end": claim.span.end + offset,
            "verdict": claim_pb2.ClaimVerdict.Name(claim.verdict).removeprefix("CLAIM_VERDICT_"),
            "why": claim.judgement.why,
        }
        for claim in report.claims
        if claim.verdict
    ]


def blocked_reason(answer: dict[str, Any]) -> str:
    """Return why an answer is withheld, for people: the directive, and the worst claims with their reasons."""
    claims = sorted(
        (claim for claim in answer["claims"] if claim["verdict"] in _WORST_FIRST),
        key=lambda claim: _WORST_FIRST.index(claim["verdict"]),
    )[:_MOST_NAMED]
    named = [f'"{_short(claim["text"])}": {_short(claim["why"] or claim["verdict"].lower())}' for claim in claims]
    return " ".join([f"Withheld: risk level {answer['risk_level']} ({answer['policy']['halt_reason']}).", *named])


def _add(
    request: pb.CheckRequest, facts: Sequence[str | FactForm], documents: Sequence[DocumentForm], grounds: Grounds
) -> None:
    for fact in facts:
        one = FactForm(content=fact) if isinstance(fact, str) else fact
        request.facts.add(content=one.content, title=one.title)
    for number, document in enumerate(documents):
        content, kind = _content(document, number)
        request.documents.add(name=document.name, content=content, media_type=kind)
    for source in grounds.sources:
        title = source.title[:_MOST_TITLE]
        request.documents.add(name=title, content=source.text.encode(), media_type=_MARKDOWN)


def _content(document: DocumentForm, number: int) -> tuple[bytes, str]:
    field = f"documents[{number}]"
    if (document.text is None) == (document.content is None):
        raise InvalidRequestError.of(FieldViolation(field, "must have either text or content (base64), not both"))
    if document.content is None:
        return (document.text or "").encode(), document.media_type
    try:
        return base64.b64decode(document.content, validate=True), document.media_type
    except (binascii.Error, ValueError):
        raise InvalidRequestError.of(FieldViolation(f"{field}.content", "must be base64 (RFC 4648)")) from None


def _policy(verdict: PolicyVerdict) -> dict[str, Any]:
    findings = [
        {
            "directive": one.directive,
            "violation_type": one.violation_type,
            "description": one.description,
            "halts": one.halts,
        }
        for one in verdict.findings
    ]
    return {"applied": verdict.applied, "halt_reason": verdict.halt_reason, "findings": findings}


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST_QUOTED else f"{flat[:_MOST_QUOTED]}…"
