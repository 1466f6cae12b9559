"""What every ``SessionStore`` promises."""

import asyncio
import hashlib
import re
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from services.common.errors import ConflictError, ErrorReason, LogInconsistentError
from services.common.merkle import CompactRange, fold, leaf_hash, places
from services.common.ports.session_lists import DuePlace, LatestWindow, SessionFilter
from services.common.ports.sessions import (
    DeferredFact,
    EdgeRecord,
    LoadedSession,
    LoggedSession,
    SessionChange,
    SessionSnapshot,
    SessionStatus,
    TransferType,
    WindowPattern,
    WindowRecord,
)
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState
from services.common.taxonomy import WindowStatus
from tests.contract.adapters import SEALED_SESSION_STORES, SESSION_STORES, durable, parameters
from tests.contract.records import HOSTILE, LATER, NOW, digest, event, receipt, report, session, window


@pytest.fixture(params=parameters((*SESSION_STORES, *SEALED_SESSION_STORES)))
def adapter(request):
    return request.param


@pytest.fixture(params=parameters(SESSION_STORES))
async def plain_store(request, tmp_path):
    """A store that holds the leaves it is given and no others."""
    opened = await request.param.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture(params=parameters(durable(SESSION_STORES)))
def durable_adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


def edge(session_id: str, source: int, target: int, **changes) -> EdgeRecord:
    values: dict[str, Any] = {
        "transfer_type": TransferType.SUMMARY,
        "transferred_tokens": 12,
        "summary_hash": digest("summary"),
    }
    return EdgeRecord(session_id, f"{session_id}/w{source}", f"{session_id}/w{target}", **(values | changes))


def opened(session_id: str, **changes) -> SessionChange:
    return SessionChange(
        session(session_id, **changes),
        windows=(window(session_id, 1),),
        events=(event(session_id, 0),),
        reports=(report(session_id, f"{session_id}/r1"),),
    )


def continued(session_id: str, version: int, **changes) -> SessionChange:
    values: dict[str, Any] = {
        "windows": (window(session_id, version),),
        "edges": (edge(session_id, version - 1, version),),
        "events": (event(session_id, version - 1),),
    }
    return SessionChange(session(session_id, version), **(values | changes))


async def refused(store, change: SessionChange) -> None:
    """Write, expect a race, and expect nothing of it to be there."""
    key = (change.session.tenant_id, change.session.session_id)
    before = await store.snapshot(*key)
    reports = await store.page_reports(change.session.tenant_id, "", after="", limit=99)
    with pytest.raises(ConflictError) as caught:
        await store.write(change)
    assert caught.value.reason is ErrorReason.COMMIT_RACE
    assert await store.snapshot(*key) == before
    assert await store.page_reports(change.session.tenant_id, "", after="", limit=99) == reports
    if change.receipt is not None:
        assert await store.get_receipt(key[0], change.receipt.rpc, change.receipt.request_id) is None


class TestIdentity:
    async def test_a_store_has_one_id(self, store):
        """What tells relay from rollback (ADR 0102): drawn once, whoever asks."""
        found = {await store.store_id() for _ in range(3)}
        assert len(found) == 1
        assert re.fullmatch(r"[0-9a-f]{16}", *found)

    async def test_what_tells_a_master_key_is_kept_once(self, store):
        assert await store.key_checks() == {}
        for version, value in ((1, b"one"), (12, b"twelve"), (1, b"another")):
            await store.keep_key_check(version, value)
        assert await store.key_checks() == {1: b"one", 12: b"twelve"}


class TestRecords:
    async def test_every_field_comes_back(self, store):
        full = WindowRecord(
            session_id="s",
            window_id="w",
            window_number=3,
            parent_ids=("p1", "p2"),
            pattern=WindowPattern.FAN_IN,
            status=WindowStatus.FAILED,
            strategy="reflexive",
            timestamp=LATER,
            opened_by_request="request",
            continuation_id="c",
            envelope_etag='"etag"',
            quality_tier="A",
            risk_level="LOW",
            safety_budget=0.1 + 0.2,
            hmac=digest("h"),
            window_hmac=digest("w"),
            token_count=11,
            response_hash=digest("r"),
            response_text="text\x00 🧾",
            response_tokens=22,
            report_id="report",
            report_hash=digest("report"),
            model_fingerprint="model@1",
            facts_included=("f1", "f2"),
            facts_deferred=(DeferredFact("f3", 33), DeferredFact("f4", 44)),
            failure_reason="LLM_UNAVAILABLE",
        )
        # The salt is the one field that stores never see: it travels inside the sealed text.
        kept = [field for field in fields(full) if field.compare]
        assert all(getattr(full, field.name) not in (field.default, "", 0) for field in kept)
        child = session(
            "s", parent_session_id="parent", loop_depth=2, status=SessionStatus.BROKEN, budget_ceiling=0.1 + 0.2
        )
        flow = EdgeRecord("s", "p1", "w", TransferType.FACTS_ONLY, 5, "")
        await store.write(SessionChange(child, (full,), (flow,), (event("s", 0),), (report("s", "r"),), receipt("q")))
        assert await store.snapshot("tenant-a", "s") == SessionSnapshot(child, (full,), (flow,), event("s", 0))
        assert await store.find_continuation("tenant-a", "c") == full
        assert await store.get_report("tenant-a", "r") == report("s", "r")
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")

    async def test_any_text_is_kept_and_found(self, store):
        await store.write(opened("other"))
        for text in HOSTILE:
            hostile = window(text, 1, window_id=text, response_text=text, facts_included=(text,), continuation_id=text)
            written = SessionChange(
                session(text, scope=text),
                windows=(hostile,),
                events=(event(text, 0, data=text),),
                reports=(report(text, text, body=text),),
            )
            await store.write(written)
            snapshot = await store.snapshot("tenant-a", text)
            assert snapshot == SessionSnapshot(written.session, (hostile,), (), written.events[0])
            assert await store.find_continuation("tenant-a", text) == hostile
            assert await store.get_report("tenant-a", text) == written.reports[0]
            assert await store.page_events("tenant-a", text, after_sequence=-1, limit=9) == list(written.events)

    async def test_a_snapshot_is_ordered(self, store):
        await store.write(opened("s"))
        windows = tuple(window("s", 2, window_id=name, continuation_id="", parent_ids=("s/w1",)) for name in "zay")
        edges = tuple(EdgeRecord("s", source, "z", TransferType.SUMMARY, 1) for source in ("q", "p"))
        await store.write(SessionChange(session("s", 2), windows=windows, edges=edges))
        snapshot = await store.snapshot("tenant-a", "s")
        assert [one.window_id for one in snapshot.windows] == ["s/w1", "a", "y", "z"]
        assert [one.source_id for one in snapshot.edges] == ["p", "q"]

    async def test_what_is_not_there_is_none(self, store):
        await store.write(opened("s"))
        assert await store.snapshot("tenant-a", "nope") is None
        assert await store.find_continuation("tenant-a", "nope") is None
        assert await store.find_continuation("tenant-a", "") is None
        assert await store.get_report("tenant-a", "nope") is None
        assert await store.page_events("tenant-a", "nope", after_sequence=-1, limit=9) == []
        assert (await store.snapshot("tenant-a", "s")).edges == ()


