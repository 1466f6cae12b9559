"""What calls cost: every service's table names its RPCs, grows with the text, and costs nothing for reads."""

import pytest
from crp.ckf.v1 import knowledge_service_pb2 as ckf
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2
from crp.gateway.v1 import dispatch_service_pb2 as gateway
from ercp.v1 import ercp_service_pb2 as ercp
from pydantic import ValidationError

from services.common.rpc.work import CALL_UNITS
from services.common.settings import ServerSettings
from services.dpe.compose import PROVENANCE_ROLES
from services.dpe.work import WORK as DPE_WORK
from services.envelope.compose import ENVELOPE_ROLES, KNOWLEDGE_ROLES
from services.envelope.work import ENVELOPE_WORK, KNOWLEDGE_WORK
from services.ercp.servicer import ROLES as ERCP_ROLES
from services.ercp.work import WORK as ERCP_WORK
from services.gateway.doors.grpc.dispatch import ROLES as GATEWAY_ROLES
from services.gateway.doors.grpc.work import WORK as GATEWAY_WORK
from tests.each import each

FREE = {
    "EraseSource", "QuarantineFact", "RestoreFact", "GetFact", "ListFacts", "ListCommunities", "ListSources",
    "GetSource", "GetState", "GetTrace",
}  # fmt: skip
TEXT = "The office handles forty claims a month. " * 50
FACTS = [envelope_pb2.EnvelopeFact(content=TEXT)]
KNOWN = [envelope_pb2.EnvelopeFact(content=TEXT, embedding=b"1234")]
GROWING = [
    (DPE_WORK, "Analyze", dpe.AnalyzeRequest, {"response_text": TEXT}, 1.0),
    (DPE_WORK, "Analyze", dpe.AnalyzeRequest, {"prompt": TEXT}, 0.1),
    (DPE_WORK, "Analyze", dpe.AnalyzeRequest, {"prior_windows": [dpe.PriorWindow(text=TEXT)]}, 0.1),
    (DPE_WORK, "Analyze", dpe.AnalyzeRequest, {"envelope": envelope_pb2.ContextEnvelope(facts=FACTS)}, 0.1),
    (DPE_WORK, "AnalyzeStream", dpe.AnalyzeStreamRequest, {"analysis": dpe.AnalyzeRequest(query=TEXT)}, 1.0),
    (DPE_WORK, "SegmentClaims", dpe.SegmentClaimsRequest, {"text": TEXT}, 0.1),
    (DPE_WORK, "VerifySummary", dpe.VerifySummaryRequest, {"summary": TEXT}, 1.0),
    (DPE_WORK, "Check", dpe.CheckRequest, {"answer": TEXT}, 1.0),
    (DPE_WORK, "Check", dpe.CheckRequest, {"documents": [dpe.CheckDocument(content=TEXT.encode())]}, 0.1),
    (DPE_WORK, "Check", dpe.CheckRequest, {"facts": [dpe.CheckFact(content=TEXT)]}, 0.1),
    (KNOWLEDGE_WORK, "IngestSource", ckf.IngestSourceRequest, {"content": TEXT.encode()}, 0.049),
    (
        KNOWLEDGE_WORK,
        "IngestSourceStream",
        ckf.IngestSourceStreamRequest,
        {"source": ckf.IngestSourceRequest(content=TEXT.encode())},
        0.049,
    ),
    (KNOWLEDGE_WORK, "PreviewIngestion", ckf.PreviewIngestionRequest, {"content": TEXT.encode()}, 0.049),
    (
        KNOWLEDGE_WORK,
        "DiffSources",
        ckf.DiffSourcesRequest,
        {"after": ckf.DiffSide(document=ckf.UnstoredDocument(content=TEXT.encode()))},
        0.001,
    ),
    (KNOWLEDGE_WORK, "IngestFacts", ckf.IngestFactsRequest, {"facts": [ckf.FactInput(content=TEXT)]}, 0.049),
    (KNOWLEDGE_WORK, "SearchFacts", ckf.SearchFactsRequest, {"query": TEXT}, 0.049),
    (KNOWLEDGE_WORK, "SearchFacts", ckf.SearchFactsRequest, {"mode": ckf.SEARCH_MODE_RERANKED}, 0.1),
    (ENVELOPE_WORK, "BuildEnvelope", envelope_service_pb2.BuildEnvelopeRequest, {"query": TEXT}, 0.049),
    (ENVELOPE_WORK, "PreviewEnvelope", envelope_service_pb2.PreviewEnvelopeRequest, {"query": TEXT}, 0.049),
    (ENVELOPE_WORK, "CountTokens", envelope_service_pb2.CountTokensRequest, {"texts": [TEXT]}, 0.001),
    (GATEWAY_WORK, "Dispatch", gateway.DispatchRequest, {"query": TEXT}, 1.0),
    (ERCP_WORK, "Verify", ercp.VerifyRequest, {"reasoning_text": TEXT}, 1.0),
]


