"""Sources over HTTP: the dry run, the comparison, what is read, as over gRPC, before the real service (ADR 0113)."""

import base64
import contextlib
import json
import uuid
from typing import Any, cast

import httpx
import pytest
from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub

from services.common.clock import SystemClock
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.canonical import message_json
from services.common.rpc.client import Peer, PeerChannel
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings import AuthSettings, Settings
from services.common.settings.http import HttpSettings
from services.common.taxonomy import PROTOCOL_VERSION
from services.envelope.compose import KNOWLEDGE_ROLES
from services.envelope.stored_compose import KNOWLEDGE_SERVICE
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.json_bodies import message_of, read_form
from services.gateway.doors.http.protocol import VERSION_HEADER
from services.gateway.doors.http.source_routes import (
    DIFF,
    PREVIEW,
    ROLES,
    SERVICE,
    SOURCE_ENDPOINTS,
    SOURCES,
    SourceRoutes,
)
from tests.fakes.envelope_world import SubjectAuthenticator, World
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.fakes.runtime_probe import KEYS, FakeClock, credential_store
from tests.patience import patient

URI = "fees.md"
FIRST = "# Fees\n\nThe parking fee of the club is 10 euros.\n\nThe club house is open to its members."
SECOND = FIRST.replace("10 euros", "25 euros")
ALICE = {"Authorization": "alice"}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def document(text, **more):
    return {"uri": URI, "content": encoded(text), **more}


def side(text):
    return {"document": {"name": URI, "content": encoded(text)}}


@contextlib.asynccontextmanager
async def served(**settings):
    """Yield a client of HTTP, and what gives clients of gRPC."""
    http_settings = HttpSettings(port=0, **settings)
    async with World().serving() as clients:
        channel = PeerChannel(clients().channel, Peer("here", "here"), patient(20.0))
        gate = open_gate(SubjectAuthenticator())
        routes = SourceRoutes(KnowledgeServiceStub(channel), gate, http_settings, SystemClock())
        async with client_of(routes, gate) as http:
            yield http, clients


def client_of(routes, gate):
    app = create_app(cast("Any", ErcpStub()), gate, HttpSettings(port=0), SystemClock(), "0.1.0", [routes])
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=ALICE)


def told(response):
    """Return status, reason and fields of a refusal."""
    error = response.json()["error"]
    return response.status_code, error["reason"], [one["field"] for one in error.get("fields", ())]


def test_it_asks_for_the_roles_of_the_service():
    assert SERVICE == KNOWLEDGE_SERVICE
    assert {rpc: KNOWLEDGE_ROLES[rpc] for rpc in ROLES} == ROLES
    assert {endpoint.rpc for endpoint in SOURCE_ENDPOINTS} == set(ROLES)


async def test_a_dry_run_says_over_http_what_it_says_over_grpc_and_writes_nothing():
    async with served() as (http, clients):
        alice = clients()
        await alice.ingest(FIRST, uri=URI)
        before = await alice.call("GetState")
        found = await http.post(PREVIEW, json=document(SECOND))
        same = await alice.call("PreviewIngestion", uri=URI, content=SECOND.encode())
        assert await alice.call("GetState") == before
    assert found.status_code == 200, found.text
    assert found.json() == message_json(same)
    assert (found.json()["facts_created"], found.json()["facts_stale"]) == (1, 1)
    assert found.headers[VERSION_HEADER] == PROTOCOL_VERSION


async def test_a_dry_run_has_pages():
    async with served() as (http, _):
        pages = [(await http.post(PREVIEW, json=document(FIRST, page_size=1))).json()]
        while token := pages[-1]["next_page_token"]:
            pages.append((await http.post(PREVIEW, json=document(FIRST, page_size=1, page_token=token))).json())
        whole = (await http.post(PREVIEW, json=document(FIRST))).json()
    assert len(pages) == len(whole["facts"]) > 1
    assert [fact for page in pages for fact in page["facts"]] == whole["facts"]


