"""Dispatch over gRPC between a real dag service and scripted envelope and dpe services."""

import asyncio

import grpc
import pytest
from crp.common.v1 import regulation_pb2 as regulation
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import regulatory_pb2
from crp.gateway.v1 import dispatch_pb2

from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.credentials import AiSystemRecord, TenantPolicyRecord
from services.common.settings import GatewaySettings
from tests.each import each
from tests.fakes.dag_world import NOW, fresh_uuid
from tests.fakes.gateway_world import ANSWER, ETAG, Fault, GatewayWorld, Hold, Script, WordCounter, headers_of
from tests.patience import patient

STAGE = {"stages": [{"number": 1, "status": taxonomy.STAGE_STATUS_COMPLETED}]}


async def test_a_first_window_is_answered_and_chained():
    world = GatewayWorld(script=Script(report=STAGE))
    async with world.serving() as client:
        call = client.start()
        response = await call
        initial = dict(await call.initial_metadata())
        trailing = dict(await call.trailing_metadata())
    answer = response.answer
    found = headers_of(response)
    assert answer.text == ANSWER
    assert answer.strategy == taxonomy.DISPATCH_STRATEGY_PUSH
    assert answer.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    assert f"sha256:{answer.report.hmac}" == f"sha256:{answer.window.hmac}" == found["CRP-Provenance-HMAC"]
    assert answer.envelope.fact_ids == ["f-A motor acci", "f-A theft must"]
    assert found["CRP-Context-Window"] == "1/5"
    assert found["CRP-Context-Session-Id"] == answer.session_id
    assert found["CRP-Context-Facts-Used"] == "2/10"
    assert found["CRP-Context-Strategy"] == "push"
    assert found["CRP-Context-Continuation-Id"] == answer.continuation_id
    assert found["CRP-Provenance-Chain-Integrity"] == "UNVERIFIED"
    assert found["CRP-Provenance-Claim-Count"] == "2"
    assert found["CRP-Safety-Policy-Applied"] == "halt-on CRITICAL; warn-on HIGH; warn-on-contradiction"
    assert found["CRP-Set-Session"].startswith(f"token={answer.session_token}; Path=/")
    assert "CRP-Safety-Entailment-Score" not in found
    for name, value in found.items():
        assert initial[name.lower()] == trailing[name.lower()] == value
    assert world.statuses() == ["COMMITTED"]


async def test_two_windows_are_chained_and_verify():
    world = GatewayWorld(replies=(ANSWER, "A theft must be reported within 48 hours."))
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        response = await client.dispatch(
            "And a theft?", session_token=first.session_token, continuation_ids=[first.continuation_id]
        )
        verified = await client.verify(first.session_id)
    second = response.answer
    assert second.session_id == first.session_id
    assert second.window.parent_ids == [first.window.window_id]
    assert headers_of(response)["CRP-Context-Window"] == "2/5"
    assert headers_of(response)["CRP-Provenance-Chain-Integrity"] == "VALID"
    assert (
        headers_of(response)["CRP-Provenance-Window-Lineage"]
        == f"{first.window.window_id} -> {second.window.window_id}"
    )
    assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 2)


async def test_the_second_window_gets_what_the_first_left():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        await client.dispatch("And a theft?", session_token=first.session_token)
    build, analyze = world.script.asked["BuildEnvelope"][1], world.script.asked["Analyze"][1]
    assert build.facts_seen == ["f-A motor acci", "f-A theft must"]
    assert build.deferred_fact_ids == ["f-later"]
    assert [(fact.content, fact.source_window_id, fact.transfer_type) for fact in build.carried_facts] == [
        (ANSWER, first.window.window_id, "FULL_CONTEXT")
    ]
    assert [(prior.window_number, prior.text) for prior in analyze.prior_windows] == [(1, ANSWER)]
    request = world.model.requests[1]
    # A person may ask again for what was said; a follow-up is searched for with what it leans on (ADR 0096).
    asked = "How long do I have to report a motor accident?"
    assert (request.prior_texts, request.leans_on) == ((), (asked,))
    assert build.query == f"{asked.rstrip('?')}: a theft?"
    assert list(analyze.leans_on) == [asked]
    # The earlier answer is context, not evidence.
    assert [fact.content for fact in request.evidence] == []
    assert "(from the earlier answer)" in request.messages[0].content


