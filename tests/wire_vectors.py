"""Writes ``tests/vectors/wire``: what docs/wire-formats.md describes, as the product makes it, for every pattern.

    python -m tests.wire_vectors            writes the files anew
    python -m tests.wire_vectors --check    says whether the committed ones are what the product makes now

For each pattern an export with content, as the command would write it, and in ``wire.json`` the texts that are hashed,
keys, leaves, notes, proofs and tokens. Clock, ids and salts count up, so that each run makes the same bytes.
"""

import base64
import json
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import structlog
from google.protobuf.json_format import MessageToDict

from services.common.encoding import base64url_decode, canonical_json, parse_iso_micros, sha256_hex
from services.common.signed_note import Note, NoteSigner
from services.dag.domain import chain, keys
from services.dag.domain import token as tokens
from services.dag.domain.keys import MasterKey
from tests.fakes.recorded_sessions import NEW_SECRET, Recording, counted_randomness, record
from tests.fakes.sealed_world import SECRET

FOLDER: Final = Path(__file__).parent / "vectors" / "wire"
TENANT: Final = "tenant-a"
SEEDS: Final = {
    "linear": 6,
    "fan_out": 6,
    "fan_in": 1,
    "partial_fan_in": 7,
    "branch": 2,
    "relay": 7,
    "agent": 5,
    "lowered": 1,
    "failed": 4,
    "erased": 4,
    "created": 0,
    "summarised": 2,
    "with_facts": 5,
    "rotated": 2,
    "broken": 0,
    "older": 2,
    "cosigned": 0,
    "tombstoned": 0,
}
"""The recipe of each pattern, with a seed that gives a short session."""
VERDICTS: Final = {
    "erased": "TRUNCATED",
    "broken": "BROKEN",
    "older": "INCOMPLETE",
    "relay": "INCOMPLETE",
    "tombstoned": "TRUNCATED",
}
WITNESS: Final = NoteSigner("witness.example/w1", bytes(range(100, 132)))
WITNESS_TYPE: Final = b"\x04"
COSIGNED_AT: Final = 1_779_613_320


