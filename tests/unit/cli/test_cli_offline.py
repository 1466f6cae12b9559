"""``groundtrail verify --offline``: every line of an export dropped, doubled, swapped or edited is found and named.

The exports are made by the composed dag service, once; the mutations are a generated list over every line and every
value in it, not a sample.
"""

import asyncio
import copy
import hashlib
import json

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dag.v1 import transparency_service_pb2 as transparency
from crp.dpe.v1 import inputs_pb2
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.offline import Verdict, check_export
from services.common.encoding import canonical_json
from services.common.signed_note import NoteKey, NoteSigner
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SealedWorld
from tests.tenth import tenth

STRANGER = NoteSigner("log.example/x", bytes(32)).key


async def _exports():
    world = SealedWorld()
    async with world.serving() as client:
        await client.window(text="another session's answer")
        first = await client.window()
        session_id = first.session.session_id
        kept = (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head
        opened = await client.open(first.session_token)
        await client.commit(opened, "Second.", risk="MEDIUM", analysis_inputs=inputs_pb2.AnalysisInputs())
        event = sessions.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=session_id,
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
            data='{"calls":2,"names":["a","b"]}',
        )
        await client.call("AppendEvent", event)
        sizes = (3, kept.tree_size)
        plain = await client.export(session_id, sizes=sizes)
        full = await client.export(session_id, with_content=True, sizes=sizes)
        unproven = await client.export(session_id)
        await client.erase(session_id)
        erased = await client.export(session_id, with_content=True, sizes=sizes)
        await client.window()
        newer = (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head
    # The inputs are empty, so nothing of them can be restored; what is chained is checked all the same.
    key = NoteKey(kept.origin, kept.public_key)
    return {"plain": plain, "full": full, "erased": erased}, key, kept.checkpoint, newer.checkpoint, unproven


EXPORTS, KEY, KEPT, NEWER, UNPROVEN = asyncio.run(_exports())
VERDICTS = {"plain": Verdict.VALID, "full": Verdict.INCOMPLETE, "erased": Verdict.TRUNCATED}
KINDS = sorted(EXPORTS)


def rewritten(line, change):
    """The line with a change, written canonically again, as a careful forger would."""
    value = json.loads(line)
    change(value)
    return canonical_json(value).decode()


def values(value, path=()):
    """Every scalar of a JSON value, and every empty container, by its path."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from values(inner, (*path, name))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from values(inner, (*path, index))
    else:
        yield path, value


def other(value):
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return "x"
    if isinstance(value, str):
        return f"{'1' if value[:1] != '1' else '2'}{value[1:]}"
    return value + 1 if isinstance(value, int | float) else [*value, 1] if isinstance(value, list) else {"x": 1}


def put(value, path, new):
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new


def named(kind, place):
    """What the first bad record may be called when this line is wrong."""
    record = json.loads(EXPORTS[kind][place])
    if "record" not in record:
        return {record["sequence"], record["window_id"]}
    if record["record"] == "leaf":
        sequences = [json.loads(line) for line in EXPORTS[kind] if '"record"' not in line]
        return {record["record_id"]} | {one["sequence"] for one in sequences if one["event_id"] == record["record_id"]}
    return {record.get("window_id", "")}


def broken(kind, lines, *, earlier=None):
    found = check_export(lines, KEY, earlier)
    assert found.verdict is Verdict.BROKEN, f"{kind}: not found"
    assert found.fault.detail
    return found.fault


@pytest.mark.parametrize("kind", KINDS)
def test_the_exports_hold(kind):
    found = check_export(EXPORTS[kind], KEY, KEPT)
    assert (found.verdict, found.fault) == (VERDICTS[kind], None)
    assert found.notes == (
        ("window  is not in the export: it was erased, or its line was taken out",) if kind == "full" else ()
    )
    assert (found.windows, found.analyses) == (2, 2 if kind == "full" else 0)
    assert found.events == (10 if kind == "erased" else 9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_dropped_line_is_found_and_named(kind):
    lines = EXPORTS[kind]
    for place in range(len(lines)):
        fault = broken(kind, lines[:place] + lines[place + 1 :])
        if place < len(lines) - 1:
            assert fault.record_id in named(kind, place), (place, fault)
        else:
            assert fault.record_kind == "log"


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncated_export_is_found(kind):
    for end in range(len(EXPORTS[kind]) - 1):
        assert broken(kind, EXPORTS[kind][:end]).record_kind == "log"
        assert broken(kind, [*EXPORTS[kind][:end], EXPORTS[kind][-1]])


@pytest.mark.parametrize("kind", KINDS)
def test_every_doubled_or_swapped_line_is_found(kind):
    lines = EXPORTS[kind]
    for place, line in enumerate(lines):
        broken(kind, [*lines[:place], line, *lines[place:]])
        for to in range(place + 1, len(lines)):
            swapped = list(lines)
            swapped[place], swapped[to] = swapped[to], swapped[place]
            fault = broken(kind, swapped)
            both = named(kind, place) | named(kind, to) | {str(number) for number in range(1, len(lines) + 1)}
            assert fault.record_id in both, (place, to, fault)


@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("kind", KINDS)
def test_every_edited_value_is_found_and_named(kind):
    lines = EXPORTS[kind]
    edits = [(place, *each) for place, line in enumerate(lines[:-1]) for each in values(json.loads(line))]
    for place, path, value in tenth(f"values of an export, {kind}", edits):
        line = lines[place]
        edited = rewritten(line, lambda read, path=path, value=value: put(read, path, other(value)))
        assert edited != line
        fault = broken(kind, [*lines[:place], edited, *lines[place + 1 :]])
        near = {str(place + 1), str(json.loads(line).get("sequence", ""))} | named(kind, place)
        changed = json.loads(edited)
        near |= {str(changed.get(name)) for name in ("sequence", "record_id", "window_id")}
        assert fault.record_id in near or fault.line == place + 1, (place, path, fault)


def test_a_careful_forger_who_mends_the_line_hash_is_caught_by_the_salted_leaf():
    """Every value of every event is edited and ``line_sha256`` of its leaf made to fit: what is left is the leaf."""
    lines = EXPORTS["plain"]
    events = [place for place, line in enumerate(lines) if '"record"' not in line]
    leaves = {json.loads(line).get("record_id"): place for place, line in enumerate(lines) if '"leaf"' in line}
    tried = 0
    for place in events:
        event = json.loads(lines[place])
        for path, value in values(event):
            if path[0] in ("event_id", "hmac", "sequence", "session_id", "data_sha256"):
                continue  # caught before any leaf is looked at
            forged = list(lines)
            forged[place] = rewritten(lines[place], lambda read, path=path, value=value: put(read, path, other(value)))
            digest = hashlib.sha256(forged[place].encode()).hexdigest()
            at = leaves[event["event_id"]]
            forged[at] = rewritten(lines[at], lambda read, digest=digest: read.update(line_sha256=digest))
            fault = broken("plain", forged)
            assert fault.record_kind in ("event", "window", "leaf"), fault
            assert fault.record_id in named("plain", place) | {str(json.loads(forged[place])["window_id"])}, fault
            tried += 1
    assert tried > 150


@pytest.mark.parametrize("kind", KINDS)
def test_every_edited_value_of_the_log_line_is_found(kind):
    lines = EXPORTS[kind]
    for path, value in values(json.loads(lines[-1])):
        edited = rewritten(lines[-1], lambda read, path=path, value=value: put(read, path, other(value)))
        assert broken(kind, [*lines[:-1], edited]).record_kind in ("log", "line"), path


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_that_is_taken_out_or_added_is_found(kind):
    lines = EXPORTS[kind]
    for place, line in enumerate(lines[:-1]):
        for name in json.loads(line):
            edited = rewritten(line, lambda read, name=name: read.pop(name))
            broken(kind, [*lines[:place], edited, *lines[place + 1 :]])
        broken(kind, [*lines[:place], rewritten(line, lambda read: read.update(extra=1)), *lines[place + 1 :]])


@pytest.mark.parametrize(
    "spelling",
    [
        lambda line: line + " ",
        lambda line: line + "\r",
        lambda line: "{ " + line[1:],
        lambda line: '{"session_id":"forged",' + line[1:],
        lambda _: "",
        lambda _: "[]",
        lambda _: "{}",
        lambda _: "null",
        lambda _: "[" * 100_000,
        lambda _: '{"record":"new"}',
        lambda _: '{"record":NaN}',
    ],
    ids=["space", "carriage return", "inner space", "twice", "empty", "list", "object", "null", "deep", "kind", "NaN"],
)
def test_a_line_that_is_spelled_otherwise_is_named(spelling):
    lines = EXPORTS["plain"]
    for place in (0, 4, len(lines) - 2):
        fault = broken("plain", [*lines[:place], spelling(lines[place]), *lines[place + 1 :]])
        assert fault.line in (place + 1, 0)


def test_an_erasure_cannot_be_pretended():
    """Content taken out of an export, salt and all, is not an erasure without the event that says so."""
    lines = list(EXPORTS["plain"])

    def hide(value):
        value["data_sha256"] = "0" * 64
        value["data"] = None

    lines[2] = rewritten(lines[2], hide)
    assert broken("plain", lines).record_id == "2"


def test_content_cannot_be_put_back_into_an_erased_export():
    lines = list(EXPORTS["erased"])
    lines[1] = EXPORTS["plain"][1]
    assert broken("erased", lines).record_id == "1"


def test_events_of_another_export_do_not_fit():
    mixed = [*EXPORTS["plain"][:-1], EXPORTS["full"][-1]]
    assert broken("plain", mixed).record_kind == "report"
    mixed = [*EXPORTS["full"][:-1], EXPORTS["plain"][-1]]
    assert broken("full", mixed)


@pytest.mark.parametrize("key", [STRANGER, NoteKey("", STRANGER.public_key), NoteKey("log.example/y", KEY.public_key)])
def test_another_key_signs_nothing_here(key):
    found = check_export(EXPORTS["plain"], key, None)
    assert (found.verdict, found.fault.record_kind) == (Verdict.BROKEN, "log")


def test_a_checkpoint_that_the_export_does_not_reach_is_not_checked():
    found = check_export(EXPORTS["plain"], KEY, NEWER)
    assert found.verdict is Verdict.INCOMPLETE
    assert "newer than the export" in found.notes[0]
    found = check_export(UNPROVEN, KEY, KEPT)
    assert found.verdict is Verdict.INCOMPLETE
    assert "--checkpoint" in found.notes[0]
    cut = [*EXPORTS["plain"][:-1], rewritten(EXPORTS["plain"][-1], lambda read: read.update(consistency=[]))]
    assert broken("plain", cut).detail == "is not as it was exported"


def test_a_forged_checkpoint_is_refused():
    for text in ("", "x", KEPT.replace("\n", "\r\n"), KEPT.replace(KEPT.split("\n")[1], "7", 1)):
        assert broken("plain", EXPORTS["plain"], earlier=text).record_kind == "checkpoint"


class TestCommand:
    @pytest.fixture
    def export(self, tmp_path):
        def write(lines, name="export.ndjson"):
            (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            return str(tmp_path / name)

        return write

    def call(self, *arguments):
        return CliRunner().invoke(app, ["verify", "--offline", *arguments])

    def test_exit_codes(self, export, tmp_path):
        good, checkpoint = export(EXPORTS["plain"]), tmp_path / "kept"
        checkpoint.write_text(KEPT, encoding="utf-8")
        arguments = ("--public-key", str(KEY), "--checkpoint", str(checkpoint))
        found = self.call(good, *arguments)
        assert (found.exit_code, found.output.split(":")[0]) == (0, "VALID")
        assert self.call(export(EXPORTS["erased"]), *arguments).exit_code == 0
        assert self.call(export(EXPORTS["full"]), *arguments).exit_code == 1
        bad = self.call(export(EXPORTS["plain"][1:]), *arguments)
        assert bad.exit_code == 3
        assert "first bad record: line 1: event 0" in " ".join(bad.output.split())

    def test_the_key_may_be_bare_or_in_a_file(self, export, tmp_path):
        good = export(EXPORTS["plain"])
        (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
        assert self.call(good, "--public-key", KEY.public_key.hex()).exit_code == 0
        assert self.call(good, "--public-key", str(tmp_path / "key")).exit_code == 0
        for wrong in ("", "nonsense", str(KEY)[:-4]):
            assert self.call(good, "--public-key", wrong).exit_code == 2

    def test_json_names_the_first_bad_record(self, export):
        found = self.call(export(EXPORTS["plain"][:3] + EXPORTS["plain"][4:]), "--public-key", str(KEY), "--json")
        document = json.loads(found.stdout)
        assert (found.exit_code, document["verdict"]) == (3, "BROKEN")
        assert (document["fault"]["line"], document["fault"]["record_kind"]) == (4, "event")
        assert document["fault"]["record_id"] == "3"

    @pytest.mark.parametrize("arguments", [(), ("--public-key", "x"), ("crp_sess_1", "--checkpoint", "nowhere")])
    def test_what_does_not_fit_together_is_a_usage_error(self, arguments):
        assert CliRunner().invoke(app, ["verify", *arguments]).exit_code == 2

    def test_a_file_that_is_no_text_is_a_usage_error(self, tmp_path):
        (tmp_path / "export").write_bytes(b"\xff\xfe")
        assert self.call(str(tmp_path / "export"), "--public-key", str(KEY)).exit_code == 2

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("no JSON\n", "is not an export"),
            ('{"a": 1}\n[]\n', "is not an export"),
            (EXPORTS["plain"][0][:100], "is not an export"),
            ('{"activity_id":1,"class_uid":6003,"unmapped":{"crp_hmac":"x"}}\n', "is an OCSF export"),
            (KEPT, "is not an export"),
        ],
        ids=["empty", "blank", "text", "json", "cut in its first line", "ocsf", "checkpoint"],
    )
    def test_a_file_that_never_was_an_export_gets_no_verdict(self, tmp_path, content, said):
        path = tmp_path / "given.ndjson"
        path.write_text(content, encoding="utf-8")
        found = self.call(str(path), "--public-key", str(KEY), "--json")
        error = json.loads(found.stdout)["error"]
        assert (found.exit_code, error["fields"][0]["field"]) == (2, "EXPORT")
        assert said in error["message"]

    @pytest.mark.parametrize("place", range(len(EXPORTS["plain"])))
    def test_one_line_of_an_export_is_enough_to_be_judged(self, export, place):
        line = EXPORTS["plain"][place]
        for lines in ([line], ["garbage", line], [line, "garbage"], [line[:-5], line]):
            found = self.call(export(lines), "--public-key", str(KEY), "--json")
            assert (found.exit_code, json.loads(found.stdout)["verdict"]) == (3, "BROKEN")
        value = json.loads(line)
        for name in value:  # whatever member of it was taken out
            if "record" not in value:
                rest = {key: each for key, each in value.items() if key != name}
                assert self.call(export([json.dumps(rest)]), "--public-key", str(KEY)).exit_code == 3

    def test_other_line_ends_are_a_change(self, tmp_path):
        path = tmp_path / "export.ndjson"
        path.write_bytes("".join(f"{line}\r\n" for line in EXPORTS["plain"]).encode())
        assert self.call(str(path), "--public-key", str(KEY)).exit_code == 3

    @pytest.mark.parametrize("content", ["", "x", EXPORTS["plain"][0], KEPT.replace("\n", "\r\n")])
    def test_a_checkpoint_that_is_none_is_wrong_input(self, export, tmp_path, content):
        (tmp_path / "kept").write_bytes(content.encode())
        arguments = ("--public-key", str(KEY), "--checkpoint", str(tmp_path / "kept"), "--json")
        found = self.call(export(EXPORTS["plain"]), *arguments)
        error = json.loads(found.stdout)["error"]
        assert (found.exit_code, error["fields"][0]["field"]) == (2, "--checkpoint")
        assert "kept is not a checkpoint" in error["message"]

    def test_a_checkpoint_that_was_changed_is_a_verdict(self, export, tmp_path):
        (tmp_path / "kept").write_text(KEPT.replace(KEPT.split("\n")[1], "7", 1), encoding="utf-8")
        arguments = ("--public-key", str(KEY), "--checkpoint", str(tmp_path / "kept"))
        assert self.call(export(EXPORTS["plain"]), *arguments).exit_code == 3

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            (EXPORTS["plain"][:-1], "first bad record: log: must stand"),
            ([*EXPORTS["plain"], "x", "y"], f"first bad record: line {len(EXPORTS['plain']) + 1}: is no JSON"),
            ([*EXPORTS["plain"][:-1], EXPORTS["plain"][-1][:50]], "the file ends with it: it may have been cut"),
        ],
        ids=["no log", "no JSON", "cut"],
    )
    def test_where_it_is_bad_is_said_once(self, export, lines, said):
        told = " ".join(self.call(export(lines), "--public-key", str(KEY)).output.split())
        assert said in told


def test_the_mutations_are_many():
    """The generated list is not empty by accident."""
    count = sum(len(list(values(json.loads(line)))) for kind in KINDS for line in EXPORTS[kind])
    assert count > 600
    assert copy.deepcopy(EXPORTS) == EXPORTS
