"""The envelope as a caller of the gateway sees it: conditional dispatch, gating, headers, no-store (SPEC-003 §8.4-§16).

The suite is the real one in one process, over memory stores; nothing but generated stubs speaks to it.
"""

import itertools
import json
import re

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.envelope.v1 import envelope_service_pb2, envelope_service_pb2_grpc
from crp.gateway.v1 import dispatch_pb2

from services.cli.commands import preview as preview_command
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.settings import ClientSettings, GatewaySettings, Settings
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import GroundingMode
from services.envelope.domain.grounding import GROUNDING_INSTRUCTIONS
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Script, headers_of
from tests.patience import patient
from tests.rpc.test_gateway_suite import HANDBOOK, PAGES, MemoryAdapters, suite
from tests.tenth import tenth

QUERY = "Within how many days must a motor accident be reported?"
UPGRADE = "upgrade-on-risk reflexive"
OFF = dispatch_pb2.REMEDIATION_MODE_OFF
DIRECTIVES = ("no-cache", "reuse-ckf", "only-if-ckf", "no-store")
AGES = (None, "max-age=0", "max-age=3600")
UNKNOWN = "sha256:" + "0" * 64


async def refusal(call):
    return (await failure(call))[0]


async def failure(call):
    """Return the refusal, and the header of the best tier that came with it."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    tier = dict(caught.value.trailing_metadata()).get("crp-context-quality-tier")
    return Refusal.of(caught.value), tier


async def ingest_text(caller, text):
    stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(caller.channel)
    request = knowledge_service_pb2.IngestSourceRequest(
        request_id=fresh_uuid(), uri="text.txt", source_type=ckf_pb2.SOURCE_TYPE_INTERNAL, content=text.encode()
    )
    await stub.IngestSource(request, metadata=caller.metadata, timeout=patient(10))


async def preview(caller, **fields):
    stub = envelope_service_pb2_grpc.EnvelopeServiceStub(caller.channel)
    request = envelope_service_pb2.PreviewEnvelopeRequest(**fields)
    return await stub.PreviewEnvelope(request, metadata=caller.metadata, timeout=patient(10))


async def state_hash(caller):
    stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(caller.channel)
    request = knowledge_service_pb2.GetStateRequest()
    return (await stub.GetState(request, metadata=caller.metadata, timeout=patient(10))).SerializeToString(
        deterministic=True
    )


def directive_lists():
    for count in range(len(DIRECTIVES) + 1):
        for chosen in itertools.combinations(DIRECTIVES, count):
            for age in AGES:
                yield [*chosen, *([age] if age else [])]


def expected(presented, directives):
    """§11.4 and CRP-SPEC-002's max-age, as a table of conditions; the knowledge never changes meanwhile."""
    if presented is None:
        return "MISS; reason=not-conditional"
    if "no-cache" in directives:
        return "MISS; reason=no-cache"
    if presented == UNKNOWN:
        return "MISS; reason=unknown-etag"
    return "MISS; reason=expired" if "max-age=0" in directives else "HIT"


@pytest.mark.tenth
async def test_every_combination_of_if_match_and_cache_directives(tmp_path):
    wrong = []
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        # As many tokens as there is knowledge: no PARTIAL hides the reason of a miss.
        whole = (await preview(caller, query=QUERY, model="gpt-4o-mini")).preview.estimated_tokens
        etag = (await caller.ask(QUERY, max_envelope_tokens=whole)).answer.envelope.etag
        before = await state_hash(caller)
        cases = itertools.product((None, UNKNOWN, etag, "*"), directive_lists())
        for presented, directives in tenth(
            "If-Match with cache directives",
            cases,
            name=lambda case: repr((case[0] == etag or case[0], case[1])),
            share=30,
        ):
            fields = {"if_match": presented or "", "cache_directives": directives, "max_envelope_tokens": whole}
            response = await caller.ask(QUERY, **fields)
            status = headers_of(response)["CRP-Context-Cache-Status"]
            outcome = "not_modified" if status == "HIT" else "answer"
            given = (expected(presented, directives), headers_of(response)["CRP-Context-ETag"])
            if (status, etag) != given or response.WhichOneof("outcome") != outcome:
                wrong.append((presented, directives, status, response.WhichOneof("outcome")))
        assert await state_hash(caller) == before  # reuse-ckf, no-store and the rest: nothing was ingested
    assert wrong == []


