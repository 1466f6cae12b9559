"""CRP-SPEC-014, level Standard, as far as this version furnishes it: ETag, continuation, policy, idempotency."""

import uuid

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2

from tests.conformance.levels import row
from tests.conformance.wire import NEXT_QUESTION, QUESTION, Client, Refusal, ask, headers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@row("envelope and ETag")
class TestConditional:
    def test_spec_003_11_2_an_etag_that_holds_gives_not_modified_and_no_window(self, first, not_modified):
        assert not_modified.WhichOneof("outcome") == "not_modified"
        assert not_modified.not_modified.etag == first.answer.envelope.etag
        said = headers(not_modified)
        assert said["CRP-Context-Cache-Status"].startswith("HIT")
        assert not {"CRP-Context-Window", "CRP-Set-Session", "CRP-Provenance-HMAC"} & set(said)

    def test_spec_002_unchanged_headers_come_with_not_modified(self, first, not_modified):
        before, now = headers(first), headers(not_modified)
        names = ("CRP-Context-ETag", "CRP-Context-Quality-Tier", "CRP-Context-Facts-Used", "CRP-Context-Tokens-Used")
        assert [now[name] for name in names] == [before[name] for name in names]

    def test_spec_003_11_2_an_etag_that_does_not_hold_gives_an_answer(self, client):
        assert client.dispatch(QUESTION, if_match="sha256:" + "0" * 64).WhichOneof("outcome") == "answer"

    def test_spec_003_11_3_changed_knowledge_ends_the_etag(self, client):
        question = "On which weekday is the lantern glass of the north pier cleaned by the keeper?"
        text = "# Glass\n\nThe lantern glass of the north pier is cleaned by the keeper on every {} of the year.\n"
        client.ingest(text.format("Tuesday"), "file:conformance-glass.md")
        before = client.dispatch(question).answer.envelope.etag
        assert client.dispatch(question, if_match=before).WhichOneof("outcome") == "not_modified"
        client.ingest(text.format("Friday"), "file:conformance-glass.md")
        after = client.dispatch(question, if_match=before)
        assert after.WhichOneof("outcome") == "answer"
        assert after.answer.envelope.etag != before

    def test_spec_002_a_malformed_if_match_names_the_field(self, client):
        refusal = client.refused(client.gateway.Dispatch, ask(if_match="sha256:xyz"))
        assert refusal == Refusal("INVALID_ARGUMENT", "INVALID_FIELD", ("if_match",))


@row("continuation")
class TestContinuation:
    def test_spec_004_5_second_window_is_the_child_of_the_first(self, first, second):
        assert second.answer.session_id == first.answer.session_id
        assert list(second.answer.window.parent_ids) == [first.answer.window.window_id]
        assert [one.answer.window.window_number for one in (first, second)] == [1, 2]

    def test_spec_004_14_lineage_and_root_name_the_windows(self, first, second):
        ids = [one.answer.window.window_id for one in (first, second)]
        assert headers(second)["CRP-Provenance-Window-Lineage"] == " -> ".join(ids)
        assert {headers(one)["CRP-Provenance-DAG-Root"] for one in (first, second)} == {f"dag:{ids[0]}"}

    def test_spec_004_9_3_linear_hmac_is_chained_and_differs_from_the_windows_own(self, second):
        said = headers(second)
        assert said["CRP-Provenance-HMAC"] != said["CRP-Provenance-Window-HMAC"]

    def test_spec_004_13_set_session_counts_windows_and_keeps_the_quality_history(self, first, second):
        tiers = [headers(one)["CRP-Context-Quality-Tier"] for one in (first, second)]
        assert headers(first)["CRP-Set-Session"].endswith(f"; Window=1; QualityHistory={tiers[0]}")
        assert headers(second)["CRP-Set-Session"].endswith(f"; Window=2; QualityHistory={','.join(tiers)}")

    def test_spec_004_3_dag_holds_both_windows_and_one_edge(self, client, first, second):
        dag = client.dag(second.answer.session_id)
        ids = [one.answer.window.window_id for one in (first, second)]
        assert [window.window_id for window in dag.windows] == ids
        assert {window.status for window in dag.windows} == {dag_pb2.WINDOW_STATUS_COMMITTED}
        assert len(dag.edges) == 1

    def test_spec_012_safety_budget_falls_with_risk_and_never_recovers(self, first, second):
        cost = {"LOW": 0.0, "MEDIUM": 0.05, "HIGH": 0.15, "CRITICAL": 0.35}
        budget = 1.0
        for outcome in (first, second):
            said = headers(outcome)
            budget -= cost[said["CRP-Safety-Hallucination-Risk"]]
            assert float(said["CRP-Agent-Safety-Budget"]) == pytest.approx(budget, abs=0.0005)

    def test_spec_002_a_caller_can_lower_the_budget(self, client):
        assert float(headers(client.dispatch(safety_budget=0.5))["CRP-Agent-Safety-Budget"]) <= 0.5

    def test_spec_007_a_forged_token_is_refused(self, client, first):
        body, signature = first.answer.session_token.split(".")
        forged = f"{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
        request = ask(NEXT_QUESTION, session_token=forged, continuation_ids=[first.answer.continuation_id])
        assert client.refused(client.gateway.Dispatch, request) == Refusal("UNAUTHENTICATED", "TOKEN_INVALID", ())

    def test_spec_007_a_spent_token_is_refused(self, client, first, second):
        request = ask(
            NEXT_QUESTION,
            session_token=first.answer.session_token,
            continuation_ids=[first.answer.continuation_id],
        )
        assert client.refused(client.gateway.Dispatch, request) == Refusal("UNAUTHENTICATED", "TOKEN_SPENT", ())

    def test_spec_004_4_an_unknown_continuation_is_not_found(self, client, second):
        request = ask(
            NEXT_QUESTION,
            session_token=second.answer.session_token,
            continuation_ids=["crp_cont_" + "x" * 32],
        )
        assert client.refused(client.gateway.Dispatch, request) == Refusal("NOT_FOUND", "CONTINUATION_NOT_FOUND", ())

    @row("policy inheritance")
    def test_spec_006_a_session_cannot_relax_its_policy(self, client):
        answer = client.dispatch(safety_policy="halt-on HIGH; require-grounding 0.10").answer
        request = ask(
            NEXT_QUESTION,
            session_token=answer.session_token,
            continuation_ids=[answer.continuation_id],
            safety_policy="halt-on CRITICAL",
        )
        assert client.refused(client.gateway.Dispatch, request).reason == "POLICY_RELAXED"

    @row("policy inheritance")
    def test_spec_006_a_later_window_may_tighten_and_inherits_the_rest(self, client):
        answer = client.dispatch(safety_policy="halt-on CRITICAL; require-grounding 0.10").answer
        tighter = client.dispatch(
            NEXT_QUESTION,
            session_token=answer.session_token,
            continuation_ids=[answer.continuation_id],
            safety_policy="warn-on LOW",
        )
        assert headers(tighter)["CRP-Safety-Policy-Applied"] == "halt-on CRITICAL; warn-on LOW; require-grounding 0.1"


