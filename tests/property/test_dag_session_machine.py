"""Sessions of every pattern against a naive model: what is opened, refused, merged and replayed, in any order.

The model keeps a dictionary of windows and says by a few plain rules what must happen. Parallel groups are not nested
here: those are `tests/rpc/test_dag_fan.py`'s.
"""

import asyncio
import itertools
import uuid
from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.common.errors import CrpError
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity
from services.dag.app import AppendCommand
from services.dag.beginning import CreateCommand
from services.dag.domain.committing import CommitCommand
from services.dag.domain.invariants import violations
from services.dag.domain.opening import OpenCommand
from services.dag.domain.view import DagView
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, NOW, World, report_for
from tests.tenth import examples

MAX_NODES, MAX_FAN_OUT = 18, 3
COST = {"LOW": 0, "MEDIUM": 5}
FAILED, PENDING, COMMITTED = "FAILED", "PENDING", "COMMITTED"


@dataclass
class Node:
    """What the model knows of a window; ``budget`` is in hundredths."""

    window_id: str
    number: int
    parents: tuple
    pattern: str
    strategy: str
    budget: int
    took: str = ""
    status: str = PENDING
    token: str = ""
    pointer: str = ""
    children: list = field(default_factory=list)


def unique():
    return str(uuid.uuid4())


class Caller:
    """Calls the app and keeps what it answered, by request id."""

    def __init__(self, world):
        self.world = world
        self.loop = asyncio.new_event_loop()
        self.results = {}

    def key(self, rpc, request_id):
        def encode(result):
            self.results[request_id] = result
            return repr(result).encode()

        return RequestKey(rpc, request_id, "body", encode)

    def run(self, call):
        return self.loop.run_until_complete(call)

    def attempt(self, rpc, arguments, request_id=""):
        """Return the result and what was answered, or the reason of the refusal and nothing."""
        request_id = request_id or unique()
        method = getattr(self.world.app, rpc)
        try:
            answer = self.run(method(ALICE, *arguments, self.key(rpc, request_id)))
        except CrpError as error:
            return error.reason.value, None, request_id
        return self.results[request_id], answer, request_id