async def test_nothing_but_prompt_and_query_reaches_the_model():
    world = GatewayWorld()
    async with world.serving() as client:
        await client.dispatch("The question?", system_prompt="Be brief.", temperature=0.1, max_tokens=77, seed=5)
    (request,) = world.model.requests
    assert [message.role.value for message in request.messages] == ["system", "user"]
    assert request.messages[0].content.startswith("Be brief.\n\nPrefer the provided context when answering.")
    assert request.messages[1].content == "The question?"
    assert (request.temperature, request.max_tokens, request.seed) == (0.1, 77, 5)
    assert "crp_" not in "".join(message.content for message in request.messages)


async def test_without_an_llm_the_facts_are_quoted():
    model = ExtractiveLanguageModel(WordCounter(), "words", ExtractLimits(5, 0.3))
    world = GatewayWorld(model=model)
    async with world.serving() as client:
        answer = (await client.dispatch()).answer
    assert answer.text == "A motor accident must be reported within 7 days."
    assert answer.model_fingerprint.startswith("groundtrail-extractive@2;sha256:")


FAILURES = [
    ("BuildEnvelope", UnavailableError(ErrorReason.STORE_UNAVAILABLE, "down")),
    ("Analyze", LimitExceededError(ErrorReason.QUEUE_FULL, "full", retry_after_s=1.0)),
    ("CommitWindow", UnavailableError(ErrorReason.STORE_UNAVAILABLE, "down")),
]


@pytest.mark.parametrize(("rpc", "error"), FAILURES, ids=[rpc for rpc, _ in FAILURES])
async def test_a_failure_at_any_step_leaves_no_pending_window_and_a_retry_works(rpc, error):
    world = GatewayWorld(script=Script(faults={rpc: Fault(error)}))
    request_id = fresh_uuid()
    async with world.serving() as client:
        refusal = await client.fails(request_id=request_id)
        assert refusal.reason == error.reason.value
        assert world.statuses() == ["FAILED"]
        (failed,) = world.windows()
        assert failed.failure_reason == error.reason.value
        answer = (await client.dispatch(request_id=request_id)).answer
        again = (await client.dispatch(request_id=request_id)).answer
    assert answer == again
    assert world.statuses() == ["COMMITTED", "FAILED"]


async def test_a_failing_model_leaves_no_pending_window():
    error = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "no answer", cause="timeout")
    world = GatewayWorld(replies=(error, ANSWER))
    request_id = fresh_uuid()
    async with world.serving() as client:
        assert (await client.fails(request_id=request_id)).reason == "LLM_UNAVAILABLE"
        assert world.statuses() == ["FAILED"]
        assert (await client.dispatch(request_id=request_id)).answer.text == ANSWER
    assert world.statuses() == ["COMMITTED", "FAILED"]


async def test_a_failure_to_open_leaves_nothing():
    error = UnavailableError(ErrorReason.STORE_UNAVAILABLE, "down")
    world = GatewayWorld(script=Script(faults={"OpenWindow": Fault(error)}))
    async with world.serving() as client:
        assert (await client.fails()).reason == "STORE_UNAVAILABLE"
    assert world.windows() == []


async def test_a_parent_can_be_continued_after_its_child_failed():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        world.script.faults["Analyze"] = Fault(UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "down"))
        assert (await client.fails("x", session_token=first.session_token)).reason == "MODEL_UNAVAILABLE"
        second = (await client.dispatch("x", session_token=first.session_token)).answer
    assert second.window.window_number == 2
    assert world.statuses() == ["COMMITTED", "COMMITTED", "FAILED"]


async def test_a_lost_answer_to_a_commit_is_found_again():
    error = UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the connection broke")
    world = GatewayWorld(script=Script(faults={"CommitWindow": Fault(error, after=True)}), replies=("One.", "Two."))
    request_id = fresh_uuid()
    async with world.serving() as client:
        assert (await client.fails(request_id=request_id)).reason == "SERVICE_UNAVAILABLE"
        answer = (await client.dispatch(request_id=request_id)).answer
    assert answer.text == "One."
    assert world.statuses() == ["COMMITTED"]
    assert len(world.model.requests) == 1


