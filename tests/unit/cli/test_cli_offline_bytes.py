"""Every byte of an export is covered without a checkpoint; what the server knew to be broken is broken offline too.

Exports of two keys (a rotation under way), of a session that was closed as BROKEN, of one that goes on from another
instance's, and of the form from before ADR 0102.
"""

import asyncio
import json
import re
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dag.v1 import transparency_service_pb2 as transparency
from crp.dpe.v1 import provenance_service_pb2 as pb
from pydantic import SecretStr
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.export_file import fact_line
from services.cli.offline import Verdict, check_export
from services.common.encoding import canonical_json, sha256_hex
from services.common.settings.dag import DagSettings
from services.common.signed_note import Note, NoteKey, NoteSigner
from services.dag.sealed_store import logged_change
from services.gateway.clients.inputs import kept_inputs
from tests.fakes.dag_world import NOW, CountingIds, fresh_uuid
from tests.fakes.sealed_world import SECRET, SealedWorld
from tests.tenth import tenth
from tests.unit.dag import independent

OLDER = "ab" * 32
FACT = ckf_pb2.Fact(
    fact_id="f1",
    content="The fee is ten euros.",
    content_hash=sha256_hex("The fee is ten euros."),
    entities=[{"text": "ten euros", "span": {"start": 11, "end": 20}}],
    community_label="told to nobody",
)
ROTATING = DagSettings(
    master_key=SecretStr(SECRET),
    master_key_version=2,
    previous_master_keys={1: OLDER},
    master_key_rotated_at=NOW - timedelta(minutes=1),
    log_name="log.example",
)


def signer(secret, origin):
    return NoteSigner(origin, independent.hkdf(bytes.fromhex(secret), b"tenant-a", b"groundtrail-log-sign-v1"))


