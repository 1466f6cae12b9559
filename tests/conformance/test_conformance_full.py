"""CRP-SPEC-014, level Full: fan-out, fan-in, agents, summaries."""

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2, session_service_pb2

from tests.conformance.header_formats import faults
from tests.conformance.levels import row
from tests.conformance.wire import DOCUMENT, NEXT_QUESTION, QUESTION, Refusal, ask, headers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

FAN_OUT = taxonomy_pb2.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy_pb2.DISPATCH_STRATEGY_FAN_IN
PARTS = (
    "Within how many days must a broken lighthouse lamp be reported?",
    "What fine does a keeper pay for a late report?",
    "On which day is the foghorn of a lighthouse tested?",
)
SUMMARY = "A keeper pays a fine of 40 crowns for a late report."
OPEN = "oversight log-only"
SYNTHESIS = "What must a keeper do about lamps and foghorns?"


def following(outcome, **fields):
    answer = outcome.answer
    return {"session_token": answer.session_token, "continuation_ids": [answer.continuation_id]} | fields


def merging(outcomes, **fields):
    ids = [outcome.answer.continuation_id for outcome in outcomes]
    return {"session_token": outcomes[0].answer.session_token, "continuation_ids": ids} | fields


@pytest.fixture(scope="module")
def parent(client):
    """The outcome that three requests continue at once."""
    return client.dispatch(QUESTION, safety_budget=0.85)


@pytest.fixture(scope="module")
def children(client, parent):
    """Three outcomes of parallel requests with one token and one pointer (§14.3)."""
    with ThreadPoolExecutor(len(PARTS)) as pool:
        asked = [
            pool.submit(client.dispatch, part, **following(parent, strategies=[FAN_OUT], loop_depth=1))
            for part in PARTS
        ]
        return [each.result() for each in asked]


@pytest.fixture(scope="module")
def merged(client, children):
    """The outcome that takes all three together (§14.4)."""
    return client.dispatch(SYNTHESIS, **merging(children, strategies=[FAN_IN]))


@row("strategy fan-out", "fan-out and fan-in merge")
class TestFanOut:
    def test_spec_004_6_siblings_share_number_and_parent_and_nothing_else(self, parent, children):
        windows = [child.answer.window for child in children]
        assert [window.window_number for window in windows] == [2, 2, 2]
        assert [list(window.parent_ids) for window in windows] == [[parent.answer.window.window_id]] * 3
        assert len({window.window_id for window in windows}) == 3
        assert len({window.hmac for window in windows}) == 3
        assert {window.pattern for window in windows} == {dag_pb2.WINDOW_PATTERN_FAN_OUT}

    def test_spec_004_14_2_every_sibling_has_well_formed_headers_of_its_own(self, children):
        assert [faults(headers(child)) for child in children] == [[]] * 3
        assert {headers(child)["CRP-Context-Strategy"] for child in children} == {"fan-out"}
        assert len({headers(child)["CRP-Context-Continuation-Id"] for child in children}) == 3
        assert {headers(child)["CRP-Provenance-Chain-Integrity"] for child in children} == {"VALID"}

    def test_spec_004_6_4_each_child_starts_from_the_parents_whole_budget(self, parent, children):
        cost = {"LOW": 0.0, "MEDIUM": 0.05, "HIGH": 0.15, "CRITICAL": 0.35}
        before = float(headers(parent)["CRP-Agent-Safety-Budget"])
        for child in children:
            said = headers(child)
            left = before - cost[said["CRP-Safety-Hallucination-Risk"]]
            assert float(said["CRP-Agent-Safety-Budget"]) == pytest.approx(left, abs=0.0005)

    def test_spec_004_15_3_the_depth_of_the_agent_is_said(self, children):
        assert {headers(child)["CRP-Agent-Loop-Depth"] for child in children} == {"1"}

    def test_spec_004_15_3_a_depth_above_the_maximum_is_refused(self, client, parent, children):
        request = ask("Deeper?", **following(parent, strategies=[FAN_OUT], loop_depth=6))
        refusal = client.refused(client.gateway.Dispatch, request)
        assert refusal == Refusal("RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT", ())

    def test_spec_004_14_3_without_the_strategy_the_token_is_spent(self, client, parent, children):
        refusal = client.refused(client.gateway.Dispatch, ask("Again?", **following(parent)))
        assert refusal == Refusal("UNAUTHENTICATED", "TOKEN_SPENT", ())