async def test_a_retry_gives_the_same_answer_byte_for_byte():
    world = GatewayWorld(replies=("One.", "Two."))
    request_id = fresh_uuid()
    async with world.serving() as client:
        first = await client.dispatch(request_id=request_id)
        again = await client.dispatch(request_id=request_id)
    assert first.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert world.statuses() == ["COMMITTED"]
    assert len(world.model.requests) == 1


async def test_two_at_once_with_one_request_id_make_one_window():
    world = GatewayWorld(replies=("One.", "Two."))
    request_id = fresh_uuid()
    async with world.serving() as client:
        answers = await asyncio.gather(*(client.dispatch(request_id=request_id) for _ in range(4)))
    assert {answer.answer.text for answer in answers} == {"One."}
    assert world.statuses() == ["COMMITTED"]


async def test_a_request_id_is_for_one_query():
    world = GatewayWorld()
    request_id = fresh_uuid()
    async with world.serving() as client:
        await client.dispatch("One?", request_id=request_id)
        refusal = await client.fails("Two?", request_id=request_id)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")
    assert world.statuses() == ["COMMITTED"]


async def until(condition):
    async with asyncio.timeout(patient(5)):
        while not condition():  # noqa: ASYNC110 - the store announces nothing
            await asyncio.sleep(0.02)


STEPS = ["OpenWindow", "BuildEnvelope", "Analyze", "CommitWindow"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("rpc", STEPS)
async def test_a_caller_who_goes_away_leaves_no_pending_window(rpc, after):
    script = Script(hold=Hold(rpc, after=after))
    world = GatewayWorld(script=script)
    request_id = fresh_uuid()
    async with world.serving() as client:
        call = client.start(request_id=request_id)
        pending = asyncio.ensure_future(call)
        await script.hold.reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pending
        expected = ["COMMITTED"] if (rpc, after) == ("CommitWindow", True) else ["FAILED"]
        await until(lambda: world.statuses() == expected)
        answer = (await client.dispatch(request_id=request_id)).answer
    assert answer.text == ANSWER
    assert world.statuses() == sorted({"COMMITTED", *expected})


@pytest.mark.parametrize("rpc", STEPS)
async def test_a_deadline_that_passes_leaves_no_pending_window(rpc):
    world = GatewayWorld(script=Script(hold=Hold(rpc, after=True)))
    async with world.serving() as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.start(timeout=2.0)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        expected = ["COMMITTED"] if rpc == "CommitWindow" else ["FAILED"]
        await until(lambda: world.statuses() == expected)


async def test_too_little_time_stops_before_the_model_is_called():
    world = GatewayWorld(settings=GatewaySettings(llm_min_s=30.0))
    async with world.serving() as client:
        refusal = await client.fails(timeout=10)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")
    assert refusal.metadata["step"] == "model"
    assert world.model.requests == []
    assert world.statuses() == ["FAILED"]


async def test_an_unchanged_envelope_opens_no_window_at_all():
    world = GatewayWorld(script=Script(not_modified=True))
    async with world.serving() as client:
        response = await client.dispatch(if_match=ETAG)
    assert response.not_modified == dispatch_pb2.NotModified(etag=ETAG, cache_status="HIT")
    assert headers_of(response)["CRP-Context-ETag"] == ETAG
    assert headers_of(response)["CRP-Context-Cache-Status"] == "HIT"
    assert world.windows() == []
    assert world.model.requests == []


async def test_an_unchanged_envelope_of_a_continuation_gives_its_window_up():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        world.script.not_modified = True
        response = await client.dispatch("x", session_token=first.session_token, if_match=ETAG)
    assert response.not_modified.etag == ETAG
    assert world.statuses() == ["COMMITTED", "FAILED"]


async def test_a_changed_envelope_is_built_in_full():
    world = GatewayWorld()
    async with world.serving() as client:
        response = await client.dispatch(if_match="sha256:" + "0" * 64)
    assert response.answer.text == ANSWER
    assert [request.if_match_etag for request in world.script.asked["BuildEnvelope"]] == ["sha256:" + "0" * 64, ""]


async def test_a_tier_that_is_not_accepted_is_refused_with_the_best_one():
    world = GatewayWorld(script=Script(tier="C"))
    async with world.serving() as client:
        refusal = await client.fails(accept_quality=[taxonomy.QUALITY_TIER_S, taxonomy.QUALITY_TIER_A])
        accepted = await client.dispatch(accept_quality=[taxonomy.QUALITY_TIER_C])
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.UNAVAILABLE, "QUALITY_UNREACHABLE")
    assert refusal.metadata["best_tier"] == "C"
    assert accepted.answer.text == ANSWER
    assert len(world.model.requests) == 1
    assert world.statuses() == ["COMMITTED", "FAILED"]


