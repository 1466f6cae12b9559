#!/usr/bin/env python3
"""Checks what Groundtrail hands out, without Groundtrail: exports, session tokens, proofs, checkpoints, cosignatures.

One file for Python 3.10 or newer and the package ``cryptography`` (Ed25519). Written from ``docs/wire-formats.md``;
§ names a section of that page. An export is read from the disk line by line, several times; what stays in memory is a
few hundred bytes for each window, analysis and fact.

Exit codes: 0 = VALID or TRUNCATED, 1 = INCOMPLETE or EXPIRED, 2 = a file, a key or the command line cannot be used,
3 = BROKEN.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import hashlib
import hmac
import itertools
import json
import os
import re
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:  # pragma: no cover - depends on the installation
    sys.exit("groundtrail_verify needs the package cryptography: python3 -m pip install cryptography")

VALID, TRUNCATED, INCOMPLETE, BROKEN, EXPIRED = "VALID", "TRUNCATED", "INCOMPLETE", "BROKEN", "EXPIRED"
EXITS: Final = {VALID: 0, TRUNCATED: 0, INCOMPLETE: 1, EXPIRED: 1, BROKEN: 3}
USAGE: Final = 2
MAX_LINE_BYTES: Final = 64 << 20
MAX_SMALL_FILE_BYTES: Final = 4 << 20
SHOWN_CHARS: Final = 300


class Unusable(Exception):
    """A file, a key or an argument cannot be used; nothing was checked."""


class Broken(Exception):
    """Something does not hold: line of the file (0 = none), kind and id of the record, and what is wrong with it."""

    def __init__(self, line: int, record_kind: str, record_id: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = {"line": line, "record_kind": record_kind, "record_id": record_id, "detail": detail}


# --- canonical JSON (§1) -------------------------------------------------------------------------------------------

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED: Final = re.compile('["\\\\\x00-\x1f]')
_LARGEST: Final = 2**53 - 1


def number_text(value: float) -> str:
    """Return a number as ECMAScript prints it (RFC 8785 §3.2.2.3)."""
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise ValueError("an integer beyond 2^53 - 1")
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        raise ValueError("no number of JSON")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, power = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def string_text(value: str) -> str:
    """Return a string with the escapes of RFC 8785 §3.2.2.2."""
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"


def jcs(value: Any) -> str:
    """Return the canonical text of a JSON value; ValueError for what has none."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(jcs, value))}]"
    names = sorted(value, key=_utf16)
    return "{" + ",".join(f"{string_text(name)}:{jcs(value[name])}" for name in names) + "}"


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")


def parse_jcs(text: str) -> Any:
    """Read a text that must be canonical; ValueError says why it is not."""
    unusual = False

    def number(spelled: str) -> float:
        nonlocal unusual
        value = float(spelled)
        if number_text(value) != spelled:
            raise ValueError("a number is not spelled canonically")
        unusual = unusual or repr(value) != spelled
        return value

    try:
        value = json.loads(
            text, object_pairs_hook=_ordered, parse_float=number, parse_int=_integer, parse_constant=_no_constant
        )
        again = jcs(value) if unusual else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if again != text:
        raise ValueError("white space or an escape is not canonical")
    return value


def _integer(spelled: str) -> int:
    if len(spelled) > 17 or abs(int(spelled)) > _LARGEST or spelled == "-0":
        raise ValueError("an integer beyond 2^53 - 1, or -0")
    return int(spelled)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("an object names a member twice")
    if sorted(names, key=_utf16) != names:
        raise ValueError("members are not in canonical order")
    return dict(pairs)


# --- hashes, keys, Merkle proofs (§1, §2, §7) ----------------------------------------------------------------------


def sha(data: bytes | str) -> bytes:
    """Return SHA-256."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).digest()


def hexed(data: bytes | str) -> str:
    """Return SHA-256 in hex."""
    return sha(data).hex()


def mac(key: bytes, text: bytes | str) -> str:
    """Return HMAC-SHA256 in hex."""
    return hmac.new(key, text.encode() if isinstance(text, str) else text, hashlib.sha256).hexdigest()


def derive(master: bytes, salt: str, info: str) -> bytes:
    """Return a key of 32 bytes by HKDF-SHA256 (§2)."""
    extracted = hmac.new(salt.encode(), master, hashlib.sha256).digest()
    return hmac.new(extracted, info.encode() + b"\x01", hashlib.sha256).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha(b"\x01" + left + right)


def _split(size: int) -> int:
    return 1 << (size - 1).bit_length() - 1


def root_of(index: int, size: int, leaf: bytes, path: list[bytes]) -> bytes:
    """Return the root that an inclusion proof leads to, as RFC 9162 §2.1.3.1 defines PATH; ValueError if none."""
    if not 0 <= index < size:
        raise ValueError("the leaf is outside the tree")
    if size == 1:
        if path:
            raise ValueError("the proof is too long")
        return leaf
    if not path:
        raise ValueError("the proof is too short")
    middle = _split(size)
    if index < middle:
        return node_hash(root_of(index, middle, leaf, path[:-1]), path[-1])
    return node_hash(path[-1], root_of(index - middle, size - middle, leaf, path[:-1]))


def is_included(index: int, size: int, leaf: bytes, path: list[bytes], root: bytes) -> bool:
    """Say whether the proof leads from the leaf's hash to the root."""
    try:
        return root_of(index, size, leaf, path) == root
    except ValueError:
        return False


def is_consistent(first: tuple[int, bytes], second: tuple[int, bytes], path: list[bytes]) -> bool:
    """Say whether the smaller tree begins the larger, by SUBPROOF of RFC 9162 §2.1.4.1."""
    (small, old), (large, new) = first, second
    if small == large:
        return not path and old == new
    if small == 0:
        return not path and old == sha(b"")
    if small > large:
        return False
    try:
        return _two_roots(small, large, list(path), old) == (old, new)
    except ValueError:
        return False


def _two_roots(small: int, large: int, path: list[bytes], known: bytes | None) -> tuple[bytes, bytes]:
    """Return both roots from a proof; ``known`` is the smaller tree's hash while that is a whole one."""
    if small == large:
        if known is None and len(path) == 1:
            return path[0], path[0]
        if known is not None and not path:
            return known, known
        raise ValueError("the proof has another length")
    if not path:
        raise ValueError("the proof is too short")
    middle, last = _split(large), path[-1]
    if small <= middle:
        old, new = _two_roots(small, middle, path[:-1], known)
        return old, node_hash(new, last)
    old, new = _two_roots(small - middle, large - middle, path[:-1], None)
    return node_hash(last, old), node_hash(last, new)


# --- keys and signed notes (§8) ------------------------------------------------------------------------------------

LOG_KEY, WITNESS_KEY = 1, 4
_NAME: Final = re.compile(r"[^\s+]{1,255}")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")


def unbase64(text: Any) -> bytes:
    """Read base64 with padding, strictly; ValueError for anything else."""
    if not isinstance(text, str):
        raise ValueError("no base64")
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode() != text:
        raise ValueError("base64 that is not canonical")
    return raw