async def test_versions_and_documents_are_compared_as_over_grpc():
    async with served() as (http, clients):
        alice = clients()
        source_id = (await alice.ingest(FIRST, uri=URI)).source.source_id
        await alice.ingest(SECOND, uri=URI)
        stored = [{"source_id": source_id, "version": 1}, {"source_id": source_id}]
        versions = {"before": {"stored": stored[0]}, "after": {"stored": stored[1]}}
        found = await http.post(DIFF, json=versions)
        same = await alice.call("DiffSources", **versions)
        files = await http.post(DIFF, json={"before": side(FIRST), "after": side(SECOND), "limit": 5})
    assert found.status_code == 200, found.text
    assert found.json() == message_json(same)
    for one in (found.json(), files.json()):
        assert (one["added_count"], one["removed_count"], one["changed_count"]) == (0, 0, 1)
        (pair,) = one["changed"]
        assert "10 euros" in json.dumps(pair["before"])
        assert "25 euros" in json.dumps(pair["after"])


async def test_sources_are_listed_and_read():
    async with served() as (http, clients):
        made = {(await clients().ingest(FIRST, uri=uri)).source.source_id for uri in (URI, "prices.md")}
        first = (await http.get(SOURCES, params={"page_size": 1})).json()
        second = (await http.get(SOURCES, params={"page_size": 1, "page_token": first["next_page_token"]})).json()
        (one,) = first["sources"]
        read = (await http.get(f"{SOURCES}/{one['source_id']}")).json()
        foreign = await http.get(SOURCES, headers={"Authorization": "mallory"})
    assert {each["source_id"] for page in (first, second) for each in page["sources"]} == made
    assert read["source"] == one
    assert [version["version"] for version in read["versions"]] == [1]
    assert foreign.json()["sources"] == []


async def test_a_reader_compares_and_reads_and_runs_nothing_dry():
    reader = {"Authorization": "reader"}
    async with served() as (http, _):
        for call in (http.get(SOURCES, headers=reader), http.post(DIFF, json=BOTH, headers=reader)):
            assert (await call).status_code == 200
        refused = await http.post(PREVIEW, json=document(FIRST), headers=reader)
    assert told(refused)[:2] == (403, "ROLE_MISSING")


async def test_who_brings_no_credential_is_asked_for_one_before_the_service_is_asked():
    settings = Settings(auth=AuthSettings(environment="test"))
    gate = CredentialGate(open_authenticator(settings.auth, await credential_store(), FakeClock()), settings)
    async with client_of(SourceRoutes(cast("Any", None), gate, HttpSettings(port=0), SystemClock()), gate) as http:
        del http.headers["Authorization"]
        nobody = [await http.post(path, json={}) for path in (PREVIEW, DIFF)]
        nobody += [await http.get(path) for path in (SOURCES, f"{SOURCES}/{uuid.uuid4()}")]
        wrong = await http.post(DIFF, json={}, headers={"x-api-key": f"{KEYS['writer']}x"})
        may_not = await http.post(PREVIEW, json={}, headers={"x-api-key": KEYS["reader"]})
    assert [told(one)[:2] for one in nobody] == [(401, "CREDENTIAL_MISSING")] * 4
    assert told(wrong)[:2] == (401, "CREDENTIAL_INVALID")
    assert told(may_not)[:2] == (403, "ROLE_MISSING")