@pytest.mark.parametrize(
    ("work", "roles"),
    [
        (DPE_WORK, PROVENANCE_ROLES),
        (KNOWLEDGE_WORK, KNOWLEDGE_ROLES),
        (ENVELOPE_WORK, ENVELOPE_ROLES),
        (GATEWAY_WORK, GATEWAY_ROLES),
        (ERCP_WORK, ERCP_ROLES),
    ],
)
def test_every_rpc_either_costs_something_or_is_named_as_free(work, roles):
    assert set(work) | FREE >= set(roles)
    assert set(work) <= set(roles) - FREE


@each(("work", "name", "request_class", "fields", "share"), GROWING)
def test_work_grows_with_what_is_read(work, name, request_class, fields, share):
    least, more = work[name].units(request_class()), work[name].units(request_class(**fields))
    assert least >= 0
    assert more - least >= share * len(TEXT)


def test_a_fact_with_a_vector_costs_little():
    units = DPE_WORK["Analyze"].units(dpe.AnalyzeRequest(envelope=envelope_pb2.ContextEnvelope(facts=KNOWN)))
    assert units < CALL_UNITS + 10


def test_only_what_computes_for_long_takes_a_place():
    tables = {**DPE_WORK, **KNOWLEDGE_WORK, **ENVELOPE_WORK, **GATEWAY_WORK, **ERCP_WORK}
    assert {name for name, work in tables.items() if work.computes} == {
        "Analyze", "AnalyzeStream", "SegmentClaims", "VerifySummary", "Check", "IngestSource", "IngestFacts",
        "IngestSourceStream", "PreviewIngestion",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"tenant_classes": {"acme": "Gold"}}, "lower-case"),
        ({"tenant_classes": {f"tenant-{n}": f"class-{n}" for n in range(17)}}, "at most 16 classes"),
        ({"max_heavy_calls": 2, "max_heavy_calls_per_tenant": 3}, "max_heavy_calls_per_tenant is larger"),
        ({"max_admitted_work": 2, "max_admitted_work_per_tenant": 3}, "max_admitted_work_per_tenant is larger"),
    ],
)
def test_settings_that_cannot_be(settings, complaint):
    with pytest.raises(ValidationError, match=complaint):
        ServerSettings(**settings)


def test_places_follow_the_processors_unless_they_are_set():
    assert ServerSettings().heavy_calls == 4 * ServerSettings().heavy_calls_per_tenant >= 16
    assert ServerSettings(max_heavy_calls=3).heavy_calls_per_tenant == 3
    assert ServerSettings(max_heavy_calls_per_tenant=5).heavy_calls == 20
    settings = ServerSettings(tenant_classes={"acme": "gold"})
    assert (settings.class_of("acme"), settings.class_of("other")) == ("gold", "standard")