def files() -> Iterator[tuple[str, str]]:
    """Yield name and text of every file."""
    recordings = {}
    with tempfile.TemporaryDirectory() as folder:
        for pattern, seed in SEEDS.items():
            with counted_randomness():
                recordings[pattern] = record(pattern, seed, Path(folder))
    for pattern, recording in recordings.items():
        yield f"{pattern}.ndjson", "".join(f"{line}\n" for line in recording.full)
    yield "wire.json", json.dumps(_summary(recordings), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _summary(recordings: dict[str, Recording]) -> dict[str, Any]:
    linear = recordings["linear"]
    return {
        "source": "python -m tests.wire_vectors",
        "tenant_id": TENANT,
        "exports": {pattern: _export(pattern, recording) for pattern, recording in recordings.items()},
        "windows": {pattern: list(_windows(recording)) for pattern, recording in recordings.items()},
        "events": list(_events(linear)),
        "leaves": list(_leaves(linear)),
        "trail": _trail(linear),
        "keys": list(_keys(linear)),
        "tokens": [
            _token(text)
            for name in ("linear", "fan_in", "created", "rotated", "relay")
            for text in recordings[name].tokens
        ],
        "cosignature": _cosignature(linear),
        "answers": {
            name: MessageToDict(answer, preserving_proto_field_name=True) for name, answer in linear.answers.items()
        },
    }


def _export(pattern: str, recording: Recording) -> dict[str, Any]:
    return {
        "file": f"{pattern}.ndjson",
        "verdict": VERDICTS.get(pattern, "VALID"),
        "session_id": recording.session_id,
        "master_key": recording.master,
        "public_keys": list(recording.keys),
        "checkpoints": recording.kept,
    }


def _session_key(recording: Recording) -> bytes:
    return keys.session_hmac_key(MasterKey(1, bytes.fromhex(recording.master)), recording.session_id)


def _read(recording: Recording, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in recording.full]
    return [line for line in lines if line.get("record", "event") == kind]


def _windows(recording: Recording) -> Iterator[dict[str, Any]]:
    """What the product hashes of each window that it committed itself."""
    hmacs: dict[str, str] = {}
    macs = chain.Macs(_session_key(recording))
    for event in _read(recording, "event"):
        if not (event["event_type"].endswith("DISPATCH_COMPLETED") and event["data"]):
            continue
        node = event["data"]["node"]
        hmacs[node["window_id"]] = node["hmac"]
        if not node["report_id"]:
            yield {"window_id": node["window_id"], "stands_for": node["hmac"], "window_number": node["window_number"]}
            continue
        material = chain.WindowMaterial(
            node["session_id"],
            node["window_number"],
            parse_iso_micros(node["timestamp"]),
            node["response_hash"],
            node["report_hash"],
        )
        parents = [hmacs[parent] for parent in node["parent_ids"]]
        chained, alone = macs.window(material, parents)
        yield {
            "window_id": node["window_id"],
            "pattern": node["pattern"],
            "text": chain.window_text(material) + chain.parent_input(parents),
            "hmac": chained,
            "window_hmac": alone,
        }


def _events(recording: Recording) -> Iterator[dict[str, Any]]:
    previous, macs = "", chain.Macs(_session_key(recording))
    for event in _read(recording, "event"):
        kind, data = event["event_type"].removeprefix("AUDIT_EVENT_TYPE_"), canonical_json(event["data"]).decode()
        stamp = _micros(event["timestamp"])
        mac = macs.event(chain.EventMaterial(kind, parse_iso_micros(stamp), data, event["window_id"]), previous)
        text = f"{kind}{stamp}{sha256_hex(data)}{event['window_id']}{previous}"
        yield {"text": text, "hmac": mac, "event_id": chain.event_id(mac), "sequence": int(event["sequence"])}
        previous = mac


def _micros(stamp: str) -> str:
    whole, _, part = stamp.removesuffix("Z").partition(".")
    return f"{whole}.{part:0<6}Z"


def _leaves(recording: Recording) -> Iterator[dict[str, Any]]:
    for line in _read(recording, "leaf"):
        leaf = {
            "content_hmac": line["content_hmac"],
            "position": line["position"],
            "record_id": line["record_id"],
            "record_kind": line["record_kind"],
            "session_id": recording.session_id,
            "version": 1,
        }
        text = canonical_json(leaf).decode()
        yield {"leaf": text, "leaf_hash": sha256_hex(b"\x00" + text.encode()), "leaf_index": line["leaf_index"]}


def _trail(recording: Recording) -> dict[str, Any]:
    last = list(_events(recording))[-1]
    count = last["sequence"] + 1
    mac = chain.Macs(_session_key(recording)).trail(7, count, last["hmac"])
    return {"version": 7, "events": count, "last_hmac": last["hmac"], "trail_mac": mac}


def _keys(recording: Recording) -> Iterator[dict[str, str]]:
    for secret in (SECRET, NEW_SECRET):
        master = MasterKey(1, bytes.fromhex(secret))
        made = {
            ("crp-session-hmac-v3", recording.session_id): keys.session_hmac_key(master, recording.session_id),
            ("crp-session-sign-v3", recording.session_id): keys.session_sign_key(master, recording.session_id),
            ("groundtrail-log-sign-v1", TENANT): keys.log_signing_seed(master, TENANT),
        }
        for (info, salt), key in made.items():
            yield {"master_key": secret, "salt": salt, "info": info, "key": key.hex()}


def _token(text: str) -> dict[str, Any]:
    payload = json.loads(base64url_decode(text.partition(".")[0]))
    secret = SECRET if payload["kv"] == 1 else NEW_SECRET
    key = keys.session_sign_key(MasterKey(payload["kv"], bytes.fromhex(secret)), payload["sid"])
    assert tokens.policy_nonce(payload["sid"], payload["pol"], key) == payload["nonce"]
    return {"token": text, "master_key": secret, "payload": payload}


def _cosignature(recording: Recording) -> dict[str, str]:
    """The last kept head with a witness's line, made by hand from C2SP tlog-cosignature with the product's Ed25519."""
    note = Note.parse(recording.kept["end"])
    public = WITNESS_TYPE + WITNESS.key.public_key
    key_id = bytes.fromhex(sha256_hex(f"{WITNESS.name}\n".encode() + public))[:4]
    signed = WITNESS.sign(f"cosignature/v1\ntime {COSIGNED_AT}\n{note.text}").signature
    line = base64.b64encode(key_id + COSIGNED_AT.to_bytes(8, "big") + signed).decode()
    return {
        "witness": f"{WITNESS.name}+{key_id.hex()}+{base64.b64encode(public).decode()}",
        "checkpoint": f"{note}\u2014 {WITNESS.name} {line}\n",
    }


def differing() -> list[str]:
    """Return the names of files that are not what the product makes."""
    made = dict(files())
    found = {path.name for path in FOLDER.iterdir()} if FOLDER.is_dir() else set()
    wrong = [name for name, text in made.items() if name not in found or (FOLDER / name).read_bytes() != text.encode()]
    return sorted({*wrong, *(found - set(made))})


def main(arguments: list[str]) -> int:
    """Write the files, or compare them."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if arguments == ["--check"]:
        wrong = differing()
        sys.stdout.write("".join(f"{name} is not what the product makes\n" for name in wrong))
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in files():
        (FOLDER / name).write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
