"""Byte-exact vectors of the transparency log: committed value == the code's == a second writing in a few lines."""

import hashlib
import hmac
import json
from pathlib import Path

import jsonschema
import pytest

from services.common import merkle
from services.common.encoding import parse_iso_micros
from services.common.ports.sessions import AuditEventRecord
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.dag.domain import leaves
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from services.dag.transparency import HeadSigners

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "dag"
DOCUMENT = json.loads((FOLDER / "transparency.json").read_text(encoding="utf-8"))


def cases(start):
    found = [vector for vector in DOCUMENT["vectors"] if vector["test_id"].startswith(start)]
    return [pytest.param(vector["input"], vector["expected"], id=vector["test_id"]) for vector in found]


def test_the_file_fits_the_schema():
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(DOCUMENT, schema)
    assert len({vector["test_id"] for vector in DOCUMENT["vectors"]}) == len(DOCUMENT["vectors"]) == 10


def plain(value):
    """RFC 8785 of values whose keys are ASCII and whose numbers are whole or short."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check(record, salt, content, expected):
    leaf = leaves.new_leaf(record, bytes.fromhex(salt))
    assert record.content == content
    assert leaf.content_hmac == expected["content_hmac"]
    assert leaf.content_hmac == hmac.new(bytes.fromhex(salt), content, hashlib.sha256).hexdigest()
    assert leaves.leaf_bytes(leaf).decode() == expected["leaf"]
    assert leaf.leaf_hash.hex() == expected["leaf_hash"]
    assert leaf.leaf_hash == hashlib.sha256(b"\x00" + expected["leaf"].encode()).digest()


@pytest.mark.parametrize(("given", "expected"), cases("dag-log-event"))
def test_event_leaves(given, expected):
    fields = dict(given["event"])
    event = AuditEventRecord(**{**fields, "timestamp": parse_iso_micros(fields["timestamp"])})
    digest = hashlib.sha256(fields.pop("data").encode()).hexdigest()
    check(leaves.event_loggable(event), given["salt"], plain({**fields, "data_sha256": digest}), expected)


@pytest.mark.parametrize(("given", "expected"), cases("dag-log-window"))
def test_window_leaves(given, expected):
    record = leaves.window_loggable(given["session_id"], given["node"])
    check(record, given["salt"], plain(given["node"]), expected)


@pytest.mark.parametrize(("given", "expected"), cases("dag-log-root"))
def test_roots(given, expected):
    tree, _ = merkle.CompactRange().extend(merkle.leaf_hash(text.encode()) for text in given["leaves"])
    assert tree.root().hex() == expected["root"]


@pytest.mark.parametrize(("given", "expected"), cases("dag-log-head"))
async def test_heads(given, expected):
    keys = FixedMasterKeys({1: MasterKey(1, bytes.fromhex(given["master_key"]))})
    signers = HeadSigners(keys, given["log_name"])
    origin = signers.origin(given["tenant_id"])
    text = str(Checkpoint(origin, given["tree_size"], bytes.fromhex(given["root"])))
    note = await signers.sign(given["tenant_id"], text)
    assert str(note) == expected["checkpoint"]
    assert str((await signers.current(given["tenant_id"])).key) == expected["public_key"]
    assert Note.parse(expected["checkpoint"]).holds(NoteKey.parse(expected["public_key"]), origin)