@dataclass(frozen=True)
class Key:
    """A public key: the log's or a witness's; ``name`` is empty for a bare one."""

    name: str
    public: bytes
    kind: int = LOG_KEY

    def id_under(self, name: str) -> bytes:
        """Return the 4 bytes that signature lines under a name carry."""
        return sha(name.encode() + b"\n" + bytes([self.kind]) + self.public)[:4]

    @classmethod
    def read(cls, text: str, kind: int = LOG_KEY) -> Key:
        """Read ``name+id+base64``, or 64 hex digits for a log; Unusable for anything else."""
        text = text.strip()
        if kind == LOG_KEY and re.fullmatch(r"[0-9a-fA-F]{64}", text):
            return cls("", bytes.fromhex(text), kind)
        name, _, rest = text.partition("+")
        key_id, _, encoded = rest.partition("+")
        try:
            raw = unbase64(encoded)
        except ValueError:
            raw = b""
        if not _NAME.fullmatch(name) or len(raw) != 33 or raw[0] != kind:
            what = "a log's public key is NAME+ID+BASE64 (type 01) or 64 hex digits"
            raise Unusable(what if kind == LOG_KEY else "a witness's public key is NAME+ID+BASE64 (type 04)")
        key = cls(name, raw[1:], kind)
        if key.id_under(name).hex() != key_id.lower():
            raise Unusable("the public key's id does not follow from its name and bytes: it was cut or mixed up")
        return key

    def signed(self, text: bytes, signature: bytes) -> bool:
        """Say whether the signature over the text is this key's."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Note:
    """A signed note: its text, and name, key id and signature of each line."""

    text: str
    lines: tuple[tuple[str, bytes, bytes], ...]

    @classmethod
    def read(cls, note: Any) -> Note:
        """Read a note; ValueError if it is none."""
        if not isinstance(note, str):
            raise ValueError("no signed note")
        text, empty, rest = note.rpartition("\n\n")
        if not text or not empty or not rest.endswith("\n"):
            raise ValueError("no signed note")
        lines = []
        for line in rest[:-1].split("\n"):
            dash, _, more = line.partition(" ")
            name, _, encoded = more.partition(" ")
            raw = unbase64(encoded)
            if dash != "\u2014" or not _NAME.fullmatch(name) or len(raw) <= 4:
                raise ValueError("no signature line")
            lines.append((name, raw[:4], raw[4:]))
        return cls(text + "\n", tuple(lines))

    def signatures(self, key: Key, name: str) -> list[bytes]:
        """Return the signatures of lines with that name and that key's id."""
        return [signature for at, key_id, signature in self.lines if (at, key_id) == (name, key.id_under(name))]

    def holds(self, key: Key, origin: str) -> bool:
        """Say whether a log's key signed the note under the origin's name."""
        if key.name not in ("", origin):
            return False
        text = self.text.encode()
        return any(key.signed(text, one) for one in self.signatures(key, origin))

    def cosigned(self, witness: Key) -> bool | None:
        """Say whether a witness cosigned the note; ``None`` if there is no line of it."""
        found = self.signatures(witness, witness.name)
        if not found:
            return None
        for one in found:
            moment = int.from_bytes(one[:8], "big")
            if len(one) == 72 and witness.signed(f"cosignature/v1\ntime {moment}\n{self.text}".encode(), one[8:]):
                return True
        return False


@dataclass(frozen=True)
class Head:
    """What a checkpoint says."""

    origin: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def read(cls, text: str) -> Head:
        """Read a note's text; ValueError if it is no checkpoint."""
        origin, *rest = text.split("\n")
        if len(rest) < 3 or not origin or not _SIZE.fullmatch(rest[0]):
            raise ValueError("no checkpoint")
        root = unbase64(rest[1])
        if len(root) != 32:
            raise ValueError("no checkpoint")
        return cls(origin, int(rest[0]), root)


# --- the file ------------------------------------------------------------------------------------------------------

EVENT, ANALYSIS, LEAF, LOG, FACT = range(5)
PART_NAMES: Final = ("event", "analysis", "leaf", "log", "fact")
_PARTS: Final = {"analysis": ANALYSIS, "leaf": LEAF, "log": LOG, "fact": FACT}


@dataclass(frozen=True)
class Line:
    """One line: its number from 1, where it begins, its bytes without the line feed, and its object."""

    number: int
    offset: int
    raw: bytes
    value: dict[str, Any]


class Source:
    """A file of lines that can be read several times; never more than one line is held."""

    def __init__(self, file: IO[bytes], max_line_bytes: int) -> None:
        self._file = file
        self._limit = max_line_bytes

    def check_text(self) -> None:
        """Refuse what is no UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        self._file.seek(0)
        try:
            while chunk := self._file.read(1 << 20):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise Unusable("the export is no UTF-8 text") from None

    def lines(self, offset: int = 0, number: int = 1) -> Iterator[Line]:
        """Yield the lines from an offset on; several readers may go on side by side."""
        while True:
            self._file.seek(offset)
            raw = self._file.readline(self._limit + 1)
            if not raw:
                return
            if len(raw) > self._limit:
                raise Unusable(f"line {number} is longer than {self._limit} bytes; see --max-line-bytes")
            begin, offset = offset, offset + len(raw)
            body = raw[:-1] if raw.endswith(b"\n") else raw
            yield Line(number, begin, body, _object(number, body))
            number += 1

    def at(self, place: tuple[int, int]) -> Line:
        """Return the line at an offset and number that were noted before."""
        return next(self.lines(*place))


def _object(number: int, raw: bytes) -> dict[str, Any]:
    try:
        value = parse_jcs(raw.decode())
    except ValueError as error:
        why = "it is no JSON" if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)) else str(error)
        raise Broken(number, "line", str(number), f"is not as it was exported: {why}") from None
    if not isinstance(value, dict):
        raise Broken(number, "line", str(number), "is no JSON object")
    return value


def _part(line: Line) -> int:
    if "record" not in line.value:
        return EVENT
    kind = line.value["record"]
    if not isinstance(kind, str) or kind not in _PARTS:
        raise Broken(line.number, "line", str(line.number), "is of a kind that this version does not know")
    return _PARTS[kind]


# --- exports (§9) --------------------------------------------------------------------------------------------------

_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{3}|\d{6}))?Z", re.ASCII)
_DIGITS: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_PREFIX: Final = "AUDIT_EVENT_TYPE_"
_TITLES: Final = ("groundtrail export v1", "groundtrail export v2")
_FIRST: Final = ("session", "events", "analyses", "leaves", "sha256")
_SIGNED: Final = ("session", "events", "analyses", "leaves", "integrity", "fault", "sha256", "log")
TOMBSTONE: Final = "SESSION_TOMBSTONED"
_STATED: Final = (
    "SESSION_CREATED",
    "SESSION_CONTINUED",
    "SESSION_TERMINATED",
    "SESSION_ERASED",
    "SAFETY_BUDGET_LOWERED",
)


@dataclass(frozen=True)
class Event:
    """An audit event as it is hashed: bare type, time with six digits, the text of its data, empty when erased."""

    session_id: str
    sequence: int
    event_id: str
    kind: str
    stamp: str
    window_id: str
    hmac: str
    data: dict[str, Any] | None
    data_sha256: str

    @classmethod
    def read(cls, line: Line) -> Event:
        """Read an event's line; Broken if it is none."""
        value = line.value
        try:
            stamp = _STAMP.fullmatch(_text(value["timestamp"]))
            data = value["data"]
            if (
                stamp is None
                or not _DIGITS.fullmatch(_text(value["sequence"]))
                or not isinstance(data, (dict, type(None)))
            ):
                raise ValueError
            return cls(
                session_id=_text(value["session_id"]),
                sequence=int(value["sequence"]),
                event_id=_text(value["event_id"]),
                kind=_text(value["event_type"]).removeprefix(_PREFIX),
                stamp=f"{stamp[1]}.{(stamp[2] or ''):0<6}Z",
                window_id=_text(value["window_id"]),
                hmac=_text(value["hmac"]),
                data=data,
                data_sha256=_text(value.get("data_sha256", "")),
            )
        except (KeyError, ValueError, TypeError):
            raise Broken(line.number, "event", shown(value.get("sequence", "")), "is no audit event") from None

    @property
    def digest(self) -> str:
        """The hex SHA-256 of the data's text, before and after an erasure."""
        return self.data_sha256 if self.data is None else hexed(jcs(self.data))

    def content(self) -> str:
        """Return what the event's leaf is over (§6)."""
        fields = {
            "data_sha256": self.digest,
            "event_id": self.event_id,
            "event_type": self.kind,
            "hmac": self.hmac,
            "sequence": self.sequence,
            "session_id": self.session_id,
            "timestamp": self.stamp,
            "window_id": self.window_id,
        }
        return jcs(fields)

    def node(self) -> dict[str, Any] | None:
        """Return the window that the event commits, if it does and its data is there."""
        found = self.data.get("node") if self.kind == "DISPATCH_COMPLETED" and self.data else None
        return found if isinstance(found, dict) else None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: Any) -> int:
    if type(value) is int and value >= 0:
        return value
    raise TypeError


@dataclass(frozen=True)
class Window:
    """What later checks need of a committed window."""

    number: int
    session_id: str
    hmac: str
    response_hash: str
    report_hash: str


