"""Records and log are one: what somebody with the file and without a key changes is found and named (ADR 0099)."""

import asyncio

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as transparency

from services.cli.offline import Verdict, check_export
from services.common.signed_note import Checkpoint, Note, NoteKey, NoteSigner
from services.dag.domain.keys import MasterKey, log_signing_seed
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.raw_sessions import TENANT, RawSessions
from tests.fakes.recorded_sessions import COSIGNED_AT, WITNESSES
from tests.fakes.sealed_world import SECRET

BROKEN, VALID = taxonomy.CHAIN_INTEGRITY_BROKEN, taxonomy.CHAIN_INTEGRITY_VALID
OF_SESSION = "WHERE tenant_id = ? AND session_id = ?"


@pytest.fixture
def raw(tmp_path):
    return RawSessions(tmp_path)


async def verify(client, session_id, subject="alice"):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id), subject)


async def head(client, **fields):
    return (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest(**fields))).tree_head


def appended(session_id, kind=dag_pb2.AUDIT_EVENT_TYPE_POLICY_VIOLATION, data='{"found":1}'):
    return pb.AppendEventRequest(request_id=fresh_uuid(), session_id=session_id, event_type=kind, data=data)


async def three_windows(client):
    """A session of three windows and a caller's event."""
    first = await client.window(text="One.")
    second = await client.window(first.session_token, text="Two.")
    third = await client.window(second.session_token, text="Three.", risk="HIGH")
    await client.call("AppendEvent", appended(first.session.session_id))
    return first, second, third


async def offline(client, session_id):
    key = await head(client)
    return check_export(await client.export(session_id), NoteKey(key.origin, key.public_key), None)


