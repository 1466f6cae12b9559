"""Tests of the verifier that need nothing but itself: ``python3 -m unittest`` in this folder.

A small export is written here a second time from docs/wire-formats.md. In the repository the vectors of
``tests/vectors/wire``, which the product makes, are checked as well.
"""

import base64
import contextlib
import hashlib
import hmac
import io
import json
import os
import random
import struct
import sys
import tempfile
import tracemalloc
import unittest
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import groundtrail_verify as gv  # noqa: E402 - the file beside this one

VECTORS = HERE.parents[1] / "tests" / "vectors" / "wire"
MASTER = bytes(range(32))
SESSION = "crp_sess_0123456789abcdef"
ORIGIN = "log.example/t"
WITNESS = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))


def compact(value: Any) -> str:
    """JCS of what has ASCII names and no fractions."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def tree_root(leaves: list[bytes]) -> bytes:
    """RFC 9162 §2.1.1, as it is defined."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    return hashlib.sha256(b"\x01" + tree_root(leaves[:middle]) + tree_root(leaves[middle:])).digest()


def inclusion(leaves: list[bytes], index: int) -> list[bytes]:
    if len(leaves) < 2:
        return []
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    if index < middle:
        return [*inclusion(leaves[:middle], index), tree_root(leaves[middle:])]
    return [*inclusion(leaves[middle:], index - middle), tree_root(leaves[:middle])]


def consistency(leaves: list[bytes], first: int, *, whole: bool = True) -> list[bytes]:
    if first == len(leaves):
        return [] if whole else [tree_root(leaves)]
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    if first <= middle:
        return [*consistency(leaves[:middle], first, whole=whole), tree_root(leaves[middle:])]
    return [*consistency(leaves[middle:], first - middle, whole=False), tree_root(leaves[:middle])]


