"""Sealed content: what adapters see, where it opens, and what an older database looks like (ADR 0054)."""

import base64
import json
import struct
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.encoding import canonical_json
from services.common.errors import ErrorReason, UnavailableError
from services.common.merkle import fold, leaf_hash, places
from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind
from services.common.taxonomy import WindowStatus
from services.dag.domain import leaves
from services.dag.domain.events import window_data
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import MARK, Sealer, SealPlace
from tests.contract.records import HOSTILE, event, receipt, report, session, window
from tests.unit.dag import independent

SECRET = bytes(range(32))
KEYS = FixedMasterKeys({1: MasterKey(1, SECRET)})
PLACE = SealPlace("tenant-a", "s", "window", "s/w1", "response_text")


def sealer(**versions):
    return Sealer(FixedMasterKeys({int(name[1:]): MasterKey(int(name[1:]), key) for name, key in versions.items()}))


def committed(text="The limit is 500 euros."):
    one = window("s", 1, response_text=text)
    data = canonical_json(window_data(one, ())).decode()
    done = event("s", 0, event_type="DISPATCH_COMPLETED", data=data)
    return SessionChange(session("s"), windows=(one,), events=(done,), reports=(report("s", "r", inputs="{}"),))


@pytest.fixture
def inner():
    return MemorySessionStore()


@pytest.fixture
def store(inner):
    return SealedSessionStore(inner, Sealer(KEYS))


class TestSeal:
    @pytest.mark.parametrize("text", ["", "x", *HOSTILE], ids=range(len(HOSTILE) + 2))
    async def test_what_was_sealed_opens_again(self, text):
        sealed = await Sealer(KEYS).seal(PLACE, text.encode(), b"s" * 32)
        found = await Sealer(KEYS).open(PLACE, sealed)
        assert (found.text, found.salt, found.opened) == (text, b"s" * 32, True)
        assert sealed.isascii()

    async def test_the_same_text_is_never_sealed_alike(self):
        one = Sealer(KEYS)
        assert len({await one.seal(PLACE, b"the same") for _ in range(50)}) == 50

    async def test_the_bytes_are_those_of_the_adr(self):
        """Opened by a few lines of its own: RFC 5869, AES-256-GCM twice, the place as associated data."""
        sealed = await Sealer(KEYS).seal(PLACE, b"content", b"s" * 32)
        raw = base64.urlsafe_b64decode(sealed.removeprefix("gtseal1.") + "==")
        assert raw[:4] == struct.pack(">I", 1)
        parts = ("groundtrail-seal-v1", "tenant-a", "s", "window", "s/w1", "response_text")
        bound = raw[:4] + b"".join(struct.pack(">I", len(part)) + part.encode() for part in parts)
        wrapping = independent.hkdf(SECRET, b"s", b"groundtrail-session-seal-v1")
        key = AESGCM(wrapping).decrypt(raw[4:16], raw[16:64], bound)
        assert AESGCM(key).decrypt(raw[64:76], raw[76:], bound) == bytes([32]) + b"s" * 32 + b"content"

    @pytest.mark.parametrize(
        "other",
        [
            replace(PLACE, tenant_id="tenant-b"),
            replace(PLACE, session_id="t"),
            replace(PLACE, record_kind="event"),
            replace(PLACE, record_id="s/w2"),
            replace(PLACE, field="inputs"),
            SealPlace("tenant-as", "", "window", "s/w1", "response_text"),
        ],
        ids=["tenant", "session", "kind", "id", "field", "cut elsewhere"],
    )
    async def test_a_sealed_text_opens_at_its_own_place_alone(self, other):
        sealed = await Sealer(KEYS).seal(PLACE, b"content")
        found = await Sealer(KEYS).open(other, sealed)
        assert (found.text, found.opened) == (sealed, False)

    async def test_every_changed_byte_keeps_it_shut(self):
        sealed = await Sealer(KEYS).seal(PLACE, b"content", b"s" * 32)
        raw = base64.urlsafe_b64decode(sealed.removeprefix(MARK) + "=" * (-len(sealed.removeprefix(MARK)) % 4))
        for at in range(4, len(raw)):  # the first four name the key
            changed = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
            text = MARK + base64.urlsafe_b64encode(changed).decode().rstrip("=")
            assert not (await Sealer(KEYS).open(PLACE, text)).opened
        for end in range(4, len(raw)):
            text = MARK + base64.urlsafe_b64encode(raw[:end]).decode().rstrip("=")
            assert not (await Sealer(KEYS).open(PLACE, text)).opened

    @pytest.mark.parametrize("text", [MARK, MARK + "A", MARK + "!!!", MARK + "AAAAAQ", "plain", "gtseal"])
    async def test_what_is_no_sealed_text_is_left_as_it_is(self, text):
        found = await Sealer(KEYS).open(PLACE, text)
        assert (found.text, found.salt, found.opened) == (text, b"", False)

    async def test_a_rotated_key_still_opens_and_a_lost_one_is_named(self):
        old = await sealer(v1=SECRET).seal(PLACE, b"content")
        assert (await sealer(v1=SECRET, v2=bytes(32)).open(PLACE, old)).text == "content"
        assert not (await sealer(v1=bytes(32)).open(PLACE, old)).opened
        with pytest.raises(UnavailableError) as caught:
            await sealer(v2=bytes(32)).open(PLACE, old)
        assert caught.value.reason is ErrorReason.SERVICE_UNAVAILABLE
        assert caught.value.metadata["key_version"] == "1"