async def test_a_critical_risk_is_withheld_and_stays_so():
    world = GatewayWorld(script=Script(risk="CRITICAL"), replies=("Secret text.",))
    request_id = fresh_uuid()
    async with world.serving() as client:
        response = await client.dispatch(request_id=request_id)
        again = await client.dispatch(request_id=request_id)
    assert response == again
    assert response.halted.halt_reason == "CRITICAL_HALLUCINATION_RISK"
    assert response.halted.oversight_required
    assert headers_of(response)["CRP-Safety-Retry-After"] == "oversight-required"
    assert headers_of(response)["CRP-Safety-Policy-Violation"] == (
        "halt-on CRITICAL, warn-on HIGH, warn-on-contradiction"
    )
    assert b"Secret" not in response.SerializeToString()
    (window,) = world.windows()
    assert (window.status.value, window.failure_reason) == ("FAILED", "HALTED: CRITICAL_HALLUCINATION_RISK")
    (event,) = [event for event in world.events() if event.event_type == "SAFETY_HALT"]
    assert '"halt_reason":"CRITICAL_HALLUCINATION_RISK"' in event.data
    assert "Secret" not in event.data


async def test_a_required_signal_that_is_missing_fails_closed():
    world = GatewayWorld()
    async with world.serving() as client:
        response = await client.dispatch(safety_policy="require-entailment 0.8")
    assert response.halted.halt_reason == "require-entailment 0.8"
    (violation,) = response.violations
    assert violation.signal_missing
    assert violation.enforcement == dispatch_pb2.ENFORCEMENT_HALTED


async def test_a_spent_budget_commits_the_window_and_withholds_the_answer():
    world = GatewayWorld(script=Script(risk="HIGH"), replies=("Secret text.",))
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.1, safety_mode=dispatch_pb2.SAFETY_MODE_WARN)
    assert response.halted.halt_reason == "SAFETY_BUDGET_DEPLETED"
    assert response.halted.retry_condition == "0"
    assert b"Secret" not in response.SerializeToString()
    assert world.statuses() == ["COMMITTED"]


async def test_a_budget_low_enough_for_a_person_holds_the_answer():
    world = GatewayWorld(script=Script(risk="MEDIUM"))
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.12)
    assert response.held_for_review.reason == "OVERSIGHT_REQUIRED"
    assert headers_of(response)["CRP-Safety-Budget-Warning"] == "low"
    assert "OVERSIGHT_TRIGGERED" in [event.event_type for event in world.events()]


async def test_the_tenants_policy_is_a_floor():
    world = GatewayWorld()
    await world.credentials.put_policy(TenantPolicyRecord("tenant-a", "halt-on HIGH", (), "", 1, NOW))
    async with world.serving() as client:
        refusal = await client.fails(safety_policy="halt-on CRITICAL")
        response = await client.dispatch(safety_policy="block-parametric", safety_mode=0)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.PERMISSION_DENIED, "POLICY_RELAXED")
    assert refusal.metadata["directive"] == "halt-on"
    assert headers_of(response)["CRP-Safety-Policy-Applied"] == "halt-on HIGH; block-parametric"


