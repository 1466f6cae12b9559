"""CheckRequest to domain, and a checked answer to its response."""

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.dpe.checking import BroughtDocument, BroughtFact, CheckedAnswer, CheckInput, fact_id
from services.dpe.convert.opinions import asked_limits
from services.dpe.convert.report import report_message
from services.dpe.convert.requests import grounding_mode


def check_input(request: pb.CheckRequest) -> CheckInput:
    """Return the domain's view of a validated request."""
    return CheckInput(
        request.answer,
        request.question,
        tuple(BroughtFact(fact.content, fact.title) for fact in request.facts),
        tuple(BroughtDocument(one.name, one.content, one.media_type) for one in request.documents),
        tuple(request.earlier_answers),
        grounding_mode(request.grounding_mode, taxonomy_pb2.GROUNDING_MODE_UNSPECIFIED),
        asked_limits(request),
        request.is_beginning,
    )


def check_response(checked: CheckedAnswer) -> pb.CheckResponse:
    """Return the report, and the facts that its evidence names."""
    return pb.CheckResponse(
        report=report_message(checked.finished),
        facts=[
            pb.CheckedFact(fact_id=fact_id(place), content=fact.content, title=fact.title, location=fact.location)
            for place, fact in enumerate(checked.facts)
        ],
        warnings=checked.warnings,
    )