class TestTheEndOfATrail:
    """H1: the trail's end cut and its seal emptied; no honest write makes the session whole again."""

    CUT = "DELETE FROM events WHERE tenant_id = ? AND session_id = ? AND sequence = ?"
    EMPTY = "UPDATE sessions SET trail_mac = '' WHERE tenant_id = ? AND session_id = ?"

    async def cut(self, raw):
        async with raw.serving() as client:
            first, _, third = await three_windows(client)
        session_id = first.session.session_id
        ((last,),) = raw.rows("SELECT max(sequence) FROM events " + OF_SESSION, TENANT, session_id)
        assert raw.run(self.CUT, TENANT, session_id, last) == 1
        return session_id, last, third

    async def test_an_emptied_seal_is_broken_with_its_place(self, raw):
        session_id, last, _ = await self.cut(raw)
        assert raw.run(self.EMPTY, TENANT, session_id) == 1
        async with raw.serving() as client:
            found = await verify(client, session_id)
            assert (found.integrity, found.fault.record_kind) == (BROKEN, "event")
            assert (found.fault.record_id, "emptied" in found.fault.detail) == (str(last), True)

    async def test_an_emptied_seal_alone_is_broken_too(self, raw):
        async with raw.serving() as client:
            first, _, _ = await three_windows(client)
            session_id = first.session.session_id
            raw.run(self.EMPTY, TENANT, session_id)
            found = await verify(client, session_id)
            assert (found.integrity, found.fault.record_kind) == (BROKEN, "event")

    @pytest.mark.parametrize("emptied", [True, False], ids=["seal emptied", "seal left"])
    @pytest.mark.parametrize("write", ["append", "continue"])
    async def test_no_write_seals_it_again(self, raw, write, emptied):
        session_id, last, third = await self.cut(raw)
        if emptied:
            raw.run(self.EMPTY, TENANT, session_id)
        async with raw.serving() as client:
            if write == "append":
                refusal = await client.fails("AppendEvent", appended(session_id))
            else:
                request = pb.OpenWindowRequest(
                    request_id=fresh_uuid(), session_token=third.session_token, available_budget_tokens=9
                )
                refusal = await client.fails("OpenWindow", request)
            assert (refusal.reason, refusal.metadata["record_kind"]) == ("CHAIN_BROKEN", "event")
            for _ in range(2):
                found = await verify(client, session_id)
                assert (found.integrity, found.fault.record_id) == (BROKEN, str(last))
            assert (await offline(client, session_id)).verdict is Verdict.BROKEN
        ((mac,),) = raw.rows("SELECT trail_mac FROM sessions " + OF_SESSION, TENANT, session_id)
        assert (mac == "") == emptied

    async def test_a_whole_last_window_taken_out_is_not_made_valid(self, raw):
        async with raw.serving() as client:
            _, _, third = await three_windows(client)
        session_id, name = third.session.session_id, third.window.window_id
        ((since,),) = raw.rows(
            "SELECT min(sequence) FROM events WHERE tenant_id = ? AND session_id = ? AND window_id = ?",
            *(TENANT, session_id, name),
        )
        raw.run(
            "DELETE FROM events WHERE tenant_id = ? AND session_id = ? AND sequence >= ?", TENANT, session_id, since
        )
        raw.run("DELETE FROM windows WHERE window_id = ?", name)
        raw.run("DELETE FROM reports WHERE window_id = ?", name)
        raw.run("DELETE FROM edges WHERE target_id = ?", name)
        raw.run(self.EMPTY, TENANT, session_id)
        async with raw.serving() as client:
            refusal = await client.fails("AppendEvent", appended(session_id))
            assert refusal.reason == "CHAIN_BROKEN"
            assert (await verify(client, session_id)).integrity == BROKEN

    async def test_the_promise_is_chained(self, raw):
        """Taking it out of the first event breaks that event; putting it back later leaves what was done since."""
        session_id, _, _ = await self.cut(raw)
        raw.run(self.EMPTY, TENANT, session_id)
        ((kept,),) = raw.rows("SELECT data FROM events " + OF_SESSION + " AND sequence = 0", TENANT, session_id)
        change = "UPDATE events SET data = ? WHERE tenant_id = ? AND session_id = ? AND sequence = 0"
        raw.run(change, '{"session":{}}', TENANT, session_id)
        async with raw.serving() as client:
            assert (await client.fails("AppendEvent", appended(session_id))).reason == "CHAIN_BROKEN"
        raw.run(change, kept, TENANT, session_id)
        async with raw.serving() as client:
            assert (await verify(client, session_id)).integrity == BROKEN

    async def test_an_erasure_keeps_the_promise(self, raw):
        async with raw.serving() as client:
            first, _, _ = await three_windows(client)
            session_id = first.session.session_id
            await client.erase(session_id)
            assert (await verify(client, session_id)).integrity == taxonomy.CHAIN_INTEGRITY_TRUNCATED
            raw.run(self.EMPTY, TENANT, session_id)
            assert (await verify(client, session_id)).integrity == BROKEN

    async def test_an_erasure_hides_no_cut(self, raw):
        session_id, last, _ = await self.cut(raw)
        raw.run(self.EMPTY, TENANT, session_id)
        async with raw.serving() as client:
            await client.erase(session_id)
            found = await verify(client, session_id)
            assert (found.integrity, found.fault.record_id) == (BROKEN, str(last))