@dataclass(frozen=True)
class Manifest:
    """What the signed note over an export says: its members, the keys that sign it, members that nobody here knows."""

    members: dict[str, str] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    unknown: tuple[str, ...] = ()

    def is_signed(self, note: Note, key: Key, origin: str) -> bool:
        """Say whether the key signed the note, and every key that it names did, and no other one."""
        if not note.holds(key, origin):
            return False
        if not self.keys:
            return True
        named = [(each.name, each.id_under(each.name)) for each in self.keys]
        signed = [(name, key_id) for name, key_id, _ in note.lines]
        return named == signed and len(set(named)) == len(named) and all(note.holds(each, origin) for each in self.keys)

    def covers(self, line: dict[str, Any]) -> bool:
        """Say whether the other members of the log's line are as they were exported."""
        rest = {name: value for name, value in line.items() if name != "manifest"}
        return "log" not in self.members or hexed(jcs(rest)) == self.members["log"]


@dataclass
class Wanted:
    """What the caller gave to check with."""

    key: Key
    checkpoints: list[tuple[str, str]] = field(default_factory=list)
    witnesses: list[Key] = field(default_factory=list)
    cosignatures: int = 0
    session_key: bytes | None = None
    master_key: bytes | None = None


class ExportCheck:
    """One check of one export, in the order of §9.7."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self._source = source
        self._wanted = wanted
        self._begins: dict[int, tuple[int, int]] = {}
        self._lines = [0] * 5
        self._analyses: dict[str, tuple[int, int]] = {}
        self._facts: dict[str, tuple[int, int]] = {}
        self._covered = ""
        self._log: Line | None = None
        self._seen: list[tuple[Note, int]] = []
        self._said = Manifest()
        self._since: int | None = None
        self._adopted = 0
        self._head = Head("", 0, b"")
        self._signed: dict[str, str] = {}
        self._windows: dict[str, Window] = {}
        self._sealed: dict[str, dict[str, Any]] = {}
        self._records = 0
        self._erased_at = -1
        self._buried = False
        self._fault: tuple[int, str, str] | None = None
        self._notes: list[str] = []
        self._counts = {"events": 0, "windows": 0, "analyses": 0, "hmacs": 0}
        self._cosigned: set[str] = set()
        self._witnessed = 0

    def run(self) -> dict[str, Any]:
        """Return what was found."""
        fault = None
        try:
            for step in (
                self._check_form,
                self._check_log,
                self._check_events,
                self._check_leaves,
                self._check_cosigned,
                self._check_erasure,
                self._check_analyses,
                self._check_whole,
                self._check_incident,
                self._check_checkpoints,
                self._check_witnesses,
                self._check_facts,
            ):
                step()
        except Broken as broken:
            fault = broken.fault
        except RecursionError:
            fault = Broken(0, "line", "", "is nested too deeply").fault
        verdict = TRUNCATED if self._erased_at >= 0 or self._buried else VALID
        if self._notes:
            verdict = INCOMPLETE
        return {
            "verdict": BROKEN if fault else verdict,
            "fault": fault,
            "notes": self._notes,
            "session_id": self._signed.get("session", ""),
            "origin": self._head.origin,
            "tree_size": self._head.size,
            "root": self._head.root.hex(),
            **self._counts,
            "witnessed_size": self._witnessed,
            "cosigned_by": sorted(self._cosigned),
        }

    # -- form and log line

    def _check_form(self) -> None:
        """Every line is canonical JSON, of a known kind, in its place."""
        last, digest = EVENT, hashlib.sha256()
        for line in self._source.lines():
            part = _part(line)
            if part < last:
                what = f"is out of place: a line of kind {PART_NAMES[part]}"
                raise Broken(line.number, "line", str(line.number), what)
            last = part
            place = (line.offset, line.number)
            self._begins.setdefault(part, place)
            self._lines[part] += 1
            if part < LOG:
                digest.update(line.raw + b"\n")
            if part == ANALYSIS:
                self._analyses[shown(line.value.get("window_id"))] = place
            elif part == LOG and self._lines[LOG] > 1:
                raise Broken(line.number, "log", "", "stands in the export twice")
        self._covered = digest.hexdigest()

    def _part_lines(self, part: int) -> Iterator[Line]:
        if part in self._begins:
            for line in self._source.lines(*self._begins[part]):
                if _part(line) != part:
                    return
                yield line

    def _check_log(self) -> None:
        """The head and the note over the export are signed by the key."""
        line = next(self._part_lines(LOG), None)
        if line is None:
            raise Broken(0, "log", "", "must stand in the export exactly once: its line proves all others")
        try:
            checkpoint, note = (Note.read(line.value[name]) for name in ("checkpoint", "manifest"))
            head = Head.read(checkpoint.text)
            manifest = _manifest(note.text, head)
        except (KeyError, ValueError, Unusable):
            raise Broken(line.number, "log", "", "holds no checkpoint and no note over the export") from None
        key = self._wanted.key
        signed = {
            "checkpoint": checkpoint.holds(key, head.origin),
            "manifest": manifest.is_signed(note, key, head.origin),
        }
        for name, holds in signed.items():
            if not holds:
                raise Broken(line.number, "log", "", f"has a {name} that the given key did not sign")
        if line.value.get("session_id") != manifest.members["session"]:
            raise Broken(line.number, "log", "", "names another session than the signed note")
        if not manifest.covers(line.value):
            raise Broken(line.number, "log", "", "is not as it was exported")
        self._log, self._head, self._said, self._signed = line, head, manifest, manifest.members
        self._seen.append((checkpoint, head.size))
        for name in manifest.unknown:
            self._notes.append(f"the signed note has a member that this version does not know: {shown(name)}")

    # -- events

    def _events(self) -> Iterator[tuple[Line, Event]]:
        for line in self._part_lines(EVENT):
            yield line, Event.read(line)

    def _check_events(self) -> None:
        """Events are in order and without gaps; with the session's key their HMACs are made again."""
        key = self._mac_key()
        previous, start = "", 0
        first = next(self._events(), None)
        if first is not None and first[1].kind == TOMBSTONE:
            self._buried, start = True, first[1].sequence
            previous = shown((first[1].data or {}).get("previous_hmac"))
        place = start - 1
        for place, (line, event) in enumerate(self._events(), start):
            name = str(place)
            if event.sequence != place:
                raise Broken(line.number, "event", name, f"is missing or out of order: event {event.sequence} is here")
            if event.session_id != self._signed["session"]:
                raise Broken(line.number, "event", name, "is of another session")
            if event.event_id != f"crp_evt_{event.hmac[:32]}":
                raise Broken(line.number, "event", name, "has an event_id that does not follow from its hmac")
            if key is not None:
                self._check_event_hmac(key, line, event, previous)
            previous = event.hmac
            self._take(key, line, event)
        if place + 1 - start < int(self._signed["events"]):
            raise Broken(0, "event", str(place + 1 - start), "is missing at the end of the chain")

    def _mac_key(self) -> bytes | None:
        if self._wanted.master_key is not None:
            return derive(self._wanted.master_key, self._signed["session"], "crp-session-hmac-v3")
        return self._wanted.session_key

    def _check_event_hmac(self, key: bytes, line: Line, event: Event, previous: str) -> None:
        """§4."""
        if mac(key, event.kind + event.stamp + event.digest + event.window_id + previous) != event.hmac:
            what = "has an hmac that does not follow from its content and predecessor, or the key is another session's"
            raise Broken(line.number, "event", str(event.sequence), what)
        self._counts["hmacs"] += 1

    def _take(self, key: bytes | None, line: Line, event: Event) -> None:
        """Note what later checks need of an event."""
        self._records += 2 if event.kind == "DISPATCH_COMPLETED" else 1
        data = event.data or {}
        if event.kind == "SESSION_ERASED" and self._erased_at < 0 and event.sequence > 0:
            self._erased_at = event.sequence
        if event.kind in _STATED:
            self._take_incident(line, event.kind, data)
            promise = data.get("promise")
            if self._since is None and isinstance(promise, dict) and isinstance(promise.get("since"), int):
                self._since = promise["since"]
        if event.kind == "DISPATCH_COMPLETED" and "adopted" in data:
            self._adopted += 1
        if event.kind == "DPE_COMPLETED" and isinstance(data.get("report"), dict):
            self._sealed[event.window_id] = data["report"]
        node = event.node()
        if node is not None:
            self._take_window(key, line, event, node)

    def _take_incident(self, line: Line, kind: str, data: dict[str, Any]) -> None:
        """Note what the server found broken before it closed or erased the session."""
        session, before = data.get("session"), data.get("fault_before")
        if isinstance(session, dict) and session.get("status") == "BROKEN":
            named = data
        elif kind == "SESSION_ERASED" and isinstance(before, dict):
            named = before
        else:
            return
        self._fault = (line.number, shown(named.get("record_kind", "session")), shown(named.get("record_id", "")))

    def _take_window(self, key: bytes | None, line: Line, event: Event, node: dict[str, Any]) -> None:
        try:
            window = Window(
                number=_count(node["window_number"]),
                session_id=_text(node["session_id"]),
                hmac=_text(node["hmac"]),
                response_hash=_text(node["response_hash"]),
                report_hash=_text(node["report_hash"]),
            )
            if key is not None and node["report_id"]:
                self._check_window_hmac(key, line, window, node)
        except (KeyError, TypeError):
            if key is not None:
                raise Broken(line.number, "window", event.window_id, "is no window") from None
            return  # its leaf does not fit either, and names it
        self._windows[event.window_id] = window

    def _check_window_hmac(self, key: bytes, line: Line, window: Window, node: dict[str, Any]) -> None:
        """§3."""
        parents = [self._windows[_text(parent)].hmac for parent in node["parent_ids"]]
        text = window.session_id + str(window.number) + _text(node["timestamp"])
        text += window.response_hash + window.report_hash
        for name, over in (("hmac", "|".join(sorted(parents))), ("window_hmac", "")):
            if mac(key, text + over) != node[name]:
                what = f"has a {name} that does not follow from its content" + (" and parents" if over else "")
                raise Broken(line.number, "window", shown(node.get("window_id")), what)
        self._counts["hmacs"] += 1

    # -- leaves

    def _expected(self) -> Iterator[tuple[str, str, Line, Event]]:
        """Yield kind and id of every record that must have a leaf, in the log's order (§6)."""
        for line, event in self._events():
            if event.kind == "DISPATCH_COMPLETED":
                yield "window", event.window_id, line, event
            yield "event", event.event_id, line, event

    def _older(self) -> int:
        """Return how many records at the beginning may be older than the log: none that a promise is about."""
        free = self._records
        if self._since is not None:
            free = sum(event.sequence < self._since for _, _, _, event in self._expected())
        return min(max(self._records - int(self._signed["leaves"]), 0), free)

    def _is_known(self, leaf: Line, older: int) -> bool:
        """Say whether a leaf is that of some record in the export."""
        wanted = (leaf.value.get("record_kind"), leaf.value.get("record_id"))
        return any(place >= older and one[:2] == wanted for place, one in enumerate(self._expected()))

    def _check_leaves(self) -> None:
        """Content fits its salted leaf, and the leaf stands in the signed tree."""
        if self._buried:
            self._check_tombstone()
            return
        older = self._older()
        if older > 0:
            self._notes.append(f"of what is older than it the log proves nothing: {numbered(older, 'record')}")
        leaves, before = self._part_lines(LEAF), -1
        for place, (kind, name, line, event) in enumerate(self._expected()):
            if place < older:
                continue
            leaf = next(leaves, None)
            called = str(event.sequence) if kind == "event" else shown(name)
            number = leaf.number if leaf else 0
            if leaf is None or (leaf.value.get("record_kind"), leaf.value.get("record_id")) != (kind, name):
                if leaf is not None and not self._is_known(leaf, older):
                    what = "is of no record here: the log holds one that was taken out or replaced"
                    raise Broken(number, "leaf", shown(leaf.value.get("record_id")), what)
                raise Broken(number, kind, called, "has no leaf here: its line is missing or out of order")
            before = self._check_leaf(leaf, (kind, called), (line, event), before)
        extra = next(leaves, None)
        if extra is not None:
            raise Broken(extra.number, "leaf", shown(extra.value.get("record_id")), "is of no record here")

    def _check_tombstone(self) -> None:
        """One event stands for the session: all of its leaves are there, and it names them (§9.8)."""
        (line, event), *more = itertools.islice(self._events(), 2)
        name, data = str(event.sequence), event.data or {}
        if more:
            raise Broken(line.number, "event", name, "is not the last, although it stands for the whole session")
        digest, before, held, last = hashlib.sha256(), -1, 0, ""
        for leaf in self._part_lines(LEAF):
            kind, last = leaf.value.get("record_kind"), shown(leaf.value.get("record_id"))
            if kind not in {"event", "window"}:
                raise Broken(leaf.number, "leaf", last, "is no leaf")
            own = kind == "event" and leaf.value.get("record_id") == event.event_id
            before, hashed = self._check_buried(leaf, str(kind), event if own else None, before)
            if not own:
                digest.update(f"{before} {hashed.hex()}\n".encode())
            elif leaf.value.get("line_sha256") != hexed(line.raw):
                raise Broken(line.number, "event", name, "is not as it was exported")
            held += 1
        if not held or last != event.event_id:
            raise Broken(line.number, "event", name, "has no leaf here, or not the last one")
        if (data.get("leaves"), data.get("leaves_sha256")) != (held - 1, digest.hexdigest()):
            raise Broken(line.number, "event", name, "stands for other leaves than those that are here")

    def _check_buried(self, leaf: Line, kind: str, event: Event | None, before: int) -> tuple[int, bytes]:
        """Check a leaf, of which the record is gone unless it is the tombstone's; return its index and hash."""
        value, called = leaf.value, shown(leaf.value.get("record_id"))
        try:
            position, index = _count(value["position"]), _count(value["leaf_index"])
            salt, path = bytes.fromhex(_text(value["salt"])), [unbase64(one) for one in value["path"]]
            content_hmac, record_id = _text(value["content_hmac"]), _text(value["record_id"])
        except (KeyError, TypeError, ValueError):
            raise Broken(leaf.number, "leaf", called, "is no leaf") from None
        if index <= before:
            raise Broken(leaf.number, "leaf", called, "is out of order")
        hashed = self._leaf_hash(kind, record_id, position, content_hmac)
        if not is_included(index, self._head.size, hashed, path, self._head.root):
            raise Broken(leaf.number, "leaf", called, "is not in the signed log")
        fits = bool(salt) and _fits(kind, event, salt, content_hmac, position) if event else not salt
        if not fits:
            raise Broken(leaf.number, "leaf", called, "does not fit the tombstone")
        self._counts["events" if kind == "event" else "windows"] += 1
        return index, hashed

    def _leaf_hash(self, kind: str, record_id: str, position: int, content_hmac: str) -> bytes:
        """§6."""
        fields = {
            "content_hmac": content_hmac,
            "position": position,
            "record_id": record_id,
            "record_kind": kind,
            "session_id": self._signed["session"],
            "version": 1,
        }
        return sha(b"\x00" + jcs(fields).encode())

    def _check_leaf(self, leaf: Line, named: tuple[str, str], of: tuple[Line, Event], before: int) -> int:
        """Check one leaf and return its index."""
        (kind, called), (line, event), value = named, of, leaf.value
        at = line.number if kind == "event" else leaf.number
        try:
            position, index = _count(value["position"]), _count(value["leaf_index"])
            salt, path = bytes.fromhex(_text(value["salt"])), [unbase64(one) for one in value["path"]]
            content_hmac = _text(value["content_hmac"])
        except (KeyError, TypeError, ValueError):
            raise Broken(leaf.number, "leaf", shown(value["record_id"]), "is no leaf") from None
        if kind == "event" and value.get("line_sha256") != hexed(line.raw):
            raise Broken(at, kind, called, "is not as it was exported")
        if not _fits(kind, event, salt, content_hmac, position):
            raise Broken(at, kind, called, "does not fit its leaf: content, salt or leaf was changed")
        if index <= before:
            raise Broken(leaf.number, kind, called, "has a leaf out of order")
        hashed = self._leaf_hash(kind, value["record_id"], position, content_hmac)
        if not is_included(index, self._head.size, hashed, path, self._head.root):
            raise Broken(leaf.number, kind, called, "is not in the signed log")
        self._counts["events" if kind == "event" else "windows"] += 1
        return index

    def _check_erasure(self) -> None:
        """Data is missing exactly where a later event says that it was erased."""
        if self._buried:
            return
        for line, event in self._events():
            erased = event.sequence < self._erased_at
            if (event.data is None) != erased or bool(event.data_sha256) != erased:
                what = "has data and an erasure that do not fit each other"
                raise Broken(line.number, "event", str(event.sequence), what)

    # -- analyses, and everything at once

    def _check_analyses(self) -> None:
        """Answers, reports and inputs fit the hashes in the events."""
        if not int(self._signed["analyses"]) and not self._lines[ANALYSIS]:
            return
        lines = self._part_lines(ANALYSIS)
        ordered = sorted((window.number, name) for name, window in self._windows.items() if name in self._sealed)
        for _, name in ordered:
            line = next(lines, None)
            if line is None or line.value.get("window_id") != name:
                raise Broken(line.number if line else 0, "report", shown(name), "is missing or out of order")
            wrong = _altered(line.value, self._windows[name], self._sealed[name])
            if wrong:
                raise Broken(line.number, "report", shown(name), f"holds {wrong} that the audit event does not")
            self._counts["analyses"] += 1
        extra = next(lines, None)
        if extra is not None:
            raise Broken(extra.number, "report", shown(extra.value.get("window_id")), "is of no window here")

    def _check_whole(self) -> None:
        """The lines before the log's are those that were counted and hashed when the export was signed."""
        counted = [int(self._signed[name]) for name in ("events", "analyses", "leaves")]
        if self._covered != self._signed["sha256"] or counted != self._lines[:LOG]:
            raise Broken(0, "line", "", "a line was changed, moved or left out in a way that no record shows")

    def _check_incident(self) -> None:
        """A session that the server knew to be broken is broken, although its export is whole."""
        if self._fault is not None:
            raise Broken(*self._fault, "did not verify when the session was closed")
        if "fault" in self._signed:
            kind, _, name = self._signed["fault"].partition(" ")
            raise Broken(0, shown(kind), shown(name), "did not verify on the server when the session was exported")
        if self._adopted:
            self._notes.append(f"windows of another instance, which alone can verify them: {self._adopted}")
        elif self._signed.get("integrity") == "PARTIAL":
            self._notes.append("the server recomputed a part of the chain only when the session was exported: PARTIAL")

    # -- checkpoints

    def _check_checkpoints(self) -> None:
        """The export's log goes on from every head that was kept."""
        for name, text in self._wanted.checkpoints:
            note, kept = read_checkpoint(text, self._wanted.key, self._head.origin)
            if kept.size > self._head.size:
                self._notes.append(
                    f"{name}: the checkpoint of size {kept.size} is newer than the export, or the log was set back:"
                    " export again"
                )
                continue
            path = self._growth(kept.size)
            if path is None:
                self._notes.append(
                    f"{name}: the export does not prove what became of size {kept.size}: export again with it"
                )
                continue
            if not is_consistent((kept.size, kept.root), (self._head.size, self._head.root), path):
                what = "was not continued: the log was rewritten, or it was forked"
                raise Broken(0, "checkpoint", str(kept.size), what)
            self._check_witness_lines(0, "checkpoint", str(kept.size), note)
            self._seen.append((note, kept.size))

    def _growth(self, size: int) -> list[bytes] | None:
        if size in (0, self._head.size):
            return []
        line = self._log
        assert line is not None
        try:
            for proof in line.value["consistency"]:
                if proof["first_tree_size"] == size:
                    return [unbase64(one) for one in proof["path"]]
        except (KeyError, ValueError, TypeError):
            raise Broken(line.number, "log", "", "holds a consistency proof that cannot be read") from None
        return None

    def _check_cosigned(self) -> None:
        """The head that witnesses cosigned, if the export has one, is the log's, and the export's goes on from it."""
        line = self._log
        assert line is not None
        value = line.value.get("cosigned")
        if value is not None:
            try:
                note = Note.read(value["checkpoint"])
                kept, path = Head.read(note.text), [unbase64(one) for one in value["path"]]
            except (KeyError, ValueError, TypeError):
                raise Broken(line.number, "log", "", "holds a cosigned head that cannot be read") from None
            if kept.origin != self._head.origin or not note.holds(self._wanted.key, kept.origin):
                raise Broken(line.number, "log", "", "holds a cosigned head that the given key did not sign")
            if not is_consistent((kept.size, kept.root), (self._head.size, self._head.root), path):
                what = "does not go on from the head that witnesses cosigned: the log was rewritten, or it was forked"
                raise Broken(line.number, "log", "", what)
            self._seen.append((note, kept.size))
        for note, _ in self._seen:
            self._check_witness_lines(line.number, "log", "", note)

    def _check_witness_lines(self, number: int, kind: str, name: str, note: Note) -> None:
        for witness in self._wanted.witnesses:
            if note.cosigned(witness) is False:
                raise Broken(number, kind, name, f"has a cosignature that {witness.name} did not make")

    def _check_witnesses(self) -> None:
        """Enough witnesses cosigned one head that the export's is, or goes on from (§8)."""
        if not self._wanted.witnesses:
            return
        for note, size in sorted(self._seen, key=lambda one: one[1]):
            names = {witness.name for witness in self._wanted.witnesses if note.cosigned(witness)}
            if names and len(names) >= len(self._cosigned):
                self._cosigned, self._witnessed = names, size
        asked = self._wanted.cosignatures
        newer = sum(line.value["leaf_index"] >= self._witnessed for line in self._part_lines(LEAF))
        if len(self._cosigned) < asked:
            self._notes.append(f"witnesses that are asked for: {asked}; that cosigned the log: {len(self._cosigned)}")
        elif asked and newer:
            told = numbered(newer, "record")
            self._notes.append(f"newer than the head that witnesses cosigned: {told}; export again later")

    # -- facts

    def _check_facts(self) -> None:
        """The facts are those that went into the analyses (§9.6)."""
        for line in self._part_lines(FACT):
            self._facts[_checked_fact(line)] = (line.offset, line.number)
        if "log" in self._signed:
            self._check_covered()
        said: set[str] = set()
        for line in self._part_lines(ANALYSIS):
            if line.value["inputs"] is None:
                continue
            name = shown(line.value["window_id"])
            try:
                digest = restored_digest(line.value["inputs"], self._answer, self._fact)
                expected = line.value["inputs"]["request_sha256"]
            except LookupMissing as missing:
                note = f"{missing} is not in the export: it was erased, or its line was taken out"
                if note not in said:
                    said.add(note)
                    self._notes.append(note)
            except (KeyError, TypeError, ValueError, AttributeError):
                self._notes.append(f"the inputs of window {name} are of a later version")
            else:
                if digest != expected:
                    what = "was made from another request than the facts and answers here give: a fact was changed"
                    raise Broken(line.number, "report", name, what)

    def _check_covered(self) -> None:
        """Since the second form of the note: nothing of a fact's line is without a hash over it."""
        read: set[Any] = set()
        for line in self._part_lines(ANALYSIS):
            read |= _facts_read(line.value["inputs"])
        for line in self._part_lines(FACT):
            fact = line.value["fact"]
            name = fact.get("fact_id", "")
            if name not in read:
                raise Broken(line.number, "fact", shown(name), "is of no analysis here, or stands here twice")
            read.remove(name)
            if len(line.value) != 2 or {**fact, **FACT_DEFAULTS} != fact or len(fact) != len(FACT_DEFAULTS) + 4:
                raise Broken(line.number, "fact", shown(name), "is not as it was exported")

    def _answer(self, name: str) -> str:
        if name not in self._analyses:
            raise LookupMissing(f"window {shown(name)}")
        return _text(self._source.at(self._analyses[name]).value["response_text"])

    def _fact(self, name: str) -> dict[str, Any]:
        if name not in self._facts:
            raise LookupMissing(f"fact {shown(name)}")
        found: dict[str, Any] = self._source.at(self._facts[name]).value["fact"]
        return found


