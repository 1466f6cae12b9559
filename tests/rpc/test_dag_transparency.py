"""The transparency log over gRPC: heads, proofs, exports that prove themselves, and who may ask."""

import asyncio
import hashlib
import json
import logging

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dag.v1 import transparency_service_pb2 as pb
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from services.cli.offline import Verdict, check_export
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.merkle import consistency_holds, inclusion_holds, leaf_hash
from services.common.settings.dag import DagSettings
from services.common.signed_note import Checkpoint, Note, NoteKey, NoteSigner
from services.dag.domain import step
from tests.contract.adapters import PLAIN
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SECRET, SealedWorld
from tests.patience import patient
from tests.unit.dag import independent

NO_SESSION = "crp_sess_" + "0" * 32
NO_EVENT = "crp_evt_" + "0" * 32


@pytest.fixture
def world():
    return SealedWorld()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def head_of(client, **fields):
    return (await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest(**fields))).tree_head


async def event_ids(client, session_id):
    request = sessions.ListAuditEventsRequest(session_id=session_id, page_size=100)
    return [event.event_id for event in (await client.call("ListAuditEvents", request)).events]


async def test_an_empty_log_has_a_signed_head(client):
    head = await head_of(client)
    assert (head.tree_size, head.root_hash) == (0, hashlib.sha256(b"").digest())
    assert head.origin == "log.example/" + hashlib.sha256(b"tenant-a").hexdigest()[:32]
    text = f"{head.origin}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
    assert head.checkpoint.startswith(f"{text}\n— {head.origin} ")
    Ed25519PublicKey.from_public_bytes(head.public_key).verify(head.signature, text.encode())


async def test_the_signing_key_is_derived_from_the_master_key_per_tenant(client):
    head = await head_of(client)
    seed = independent.hkdf(bytes.fromhex(SECRET), b"tenant-a", b"groundtrail-log-sign-v1")
    assert head.public_key == Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    assert head.key_id == hashlib.sha256(head.origin.encode() + b"\n\x01" + head.public_key).digest()[:4]
    other = (await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest(), "mallory")).tree_head
    assert other.public_key != head.public_key
    assert other.origin != head.origin


async def test_every_window_and_event_is_proven_in_every_tree_that_holds_it(client):
    first = await client.window()
    second = await client.window(first.session_token)
    session_id = first.session.session_id
    records = [{"event_id": name} for name in await event_ids(client, session_id)]
    records += [{"window_id": one.window.window_id} for one in (first, second)]
    latest = await head_of(client)
    assert latest.tree_size == len(records) == 10
    indexes = set()
    for record in records:
        latest = await client.ask_log("GetInclusionProof", pb.GetInclusionProofRequest(session_id=session_id, **record))
        index = latest.proof.leaf_index
        for size in range(1, 11):
            request = pb.GetInclusionProofRequest(session_id=session_id, tree_size=size, **record)
            if size <= index:
                refusal = await client.log_fails("GetInclusionProof", request)
                assert (refusal.reason, refusal.fields) == ("INVALID_FIELD", ("tree_size",))
                continue
            answer = await client.ask_log("GetInclusionProof", request)
            proof, head = answer.proof, answer.tree_head
            assert (proof.leaf_index, proof.tree_size, head.tree_size) == (index, size, size)
            assert leaf_hash(answer.leaf) == proof.leaf_hash
            leaf = json.loads(answer.leaf)
            assert leaf["record_id"] == next(iter(record.values()))
            assert (leaf["session_id"], leaf["version"]) == (session_id, 1)
            assert inclusion_holds(proof.leaf_hash, index, size, list(proof.path_hashes), head.root_hash)
        assert answer.proof == latest.proof
        indexes.add(index)
    assert indexes == set(range(10))


async def test_the_log_only_grows(client):
    heads = [await head_of(client)]
    token = ""
    for _ in range(3):
        token = (await client.window(token)).session_token
        heads.append(await head_of(client))
    for old in heads:
        for new in heads:
            if old.tree_size > new.tree_size:
                continue
            request = pb.GetConsistencyProofRequest(first_tree_size=old.tree_size, second_tree_size=new.tree_size)
            answer = await client.ask_log("GetConsistencyProof", request)
            small, large = (old.tree_size, old.root_hash), (new.tree_size, new.root_hash)
            assert answer.tree_head.root_hash == new.root_hash
            assert consistency_holds(small, large, list(answer.proof.path_hashes))
            assert (await head_of(client, tree_size=old.tree_size)).root_hash == old.root_hash