class SessionMachine(RuleBasedStateMachine):
    """Drives one session."""

    @initialize()
    def begin(self):
        self.world = World(
            settings=DagSettings(
                max_windows=50, max_dag_nodes=MAX_NODES, max_fan_out=MAX_FAN_OUT, token_lifetime_s=86_400
            )
        )
        self.caller = Caller(self.world)
        created, answer, request_id = self.caller.attempt("create_session", (CreateCommand(),))
        self.session_id, self.first_token = created.session.session_id, created.issued.session_token
        self.nodes, self.open, self.events = {}, True, 1
        self.answered = [("create_session", (CreateCommand(),), request_id, answer)]
        self.expect_open(self.first_token, self.ask("push"), "", (), pattern="LINEAR")
        self.finish(self.pending()[0], "LOW", "A", "root")

    def teardown(self):
        if hasattr(self, "caller"):
            self.caller.loop.close()

    # What the model says.

    def living(self, node):
        return [child for child in node.children if child.status != FAILED]

    def group(self, node):
        """The window that opened the parallel group in which the node stands; empty outside of one."""
        if node.pattern == "FAN_IN" or not node.parents:
            return ""
        (parent,) = (self.nodes[parent] for parent in node.parents)
        siblings = {child.pattern for child in self.living(parent)}
        if node.pattern in ("FAN_OUT", "BRANCH") or "BRANCH" in siblings:
            return parent.window_id
        return self.group(parent)

    def taken(self, group):
        return any(node.took == group and node.status != FAILED for node in self.nodes.values())

    def inside(self, group):
        return [node for node in self.nodes.values() if group and self.group(node) == group]

    def refusal(self):
        """What stands in the way of any new window."""
        if not self.open:
            return "SESSION_CLOSED"
        return "DAG_NODE_LIMIT" if len(self.nodes) >= MAX_NODES else ""

    def expect_open(self, token, ask, expected, parents, **made):
        """Open a window and hold the answer against ``expected``: a reason, or empty for success."""
        result, answer, request_id = self.caller.attempt("open_window", (token, ask))
        if expected:
            assert result == expected, (result, expected)
            return
        assert answer is not None, result
        window = result.window
        node = Node(
            window_id=window.window_id,
            number=1 + max((parent.number for parent in parents), default=0),
            parents=tuple(sorted(parent.window_id for parent in parents)),
            strategy=ask.strategy,
            budget=min((parent.budget for parent in parents), default=100),
            **made,
        )
        self.nodes[node.window_id] = node
        for parent in parents:
            parent.children.append(node)
        self.answered.append(("open_window", (token, ask), request_id, answer))

    def ask(self, strategy, **fields):
        return OpenCommand(strategy, unique(), available_budget_tokens=1000, **fields)

    def committed(self):
        return [node for node in self.nodes.values() if node.status == COMMITTED]

    def pending(self):
        return [node for node in self.nodes.values() if node.status == PENDING]

    # Rules.

    def leaves(self):
        return [node for node in self.committed() if not self.living(node)]

    def free(self, nodes):
        """Those outside of every parallel group."""
        return [node for node in nodes if not self.group(node)]

    @rule(data=st.data())
    def use_any_token(self, data):
        """Mostly spent ones: whatever is asked for, the answer is the model's."""
        node = data.draw(st.sampled_from([None, *self.committed()]))
        if node is None:
            self.expect_open(self.first_token, self.ask("push"), self.refusal() or "TOKEN_SPENT", (), pattern="LINEAR")
        elif data.draw(st.booleans()) or self.group(node):
            self.open_linear(node, "push")
        else:
            self.open_sibling(node)

    @precondition(lambda self: self.leaves())
    @rule(data=st.data(), strategy=st.sampled_from(["push", "reflexive"]))
    def continue_a_leaf(self, data, strategy):
        self.open_linear(data.draw(st.sampled_from(self.leaves())), strategy)

    def open_linear(self, parent, strategy):
        expected = self.refusal() or ("TOKEN_SPENT" if self.living(parent) else "")
        self.expect_open(parent.token, self.ask(strategy), expected, (parent,), pattern="LINEAR")

    @precondition(lambda self: self.free(self.leaves()))
    @rule(data=st.data(), count=st.integers(2, 4))
    def fan_out(self, data, count):
        parent = data.draw(st.sampled_from(self.free(self.leaves())))
        for _ in range(count):
            self.open_sibling(parent)

    def open_sibling(self, parent):
        living, taken = self.living(parent), self.taken(parent.window_id)
        expected = self.refusal()
        if not expected and not taken and len(living) >= MAX_FAN_OUT:
            expected = "FAN_OUT_LIMIT"
        if not expected and (taken or any(child.pattern != "FAN_OUT" for child in living)):
            expected = "TOKEN_SPENT"
        if not expected and parent.budget <= 50:
            expected = "DELEGATION_SUSPENDED"
        self.expect_open(parent.token, self.ask("fan-out"), expected, (parent,), pattern="FAN_OUT")

    @precondition(lambda self: self.free(self.committed()))
    @rule(data=st.data(), count=st.integers(1, 3), anywhere=st.integers(0, 3))
    def verify_and_refine(self, data, count, anywhere):
        """A reflexive window and branches beside it; now and then a branch wherever there may be no place for it."""
        leaves = self.free(self.leaves())
        parent = data.draw(st.sampled_from(leaves if anywhere and leaves else self.free(self.committed())))
        if parent in leaves and anywhere:
            self.open_linear(parent, "reflexive")
        for _ in range(count):
            self.open_branch(parent)

    def open_branch(self, parent):
        if any(child.children for child in parent.children if child.pattern == "LINEAR"):
            return
        living, taken = self.living(parent), self.taken(parent.window_id)
        expected = self.refusal()
        if not expected and not taken and len(living) >= MAX_FAN_OUT:
            expected = "FAN_OUT_LIMIT"
        patterns = {child.pattern for child in living}
        if not expected and ("FAN_OUT" in patterns or not any(child.strategy == "reflexive" for child in living)):
            expected = "UNSUPPORTED_STRATEGY"
        if not expected and taken:
            expected = "TOKEN_SPENT"
        self.expect_open(parent.token, self.ask("reflexive", branch=True), expected, (parent,), pattern="BRANCH")

    @precondition(lambda self: any(self.group(node) and node.status != FAILED for node in self.nodes.values()))
    @rule(data=st.data(), partial=st.booleans(), forget=st.booleans(), finish=st.booleans())
    def merge(self, data, partial, forget, finish):
        groups = {self.group(node) for node in self.nodes.values() if node.status != FAILED} - {""}
        group = data.draw(st.sampled_from(sorted(groups, key=self.taken)))
        inside = self.inside(group)
        if finish:
            for node in data.draw(st.permutations([node for node in inside if node.status == PENDING])):
                self.finish(node, "LOW", "B", "")
        leaves = [node for node in inside if node.status == COMMITTED and not self.living(node)]
        branches = any(node.pattern == "BRANCH" for node in inside)
        if not leaves or (branches and any(node.status == PENDING for node in inside)):
            return
        if forget and not branches:
            leaves = leaves[1:]
        if not leaves:
            return
        lineage = set(itertools.chain.from_iterable(self.way(leaf) for leaf in leaves))
        children = [node for node in inside if node.pattern == "FAN_OUT"]
        missing = {node.status for node in children if node.window_id not in lineage}
        expected = self.refusal()
        if not expected and (missing - {FAILED} or (FAILED in missing and not partial)):
            expected = "FAN_IN_INCOMPLETE"
        named = data.draw(st.permutations(leaves))
        ask = self.ask("fan-in", continuation_ids=tuple(leaf.pointer for leaf in named), partial=partial)
        self.expect_open(named[0].token, ask, expected, leaves, pattern="FAN_IN", took=group)

    def way(self, node):
        yield node.window_id
        for parent in node.parents:
            yield from self.way(self.nodes[parent])

    @precondition(lambda self: self.pending())
    @rule(data=st.data(), risk=st.sampled_from(sorted(COST)), tier=st.sampled_from("SABCD"), text=st.text(max_size=9))
    def commit_some(self, data, risk, tier, text):
        order = data.draw(st.permutations(self.pending()))
        for node in order[: data.draw(st.integers(1, len(order)))]:
            self.finish(node, risk, tier, text)

    def finish(self, node, risk, tier, text):
        report = report_for(self.session_id, node.window_id, node.number, text, risk)
        ask = CommitCommand(self.session_id, node.window_id, text, message_json(report), risk, tier, response_tokens=9)
        result, answer, request_id = self.caller.attempt("commit_window", (ask,))
        assert answer is not None, result
        node.status, node.budget = COMMITTED, node.budget - COST[risk]
        node.token, node.pointer = result.issued.session_token, result.window.continuation_id
        assert node.pointer
        self.answered.append(("commit_window", (ask,), request_id, answer))

    @precondition(lambda self: self.pending())
    @rule(data=st.data())
    def fail(self, data):
        node = data.draw(st.sampled_from(self.pending()))
        arguments = ((self.session_id, node.window_id), "reason")
        result, answer, request_id = self.caller.attempt("fail_window", arguments)
        assert answer is not None, result
        node.status = FAILED
        self.answered.append(("fail_window", arguments, request_id, answer))

    @rule(seconds=st.integers(-5, 20))
    def append_while_time_passes_or_goes_back(self, seconds):
        self.world.clock.moment += timedelta(seconds=seconds)
        arguments = (AppendCommand(self.session_id, "TOOL_CALL", "", '{"n":1}'),)
        result, answer, request_id = self.caller.attempt("append_event", arguments)
        assert answer is not None, result
        self.answered.append(("append_event", arguments, request_id, answer))

    @rule(data=st.data())
    def replay(self, data):
        """A request that was answered before gets the same bytes and changes nothing, whatever happened since."""
        rpc, arguments, request_id, answer = data.draw(st.sampled_from(self.answered))
        before = self.snapshot().session.version
        _, again, _ = self.caller.attempt(rpc, arguments, request_id)
        assert again == answer
        assert self.snapshot().session.version == before

    @precondition(lambda self: len(self.nodes) >= MAX_NODES)
    @rule()
    def terminate(self):
        result, answer, _ = self.caller.attempt("terminate_session", (self.session_id, "reason"))
        if not self.open:
            assert result == "SESSION_CLOSED"
            return
        assert answer is not None, result
        self.open = False
        for node in self.pending():
            node.status = FAILED

    # What always holds.

    def snapshot(self):
        return self.caller.run(self.world.store.snapshot("tenant-a", self.session_id))

    @invariant()
    def the_store_holds_what_the_model_says(self):
        if not hasattr(self, "caller"):
            return
        stored = {
            window.window_id: (
                window.window_number,
                tuple(sorted(window.parent_ids)),
                window.pattern.value,
                window.status.value,
                round(100 * window.safety_budget),
            )
            for window in self.snapshot().windows
        }
        model = {
            node.window_id: (node.number, node.parents, node.pattern, node.status, node.budget)
            for node in self.nodes.values()
        }
        assert stored == model

    @invariant()
    def the_chain_verifies_and_the_five_invariants_hold(self):
        if not hasattr(self, "caller"):
            return
        found = self.caller.run(self.world.reads.verify("tenant-a", self.session_id))
        assert found.fault is None
        assert found.integrity is (ChainIntegrity.VALID if self.committed() else ChainIntegrity.UNVERIFIED)
        assert found.windows_verified == len(self.committed())
        assert violations(DagView.of(self.snapshot())) == []