class LookupMissing(Exception):
    """Something that an analysis read is not in the export."""


def _manifest(text: str, head: Head) -> Manifest:
    """Read the note over an export (§9.5), both forms; ValueError if it is none."""
    title, _, rest = text.partition("\n")
    if title not in _TITLES or not rest.startswith(str(head)):
        raise ValueError("no note over an export of this head")
    pairs = [line.split(" ", 1) for line in rest[len(str(head)) : -1].split("\n")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("no member of a note")
    keys = [Key.read(value) for name, value in pairs if name == "key"]
    members = {name: value for name, value in pairs if name != "key"}
    if len(members) + len(keys) != len(pairs) or (title == _TITLES[0] and keys):
        raise ValueError("a member stands twice")
    known = [name for name in members if name in _SIGNED]
    needed = _FIRST if title == _TITLES[0] else [name for name in _SIGNED if name != "fault" or name in members]
    counts = [members.get(name, "") for name in ("events", "analyses", "leaves")]
    if known != list(needed) or not all(map(_DIGITS.fullmatch, counts)):
        raise ValueError("no note over an export")
    if title != _TITLES[0] and (not keys or (members["integrity"] == BROKEN) != ("fault" in members)):
        raise ValueError("no note over an export")
    return Manifest(members, keys, tuple(name for name in members if name not in needed))


def _fits(kind: str, event: Event, salt: bytes, content_hmac: str, position: int) -> bool:
    """Say whether a leaf is that of the record; of an erased one there is no salt either."""
    node = event.node()
    if event.data is None or (kind == "window" and node is None):
        return not salt
    if kind == "event":
        content, expected = event.content(), event.sequence
    else:
        content, expected = jcs(node), (node or {}).get("window_number", -1)
        if (node or {}).get("window_id") != event.window_id:
            return False
    return len(salt) == 32 and position == expected and mac(salt, content) == content_hmac


def _altered(analysis: dict[str, Any], window: Window, sealed: dict[str, Any]) -> str:
    """Return what of an analysis is not what was hashed (§5); empty when all of it is."""
    try:
        report, inputs = analysis["report"], analysis["inputs"]
        hashed = {name: value for name, value in report.items() if name not in UNHASHED}
        if hexed(_text(analysis["response_text"])) != window.response_hash:
            return "an answer"
        if hexed(jcs(hashed)) != window.report_hash or hexed(jcs(report)) != sealed["body_sha256"]:
            return "a report"
        if ("" if inputs is None else hexed(jcs(inputs))) != sealed.get("inputs_sha256", ""):
            return "analysis inputs"
        same = (analysis["session_id"], analysis["window_number"]) == (window.session_id, window.number)
    except (KeyError, TypeError, AttributeError, ValueError):
        return "members"
    return "" if same else "ids"


UNHASHED: Final = ("hmac", "chain_integrity", "report_hash", "timings")


# --- facts and requests (§9.6) -------------------------------------------------------------------------------------

_FACT_TEXTS: Final = (
    "fact_id", "content", "content_hash", "source_id", "source_location", "community_label", "ingested_at",
    "modified_at", "access_count", "last_accessed_at", "ttl", "status", "embedding_model", "namespace",
)  # fmt: skip
FACT_DEFAULTS: Final = {
    "source_id": "", "source_location": "", "importance_weight": 0, "community_label": "", "access_count": "0",
    "status": "FACT_STATUS_UNSPECIFIED", "embedding_model": "", "metadata": {}, "namespace": "",
}  # fmt: skip
_BREAKS: Final = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_KEPT: Final = "\n\t\u200c\u200d"


def _checked_fact(line: Line) -> str:
    """Return a fact's id; Broken if it is none, or its content is not the one that its hash is of."""
    fact = line.value.get("fact")
    name = shown(fact.get("fact_id", "")) if isinstance(fact, dict) else ""
    kinds: dict[str, type | tuple[type, ...]] = dict.fromkeys(_FACT_TEXTS, str)
    kinds |= {"importance_weight": (int, float), "entities": list, "metadata": dict}
    if not isinstance(fact, dict) or not all(name in kinds and isinstance(fact[name], kinds[name]) for name in fact):
        raise Broken(line.number, "fact", name, "is no fact")
    if hexed(fact.get("content", "")) != fact.get("content_hash", ""):
        raise Broken(line.number, "fact", name, "has a content that does not match its content_hash")
    return str(fact.get("fact_id", ""))


def _facts_read(inputs: Any) -> set[Any]:
    """Return the ids of the facts that an analysis was made from."""
    try:
        facts = inputs.get("request", {}).get("envelope", {}).get("facts", [])
        return {one["fact_id"] for one in facts} | {one["fact_id"] for one in inputs.get("prompt", [])}
    except (AttributeError, KeyError, TypeError):
        return set()  # there are none, or of a later version; the digest tells


def restored_digest(inputs: dict[str, Any], answer: Callable[[str], str], fact: Callable[[str], dict[str, Any]]) -> str:
    """Return the digest of the request that an analysis was made from; changes ``inputs``."""
    request = inputs.get("request", {})
    request["response_text"] = answer(request.get("window_id", ""))
    facts = request.get("envelope", {}).get("facts", [])
    for one in facts:
        if not one["carried_from_window_id"]:
            known = fact(one["fact_id"])
            one["content"] = known["content"]
            one["entities"] = one["entities"] + known.get("entities", [])
    for prior in request.get("prior_windows", []):
        if not prior["is_summary"]:
            prior["text"] = answer(prior["window_id"])
    request["prompt"] = "\n".join(_prompt_line(one, fact) for one in inputs.get("prompt", []))
    for one in facts:
        one["embedding"] = ""
        if one["carried_from_window_id"] and one["transfer_type"] != "SUMMARY":
            one["content"], one["entities"] = "", []
    return hexed(jcs(request))


def _prompt_line(line: dict[str, Any], fact: Callable[[str], dict[str, Any]]) -> str:
    if not line["fact_id"]:
        return _text(line["text"])
    lines = _BREAKS.sub("\n", fact(line["fact_id"])["content"])
    plain = "".join(one for one in lines if one in _KEPT or unicodedata.category(one) not in ("Cc", "Cf", "Cs"))
    parts = [part.strip() for part in plain.split("\n")]
    if not 0 <= line["fact_line"] < len(parts):
        raise LookupMissing(f"fact {shown(line['fact_id'])}")
    return _text(line["text"]) + str(parts[line["fact_line"]])


# --- checkpoints and single proofs (§7, §8) ------------------------------------------------------------------------


def read_checkpoint(text: str, key: Key, origin: str | None = None) -> tuple[Note, Head]:
    """Read a checkpoint that the key must have signed; Broken if it did not."""
    try:
        note = Note.read(text)
        head = Head.read(note.text)
    except ValueError:
        raise Broken(0, "checkpoint", "", "is no signed note with a checkpoint") from None
    if (origin is not None and head.origin != origin) or not note.holds(key, head.origin):
        raise Broken(0, "checkpoint", str(head.size), "is of another log, or the given key did not sign it")
    return note, head


def check_checkpoint(wanted: Wanted, text: str, proof: dict[str, Any] | None) -> dict[str, Any]:
    """Check a checkpoint by itself, its cosignatures, and against heads that were kept."""
    note, head = read_checkpoint(text, wanted.key)
    notes: list[str] = []
    cosigned = set()
    for witness in wanted.witnesses:
        found = note.cosigned(witness)
        if found is False:
            raise Broken(0, "checkpoint", str(head.size), f"has a cosignature of {witness.name} that does not hold")
        cosigned |= {witness.name} if found else set()
    if len(cosigned) < wanted.cosignatures:
        notes.append(f"cosignatures that were asked for: {wanted.cosignatures}; that are there: {len(cosigned)}")
    for name, kept_text in wanted.checkpoints:
        _, kept = read_checkpoint(kept_text, wanted.key, head.origin)
        if kept.size > head.size:
            raise Broken(
                0,
                "checkpoint",
                str(head.size),
                f"is smaller than {name}, of size {kept.size}: an older head, or the log was set back",
            )
        path = _proof_path(proof, kept.size, head.size)
        if path is None:
            notes.append(f"nothing proves what became of size {kept.size} ({name}): give --proof")
        elif not is_consistent((kept.size, kept.root), (head.size, head.root), path):
            raise Broken(0, "checkpoint", str(kept.size), "was not continued: the log was rewritten, or it was forked")
    return _outcome(INCOMPLETE if notes else VALID, head, notes=notes, cosigned_by=sorted(cosigned))


def _proof_path(answer: dict[str, Any] | None, first: int, second: int) -> list[bytes] | None:
    """Return the hashes of a GetConsistencyProof answer for these sizes."""
    if first in (0, second):
        return []
    if answer is None:
        return None
    try:
        proof = _member(answer, "proof")
        sizes = tuple(int(_member(proof, name, 0)) for name in ("first_tree_size", "second_tree_size"))
        if sizes != (first, second):
            return None
        return [unbase64(one) for one in _member(proof, "path_hashes", [])]
    except (KeyError, TypeError, ValueError):
        raise Unusable("the proof is no answer of GetConsistencyProof in JSON") from None


def check_inclusion(wanted: Wanted, answer: dict[str, Any]) -> dict[str, Any]:
    """Check an answer of GetInclusionProof: the leaf, its hash, the path, and the head's signature."""
    try:
        proof, head_value = _member(answer, "proof"), _member(answer, "tree_head")
        index, size = (int(_member(proof, name, 0)) for name in ("leaf_index", "tree_size"))
        path = [unbase64(one) for one in _member(proof, "path_hashes", [])]
        leaf = unbase64(_member(answer, "leaf"))
        text = _member(head_value, "checkpoint")
    except (KeyError, TypeError, ValueError):
        raise Unusable("the file is no answer of GetInclusionProof in JSON") from None
    _, head = read_checkpoint(text, wanted.key)
    try:
        record = parse_jcs(leaf.decode())
        kind, name = _text(record["record_kind"]), _text(record["record_id"])
    except (KeyError, TypeError, ValueError):
        raise Broken(0, "leaf", "", "is no canonical leaf") from None
    if size != head.size or not is_included(index, size, sha(b"\x00" + leaf), path, head.root):
        raise Broken(0, shown(kind), shown(name), "is not in the signed log")
    return _outcome(VALID, head, record=record, leaf_index=index)


def _member(value: dict[str, Any], name: str, default: Any = None) -> Any:
    """Return a member of protobuf JSON under its proto or its camel-case name."""
    head, *rest = name.split("_")
    for spelled in (name, head + "".join(part.capitalize() for part in rest)):
        if spelled in value:
            return value[spelled]
    if default is None:
        raise KeyError(name)
    return default


def _outcome(verdict: str, head: Head, **more: Any) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "fault": None,
        "notes": [],
        "origin": head.origin,
        "tree_size": head.size,
        "root": head.root.hex(),
        **more,
    }


