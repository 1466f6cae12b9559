"""Relay that goes round: three instances with a store each and one master key (SPEC-004 §10.2; ADR 0102)."""

import contextlib
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from pydantic import SecretStr

from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.encoding import base64url_decode
from services.common.settings.dag import DagSettings
from services.common.settings.stores import StoreSettings
from tests.fakes.dag_world import CountingIds, TurnedClock, World, fresh_uuid
from tests.fakes.sealed_world import SECRET, SealedWorld
from tests.tenth import WHOLE

BROKEN, PARTIAL, VALID = (
    taxonomy.CHAIN_INTEGRITY_BROKEN,
    taxonomy.CHAIN_INTEGRITY_PARTIAL,
    taxonomy.CHAIN_INTEGRITY_VALID,
)
FAN_OUT, FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_OUT, taxonomy.DISPATCH_STRATEGY_FAN_IN
LONG = DagSettings(master_key=SecretStr(SECRET), log_name="log.example", max_windows=1_000, max_dag_nodes=1_000)


@dataclass
class Instance:
    """One instance over its own SQLite file; it can be stopped and started again."""

    folder: Path
    name: str
    clock: TurnedClock
    ids: CountingIds = field(init=False)
    client: Any = None
    stack: Any = None

    def __post_init__(self):
        self.ids = CountingIds(prefix=self.name)

    @property
    def path(self):
        return self.folder / f"{self.name}.db"

    async def start(self):
        self.stack = contextlib.AsyncExitStack()
        store = await SqliteSessionStore.open(self.path, StoreSettings(synchronous="NORMAL"))
        self.stack.push_async_callback(store.close)
        world = SealedWorld(store, self.clock, self.ids, LONG)
        self.client = await self.stack.enter_async_context(world.serving())

    async def stop(self):
        await self.stack.aclose()

    async def verify(self, session_id):
        return await self.client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


@contextlib.asynccontextmanager
async def instances(folder, names="abc"):
    clock = TurnedClock()
    found = [Instance(folder, name, clock) for name in names]
    for one in found:
        await one.start()
    try:
        yield found
    finally:
        for one in found:
            await one.stop()