@row("strategy fan-in", "fan-out and fan-in merge")
class TestFanIn:
    def test_spec_004_7_4_the_window_has_every_child_as_its_parent(self, children, merged):
        window = merged.answer.window
        assert sorted(window.parent_ids) == sorted(child.answer.window.window_id for child in children)
        assert window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN
        assert window.window_number == 3

    def test_spec_004_14_lineage_and_quality_history_put_parallel_windows_in_brackets(self, parent, children, merged):
        said = headers(merged)
        assert faults(said) == []
        root, last = parent.answer.window.window_id, merged.answer.window.window_id
        middle = re.fullmatch(rf"{root} -> \[([^\]]+)\] -> {last}", said["CRP-Provenance-Window-Lineage"])
        assert sorted(middle.group(1).split(", ")) == sorted(child.answer.window.window_id for child in children)
        history = re.search("QualityHistory=(.+)$", said["CRP-Set-Session"]).group(1)
        tiers = [headers(each)["CRP-Context-Quality-Tier"] for each in (parent, *children, merged)]
        inner = re.fullmatch(rf"{tiers[0]},\[([^\]]+)\],{tiers[-1]}", history).group(1)
        assert sorted(inner.split(",")) == sorted(tiers[1:-1])

    def test_spec_004_7_3_4_the_budget_is_the_smallest_of_the_children(self, children, merged):
        cost = {"LOW": 0.0, "MEDIUM": 0.05, "HIGH": 0.15, "CRITICAL": 0.35}
        least = min(float(headers(child)["CRP-Agent-Safety-Budget"]) for child in children)
        left = least - cost[headers(merged)["CRP-Safety-Hallucination-Risk"]]
        assert float(headers(merged)["CRP-Agent-Safety-Budget"]) == pytest.approx(left, abs=0.0005)

    def test_spec_004_9_4_the_whole_dag_verifies(self, client, merged):
        verdict = client.verify(merged.answer.session_id)
        assert verdict.integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID
        assert verdict.windows_verified == verdict.windows_total == 5
        assert list(verdict.tips) == [merged.answer.window.hmac.removeprefix("sha256:")]

    def test_spec_004_8_3_every_edge_says_what_flowed(self, client, children, merged):
        dag = client.dag(merged.answer.session_id)
        into = [edge for edge in dag.edges if edge.target_id == merged.answer.window.window_id]
        assert len(into) == 3
        for edge in into:
            assert edge.transfer_type in {dag_pb2.TRANSFER_TYPE_SUMMARY, dag_pb2.TRANSFER_TYPE_RESULT_ONLY}
            assert bool(edge.summary_hash) == (edge.transfer_type == dag_pb2.TRANSFER_TYPE_SUMMARY)

    def test_spec_004_7_a_child_that_was_merged_is_spent(self, client, children, merged):
        refusal = client.refused(client.gateway.Dispatch, ask("On?", **following(children[0])))
        assert refusal == Refusal("UNAUTHENTICATED", "TOKEN_SPENT", ())

    def test_spec_004_17_3_a_pointer_of_another_session_is_not_found(self, client, first):
        own = client.dispatch(QUESTION)
        request = ask(SYNTHESIS, **merging([own, first], strategies=[FAN_IN]))
        refusal = client.refused(client.gateway.Dispatch, request)
        assert refusal == Refusal("NOT_FOUND", "CONTINUATION_NOT_FOUND", ())

    def test_spec_004_16_3_by_default_every_child_is_required(self, client):
        root = client.dispatch(QUESTION)
        pair = [client.dispatch(part, **following(root, strategies=[FAN_OUT])) for part in PARTS[:2]]
        refusal = client.refused(client.gateway.Dispatch, ask(SYNTHESIS, **merging(pair[:1], strategies=[FAN_IN])))
        assert (refusal.status, refusal.reason) == ("FAILED_PRECONDITION", "FAN_IN_INCOMPLETE")


