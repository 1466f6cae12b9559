"""A registered AI system on its whole way: register, dispatch, classified report, audit trail (SPEC-005 §14, §17, §20).

The suite is the real one in one process, over memory stores; nothing but generated stubs speaks to it.
"""

import json

import grpc
import pytest
from crp.common.v1 import regulation_pb2 as regulation
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import admin_pb2, admin_service_pb2, admin_service_pb2_grpc

from services.cli.commands import ask as ask_command
from services.cli.commands import audit, systems
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import ConflictError
from services.common.settings import ClientSettings, Settings, StoreSettings
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.gateway_world import headers_of
from tests.patience import patient
from tests.rpc.test_gateway_suite import HANDBOOK, PAGES, suite

QUERY = "Within how many days must a motor accident be reported?"


async def register(caller, **described):
    stub = admin_service_pb2_grpc.AdminServiceStub(caller.channel)
    system = admin_pb2.AiSystem(**({"ai_system_id": "bot", "name": "Bot"} | described))
    request = admin_service_pb2.RegisterAiSystemRequest(request_id=fresh_uuid(), ai_system=system)
    return (await stub.RegisterAiSystem(request, metadata=caller.metadata, timeout=patient(10))).ai_system


async def ask(caller, **fields):
    await caller.ingest(HANDBOOK / PAGES[0])
    return await caller.ask(QUERY, **fields)


async def classified_events(caller, session_id):
    request = dag.ListAuditEventsRequest(session_id=session_id, page_size=100)
    events = (await caller.sessions.ListAuditEvents(request, metadata=caller.metadata, timeout=patient(10))).events
    kind = dag_pb2.AUDIT_EVENT_TYPE_EU_AI_ACT_CLASSIFIED
    return [json.loads(event.data) for event in events if event.event_type == kind]


async def test_a_report_says_class_row_tier_and_controls_of_the_registered_system(tmp_path):
    async with suite(tmp_path) as caller:
        await register(
            caller,
            domain=admin_pb2.AI_SYSTEM_DOMAIN_EMPLOYMENT,
            sector="insurance",
            intended_purpose="Answers questions of the claims desk.",
            iso_42001_evidence={"A.2.2": "handbook, chapter 1"},
            role=regulation.AI_ACT_ROLE_DEPLOYER,
        )
        response = await ask(caller, ai_system_id="bot")
        answer, headers = response.answer, headers_of(response)
        (event,) = await classified_events(caller, answer.session_id)
        verified = await caller.verify(answer.session_id)
    report = answer.report
    assert report.eu_ai_act_class == report_pb2.EU_AI_ACT_CLASS_HIGH
    assert [(row.row, row.decisive) for row in report.regulatory.rows] == [("DOMAIN_EMPLOYMENT", True)]
    assert (report.ai_system.version, report.ai_system.regulated_sector) == (1, regulation.REGULATED_SECTOR_FINANCIAL)
    assert list(report.amplifiers_applied)[-2:] == ["eu_high_risk", "sector"]
    assert report.nist_tier >= report_pb2.NIST_TIER_3
    met = {control.control_id: list(control.evidence) for control in report.regulatory.controls if control.met}
    assert list(met) == list(report.iso_42001_controls)
    assert met["A.2.2"] == ["registered: handbook, chapter 1"]
    assert met["A.6.2.8"] == [f"audit trail {headers['CRP-Compliance-Audit-Trail-Id']}"]
    assert all(source.startswith("source ") for source in met["A.7.5"])
    assert "A.6.2.6" not in met  # stage 4 has no model here
    assert (report.controls_met, report.controls_total) == (len(met), 38)
    assert headers["CRP-Compliance-EU-AI-Act"] == "HIGH"
    assert headers["CRP-Compliance-NIST-Tier"] == f"TIER-{report.nist_tier}"
    assert headers["CRP-Compliance-ISO-42001"] == ", ".join(met)
    assert headers["CRP-Compliance-Controls-Met"] == f"{len(met)}/38"
    assert (event["ai_system_id"], event["ai_system_version"], event["eu_ai_act_class"]) == ("bot", 1, "HIGH")
    assert (event["rows"], event["report_id"]) == (["DOMAIN_EMPLOYMENT"], report.report_id)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_without_a_system_the_class_is_unknown_and_nothing_else_is_said(tmp_path):
    async with suite(tmp_path) as caller:
        response = await ask(caller)
        events = await classified_events(caller, response.answer.session_id)
    report, headers = response.answer.report, headers_of(response)
    assert report.eu_ai_act_class == report_pb2.EU_AI_ACT_CLASS_UNKNOWN
    assert not report.HasField("ai_system")
    assert not report.HasField("controls_total")
    assert headers["CRP-Compliance-EU-AI-Act"] == "UNKNOWN"
    silent = ("NIST-Tier", "ISO-42001", "Controls-Met")
    assert [name for name in silent if f"CRP-Compliance-{name}" in headers] == []
    assert events == []