def replay(token, **fields):
    return pb.OpenWindowRequest(
        **({"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 10} | fields)
    )


@pytest.mark.tenth
@pytest.mark.timeout(170)
@pytest.mark.parametrize("windows", [200 if WHOLE else 20])
async def test_hundreds_of_windows_go_round_three_instances(tmp_path, windows):
    async with instances(tmp_path) as found:
        token, sent, restarted = "", [], 0
        for number in range(1, windows + 1):
            at = found[(number - 1) % 3]
            if number % 20 == 0:
                await at.stop()
                await at.start()
                restarted += 1
            done = await at.client.window(token, tier="AB"[number % 2])
            assert done.window.window_number == number
            if number > 3:
                assert done.chain_integrity == PARTIAL
            assert done.safety_budget == 1.0
            token = done.session_token
            assert len(token.partition(".")[0]) <= 4096
            sent.append(token)
        session_id = done.session.session_id
        assert restarted == windows // 20
        assert done.set_session.count(",") >= windows - 1  # the whole history came along
        for place, one in enumerate(found):
            verified = await one.verify(session_id)
            own = range(place + 1, windows + 1, 3)
            seen = {number for window in own for number in (window - 1, window) if number}
            assert (verified.integrity, verified.windows_total) == (PARTIAL, len(seen))
            graph = await one.client.call("GetDag", pb.GetDagRequest(session_id=session_id))
            assert graph.session.status == dag_pb2.SESSION_STATUS_OPEN
            # Every store that saw a later window of the line refuses an earlier token.
            for late in (1, windows // 4, windows // 2, windows * 3 // 4, windows - 3):
                assert (await one.client.fails("OpenWindow", replay(sent[late - 1]))).reason == "TOKEN_SPENT"
        assert (await found[1].client.fails("OpenWindow", replay(sent[windows - 2]))).reason == "TOKEN_SPENT"
        assert (await found[0].verify(session_id)).integrity == PARTIAL
        # Tampering on one of them is found there, and there alone.
        with sqlite3.connect(found[2].path) as file:
            file.execute(
                "UPDATE windows SET risk_level = 'LOW', quality_tier = 'S' WHERE window_number = ?", (windows // 6 * 3,)
            )
        file.close()
        assert (await found[2].verify(session_id)).integrity == BROKEN
        assert (await found[0].verify(session_id)).integrity == PARTIAL
        refused = await found[2].client.fails("OpenWindow", replay(token))
        assert refused.reason == "CHAIN_BROKEN"
        assert (await found[0].client.window(token)).chain_integrity == PARTIAL


async def test_there_and_back(tmp_path):
    """The audit's H4: the origin adopts the newer tip and its own windows stay as they are."""
    async with instances(tmp_path, "ab") as (a, b):
        first = await a.client.window(tier="A")
        second = await b.client.window(first.session_token, tier="B", risk="HIGH")
        opened = await a.client.open(second.session_token, continuation_ids=[second.continuation_id])
        assert (opened.window.window_number, opened.safety_budget) == (3, 0.85)
        assert opened.chain_integrity == PARTIAL
        assert [taxonomy.QualityTier.Name(tier)[-1] for tier in opened.quality_history] == ["A", "B"]
        third = await a.client.commit(opened, tier="C")
        assert third.set_session.endswith("QualityHistory=A,B,C")
        assert third.dag_root == f"dag:{first.window.window_id}"
        graph = await a.client.call("GetDag", pb.GetDagRequest(session_id=first.session.session_id))
        (relayed,) = [edge for edge in graph.edges if edge.transfer_type == dag_pb2.TRANSFER_TYPE_RELAYED]
        assert relayed.source_id == first.window.window_id
        again = await b.client.window(third.session_token)
        assert (again.window.window_number, again.chain_integrity) == (4, PARTIAL)


async def test_what_flows_into_each_window_is_the_line_s_own_tightened_policy(tmp_path):
    loose, strict = "a" * 64, "b" * 64
    async with instances(tmp_path, "ab") as (a, b):
        first = await a.client.window(policy_hash=loose)
        second = await b.client.window(first.session_token, policy_hash=strict, policy_tightened=True)
        refused = await a.client.fails("OpenWindow", replay(second.session_token, policy_hash=loose))
        assert refused.reason == "POLICY_RELAXED"
        third = await a.client.window(second.session_token)
        graph = await a.client.call("GetDag", pb.GetDagRequest(session_id=third.session.session_id))
        assert graph.session.policy_hash == strict


async def test_a_fork_goes_on_apart_and_is_refused_where_it_is_seen(tmp_path):
    """One token used at two stores at once: neither can know; each line goes on, and neither closes the other."""
    async with instances(tmp_path) as (a, b, c):
        first = await a.client.window()
        here = await a.client.window(first.session_token)
        there = await b.client.window(first.session_token)
        assert here.window.hmac != there.window.hmac
        assert (await a.client.fails("OpenWindow", replay(there.session_token))).reason == "TOKEN_SPENT"
        assert (await b.client.fails("OpenWindow", replay(here.session_token))).reason == "TOKEN_SPENT"
        here, there = await a.client.window(here.session_token), await b.client.window(there.session_token)
        # A third store takes whichever comes first and refuses the other from then on.
        went_on = await c.client.window(there.session_token)
        assert (await c.client.fails("OpenWindow", replay(here.session_token))).reason in (
            "TOKEN_SPENT",
            "CONTINUATION_NOT_FOUND",
        )
        for one in (a, b, c):
            assert (await one.verify(first.session.session_id)).integrity in (VALID, PARTIAL)
        assert (await b.client.window(went_on.session_token)).window.window_number == 5


async def test_a_fork_of_the_very_first_window(tmp_path):
    async with instances(tmp_path, "ab") as (a, b):
        made = await a.client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
        here, there = await a.client.window(made.session_token), await b.client.window(made.session_token)
        assert (await a.client.fails("OpenWindow", replay(there.session_token))).reason == "TOKEN_SPENT"
        assert (await a.client.window(here.session_token)).chain_integrity == VALID


async def test_a_session_that_began_here_and_whose_first_window_is_elsewhere(tmp_path):
    async with instances(tmp_path, "ab") as (a, b):
        made = await a.client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
        first = await b.client.window(made.session_token)
        second = await a.client.window(first.session_token)
        assert (second.window.window_number, second.chain_integrity) == (2, PARTIAL)


async def test_children_of_one_fan_out_at_three_instances_merge_where_all_are_known(tmp_path):
    async with instances(tmp_path) as (a, b, c):
        first = await a.client.window(tier="A")
        fan = {"strategy": FAN_OUT, "continuation_ids": [first.continuation_id]}
        children = [await one.client.window(first.session_token, tier="B", risk="MEDIUM", **fan) for one in (a, b, c)]
        assert {child.window.window_number for child in children} == {2}
        # A fan-in names pointers that this store never saw (§16.1).
        ids = [child.continuation_id for child in children]
        merge = {"strategy": FAN_IN, "continuation_ids": ids}
        refused = await a.client.fails("OpenWindow", replay(children[0].session_token, **merge))
        assert refused.reason == "CONTINUATION_NOT_FOUND"
        # Each branch goes on here: its token brings it along, and then the fan-in has all three.
        ends = [children[0], *[await a.client.window(child.session_token, tier="C") for child in children[1:]]]
        assert [end.window.window_number for end in ends] == [2, 3, 3]
        merge = {"strategy": FAN_IN, "continuation_ids": [end.continuation_id for end in ends]}
        merged = await a.client.window(ends[0].session_token, **merge)
        assert merged.window.window_number == 4
        assert merged.chain_integrity == PARTIAL
        assert merged.safety_budget == 0.95
        assert merged.set_session.endswith("QualityHistory=A,[B,B,B],[C,C],A")
        for end in (children[0], *ends[1:]):
            assert (await a.client.fails("OpenWindow", replay(end.session_token))).reason == "TOKEN_SPENT"
        # The merged line goes back to a store that holds one branch: the group is closed there too.
        after = await b.client.window(merged.session_token)
        assert after.window.window_number == 5
        refused = await b.client.fails("OpenWindow", replay(first.session_token, strategy=FAN_OUT))
        assert refused.reason == "TOKEN_SPENT"
        for one in (a, b, c):
            assert (await one.verify(first.session.session_id)).integrity in (VALID, PARTIAL)


async def test_a_nested_fan_out_comes_back_and_stays_a_branch(tmp_path):
    async with instances(tmp_path, "ab") as (a, b):
        first = await a.client.window()
        outer = [await a.client.window(first.session_token, strategy=FAN_OUT) for _ in range(2)]
        inner = [await b.client.window(outer[0].session_token, strategy=FAN_OUT) for _ in range(2)]
        ends = [await a.client.window(one.session_token) for one in inner]
        assert [end.window.window_number for end in ends] == [4, 4]
        merge = {"strategy": FAN_IN, "continuation_ids": [end.continuation_id for end in ends]}
        merged = await a.client.window(ends[0].session_token, **merge)
        whole = {"strategy": FAN_IN, "continuation_ids": [merged.continuation_id, outer[1].continuation_id]}
        assert (await a.client.window(merged.session_token, **whole)).window.window_number == 6
        assert (await a.verify(first.session.session_id)).integrity == PARTIAL


@pytest.mark.parametrize("later", [False, True], ids=["own token", "token of another store"])
async def test_a_store_that_was_set_back_is_found(tmp_path, later):
    """A token names this store and a window it does not have: a rollback, closed as such (SPEC-004 §16.4)."""
    async with instances(tmp_path, "ab") as (a, b):
        first = await a.client.window()
        await a.stop()
        kept = a.path.read_bytes()
        await a.start()
        second = await a.client.window(first.session_token)
        token = (await b.client.window(second.session_token)).session_token if later else second.session_token
        await a.stop()
        a.path.write_bytes(kept)
        for extra in ("-wal", "-shm"):
            a.path.with_name(a.path.name + extra).unlink(missing_ok=True)
        await a.start()
        assert (await a.client.fails("OpenWindow", replay(token))).reason == "CHAIN_BROKEN"
        assert (await a.verify(first.session.session_id)).integrity == BROKEN


async def test_a_lost_session_is_no_relay_for_the_store_that_lost_it(tmp_path):
    async with instances(tmp_path, "ab") as (a, b):
        first = await a.client.window()
        with sqlite3.connect(a.path) as file:
            for table in ("windows", "events", "reports", "edges", "sessions"):
                file.execute(f"DELETE FROM {table}")
        file.close()
        assert (await a.client.fails("OpenWindow", replay(first.session_token))).reason == "CHAIN_BROKEN"
        assert (await b.client.window(first.session_token)).window.window_number == 2


async def test_another_store_id_does_not_turn_a_rollback_into_a_relay(tmp_path):
    """The session's first event names the store under its HMAC."""
    async with instances(tmp_path, "a") as (a,):
        first = await a.client.window()
        await a.stop()
        kept = a.path.read_bytes()
        await a.start()
        second = await a.client.window(first.session_token)
        await a.stop()
        a.path.write_bytes(kept)
        with sqlite3.connect(a.path) as file:
            file.execute("UPDATE store_identity SET store_id = 'ffffffffffffffff'")
        file.close()
        await a.start()
        assert (await a.client.fails("OpenWindow", replay(second.session_token))).reason == "CHAIN_BROKEN"


async def test_a_token_without_origins_is_refused_and_closes_nothing(monkeypatch):
    """Tokens of before and of other implementations name no store: whether it is a relay cannot be told."""
    from services.dag.domain import token as tokens

    a, b = World(), World(ids=CountingIds(prefix="y"))
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "origin_fields", lambda _: [])
        async with a.serving() as here, b.serving() as there:
            first = await here.window()
            assert b'"org":[]' in base64url_decode(first.session_token.partition(".")[0])
            second = await there.window(first.session_token)
            assert (await here.fails("OpenWindow", replay(second.session_token))).reason == "CONTINUATION_NOT_FOUND"
            again = await here.window(first.session_token)
            assert again.chain_integrity == VALID
            assert (await there.window(second.session_token)).window.window_number == 3


async def test_failed_attempts_in_between_keep_no_line_out(tmp_path):
    """A store that only tried to continue holds stand-ins alone; whether they are on the line it cannot know."""
    async with instances(tmp_path) as (a, b, c):
        first = await a.client.window()
        second = await b.client.window(first.session_token)

        async def tries(token):
            opened = await c.client.open(token)
            request = pb.FailWindowRequest(
                request_id=fresh_uuid(),
                session_id=opened.session.session_id,
                window_id=opened.window.window_id,
                reason="LLM_UNAVAILABLE",
            )
            await c.client.call("FailWindow", request)

        await tries(first.session_token)
        await tries(second.session_token)
        third = await a.client.window(second.session_token)
        fourth = await b.client.window(third.session_token)
        await tries(fourth.session_token)
        fifth = await c.client.window(fourth.session_token)
        assert (fifth.window.window_number, fifth.chain_integrity) == (5, PARTIAL)