@row("agent budgets")
class TestAgentBudgets:
    """SPEC-004 §15.2 and the circuit breaker of CRP-SPEC-012, over sessions under a session."""

    @row("circuit breaker")
    def test_spec_012_half_open_delegates_nothing(self, client):
        root = client.dispatch(QUESTION, safety_budget=0.5)
        assert root.circuit_breaker == taxonomy_pb2.BREAKER_STATE_HALF_OPEN
        for fields in ({"agent_session_parent": root.answer.session_id}, following(root, strategies=[FAN_OUT])):
            refusal = client.refused(client.gateway.Dispatch, ask(NEXT_QUESTION, **fields))
            assert (refusal.status, refusal.reason) == ("FAILED_PRECONDITION", "DELEGATION_SUSPENDED")
        assert client.dispatch(NEXT_QUESTION, **following(root)).answer.window.window_number == 2  # a line goes on

    def test_spec_004_15_2_what_an_agent_has_left_flows_back_by_itself(self, client):
        root = client.dispatch(QUESTION)
        agent = client.dispatch(NEXT_QUESTION, agent_session_parent=root.answer.session_id, safety_budget=0.31)
        left = agent.answer.safety_budget
        assert left <= 0.31
        assert client.dag(root.answer.session_id).session.safety_budget == left
        synthesis = client.dispatch(SYNTHESIS, **following(root))
        assert float(headers(synthesis)["CRP-Agent-Safety-Budget"]) <= left + 0.0005
        for outcome in (root, agent):
            assert client.verify(outcome.answer.session_id).integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID


def sentences() -> list[str]:
    return [line for line in DOCUMENT.splitlines() if line and not line.startswith("#")]


def long_answer(llm):
    """Return the outcome of a question that is answered by three grounded sentences."""
    fake, client = llm
    fake.text = " ".join(sentences())
    return client.dispatch(QUESTION, safety_policy=OPEN)


@pytest.fixture(scope="module")
def summarised(llm):
    """Continue a long answer where the whole of it does not fit; return also what reached the provider."""
    fake, client = llm
    long, start = long_answer(llm), len(fake.completions)
    fake.first, fake.text = [SUMMARY], SUMMARY
    outcome = client.dispatch(NEXT_QUESTION, **following(long, max_envelope_tokens=110, safety_policy=OPEN))
    return client, long, outcome, SUMMARY, [json.loads(seen.body) for seen in fake.completions[start:]]


@row("fan-out and fan-in merge")
class TestSummary:
    """SPEC-004 §12 with a provider that can be watched."""

    def test_spec_004_12_2_the_model_is_asked_with_the_texts_words_and_low_variance(self, summarised):
        _, long, _, _, (asked, _) = summarised
        said = re.match(
            r"Summarise the following response in (\d+) tokens, preserving all factual claims, numbers, dates, and "
            r"conclusions\.",
            asked["messages"][0]["content"],
        )
        assert 1 <= int(said.group(1)) <= 33  # 30 % of what is available
        assert asked["temperature"] == 0.1
        assert long.answer.text.split(".")[0] in asked["messages"][-1]["content"]

    def test_spec_004_12_3_the_summarys_hash_stands_on_the_edge(self, summarised):
        client, _, outcome, summary, _ = summarised
        (edge,) = client.dag(outcome.answer.session_id).edges
        assert edge.transfer_type == dag_pb2.TRANSFER_TYPE_SUMMARY
        assert edge.summary_hash == hashlib.sha256(summary.encode()).hexdigest()

    def test_spec_004_12_2_the_summary_and_not_the_answer_is_in_the_next_prompt(self, summarised):
        _, _, _, summary, (_, asked) = summarised
        prompt = asked["messages"][0]["content"]
        assert summary in prompt
        assert sentences()[2] not in prompt

    def test_spec_004_12_2_a_verified_summary_is_a_fact(self, summarised):
        _, _, outcome, summary, _ = summarised
        assert outcome.answer.text == summary
        assert headers(outcome)["CRP-Safety-Grounding-Pct"] == "1.0"

    def test_spec_004_12_4_it_is_recorded_costs_no_budget_and_is_not_billed(self, summarised):
        client, _, outcome, _, _ = summarised
        request = session_service_pb2.ListAuditEventsRequest(session_id=outcome.answer.session_id, page_size=1000)
        events = client.call(client.sessions.ListAuditEvents, request).events
        kinds = [event.event_type for event in events]
        assert kinds.count(dag_pb2.AUDIT_EVENT_TYPE_SUMMARISATION) == 1
        assert [call.billed for call in outcome.model_calls] == [False, True]

    def test_spec_004_12_3_a_summary_that_distorts_leaves_the_result_alone(self, llm):
        fake, client = llm
        long = long_answer(llm)
        fake.first, fake.text = [SUMMARY.replace("40", "4,000")], SUMMARY
        outcome = client.dispatch(NEXT_QUESTION, **following(long, max_envelope_tokens=110, safety_policy=OPEN))
        (edge,) = client.dag(outcome.answer.session_id).edges
        assert edge.transfer_type == dag_pb2.TRANSFER_TYPE_RESULT_ONLY
        assert edge.summary_hash == ""
        assert "TRANSFER_REDUCED" in [warning.code for warning in outcome.warnings]
