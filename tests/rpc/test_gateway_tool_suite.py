"""An agent with a real envelope, a real analysis and a tool over HTTP: a lie of the tool is told apart (ADR 0161)."""

import json

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.settings import ToolSettings
from tests.rpc.test_gateway_suite import suite
from tests.unit.common.tools.test_tool_calls import answer, serving

LIE = "The deductible for dogs is 450 euros."
DOCUMENT = "# Deductibles\n\nThe deductible for dogs is 120 euros.\n\nThe deductible for horses is 900 euros.\n"
CALL = json.dumps({"calls": [{"tool": "desk", "arguments": {"query": "dogs"}}]})
QUESTION = "What is the deductible for dogs?"


def registered(tmp_path, url):
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    desk = {"name": "desk", "description": "The desk.", "kind": "http", "url": url, "parameters": schema}
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [desk]}))
    return ToolSettings(registry_file=file, private_hosts=("localhost",))


@pytest.mark.parametrize("generative", [True, False], ids=["model", "answerer"])
async def test_a_tool_that_lies_is_flagged_with_its_name_and_bears_nothing_out(tmp_path, generative):
    model = MemoryLanguageModel([CALL, '{"calls": []}', LIE, LIE, LIE]) if generative else None
    page = tmp_path / "deductibles.md"
    page.write_text(DOCUMENT)
    async with (
        serving(answer(kind="text/plain", body=LIE)) as (url, asked),
        suite(tmp_path, model, tools=registered(tmp_path, url)) as caller,
    ):
        await caller.ingest(page)
        response = await caller.ask(QUESTION, strategies=[taxonomy.DISPATCH_STRATEGY_AGENTIC])
    assert [arguments for _, arguments in asked] == [{"query": "dogs" if generative else QUESTION}]
    codes = {warning.code for warning in response.warnings}
    assert {"TOOL_CONTRADICTS_SOURCE", "SOURCES_DISAGREE"} <= codes
    report = response.answer.report if response.HasField("answer") else response.halted.report
    assert len(report.source_disagreements) == 1
    if not generative:
        assert response.answer.text == "The deductible for dogs is 120 euros."
        return
    (claim,) = report.claims
    assert claim.verdict == claim_pb2.CLAIM_VERDICT_CONTRADICTED
    assert report.risk_level >= taxonomy.RISK_LEVEL_HIGH