class TestASessionSetBack:
    """H2a: a session's own older rows are put back, and its last window is written again."""

    async def set_back(self, raw, *, again):
        async with raw.serving() as client:
            first = await client.window(text="One.")
            second = await client.window(first.session_token, text="Two.")
            session_id = first.session.session_id
            older = raw.copy_of(session_id)
            third = await client.window(second.session_token, text="It is not covered.", risk="CRITICAL")
        raw.put_back(session_id, older)
        async with raw.serving() as client:
            if again:
                request = pb.OpenWindowRequest(
                    request_id=fresh_uuid(), session_token=second.session_token, available_budget_tokens=1000
                )
                refusal = await client.fails("OpenWindow", request)
                assert (refusal.reason, refusal.metadata["record_kind"]) == ("CHAIN_BROKEN", "leaf")
            found = await verify(client, session_id)
            exported = await offline(client, session_id)
        return third, found, exported

    @pytest.mark.parametrize("again", [False, True])
    async def test_it_is_broken_at_the_first_record_that_was_taken(self, raw, again):
        third, found, exported = await self.set_back(raw, again=again)
        assert (found.integrity, found.fault.record_kind) == (BROKEN, "leaf")
        assert (exported.verdict, exported.fault.record_kind) == (Verdict.BROKEN, "leaf")
        ((first_orphan,),) = raw.rows(
            "SELECT record_id FROM leaves WHERE session_id = ? AND record_id NOT IN "
            "(SELECT event_id FROM events UNION SELECT window_id FROM windows) ORDER BY leaf_index LIMIT 1",
            third.session.session_id,
        )
        assert found.fault.record_id == exported.fault.record_id == first_orphan

    async def test_a_server_that_did_not_look_would_still_be_shown(self, raw):
        """Also where window 3 was written again before anybody compared: the log has two windows at position 3."""
        async with raw.serving() as client:
            first = await client.window(text="One.")
            second = await client.window(first.session_token, text="Two.")
            session_id = first.session.session_id
            older = raw.copy_of(session_id)
            third = await client.window(second.session_token, text="It is not covered.", risk="CRITICAL")
        late = raw.rows("SELECT * FROM leaves WHERE leaf_index >= 10 AND tenant_id = ?", TENANT)
        tree = raw.rows("SELECT size, peaks FROM trees WHERE tenant_id = ?", TENANT)[0]
        raw.put_back(session_id, older)
        raw.run("DELETE FROM leaves WHERE leaf_index >= 10 AND tenant_id = ?", TENANT)
        raw.run("DELETE FROM heads WHERE tenant_id = ?", TENANT)
        raw.run("DELETE FROM trees WHERE tenant_id = ?", TENANT)
        assert third.window.window_id in {row[4] for row in late}
        assert tree[0] == 10 + len(late)
        async with raw.serving() as client:
            refusal = await client.fails("AppendEvent", appended(session_id))
            assert refusal.reason == "LOG_INCONSISTENT"

    async def test_a_session_that_is_gone_whole_is_missed(self, raw):
        async with raw.serving() as client:
            first = await client.window()
            other = await client.window()
            session_id = first.session.session_id
            raw.put_back(session_id, {table: [] for table in ("windows", "edges", "events", "reports", "sessions")})
            found = await verify(client, session_id)
            assert (found.integrity, found.fault.record_kind, found.fault.record_id) == (BROKEN, "session", session_id)
            assert (await verify(client, other.session.session_id)).integrity == VALID
            request = pb.VerifyChainRequest(session_id=session_id)
            assert (await client.fails("VerifyChain", request, "mallory")).reason == "SESSION_NOT_FOUND"


CHANGES = {
    "content_hmac": "0" * 64,
    "position": 99,
    "record_kind": "report",
    "record_id": "crp_evt_" + "0" * 32,
    "session_id": "crp_sess_another",
    "subtrees": b"\x00" * 32,
}


