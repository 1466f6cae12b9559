"""The OpenAPI document of the gateway's HTTP, and every operation held to it by generated calls."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from services.common.clock import SystemClock
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.generated_calls import called
from tests.patience import patient
from tests.tenth import examples

APP = create_app(ErcpStub(), open_gate(), HttpSettings(port=0), SystemClock(), "0.1.0")
DOCUMENT = APP.openapi()
SCHEMA = called(APP, "bounds of ERCP's HTTP operations")
WRONG = called(
    create_app(ErcpStub(wants_credential=True), open_gate(), HttpSettings(port=0), SystemClock(), "0.1.0"),
    "breaches of ERCP's HTTP operations",
)
WRONG.config.generation.update(modes=[GenerationMode.NEGATIVE])
ENDPOINTS = {
    "/ercp/v1/run": "post",
    "/ercp/v1/generate": "post",
    "/ercp/v1/verify": "post",
    "/ercp/v1/extract_constraints": "post",
    "/ercp/v1/stabilize": "post",
    "/ercp/v1/mutate": "post",
    "/ercp/v1/trace/{trace_id}": "get",
}
CHECKS = [
    checks.not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.mark.tenth(inside=True)
@SCHEMA.include(path_regex="^/ercp/").parametrize()
@settings(
    max_examples=examples(60, least=3),
    deadline=timedelta(seconds=patient(5)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
)
def test_every_generated_call_is_answered_as_the_document_says(case):
    case.call_and_validate(checks=CHECKS)


@pytest.mark.tenth(inside=True)
@WRONG.include(path_regex="^/ercp/", method="POST").parametrize()
@settings(
    max_examples=examples(15, least=3),
    deadline=timedelta(seconds=patient(5)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
)
def test_every_body_that_the_document_does_not_allow_is_refused(case):
    case.call_and_validate(checks=[*CHECKS, negative_data_rejection])


def test_the_document_has_the_seven_endpoints_and_what_is_beside_them():
    served = {path: set(operations) for path, operations in DOCUMENT["paths"].items()}
    assert served == {path: {method} for path, method in ENDPOINTS.items()} | {"/healthz": {"get"}}


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_every_reference_leads_somewhere():
    named = set(references(DOCUMENT))
    assert len(named) > 15
    for reference in named:
        assert reference.removeprefix("#/components/schemas/") in DOCUMENT["components"]["schemas"]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_an_operation_says_what_it_needs_and_what_may_go_wrong(path):
    operation = DOCUMENT["paths"][path][ENDPOINTS[path]]
    assert {"200", "400", "401", "403", "408", "413", "415", "429", "503", "504"} <= operation["responses"].keys()
    assert "422" not in operation["responses"]
    assert operation["security"] == [{"credential": []}]
    if ENDPOINTS[path] == "post":
        assert operation["requestBody"]["required"]
        assert "Idempotency-Key" in [one["name"] for one in operation["parameters"]]
    else:
        assert [one["name"] for one in operation["parameters"] if one["required"]] == ["trace_id"]
        assert "404" in operation["responses"]


def test_the_words_of_the_document_are_the_only_ones():
    defined = DOCUMENT["components"]["schemas"]
    words = {
        ("Constraint", "type"): "predicate|style|factual|temporal|custom",
        ("Constraint", "priority"): "high|medium|low",
        ("Error", "type"): "contradiction|factual_incorrect|missing_justification|ambiguity|syntax_error",
        ("MutateRequest", "mutation_strategy"): "relax|reframe|decompose",
        ("TraceEvent", "operator"): "generate|verify|extract|stabilize|mutate",
        ("RunAnswer", "status"): "converged|infeasible|partial|failed",
    }
    for (schema, field), listed in words.items():
        assert defined[schema]["properties"][field]["enum"] == listed.split("|")
