"""What may be done to an export: every kind of change by somebody with the file, and by somebody with the log's key.

Each kind takes an ``Altered`` and changes ``lines``, ``raw`` for bytes that are no lines any more, the public key, or
the kept checkpoint. None of them copies the product's reading of an export: they are written over JSON and text.
"""

import base64
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from services.common.encoding import canonical_json
from services.common.signed_note import NoteKey, NoteSigner
from services.dag.domain.keys import MasterKey, log_signing_seed

KINDS: dict[str, Callable[["Altered"], None]] = {}
STRANGER = NoteSigner("log.example/stranger", bytes(32))


@dataclass
class Altered:
    """An export that is being changed.

    Attributes:
        lines: without line feeds.
        other: an export of another session of the same recipe.
        raw: the whole file, when it is no lines any more.
    """

    lines: list[str]
    other: list[str]
    draw: random.Random
    key: str
    checkpoint: str | None
    master: str
    raw: bytes | None = None

    def data(self):
        return self.raw if self.raw is not None else "".join(f"{line}\n" for line in self.lines).encode()

    def places(self, kind):
        """Places of the lines of a kind: event, analysis, leaf, log or fact."""
        return [place for place, line in enumerate(self.lines) if json.loads(line).get("record", "event") == kind]

    def any(self, kind):
        """A place of a line of a kind, of any line if there is none."""
        return self.draw.choice(self.places(kind) or list(range(len(self.lines))))

    def edit(self, place, change):
        """Change a line's object and write it canonically again."""
        value = json.loads(self.lines[place])
        change(value)
        self.lines[place] = canonical_json(value).decode()

    def covered(self):
        """What the signed note is over: all lines before the log's."""
        return self.lines[: self.places("log")[0]]

    def mend(self, *, sign=False):
        """Make the unkeyed hashes fit again: those of event lines, and the note's; with ``sign`` its signature too."""
        by_id = {json.loads(self.lines[place])["event_id"]: self.lines[place] for place in self.places("event")}
        for place in self.places("leaf"):
            leaf = json.loads(self.lines[place])
            if leaf["record_id"] in by_id:
                leaf["line_sha256"] = hashlib.sha256(by_id[leaf["record_id"]].encode()).hexdigest()
                self.lines[place] = canonical_json(leaf).decode()
        covered = self.covered()
        digest = hashlib.sha256("".join(f"{line}\n" for line in covered).encode()).hexdigest()
        counts = {name: len(self.places(kind)) for name, kind in COUNTED.items()}

        def rewrite(log):
            text, _, signatures = log["manifest"].rpartition("\n\n")
            members = dict(line.split(" ", 1) for line in text.split("\n")[4:])
            members |= {name: str(count) for name, count in counts.items()} | {"sha256": digest}
            head = "\n".join(text.split("\n")[:4])
            text = f"{head}\n" + "".join(f"{name} {value}\n" for name, value in members.items())
            log["manifest"] = self.signed(text) if sign else f"{text}\n{signatures}"

        self.edit(self.places("log")[0], rewrite)

    def signer(self):
        origin = json.loads(self.lines[self.places("log")[0]])["checkpoint"].split("\n")[0]
        return NoteSigner(origin, log_signing_seed(MasterKey(1, bytes.fromhex(self.master)), "tenant-a"))

    def signed(self, text, signer=None):
        signature = (signer or self.signer()).sign(text)
        line = base64.b64encode(signature.key_id + signature.signature).decode()
        return f"{text}\n\u2014 {signature.name} {line}\n"


COUNTED = {"events": "event", "analyses": "analysis", "leaves": "leaf"}


def kind(change):
    KINDS[change.__name__] = change
    return change