BOTH = {"before": side(FIRST), "after": side(SECOND)}
NOWHERE = {"source_id": str(uuid.UUID(int=4, version=4))}


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        (PREVIEW, {"uri": URI}, (400, "INVALID_FIELD", ["content"])),
        (PREVIEW, {"uri": URI, "content": "no base64!"}, (400, "INVALID_FIELD", ["content"])),
        (PREVIEW, {"uri": URI, "content": 5}, (400, "INVALID_FIELD", ["content"])),
        (PREVIEW, document(FIRST, dry_run=True), (400, "INVALID_FIELD", ["dry_run"])),
        (PREVIEW, document(FIRST, page_token="x"), (400, "PAGE_TOKEN_INVALID", ["page_token"])),
        (PREVIEW, document("\0\1\2", media_type="image/png"), (415, "UNSUPPORTED_MEDIA", ["media_type"])),
        (DIFF, {"before": side(FIRST)}, (400, "INVALID_FIELD", ["after"])),
        (DIFF, BOTH | {"before": {"stored": NOWHERE} | side(FIRST)}, (400, "INVALID_FIELD", ["before"])),
        (DIFF, BOTH | {"before": {"stored": NOWHERE}}, (404, "SOURCE_NOT_FOUND", [])),
        (DIFF, BOTH | {"limit": 1_001}, (400, "INVALID_FIELD", ["limit"])),
    ],
    ids=str,
)
async def test_what_cannot_be_done_is_refused_in_the_form_of_every_refusal(path, asked, expected):
    async with served() as (http, _):
        assert told(await http.post(path, json=asked)) == expected


async def test_a_source_of_another_tenant_is_not_there():
    async with served() as (http, clients):
        foreign = (await clients("mallory").ingest(FIRST, uri=URI)).source.source_id
        read = await http.get(f"{SOURCES}/{foreign}")
        compared = await http.post(DIFF, json=BOTH | {"before": {"stored": {"source_id": foreign}}})
        unread = await http.get(SOURCES, params={"page_size": "many"})
    assert [told(one)[:2] for one in (read, compared)] == [(404, "SOURCE_NOT_FOUND")] * 2
    assert told(unread) == (400, "INVALID_FIELD", ["page_size"])


async def test_a_document_beyond_the_bound_of_bodies_is_refused_before_it_is_read():
    async with served(max_body_bytes=1_024) as (http, _):
        refused = await http.post(PREVIEW, json=document("word " * 1_024))
    assert told(refused)[:2] == (413, "MESSAGE_TOO_LARGE")
    assert "GROUNDTRAIL_HTTP__MAX_BODY_BYTES" in refused.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", SOURCES, 405), ("POST", f"{SOURCES}/x:erase", 405), ("GET", "/v1/facts", 404), ("GET", "/v1/state", 404)],
)
async def test_what_is_served_elsewhere_says_where(method, path, status):
    async with served() as (http, _):
        refused = await http.request(method, path)
        nothing = await http.get("/v1/sourcery")
    assert refused.status_code == status
    assert "over gRPC, and as REST by Envoy" in refused.json()["error"]["message"]
    assert "Envoy" not in nothing.text


async def test_the_document_names_them():
    async with served() as (http, _):
        found = (await http.get("/openapi.json")).json()
    schemas = found["components"]["schemas"]
    for endpoint in SOURCE_ENDPOINTS:
        (operation,) = found["paths"][endpoint.path].values()
        assert operation["operationId"] == endpoint.name
        assert {"200", "400", "401", "403", "404", "413", "429", "503"} <= operation["responses"].keys()
        assert operation["security"] == [{"credential": []}]
    assert schemas["PreviewIngestionRequest"]["properties"]["content"]["anyOf"][0] == {
        "type": "string",
        "contentEncoding": "base64",
    }
    assert {"stored", "document"} <= schemas["DiffSide"]["properties"].keys()


def test_bytes_of_any_kind_arrive_as_they_were():
    (form,) = (one.form for one in SOURCE_ENDPOINTS if one.path == PREVIEW)
    assert form is not None
    raw = bytes(range(256))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for text in (encode(raw).decode(), encode(raw).decode().rstrip("=")):
            read = read_form(json.dumps({"content": text}).encode(), form)
            assert message_of(read, pb.PreviewIngestionRequest).content == raw
