"""The key of node signatures: HMAC-SHA256 over RFC 8785 JSON, under a key for each trace (ERCP 1.0 §2, §5; ADR 0073).

The node key stands in a file that only its owner reads, or in a setting. Each trace is signed with a key of its own,
HKDF-SHA256 of the node key with the trace's session id as salt, so that an auditor can be given the key of one trace.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from services.common.encoding import canonical_json
from services.common.settings import ErcpSettings, SettingsError

SIGNATURE: Final = "node_signature"
PREFIX: Final = "hmac:"
FILE_NAME: Final = "ercp-node.key"
NODE_KEY_FILE: Final = "GROUNDTRAIL_ERCP__NODE_KEY_FILE"
"""The setting that names a file with the key; messages about such a file begin with it."""
KEY_BYTES: Final = 32
_INFO: Final = b"groundtrail-ercp-node-v1"
_ID_INFO: Final = b"groundtrail-ercp-key-id-v1"
_ID_BYTES: Final = 8
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def trace_key(node_key: bytes, session_id: str) -> bytes:
    """Return the key that signs one trace."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=session_id.encode(), info=_INFO).derive(node_key)


def key_id(key: bytes) -> str:
    """Return what a key is called by: 16 hex digits that follow from it and tell nothing of it (ADR 0115)."""
    return HKDF(algorithm=SHA256(), length=_ID_BYTES, salt=None, info=_ID_INFO).derive(key).hex()


def signature(key: bytes, document: Mapping[str, Any]) -> str:
    """Return ``hmac:`` and 64 hex digits over the document's canonical JSON without its own signature."""
    signed = {name: value for name, value in document.items() if name != SIGNATURE}
    return PREFIX + hmac.new(key, canonical_json(signed), hashlib.sha256).hexdigest()


class HmacNodeSigner:
    """``NodeSigner`` over a key and those that it replaced.

    Args:
        keys: 32 bytes each, the one that signs first.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = tuple(keys)
        self._derived = lru_cache(maxsize=1_024)(trace_key)

    def sign(self, session_id: str, document: Mapping[str, Any]) -> str:
        """Sign with the present key."""
        return signature(self._derived(self._keys[0], session_id), document)

    def key_ids(self, session_id: str) -> tuple[str, str]:
        """Return what the present node key and its key of a trace are called by."""
        return key_id(self._keys[0]), key_id(self._derived(self._keys[0], session_id))

    def holds(self, session_id: str, document: Mapping[str, Any]) -> bool:
        """Compare in constant time, with every key."""
        given = str(document.get(SIGNATURE, "")).encode()
        found = [signature(self._derived(key, session_id), document).encode() for key in self._keys]
        return any(hmac.compare_digest(given, each) for each in found)


def open_node_signer(settings: ErcpSettings, data_dir: Path) -> HmacNodeSigner:
    """Return the signer that the settings describe; the first start creates the key file if they allow it.

    Raises:
        SettingsError: a key is malformed, missing or readable by others.
    """
    earlier = [_parsed(key.get_secret_value(), "PREVIOUS_NODE_KEYS") for key in settings.previous_node_keys]
    if settings.node_key is not None:
        return HmacNodeSigner([_parsed(settings.node_key.get_secret_value(), "NODE_KEY"), *earlier])
    path = settings.node_key_file or data_dir / "keys" / FILE_NAME
    if settings.create_node_key and not path.exists():
        _create(path)
    return HmacNodeSigner([read_key_file(path), *earlier])


def read_key_file(path: Path) -> bytes:
    """Return the key in a file.

    Raises:
        SettingsError: it is missing, malformed or readable by others.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise SettingsError([f"{NODE_KEY_FILE}: {path}: {error.strerror}"]) from None
    if mode & _OTHERS:
        why = f"can be read by others (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"
        raise SettingsError([f"{NODE_KEY_FILE}: {path} {why}"])
    return _parsed(text, "NODE_KEY_FILE")


def _parsed(text: str, setting: str) -> bytes:
    if not _HEX.fullmatch(text):
        raise SettingsError([f"GROUNDTRAIL_ERCP__{setting}: a key has 64 lower-case hex digits"])
    return bytes.fromhex(text)


def _create(path: Path) -> None:
    """Write a fresh key whole or not at all; of two processes that start at once the first one's stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(KEY_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(part)
        except FileExistsError:
            return
    finally:
        part.unlink()