@pytest.mark.parametrize(
    ("rpc", "request_", "reason", "fields"),
    [
        ("GetTreeHead", pb.GetTreeHeadRequest(tree_size=9), "INVALID_FIELD", ("tree_size",)),
        (
            "GetConsistencyProof",
            pb.GetConsistencyProofRequest(first_tree_size=1),
            "INVALID_FIELD",
            ("first_tree_size",),
        ),
        (
            "GetConsistencyProof",
            pb.GetConsistencyProofRequest(second_tree_size=1),
            "INVALID_FIELD",
            ("second_tree_size",),
        ),
        ("GetInclusionProof", pb.GetInclusionProofRequest(), "INVALID_FIELD", ("session_id", "window_id")),
        (
            "GetInclusionProof",
            pb.GetInclusionProofRequest(session_id=NO_SESSION, event_id="x", window_id="y"),
            "INVALID_FIELD",
            ("event_id", "window_id"),
        ),
        (
            "GetInclusionProof",
            pb.GetInclusionProofRequest(session_id=NO_SESSION, event_id=NO_EVENT),
            "SESSION_NOT_FOUND",
            (),
        ),
    ],
    ids=["head", "first", "second", "nothing", "both", "session"],
)
async def test_what_cannot_be_proven_is_refused(client, rpc, request_, reason, fields):
    refusal = await client.log_fails(rpc, request_)
    assert (refusal.reason, refusal.fields) == (reason, fields)


async def test_records_that_have_no_leaf_are_not_found(client):
    opened = await client.open()
    session_id = opened.session.session_id
    pending = pb.GetInclusionProofRequest(session_id=session_id, window_id=opened.window.window_id)
    assert (await client.log_fails("GetInclusionProof", pending)).reason == "WINDOW_NOT_FOUND"
    unknown = pb.GetInclusionProofRequest(session_id=session_id, event_id=NO_EVENT)
    assert (await client.log_fails("GetInclusionProof", unknown)).reason == "EVENT_NOT_FOUND"
    (first, *_) = await event_ids(client, session_id)
    foreign = pb.GetInclusionProofRequest(session_id=session_id, event_id=first)
    assert (await client.log_fails("GetInclusionProof", foreign, "mallory")).reason == "SESSION_NOT_FOUND"


@pytest.mark.parametrize("rpc", ["GetTreeHead", "GetInclusionProof", "GetConsistencyProof"])
async def test_a_reader_may_ask_and_nobody_else(client, rpc):
    first = await client.window()
    requests = {
        "GetTreeHead": pb.GetTreeHeadRequest(),
        "GetInclusionProof": pb.GetInclusionProofRequest(
            session_id=first.session.session_id, window_id=first.window.window_id
        ),
        "GetConsistencyProof": pb.GetConsistencyProofRequest(first_tree_size=1),
    }
    assert (await client.ask_log(rpc, requests[rpc], "reader")).tree_head.tree_size == 5


async def test_after_a_rotation_both_keys_sign(world):
    async with world.serving() as client:
        old = await head_of(client)
    rotated = DagSettings(
        master_key="ff" * 32,
        master_key_version=2,
        previous_master_keys={1: SECRET},
        master_key_rotated_at="2026-05-24T09:00:00Z",
        log_name="log.example",
    )
    async with SealedWorld(store=world.store, dag=rotated).serving() as client:
        new = await head_of(client)
    note = Note.parse(new.checkpoint)
    assert len(note.signatures) == 2
    assert note.holds(NoteKey(old.origin, old.public_key), old.origin)
    assert note.holds(NoteKey(new.origin, new.public_key), new.origin)
    assert old.public_key != new.public_key


async def test_writers_of_many_sessions_fill_one_log_without_a_gap(tmp_path):
    world = SealedWorld(store=await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN))
    async with world.serving() as client:
        answers = await asyncio.gather(*(client.window() for _ in range(16)))
        head = await head_of(client)
        assert head.tree_size == 16 * 5
        indexes = set()
        for one in answers:
            request = pb.GetInclusionProofRequest(
                session_id=one.session.session_id, window_id=one.window.window_id, tree_size=80
            )
            proof = (await client.ask_log("GetInclusionProof", request)).proof
            path = list(proof.path_hashes)
            assert inclusion_holds(proof.leaf_hash, proof.leaf_index, 80, path, head.root_hash)
            indexes.add(proof.leaf_index)
        assert len(indexes) == 16
    await world.store.close()


