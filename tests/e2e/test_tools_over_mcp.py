"""``groundtrail mcp`` before the protocol's own client, over standard input and output and over HTTP (ADR 0155)."""

import json
import os
import signal
import sys

import httpx
import httpx2
import jsonschema
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.processes import ROOT, command, environment, run
from tests.leash import release
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
FEE = "The fee for late reports is 5 euros."
WRONG = "The fee for late reports is 7 euros."
QUESTION = "What is the fee for late reports?"


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools")
    (folder / "fees.md").write_text(f"# Fees\n\n{FEE}\n\nA report is late after 30 days.\n")
    env = environment(folder / "data")
    done = command(folder, "ingest", "fees.md", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return env


@pytest.mark.whole
async def test_the_librarys_client_uses_all_four_tools_over_stdio(env):
    started = StdioServerParameters(command=sys.executable, args=["-m", "services.cli", "mcp"], env=env, cwd=str(ROOT))
    async with Client(stdio_client(started)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["ask", "check", "search", "verify"]

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            jsonschema.validate(result.structured_content, tools[name].output_schema)
            return result.structured_content

        found = await call("search", query=QUESTION, limit=1)
        assert FEE in found["facts"][0]["text"]
        assert found["facts"][0]["holds"] == "CURRENT"
        checked = await call("check", answer=WRONG, facts=[FEE], policy="halt-on HIGH")
        (claim,) = checked["claims"]
        assert (claim["verdict"], claim["evidence"][0]["quote"]) == ("CONTRADICTED", FEE)
        assert (checked["risk_level"], checked["withheld"]) == ("HIGH", "halt-on HIGH")
        answer = await call("ask", question=QUESTION)
        assert "5 euros" in answer["text"]
        assert answer["outcome"] == "ANSWERED"
        assert any("5 euros" in quote["quote"] for one in answer["claims"] for quote in one["evidence"])
        going_on = await call("ask", question="When is a report late?", session_id=answer["session_id"])
        assert going_on["session_id"] == answer["session_id"]
        assert "token" not in json.dumps(going_on)
        verdict = await call("verify", session_id=answer["session_id"])
        assert (verdict["integrity"], verdict["windows_verified"]) == ("VALID", 2)
        for name, arguments, reason in (
            ("verify", {"session_id": "crp_sess_0123456789abcdef"}, "SESSION_NOT_FOUND: "),
            ("search", {"query": "fee", "mode": "louder"}, "INVALID_FIELD: "),
            ("check", {"answer": FEE, "facts": [FEE], "policy": "halt-at HIGH"}, "UNKNOWN_DIRECTIVE: "),
            ("search", {"query": "fee", "limit": 1_000}, ""),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert reason in str(refused.content)


@pytest.fixture(scope="module")
def over_http(env, tmp_path_factory):
    """Yield the URL of the tools over HTTP."""
    folder = tmp_path_factory.mktemp("http")
    read, write = os.pipe()
    with (folder / "log").open("wb") as log, os.fdopen(write, "wb") as said:
        process = run(folder, "mcp", "--http", "0", "--json", env=env, stdout=said, stderr=log)
    try:
        with os.fdopen(read) as saying:
            line = saying.readline()
            assert line, (folder / "log").read_text()
            yield json.loads(line)["url"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(patient(30)) == 0
    finally:
        release(process)


async def test_over_http_a_caller_acts_with_the_credential_that_it_shows(env, over_http, tmp_path):
    made = command(tmp_path, "keys", "create", "--label", "agent", "--role", "reader", "--json", env=env)
    key = json.loads(made.stdout)["api_key"]
    for headers, refused in (({"Authorization": f"Bearer {key}"}, ""), ({}, "CREDENTIAL_MISSING")):
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(over_http, http_client=http)) as client,
        ):
            result = await client.call_tool("search", {"query": QUESTION})
            assert result.is_error == bool(refused)
            assert (refused or FEE) in str(result.content)


async def test_pages_of_other_sites_are_refused(over_http):
    async with httpx.AsyncClient() as client:
        answers = [
            await client.post(over_http, json={}, headers={"Accept": "application/json", **headers})
            for headers in ({"Origin": "https://example.org"}, {"Host": "example.org"})
        ]
    assert [answer.status_code for answer in answers] == [403, 421]
