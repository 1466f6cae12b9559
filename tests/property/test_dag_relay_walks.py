"""Sessions that wander over stores: an honest client is never refused, and nothing is ever closed.

Generated walks over three or four stores of one master key: windows opened, given up and committed anywhere, fan-outs
whose branches go their own ways and are merged at one store, old tokens tried again (SPEC-004 §10.2; ADR 0102).
"""

import asyncio
import uuid
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.errors import CrpError
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity
from services.dag.domain.committing import CommitCommand
from services.dag.domain.invariants import violations
from services.dag.domain.opening import OpenCommand
from services.dag.domain.view import DagView
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, CountingIds, TurnedClock, World, report_for
from tests.tenth import examples

LONG = DagSettings(max_windows=1_000, max_dag_nodes=1_000, max_fan_out=20, token_lifetime_s=86_400)
SOUND = {ChainIntegrity.VALID, ChainIntegrity.PARTIAL, ChainIntegrity.UNVERIFIED}


@dataclass
class Made:
    """A committed window, as the client knows it."""

    token: str
    pointer: str
    number: int
    hmac: str
    store: int
    parents: tuple = ()


@dataclass
class Stores:
    """Several instances, each with a store of its own."""

    count: int
    worlds: list = field(default_factory=list)
    session_id: str = ""
    made: list = field(default_factory=list)

    def __post_init__(self):
        clock = TurnedClock()
        self.worlds = [World(clock=clock, ids=CountingIds(prefix="abcd"[n]), settings=LONG) for n in range(self.count)]
        self.results = {}

    def key(self, rpc):
        request_id = str(uuid.uuid4())

        def encode(result):
            self.results[request_id] = result
            return b"x"

        return RequestKey(rpc, request_id, "body", encode)

    async def call(self, at, rpc, *arguments):
        key = self.key(rpc)
        await getattr(self.worlds[at].app, rpc)(ALICE, *arguments, key)
        return self.results[key.request_id]

    async def open(self, at, token="", strategy="push", pointers=()):
        ask = OpenCommand(strategy, str(uuid.uuid4()), continuation_ids=pointers, available_budget_tokens=10)
        return await self.call(at, "open_window", token, ask)

    async def commit(self, at, opened, parents=()):
        window = opened.window
        report = message_json(report_for(window.session_id, window.window_id, window.window_number, "text"))
        ask = CommitCommand(window.session_id, window.window_id, "text", report, "LOW", "A")
        done = await self.call(at, "commit_window", ask)
        self.session_id = window.session_id
        self.made.append(
            Made(
                done.issued.session_token,
                done.window.continuation_id,
                done.window.window_number,
                done.window.hmac,
                at,
                parents,
            )
        )
        return self.made[-1]

    async def window(self, at, parent=None, strategy="push", merged=()):
        pointers = tuple(one.pointer for one in merged)
        opened = await self.open(at, parent.token if parent else "", strategy, pointers)
        return await self.commit(at, opened, tuple(merged) or ((parent,) if parent else ()))

    async def give_up(self, at, parent):
        opened = await self.open(at, parent.token)
        await self.call(at, "fail_window", (opened.window.session_id, opened.window.window_id), "LLM_UNAVAILABLE")

    async def check(self):
        """Nothing is closed or broken anywhere, and every store's graph keeps its invariants."""
        for world in self.worlds:
            snapshot = await world.store.snapshot("tenant-a", self.session_id)
            if snapshot is None:
                continue
            assert snapshot.session.status.value == "OPEN"
            assert violations(DagView.of(snapshot)) == []
            found = await world.reads.verify("tenant-a", self.session_id)
            assert found.integrity in SOUND, found

    def lines_above(self, window):
        """The window and all that it descends from."""
        found, waiting = {}, [window]
        while waiting:
            one = waiting.pop()
            if one.hmac not in found:
                found[one.hmac] = one
                waiting.extend(one.parents)
        return found


def run(walk):
    asyncio.run(walk)


STEPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["go", "go", "go", "give up"])), min_size=1, max_size=14)


@settings(max_examples=examples(150, least=5, share=30))
@given(st.integers(2, 4), STEPS)
def test_an_honest_line_is_never_refused(count, steps):
    async def walk():
        stores = Stores(count)
        latest = await stores.window(0)
        for place, what in steps:
            at = place % count
            if what == "give up":
                await stores.give_up(at, latest)
            else:
                latest = await stores.window(at, latest)
            await stores.check()
        assert latest.number == 1 + sum(what == "go" for _, what in steps)

    run(walk())


@settings(max_examples=examples(150, least=5, share=30))
@given(
    st.integers(2, 4),
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=5)),
        min_size=2,
        max_size=4,
    ),
    st.integers(0, 3),
    st.lists(st.integers(0, 3), max_size=3),
)
def test_honest_branches_go_their_ways_and_merge_where_all_were(count, before, branches, meet, after):
    async def walk():
        stores = Stores(count)
        root = await stores.window(0)
        for at in before:
            root = await stores.window(at % count, root)
        for at in range(count):  # a store that came in on one branch takes no other: it holds one root (§3.3)
            await stores.give_up(at, root)
        ends = []
        for at, steps in branches:
            end = await stores.window(at % count, root, "fan-out")
            for place, gives_up in steps:
                if gives_up:
                    await stores.give_up(place % count, end)
                else:
                    end = await stores.window(place % count, end)
            ends.append(end)
            await stores.check()
        ends = [await stores.window(meet % count, end) for end in ends]
        latest = await stores.window(meet % count, ends[0], "fan-in", tuple(ends))
        assert latest.number == 1 + max(end.number for end in ends)
        for at in after:
            latest = await stores.window(at % count, latest)
        await stores.check()
        for end in ends:  # the branches are taken where that is known
            with pytest.raises(CrpError) as caught:
                await stores.window(meet % count, end)
            assert caught.value.reason == "TOKEN_SPENT"

    run(walk())


@settings(max_examples=examples(150, least=5, share=30))
@given(st.integers(2, 4), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=2, max_size=14))
def test_replays_make_forks_at_most_where_no_store_can_know(count, steps):
    """Any token at any store: taken, or refused without closing; never where a later window of its line was made."""

    async def walk():
        stores = Stores(count)
        await stores.window(0)
        for place, which in steps:
            at, parent = place % count, stores.made[-1 - which % len(stores.made)]
            knows = any(
                one.store == at and one.hmac != parent.hmac and parent.hmac in stores.lines_above(one)
                for one in stores.made
            )
            refused = ""
            try:
                await stores.window(at, parent)
            except CrpError as error:
                refused = error.reason.value
            assert refused in ("TOKEN_SPENT", "CONTINUATION_NOT_FOUND") or not (refused or knows)
            await stores.check()

    run(walk())