class Writer:
    """A log with one session, and its export; ``events`` are type and data."""

    def __init__(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        seed = gv.derive(MASTER, "tenant", "groundtrail-log-sign-v1")
        self.private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self.private.public_key().public_bytes_raw()
        self.key_id = hashlib.sha256(ORIGIN.encode() + b"\n\x01" + self.public).digest()[:4]
        self.key = f"{ORIGIN}+{self.key_id.hex()}+{base64.b64encode(bytes([1]) + self.public).decode()}"
        session_key = gv.derive(MASTER, SESSION, "crp-session-hmac-v3")
        self.lines_with_leaf: list[str] = []
        self.leaves = [hashlib.sha256(b"\x00another's").digest()]
        self.leaf_lines: list[dict[str, Any]] = []
        self.lines: list[str] = []
        previous = ""
        for sequence, (kind, data) in enumerate(events):
            text = f"{kind}2026-05-24T09:00:00.000000Z{digest(compact(data))}{previous}"
            previous = hmac.new(session_key, text.encode(), hashlib.sha256).hexdigest()
            self.add(sequence, kind, data, previous)
        self.head = f"{ORIGIN}\n{len(self.leaves)}\n{base64.b64encode(tree_root(self.leaves)).decode()}\n"

    def add(self, sequence: int, kind: str, data: dict[str, Any], mac: str) -> None:
        event = {
            "data_sha256": digest(compact(data)),
            "event_id": f"crp_evt_{mac[:32]}",
            "event_type": kind,
            "hmac": mac,
            "sequence": sequence,
            "session_id": SESSION,
            "timestamp": "2026-05-24T09:00:00.000000Z",
            "window_id": "",
        }
        line = {**event, "data": data, "data_sha256": "", "event_type": f"AUDIT_EVENT_TYPE_{kind}"}
        self.lines.append(compact({**line, "sequence": str(sequence), "timestamp": "2026-05-24T09:00:00Z"}))
        salt = hashlib.sha256(mac.encode()).digest()
        leaf = {
            "content_hmac": hmac.new(salt, compact(event).encode(), hashlib.sha256).hexdigest(),
            "position": sequence,
            "record_id": event["event_id"],
            "record_kind": "event",
        }
        full = compact({**leaf, "session_id": SESSION, "version": 1})
        self.leaf_lines.append({**leaf, "record": "leaf", "salt": salt.hex(), "leaf_index": len(self.leaves)})
        self.leaves.append(hashlib.sha256(b"\x00" + full.encode()).digest())

    def note(self, text: str) -> str:
        encoded = base64.b64encode(self.key_id + self.private.sign(text.encode())).decode()
        return f"{text}\n\u2014 {ORIGIN} {encoded}\n"

    def export(self, version: int = 2, integrity: str = "VALID", **more: Any) -> list[str]:
        lines = list(self.lines)
        for line, leaf in zip(self.lines_with_leaf or self.lines, self.leaf_lines, strict=True):
            path = [base64.b64encode(one).decode() for one in inclusion(self.leaves, leaf["leaf_index"])]
            lines.append(compact({**leaf, "path": path, "line_sha256": digest(line)}))
        covered = digest("".join(f"{line}\n" for line in lines))
        path = [base64.b64encode(one).decode() for one in consistency(self.leaves, 1)]
        log = {
            "record": "log",
            "session_id": SESSION,
            "checkpoint": self.note(self.head),
            "consistency": [{"first_tree_size": 1, "path": path}],
            **more,
        }
        counts = f"events {len(self.lines)}\nanalyses 0\nleaves {len(self.leaf_lines)}\n"
        said = f"session {SESSION}\n{counts}"
        if version == 1:
            said += f"sha256 {covered}\n"
        else:
            said += f"integrity {integrity}\nsha256 {covered}\nlog {digest(compact(log))}\nkey {self.key}\n"
        manifest = self.note(f"groundtrail export v{version}\n{self.head}{said}")
        return [*lines, compact({**log, "manifest": manifest})]

    def cosigned(self, time: int = 7, text: str = "") -> str:
        head = text or self.head
        public = WITNESS.public_key().public_bytes_raw()
        key_id = hashlib.sha256(b"w.example\n\x04" + public).digest()[:4]
        signature = WITNESS.sign(f"cosignature/v1\ntime {time}\n{head}".encode())
        line = base64.b64encode(key_id + struct.pack(">Q", time) + signature).decode()
        return f"{self.note(head)}\u2014 w.example {line}\n"


def witness_key() -> str:
    public = b"\x04" + WITNESS.public_key().public_bytes_raw()
    return f"w.example+{hashlib.sha256(b'w.example' + bytes([10]) + public).hexdigest()[:8]}+{base64.b64encode(public).decode()}"


WRITER = Writer([("SESSION_CREATED", {"session": {"status": "OPEN"}}), ("TOOL_CALL", {}), ("TOOL_CALL", {"a": [1]})])


class CommandCase(unittest.TestCase):
    """Runs the command on files of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, content: str | bytes, name: str = "file") -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_command(self, *arguments: str) -> tuple[int, Any]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = gv.main([*arguments, "--json"])
        self.assertEqual(code == 2, out.getvalue() == "")
        return code, json.loads(out.getvalue()) if code != 2 else err.getvalue()

    def export(self, lines: list[str], *arguments: str) -> tuple[int, Any]:
        path = self.file("".join(f"{line}\n" for line in lines))
        return self.run_command("export", path, "--key", WRITER.key, *arguments)


class ExportTests(CommandCase):
    def test_a_whole_export_holds_and_its_hmacs_are_those_of_the_key(self) -> None:
        code, found = self.export(WRITER.export(), "--master-key", self.file(MASTER.hex(), "key"))
        self.assertEqual((code, found["verdict"], found["events"], found["hmacs"]), (0, "VALID", 3, 3))
        session_key = gv.derive(MASTER, SESSION, "crp-session-hmac-v3").hex()
        self.assertEqual(self.export(WRITER.export(), "--session-key", self.file(session_key, "key"))[1]["hmacs"], 3)

    def test_both_forms_of_the_note_are_read(self) -> None:
        self.assertEqual(self.export(WRITER.export(version=1))[0], 0)
        code, found = self.export(WRITER.export(integrity="PARTIAL"))
        self.assertEqual((code, len(found["notes"])), (1, 1))
        self.assertEqual(self.export(WRITER.export(integrity="BROKEN"))[0], 3)  # and no fault is named
        broken = WRITER.export(integrity="BROKEN\nfault window crp_win_1")
        code, found = self.export(broken)
        self.assertEqual((code, found["fault"]["record_kind"], found["fault"]["record_id"]), (3, "window", "crp_win_1"))
        code, found = self.export(WRITER.export(integrity="VALID\nlater thing"))
        self.assertEqual((code, found["verdict"]), (1, "INCOMPLETE"))

    def test_a_cosigned_head_in_the_export(self) -> None:
        def with_head(note: str, path: list[str]) -> tuple[int, Any]:
            lines = WRITER.export(cosigned={"checkpoint": note, "path": path})
            return self.export(lines, "--witness", witness_key())

        code, found = with_head(WRITER.cosigned(), [])
        self.assertEqual((code, found["witnessed_size"]), (0, len(WRITER.leaves)))
        self.assertEqual(with_head(WRITER.cosigned(), [base64.b64encode(bytes(32)).decode()])[0], 3)
        small = f"{ORIGIN}\n1\n{base64.b64encode(WRITER.leaves[0]).decode()}\n"
        path = [base64.b64encode(one).decode() for one in consistency(WRITER.leaves, 1)]
        code, found = with_head(WRITER.cosigned(text=small), path)
        self.assertEqual((code, found["cosigned_by"]), (1, ["w.example"]))  # the session's records are newer
        self.assertEqual(with_head(WRITER.cosigned(text=small), path[1:])[0], 3)
        self.assertEqual(with_head("x", [])[0], 3)

    def test_leaves_of_no_record_and_of_a_promise(self) -> None:
        promise = {"promise": {"holds": ["leaves"], "since": 0}, "session": {}}
        for data, verdict in ((promise, 3), ({"session": {}}, 1)):
            writer = Writer([("SESSION_CREATED", data), ("TOOL_CALL", {})])
            del writer.leaf_lines[0]
            writer.lines_with_leaf = writer.lines[1:]
            self.assertEqual(self.export(writer.export())[0], verdict)
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("TOOL_CALL", {}), ("TOOL_CALL", {"b": 1})])
        del writer.lines[1]
        writer.lines_with_leaf = [writer.lines[0], "", writer.lines[1]]
        self.assertEqual(self.export(writer.export())[0], 3)

    def test_a_leaf_behind_the_last_record_is_of_no_record(self) -> None:
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("TOOL_CALL", {})])
        writer.lines_with_leaf = [*writer.lines, ""]
        writer.add(2, "TOOL_CALL", {}, "ab" * 32)
        del writer.lines[2]
        writer.head = f"{ORIGIN}\n{len(writer.leaves)}\n{base64.b64encode(tree_root(writer.leaves)).decode()}\n"
        code, found = self.export(writer.export())
        self.assertEqual((code, found["fault"]["record_kind"]), (3, "leaf"))
        self.assertEqual(found["fault"]["record_id"], f"crp_evt_{'ab' * 16}")

    def test_leaves_stand_in_the_log_in_the_order_of_their_records(self) -> None:
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("TOOL_CALL", {}), ("TOOL_CALL", {"b": 1})])
        writer.leaves[2], writer.leaves[3] = writer.leaves[3], writer.leaves[2]
        writer.leaf_lines[1]["leaf_index"], writer.leaf_lines[2]["leaf_index"] = 3, 2
        writer.head = f"{ORIGIN}\n{len(writer.leaves)}\n{base64.b64encode(tree_root(writer.leaves)).decode()}\n"
        code, found = self.export(writer.export())
        self.assertEqual((code, found["fault"]["record_id"]), (3, "2"))
        self.assertEqual(found["fault"]["detail"], "has a leaf out of order")

    def test_data_is_missing_where_an_erasure_says_so_alone(self) -> None:
        """An event whose data was taken out with its leaf's salt, and no event that says that it was erased."""
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("TOOL_CALL", {"a": 1}), ("TOOL_CALL", {})])
        event = json.loads(writer.lines[1])
        writer.lines[1] = compact({**event, "data": None, "data_sha256": digest(compact(event["data"]))})
        writer.leaf_lines[1]["salt"] = ""
        code, found = self.export(writer.export())
        self.assertEqual((code, found["fault"]["record_id"]), (3, "1"))
        self.assertEqual(found["fault"]["detail"], "has data and an erasure that do not fit each other")

    def test_a_record_is_newer_from_the_index_of_the_cosigned_heads_size_on(self) -> None:
        for size, newer in ((4, ""), (3, "1 record"), (2, "2 records")):
            head = f"{ORIGIN}\n{size}\n{base64.b64encode(tree_root(WRITER.leaves[:size])).decode()}\n"
            path = [base64.b64encode(one).decode() for one in consistency(WRITER.leaves, size)]
            lines = WRITER.export(cosigned={"checkpoint": WRITER.cosigned(text=head), "path": path})
            notes = self.export(lines, "--witness", witness_key())[1]["notes"]
            told = f"newer than the head that witnesses cosigned: {newer}; export again later"
            self.assertEqual(notes, [told] if newer else [])

    def test_another_key_makes_other_hmacs(self) -> None:
        code, found = self.export(WRITER.export(), "--session-key", self.file("ab" * 32, "key"))
        self.assertEqual((code, found["fault"]["record_kind"], found["fault"]["record_id"]), (3, "event", "0"))

    def test_each_line_that_is_left_out_or_doubled_is_found(self) -> None:
        lines = WRITER.export()
        for place in range(len(lines)):
            for changed in (
                lines[:place] + lines[place + 1 :],
                lines[:place] + lines[place : place + 1] + lines[place:],
            ):
                self.assertEqual(self.export(changed)[0], 3, place)

    def test_a_session_that_was_closed_as_broken_is_broken(self) -> None:
        data = {"session": {"status": "BROKEN"}, "cause": "CHAIN_BROKEN", "record_kind": "window", "record_id": "w"}
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("SESSION_TERMINATED", data)])
        code, found = self.export(writer.export())
        self.assertEqual((code, found["fault"]["record_kind"], found["fault"]["record_id"]), (3, "window", "w"))

    def test_a_cause_that_a_caller_gave_closes_nothing_as_broken(self) -> None:
        data = {"session": {"status": "TERMINATED"}, "cause": "CHAIN_BROKEN"}
        writer = Writer([("SESSION_CREATED", {"session": {}}), ("SESSION_TERMINATED", data)])
        self.assertEqual(self.export(writer.export())[0], 0)

    def test_an_object_that_names_a_member_twice_is_refused(self) -> None:
        lines = WRITER.export()
        lines[0] = '{"data":{},' + lines[0][1:]
        code, found = self.export(lines)
        self.assertEqual((code, found["fault"]["line"]), (3, 1))
        self.assertIn("twice", found["fault"]["detail"])

    def test_a_checkpoint_that_was_kept(self) -> None:
        first = f"{ORIGIN}\n1\n{base64.b64encode(WRITER.leaves[0]).decode()}\n"
        self.assertEqual(self.export(WRITER.export(), "--checkpoint", self.file(WRITER.note(first), "kept"))[0], 0)
        forked = f"{ORIGIN}\n1\n{base64.b64encode(bytes(32)).decode()}\n"
        self.assertEqual(self.export(WRITER.export(), "--checkpoint", self.file(WRITER.note(forked), "kept"))[0], 3)
        newer = first.replace("\n1\n", "\n9\n")
        code, found = self.export(WRITER.export(), "--checkpoint", self.file(WRITER.note(newer), "kept"))
        self.assertEqual((code, found["verdict"]), (1, "INCOMPLETE"))

    def test_cosignatures_count_by_witness(self) -> None:
        def asked(checkpoint: str, *more: str) -> tuple[int, Any]:
            path = self.file(checkpoint, "kept")
            return self.export(WRITER.export(), "--checkpoint", path, "--witness", witness_key(), *more)

        code, found = asked(WRITER.cosigned())
        self.assertEqual((code, found["cosigned_by"]), (0, ["w.example"]))
        twice = WRITER.cosigned() + WRITER.cosigned(8).split("\n\n")[1].split("\n")[1] + "\n"
        self.assertEqual(asked(twice)[1]["cosigned_by"], ["w.example"])
        self.assertEqual(asked(WRITER.note(WRITER.head))[0], 1)
        self.assertEqual(asked(WRITER.note(WRITER.head), "--min-cosignatures", "0")[0], 0)
        self.assertEqual(asked(WRITER.cosigned(), "--min-cosignatures", "2")[0], 2)
        head, _, lines = WRITER.cosigned().rpartition("\u2014")
        raw = bytearray(base64.b64decode(lines.split(" ")[2]))
        raw[-1] ^= 1
        bad = f"{head}\u2014 w.example {base64.b64encode(bytes(raw)).decode()}\n"
        self.assertEqual(asked(bad)[0], 3)

    def test_standard_input_is_read(self) -> None:
        raw = "".join(f"{line}\n" for line in WRITER.export()).encode()
        given = io.TextIOWrapper(io.BytesIO(raw))
        before, sys.stdin = sys.stdin, given
        try:
            self.assertEqual(self.run_command("export", "-", "--key", WRITER.public.hex())[0], 0)
        finally:
            sys.stdin = before

    def test_memory_does_not_grow_with_the_events(self) -> None:
        def peak(count: int) -> int:
            writer = Writer([("TOOL_CALL", {"text": "x" * 15000})] * count)
            path = self.file("".join(f"{line}\n" for line in writer.export()))
            del writer
            wanted = gv.Wanted(gv.Key.read(WRITER.key))
            tracemalloc.start()
            try:
                self.assertEqual(gv.check_export(path, wanted)["verdict"], "VALID")
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        self.assertLess(peak(300), peak(100) * 1.2)


