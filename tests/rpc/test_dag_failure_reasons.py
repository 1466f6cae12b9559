"""Failure reasons: one printable line, sealed in the file, gone with the session (ADR 0102)."""

import sqlite3

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.settings.stores import StoreSettings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SealedWorld

REASON = "the customer Anna Berger of Linz asked to stop"
OLD = "written in plain text by an earlier version"
TRUNCATED = 5


async def failed(client, opened, reason=REASON):
    ids = {"session_id": opened.session.session_id, "window_id": opened.window.window_id}
    await client.call("FailWindow", pb.FailWindowRequest(request_id=fresh_uuid(), reason=reason, **ids))
    return ids


async def reason_of(client, ids):
    found = await client.call("GetWindow", pb.GetWindowRequest(**ids))
    return found.window.failure_reason


def on_disk(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def looks(reason):
    """The reason in every spelling that a file could hold it in."""
    return (reason.encode(), reason.encode("utf-16-le"), reason.encode().hex().encode())


async def test_a_reason_is_sealed_and_erased(tmp_path):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", StoreSettings(disk_reserve_bytes=0))
    world = SealedWorld(store=store)
    async with world.serving() as client:
        ids = await failed(client, await client.open())
        await client.window()
        rows = await store._select("windows", "failure_reason", "WHERE status = ?", "FAILED")
        sealed = rows[0][0]
        assert sealed.startswith("gtseal1.")
        assert not [look for look in looks(REASON) if look in on_disk(tmp_path)]
        assert await reason_of(client, ids) == REASON
        erased = await client.erase(ids["session_id"])
        assert erased.session.status == dag_pb2.SESSION_STATUS_ERASED
        assert await reason_of(client, ids) == ""
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=ids["session_id"]))
        assert not verified.HasField("fault")
    await store.close()
    assert not [look for look in (*looks(REASON), sealed.encode()) if look in on_disk(tmp_path)]


async def test_a_row_of_an_earlier_version_is_read_and_erased(tmp_path):
    """Rows in plain text stay readable and verify; an erasure overwrites them too."""
    path = tmp_path / "sessions.db"
    store = await SqliteSessionStore.open(path, StoreSettings(disk_reserve_bytes=0))
    world = SealedWorld(store=store)
    async with world.serving() as client:
        ids = await failed(client, await client.open(), OLD)
        with sqlite3.connect(path) as file:
            file.execute("UPDATE windows SET failure_reason = ? WHERE status = 'FAILED'", (OLD,))
        file.close()
        assert OLD.encode() in on_disk(tmp_path)
        assert await reason_of(client, ids) == OLD
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=ids["session_id"]))
        assert not verified.HasField("fault")
        await client.erase(ids["session_id"])
    await store.close()
    assert not [look for look in looks(OLD) if look in on_disk(tmp_path)]


async def test_a_changed_or_moved_reason_is_found(tmp_path):
    path = tmp_path / "sessions.db"
    store = await SqliteSessionStore.open(path, StoreSettings())
    async with SealedWorld(store=store).serving() as client:
        one, two = [await failed(client, await client.open(), f"{REASON} {n}") for n in range(2)]
        with sqlite3.connect(path) as file:
            get = "SELECT failure_reason FROM windows WHERE window_id = ?"
            moved = file.execute(get, (one["window_id"],)).fetchone()[0]
            file.execute("UPDATE windows SET failure_reason = ? WHERE window_id = ?", (moved, two["window_id"]))
        file.close()
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=two["session_id"]))
        assert (verified.fault.record_kind, verified.fault.record_id) == ("window", two["window_id"])
    await store.close()


@pytest.mark.parametrize(
    "reason", ["", "two\nlines", "a\ttab", "\x1b[31mred", "turned \u202e round", "\u2028", "a" * 501, "nul\x00"]
)
@pytest.mark.parametrize("rpc", ["FailWindow", "TerminateSession", "EraseSession"])
async def test_a_reason_is_one_printable_line(rpc, reason):
    async with SealedWorld().serving() as client:
        opened = await client.open()
        fields = {"request_id": fresh_uuid(), "session_id": opened.session.session_id, "reason": reason}
        if rpc == "FailWindow":
            fields["window_id"] = opened.window.window_id
        refusal = await client.fails(rpc, getattr(pb, f"{rpc}Request")(**fields))
        assert (refusal.reason, set(refusal.fields)) == ("INVALID_FIELD", {"reason"})