class TestLeavesOfASession:
    @pytest.mark.parametrize("column", CHANGES)
    async def test_a_changed_leaf_is_named(self, raw, column):
        async with raw.serving() as client:
            first, _, _ = await three_windows(client)
            other = await client.window()
            session_id = first.session.session_id
            leaves = raw.rows(
                "SELECT leaf_index, record_id FROM leaves " + OF_SESSION + " ORDER BY leaf_index", TENANT, session_id
            )
            change = f"UPDATE leaves SET {column} = ? WHERE tenant_id = ? AND leaf_index = ?"
            back = dict(raw.rows(f"SELECT leaf_index, {column} FROM leaves WHERE tenant_id = ?", TENANT))
            for index, record_id in leaves[:5]:
                raw.run(change, CHANGES[column], TENANT, index)
                found = await verify(client, session_id)
                assert (found.integrity, found.fault.record_kind) == (BROKEN, "leaf")
                assert found.fault.record_id in {record_id, CHANGES[column]}
                raw.run(change, back[index], TENANT, index)
            assert (await verify(client, session_id)).integrity == VALID
            assert (await verify(client, other.session.session_id)).integrity == VALID

    async def test_a_missing_leaf_is_named_online_and_offline(self, raw):
        async with raw.serving() as client:
            first, second, _ = await three_windows(client)
        session_id, name = first.session.session_id, second.window.window_id
        assert raw.run("DELETE FROM leaves WHERE record_id = ?", name) == 1
        async with raw.serving() as client:
            found = await verify(client, session_id)
            assert (found.integrity, found.fault.record_kind, found.fault.record_id) == (BROKEN, "leaf", name)

    async def test_values_of_any_type_are_faults_and_not_crashes(self, raw):
        async with raw.serving() as client:
            first, _, _ = await three_windows(client)
            session_id = first.session.session_id
            for column in CHANGES:
                for value in (b"\xff", "text", 7, 1.5):
                    statement = f"UPDATE leaves SET {column} = ? WHERE tenant_id = ? AND leaf_index = 3"
                    (back,) = raw.rows(f"SELECT {column} FROM leaves WHERE tenant_id = ? AND leaf_index = 3", TENANT)
                    raw.run(statement, value, TENANT)
                    assert (await verify(client, session_id)).integrity == BROKEN, (column, value)
                    raw.run(statement, back[0], TENANT)
            assert (await verify(client, session_id)).integrity == VALID

    async def test_concurrent_writes_never_look_like_a_break(self, raw):
        async with raw.serving() as client:
            first = await client.window()
            session_id = first.session.session_id

            async def write():
                for _ in range(12):
                    await client.call("AppendEvent", appended(session_id))

            async def look():
                found = []
                for _ in range(12):
                    found.append((await verify(client, session_id)).integrity)
                    lines = await client.export(session_id)
                    key = await head(client)
                    found.append(check_export(lines, NoteKey(key.origin, key.public_key), None).verdict)
                return found

            results = await asyncio.gather(write(), look(), write(), look())
            assert set(results[1] + results[3]) == {VALID, Verdict.VALID}


async def opens(client, subject="alice"):
    """Return the reason why a new session is refused; empty when it is not."""
    request = pb.OpenWindowRequest(request_id=fresh_uuid(), session_token="")
    try:
        await client.call("OpenWindow", request, subject)
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error).reason
    return ""


BREAKS = {
    "tree deleted": "DELETE FROM trees WHERE tenant_id = ?",
    "size lowered": "UPDATE trees SET size = size - 1 WHERE tenant_id = ?",
    "size a text": "UPDATE trees SET size = 'many' WHERE tenant_id = ?",
    "peaks zeroed": "UPDATE trees SET peaks = zeroblob(length(peaks)) WHERE tenant_id = ?",
    "peaks cut": "UPDATE trees SET peaks = x'' WHERE tenant_id = ?",
    "last leaf deleted": "DELETE FROM leaves WHERE tenant_id = ? AND leaf_index = 15",
    "a leaf in the middle deleted": "DELETE FROM leaves WHERE tenant_id = ? AND leaf_index = 4",
    "all leaves deleted": "DELETE FROM leaves WHERE tenant_id = ?",
    "a leaf's content changed": "UPDATE leaves SET position = 77 WHERE tenant_id = ? AND leaf_index = 4",
    "a subtree of a leaf changed": "UPDATE leaves SET subtrees = zeroblob(96) WHERE tenant_id = ? AND leaf_index = 3",
    "the kept head's root changed": "UPDATE heads SET root = zeroblob(32) WHERE tenant_id = ?",
    "the kept head's size lowered": "UPDATE heads SET size = 3 WHERE tenant_id = ?",
    "the kept head's key changed": "UPDATE heads SET key_version = 9 WHERE tenant_id = ?",
    "the kept head a text": "UPDATE heads SET size = 'all' WHERE tenant_id = ?",
    "the kept head deleted": "DELETE FROM heads WHERE tenant_id = ?",
}
AT_ONCE = {
    "tree deleted",
    "size lowered",
    "size a text",
    "peaks zeroed",
    "peaks cut",
    "the kept head a text",
}
"""What the next write of a process that was running meets, without looking at the leaves."""
AT_A_HEAD = {"last leaf deleted", "all leaves deleted", "the kept head deleted", "the kept head's root changed"}
"""What the next head meets, which is folded from the leaves."""