# --- session tokens (§10) ------------------------------------------------------------------------------------------

_JOSE: Final = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkNSUCJ9"
_LONG: Final = {
    "session_id": "sid", "window_number": "win", "quality_history": "qh", "safety_budget_remaining": "sb",
    "hmac_chain_tip": "ct", "continuation_id": "cid", "dag_structure": "dag", "issued_at": "iat", "expires_at": "exp",
    "strategy": "str", "policy_hash": "pol", "ckf_state": "ckf", "key_version": "kv", "origins": "org",
}  # fmt: skip
_ENTRY: Final = re.compile(r"(\[)?[SABCD](,[SABCD])*(?(1)\])")
_HEX: Final = re.compile(r"[0-9a-f]{64}|")
_STORE: Final = re.compile(r"[0-9a-f]{16}|")
_TIP: Final = re.compile(r"[0-9a-f]{32}|")
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_LEEWAY_S: Final = 300
_LONGEST_PAYLOAD: Final = 4096


@dataclass
class TokenWanted:
    """What to hold a token against; ``None`` = not checked."""

    master_key: bytes | None = None
    sign_key: bytes | None = None
    at: float = 0.0
    tenant: str | None = None
    scope: str | None = None


def unbase64url(text: str) -> bytes:
    """Read base64url without padding, strictly; ValueError for anything else."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("no base64url")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise ValueError("base64url that is not canonical")
    return raw


def check_token(token: str, wanted: TokenWanted) -> dict[str, Any]:
    """Check a session token: form, MAC, times, scope and tenant, nonce."""
    payload_text, dot, mac_text = token.strip().partition(".")
    try:
        if not dot or len(payload_text) > _LONGEST_PAYLOAD:
            raise ValueError
        payload = json.loads(unbase64url(payload_text), object_pairs_hook=_short_names, parse_constant=_no_constant)
        given = unbase64url(mac_text)
        _check_payload(payload)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        raise Broken(0, "token", "", "is malformed") from None
    found = {"fault": None, "payload": payload}
    notes = []
    key = wanted.sign_key
    if wanted.master_key is not None:
        key = derive(wanted.master_key, payload["sid"], "crp-session-sign-v3")
    if key is None:
        notes.append("the MAC was not checked: no key was given")
    else:
        _check_mac(payload_text, given, key)
    if _seconds(payload["iat"]) > wanted.at + _LEEWAY_S:
        raise Broken(0, "token", "iat", "was issued later than now")
    if wanted.scope is not None and payload["scope"] != wanted.scope:
        raise Broken(0, "token", "scope", "was issued to another credential")
    if wanted.tenant is not None and payload.get("ten") not in ("", None, hexed("crp-tenant:" + wanted.tenant)[:16]):
        raise Broken(0, "token", "ten", "is another tenant's")
    if key is not None:
        _check_nonce(payload, key)
    verdict = INCOMPLETE if notes else VALID
    if wanted.at >= _seconds(payload["exp"]):
        notes.append("the token has expired")
        verdict = EXPIRED
    return {"verdict": verdict, "notes": notes, **found}


def _short_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    short = {_LONG.get(name, name): value for name, value in pairs}
    if len(short) != len(pairs):
        raise ValueError("a member stands twice")
    return short


def _check_payload(payload: dict[str, Any]) -> None:
    """Refuse a payload that is not of the form of §10."""
    texts = ("sid", "cid", "scope", "ct")
    optional = ("dag", "str", "ckf", "ten", "pol", "nonce")
    for name in (*texts, *(name for name in optional if name in payload)):
        _text(payload[name]).encode()
    for name in ("win", *(name for name in ("kv", "hkv") if name in payload)):
        _count(payload[name])
    budget, limits = payload["sb"], payload.get("lim", [])
    digests = (_bare(payload["ct"]), _bare(payload.get("pol", "")))
    if isinstance(budget, bool) or not 0 <= budget <= 1 or len(limits) not in (0, 4):
        raise ValueError
    if payload.get("v", 3) != 3 or not all(map(_HEX.fullmatch, digests)):
        raise ValueError
    for entry in _listed(payload.get("org", [])):
        _check_origin(*_listed(entry))
    if len(payload.get("org", [])) > 64 or not all(map(_ENTRY.fullmatch, _listed(payload["qh"]))):
        raise ValueError
    if [_count(limit) for limit in _listed(limits)] != limits:
        raise ValueError
    _seconds(payload["iat"]), _seconds(payload["exp"])


def _check_origin(store: Any, number: Any, tip: Any, role: Any = 0) -> None:
    if not _STORE.fullmatch(store) or not _TIP.fullmatch(tip) or _count(role) > 2:
        raise ValueError
    _count(number)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _bare(digest: str) -> str:
    return digest.removeprefix("sha256:")


def _seconds(value: Any) -> float:
    if isinstance(value, str):
        found = _MOMENT.fullmatch(value)
        if found is None:
            raise ValueError
        zone = (found[3] or "Z").replace("Z", "+00:00")
        return datetime.fromisoformat(f"{found[1]}.{found[2] or '':0<6}{zone}").timestamp()
    return _count(value)


def _check_mac(payload_text: str, given: bytes, key: bytes) -> None:
    if not hmac.compare_digest(bytes.fromhex(mac(key, f"{_JOSE}.{payload_text}")), given):
        raise Broken(0, "token", "", "does not verify: it was changed, or the key is another session's or version's")


def _check_nonce(payload: dict[str, Any], key: bytes) -> None:
    nonce = bytes.fromhex(mac(key, f"crp-policy-nonce-v3{payload['sid']}.{_bare(payload.get('pol', ''))}"))[:16]
    if base64.urlsafe_b64encode(nonce).rstrip(b"=").decode() != payload.get("nonce", ""):
        raise Broken(0, "token", "nonce", "is that of another policy")


# --- the command ---------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Return a value as one short line that no terminal takes for more than text."""
    text = value if isinstance(value, str) else repr(value)
    text = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
    return "".join(one if one.isprintable() else f"<U+{ord(one):04X}>" for one in text)