async def test_only_if_ckf_refuses_what_no_fact_is_relevant_to_whatever_else_is_asked(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        for directives in directive_lists():
            if "only-if-ckf" in directives:
                for presented in ("", UNKNOWN, "*"):
                    call = caller.ask("zebra quantum yoghurt", cache_directives=directives, if_match=presented)
                    found = await refusal(call)
                    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_RELEVANT_FACTS")


async def test_a_thin_envelope_is_partial_whatever_is_presented(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        for presented in ("", UNKNOWN):
            headers = headers_of(await caller.ask(QUERY, if_match=presented))
            assert headers["CRP-Context-Cache-Status"] == "PARTIAL; reason=limited-ckf-coverage"


async def test_knowledge_that_came_in_is_named_as_the_reason_of_a_miss(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        first = await caller.ask(QUERY, max_envelope_tokens=100)
        await caller.ingest(HANDBOOK / PAGES[1])
        second = await caller.ask(QUERY, max_envelope_tokens=100, if_match=first.answer.envelope.etag)
    assert headers_of(second)["CRP-Context-Cache-Status"] == "MISS; reason=facts-updated"


async def test_nothing_of_a_no_store_call_is_remembered(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        before = await state_hash(caller)
        first = await caller.ask(QUERY, cache_directives=["no-store"])
        again = await caller.ask(QUERY, if_match=first.answer.envelope.etag)
        assert await state_hash(caller) == before
        assert again.WhichOneof("outcome") == "answer"
        for answer, kept in ((first.answer, False), (again.answer, True)):
            assert bool(await analyses(caller, answer.session_id)) is kept


async def analyses(caller, session_id):
    """What a replay of the session's analyses would start from."""
    request = dag.ExportAuditRequest(session_id=session_id, with_content=True)
    lines = [json.loads(each.line) async for each in caller.sessions.ExportAudit(request, metadata=caller.metadata)]
    windows = [line for line in lines if line.get("record") == "analysis"]
    assert len(windows) == 1
    return [line for line in windows if line["inputs"]]


async def test_personal_data_forces_no_store_upon_what_is_kept_of_the_call(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask(f"{QUERY} Answer to jane.doe@example.com.")
        assert response.answer.report.gdpr_pii_detected
        assert await analyses(caller, response.answer.session_id) == []
    assert "PII_WITHOUT_NO_STORE" in [warning.code for warning in response.warnings]


async def test_every_field_of_a_preview_is_the_value_of_its_header(tmp_path):
    # Without the warm tier, which the second of the two would be answered from.
    async with suite(tmp_path, envelope=EnvelopeSettings(warm_facts=0)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        answered = await caller.ask(QUERY, max_envelope_tokens=200)
        # The prompt around the facts is counted by the gateway; under a ceiling both budgets are the ceiling.
        found = (await preview(caller, query=QUERY, model="gpt-4o-mini", max_envelope_tokens=200)).preview
    headers = headers_of(answered)
    assert headers["CRP-Context-Facts-Used"] == f"{found.facts_included}/{found.facts_available}"
    assert headers["CRP-Context-Tokens-Used"] == str(found.estimated_tokens)
    assert float(headers["CRP-Context-Saturation"]) == pytest.approx(found.saturation, abs=5e-4)
    assert headers["CRP-Context-ETag"] == found.etag
    assert headers["CRP-Memory-Tier-Hit"] == str(found.memory_tier_hit)
    slug = re.sub(r"[^a-z0-9]+", "-", found.communities[0].lower()).strip("-") if found.communities else None
    assert headers.get("CRP-Memory-CKF-Community") == slug
    envelope_tier = answered.answer.envelope.quality_tier
    assert envelope_tier == found.quality_tier


async def test_every_header_of_the_envelope_is_there_and_well_formed(tmp_path):
    async with suite(tmp_path) as caller:
        for page in PAGES:
            await caller.ingest(HANDBOOK / page)
        await rebuild(caller)
        headers = headers_of(await caller.ask(QUERY, max_envelope_tokens=200))
    forms = {
        "CRP-Context-Quality-Tier": "[SABCD]",
        "CRP-Context-Saturation": r"[01]\.\d{1,3}",
        "CRP-Context-Facts-Used": r"\d+/\d+",
        "CRP-Context-Tokens-Used": r"\d+",
        "CRP-Context-ETag": "sha256:[0-9a-f]{64}",
        "CRP-Context-Cache-Status": "(?:HIT|MISS|PARTIAL)(?:; reason=[a-z-]+)?",
        "CRP-Context-Strategy": "push",
        "CRP-Context-Window": r"1/\d+",
        "CRP-Context-Continuation-Id": "crp_cont_[A-Za-z0-9]{16,32}",
        "CRP-Memory-Tier-Hit": "[0-3]",
        "CRP-Memory-CKF-Hits": r"\d+",
        "CRP-Memory-CKF-Community": "[a-z0-9-]{1,48}",
        "CRP-Memory-Knowledge-Age": r"P(?=.)(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?",
    }
    assert {name: bool(re.fullmatch(form, headers.get(name, ""))) for name, form in forms.items()} == dict.fromkeys(
        forms, True
    )


async def rebuild(caller):
    stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(caller.channel)
    request = knowledge_service_pb2.RebuildCommunitiesRequest(request_id=fresh_uuid())
    await stub.RebuildCommunities(request, metadata=caller.metadata, timeout=patient(20))


async def test_a_deployment_can_keep_the_domain_of_a_query_to_itself(tmp_path):
    async with suite(tmp_path, gateway=GatewaySettings(community_header=False)) as caller:
        for page in PAGES:
            await caller.ingest(HANDBOOK / page)
        await rebuild(caller)
        response = await caller.ask(QUERY)
    assert response.answer.envelope.communities
    assert "CRP-Memory-CKF-Community" not in headers_of(response)


async def test_salted_etags_tell_two_sessions_nothing_of_each_other(tmp_path):
    async with suite(tmp_path, envelope=EnvelopeSettings(etag_salt=True)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        plain = (await preview(caller, query=QUERY, model="gpt-4o-mini")).preview.etag
        first, second = await caller.ask(QUERY), await caller.ask(QUERY)
        presented = [await caller.ask(QUERY, if_match=tag) for tag in (first.answer.envelope.etag, plain, "*")]
    etags = {first.answer.envelope.etag, second.answer.envelope.etag, plain}
    assert len(etags) == 3
    assert first.answer.envelope.fact_ids == second.answer.envelope.fact_ids
    assert {response.WhichOneof("outcome") for response in presented} == {"answer"}


NARROW = EnvelopeSettings(retrieval_k=1, retrieval_k_pull=50, expansion_communities=0)


async def gated(caller, accept, policy=UPGRADE, ceiling=None, **fields):
    tiers = [taxonomy.QualityTier.Value(f"QUALITY_TIER_{tier}") for tier in accept]
    return await caller.ask(QUERY, accept_quality=tiers, safety_policy=policy, max_envelope_tokens=ceiling, **fields)


async def all_tokens(caller):
    strategy = taxonomy.DISPATCH_STRATEGY_PULL
    return (await preview(caller, query=QUERY, model="gpt-4o-mini", strategy=strategy)).preview.estimated_tokens


async def test_an_upgrade_reaches_the_tier_is_said_and_is_in_the_audit_trail(tmp_path):
    async with suite(tmp_path, envelope=NARROW) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        ceiling = await all_tokens(caller)
        plain = await caller.ask(QUERY, max_envelope_tokens=ceiling)
        response = await gated(caller, "SAB", ceiling=ceiling)
        request = dag.ListAuditEventsRequest(session_id=response.answer.session_id, page_size=100)
        events = (await caller.sessions.ListAuditEvents(request, metadata=caller.metadata, timeout=patient(10))).events
        verified = await caller.verify(response.answer.session_id)
    assert plain.answer.envelope.quality_tier > taxonomy.QUALITY_TIER_B
    assert response.answer.envelope.quality_tier <= taxonomy.QUALITY_TIER_B
    assert len(response.answer.envelope.fact_ids) > len(plain.answer.envelope.fact_ids)
    assert headers_of(response)["CRP-Context-Strategy"] == "pull"
    told = [(each.kind, each.reason, each.kept) for each in response.remediations]
    assert told == [(dispatch_pb2.REMEDIATION_KIND_STRATEGY_UPGRADE, "QUALITY_TIER_NOT_ACCEPTED", True)]
    (upgrade,) = [e for e in events if e.event_type == dag_pb2.AUDIT_EVENT_TYPE_STRATEGY_UPGRADE]
    data = json.loads(upgrade.data)
    assert (data["from_strategy"], data["to_strategy"], data["kept"]) == ("push", "pull", True)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


@pytest.mark.parametrize("policy", ["", UPGRADE], ids=["no directive", "upgrade-on-risk"])
async def test_a_tier_out_of_reach_is_refused_with_the_gap_as_json(tmp_path, policy):
    async with suite(tmp_path, envelope=NARROW) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        found, tier = await failure(gated(caller, "SA", policy))
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "QUALITY_UNREACHABLE")
    assert found.metadata["retryable"] == "false"
    gap = json.loads(found.metadata["quality_gap"])
    assert (gap["best_tier"], gap["required_tier"]) == (found.metadata["best_tier"], "A")
    assert gap["capping_rules"] == ["SATURATION_LOW"]
    signals = {each["signal"]: each for each in gap["signals"]}
    assert signals["SATURATION"]["required"] == 0.95
    assert signals["QUALITY_SCORE"]["required"] == 0.85
    for each in gap["signals"]:
        assert each["shortfall"] == pytest.approx(each["required"] - each["value"], abs=2e-6)
        assert each["shortfall"] > 0
    assert found.metadata["attempted_strategy"] == ("pull" if policy else "")
    assert tier == gap["best_tier"]


async def test_an_upgrade_that_fails_stands_in_the_audit_trail():
    world = GatewayWorld(script=Script(tier="B", recommended="PULL"))
    async with world.serving() as client:
        refused = await client.fails(accept_quality=[taxonomy.QUALITY_TIER_A], safety_policy=UPGRADE)
    assert (refused.reason, refused.metadata["best_tier"]) == ("QUALITY_UNREACHABLE", "B")
    asked = [request.strategy for request in world.script.asked["BuildEnvelope"]]
    assert asked == [taxonomy.DISPATCH_STRATEGY_PUSH, taxonomy.DISPATCH_STRATEGY_PULL]
    (failed,) = world.events_of("DISPATCH_FAILED")
    assert failed["node"]["failure_reason"] == "QUALITY_UNREACHABLE: B with pull"
    assert world.statuses() == ["FAILED"]
    assert "Analyze" not in world.script.asked


async def test_only_one_upgrade_is_tried_and_only_one_that_is_served():
    world = GatewayWorld(script=Script(tier="B", recommended="HIERARCHICAL"))
    async with world.serving() as client:
        refused = await client.fails(accept_quality=[taxonomy.QUALITY_TIER_A], safety_policy=UPGRADE)
    assert refused.metadata["recommended_strategy"] == "hierarchical"
    assert refused.metadata["attempted_strategy"] == ""
    assert len(world.script.asked["BuildEnvelope"]) == 1


async def test_without_the_directive_no_upgrade_is_tried_though_it_would_help(tmp_path):
    async with suite(tmp_path, envelope=NARROW) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        found = await refusal(gated(caller, "SAB", policy="", ceiling=await all_tokens(caller)))
    assert (found.reason, found.metadata["attempted_strategy"]) == ("QUALITY_UNREACHABLE", "")


async def test_a_retry_of_an_upgraded_call_gives_the_same_bytes(tmp_path):
    request_id = fresh_uuid()
    async with suite(tmp_path, envelope=NARROW) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        ceiling = await all_tokens(caller)
        first, second = [await gated(caller, "SAB", ceiling=ceiling, request_id=request_id) for _ in range(2)]
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


async def test_logs_name_calls_and_hold_no_word_of_facts_queries_or_answers(tmp_path, capsys):
    secret = "Zyrthax covers quartz damage within 11 days."
    async with suite(tmp_path) as caller:
        await ingest_text(caller, secret)
        response = await caller.ask("Within how many days does Zyrthax cover damage?")
        await refusal(caller.ask("Why Zyrthax?", accept_quality=[taxonomy.QUALITY_TIER_S]))
        await refusal(caller.ask("Zyrthax?", cache_directives=["only-if-ckf"], model="no-such-model"))
    assert "11 days" in response.answer.text
    captured = capsys.readouterr()
    logged = captured.out + captured.err
    assert "BuildEnvelope" in logged
    assert not re.search("zyrthax|quartz", logged, re.IGNORECASE)
    values = " ".join(header.value for header in response.headers)
    assert not re.search("quartz|11 days", values, re.IGNORECASE)  # SPEC-005 §10.4 has slugs of the query, no fact


async def test_a_retry_of_a_conditional_call_meets_its_first_answer(tmp_path):
    request_id = fresh_uuid()
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        first, again = [await caller.ask(QUERY, if_match="*", request_id=request_id) for _ in range(2)]
        other = await caller.ask(QUERY, if_match="*")
    assert first.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert (first.WhichOneof("outcome"), other.WhichOneof("outcome")) == ("answer", "not_modified")


async def test_a_comparison_alone_builds_nothing(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        stub = envelope_service_pb2_grpc.EnvelopeServiceStub(caller.channel)
        request = envelope_service_pb2.BuildEnvelopeRequest(
            query=QUERY, model="gpt-4o-mini", if_match_etag="*", compare_only=True
        )
        missed = await stub.BuildEnvelope(request, metadata=caller.metadata, timeout=patient(10))
        again = await stub.BuildEnvelope(request, metadata=caller.metadata, timeout=patient(10))
        request.compare_only = False
        built = await stub.BuildEnvelope(request, metadata=caller.metadata, timeout=patient(10))
        request.compare_only = True
        stands = await stub.BuildEnvelope(request, metadata=caller.metadata, timeout=patient(10))
    assert missed == again == envelope_service_pb2.BuildEnvelopeResponse(cache_status="MISS; reason=unknown-etag")
    assert (stands.not_modified, stands.envelope.etag) == (True, built.envelope.etag)


async def test_a_full_envelope_advises_to_reuse_the_knowledge_and_offers_a_window_for_the_rest(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        whole = (await preview(caller, query=QUERY, model="gpt-4o-mini")).preview.estimated_tokens
        full = await caller.ask(QUERY, max_envelope_tokens=whole)
        thin = await caller.ask(QUERY)
        sizes = (await preview(caller, query=QUERY, model="gpt-4o-mini", max_envelope_tokens=90)).preview
        pressed = await caller.ask(QUERY, max_envelope_tokens=sizes.estimated_tokens)
    codes = [[warning.code for warning in response.warnings] for response in (full, thin)]
    assert ["REUSE_CKF_RECOMMENDED" in each for each in codes] == [True, False]
    headers = headers_of(pressed)
    assert headers["CRP-Context-Saturation"] == "1.0"
    assert pressed.answer.envelope.facts_deferred > 0
    assert headers["CRP-Context-Continuation-Id"].startswith("crp_cont_")
    assert headers["CRP-Context-Window"] == "1/5"


def printed(text):
    """The JSON document that a command printed between the log lines of the server beside it."""
    return json.JSONDecoder().raw_decode(text[text.index("{\n") :])[0]


async def test_the_command_line_previews_and_lists_an_envelope(tmp_path, capsys):
    async with suite(tmp_path / "data") as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        key = dict(caller.metadata)["authorization"].removeprefix("Bearer ")
        settings = Settings(client=ClientSettings(server=caller.system.address, api_key=key))
        people, script = Output(as_json=False), Output(as_json=True)
        wanted = preview_command.Wanted(QUERY, "", 90, "context-strict")
        assert await preview_command.preview(settings, people, wanted) is Exit.OK
        previewed = capsys.readouterr().out
        assert await preview_command.envelope(settings, people, wanted) is Exit.OK
        listed = capsys.readouterr().out
        assert await preview_command.preview(settings, script, wanted) is Exit.OK
        strange = preview_command.Wanted(QUERY, "acme-7b", 0, "context-strict")
        assert await preview_command.envelope(settings, people, strange) is Exit.OK
        document = printed(capsys.readouterr().out)
        assert await preview_command.envelope(settings, script, wanted) is Exit.OK
        built = printed(capsys.readouterr().out)
    assert "CRP-Context-Saturation" in previewed
    assert "█" in previewed
    assert "Facts, in prompt order" in listed
    assert "deferred:" in listed
    assert document["preview"]["etag"] == built["envelope"]["etag"]
    assert document["preview"]["facts_included"] == len(built["envelope"]["facts"])
    assert built["envelope"]["grounding_mode"] == "GROUNDING_MODE_CONTEXT_STRICT"


@pytest.mark.parametrize(("saturation", "cells"), [(0.0, 0), (0.024, 0), (0.025, 1), (0.5, 20), (0.999, 39), (1.0, 40)])
def test_a_saturation_bar_is_full_only_when_nothing_is_left(saturation, cells):
    filled, empty = preview_command.saturation_bar(saturation)
    assert (len(filled), len(filled + empty)) == (cells, 40)


MODES = {
    "context-strict": taxonomy.GROUNDING_MODE_CONTEXT_STRICT,
    "context-preferred": taxonomy.GROUNDING_MODE_CONTEXT_PREFERRED,
    "open": taxonomy.GROUNDING_MODE_OPEN,
}


FACT = "A motor accident must be reported within 7 days."


@pytest.mark.parametrize(
    ("mode", "grounding_pct", "findings"),
    [("context-strict", 0.5, 1), ("context-preferred", 0.5, 0), ("open", 1.0, 0)],
)
async def test_the_grounding_mode_reaches_prompt_envelope_and_analysis(
    tmp_path, monkeypatch, mode, grounding_pct, findings
):
    model = MemoryLanguageModel([f"{FACT} The sea is salty."])

    async def language_model(_):
        return model

    monkeypatch.setattr(MemoryAdapters, "language_model", language_model)
    async with suite(tmp_path) as caller:
        await ingest_text(caller, FACT)
        answer = (await caller.ask(QUERY, grounding_mode=MODES[mode], remediation=OFF)).answer
    system = model.requests[0].messages[0].content
    instruction = GROUNDING_INSTRUCTIONS[GroundingMode(mode)]
    assert [text for text in GROUNDING_INSTRUCTIONS.values() if text and text in system] == [instruction][
        : mode != "open"
    ]
    assert answer.report.grounding_mode == MODES[mode]
    assert (answer.report.grounding_pct, len(answer.report.grounding_violations)) == (grounding_pct, findings)


async def test_strict_grounding_over_thin_knowledge_warns_and_caps_the_tier(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask(QUERY, grounding_mode=MODES["context-strict"])
    assert response.answer.envelope.quality_tier >= taxonomy.QUALITY_TIER_C
    assert any("answers may be incomplete" in warning.message for warning in response.warnings)


async def test_the_next_window_has_what_was_deferred_and_the_answer_as_a_fact(tmp_path):
    async with suite(tmp_path) as caller:
        for page in PAGES:
            await caller.ingest(HANDBOOK / page)
        first = (await caller.ask(QUERY, max_envelope_tokens=120)).answer
        request = dag.GetWindowRequest(session_id=first.session_id, window_id=first.window.window_id)
        node = (await caller.sessions.GetWindow(request, metadata=caller.metadata, timeout=patient(10))).window
        deferred = {each.fact_id for each in node.facts_deferred}
        second = (
            await caller.ask(
                "And what else must be reported?",
                session_token=first.session_token,
                continuation_ids=[first.continuation_id],
            )
        ).answer
        request = dag.GetWindowRequest(session_id=first.session_id, window_id=second.window.window_id)
        edges = (await caller.sessions.GetWindow(request, metadata=caller.metadata, timeout=patient(10))).parent_edges
    held = set(second.envelope.fact_ids)
    handed_on = set(first.envelope.fact_ids) & held
    assert deferred
    assert deferred <= held
    # A fact that was shown comes again only where the parent's whole context was handed on (ADR 0022).
    assert not handed_on or edges[0].transfer_type == dag_pb2.TRANSFER_TYPE_FULL_CONTEXT
    assert len(second.envelope.fact_ids) == len(held)


async def test_a_model_without_a_known_tokenizer_is_asked_where_the_request_allows_a_stand_in(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        unknown = await refusal(caller.ask(QUERY, model="acme-7b"))
        windowless = await caller.ask(QUERY, model="acme-7b", approximate_tokens=True)
        response = await caller.ask(QUERY, model="acme-7b", approximate_tokens=True, context_window_tokens=6000)
        family = await caller.ask(QUERY, model="claude-sonnet-4-20250514", approximate_tokens=True)
        known = await caller.ask(QUERY, approximate_tokens=True)
    assert unknown.reason == "UNKNOWN_MODEL"
    assert 6000 - 2048 - 512 < windowless.answer.envelope.token_budget < 8192 - 2048 - 512
    assert "within 7 days" in response.answer.text
    assert 0 < response.answer.envelope.token_budget < 6000 - 2048 - 512
    assert family.answer.envelope.token_budget > 190_000
    told = [[warning.code for warning in each.warnings] for each in (response, family, known)]
    assert ["TOKENS_APPROXIMATE" in codes for codes in told] == [True, True, False]


@pytest.mark.parametrize("window", [0, 100_000_001])
async def test_a_window_out_of_range_is_named(window):
    world = GatewayWorld()
    async with world.serving() as client:
        refused = await client.fails(context_window_tokens=window)
    assert (refused.reason, refused.fields) == ("INVALID_FIELD", ("context_window_tokens",))