SessionMachine.TestCase.settings = settings(
    max_examples=examples(45), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestSessionMachine = SessionMachine.TestCase


class StoppedClock:
    """A clock that stands still, so that two runs differ in their order alone."""

    def now(self):
        return NOW


SIBLINGS = st.lists(
    st.tuples(st.text(max_size=9), st.sampled_from("SABCD"), st.sampled_from(["LOW", "MEDIUM", "HIGH"])),
    min_size=2,
    max_size=5,
)


def merged_in(order, siblings):
    """Fan out, finish the children in this order, merge them, and return everything that was said of them."""
    world = World(clock=StoppedClock())
    caller = Caller(world)
    root = opened(caller, "", OpenCommand("push", "root"))
    root = finished(caller, root, ("root", "A", "LOW"))
    asks = [OpenCommand("fan-out", f"child-{n}", available_budget_tokens=1000) for n in range(len(siblings))]
    children = [opened(caller, root.issued.session_token, ask) for ask in asks]
    done = {n: finished(caller, children[n], siblings[n]) for n in order}
    pointers = tuple(done[n].window.continuation_id for n in order)
    ask = OpenCommand("fan-in", "merge", pointers, available_budget_tokens=1000)
    merged = opened(caller, done[order[0]].issued.session_token, ask)
    last = finished(caller, merged, ("merged", "B", "MEDIUM"))
    said = [
        (one.window.hmac, one.window.safety_budget, one.quality_history, one.degradation, one.lineage, one.needs_review)
        for one in (*(done[n] for n in range(len(siblings))), last)
    ]
    flows = [(parent.window_id, transfer) for parent, transfer in merged.transfers]
    caller.loop.close()
    return said, flows, merged.facts_seen, merged.quality_history, merged.window.parent_ids


def opened(caller, token, ask):
    result, answer, _ = caller.attempt("open_window", (token, ask))
    assert answer is not None, result
    return result


def finished(caller, opening, plan):
    text, tier, risk = plan
    window = opening.window
    report_id = str(uuid.uuid5(uuid.NAMESPACE_OID, window.window_id))
    report = report_for(window.session_id, window.window_id, window.window_number, text, risk, report_id=report_id)
    facts = (f"fact of {window.window_id}",)
    ask = CommitCommand(
        window.session_id,
        window.window_id,
        text,
        message_json(report),
        risk,
        tier,
        response_tokens=9,
        facts_included=facts,
    )
    result, answer, _ = caller.attempt("commit_window", (ask,))
    assert answer is not None, result
    return result


@settings(max_examples=examples(30), deadline=None)
@given(SIBLINGS, st.data())
def test_the_order_in_which_siblings_finish_changes_no_result(siblings, data):
    order = data.draw(st.permutations(range(len(siblings))))
    assert merged_in(list(order), siblings) == merged_in(list(range(len(siblings))), siblings)