def numbered(number: int, noun: str) -> str:
    """Return a number with its noun; an English noun in -is has its plural in -es."""
    if number != 1:
        noun = noun[:-2] + "es" if noun.endswith("is") else noun + "s"
    return f"{number} {noun}"


def read_small(path: str, what: str) -> str:
    """Return a small text file, ``-`` for standard input; Unusable if it cannot be read."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MAX_SMALL_FILE_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(MAX_SMALL_FILE_BYTES + 1)
        if len(raw) > MAX_SMALL_FILE_BYTES:
            raise Unusable(f"{what}: {shown(path)} is larger than {MAX_SMALL_FILE_BYTES} bytes")
        return raw.decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no UTF-8 text"
        raise Unusable(f"{what}: {shown(path)} cannot be read ({why})") from None


def read_key(text: str, kind: int) -> Key:
    """Read a public key, or the file that holds it."""
    try:
        is_file = "+" not in text and Path(text).is_file()
    except (OSError, ValueError):
        is_file = False
    return Key.read(read_small(text, "the key") if is_file else text, kind)


def read_secret(path: str | None, what: str) -> bytes | None:
    """Return a key of 32 bytes from the first line of a file; secrets do not stand on a command line."""
    if path is None:
        return None
    first = read_small(path, what).split("\n")[0].strip()
    if not re.fullmatch(r"[0-9a-fA-F]{64}", first):
        raise Unusable(f"{what}: the first line of the file must be 64 hex digits")
    return bytes.fromhex(first)


def read_json(path: str, what: str) -> dict[str, Any]:
    """Return a JSON object from a file; an object that names a member twice is refused."""
    try:
        value = json.loads(read_small(path, what), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Unusable(f"{what}: {shown(path)} holds no JSON, or names a member twice") from None
    if not isinstance(value, dict):
        raise Unusable(f"{what}: {shown(path)} holds no JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a member stands twice")
    return fields


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(prog="groundtrail_verify", description=(__doc__ or "").split("\n\n")[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    export = commands.add_parser("export", help="an export of a session (NDJSON)")
    export.add_argument("file", metavar="FILE", help="the export; - reads standard input")
    export.add_argument("--checkpoint", action="append", default=[], metavar="FILE", help="a signed head that was kept")
    export.add_argument("--session-key", metavar="FILE", help="the session's HMAC key: HMACs are recomputed")
    export.add_argument("--master-key", metavar="FILE", help="the master key of the session, instead")
    export.add_argument("--max-line-bytes", type=int, default=MAX_LINE_BYTES, metavar="N", help="default: %(default)s")
    inclusion = commands.add_parser("inclusion", help="an answer of GetInclusionProof, as JSON")
    inclusion.add_argument("file", metavar="FILE")
    checkpoint = commands.add_parser("checkpoint", help="a signed head, alone or against one that was kept")
    checkpoint.add_argument("file", metavar="FILE")
    checkpoint.add_argument("--checkpoint", action="append", default=[], metavar="FILE", help="a head that was kept")
    checkpoint.add_argument("--proof", metavar="FILE", help="an answer of GetConsistencyProof, as JSON")
    for command in (export, inclusion, checkpoint):
        command.add_argument(
            "--key", "--public-key", required=True, metavar="KEY", help="the log's public key, or a file with it"
        )
    for command in (export, checkpoint):
        command.add_argument("--witness", action="append", default=[], metavar="KEY", help="a witness's public key")
        command.add_argument("--min-cosignatures", type=int, metavar="N", help="default: all that are given")
    token = commands.add_parser("token", help="a session token; its key is of no other session")
    token.add_argument("file", metavar="FILE", help="a file with the token; - reads standard input")
    token.add_argument("--sign-key", metavar="FILE", help="the session's token key")
    token.add_argument("--master-key", metavar="FILE", help="the master key of version kv, instead")
    token.add_argument("--tenant", help="the tenant that it must be of")
    token.add_argument("--scope", help="the scope that it must be of")
    token.add_argument("--at", type=int, metavar="SECONDS", help="seconds since 1970; default: now")
    for command in (export, inclusion, checkpoint, token):
        command.add_argument("--json", action="store_true", help="one JSON object instead of text")
    return top


def _wanted(given: argparse.Namespace) -> Wanted:
    witnesses = [read_key(text, WITNESS_KEY) for text in getattr(given, "witness", [])]
    least = getattr(given, "min_cosignatures", None)
    if least is not None and not 0 <= least <= len(witnesses):
        raise Unusable("--min-cosignatures needs at least as many --witness")
    return Wanted(
        key=read_key(given.key, LOG_KEY),
        checkpoints=[(path, read_small(path, "--checkpoint")) for path in getattr(given, "checkpoint", [])],
        witnesses=witnesses,
        cosignatures=len(witnesses) if least is None else least,
        session_key=read_secret(getattr(given, "session_key", None), "--session-key"),
        master_key=read_secret(getattr(given, "master_key", None), "--master-key"),
    )


def check_export(path: str, wanted: Wanted, max_line_bytes: int = MAX_LINE_BYTES) -> dict[str, Any]:
    """Check an export in a file, ``-`` for standard input."""
    if path == "-":
        with tempfile.TemporaryFile() as copy:
            while chunk := sys.stdin.buffer.read(1 << 20):
                copy.write(chunk)
            return _checked(copy, wanted, max_line_bytes)
    if not Path(path).is_file():  # a pipe would be waited for, and can be read once
        raise Unusable(f"{shown(path)} is no file; give - to read standard input")
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed below; only opening it may fail this way
    except OSError as error:
        raise Unusable(f"{shown(path)} cannot be read ({error.strerror})") from None
    with file:
        before = os.fstat(file.fileno())
        found = _checked(file, wanted, max_line_bytes)
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise Unusable(f"{shown(path)} was changed while it was read")
    return found


def _checked(file: IO[bytes], wanted: Wanted, max_line_bytes: int) -> dict[str, Any]:
    source = Source(file, max_line_bytes)
    source.check_text()
    return ExportCheck(source, wanted).run()


def answer(given: argparse.Namespace) -> dict[str, Any]:
    """Do what the command line asks."""
    if given.command == "token":
        wanted = TokenWanted(
            master_key=read_secret(given.master_key, "--master-key"),
            sign_key=read_secret(given.sign_key, "--sign-key"),
            at=time.time() if given.at is None else given.at,
            tenant=given.tenant,
            scope=given.scope,
        )
        return check_token(read_small(given.file, "the token"), wanted)
    if given.command == "inclusion":
        return check_inclusion(_wanted(given), read_json(given.file, "the proof"))
    if given.command == "checkpoint":
        proof = None if given.proof is None else read_json(given.proof, "--proof")
        return check_checkpoint(_wanted(given), read_small(given.file, "the checkpoint"), proof)
    return check_export(given.file, _wanted(given), given.max_line_bytes)


def lines_of(found: dict[str, Any], name: str) -> Iterable[str]:
    """Yield what is told of an outcome."""
    held = ""
    if "windows" in found:
        held = (
            f", {numbered(found['windows'], 'window')} and {numbered(found['events'], 'audit event')} in the signed log"
        )
        held += f", {numbered(found['analyses'], 'analysis')}" if found["analyses"] else ""
        held += f", {numbered(found['hmacs'], 'HMAC')} recomputed" if found["hmacs"] else ""
    yield f"{found['verdict']}: {shown(name)}{held}"
    if found.get("origin"):
        yield f"log {shown(found['origin'])}, size {found['tree_size']}, root {found['root']}"
    if found.get("cosigned_by"):
        yield f"cosigned by {', '.join(map(shown, found['cosigned_by']))}"
    for part in ("record", "payload"):
        if part in found:
            yield f"{part}: {shown(json.dumps(found[part], sort_keys=True))}"
    fault = found["fault"]
    if fault is not None:
        where = f"line {fault['line']}: " if fault["line"] else ""
        yield f"first bad record: {where}{fault['record_kind']} {shown(fault['record_id'])}: {fault['detail']}"
    yield from found["notes"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        found = answer(given)
    except Broken as broken:
        found = {"verdict": BROKEN, "fault": broken.fault, "notes": []}
    except Unusable as error:
        print(f"groundtrail_verify: {error}", file=sys.stderr)
        return USAGE
    try:
        print(json.dumps(found) if given.json else "\n".join(lines_of(found, given.file)), flush=True)
    except BrokenPipeError:
        sys.stderr.close()
    return EXITS[found["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