def scalars(value, path=()):
    """Every scalar and empty container of a JSON value, by its path."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from scalars(inner, (*path, name))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from scalars(inner, (*path, index))
    else:
        yield path, value


def put(value, path, new):
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new


def another(value, draw):
    """Another value: mostly of the same kind."""
    if draw.random() < 0.1:
        return draw.choice((None, True, "", [], {}, 0, 1.5, "x"))
    if isinstance(value, str):
        if not value:
            return "x"
        place = draw.randrange(len(value))
        return value[:place] + ("1" if value[place] != "1" else "2") + value[place + 1 :]
    if isinstance(value, bool) or value is None:
        return "x"
    return value + 1 if isinstance(value, int | float) else [*value, 1] if isinstance(value, list) else {"x": 1}


def edit_scalar(altered, place):
    def change(value):
        path, old = altered.draw.choice(list(scalars(value)))
        put(value, path, another(old, altered.draw))

    altered.edit(place, change)


@kind
def byte_flipped(altered):
    raw = bytearray(altered.data())
    place = altered.draw.randrange(len(raw))
    raw[place] ^= 1 << altered.draw.randrange(8)
    altered.raw = bytes(raw)


@kind
def letter_replaced(altered):
    raw = bytearray(altered.data())
    letters = [place for place, byte in enumerate(raw) if chr(byte).isalnum()]
    place = altered.draw.choice(letters)
    raw[place] = ord("a") if raw[place] != ord("a") else ord("b")
    altered.raw = bytes(raw)


@kind
def line_removed(altered):
    del altered.lines[altered.draw.randrange(len(altered.lines))]


@kind
def lines_swapped(altered):
    one, two = altered.draw.sample(range(len(altered.lines)), 2)
    altered.lines[one], altered.lines[two] = altered.lines[two], altered.lines[one]


@kind
def line_doubled(altered):
    place = altered.draw.randrange(len(altered.lines))
    altered.lines.insert(place, altered.lines[place])


@kind
def tail_cut(altered):
    del altered.lines[altered.draw.randrange(len(altered.lines)) :]


@kind
def cut_within_a_line(altered):
    raw = altered.data()
    altered.raw = raw[: altered.draw.randrange(len(raw) - 1)]


@kind
def end_cut_off_and_mended(altered):
    """The last events, their leaves, and the counts and hash that go with them."""
    gone = altered.places("event")[-1]
    name = json.loads(altered.lines[gone])["event_id"]
    altered.lines = [
        line for place, line in enumerate(altered.lines) if place != gone and json.loads(line).get("record_id") != name
    ]
    altered.mend()


@kind
def end_cut_off_and_signed(altered):
    """The same by somebody who has the log's key: what is left is whole, and shorter."""
    end_cut_off_and_mended(altered)
    if altered.places("event"):
        altered.mend(sign=True)


@kind
def foreign_line(altered):
    altered.lines.insert(altered.draw.randrange(len(altered.lines) + 1), altered.draw.choice(altered.other))


@kind
def foreign_log_line(altered):
    other = next(line for line in altered.other if '"record":"log"' in line)
    altered.lines[altered.places("log")[0]] = other


@kind
def unknown_line(altered):
    line = altered.draw.choice(('{"record":"note"}', "{}", "[]", "", "null", '{"record":1}', '{"record":null}', '"x"'))
    altered.lines.insert(altered.draw.randrange(len(altered.lines) + 1), line)


@kind
def value_edited(altered):
    edit_scalar(altered, altered.draw.randrange(len(altered.lines)))


@kind
def event_edited_and_mended(altered):
    edit_scalar(altered, altered.any("event"))
    try:
        altered.mend()
    except KeyError:
        return  # the id itself was edited away


@kind
def event_edited_and_signed(altered):
    """Somebody with the log's key, who cannot change what the tree holds."""
    edit_scalar(altered, altered.any("event"))
    try:
        altered.mend(sign=True)
    except KeyError:
        return


@kind
def event_with_a_new_hmac(altered):
    """Whoever lacks the session's key makes up an HMAC, and the id that follows from it."""
    mac = hashlib.sha256(str(altered.draw.random()).encode()).hexdigest()
    altered.edit(altered.any("event"), lambda value: value.update(hmac=mac, event_id=f"crp_evt_{mac[:32]}"))
    altered.mend(sign=True)


@kind
def leaf_edited(altered):
    edit_scalar(altered, altered.any("leaf"))


@kind
def leaf_edited_and_signed(altered):
    edit_scalar(altered, altered.any("leaf"))
    altered.mend(sign=True)


@kind
def proof_changed(altered):
    def change(value):
        path = value.get("path") or value.setdefault("path", [])
        how = altered.draw.randrange(4)
        if how == 0 and path:
            del path[altered.draw.randrange(len(path))]
        elif how == 1 and path:
            path[altered.draw.randrange(len(path))] = base64.b64encode(bytes(32)).decode()
        elif how == 2 and len(path) > 1:
            path.reverse()
        else:
            path.append(base64.b64encode(bytes(32)).decode())

    altered.edit(altered.any("leaf"), change)
    altered.mend(sign=True)