class TestGuards:
    async def test_steps_follow_each_other(self, store):
        await store.write(opened("s"))
        await store.write(continued("s", 2))
        snapshot = await store.snapshot("tenant-a", "s")
        assert snapshot == SessionSnapshot(
            session("s", 2), (window("s", 1), window("s", 2)), (edge("s", 1, 2),), event("s", 1)
        )

    async def test_windows_edges_and_reports_are_replaced(self, store):
        await store.write(opened("s"))
        await store.write(continued("s", 2))
        done = window("s", 2, response_text="done")
        heavier = edge("s", 1, 2, transferred_tokens=99)
        again = report("s", "s/r1", body="{}")
        await store.write(SessionChange(session("s", 3), windows=(done,), edges=(heavier,), reports=(again,)))
        snapshot = await store.snapshot("tenant-a", "s")
        assert snapshot.windows == (window("s", 1), done)
        assert snapshot.edges == (heavier,)
        assert await store.get_report("tenant-a", "s/r1") == again

    @pytest.mark.parametrize("version", [0, 1, 3, 7])
    async def test_another_version_is_a_race(self, store, version):
        await store.write(opened("s"))
        await refused(store, continued("s", version, receipt=receipt("q")))

    async def test_a_new_session_starts_with_version_1(self, store):
        await refused(store, SessionChange(session("s", 2)))
        assert await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9) == []

    @pytest.mark.parametrize(
        "sequences", [(0,), (2,), (1, 3), (2, 1), (1, 1), (-1,)], ids=lambda sequences: "-".join(map(str, sequences))
    )
    async def test_events_continue_the_chain_without_a_gap(self, store, sequences):
        await store.write(opened("s"))
        events = tuple(event("s", sequence, event_id=f"x{n}") for n, sequence in enumerate(sequences))
        await refused(store, continued("s", 2, events=events))

    async def test_a_second_root_is_a_race(self, store):
        await store.write(opened("s"))
        await refused(store, continued("s", 2, windows=(window("s", 1, window_id="again", continuation_id="x"),)))

    async def test_a_failed_root_makes_room_for_another(self, store):
        await store.write(opened("s"))
        failed = window("s", 1, status=WindowStatus.FAILED)
        retry = window("s", 1, window_id="retry", continuation_id="x")
        await store.write(continued("s", 2, windows=(failed, retry), edges=()))
        assert (await store.snapshot("tenant-a", "s")).windows == (retry, failed)

    async def test_ids_of_another_session_are_not_taken_over(self, store):
        await store.write(opened("s"))
        other = session("t")
        await refused(store, SessionChange(other, windows=(window("t", 1, window_id="s/w1"),)))
        await refused(store, SessionChange(other, windows=(window("t", 1, continuation_id="s/c1"),)))
        await refused(store, SessionChange(other, reports=(report("t", "s/r1"),)))
        twice = (window("t", 1), window("t", 2, continuation_id="t/c1"))
        await refused(store, SessionChange(other, windows=twice))
        assert await store.snapshot("tenant-a", "t") is None

    async def test_a_change_of_two_sessions_or_tenants_is_refused(self, store):
        for wrong in (
            SessionChange(session("s"), windows=(window("t", 1),)),
            SessionChange(session("s"), edges=(edge("t", 1, 2),)),
            SessionChange(session("s"), events=(event("t", 0),)),
            SessionChange(session("s"), reports=(report("t", "r"),)),
            SessionChange(session("s"), leaves=(leaf("t", "e"),)),
            SessionChange(session("s"), receipt=receipt("q", tenant_id="tenant-b")),
        ):
            with pytest.raises(ValueError, match="another"):
                await store.write(wrong)
        assert await store.snapshot("tenant-a", "s") is None

    async def test_of_two_answers_to_one_request_one_wins(self, store):
        await store.write(replace(opened("s"), receipt=receipt("q")))
        other = replace(opened("t"), receipt=receipt("q", response=b"another session"))
        with pytest.raises(ConflictError):
            await store.write(other)
        assert await store.snapshot("tenant-a", "t") is None
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")

    async def test_receipts_are_kept_for_24_hours(self, store):
        await store.write(replace(opened("s"), receipt=receipt("q")))
        late = receipt("q2", created_at=NOW + timedelta(hours=24, microseconds=1))
        await store.write(continued("s", 2, receipt=late))
        assert await store.get_receipt("tenant-a", "IngestSource", "q") is None
        assert await store.get_receipt("tenant-a", "IngestSource", "q2") == late


