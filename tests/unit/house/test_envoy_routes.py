"""deploy/envoy/envoy.yaml sends to the HTTP port what the gateway serves there, and transcodes what it does not."""

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
import yaml
from google.api import annotations_pb2

from services.common.clock import SystemClock
from services.common.settings import Settings
from services.gateway.compose import _rpc_routes
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.chat.forms import OpenAiDialect
from services.gateway.doors.http.chat.models import MODELS
from services.gateway.doors.http.messages.forms import AnthropicDialect
from services.gateway.doors.http.ready_routes import ReadyRoutes
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tools.descriptor_set import descriptor_set

ROOT = Path(__file__).resolve().parents[3]
ENVOY = yaml.safe_load((ROOT / "deploy/envoy/envoy.yaml").read_text(encoding="utf-8"))
MANAGER = ENVOY["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
ROUTES = MANAGER["route_config"]["virtual_hosts"][0]["routes"]
HTTP_CLUSTER = "gateway_http"
OF_THE_CONTRACT = {
    ("GET", "/v1/reports"),
    ("GET", "/v1/sessions"),
    ("POST", "/v1/sessions/{session_id}/audit"),
    ("POST", "/v1/verify:batch"),
    ("POST", "/v1/envelope:build"),
    ("POST", "/v1/facts:search"),
}
"""Some that only transcoding serves, among them neighbours of what the gateway's HTTP serves."""


def routed():
    """Return method and path of every route of the gateway's HTTP app, as often as it is there."""
    settings, clock = Settings(), SystemClock()
    channels, adapters = cast("Any", Mock()), cast("Any", SimpleNamespace(clock=clock))
    routes = [ReadyRoutes(), *_rpc_routes(settings, adapters, channels, (open_gate(), cast("Any", Mock())))]
    app = create_app(cast("Any", ErcpStub()), open_gate(), settings.http, clock, "0.1.0", routes)
    routes_there: list[Any] = list(app.routes)
    return [(method, route.path) for route in routes_there for method in getattr(route, "methods", None) or ()]


def served():
    """Return method and path of everything that the gateway's HTTP serves."""
    chats = {("POST", OpenAiDialect.path), ("POST", AnthropicDialect.path), ("GET", MODELS), ("GET", f"{MODELS}/{{m}}")}
    return {(method, path) for method, path in {*routed(), *chats} if path not in {"/docs", "/redoc"}}


def bindings():
    """Return method and path of each google.api.http binding of the contract, ERCP's own JSON apart."""
    found = []
    for file in descriptor_set().file:
        for service in file.service:
            for method in service.method:
                rule = method.options.Extensions[annotations_pb2.http]
                for one in (rule, *rule.additional_bindings):
                    verb = one.WhichOneof("pattern")
                    if verb is not None and file.package != "ercp.v1":
                        found.append((verb.upper(), getattr(one, verb)))
    return found


def rpcs():
    return {
        f"/{file.package}.{service.name}/{method.name}"
        for file in descriptor_set().file
        for service in file.service
        for method in service.method
    }


def matches(match, method, path):
    headers = {":method": method}
    asked = match.get("headers", [])
    if not all(re.fullmatch(each["string_match"]["safe_regex"]["regex"], headers[each["name"]]) for each in asked):
        return False
    if "safe_regex" in match:
        return re.fullmatch(match["safe_regex"]["regex"], path) is not None
    if "path_separated_prefix" in match:
        return path == match["path_separated_prefix"] or path.startswith(match["path_separated_prefix"] + "/")
    return path.startswith(match["prefix"])


def route_of(method, path):
    filled = re.sub(r"\{[^}]*\}", "some-1", path)
    return next(route for route in ROUTES if matches(route["match"], method, filled))


def is_as_it_is(route):
    filters = route.get("typed_per_filter_config", {})
    return filters.get("envoy.filters.http.grpc_json_transcoder", {}).get("disabled") is True


@pytest.mark.parametrize("of", [routed, bindings])
def test_no_two_methods_share_a_path(of):
    """The second is never reached, and /openapi.json describes the wrong one."""
    counted = Counter((method, re.sub(r"\{[^}]*\}", "{}", path)) for method, path in of())
    assert len(counted) > 20
    assert [found for found, times in counted.items() if times > 1] == []


def test_what_the_gateway_serves_over_http_reaches_it_as_it_is():
    wanted = served()
    assert {("POST", "/v1/check"), ("POST", "/v1/dispatch"), ("GET", "/.well-known/crp-gateway.json")} <= wanted
    astray = [
        f"{method} {path}"
        for method, path in sorted(wanted)
        if (route := route_of(method, path))["route"]["cluster"] != HTTP_CLUSTER or not is_as_it_is(route)
    ]
    assert astray == []


def test_what_is_of_the_contract_alone_is_transcoded():
    wanted = set(bindings())
    assert wanted >= OF_THE_CONTRACT
    shadowed = [
        f"{method} {path}"
        for method, path in sorted(wanted - served_with_any_names())
        if route_of(method, path)["route"]["cluster"] == HTTP_CLUSTER or is_as_it_is(route_of(method, path))
    ]
    assert shadowed == []


def served_with_any_names():
    """Return the bindings that the gateway's HTTP serves too, whatever the names in their paths are."""
    forms = {(method, re.sub(r"\{[^}]*\}", "{}", path)) for method, path in served()}
    return {(method, path) for method, path in bindings() if (method, re.sub(r"\{[^}]*\}", "{}", path)) in forms}


def test_no_rpc_goes_to_the_http_port():
    assert [rpc for rpc in sorted(rpcs()) if route_of("POST", rpc)["route"]["cluster"] == HTTP_CLUSTER] == []


@pytest.mark.parametrize("path", ["/v1/check?x=1", "/v1/reports/rep-1?page_size=1"])
def test_the_refusals_of_envoy_itself_have_the_form_of_the_path(path):
    mappers = MANAGER["local_reply_config"]["mappers"]
    forms = [mapper["filter"]["and_filter"]["filters"][0]["header_filter"]["header"] for mapper in mappers]
    regexes = [form["string_match"]["safe_regex"]["regex"] for form in forms if "safe_regex" in form["string_match"]]
    assert len(regexes) == 2
    assert all(re.fullmatch(regex, path) for regex in regexes)