async def head_of(client):
    return (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head


async def _exports():
    found = {}
    world = SealedWorld(dag=ROTATING)
    async with world.serving() as client:
        first = await client.window()
        second = await client.window(first.session_token, risk="MEDIUM")
        session_id = second.session.session_id
        size = (await head_of(client)).tree_size
        found["two keys"] = await client.export(session_id, with_content=True, sizes=(1, size))
        opened = await client.open()
        analysed = pb.AnalyzeRequest(
            session_id=opened.session.session_id,
            window_id=opened.window.window_id,
            response_text="Ten euros.",
            prompt=f"Answer from:\n{FACT.content}",
            envelope={"facts": [{"fact_id": "f1", "content": FACT.content, "entities": FACT.entities}]},
        )
        await client.commit(opened, "Ten euros.", analysis_inputs=kept_inputs(analysed))
        found["facts"] = await client.export(opened.session.session_id, with_content=True)
        found["facts"].append(fact_line(FACT))
        other = SealedWorld(ids=CountingIds(prefix="y"), dag=ROTATING)
        async with other.serving() as elsewhere:
            third = await elsewhere.window(second.session_token)
            found["adopted"] = await elsewhere.export(session_id)
        await client.window(third.session_token)
        found["relayed"] = await client.export(session_id)
        # The server finds the next session broken and closes it.
        token = (await client.window()).session_token
        opened = await client.open(token)
        closed = opened.session.session_id
        windows = world.store._sessions["tenant-a", closed].windows
        broken_id = min(windows.values(), key=lambda window: window.window_number).window_id
        sound = windows[broken_id]
        windows[broken_id] = replace(sound, risk_level="HIGH")
        found["unclosed"] = await client.export(closed)
        request = sessions.TerminateSessionRequest(request_id=fresh_uuid(), session_id=closed, reason="over")
        assert (await client.fails("TerminateSession", request)).reason == "CHAIN_BROKEN"
        windows[broken_id] = sound
        found["closed"] = await client.export(closed)
        await client.erase(closed)
        found["erased"] = await client.export(closed)
        head = await head_of(client)
    return found, NoteKey(head.origin, head.public_key), broken_id


EXPORTS, KEY, BROKEN_ID = asyncio.run(_exports())
OLD_KEY = signer(OLDER, KEY.name).key


def first_form(lines, secret=SECRET):
    """The export as it was written before ADR 0102, signed with the log's key."""
    line = json.loads(lines[-1])
    names = ("session", "events", "analyses", "leaves", "sha256")
    text = Note.parse(line["manifest"]).text
    kept = [each for each in text.split("\n")[4:-1] if each.split(" ")[0] in names]
    note = "\n".join(["groundtrail export v1", *text.split("\n")[1:4], *kept, ""])
    line["manifest"] = str(Note(note, (signer(secret, KEY.name).sign(note),)))
    return [*lines[:-1], canonical_json(line).decode()]


@pytest.mark.parametrize("key", [KEY, OLD_KEY, NoteKey("", KEY.public_key)], ids=["current", "older", "bare"])
def test_an_export_of_two_keys_holds_for_each(key):
    assert check_export(EXPORTS["two keys"], key, None).verdict is Verdict.VALID


@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("key", [KEY, OLD_KEY], ids=["current", "older"])
def test_a_changed_byte_anywhere_is_found(key):
    """Each byte that belongs to the tenth; no checkpoint is given."""
    whole = "".join(f"{line}\n" for line in EXPORTS["two keys"]).encode()
    log_from = len(whole) - len(EXPORTS["two keys"][-1].encode()) - 1
    steps = 1 if key is KEY else 7
    places = tenth("bytes of an export", range(0, len(whole), steps), share=40)
    assert {place < log_from for place in places} == {True, False}
    assert len(places) > 20
    for place in places:
        for flipped in (whole[place] ^ 1, whole[place] ^ 0x20):
            try:
                text = (whole[:place] + bytes([flipped]) + whole[place + 1 :]).decode()
            except UnicodeDecodeError:
                continue  # the command refuses a file that is no UTF-8: the test below
            lines = text.split("\n")
            found = check_export(lines[:-1] if lines[-1] == "" else lines, key, None)
            assert found.verdict is Verdict.BROKEN, (place, whole[max(0, place - 30) : place + 30])


@pytest.mark.tenth
def test_a_changed_byte_of_a_fact_is_found():
    """The command adds facts behind the signed line: of them it keeps what the analyses' digests cover."""
    lines = EXPORTS["facts"]
    assert check_export(lines, KEY, None).verdict is Verdict.VALID
    assert "told to nobody" not in lines[-1]
    whole = lines[-1].encode()
    for place in tenth("bytes of a fact", range(len(whole))):
        for flipped in (whole[place] ^ 1, whole[place] ^ 0x20):
            line = (whole[:place] + bytes([flipped]) + whole[place + 1 :]).decode(errors="replace")
            found = check_export([*lines[:-1], *line.split("\n")], KEY, None)
            assert found.verdict is Verdict.BROKEN, (place, line)
    for more in (lines[-1], fact_line(ckf_pb2.Fact(fact_id="f2", content_hash=sha256_hex("")))):
        assert check_export([*lines, more], KEY, None).fault.record_kind == "fact"


@pytest.mark.parametrize("place", [0, 100, -2])
def test_a_byte_that_makes_the_file_no_text_is_refused(tmp_path, place):
    path = tmp_path / "export.ndjson"
    whole = bytearray("".join(f"{line}\n" for line in EXPORTS["two keys"]).encode())
    whole[place] = 0xFF
    path.write_bytes(whole)
    assert CliRunner().invoke(app, ["verify", "--offline", str(path), "--public-key", str(KEY)]).exit_code == 2


def test_signatures_that_the_note_does_not_name_are_refused():
    line = json.loads(EXPORTS["two keys"][-1])
    note = Note.parse(line["manifest"])
    stranger = NoteSigner(KEY.name, bytes(32)).sign(note.text)
    for signatures in (note.signatures[:1], note.signatures[::-1], (*note.signatures, stranger)):
        changed = canonical_json({**line, "manifest": str(replace(note, signatures=signatures))}).decode()
        found = check_export([*EXPORTS["two keys"][:-1], changed], KEY, None)
        assert (found.verdict, found.fault.record_kind) == (Verdict.BROKEN, "log")


def test_an_export_of_an_earlier_version_stays_verifiable():
    found = check_export(first_form(EXPORTS["two keys"]), KEY, None)
    assert (found.verdict, found.windows, found.analyses) == (Verdict.VALID, 2, 2)


def note_text(lines):
    return Note.parse(json.loads(lines[-1])["manifest"]).text


def signed_anew(lines, text):
    """The export with another text in its note, signed as the log does."""
    line = json.loads(lines[-1])
    keys = (SECRET, OLDER) if "export v2" in text else (SECRET,)
    line["manifest"] = str(Note(text, tuple(signer(secret, KEY.name).sign(text) for secret in keys)))
    return [*lines[:-1], canonical_json(line).decode()]


def leaf_places(lines):
    return [place for place, line in enumerate(lines) if json.loads(line).get("record") == "leaf"]


def counted_anew(lines):
    """The export as a log signs it that holds these lines and no others."""
    digest = sha256_hex("".join(f"{line}\n" for line in lines[:-1]))
    text = re.sub("(?m)^sha256 .*$", f"sha256 {digest}", note_text(lines))
    return signed_anew(lines, re.sub("(?m)^leaves .*$", f"leaves {len(leaf_places(lines))}", text))


def later_form(lines, *members):
    """The export as a later version may write it: with further members in the note, signed with both keys."""
    return signed_anew(lines, note_text(lines) + "".join(f"{member}\n" for member in members))


@pytest.mark.parametrize("form", ["first", "second"])
def test_a_member_that_a_later_version_adds_leaves_the_export_incomplete(form):
    """Wire formats, 9.5."""
    lines = EXPORTS["two keys"] if form == "second" else first_form(EXPORTS["two keys"])
    assert check_export(later_form(lines), KEY, None).verdict is Verdict.VALID
    found = check_export(later_form(lines, "later of its own", "further x"), KEY, None)
    assert found.verdict is Verdict.INCOMPLETE
    assert found.notes == tuple(
        f"the signed note has a member that this version does not know: {name}" for name in ("later", "further")
    )


@pytest.mark.parametrize(
    ("form", "members"),
    [
        pytest.param("second", ("later x", "later y"), id="a later one twice"),
        pytest.param("second", ("sha256 " + "0" * 64,), id="a known one twice"),
        pytest.param("second", ("fault window w",), id="a fault of one that is not broken"),
        pytest.param("second", ("later",), id="one without a value"),
        pytest.param("first", ("integrity VALID",), id="one of the second form in the first"),
    ],
)
def test_a_note_of_no_form_is_none(form, members):
    lines = EXPORTS["two keys"] if form == "second" else first_form(EXPORTS["two keys"])
    found = check_export(later_form(lines, *members), KEY, None)
    assert (found.verdict, found.fault.record_kind) == (Verdict.BROKEN, "log")


def test_no_record_that_is_promised_a_leaf_is_older_than_the_log():
    """A signed count of leaves that is too small excuses none of them (ADR 0099)."""
    lines = list(EXPORTS["two keys"])
    del lines[leaf_places(lines)[0]]
    found = check_export(counted_anew(lines), KEY, None)
    assert (found.verdict, found.fault.record_kind, found.fault.record_id) == (Verdict.BROKEN, "event", "0")
    assert found.fault.detail == "has no leaf here: its line is missing or out of order"


def test_leaves_stand_in_the_log_in_the_order_of_their_records():
    """A log whose first two leaves of a session changed places, and an export that shows them in the right order."""

    def turned(change):
        logged = logged_change(change)
        return replace(logged, leaves=logged.leaves[::-1])

    async def exported():
        async with SealedWorld(dag=ROTATING).serving() as client:
            with patch("services.dag.sealed_store.logged_change", turned):
                opened = await client.open()
            return await client.export(opened.session.session_id)

    lines = asyncio.run(exported())
    assert check_export(lines, KEY, None).fault.detail == "has no leaf here: its line is missing or out of order"
    one, other = leaf_places(lines)
    lines[one], lines[other] = lines[other], lines[one]
    found = check_export(counted_anew(lines), KEY, None)
    assert (found.verdict, found.fault.record_id) == (Verdict.BROKEN, "1")
    assert found.fault.detail == "has a leaf out of order"


def test_the_first_form_needs_the_key_too():
    assert check_export(first_form(EXPORTS["two keys"], "cd" * 32), KEY, None).verdict is Verdict.BROKEN


@pytest.mark.parametrize("kind", ["unclosed", "closed", "erased"])
def test_what_the_server_knows_to_be_broken_is_broken_offline(kind):
    found = check_export(EXPORTS[kind], KEY, None)
    assert found.verdict is Verdict.BROKEN
    assert (found.fault.record_kind, found.fault.record_id) == ("window", BROKEN_ID)


def test_an_id_that_would_be_a_line_of_the_note_is_told_in_one():
    """Whoever may change records may not write into what the log's key signs."""

    async def exported():
        world = SealedWorld(dag=ROTATING)
        async with world.serving() as client:
            session_id = (await client.window()).session.session_id
            held = world.store._sessions["tenant-a", session_id]
            ((name, window),) = held.windows.items()
            forged = f"{name}\nsha256 {'0' * 64}\n\n\u2014 x"
            held.windows[name] = replace(window, window_id=forged)
            return await client.export(session_id)

    found = check_export(asyncio.run(exported()), KEY, None)
    assert found.verdict is Verdict.BROKEN
    assert found.fault.record_kind != "log"


@pytest.mark.parametrize("kind", ["closed", "erased"])
def test_an_earlier_version_s_export_of_a_broken_session_is_broken_by_its_incident(kind):
    found = check_export(first_form(EXPORTS[kind]), KEY, None)
    assert (found.verdict, found.fault.record_id) == (Verdict.BROKEN, BROKEN_ID)


def test_a_caller_s_own_words_make_no_session_broken():
    async def terminated():
        async with SealedWorld(dag=ROTATING).serving() as client:
            first = await client.window()
            ids = {"request_id": fresh_uuid(), "session_id": first.session.session_id}
            await client.call("TerminateSession", sessions.TerminateSessionRequest(reason="CHAIN_BROKEN", **ids))
            return await client.export(first.session.session_id)

    assert check_export(asyncio.run(terminated()), KEY, None).verdict is Verdict.VALID


@pytest.mark.parametrize("kind", ["adopted", "relayed"])
@pytest.mark.parametrize("form", [lambda lines: lines, first_form], ids=["second", "first"])
def test_a_chain_of_several_stores_is_partial_offline_too(kind, form, tmp_path):
    found = check_export(form(EXPORTS[kind]), KEY, None)
    assert found.verdict is Verdict.INCOMPLETE
    assert found.notes == ("windows of another instance, which alone can verify them: 1",)
    path = tmp_path / "export.ndjson"
    path.write_text("".join(f"{line}\n" for line in form(EXPORTS[kind])), encoding="utf-8")
    assert CliRunner().invoke(app, ["verify", "--offline", str(path), "--public-key", str(KEY)]).exit_code == 1