class TestSeveralSessions:
    """One write over sessions of one tenant (SPEC-004 §15.2): each under its own guard, all of them or nothing."""

    async def test_all_changes_are_there_at_once(self, store):
        await store.write(opened("parent"))
        lowered = SessionChange(session("parent", 2, budget_ceiling=0.31), events=(event("parent", 1),))
        await store.write(replace(opened("agent"), receipt=receipt("q")), lowered)
        parent, agent = await store.snapshot("tenant-a", "parent"), await store.snapshot("tenant-a", "agent")
        assert (parent.session, parent.last_event) == (lowered.session, event("parent", 1))
        assert agent == SessionSnapshot(session("agent"), (window("agent", 1),), (), event("agent", 0))
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")

    @pytest.mark.parametrize("lost", [0, 1, 2])
    async def test_whichever_lost_its_race_takes_the_others_with_it(self, store, lost):
        names = ("agent", "parent", "grandparent")
        for name in names:
            await store.write(opened(name))
        steps = [continued(name, 2, receipt=receipt(name)) for name in names]
        await store.write(continued(names[lost], 2))
        before = [await store.snapshot("tenant-a", name) for name in names]
        size = await store.tree_size("tenant-a")
        with pytest.raises(ConflictError) as caught:
            await store.write(*steps)
        assert caught.value.reason is ErrorReason.COMMIT_RACE
        assert [await store.snapshot("tenant-a", name) for name in names] == before
        assert [await store.get_receipt("tenant-a", "IngestSource", name) for name in names] == [None] * 3
        assert await store.tree_size("tenant-a") == size

    async def test_an_id_that_two_changes_take_is_refused_for_both(self, store):
        for changes in (
            {"windows": (window("t", 1, window_id="s/w1"),)},
            {"windows": (window("t", 1, continuation_id="s/c1"),)},
            {"reports": (report("t", "s/r1"),)},
        ):
            with pytest.raises(ConflictError):
                await store.write(opened("s"), replace(opened("t"), **changes))
        assert await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9) == []
        assert await store.tree_size("tenant-a") == 0

    async def test_one_session_twice_or_two_tenants_are_no_one_write(self, store):
        other = replace(opened("t"), session=session("t", tenant_id="tenant-b"))
        for changes in ((opened("s"), opened("s")), (opened("s"), other)):
            with pytest.raises(ValueError, match=r"one session|different tenants"):
                await store.write(*changes)
        assert await store.snapshot("tenant-a", "s") is None
        await store.write()  # nothing to write is written at once

    async def test_their_leaves_follow_one_another_in_the_log(self, plain_store):
        await plain_store.write(replace(opened("z"), leaves=(leaf("z", "e0"),)))
        lowered = replace(continued("z", 2), leaves=(leaf("z", "e1"),))
        agents = [replace(opened(name), leaves=(leaf(name, "e0"), leaf(name, "e1"))) for name in ("y", "x")]
        await plain_store.write(agents[0], lowered, agents[1])
        assert [
            (one.session_id, one.record_id) for one in await plain_store.read_leaves("tenant-a", first=0, limit=9)
        ] == [*(("z", "z/e0"), ("y", "y/e0"), ("y", "y/e1"), ("z", "z/e1"), ("x", "x/e0"), ("x", "x/e1"))]
        rows = await plain_store.page_log("tenant-a", after=-1, limit=9)
        tree, subtrees = CompactRange().extend(row.leaf.leaf_hash for row in rows)
        assert await plain_store.log_state("tenant-a") == LogState(6, tree.to_bytes())
        assert [row.subtrees for row in rows] == [b"".join(ending) for ending in subtrees]
        # One that is rolled back half way leaves no tip behind: the next write goes on from what is there.
        lost = replace(continued("z", 9), leaves=(leaf("z", "e2"),))
        with pytest.raises(ConflictError):
            await plain_store.write(replace(continued("y", 2), leaves=(leaf("y", "e2"),)), lost)
        await plain_store.write(replace(continued("z", 3), leaves=(leaf("z", "e2"),)))
        assert await plain_store.tree_size("tenant-a") == 7

    async def test_a_log_that_does_not_hold_together_takes_none_of_them(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        await plain_store.keep_head("tenant-a", KeptHead(9, bytes(32), digest("9"), 1))
        with pytest.raises(LogInconsistentError):
            await plain_store.write(opened("t"), replace(continued("s", 2), leaves=(leaf("s", "e1"),)))
        assert await plain_store.snapshot("tenant-a", "t") is None
        assert (await plain_store.snapshot("tenant-a", "s")).session.version == 1

    async def test_writers_of_overlapping_sessions_lose_nothing(self, store):
        """Sixteen writers over pairs of four sessions, in either order: nobody waits for ever, every win is whole."""
        names = ("s0", "s1", "s2", "s3")
        for name in names:
            await store.write(opened(name))

        async def writer(number: int) -> int:
            pair = [names[number % 4], names[(number + 1 + number // 8) % 4]]
            for _ in range(200):
                versions = [(await store.snapshot("tenant-a", name)).session.version + 1 for name in pair]
                steps = (
                    SessionChange(session(name, version), events=(event(name, version - 1, data=f'{{"by":{number}}}'),))
                    for name, version in zip(pair, versions, strict=True)
                )
                try:
                    await store.write(*steps)
                except ConflictError:
                    await asyncio.sleep(0)
                else:
                    return 1
            return 0

        assert sum(await asyncio.gather(*(writer(number) for number in range(16)))) == 16
        found = [await store.page_events("tenant-a", name, after_sequence=0, limit=99) for name in names]
        assert sum(map(len, found)) == 32
        written = sorted(each.data for events in found for each in events)
        assert written == sorted(f'{{"by":{number}}}' for number in range(16) for _ in range(2))


class TestRaces:
    async def test_of_many_writers_exactly_one_wins_each_version(self, store):
        await store.write(opened("s"))
        wins: list[tuple[int, int]] = []

        async def writer(number: int) -> None:
            for version in range(2, 8):
                step = continued(
                    "s",
                    version,
                    windows=(window("s", version, window_id=f"v{version}", response_text=f"by {number}"),),
                    edges=(),
                )
                try:
                    await store.write(step)
                except ConflictError:
                    while (await store.snapshot("tenant-a", "s")).session.version < version:  # noqa: ASYNC110 - only reading
                        await asyncio.sleep(0)
                else:
                    wins.append((version, number))

        await asyncio.gather(*(writer(number) for number in range(16)))
        assert sorted(version for version, _ in wins) == [2, 3, 4, 5, 6, 7]
        snapshot = await store.snapshot("tenant-a", "s")
        written = {one.window_id: one.response_text for one in snapshot.windows}
        assert all(written[f"v{version}"] == f"by {number}" for version, number in wins)
        assert snapshot.last_event.sequence == 6

    async def test_of_many_creations_one_wins(self, store):
        outcomes = await asyncio.gather(*(store.write(opened("s")) for _ in range(20)), return_exceptions=True)
        assert outcomes.count(None) == 1
        assert sum(isinstance(outcome, ConflictError) for outcome in outcomes) == 19

    async def test_sessions_do_not_stand_in_each_others_way(self, store):
        await asyncio.gather(*(store.write(opened(f"s{number:02}")) for number in range(40)))
        assert len(await store.list_sessions("tenant-a", SessionFilter(), after="", limit=99)) == 40


def leaf(session_id: str, name: str, **changes) -> LogLeaf:
    values: dict[str, Any] = {
        "record_kind": LeafKind.EVENT,
        "record_id": f"{session_id}/{name}",
        "position": 3,
        "content_hmac": digest(name),
        "leaf_hash": leaf_hash(f"{session_id}/{name}".encode()),
    }
    return LogLeaf(session_id, **(values | changes))


async def root_of(store, tenant_id: str) -> bytes:
    return fold(await store.tree_hashes(tenant_id, places((0, await store.tree_size(tenant_id)))))


def plain_root(hashes: list[bytes]) -> bytes:
    """RFC 9162 §2.1.1, word by word."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256().digest()
    half = 1
    while half * 2 < len(hashes):
        half *= 2
    return hashlib.sha256(b"\x01" + plain_root(hashes[:half]) + plain_root(hashes[half:])).digest()


class TestLog:
    async def test_leaves_get_the_next_indexes_and_come_back_whole(self, plain_store):
        window_leaf = leaf("s", "w1", record_kind=LeafKind.WINDOW)
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"), window_leaf)))
        await plain_store.write(replace(opened("t"), leaves=(leaf("t", "e0"),)))
        wanted = [(LeafKind.WINDOW, "s/w1"), (LeafKind.EVENT, "s/w1"), (LeafKind.EVENT, "s/e0")]
        found = await plain_store.find_leaves("tenant-a", "s", wanted)
        assert found == [replace(window_leaf, leaf_index=1), None, replace(leaf("s", "e0"), leaf_index=0)]
        assert await plain_store.find_leaves("tenant-a", "t", wanted) == [None] * 3
        assert (await plain_store.find_leaves("tenant-a", "t", [(LeafKind.EVENT, "t/e0")]))[0].leaf_index == 2

    async def test_an_empty_log(self, plain_store):
        assert await plain_store.tree_size("tenant-a") == 0
        assert await plain_store.tree_hashes("tenant-a", []) == []
        assert await plain_store.find_leaves("tenant-a", "s", [(LeafKind.EVENT, "e")]) == [None]

    async def test_every_root_of_every_size_is_that_of_the_rfc(self, plain_store):
        hashes: list[bytes] = []
        for version, count in enumerate((3, 1, 4, 1, 5, 9, 2, 6), start=1):
            new = [leaf("s", f"{version}.{number}") for number in range(count)]
            hashes += [one.leaf_hash for one in new]
            await plain_store.write(SessionChange(session("s", version), leaves=tuple(new)))
        assert await plain_store.tree_size("tenant-a") == len(hashes) == 31
        for size in range(32):
            assert fold(await plain_store.tree_hashes("tenant-a", places((0, size)))) == plain_root(hashes[:size])

    async def test_leaves_are_read_by_index_in_pages(self, plain_store):
        written = [leaf("s", "e0"), leaf("s", "w1", record_kind=LeafKind.WINDOW), leaf("s", "e1"), leaf("s", "e2")]
        await plain_store.write(replace(opened("s"), leaves=tuple(written)))
        await plain_store.write(replace(opened("t", tenant_id="tenant-b"), leaves=(leaf("t", "e0"),)))
        stored = [replace(one, leaf_index=index) for index, one in enumerate(written)]
        assert await plain_store.read_leaves("tenant-a", first=0, limit=3) == stored[:3]
        assert await plain_store.read_leaves("tenant-a", first=3, limit=3) == stored[3:]
        assert await plain_store.read_leaves("tenant-a", first=4, limit=3) == []
        assert await plain_store.read_leaves("nobody", first=0, limit=3) == []

    async def test_the_cosigned_head_is_kept_and_never_replaced_by_a_smaller_one(self, plain_store):
        assert await plain_store.cosigned("tenant-a") == ""
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"), leaf("s", "e1"))))
        for size, note, kept in (
            (1, "one", "one"),
            (2, "zwei — ☂\n", "zwei — ☂\n"),
            (1, "less", "zwei — ☂\n"),
            (2, "again", "again"),
        ):
            await plain_store.keep_cosigned("tenant-a", size, note)
            assert await plain_store.cosigned("tenant-a") == kept
        assert await plain_store.cosigned("tenant-b") == ""

    @pytest.mark.parametrize("place", [(0, 3), (1, 1), (2, 0), (-1, 0), (0, -1), (60, 0)], ids=str)
    async def test_a_subtree_that_is_not_full_is_not_given(self, plain_store, place):
        await plain_store.write(replace(opened("s"), leaves=tuple(leaf("s", str(number)) for number in range(3))))
        assert len(await plain_store.tree_hashes("tenant-a", [(1, 0), (0, 2)])) == 2
        with pytest.raises(ValueError, match="full subtree"):
            await plain_store.tree_hashes("tenant-a", [(0, 0), place])

    async def test_a_record_has_one_leaf(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        await refused(plain_store, replace(continued("s", 2), leaves=(leaf("s", "e1"), leaf("s", "e0", position=9))))
        await refused(plain_store, replace(continued("s", 2), leaves=(leaf("s", "e1"), leaf("s", "e1"))))
        assert await plain_store.tree_size("tenant-a") == 1

    async def test_what_is_refused_leaves_no_leaf(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        await refused(plain_store, replace(continued("s", 3), leaves=(leaf("s", "e1"),)))
        with pytest.raises(ValueError, match="another"):
            await plain_store.write(replace(continued("s", 2), leaves=(leaf("t", "e1"),)))
        assert await plain_store.tree_size("tenant-a") == 1

    async def test_tenants_have_logs_of_their_own(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        await plain_store.write(replace(opened("s", tenant_id="tenant-b"), leaves=(leaf("s", "e0"), leaf("s", "e1"))))
        assert [await plain_store.tree_size(tenant) for tenant in ("tenant-a", "tenant-b", "nobody")] == [1, 2, 0]
        found = await plain_store.find_leaves("nobody", "s", [(LeafKind.EVENT, "s/e0")])
        assert found == [None]
        with pytest.raises(ValueError, match="full subtree"):
            await plain_store.tree_hashes("tenant-a", [(0, 1)])

    async def test_many_writers_of_many_sessions_leave_no_gap(self, plain_store):
        async def write(name: str) -> None:
            await plain_store.write(replace(opened(name), leaves=(leaf(name, "1.0"),)))
            for version in range(2, 6):
                new = tuple(leaf(name, f"{version}.{number}") for number in range(version))
                await plain_store.write(replace(continued(name, version), leaves=new))

        names = [f"s{number:02}" for number in range(24)]
        await asyncio.gather(*(write(name) for name in names))
        found = {}
        for name in names:
            wanted = [
                (LeafKind.EVENT, f"{name}/{version}.{number}") for version in range(1, 6) for number in range(version)
            ]
            leaves = await plain_store.find_leaves("tenant-a", name, wanted)
            indexes = [one.leaf_index for one in leaves]
            assert indexes == sorted(indexes)
            assert indexes[1] + 1 == indexes[2]  # one change's leaves lie side by side
            found |= {one.leaf_index: one.leaf_hash for one in leaves}
        assert sorted(found) == list(range(24 * 15))
        assert await plain_store.tree_size("tenant-a") == 24 * 15
        assert await root_of(plain_store, "tenant-a") == plain_root([found[index] for index in sorted(found)])


class TestLoggedSessions:
    async def test_a_session_comes_with_every_leaf_that_names_it_by_index(self, plain_store):
        first = leaf("s", "w1", record_kind=LeafKind.WINDOW)
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"), first)))
        await plain_store.write(replace(opened("t"), leaves=(leaf("t", "e0"),)))
        await plain_store.write(replace(continued("s", 2), leaves=(leaf("s", "a"),)))
        found = await plain_store.logged("tenant-a", "s")
        assert found.snapshot == await plain_store.snapshot("tenant-a", "s")
        wanted = {0: leaf("s", "e0"), 1: first, 3: leaf("s", "a")}
        assert found.leaves == tuple(replace(one, leaf_index=index) for index, one in wanted.items())
        assert await plain_store.logged("tenant-a", "nobody") == LoggedSession(None, ())
        assert await plain_store.logged("tenant-b", "s") == LoggedSession(None, ())

    async def test_no_write_lies_between_a_session_and_its_leaves(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))

        async def write():
            for version in range(2, 22):
                await plain_store.write(replace(continued("s", version), leaves=(leaf("s", f"e{version - 1}"),)))

        async def look():
            for _ in range(20):
                found = await plain_store.logged("tenant-a", "s")
                assert len(found.leaves) == found.snapshot.session.version
                assert found.snapshot.last_event.sequence == found.snapshot.session.version - 1

        await asyncio.gather(write(), look())


class TestLoadedSessions:
    @pytest.mark.parametrize("limit", [1, 2, 99])
    async def test_a_session_comes_with_its_leaves_and_the_first_pages(self, plain_store, limit):
        of_s = tuple(report("s", name) for name in ("b", "a"))
        await plain_store.write(replace(opened("s"), reports=of_s, leaves=(leaf("s", "e0"),)))
        await plain_store.write(continued("s", 2))
        await plain_store.write(opened("t"))
        found = await plain_store.load("tenant-a", "s", limit=limit)
        assert found.logged == await plain_store.logged("tenant-a", "s")
        assert found.logged.snapshot.last_event.sequence == 1
        assert found.events == (event("s", 0), event("s", 1))[:limit]
        assert found.reports == (report("s", "a"), report("s", "b"))[:limit]

    async def test_of_another_tenant_and_of_nobody_there_is_nothing(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        for name in (("tenant-b", "s"), ("tenant-a", "nobody")):
            assert await plain_store.load(*name, limit=9) == LoadedSession(LoggedSession(None, ()))

    async def test_no_write_lies_between_a_session_and_its_pages(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))

        async def write():
            for version in range(2, 22):
                made = (report("s", f"s/r{version}"),)
                new = (leaf("s", f"e{version - 1}"),)
                await plain_store.write(replace(continued("s", version), reports=made, leaves=new))

        async def look():
            for _ in range(20):
                found = await plain_store.load("tenant-a", "s", limit=99)
                version = found.logged.snapshot.session.version
                assert (len(found.events), len(found.reports), len(found.logged.leaves)) == (version,) * 3

        await asyncio.gather(write(), look())


class TestKeptHeads:
    async def test_state_and_pages_are_what_was_appended(self, plain_store):
        assert await plain_store.log_state("tenant-a") == LogState()
        new = [leaf("s", str(number)) for number in range(5)]
        await plain_store.write(replace(opened("s"), leaves=tuple(new)))
        tree, subtrees = CompactRange().extend(one.leaf_hash for one in new)
        assert await plain_store.log_state("tenant-a") == LogState(5, tree.to_bytes())
        rows = [LogRow(replace(one, leaf_index=n), b"".join(subtrees[n])) for n, one in enumerate(new)]
        assert await plain_store.page_log("tenant-a", after=-1, limit=3) == rows[:3]
        assert await plain_store.page_log("tenant-a", after=2, limit=3) == rows[3:]
        assert await plain_store.page_log("tenant-a", after=4, limit=3) == []
        assert await plain_store.page_log("tenant-b", after=-1, limit=3) == []

    async def test_a_larger_head_stays(self, plain_store):
        heads = {size: KeptHead(size, bytes([size]) * 32, digest(str(size)), 1) for size in (0, 2, 3)}
        await plain_store.write(replace(opened("s"), leaves=tuple(leaf("s", str(n)) for n in range(3))))
        for size in (0, 3, 2):
            await plain_store.keep_head("tenant-a", heads[size])
        assert (await plain_store.log_state("tenant-a")).head == heads[3]
        again = replace(heads[3], mac=digest("other"), key_version=2)
        await plain_store.keep_head("tenant-a", again)
        assert (await plain_store.log_state("tenant-a")).head == again
        assert (await plain_store.log_state("tenant-b")).head is None

    async def test_a_log_below_its_kept_head_takes_nothing(self, plain_store):
        await plain_store.write(replace(opened("s"), leaves=(leaf("s", "e0"),)))
        await plain_store.keep_head("tenant-a", KeptHead(9, bytes(32), digest("9"), 1))
        with pytest.raises(LogInconsistentError) as caught:
            await plain_store.write(replace(continued("s", 2), leaves=(leaf("s", "e1"),)))
        assert caught.value.reason is ErrorReason.LOG_INCONSISTENT
        assert (await plain_store.log_state("tenant-a")).size == 1
        assert (await plain_store.snapshot("tenant-a", "s")).session.version == 1
        await plain_store.write(replace(opened("s", tenant_id="tenant-b"), leaves=(leaf("s", "e0"),)))


class TestErasure:
    def erased(self, version: int = 3, **changes) -> SessionChange:
        blank = tuple(event("s", number, data="", data_sha256=digest(str(number))) for number in range(2))
        values: dict[str, Any] = {
            "windows": (window("s", 1, response_text=""), window("s", 2, response_text="")),
            "reports": (report("s", "s/r1", body="", inputs=""),),
            "events": (event("s", 2, event_type="SESSION_ERASED"),),
            "erased_events": blank,
        }
        return SessionChange(session("s", version, status=SessionStatus.ERASED), **(values | changes))

    async def written(self, plain_store) -> None:
        await plain_store.write(replace(opened("s"), receipt=receipt("q1"), leaves=(leaf("s", "e0"),)))
        await plain_store.write(replace(continued("s", 2), receipt=receipt("q2")))
        await plain_store.write(replace(opened("other"), receipt=receipt("q3")))

    async def test_events_stay_without_their_data_and_receipts_go(self, plain_store):
        await self.written(plain_store)
        change = replace(self.erased(), receipt=receipt("q4"))
        await plain_store.write(change)
        events = await plain_store.page_events("tenant-a", "s", after_sequence=-1, limit=9)
        assert events == [*change.erased_events, event("s", 2, event_type="SESSION_ERASED")]
        snapshot = await plain_store.snapshot("tenant-a", "s")
        assert (snapshot.session, snapshot.windows, snapshot.last_event) == (change.session, change.windows, events[-1])
        assert (await plain_store.get_report("tenant-a", "s/r1")).body == ""
        kept = [await plain_store.get_receipt("tenant-a", "IngestSource", f"q{number}") for number in range(1, 5)]
        assert kept == [None, None, receipt("q3"), receipt("q4")]
        assert (await plain_store.find_leaves("tenant-a", "s", [(LeafKind.EVENT, "s/e0")]))[0].leaf_index == 0

    async def test_all_stored_events_or_none(self, plain_store):
        await self.written(plain_store)
        blank = self.erased().erased_events
        for wrong in (blank[:1], blank[1:], blank[::-1], (*blank, event("s", 2, data=""))):
            await refused(plain_store, self.erased(erased_events=wrong))
        await refused(plain_store, self.erased(version=4))
        with pytest.raises(ValueError, match="another"):
            await plain_store.write(self.erased(erased_events=(event("t", 0), event("t", 1))))
        assert (await plain_store.get_receipt("tenant-a", "IngestSource", "q1")) == receipt("q1")


class TestPages:
    async def test_sessions_come_newest_first_with_ties_by_id(self, store):
        for name, age in (("b", 0), ("a", 0), ("new", 5), ("old", -5)):
            await store.write(opened(name, created_at=NOW + timedelta(seconds=age)))
        everything = ["new", "a", "b", "old"]
        assert [
            one.session_id for one in await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9)
        ] == everything
        walked: list[str] = []
        while page := await store.list_sessions(
            "tenant-a", SessionFilter(), after=walked[-1] if walked else "", limit=1
        ):
            walked += [one.session_id for one in page]
        assert walked == everything
        assert await store.list_sessions("tenant-a", SessionFilter(), after="unknown", limit=9) == []

    async def test_events_come_in_order(self, store):
        await store.write(SessionChange(session("s"), events=tuple(event("s", n) for n in range(12))))
        page = await store.page_events("tenant-a", "s", after_sequence=8, limit=2)
        assert page == [event("s", 9), event("s", 10)]
        assert len(await store.page_events("tenant-a", "s", after_sequence=-1, limit=99)) == 12

    async def test_reports_come_by_id_of_one_session_or_all(self, store):
        for name in ("s", "t"):
            reports = tuple(report(name, f"{number}-{name}") for number in range(3))
            await store.write(SessionChange(session(name), reports=reports))
        pages = [
            [one.report_id for one in await store.page_reports("tenant-a", of, after=after, limit=limit)]
            for of, after, limit in (("s", "", 9), ("s", "0-s", 1), ("", "", 3), ("nope", "", 9))
        ]
        assert pages == [["0-s", "1-s", "2-s"], ["1-s"], ["0-s", "0-t", "1-s"], []]

    async def test_reports_come_without_their_inputs_where_nobody_reads_them(self, store):
        kept = replace(report("s", "r"), inputs='{"query":"Why?"}')
        await store.write(SessionChange(session("s"), reports=(kept,)))
        for of in ("", "s"):
            assert await store.page_reports("tenant-a", of, after="", limit=9) == [kept]
            bare = await store.page_reports("tenant-a", of, after="", limit=9, with_inputs=False)
            assert bare == [replace(kept, inputs="")]


class TestTenants:
    async def test_a_tenant_sees_only_its_own(self, store):
        for tenant in HOSTILE:
            mine = replace(opened("same", tenant_id=tenant), windows=(window("same", 1, response_text=tenant),))
            await store.write(replace(mine, receipt=receipt("q", tenant_id=tenant, response=tenant.encode())))
        for tenant in HOSTILE:
            assert (await store.snapshot(tenant, "same")).windows[0].response_text == tenant
            assert (await store.find_continuation(tenant, "same/c1")).response_text == tenant
            assert len(await store.list_sessions(tenant, SessionFilter(), after="", limit=99)) == 1
            assert len(await store.page_reports(tenant, "", after="", limit=99)) == 1
            assert (await store.get_receipt(tenant, "IngestSource", "q")).response == tenant.encode()
        assert await store.snapshot("nobody", "same") is None
        assert await store.find_continuation("nobody", "same/c1") is None
        assert await store.get_report("nobody", "same/r1") is None
        assert await store.page_events("nobody", "same", after_sequence=-1, limit=9) == []

    async def test_versions_of_tenants_do_not_mix(self, store):
        await store.write(opened("s"))
        await store.write(continued("s", 2))
        await store.write(opened("s", tenant_id="tenant-b"))
        assert (await store.snapshot("tenant-b", "s")).session.version == 1


class TestLife:
    async def test_what_was_written_is_there_after_reopening(self, durable_adapter, tmp_path):
        first = await durable_adapter.open(tmp_path)
        await first.write(opened("s"))
        await first.write(replace(continued("s", 2), leaves=(leaf("s", "e0"), leaf("s", "e1"))))
        written, root = await first.snapshot("tenant-a", "s"), await root_of(first, "tenant-a")
        await first.close()
        second = await durable_adapter.open(tmp_path)
        assert await second.snapshot("tenant-a", "s") == written
        assert await root_of(second, "tenant-a") == root
        assert await second.tree_size("tenant-a") == 2
        await second.close()

    async def test_two_stores_over_one_place_race_fairly(self, durable_adapter, tmp_path):
        first, second = await durable_adapter.open(tmp_path), await durable_adapter.open(tmp_path)
        await first.write(opened("s"))
        outcomes = await asyncio.gather(
            first.write(continued("s", 2)), second.write(continued("s", 2)), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "NoneType"]
        assert await first.snapshot("tenant-a", "s") == await second.snapshot("tenant-a", "s")
        await first.close()
        await second.close()

    async def test_two_stores_over_one_place_share_one_log(self, durable_adapter, tmp_path):
        stores = [await durable_adapter.open(tmp_path) for _ in range(2)]

        async def write(number: int) -> None:
            name = f"s{number:02}"
            new = (leaf(name, "e0"), leaf(name, "e1"))
            await stores[number % 2].write(replace(opened(name), leaves=new))

        await asyncio.gather(*(write(number) for number in range(30)))
        found = {}
        for number in range(30):
            wanted = [(LeafKind.EVENT, f"s{number:02}/{name}") for name in ("e0", "e1")]
            found |= {
                one.leaf_index: one.leaf_hash
                for one in await stores[0].find_leaves("tenant-a", f"s{number:02}", wanted)
            }
        assert sorted(found) == list(range(60))
        assert await root_of(stores[1], "tenant-a") == plain_root([found[index] for index in range(60)])
        for store in stores:
            await store.close()

    async def test_check_and_close_can_be_repeated(self, store):
        await store.check()
        await store.close()
        await store.close()


def stamped(session_id: str, *, opened_s: int = 0, updated_s: int = 0, status_s: int | None = None, **changes):
    """A new session with the times that its row repeats."""
    at = NOW + timedelta(seconds=updated_s)
    since = at if status_s is None else NOW + timedelta(seconds=status_s)
    values = {"created_at": NOW + timedelta(seconds=opened_s), "updated_at": at, "status_at": since}
    return SessionChange(session(session_id, **(values | changes)), events=(event(session_id, 0),))


class TestLists:
    async def names(self, store, *, tenant_id="tenant-a", after="", limit=9, **wanted):
        listed = await store.list_sessions(tenant_id, SessionFilter(**wanted), after=after, limit=limit)
        return [one.session_id for one in listed]

    async def test_a_session_is_listed_with_what_its_row_and_windows_say(self, store):
        change = opened("s", updated_at=LATER, status_at=NOW, legal_hold=True, parent_session_id="p")
        later = window("s", 2, quality_tier="C", risk_level="HIGH", safety_budget=0.25, report_id="s/r2")
        pending = window("s", 3, status=WindowStatus.PENDING, report_id="")
        await store.write(replace(change, windows=(*change.windows, later, pending)))
        (listed,) = await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9)
        assert listed.record == change.session
        assert (listed.session_id, listed.window_count, listed.committed) == ("s", 3, 2)
        assert listed.latest == LatestWindow("s/r2", "C", "HIGH", 0.25)
        assert listed.least_budget == 0.25

    async def test_a_session_without_a_window_is_listed(self, store):
        await store.write(stamped("s"))
        (listed,) = await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9)
        assert (listed.window_count, listed.committed, listed.latest) == (0, 0, None)

    async def test_every_condition_must_hold(self, store):
        await store.write(stamped("a", opened_s=0, updated_s=50))
        await store.write(stamped("b", opened_s=10, updated_s=20, parent_session_id="a"))
        await store.write(stamped("c", opened_s=20, updated_s=30, status=SessionStatus.EXPIRED))
        await store.write(stamped("d", opened_s=30, updated_s=30, status=SessionStatus.EXPIRED, parent_session_id="a"))
        await store.write(stamped("z", tenant_id="tenant-b"))
        at = {number: NOW + timedelta(seconds=number) for number in (10, 20, 30, 31)}
        assert await self.names(store) == ["d", "c", "b", "a"]
        assert await self.names(store, status=SessionStatus.EXPIRED) == ["d", "c"]
        assert await self.names(store, opened_since=at[10], opened_until=at[30]) == ["c", "b"]
        assert await self.names(store, updated_since=at[30]) == ["d", "c", "a"]
        assert await self.names(store, updated_since=at[20], updated_until=at[31]) == ["d", "c", "b"]
        assert await self.names(store, parent_session_id="a") == ["d", "b"]
        both = {"status": SessionStatus.EXPIRED, "parent_session_id": "a"}
        assert await self.names(store, **both) == ["d"]
        assert await self.names(store, **both, after="d") == []
        assert await self.names(store, status=SessionStatus.OPEN, after="c", limit=1) == ["b"]
        assert await self.names(store, tenant_id="nobody") == []

    async def test_due_sessions_come_by_the_time_of_their_status(self, store):
        for name, seconds in (("b", 10), ("a", 10), ("c", 5), ("late", 11)):
            await store.write(stamped(name, status=SessionStatus.TERMINATED, updated_s=99, status_s=seconds))
        await store.write(stamped("open", status_s=1))
        await store.write(stamped("other", tenant_id="tenant-b", status=SessionStatus.TERMINATED, status_s=1))
        until = NOW + timedelta(seconds=10)

        async def page(after, limit):
            return await store.page_due("tenant-a", SessionStatus.TERMINATED, until=until, after=after, limit=limit)

        whole = await page(None, 9)
        assert [one.record.session_id for one in whole] == ["c", "a", "b"]
        assert whole[0].place == DuePlace(NOW + timedelta(seconds=5), "c")
        assert [one.place.session_id for one in await page(whole[0].place, 1)] == ["a"]
        assert [one.place.session_id for one in await page(whole[1].place, 9)] == ["b"]
        assert await page(whole[2].place, 9) == []

    async def test_sessions_are_counted_by_status(self, store):
        for name, status in (("a", "OPEN"), ("b", "OPEN"), ("c", "BROKEN")):
            await store.write(stamped(name, status=SessionStatus(status)))
        counts = await store.count_sessions("tenant-a")
        assert {status: number for status, number in counts.items() if number} == {
            SessionStatus.OPEN: 2,
            SessionStatus.BROKEN: 1,
        }
        assert not any((await store.count_sessions("nobody")).values())

    async def test_tenants_come_by_name(self, plain_store):
        for number, tenant in enumerate(("tenant-b", "tenant-a", "c")):
            change = stamped("s", tenant_id=tenant)
            await plain_store.write(replace(change, leaves=(leaf("s", f"e{number}"),)))
        assert await plain_store.session_tenants(after="", limit=9) == ["c", "tenant-a", "tenant-b"]
        assert await plain_store.session_tenants(after="c", limit=1) == ["tenant-a"]
        assert await plain_store.session_tenants(after="tenant-b", limit=9) == []


class TestTombstones:
    def tombstone(self, version: int = 3, sequence: int = 2, **changes) -> SessionChange:
        values: dict[str, Any] = {
            "events": (event("s", sequence, event_type="SESSION_TOMBSTONED"),),
            "leaves": (leaf("s", f"e{sequence}"),),
            "tombstone": True,
        }
        return SessionChange(session("s", version, status=SessionStatus.TOMBSTONED), **(values | changes))

    async def written(self, plain_store) -> None:
        first = replace(opened("s"), receipt=receipt("q1"), leaves=(leaf("s", "w1"), leaf("s", "e0")))
        await plain_store.write(first)
        other = replace(opened("other"), receipt=receipt("q3"), leaves=(leaf("other", "e0"),))
        await plain_store.write(other)
        await plain_store.write(replace(continued("s", 2), receipt=receipt("q2"), leaves=(leaf("s", "e1"),)))

    async def test_every_record_goes_but_row_event_and_leaves(self, plain_store):
        await self.written(plain_store)
        change = self.tombstone()
        await plain_store.write(change)
        snapshot = await plain_store.snapshot("tenant-a", "s")
        assert snapshot == SessionSnapshot(change.session, (), (), change.events[0])
        assert await plain_store.page_events("tenant-a", "s", after_sequence=-1, limit=9) == list(change.events)
        assert await plain_store.page_reports("tenant-a", "s", after="", limit=9) == []
        kept = [await plain_store.get_receipt("tenant-a", "IngestSource", f"q{number}") for number in range(1, 4)]
        assert kept == [None, None, receipt("q3")]
        leaves = (await plain_store.logged("tenant-a", "s")).leaves
        assert [(one.record_id, one.leaf_index) for one in leaves] == [
            ("s/w1", 0),
            ("s/e0", 1),
            ("s/e1", 3),
            ("s/e2", 4),
        ]
        assert [one.leaf_hash for one in leaves] == [leaf("s", name).leaf_hash for name in ("w1", "e0", "e1", "e2")]
        assert (await plain_store.snapshot("tenant-a", "other")).windows == opened("other").windows
        assert await root_of(plain_store, "tenant-a") == plain_root(
            [leaf(*name).leaf_hash for name in (("s", "w1"), ("s", "e0"), ("other", "e0"), ("s", "e1"), ("s", "e2"))]
        )

    async def test_it_continues_the_chain_under_the_version_guard(self, plain_store):
        await self.written(plain_store)
        for wrong in (self.tombstone(version=4), self.tombstone(sequence=0), self.tombstone(sequence=3)):
            await refused(plain_store, wrong)
        assert len((await plain_store.snapshot("tenant-a", "s")).windows) == 2
        await plain_store.write(self.tombstone())
        await refused(plain_store, self.tombstone(version=4))
        with pytest.raises(ValueError, match="tombstone"):
            await plain_store.write(self.tombstone(version=4, windows=(window("s", 1),)))