@kind
def leaf_moved(altered):
    """Another index, a neighbour's path."""
    places = altered.places("leaf")
    one, two = altered.draw.sample(places, 2) if len(places) > 1 else (places[0], places[0])
    there = json.loads(altered.lines[two])
    altered.edit(one, lambda value: value.update(leaf_index=there["leaf_index"] + (one == two), path=there["path"]))
    altered.mend(sign=True)


@kind
def salt_taken(altered):
    altered.edit(altered.any("leaf"), lambda value: value.update(salt=altered.draw.choice(("", "00" * 32, "00", "zz"))))
    altered.mend(sign=True)


@kind
def erasure_pretended(altered):
    place = altered.any("event")

    def hide(value):
        digest = hashlib.sha256(canonical_json(value.get("data"))).hexdigest()
        value.update(data=None, data_sha256=digest)

    altered.edit(place, hide)
    name = json.loads(altered.lines[place]).get("event_id")
    for leaf in altered.places("leaf"):
        if json.loads(altered.lines[leaf]).get("record_id") == name:
            altered.edit(leaf, lambda value: value.update(salt=""))
    altered.mend(sign=True)


@kind
def checkpoint_changed(altered):
    def change(value):
        lines = value["checkpoint"].split("\n")
        how = altered.draw.randrange(6)
        if how == 0:
            lines[1] = str(int(lines[1]) + 1)
        elif how == 1:
            lines[2] = base64.b64encode(bytes(32)).decode()
        elif how == 2:
            lines[0] += "x"
        elif how == 3:
            lines[4] = lines[4][:-6] + ("A" if lines[4][-6] != "A" else "B") + lines[4][-5:]
        elif how == 4:
            lines[1] = "0" + lines[1]
        else:
            lines.insert(3, "an extension")
        value["checkpoint"] = "\n".join(lines)

    altered.edit(altered.places("log")[0], change)


@kind
def head_forked(altered):
    """The key's holder signs another tree of the same size: no path leads there."""

    def change(value):
        origin, size, *_ = value["checkpoint"].split("\n")
        text = f"{origin}\n{size}\n{base64.b64encode(bytes(32)).decode()}\n"
        value["checkpoint"] = altered.signed(text)
        members = value["manifest"].rpartition("\n\n")[0].split("\n")[4:]
        value["manifest"] = altered.signed(f"groundtrail export v1\n{text}" + "".join(f"{line}\n" for line in members))

    altered.edit(altered.places("log")[0], change)


@kind
def manifest_changed(altered):
    def change(value):
        lines = value["manifest"].split("\n")
        place = altered.draw.randrange(len(lines))
        lines[place] = altered.draw.choice((lines[place] + "1", "", lines[place][:-1], "extra 1\n" + lines[place]))
        value["manifest"] = "\n".join(lines)

    altered.edit(altered.places("log")[0], change)


@kind
def log_line_edited(altered):
    edit_scalar(altered, altered.places("log")[0])


@kind
def growth_proof_changed(altered):
    def change(value):
        for proof in value["consistency"]:
            if proof["path"]:
                proof["path"][altered.draw.randrange(len(proof["path"]))] = base64.b64encode(bytes(32)).decode()
            else:
                proof["path"].append(base64.b64encode(bytes(32)).decode())

    altered.edit(altered.places("log")[0], change)


@kind
def growth_proof_taken(altered):
    altered.edit(
        altered.places("log")[0], lambda value: value.update(consistency=altered.draw.choice(([], None, [{}], 1)))
    )


@kind
def kept_head_forked(altered):
    """The checkpoint that was kept is of another history: what a rewritten log looks like."""
    log = json.loads(altered.lines[altered.places("log")[0]])
    size = altered.draw.choice([proof["first_tree_size"] for proof in log["consistency"]] or [1])
    origin = log["checkpoint"].split("\n")[0]
    root = base64.b64encode(hashlib.sha256(b"another history").digest()).decode()
    altered.checkpoint = altered.signed(f"{origin}\n{size}\n{root}\n")