class TestALogThatDoesNotHoldTogether:
    async def broken(self, raw, name):
        async with raw.serving() as client:
            first, _, third = await three_windows(client)
            assert (await head(client)).tree_size == 16
            assert await opens(client, "mallory") == ""
        assert raw.run(BREAKS[name], TENANT) >= 1
        return first.session.session_id, third

    @pytest.mark.tenth
    @pytest.mark.parametrize("name", BREAKS)
    async def test_after_a_start_writes_are_refused_and_reads_go_on(self, raw, name):
        session_id, _ = await self.broken(raw, name)
        async with raw.serving() as client:
            assert await opens(client) == "LOG_INCONSISTENT"
            refusal = await client.fails("AppendEvent", appended(session_id))
            assert (refusal.code.name, refusal.reason) == ("DATA_LOSS", "LOG_INCONSISTENT")
            assert refusal.metadata["detail"]
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert refusal.reason == "LOG_INCONSISTENT"
            events = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id))
            assert len(events.events) == 13
            found = await verify(client, session_id)
            touches_leaves = "leaf" in name or "leaves" in name
            assert found.integrity == (BROKEN if touches_leaves else VALID)
            assert await opens(client, "mallory") == ""
            request = transparency.GetTreeHeadRequest()
            assert (await client.ask_log("GetTreeHead", request, "mallory")).tree_head.tree_size > 0

    @pytest.mark.parametrize("name", sorted(AT_ONCE))
    async def test_in_a_running_server_the_next_write_or_head_is_refused(self, raw, name):
        async with raw.serving() as client:
            await three_windows(client)
            assert (await head(client)).tree_size == 16
            raw.run(BREAKS[name], TENANT)
            assert await opens(client) == "LOG_INCONSISTENT"
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert refusal.reason == "LOG_INCONSISTENT"

    @pytest.mark.parametrize("name", sorted(AT_A_HEAD))
    async def test_in_a_running_server_no_head_is_signed_over_it(self, raw, name):
        async with raw.serving() as client:
            await three_windows(client)
            assert (await head(client)).tree_size == 16
            raw.run(BREAKS[name], TENANT)
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert refusal.reason == "LOG_INCONSISTENT"
            assert await opens(client) == "LOG_INCONSISTENT"

    async def test_a_log_set_back_under_a_running_server_is_refused(self, raw):
        tables = ("trees", "leaves", "heads", "sessions", "windows", "edges", "events", "reports")
        async with raw.serving() as client:
            await client.window()
            older = {table: raw.rows(f"SELECT * FROM {table} WHERE tenant_id = ?", TENANT) for table in tables}
            await client.window()
            for table in ("windows", "edges", "events", "reports", "sessions", "leaves", "trees", "heads"):
                raw.run(f"DELETE FROM {table} WHERE tenant_id = ?", TENANT)
            for table in ("sessions", "windows", "edges", "events", "reports", "leaves", "trees", "heads"):
                for row in older[table]:
                    raw.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
            assert await opens(client) == "LOG_INCONSISTENT"

    async def test_a_head_of_a_rewritten_log_is_not_signed(self, raw):
        """Leaves, subtrees, peaks and size rewritten without a fault: only the kept head tells."""
        async with raw.serving() as client:
            await client.window()
            await client.window()
            assert (await head(client)).tree_size == 10
        rows = raw.rows("SELECT size, peaks FROM trees WHERE tenant_id = ?", TENANT)
        assert rows[0][0] == 10
        ((peaks,),) = raw.rows("SELECT subtrees FROM leaves WHERE tenant_id = ? AND leaf_index = 7", TENANT)
        raw.run("DELETE FROM leaves WHERE tenant_id = ? AND leaf_index > 7", TENANT)
        raw.run("UPDATE trees SET size = 8, peaks = ? WHERE tenant_id = ?", peaks[-32:], TENANT)
        async with raw.serving() as client:
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert (refusal.reason, "10" in refusal.metadata["detail"]) == ("LOG_INCONSISTENT", True)
            assert await opens(client) == "LOG_INCONSISTENT"

    async def test_heads_of_every_size_still_belong_together(self, raw):
        async with raw.serving() as client:
            await three_windows(client)
            whole = await head(client)
            for size in range(17):
                assert (await head(client, tree_size=size)).tree_size == size
            await client.window()
            assert (await head(client)).tree_size == 21
        async with raw.serving() as client:
            again = await head(client, tree_size=16)
            assert again.root_hash == whole.root_hash
        assert raw.rows("SELECT size FROM heads WHERE tenant_id = ?", TENANT) == [(21,)]


