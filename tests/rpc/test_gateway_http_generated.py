"""Every operation of the whole gateway's OpenAPI document, called as the document says: none is answered with a 500."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as dag
from crp.dpe.v1 import guard_service_pb2 as guard
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import report_pb2
from crp.envelope.v1 import envelope_service_pb2 as envelopes
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as gateway
from hypothesis import HealthCheck, settings
from schemathesis import checks
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from services.common.clock import SystemClock
from services.common.settings import ChatSettings, GatewaySettings
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.chat.backlog import Backlog
from services.gateway.doors.http.chat_doors import ChatBehind, ChatBounds, chat_routes
from services.gateway.doors.http.check_routes import CheckRoutes
from services.gateway.doors.http.guard_routes import GuardRoutes
from services.gateway.doors.http.record_routes import RecordRoutes
from services.gateway.doors.http.source_routes import SourceRoutes
from services.gateway.doors.http.well_known import WELL_KNOWN, GatewayMetadata, WellKnownRoutes
from tests.fakes.any_stub import AnyProvider, AnyStub
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.fakes.tenant_policies import check_policies, check_terms
from tests.generated_calls import called
from tests.patience import patient
from tests.tenth import examples

HTTP, CHAT, GATEWAY = HttpSettings(port=0), ChatSettings(mode="ground"), GatewaySettings()
REPORT = report_pb2.DpeReport(risk_level=taxonomy.RISK_LEVEL_LOW)
OUTCOME = gateway.DispatchResponse(answer=dispatch_pb2.Answer(text="Yes.", report=REPORT))
STREAM = [gateway.DispatchStreamResponse(token="Yes."), gateway.DispatchStreamResponse(outcome=OUTCOME)]
COMPLETION = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]}
COMPLETION |= {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
CHUNKS = [{"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}]
MESSAGE = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
MESSAGE |= {"content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 1, "output_tokens": 1}}
EVENTS = [{"type": "message_start", "message": MESSAGE | {"content": []}}, {"type": "message_stop"}]
ADDED = (
    *("/v1/chat/completions", "/v1/messages", "/v1/models", "/v1/dispatch", "/v1/envelope/preview"),
    *("/v1/reports/{report_id}", "/v1/sessions/{session_id}/dag", "/v1/sessions/{session_id}/audit", WELL_KNOWN),
    *("/v1/sources", "/v1/sources/{source_id}", "/v1/sources:preview"),
)


def service(module, name):
    return module.DESCRIPTOR.services_by_name[name]


def served():
    gate, clock = open_gate(), SystemClock()
    checking: Any = AnyStub(service(dpe, "ProvenanceService"), Check=dpe.CheckResponse(report=REPORT))
    dispatches: Any = AnyStub(service(gateway, "DispatchService"), Dispatch=OUTCOME, DispatchStream=STREAM)
    sessions: Any = AnyStub(service(dag, "SessionService"))
    packing: Any = AnyStub(service(envelopes, "EnvelopeService"))
    sources: Any = AnyStub(service(knowledge, "KnowledgeService"))
    providers: tuple[Any, Any] = AnyProvider(COMPLETION, CHUNKS), AnyProvider(MESSAGE, EVENTS)
    ercp: Any = ErcpStub()
    overseeing: Any = AnyStub(service(guard, "GuardService"), OverseeStream=[])
    behind = ChatBehind(dispatches, checking, check_policies(GATEWAY), *providers)
    routes: list[Any] = [
        CheckRoutes(checking, gate, HTTP, clock, check_terms(GATEWAY)),
        GuardRoutes(overseeing, gate, HTTP, clock),
        RecordRoutes(dispatches, sessions, packing, gate, HTTP, clock),
        SourceRoutes(sources, gate, HTTP, clock),
        WellKnownRoutes("0.1.0", HTTP, CHAT, GATEWAY),
        *chat_routes(behind, gate, ChatBounds(HTTP, CHAT, GATEWAY), Backlog(CHAT)),
    ]
    return create_app(ercp, gate, HTTP, clock, "0.1.0", routes)


def made_now():
    async def made():
        return served()

    return asyncio.run(made())


APP = made_now()
SCHEMA = called(APP, "bounds of HTTP operations")


@pytest.mark.tenth(inside=True)
@SCHEMA.exclude(path_regex="^/(ercp|healthz)").parametrize()
@settings(
    max_examples=examples(40, least=3),
    deadline=timedelta(seconds=patient(5)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
)
def test_every_generated_call_is_answered_as_the_document_says(case):
    case.call_and_validate(checks=[checks.not_a_server_error, response_schema_conformance, status_code_conformance])


@pytest.mark.parametrize("path", ADDED)
def test_an_operation_says_what_it_takes_and_what_may_go_wrong(path):
    (operation,) = APP.openapi()["paths"][path].values()
    assert operation["summary"]
    assert "200" in operation["responses"]
    if path == WELL_KNOWN:
        assert "security" not in operation
    else:
        assert {"400", "401", "403", "429", "503"} <= operation["responses"].keys()
    if "requestBody" in operation:
        (content,) = operation["requestBody"]["content"].values()
        name = content["schema"]["$ref"].rpartition("/")[2]
        assert len(APP.openapi()["components"]["schemas"][name]["properties"]) > 5


def test_the_metadata_names_what_is_served_and_nothing_secret():
    case = SCHEMA[WELL_KNOWN]["GET"].Case()
    told = case.call().json()
    GatewayMetadata.model_validate(told)
    served_paths = {(one["method"].lower(), one["path"]) for one in told["endpoints"]}
    document = {(method, path) for path, methods in APP.openapi()["paths"].items() for method in methods}
    assert served_paths == document
    assert told["crp_version"] == "3.0.0"
    assert told["words"]["stream_safety_modes"] == ["hold-back", "buffer", "pass-through"]
    assert "require-grounding" in told["words"]["safety_policy_directives"]