class TestStore:
    async def test_adapters_see_no_content(self, store, inner):
        await store.write(replace(committed("zyxsecret"), receipt=receipt("q", response=b"zyxsecret")))
        held = inner._sessions["tenant-a", "s"]
        seen = repr((held.windows, held.events, held.reports, await inner.get_receipt("tenant-a", "IngestSource", "q")))
        assert "zyxsecret" not in seen
        assert '"node"' not in seen
        assert seen.count(MARK) == 5

    async def test_a_window_that_is_written_again_keeps_salt_and_leaf(self, store):
        await store.write(committed())
        read = (await store.snapshot("tenant-a", "s")).windows[0]
        assert len(read.salt) == 32
        await store.write(SessionChange(session("s", 2), windows=(replace(read, continuation_id="again"),)))
        again = (await store.snapshot("tenant-a", "s")).windows[0]
        assert (again.salt, again.continuation_id) == (read.salt, "again")
        assert await store.tree_size("tenant-a") == 2

    async def test_a_pending_window_has_neither_seal_nor_leaf(self, store, inner):
        pending = window("s", 1, status=WindowStatus.PENDING)
        await store.write(SessionChange(session("s"), windows=(pending,)))
        assert (await inner.snapshot("tenant-a", "s")).windows == (pending,)
        assert await store.tree_size("tenant-a") == 0

    async def test_leaves_are_salted_hashes_of_the_content(self, store):
        change = committed()
        await store.write(change)
        (done,) = change.events
        snapshot = await store.snapshot("tenant-a", "s")
        wanted = [(LeafKind.WINDOW, "s/w1"), (LeafKind.EVENT, done.event_id)]
        found = await store.find_leaves("tenant-a", "s", wanted)
        node = canonical_json(json.loads(done.data)["node"])
        fields = {
            "data_sha256": independent.hashlib.sha256(done.data.encode()).hexdigest(),
            "event_id": done.event_id,
            "event_type": "DISPATCH_COMPLETED",
            "hmac": done.hmac,
            "sequence": 0,
            "session_id": "s",
            "timestamp": "2026-03-01T12:00:00.123456Z",
            "window_id": "s/w1",
        }
        text = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
        salts = (snapshot.windows[0].salt, snapshot.last_event.salt)
        contents = (node, text)
        for one, salt, content in zip(found, salts, contents, strict=True):
            assert one.content_hmac == independent.hmac.new(salt, content, independent.hashlib.sha256).hexdigest()
            assert one.leaf_hash == leaf_hash(leaves.leaf_bytes(one))
        assert [one.leaf_index for one in found] == [0, 1]
        assert (
            leaves.leaf_bytes(found[0])
            == (
                f'{{"content_hmac":"{found[0].content_hmac}","position":1,"record_id":"s/w1","record_kind":"window",'
                f'"session_id":"s","version":1}}'
            ).encode()
        )
        assert len(set(salts)) == 2

    async def test_the_same_content_never_has_the_same_leaf(self, inner):
        seen = set()
        for name in ("a", "b"):
            store = SealedSessionStore(MemorySessionStore(), Sealer(KEYS))
            await store.write(committed())
            seen.add(fold(await store.tree_hashes("tenant-a", places((0, 2)))))
            assert name
        assert len(seen) == 2

    async def test_an_altered_receipt_is_none(self, store, inner):
        await store.write(replace(committed(), receipt=receipt("q")))
        kept = inner._receipts._receipts["tenant-a", "IngestSource", "q"]
        assert (await store.get_receipt("tenant-a", "IngestSource", "q")).response == receipt("q").response
        inner._receipts._receipts["tenant-a", "IngestSource", "q"] = replace(
            kept, response=kept.response[:-4] + b"AAAA"
        )
        assert await store.get_receipt("tenant-a", "IngestSource", "q") is None

    async def test_what_was_written_before_sealing_is_read_as_it_is(self, store, inner):
        change = replace(committed(), receipt=receipt("q"))
        await inner.write(change)
        snapshot = await store.snapshot("tenant-a", "s")
        assert (snapshot.windows, snapshot.last_event) == (change.windows, change.events[0])
        assert await store.get_report("tenant-a", "r") == change.reports[0]
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")
        await store.write(SessionChange(session("s", 2), windows=snapshot.windows, events=(event("s", 1),)))
        assert await store.tree_size("tenant-a") == 1
        assert (await inner.snapshot("tenant-a", "s")).windows[0].response_text.startswith(MARK)
