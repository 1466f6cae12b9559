"""Properties of the chain: one input for each window, verify after append, tokens that come back as they went."""

import asyncio
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.common.encoding import iso_micros
from services.common.errors import CrpError, ErrorReason
from services.common.ports.sessions import DeferredFact
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity, Degradation, QualityTier
from services.dag.app import AppendCommand
from services.dag.beginning import CreateCommand
from services.dag.domain import budget, chain, quality
from services.dag.domain import token as tokens
from services.dag.domain.committing import CommitCommand
from services.dag.domain.invariants import violations
from services.dag.domain.opening import OpenCommand
from services.dag.domain.token import TokenState
from services.dag.domain.view import DagView
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, World, fresh_uuid, report_for
from tests.tenth import examples

HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
FIRST_DAY, LAST_DAY = datetime(1, 1, 1), datetime(9999, 12, 31)  # noqa: DTZ001 - hypothesis takes naive bounds
MOMENTS = st.datetimes(min_value=FIRST_DAY, max_value=LAST_DAY, timezones=st.just(UTC))
SESSION_IDS = st.text(string.ascii_letters + string.digits, min_size=32, max_size=32).map("crp_sess_".__add__)
MATERIALS = st.builds(chain.WindowMaterial, SESSION_IDS, st.integers(1, 10_000), MOMENTS, HEX, HEX)
KEY = bytes(32)


def parsed(text):
    """Read the concatenation back by its widths: session id, number up to the year's digits, and four fixed parts."""
    session, rest = text[:41], text[41:]
    tail = rest[-(27 + 64 + 64) :] if len(rest) <= 27 + 64 + 64 + 5 else ""
    number = rest[: len(rest) - len(tail)]
    return session, int(number), tail[:27], tail[27:91], tail[91:155]


@given(MATERIALS)
def test_the_concatenation_is_read_back_without_doubt(material):
    assert len(iso_micros(material.timestamp)) == 27
    assert parsed(material.text()) == (
        material.session_id,
        material.window_number,
        iso_micros(material.timestamp),
        material.response_hash,
        material.report_hash,
    )


@given(MATERIALS, MATERIALS, st.lists(HEX, max_size=3), st.lists(HEX, max_size=3))
def test_two_windows_share_an_hmac_only_when_they_are_the_same(one, two, parents_one, parents_two):
    same = one == two and sorted(parents_one) == sorted(parents_two)
    assert (chain.chained_hmac(one, parents_one, KEY) == chain.chained_hmac(two, parents_two, KEY)) is same


@given(MATERIALS, st.lists(HEX, min_size=2, max_size=5), st.randoms())
def test_a_fan_in_does_not_depend_on_the_order_of_its_parents(material, parents, random):
    shuffled = list(parents)
    random.shuffle(shuffled)
    assert chain.chained_hmac(material, parents, KEY) == chain.chained_hmac(material, shuffled, KEY)


@given(MATERIALS, st.lists(HEX, max_size=4), st.integers(0, 4), HEX)
def test_any_changed_parent_changes_the_hmac(material, parents, position, other):
    changed = [*parents[:position], other, *parents[position + 1 :]]
    if sorted(changed) != sorted(parents):
        assert chain.chained_hmac(material, parents, KEY) != chain.chained_hmac(material, changed, KEY)