class TestExport:
    async def test_it_is_checked_without_a_server(self, client):
        first = await client.window()
        kept = await head_of(client)
        await client.window(first.session_token, text="Another answer.")
        head = await head_of(client)
        for with_content in (False, True):
            lines = await client.export(first.session.session_id, with_content=with_content, sizes=(kept.tree_size,))
            found = check_export(lines, NoteKey(head.origin, head.public_key), kept.checkpoint)
            assert (found.verdict, found.fault, found.notes) == (Verdict.VALID, None, ())
            assert (found.events, found.windows, found.analyses) == (8, 2, 2 if with_content else 0)
            assert (found.session_id, found.tree_size) == (first.session.session_id, 10)
            assert found.root == head.root_hash.hex()

    async def test_neither_keys_nor_secrets_are_in_it_or_in_logs(self, client, caplog, capfd):
        caplog.set_level(logging.DEBUG)
        first = await client.window(text="zyxanswer")
        session_id = first.session.session_id
        plain = "\n".join(await client.export(session_id))
        full = "\n".join(await client.export(session_id, with_content=True))
        out, err = capfd.readouterr()
        master = bytes.fromhex(SECRET)
        derived = {
            name: independent.hkdf(master, salt, info)
            for name, salt, info in (
                ("hmac", session_id.encode(), b"crp-session-hmac-v3"),
                ("sign", session_id.encode(), b"crp-session-sign-v3"),
                ("seal", session_id.encode(), b"groundtrail-session-seal-v1"),
                ("receipt", b"tenant-a", b"groundtrail-receipt-seal-v1"),
                ("log", b"tenant-a", b"groundtrail-log-sign-v1"),
            )
        } | {"master": master}
        for name, key in derived.items():
            for shown in (key.hex(), independent.b64(key), repr(key)[2:-1]):
                for where, text in (("export", plain + full), ("output", out + err), ("log", caplog.text)):
                    assert shown not in text, f"the {name} key is in the {where}"
        assert "zyxanswer" in full
        assert "zyxanswer" not in plain + out + err + caplog.text

    async def test_a_size_above_the_log_is_refused_before_the_first_line(self, client):
        first = await client.window()
        request = sessions.ExportAuditRequest(session_id=first.session.session_id, consistency_from_sizes=[1, 99])
        call = client.stub.ExportAudit(request, metadata=(("authorization", "alice"),), timeout=patient(5))
        with pytest.raises(Exception, match=r"consistency_from_sizes\[1\]"):
            [line async for line in call]

    async def test_more_than_sixteen_sizes_are_refused(self, client):
        first = await client.window()
        request = sessions.ExportAuditRequest(session_id=first.session.session_id, consistency_from_sizes=[1] * 17)
        call = client.stub.ExportAudit(request, metadata=(("authorization", "alice"),), timeout=patient(5))
        with pytest.raises(Exception, match="at most 16"):
            [line async for line in call]

    async def test_a_database_from_before_the_log_is_incomplete(self, world, monkeypatch):
        """What was written without seals and leaves stays readable; the log proves what came after it."""
        with monkeypatch.context() as earlier:
            earlier.setattr(step, "promising", tuple)  # its sessions promise nothing
            async with world.serving() as client:
                first = await client.window()
        session_id = first.session.session_id
        held = world.store._sessions["tenant-a", session_id]
        world.store._logs._logs.clear()
        async with world.serving() as client:
            plain = await client.call("VerifyChain", sessions.VerifyChainRequest(session_id=session_id))
            assert plain.integrity == taxonomy.CHAIN_INTEGRITY_PARTIAL
            assert plain.partial_reason == "of what is older than it the log proves nothing: 5 records"
            await client.call(
                "AppendEvent",
                sessions.AppendEventRequest(
                    request_id=fresh_uuid(),
                    session_id=session_id,
                    event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
                    data="{}",
                ),
            )
            head = await head_of(client)
            assert (head.tree_size, len(held.events)) == (1, 5)
            found = check_export(await client.export(session_id), NoteKey("", head.public_key), None)
        assert found.verdict is Verdict.INCOMPLETE
        older, partly = found.notes
        assert older == "of what is older than it the log proves nothing: 5 records"
        assert partly.endswith("PARTIAL")
        assert (found.events, found.windows) == (1, 0)


async def test_an_earlier_checkpoint_of_the_same_size_must_have_the_same_root(client):
    first = await client.window()
    head = await head_of(client)
    lines = await client.export(first.session.session_id)
    key = NoteKey("", head.public_key)
    assert check_export(lines, key, head.checkpoint).verdict is Verdict.VALID
    seed = independent.hkdf(bytes.fromhex(SECRET), b"tenant-a", b"groundtrail-log-sign-v1")
    forked = str(Checkpoint(head.origin, head.tree_size, bytes(32)))
    note = Note(forked, (NoteSigner(head.origin, seed).sign(forked),))
    found = check_export(lines, key, str(note))
    assert (found.verdict, found.fault.record_kind) == (Verdict.BROKEN, "checkpoint")
    assert "forked" in found.fault.detail