class HostileTests(CommandCase):
    def test_what_cannot_be_used_is_a_usage_error(self) -> None:
        good = self.file("".join(f"{line}\n" for line in WRITER.export()), "good")
        for arguments in (
            ("export", str(self.folder / "nowhere"), "--key", WRITER.key),
            ("export", str(self.folder), "--key", WRITER.key),
            ("export", "\0", "--key", WRITER.key),
            ("export", good, "--key", "nonsense"),
            ("export", good, "--key", WRITER.key[:-4]),
            ("export", good, "--key", WRITER.key.replace("+", "x+", 1)),
            ("export", good, "--key", "x" * 5000),
            ("export", good, "--key", WRITER.key, "--checkpoint", str(self.folder / "nowhere")),
            ("export", good, "--key", WRITER.key, "--checkpoint", self.file(b"\xff", "bytes")),
            ("export", good, "--key", WRITER.key, "--session-key", self.file("abc", "short")),
            ("export", good, "--key", WRITER.key, "--witness", WRITER.key),
            ("export", good, "--key", WRITER.key, "--max-line-bytes", "100"),
            ("export", self.file(b"\xff\xfe", "utf-16"), "--key", WRITER.key),
            ("inclusion", self.file("{}", "empty"), "--key", WRITER.key),
            ("inclusion", self.file('{"a":1,"a":1}', "twice"), "--key", WRITER.key),
            ("inclusion", self.file("[" * 100_000, "deep"), "--key", WRITER.key),
            ("inclusion", self.file('{"proof":1,"leaf":[],"tree_head":null}', "types"), "--key", WRITER.key),
            ("token", str(self.folder / "nowhere")),
        ):
            code, said = self.run_command(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertEqual(said.count("\n"), 1, said)

    def test_no_change_of_the_bytes_is_a_traceback(self) -> None:
        raw = "".join(f"{line}\n" for line in WRITER.export()).encode()
        draw = random.Random(7)
        for _ in range(300):
            changed = bytearray(raw)
            for _ in range(draw.randrange(1, 4)):
                place = draw.randrange(len(changed))
                changed[place : place + draw.randrange(3)] = draw.choice(
                    (b"", b'"', b"[", b"\n", b"\xc3", b"9", b"{}", b",")
                )
            if bytes(changed) == raw:
                continue
            path = self.file(bytes(changed))
            self.assertIn(self.run_command("export", path, "--key", WRITER.key)[0], (2, 3), bytes(changed))

    def test_every_member_of_every_line_may_be_of_any_type(self) -> None:
        lines = WRITER.export()
        anything: tuple[Any, ...] = (None, True, -1, 1, "", "x", [], [None], {}, {"a": []})
        for place, line in enumerate(lines):
            for name in json.loads(line):
                for wrong in anything:
                    value = json.loads(line)
                    if value[name] == wrong and type(value[name]) is type(wrong):
                        continue
                    changed = [*lines[:place], compact({**value, name: wrong}), *lines[place + 1 :]]
                    code = self.export(changed)[0]
                    self.assertEqual(code, 3, (place, name, wrong))

    def test_one_thing_is_told_in_the_singular(self) -> None:
        found: dict[str, Any] = {
            "verdict": "VALID",
            "fault": None,
            "notes": [],
            "windows": 1,
            "events": 1,
            "analyses": 1,
            "hmacs": 1,
        }
        told = next(iter(gv.lines_of(found, "x")))
        self.assertEqual(told, "VALID: x, 1 window and 1 audit event in the signed log, 1 analysis, 1 HMAC recomputed")
        told = next(iter(gv.lines_of(found | dict.fromkeys(("windows", "events", "analyses", "hmacs"), 2), "x")))
        self.assertEqual(
            told, "VALID: x, 2 windows and 2 audit events in the signed log, 2 analyses, 2 HMACs recomputed"
        )

    def test_what_is_shown_is_text(self) -> None:
        self.assertEqual(gv.shown("a\x1b[31m\u202eb\n"), "a<U+001B>[31m<U+202E>b<U+000A>")
        lines = [WRITER.export()[0].replace(SESSION, "\\u001b[31m"), *WRITER.export()[1:]]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            gv.main(["export", self.file("\n".join(lines)), "--key", WRITER.key])
        self.assertNotIn("\x1b", out.getvalue())


class CanonicalTests(unittest.TestCase):
    def test_numbers_are_spelled_as_ecmascript_does(self) -> None:
        """RFC 8785, appendix B, and the edges of its forms."""
        for bits, text in (
            ("0000000000000000", "0"), ("8000000000000000", "0"), ("0000000000000001", "5e-324"),
            ("8000000000000001", "-5e-324"), ("7fefffffffffffff", "1.7976931348623157e+308"),
            ("4340000000000000", "9007199254740992"), ("44b52d02c7e14af5", "9.999999999999997e+22"),
            ("44b52d02c7e14af6", "1e+23"), ("444b1ae4d6e2ef4e", "999999999999999700000"),
            ("444b1ae4d6e2ef50", "1e+21"), ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
            ("3eb0c6f7a0b5ed8d", "0.000001"), ("41b3de4355555553", "333333333.3333332"),
            ("41b3de4355555556", "333333333.3333334"), ("becbf647612f3696", "-0.0000033333333333333333"),
            ("43143ff3c1cb0959", "1424953923781206.2"),
        ):  # fmt: skip
            self.assertEqual(gv.number_text(struct.unpack(">d", bytes.fromhex(bits))[0]), text)
        for value in (float("nan"), float("inf"), 2**53):
            self.assertRaises(ValueError, gv.number_text, value)

    def test_only_the_canonical_spelling_is_read(self) -> None:
        for text in ('{"a":[1,-1,1.5,1e-7,true,null,"\u20ac\\n\\u0001\\""],"\U00010000":{},"\ufb01":""}', "[]", "0"):
            self.assertEqual(gv.jcs(gv.parse_jcs(text)), text)
        for text in (
            '{"b":1,"a":1}', '{"a":1,"a":1}', '{"a": 1}', "1.0", "-0", "1E5", "100e-2", "NaN", "Infinity", '"\\u00e9"',
            '"\\/"', '"\\u001F"', '"\\ud800"', "9007199254740992", "", " 1", "1 ", '{"\ufb01":0,"\U00010000":0}', "[" * 9999,
            "9" * 9999, "\ufeff1",
        ):  # fmt: skip
            self.assertRaises(ValueError, gv.parse_jcs, text)


class ProofTests(unittest.TestCase):
    LEAVES = [hashlib.sha256(bytes([n])).digest() for n in range(34)]

    def test_every_leaf_of_every_tree_is_included_at_its_place_alone(self) -> None:
        for size in range(1, len(self.LEAVES) + 1):
            leaves = self.LEAVES[:size]
            root = tree_root(leaves)
            for index, leaf in enumerate(leaves):
                path = inclusion(leaves, index)
                self.assertTrue(gv.is_included(index, size, leaf, path, root))
                wrong = (
                    (index + 1, size, leaf, path),
                    (index, size, bytes(32), path),
                    (index, size, leaf, [*path, root]),
                )
                for changed in (*wrong, (index, size, leaf, path[1:])) if size > 1 else wrong:
                    self.assertFalse(gv.is_included(*changed, root), (size, index))

    def test_every_tree_begins_every_larger_one(self) -> None:
        for large in range(len(self.LEAVES) + 1):
            new = (large, tree_root(self.LEAVES[:large]))
            for small in range(large + 1):
                old = (small, tree_root(self.LEAVES[:small]))
                path = consistency(self.LEAVES[:large], small) if small else []
                self.assertTrue(gv.is_consistent(old, new, path), (small, large))
                self.assertFalse(gv.is_consistent((small, bytes(32)), new, path))
                self.assertFalse(gv.is_consistent(old, new, [*path, bytes(32)]))
                for place in range(len(path)):
                    changed = [bytes(32) if at == place else one for at, one in enumerate(path)]
                    self.assertFalse(gv.is_consistent(old, new, changed), (small, large, place))


class TokenTests(CommandCase):
    PAYLOAD: dict[str, Any] = {
        "v": 3, "sid": SESSION, "win": 1, "qh": ["A", "[A,B]"], "sb": 1, "ct": "sha256:" + "a" * 64, "cid": "crp_cont_1",
        "dag": "LINEAR", "str": "push", "pol": "", "ckf": "", "scope": "s", "lim": [5, 10, 50, 5], "iat": 1000, "exp": 2000,
        "kv": 1, "ten": hashlib.sha256(b"crp-tenant:t").hexdigest()[:16],
    }  # fmt: skip

    def token(self, **changes: Any) -> str:
        key = gv.derive(MASTER, SESSION, "crp-session-sign-v3")

        def url(raw: bytes) -> str:
            return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

        nonce = url(hmac.new(key, f"crp-policy-nonce-v3{SESSION}.".encode(), hashlib.sha256).digest()[:16])
        payload = url(compact({**self.PAYLOAD, "nonce": nonce, **changes}).encode())
        header = url(b'{"alg":"HS256","typ":"CRP"}')
        return f"{payload}.{url(hmac.new(key, f'{header}.{payload}'.encode(), hashlib.sha256).digest())}"

    def check(self, token: str, *arguments: str) -> tuple[int, Any]:
        key = self.file(MASTER.hex() + "\nsigns_from 2026-05-24T09:00:00.000000Z\n", "key")
        return self.run_command("token", self.file(token), "--master-key", key, "--at", "1500", *arguments)

    def test_a_token_that_holds(self) -> None:
        code, found = self.check(self.token(), "--tenant", "t", "--scope", "s")
        self.assertEqual((code, found["payload"]["qh"]), (0, ["A", "[A,B]"]))
        self.assertEqual(self.check(self.token(qh=["A", "A,B", "[S]"]))[0], 0)
        self.assertEqual(self.check(self.token(org=[["ab" * 8, 1, "c" * 32, 1], ["", 0, ""]]))[0], 0)
        self.assertEqual(self.check(self.token(), "--at", "2000")[1]["verdict"], "EXPIRED")
        code, found = self.run_command("token", self.file(self.token()), "--at", "1500")
        self.assertEqual((code, found["verdict"]), (1, "INCOMPLETE"))

    def test_a_token_that_does_not(self) -> None:
        good = self.token()
        body, _, end = good.partition(".")
        for bad in (
            "", ".", "x", body, f"{body}.", f"{body}.{end}=", f"{body}.{end[:-1]}", f"{body[:-1]}.{end}", f"{end}.{body}", good + "A",
            self.token(nonce="x"), self.token(sb=2), self.token(qh=["E"]), self.token(qh=["[]"]), self.token(qh=["A,"]), self.token(qh=["[A,B"]), self.token(qh=["A]"]), self.token(qh=["AB"]),
            self.token(lim=[1]), self.token(ct="abc"), self.token(win=-1), self.token(iat=1801), self.token(v=4),
            self.token(session_id=SESSION), self.token(org=1), self.token(org=[["x", 1, ""]]), self.token(org=[["", 1, "", 3]]), self.token(org=[["", 1, "", 1, 1]]), self.token(sid=5), "é.é", "[" * 3000,
        ):  # fmt: skip
            self.assertEqual(self.check(bad)[0], 3, bad)
        for bad in (
            self.token(qh="AB"), self.token(qh={"A": 1}), self.token(lim=""), self.token(lim={}), self.token(sb=True),
            self.token(iat="1970-02-30T00:00:00Z"), self.token(iat="1970-01-01T24:00:01Z"), self.token(iat="1970-01-01"),
            self.token(iat="1970-01-01T00:16:40 Z"), self.token(exp="soon"),
        ):  # fmt: skip
            self.assertEqual(self.check(bad)[1]["fault"]["detail"], "is malformed", bad)
        self.assertEqual(self.check(good, "--tenant", "u")[0], 3)
        self.assertEqual(self.check(good, "--scope", "u")[0], 3)

    def test_times_are_read_as_text_too(self) -> None:
        for text in (
            "1970-01-01T00:30:00Z", "1970-01-01T00:30:00+00:00", "1970-01-01T02:30:00+02:00", "1970-01-01T00:30:00",
            "1969-12-31T20:30:00.000-04:00",
        ):  # fmt: skip
            self.assertEqual(self.check(self.token(exp=text), "--at", "1799")[0], 0, text)
            self.assertEqual(self.check(self.token(exp=text), "--at", "1800")[1]["verdict"], "EXPIRED", text)

    def test_what_is_wrong_first_is_named_in_the_order_of_the_checks(self) -> None:
        """Form, mac, times, scope and tenant, nonce; a token is EXPIRED only where nothing else is wrong."""
        wrong = {"iat": 1801, "scope": "u", "ten": "0" * 16, "nonce": "x"}
        for named in ("iat", "scope", "ten", "nonce"):
            _, found = self.check(self.token(**wrong), "--tenant", "t", "--scope", "s", "--at", "1500")
            self.assertEqual(found["fault"]["record_id"], named)
            del wrong[named]
        found = self.check(self.token(), "--scope", "u", "--at", "9999")[1]
        self.assertEqual((found["verdict"], found["fault"]["record_id"]), ("BROKEN", "scope"))


class CheckpointTests(CommandCase):
    def test_a_head_alone_and_against_one_that_was_kept(self) -> None:
        now = self.file(WRITER.note(WRITER.head), "now")
        first = self.file(WRITER.note(f"{ORIGIN}\n1\n{base64.b64encode(WRITER.leaves[0]).decode()}\n"), "first")
        self.assertEqual(self.run_command("checkpoint", now, "--key", WRITER.key)[0], 0)
        self.assertEqual(self.run_command("checkpoint", now, "--key", WRITER.key, "--checkpoint", first)[0], 1)
        self.assertEqual(self.run_command("checkpoint", now, "--key", WRITER.key, "--checkpoint", now)[0], 0)
        self.assertEqual(self.run_command("checkpoint", first, "--key", WRITER.key, "--checkpoint", now)[0], 3)
        path = [base64.b64encode(one).decode() for one in consistency(WRITER.leaves, 1)]
        proof = {"proof": {"firstTreeSize": "1", "secondTreeSize": str(len(WRITER.leaves)), "pathHashes": path}}
        arguments = ("checkpoint", now, "--key", WRITER.key, "--checkpoint", first, "--proof")
        self.assertEqual(self.run_command(*arguments, self.file(json.dumps(proof), "proof"))[0], 0)
        proof["proof"]["pathHashes"] = path[::-1]
        self.assertEqual(self.run_command(*arguments, self.file(json.dumps(proof), "proof"))[0], 3)

    def test_a_head_of_the_same_size_with_another_root_is_a_fork(self) -> None:
        now = self.file(WRITER.note(WRITER.head), "now")
        other = f"{ORIGIN}\n{len(WRITER.leaves)}\n{base64.b64encode(bytes(32)).decode()}\n"
        kept = self.file(WRITER.note(other), "kept")
        code, found = self.run_command("checkpoint", now, "--key", WRITER.key, "--checkpoint", kept)
        self.assertEqual((code, found["fault"]["record_kind"]), (3, "checkpoint"))


@unittest.skipUnless(VECTORS.is_dir(), "the vectors stand in the repository")
class VectorTests(CommandCase):
    """What the product makes: every text that is hashed, and an export of every pattern."""

    wire: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.wire = json.loads((VECTORS / "wire.json").read_text(encoding="utf-8"))

    def session_key(self, pattern: str) -> Any:
        export = self.wire["exports"][pattern]
        return gv.derive(bytes.fromhex(export["master_key"]), export["session_id"], "crp-session-hmac-v3")

    def test_keys(self) -> None:
        for one in self.wire["keys"]:
            self.assertEqual(gv.derive(bytes.fromhex(one["master_key"]), one["salt"], one["info"]).hex(), one["key"])

    def test_windows_of_every_pattern(self) -> None:
        patterns = set()
        for name, windows in self.wire["windows"].items():
            for window in windows:
                if "stands_for" in window:
                    text = (
                        f"{self.wire['exports'][name]['session_id']}.{window['window_number']}.{window['stands_for']}"
                    )
                    self.assertEqual(window["window_id"], "crp_win_" + gv.hexed(text)[:16])
                    patterns.add("ADOPTED")
                    continue
                patterns.add(window["pattern"])
                key, alone = self.session_key(name), len(window["text"])
                self.assertEqual(gv.mac(key, window["text"]), window["hmac"])
                while gv.mac(key, window["text"][:alone]) != window["window_hmac"]:
                    alone -= 1  # the parents' part is what follows
                parents = window["text"][alone:].split("|") if window["text"][alone:] else []
                self.assertEqual(sorted(parents), parents)
                self.assertTrue(all(len(parent) == 64 for parent in parents))
        self.assertEqual(patterns, {"LINEAR", "FAN_OUT", "FAN_IN", "BRANCH", "ADOPTED"})

    def test_events_leaves_and_the_end_of_the_trail(self) -> None:
        key = self.session_key("linear")
        for event in self.wire["events"]:
            self.assertEqual(gv.mac(key, event["text"]), event["hmac"])
            self.assertEqual("crp_evt_" + event["hmac"][:32], event["event_id"])
        for leaf in self.wire["leaves"]:
            self.assertEqual(gv.sha(b"\x00" + leaf["leaf"].encode()).hex(), leaf["leaf_hash"])
            self.assertEqual(gv.jcs(json.loads(leaf["leaf"])), leaf["leaf"])
        end = self.wire["trail"]
        text = f"crp-trail-v1|{end['version']}|{end['events']}|{end['last_hmac']}"
        self.assertEqual(gv.mac(key, text), end["trail_mac"])

    def test_exports(self) -> None:
        exits = {"VALID": 0, "TRUNCATED": 0, "INCOMPLETE": 1, "BROKEN": 3}
        for name, export in self.wire["exports"].items():
            secret = self.file(export["master_key"], "secret")
            for key in export["public_keys"]:
                arguments = ["export", str(VECTORS / export["file"]), "--key", key, "--master-key", secret]
                # Heads from before the rotation have one signature, that of the old key.
                newer = name == "rotated" and key == export["public_keys"][0]
                for checkpoint in ("end",) if newer else ("before", "middle", "end"):
                    arguments += ["--checkpoint", self.file(export["checkpoints"][checkpoint], checkpoint)]
                code, found = self.run_command(*arguments)
                self.assertEqual((found["verdict"], code), (export["verdict"], exits[export["verdict"]]), (name, found))
                self.assertGreater(found["hmacs"], 0)

    def test_tokens(self) -> None:
        self.assertGreater(len(self.wire["tokens"]), 8)
        for one in self.wire["tokens"]:
            key = self.file(one["master_key"], "secret")
            at = str(one["payload"]["iat"])
            arguments = ("token", self.file(one["token"]), "--master-key", key, "--at", at, "--tenant", "tenant-a")
            code, found = self.run_command(*arguments)
            self.assertEqual((code, found["payload"]), (0, one["payload"]), found)

    def test_the_whole_log_has_the_signed_root(self) -> None:
        entries = self.wire["answers"]["entries"]
        leaves = [base64.b64decode(leaf) for leaf in entries["leaves"]]
        self.assertEqual(int(entries["tree_size"]), len(leaves))
        _, head = gv.read_checkpoint(
            self.wire["answers"]["consistency"]["tree_head"]["checkpoint"],
            gv.read_key(self.wire["exports"]["linear"]["public_keys"][0], gv.LOG_KEY),
        )
        hashes = [hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves]
        self.assertEqual((head.size, head.root), (len(leaves), tree_root(hashes)))
        of_session = {leaf["leaf_index"]: leaf["leaf"] for leaf in self.wire["leaves"]}
        self.assertEqual({index: leaves[index].decode() for index in of_session}, of_session)
        following: dict[str, int] = {}
        for raw in leaves:
            leaf = json.loads(raw)
            self.assertEqual(gv.jcs(leaf).encode(), raw)
            if leaf["record_kind"] == "event":
                self.assertEqual(leaf["position"], following.get(leaf["session_id"], 0))
                following[leaf["session_id"]] = leaf["position"] + 1

    def test_proofs_and_a_cosignature(self) -> None:
        export, key = self.wire["exports"]["linear"], self.wire["exports"]["linear"]["public_keys"][0]
        answers = self.wire["answers"]
        answer = self.file(json.dumps(answers["inclusion"]))
        self.assertEqual(self.run_command("inclusion", answer, "--key", key)[0], 0)
        answers["inclusion"]["leaf"] = base64.b64encode(b"{}").decode()
        self.assertEqual(self.run_command("inclusion", self.file(json.dumps(answers["inclusion"])), "--key", key)[0], 3)
        head = self.file(answers["consistency"]["tree_head"]["checkpoint"], "head")
        arguments = [
            "checkpoint",
            head,
            "--key",
            key,
            "--checkpoint",
            self.file(export["checkpoints"]["before"], "before"),
        ]
        arguments += ["--proof", self.file(json.dumps(answers["consistency"]), "proof")]
        self.assertEqual(self.run_command(*arguments)[0], 0)
        cosigned = self.wire["cosignature"]
        head = self.file(cosigned["checkpoint"], "head")
        code, found = self.run_command("checkpoint", head, "--key", key, "--witness", cosigned["witness"])
        self.assertEqual((code, found["cosigned_by"]), (0, ["witness.example/w1"]))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    unittest.main()