EPOCH, FAR = datetime(1970, 1, 1), datetime(9000, 1, 1)  # noqa: DTZ001 - hypothesis takes naive bounds
WHOLE_SECONDS = st.datetimes(min_value=EPOCH, max_value=FAR, timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@given(
    st.builds(
        TokenState,
        session_id=SESSION_IDS,
        window_number=st.integers(0, 10_000),
        quality_history=st.lists(st.sampled_from("SABCD"), max_size=40).map(tuple),
        safety_budget=st.floats(0, 1),
        chain_tip=st.one_of(st.just(""), HEX),
        continuation_id=TEXTS,
        dag_structure=st.sampled_from(["LINEAR", "FAN_OUT", "FAN_IN", "BRANCH"]),
        strategy=TEXTS,
        policy_hash=st.one_of(st.just(""), HEX),
        ckf_state_hash=TEXTS,
        scope=TEXTS,
        tenant=TEXTS,
        limits=st.one_of(st.just(()), st.tuples(*[st.integers(0, 10_000)] * 4)),
        issued_at=WHOLE_SECONDS,
        expires_at=WHOLE_SECONDS,
        key_version=st.integers(0, 1000),
        hmac_key_version=st.integers(0, 1000),
    )
)
def test_a_token_comes_back_as_it_went(state):
    token = tokens.issue(state, KEY)
    assert len(token.partition(".")[0]) <= tokens.MAX_PAYLOAD_CHARS
    presented = tokens.read(token)
    assert presented.state == state
    assert presented.signature == tokens.signature(presented.payload_text, KEY)


@given(st.text(max_size=300))
def test_no_text_crashes_the_reader(text):
    with pytest.raises(CrpError) as caught:
        tokens.read(text)
    assert caught.value.reason is ErrorReason.TOKEN_INVALID


@given(st.lists(st.sampled_from(["LOW", "MEDIUM", "HIGH", "CRITICAL"]), max_size=40))
def test_the_budget_never_rises_and_never_goes_below_zero(risks):
    left = 1.0
    for risk in risks:
        after = budget.after_window(left, risk)
        assert 0.0 <= after <= left
        left = after
    exact = max(0, 100 - sum(round(100 * budget.COST_BY_RISK[risk]) for risk in risks)) / 100
    assert left == exact


@given(st.lists(st.sampled_from("SABCD"), max_size=12))
def test_a_better_last_window_is_no_degradation(history):
    ranks = [QualityTier(tier).rank for tier in history]
    improved = len(ranks) > 1 and ranks[-1] < ranks[-2]
    if improved:
        assert quality.degradation(history) is Degradation.NONE


class SessionMachine(RuleBasedStateMachine):
    """Any sequence of steps against a naive model: the chain verifies and the five invariants hold after each."""

    @initialize(max_windows=st.integers(1, 6))
    def begin(self, max_windows):
        self.world = World(settings=DagSettings(max_windows=max_windows, max_dag_nodes=8))
        self.max_windows = max_windows
        self.result = {}
        created = self.run(self.world.app.create_session(ALICE, CreateCommand(), self.key("CreateSession")))
        self.session_id = created.session.session_id
        self.token = created.issued.session_token
        self.pending, self.nodes, self.committed, self.open = None, 0, [], True
        self.spent = []

    def key(self, rpc):
        def encode(result):
            self.result[rpc] = result
            return b"x"

        return RequestKey(rpc, fresh_uuid(), "h", encode)

    def run(self, call):
        asyncio.run(call)
        return next(reversed(self.result.values()))

    def refused(self, call):
        try:
            asyncio.run(call)
        except CrpError as error:
            return error.reason
        raise AssertionError("should have been refused")

    def opening(self, token):
        self.result.pop("OpenWindow", None)
        ask = OpenCommand("push", fresh_uuid(), available_budget_tokens=100)
        return self.world.app.open_window(ALICE, token, ask, self.key("OpenWindow"))

    @rule()
    def open_window(self):
        if not self.open:
            assert self.refused(self.opening(self.token)) is ErrorReason.SESSION_CLOSED
        elif self.nodes >= 8:  # limits come before everything else (SPEC-004 §17.4)
            assert self.refused(self.opening(self.token)) is ErrorReason.DAG_NODE_LIMIT
        elif self.pending:
            assert self.refused(self.opening(self.token)) is ErrorReason.TOKEN_SPENT
        else:
            self.pending = self.run(self.opening(self.token)).window
            assert self.pending.window_number == len(self.committed) + 1
            self.nodes += 1

    @precondition(lambda self: self.pending)
    @rule(
        risk=st.sampled_from(["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
        tier=st.sampled_from("SABCD"),
        text=TEXTS,
        tokens_=st.integers(0, 100),
    )
    def commit(self, risk, tier, text, tokens_):
        report = report_for(self.session_id, self.pending.window_id, self.pending.window_number, text, risk)
        ask = CommitCommand(
            self.session_id,
            self.pending.window_id,
            text,
            message_json(report),
            risk,
            tier,
            response_tokens=tokens_,
            facts_deferred=(DeferredFact("f", tokens_),),
        )
        self.result.pop("CommitWindow", None)
        result = self.run(self.world.app.commit_window(ALICE, ask, self.key("CommitWindow")))
        self.spent.append(self.token)
        self.token, self.pending = result.issued.session_token, None
        self.committed.append((tier, risk))
        left = max(0, 100 - sum(round(100 * budget.COST_BY_RISK[r]) for _, r in self.committed)) / 100
        assert result.window.safety_budget == left
        assert list(result.quality_history) == [t for t, _ in self.committed]
        self.open = left > 0 and len(self.committed) < self.max_windows
        assert bool(result.window.continuation_id) is self.open

    @precondition(lambda self: self.pending)
    @rule()
    def fail(self):
        self.result.pop("FailWindow", None)
        ids = (self.session_id, self.pending.window_id)
        self.run(self.world.app.fail_window(ALICE, ids, "r", self.key("FailWindow")))
        self.pending = None

    @rule()
    def append(self):
        self.result.pop("AppendEvent", None)
        ask = AppendCommand(self.session_id, "TOOL_CALL", "", '{"n":1}')
        self.run(self.world.app.append_event(ALICE, ask, self.key("AppendEvent")))

    @precondition(lambda self: self.spent and self.open)
    @rule(data=st.data())
    def use_an_old_token(self, data):
        token = data.draw(st.sampled_from(self.spent))
        expected = ErrorReason.DAG_NODE_LIMIT if self.nodes >= 8 else ErrorReason.TOKEN_SPENT
        assert self.refused(self.opening(token)) is expected

    @rule(seconds=st.integers(0, 60))
    def wait(self, seconds):
        self.world.clock.moment += timedelta(seconds=seconds)

    @invariant()
    def the_chain_verifies(self):
        if not hasattr(self, "world"):
            return
        found = asyncio.run(self.world.reads.verify("tenant-a", self.session_id))
        assert found.fault is None
        assert found.integrity is (ChainIntegrity.VALID if self.committed else ChainIntegrity.UNVERIFIED)
        assert found.windows_verified == len(self.committed)

    @invariant()
    def the_five_invariants_hold(self):
        if hasattr(self, "world"):
            snapshot = asyncio.run(self.world.store.snapshot("tenant-a", self.session_id))
            assert violations(DagView.of(snapshot)) == []


SessionMachine.TestCase.settings = settings(
    max_examples=examples(25), stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestSessionMachine = SessionMachine.TestCase


@given(HEX, HEX)
def test_the_report_hash_cannot_be_moved_into_the_response_hash(left, right):
    """Fixed widths: what ends one field never begins the next."""
    one = chain.WindowMaterial("crp_sess_" + "a" * 32, 1, datetime(2026, 1, 1, tzinfo=UTC), left, right)
    assert (
        chain.window_hmac(one, KEY) == chain.window_hmac(replace(one, response_hash=right, report_hash=left), KEY)
    ) is (left == right)