@kind
def kept_head_is_no_checkpoint(altered):
    altered.checkpoint = altered.draw.choice(("", "x", "a\n1\nAAAA\n\n", f"{altered.checkpoint}".replace("\n", "\r\n")))


@kind
def another_key(altered):
    altered.key = str(altered.draw.choice((STRANGER.key, NoteKey(json_origin(altered), STRANGER.key.public_key))))


def json_origin(altered):
    return json.loads(altered.lines[altered.places("log")[0]])["checkpoint"].split("\n")[0]


@kind
def signed_by_a_stranger(altered):
    """A whole export of the forger's own, under a key that the auditor does not have."""

    def change(value):
        stranger = NoteSigner(json_origin(altered), bytes(32))
        for name in ("checkpoint", "manifest"):
            value[name] = altered.signed(value[name].rpartition("\n\n")[0] + "\n", stranger)

    altered.edit(altered.places("log")[0], change)


@kind
def spelled_otherwise(altered):
    place = altered.draw.randrange(len(altered.lines))
    line = altered.lines[place]
    value = json.loads(line)
    first = next(iter(value))
    altered.lines[place] = altered.draw.choice(
        (
            f"{line} ",
            f"{line}\r",
            f" {line}",
            "{ " + line[1:],
            json.dumps(value),
            json.dumps(dict(reversed(value.items())), ensure_ascii=False, separators=(",", ":")),
            json.dumps(value, sort_keys=True, separators=(",", ":")) + "\t",
            "{" + f'"{first}":{json.dumps(value[first])},' + line[1:],
            line.replace(":0,", ":0.0,").replace(":1,", ":1.0,") + ("" if ":1," in line or ":0," in line else " "),
            line.replace('"hmac"', '"\\u0068mac"') + ("" if '"hmac"' in line else " "),
            f"\ufeff{line}",
        )
    )


@kind
def hostile_line(altered):
    altered.lines[altered.draw.randrange(len(altered.lines))] = altered.draw.choice(
        (
            "[" * 100_000,
            '{"a":' * 50_000,
            '{"record":NaN}',
            '{"record":1e999}',
            '{"a":123456789012345678901234567890}',
            f'{{"a":{"9" * 5_000}}}',
            '{"a":"\\ud800"}',
            '{"a":-0}',
            '{"record":"leaf","path":{}}',
            '{"record":"log"}',
            '{"record":"analysis"}',
            '{"record":"fact","fact":[]}',
            '{"data":null}',
            "\x00",
            '{"a":"\x00"}',
        )
    )


@kind
def member_removed(altered):
    def change(value):
        value.pop(altered.draw.choice(list(value)))

    altered.edit(altered.draw.randrange(len(altered.lines)), change)


@kind
def member_added(altered):
    altered.edit(altered.draw.randrange(len(altered.lines)), lambda value: value.update(extra=1))


@kind
def analysis_edited(altered):
    edit_scalar(altered, altered.any("analysis"))


@kind
def analysis_edited_and_signed(altered):
    edit_scalar(altered, altered.any("analysis"))
    try:
        altered.mend(sign=True)
    except KeyError:
        return


@kind
def analysis_taken_and_signed(altered):
    places = altered.places("analysis")
    if places:
        del altered.lines[altered.draw.choice(places)]
        altered.mend(sign=True)
    else:
        tail_cut(altered)


@kind
def fact_edited(altered):
    edit_scalar(altered, altered.any("fact"))


@kind
def fact_edited_with_its_hash(altered):
    def change(value):
        if isinstance(value.get("fact"), dict):
            content = str(value["fact"].get("content")) + "."
            value["fact"] |= {"content": content, "content_hash": hashlib.sha256(content.encode()).hexdigest()}
        else:
            value["extra"] = 1

    altered.edit(altered.any("fact"), change)


@kind
def fact_taken(altered):
    places = altered.places("fact")
    del altered.lines[altered.draw.choice(places) if places else altered.any("leaf")]


@kind
def not_utf8(altered):
    raw = bytearray(altered.data())
    raw[altered.draw.randrange(len(raw))] = altered.draw.choice((0xFF, 0xC0, 0x80))
    altered.raw = bytes(raw)


@kind
def nothing_left(altered):
    altered.raw = altered.draw.choice((b"", b"\n", b"\n\n", b"\x00", b" ", b"{}\n"))