async def test_what_this_deployment_does_not_do_is_said():
    world = GatewayWorld(script=Script(risk="HIGH", report={"pii_cache_warning": True}))
    async with world.serving() as client:
        response = await client.dispatch(
            safety_policy="upgrade-on-risk hierarchical", safety_report_uri="https://sink.example/reports"
        )
    assert response.WhichOneof("outcome") == "answer"
    assert [warning.code for warning in response.warnings] == [
        "PII_WITHOUT_NO_STORE",
        "UPGRADE_NOT_SERVED",
        "VIOLATION_REPORT_NOT_SENT",
    ]


async def test_a_registered_system_is_described_to_the_analysis():
    world = GatewayWorld()
    system = AiSystemRecord(
        "tenant-a",
        "hr-bot",
        "HR",
        "EMPLOYMENT",
        "finance",
        NOW,
        (("A.2.2", "x"),),
        intended_purpose="Ranks applicants.",
        annex_iii_areas=("EMPLOYMENT",),
        interacts_with_people=True,
        generates_content=True,
        safety_component=True,
        makes_decisions=True,
        role="DEPLOYER",
        regulated_sector="FINANCIAL",
        version=1,
    )
    await world.credentials.put_ai_system(system)
    async with world.serving() as client:
        response = await client.dispatch(ai_system_id="hr-bot", cache_directives=["no-store"])
        await client.dispatch(cache_directives=[])
    known, none = world.script.asked["Analyze"]
    assert known.ai_system == regulatory_pb2.AiSystemProfile(
        domain="EMPLOYMENT",
        sector="finance",
        iso_42001_evidence={"A.2.2": "x"},
        makes_decisions=True,
        version=1,
        intended_purpose="Ranks applicants.",
        annex_iii_areas=[regulation.ANNEX_III_AREA_EMPLOYMENT],
        interacts_with_people=True,
        generates_content=True,
        safety_component=True,
        role=regulation.AI_ACT_ROLE_DEPLOYER,
        regulated_sector=regulation.REGULATED_SECTOR_FINANCIAL,
    )
    assert known.cache_no_store
    assert known.audit_trail_id == headers_of(response)["CRP-Compliance-Audit-Trail-Id"]
    assert (none.ai_system_id, none.HasField("ai_system"), none.cache_no_store) == ("", False, False)


async def test_a_system_that_is_not_registered_is_refused_before_a_window_is_opened():
    world = GatewayWorld()
    await world.credentials.put_ai_system(AiSystemRecord("tenant-b", "hr-bot", "HR", "EMPLOYMENT", "", NOW))
    async with world.serving() as client:
        refusal = await client.fails(ai_system_id="hr-bot")
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "AI_SYSTEM_NOT_FOUND")
    assert refusal.metadata["ai_system_id"] == "hr-bot"
    assert world.windows() == []


async def test_windows_that_fail_again_and_again_end_the_request_id():
    error = UnavailableError(ErrorReason.STORE_UNAVAILABLE, "down")
    world = GatewayWorld(script=Script(faults={"BuildEnvelope": Fault(error, times=99)}))
    request_id = fresh_uuid()
    async with world.serving() as client:
        for _ in range(16):
            assert (await client.fails(request_id=request_id)).reason == "STORE_UNAVAILABLE"
        refusal = await client.fails(request_id=request_id)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WINDOW_NOT_PENDING")
    assert world.statuses() == ["FAILED"] * 16


@each(
    ("fields", "wrong"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n\t "}, "query"),
        ({"query": "x" * 16_385}, "query"),
        ({"request_id": "1"}, "request_id"),
        ({"request_id": ""}, "request_id"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"safety_budget": -0.1}, "safety_budget"),
        ({"if_match": "sha256:xyz"}, "if_match"),
        ({"cache_directives": ["no-store", "max-age=x"]}, "cache_directives"),
        ({"accept_quality": [0]}, "accept_quality"),
        ({"accept_quality": [99]}, "accept_quality"),
        ({"strategies": [77]}, "strategies"),
        ({"grounding_mode": 9}, "grounding_mode"),
        ({"safety_report_uri": "http://a.example"}, "safety_report_uri"),
        ({"safety_nonce": "base64:AAAA"}, "safety_nonce"),
        ({"data_residency": "eu-west-1"}, "data_residency"),
        ({"session_id": "crp_sess_1"}, "session_id"),
        ({"continuation_ids": ["a", "a"]}, "continuation_ids"),
        ({"safety_policy": "halt-on\nHIGH"}, "safety_policy"),
        ({"max_envelope_tokens": 0}, "max_envelope_tokens"),
    ],
)
async def test_a_malformed_field_is_named_and_nothing_is_done(fields, wrong):
    world = GatewayWorld()
    async with world.serving() as client:
        refusal = await client.fails(**fields)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert wrong in refusal.fields
    assert world.windows() == []