@row("policy")
class TestPolicyAndRequest:
    def test_spec_006_an_unknown_directive_is_refused(self, client):
        refusal = client.refused(client.gateway.Dispatch, ask(safety_policy="halt-on HIGH; dance-on HIGH"))
        assert (refusal.status, refusal.reason) == ("INVALID_ARGUMENT", "UNKNOWN_DIRECTIVE")

    def test_spec_006_a_report_only_policy_enforces_nothing(self, client):
        outcome = client.dispatch(safety_policy_report_only="halt-on LOW")
        assert outcome.WhichOneof("outcome") == "answer"
        assert "halt-on LOW" in [violation.directive for violation in outcome.violations]

    def test_spec_002_a_response_only_header_in_a_request_is_refused(self, client):
        refusal = client.refused(client.gateway.Dispatch, ask(), ("crp-safety-hallucination-risk", "LOW"))
        assert (refusal.status, refusal.reason) == ("INVALID_ARGUMENT", "RESPONSE_ONLY_HEADER")

    def test_spec_002_a_provenance_header_in_a_request_is_dropped(self, client):
        forged = "sha256:" + "0" * 64
        outcome = client.call(client.gateway.Dispatch, ask(), ("crp-provenance-hmac", forged))
        assert outcome.WhichOneof("outcome") == "answer"
        assert headers(outcome)["CRP-Provenance-HMAC"] != forged

    def test_spec_002_a_tier_out_of_reach_is_unavailable(self, client):
        request = ask("Who painted the moon?", accept_quality=[taxonomy_pb2.QUALITY_TIER_S])
        refusal = client.refused(client.gateway.Dispatch, request)
        assert (refusal.status, refusal.reason) == ("UNAVAILABLE", "QUALITY_UNREACHABLE")

    def test_spec_002_only_if_ckf_without_a_relevant_fact_is_refused(self, client):
        request = ask("Which enzyme splits lactose in yoghurt?", cache_directives=["only-if-ckf"])
        assert client.refused(client.gateway.Dispatch, request).reason == "NO_RELEVANT_FACTS"

    def test_every_wrong_field_is_named_at_once(self, client):
        refusal = client.refused(client.gateway.Dispatch, ask(" ", request_id="7", temperature=3.5))
        assert refusal == Refusal("INVALID_ARGUMENT", "INVALID_FIELD", ("query", "request_id", "temperature"))

    @pytest.mark.parametrize("credential", ["", "crp_gw_dev_" + "A" * 32], ids=["none", "unknown"])
    def test_a_call_without_a_known_credential_is_refused(self, address, credential):
        stranger = Client(address[0], credential)
        assert stranger.refused(stranger.gateway.Dispatch, ask()).status == "UNAUTHENTICATED"
        stranger.channel.close()


class TestIdempotency:
    def test_a_retry_gives_the_same_bytes_and_no_second_window(self, client):
        request = ask(request_id=str(uuid.uuid4()))
        once, again = (client.call(client.gateway.Dispatch, request) for _ in range(2))
        assert again.SerializeToString(deterministic=True) == once.SerializeToString(deterministic=True)
        assert len(client.dag(once.answer.session_id).windows) == 1

    def test_a_request_id_with_another_body_is_refused(self, client):
        request = ask(request_id=str(uuid.uuid4()))
        client.call(client.gateway.Dispatch, request)
        request.query = NEXT_QUESTION
        refusal = client.refused(client.gateway.Dispatch, request)
        assert (refusal.status, refusal.reason) == ("FAILED_PRECONDITION", "REQUEST_ID_REUSED")