class TestAHeadThatWitnessesCosigned:
    """A kept head that was put back to an earlier one holds; what witnesses cosigned since was kept before that."""

    LOG = ("trees", "leaves", "heads", "sessions", "windows", "edges", "events", "reports")

    async def seen(self, raw):
        """A log of which witnesses cosigned the second of three heads; the rows of the first and of the last."""
        async with raw.serving() as client:
            first = await client.window()
            await head(client)
            older = self.rows(raw)
            await client.window()
            cosigned = await head(client)
            await client.window()
            await head(client)
        note = Note.parse(cosigned.checkpoint)
        note = note.with_signatures([WITNESSES[0].cosign(note.text, COSIGNED_AT)])
        self.cosign(raw, cosigned.tree_size, str(note))
        return first.session.session_id, older

    def rows(self, raw):
        return {table: raw.rows(f"SELECT * FROM {table} WHERE tenant_id = ?", TENANT) for table in self.LOG}

    def cosign(self, raw, size, note):
        raw.run("INSERT OR REPLACE INTO cosigned_heads VALUES (?, ?, ?)", TENANT, size, note)

    def put_back(self, raw, older, tables):
        for table in reversed(tables):
            raw.run(f"DELETE FROM {table} WHERE tenant_id = ?", TENANT)
        for table in tables:
            for row in older[table]:
                raw.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)

    @pytest.mark.parametrize("tables", [("heads",), LOG], ids=["alone", "with log and sessions"])
    async def test_an_older_kept_head_is_found_at_the_next_start(self, raw, tables):
        session_id, older = await self.seen(raw)
        self.put_back(raw, older, tables)
        async with raw.serving() as client:
            refusal = await client.fails("AppendEvent", appended(session_id))
            assert refusal.reason == "LOG_INCONSISTENT"
            said = "the head that was kept is of size 5, and witnesses cosigned one of size 10"
            assert refusal.metadata["detail"] == said
            assert (await verify(client, session_id)).integrity == VALID
            assert await opens(client, "mallory") == ""

    async def test_and_at_the_next_head_of_a_running_server(self, raw):
        _, older = await self.seen(raw)
        async with raw.serving() as client:
            assert await opens(client) == ""
            self.put_back(raw, older, ("heads",))
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert refusal.reason == "LOG_INCONSISTENT"

    async def test_a_cosigned_head_that_the_log_does_not_go_on_from_is_found(self, raw):
        _, older = await self.seen(raw)
        async with raw.serving() as client:
            other = await head(client, tree_size=5)
        self.put_back(raw, {**older, "cosigned_heads": []}, self.LOG)
        raw.run("DELETE FROM cosigned_heads")
        text = str(Checkpoint(other.origin, 3, bytes(32)))
        signer = NoteSigner(other.origin, log_signing_seed(MasterKey(1, bytes.fromhex(SECRET)), TENANT))
        self.cosign(raw, 3, str(Note(text, (signer.sign(text), WITNESSES[0].cosign(text, COSIGNED_AT)))))
        async with raw.serving() as client:
            refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
            assert refusal.metadata["detail"] == "it does not go on from the head of size 3 that witnesses cosigned"

    @pytest.mark.parametrize("note", ["", "x", "another log's", "nobody's"])
    async def test_a_row_that_holds_no_head_of_this_log_says_nothing(self, raw, note):
        _, older = await self.seen(raw)
        text = str(Checkpoint("log.example/another", 900, bytes(32)))
        origin = raw.rows("SELECT note FROM cosigned_heads")[0][0].split("\n")[0]
        unsigned = str(Checkpoint(origin, 900, bytes(32)))
        notes = {"another log's": text, "nobody's": unsigned}
        line = WITNESSES[0].cosign(text, COSIGNED_AT)
        self.cosign(raw, 900, str(Note(notes[note], (line,))) if note in notes else note)
        self.put_back(raw, older, ("heads",))
        async with raw.serving() as client:
            assert await opens(client) == ""
            assert (await head(client)).tree_size > 15