async def test_a_prohibited_system_is_withheld_whatever_the_policy_and_the_trail_says_why(tmp_path):
    async with suite(tmp_path) as caller:
        await register(
            caller,
            domain=admin_pb2.AI_SYSTEM_DOMAIN_CREATIVE,
            prohibited_practices=[regulation.PROHIBITED_PRACTICE_SOCIAL_SCORING],
        )
        response = await ask(caller, ai_system_id="bot", safety_mode="SAFETY_MODE_PERMISSIVE")
        halted = response.halted
        (event,) = await classified_events(caller, halted.session_id)
    assert halted.halt_reason == "UNACCEPTABLE_EU_AI_ACT"
    assert headers_of(response)["CRP-Compliance-EU-AI-Act"] == "UNACCEPTABLE"
    assert event["rows"] == ["PROHIBITED_PRACTICE_SOCIAL_SCORING"]


async def test_personal_data_makes_general_information_that_decides_high(tmp_path):
    decides = {"domain": admin_pb2.AI_SYSTEM_DOMAIN_GENERAL_INFORMATION, "makes_decisions": True, "sector": "bank"}
    async with suite(tmp_path) as caller:
        await register(caller, **decides)
        plain = (await ask(caller, ai_system_id="bot")).answer.report
        asked = "Within how many days must jane.roe@example.org report a motor accident?"
        personal = (await caller.ask(asked, ai_system_id="bot")).answer.report
    assert plain.eu_ai_act_class == report_pb2.EU_AI_ACT_CLASS_LIMITED
    assert list(plain.amplifiers_applied) == ["sector"]
    assert personal.eu_ai_act_class == report_pb2.EU_AI_ACT_CLASS_HIGH
    assert list(personal.amplifiers_applied) == ["gdpr_pii", "eu_high_risk", "sector"]
    assert [(row.row, row.decisive) for row in personal.regulatory.rows] == [
        ("DOMAIN_GENERAL_INFORMATION", False),
        ("GENERAL_INFORMATION_PII_IN_DECISIONS", True),
    ]


async def test_a_report_names_the_version_that_stood_when_it_was_made(tmp_path):
    async with suite(tmp_path) as caller:
        await register(caller, domain=admin_pb2.AI_SYSTEM_DOMAIN_CREATIVE)
        first = (await ask(caller, ai_system_id="bot")).answer.report
        await register(caller, domain=admin_pb2.AI_SYSTEM_DOMAIN_CREATIVE, interacts_with_people=True)
        second = (await caller.ask(QUERY, ai_system_id="bot")).answer.report
        stub = admin_service_pb2_grpc.AdminServiceStub(caller.channel)
        request = admin_service_pb2.ListAiSystemsRequest(versions_of="bot")
        kept = (await stub.ListAiSystems(request, metadata=caller.metadata, timeout=patient(10))).ai_systems
    assert [(report.ai_system.version, report.eu_ai_act_class) for report in (first, second)] == [
        (1, report_pb2.EU_AI_ACT_CLASS_MINIMAL),
        (2, report_pb2.EU_AI_ACT_CLASS_LIMITED),
    ]
    assert [(system.version, system.interacts_with_people) for system in kept] == [(1, False), (2, True)]


async def test_a_system_that_nobody_registered_is_refused(tmp_path):
    async with suite(tmp_path) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.ask(QUERY, ai_system_id="bot")
    refusal = Refusal.of(caught.value)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "AI_SYSTEM_NOT_FOUND")


def printed(capsys):
    """Return the JSON document that a command printed between the log lines of the server beside it."""
    out = capsys.readouterr().out
    return json.JSONDecoder().raw_decode(out[out.index("{\n") :])[0]


async def test_the_command_line_registers_lists_and_asks(tmp_path, capsys):
    path = tmp_path / "system.json"
    described = {"ai_system_id": "bot", "name": "Bot", "domain": "EMPLOYMENT", "sector": "retail"}
    async with suite(tmp_path / "data") as caller:
        key = dict(caller.metadata)["authorization"].removeprefix("Bearer ")
        settings = Settings(
            client=ClientSettings(server=caller.system.address, api_key=key),
            store=StoreSettings(data_dir=tmp_path / "mine"),
        )
        people, output = Output(as_json=False), Output(as_json=True)
        for purpose in ("One.", "Two."):
            path.write_text(json.dumps(described | {"intended_purpose": purpose}), encoding="utf-8")
            assert await systems.register(settings, people, path, None) is Exit.OK
        said = capsys.readouterr().out
        with pytest.raises(ConflictError, match="version 2 of the AI system stands"):
            await systems.register(settings, output, path, 1)
        assert await systems.list_systems(settings, output, "bot") is Exit.OK
        versions = printed(capsys)["ai_systems"]
        await caller.ingest(HANDBOOK / PAGES[0])
        assert await ask_command.ask(settings, output, ask_command.Asked(QUERY, ai_system_id="bot")) is Exit.OK
        report = printed(capsys)["answer"]["report"]
        assert await audit.show(settings, people, report["report_id"]) is Exit.OK
    assert "bot, version 2" in said
    assert 'sector "retail" counts as neither financial nor medical' in said.replace("\n", " ")
    assert [(system["version"], system["intended_purpose"]) for system in versions] == [("1", "One."), ("2", "Two.")]
    assert (report["eu_ai_act_class"], report["ai_system"]["version"]) == ("EU_AI_ACT_CLASS_HIGH", "2")
    shown = capsys.readouterr().out
    assert "DOMAIN_EMPLOYMENT" in shown
    assert "A.6.2.8" in shown