async def test_every_violation_is_told_at_once():
    world = GatewayWorld()
    async with world.serving() as client:
        refusal = await client.fails(query="", request_id="x", temperature=9)
    assert refusal.fields == ("request_id", "query", "temperature")


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"safety_policy": "halt-onn HIGH"}, "INVALID_ARGUMENT", "UNKNOWN_DIRECTIVE"),
        ({"safety_policy_report_only": "halt-on MUCH"}, "INVALID_ARGUMENT", "UNKNOWN_DIRECTIVE"),
        ({"model": "unknown-9"}, "INVALID_ARGUMENT", "UNKNOWN_MODEL"),
        (
            {"strategies": [taxonomy.DISPATCH_STRATEGY_BATCH]},
            "FAILED_PRECONDITION",
            "UNSUPPORTED_STRATEGY",
        ),
        ({"session_token": "forged.token"}, "UNAUTHENTICATED", "TOKEN_INVALID"),
        ({"subject": "reader"}, "PERMISSION_DENIED", "ROLE_MISSING"),
    ],
)
async def test_refusals(fields, code, reason):
    world = GatewayWorld()
    async with world.serving() as client:
        refusal = await client.fails(**fields)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode[code], reason)
    assert world.windows() == []


async def test_an_unknown_directive_is_named_beside_the_known_ones():
    async with GatewayWorld().serving() as client:
        refusal = await client.fails(safety_policy="halt-onn HIGH")
    assert refusal.metadata["directive"] == "halt-onn"
    assert "require-grounding" in refusal.metadata["known"]


async def test_an_unsupported_strategy_is_told_what_is_served_and_a_later_choice_is_taken():
    wanted = [taxonomy.DISPATCH_STRATEGY_BATCH, taxonomy.DISPATCH_STRATEGY_PUSH]
    async with GatewayWorld().serving() as client:
        refusal = await client.fails(strategies=wanted[:1])
        response = await client.dispatch(strategies=wanted)
    assert refusal.metadata == {
        "wanted": "batch",
        "served": "push, pull, reflexive, hierarchical, agentic, fan-out, fan-in",
    } | {key: value for key, value in refusal.metadata.items() if key not in {"wanted", "served"}}
    assert headers_of(response)["CRP-Context-Strategy"] == "push"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("crp-safety-hallucination-risk", "RESPONSE_ONLY_HEADER"),
        ("crp-safety-hallucination-score", "RESPONSE_ONLY_HEADER"),
        ("crp-context-etag", "RESPONSE_ONLY_HEADER"),
        ("crp-safety-policy", "INVALID_FIELD"),
        ("crp-session-token", "INVALID_FIELD"),
    ],
)
async def test_crp_headers_in_metadata_are_refused(key, reason):
    async with GatewayWorld().serving() as client:
        refusal = await client.fails(metadata=((key, "LOW"),))
    assert refusal.reason == reason


async def test_provenance_headers_from_a_client_are_dropped():
    async with GatewayWorld().serving() as client:
        response = await client.dispatch(metadata=(("crp-provenance-hmac", "sha256:" + "0" * 64),))
    assert headers_of(response)["CRP-Provenance-HMAC"] != "sha256:" + "0" * 64


async def test_another_tenants_token_opens_nothing():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        refusal = await client.fails("x", "mallory", session_token=first.session_token)
    assert refusal.code is grpc.StatusCode.UNAUTHENTICATED
    assert world.statuses() == ["COMMITTED"]


async def test_a_token_of_another_session_than_the_named_one_is_refused():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        refusal = await client.fails("x", session_token=first.session_token, session_id="crp_sess_" + "Z" * 32)
    assert refusal.reason == "TOKEN_INVALID"
    assert world.statuses() == ["COMMITTED", "FAILED"]
