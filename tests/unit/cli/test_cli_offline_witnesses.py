"""``verify --offline --witness``: cosignatures that are asked for, missing, bad, or of another log (ADR 0100).

The exports are of a log that two witnesses cosigned: at once, after records of others came, after its own came.
"""

import asyncio
import json
from dataclasses import replace

import pytest
from crp.dag.v1 import transparency_service_pb2 as transparency
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.offline import BadLineError, Verdict, WitnessDemand, check_export
from services.cli.offline.lines import Line
from services.cli.offline.witnesses import cosigned_heads, weigh
from services.common.cosignature import Cosigner, good_cosignatures
from services.common.signed_note import Checkpoint, Note, NoteKey
from tests.fakes.sealed_world import SealedWorld


def put(value, path, new):
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new


W1, W2, W3 = (Cosigner(f"witness.example/w{n}", bytes([n]) * 32) for n in (1, 2, 3))
MOMENT = 1779613320


async def _witnessed():
    world = SealedWorld()
    async with world.serving() as client:
        first = await client.window()
        session_id = first.session.session_id
        head = (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head
        note = Note.parse(head.checkpoint)
        lines = [one.cosign(note.text, MOMENT) for one in (W1, W2)]
        await world.store.keep_cosigned("tenant-a", head.tree_size, str(note.with_signatures(lines)))
        same = await client.export(session_id)
        await client.window(text="another session's answer")
        later = await client.export(session_id)
        await client.window(first.session_token)
        newer = await client.export(session_id)
        told = await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())
    return {"same": same, "later": later, "newer": newer}, NoteKey(head.origin, head.public_key), told


WITNESSED, LOG_KEY, TOLD = asyncio.run(_witnessed())


def demand(witnesses, minimum=None):
    keys = tuple(one.key for one in witnesses)
    return WitnessDemand(keys, len(keys) if minimum is None else minimum)


def judged(kind, *witnesses, minimum=None):
    return check_export(WITNESSED[kind], LOG_KEY, None, demand(witnesses, minimum))


def forged(kind, change, *witnesses, minimum=None):
    """What is said of a log line with a change, whoever signed the change."""
    values = [json.loads(line) for line in WITNESSED[kind]]
    change(values[-1])
    lines = [Line(number, "", value) for number, value in enumerate(values, start=1)]
    leaves = [line for line in lines if line.value.get("record") == "leaf"]
    head = Checkpoint.parse(Note.parse(values[-1]["checkpoint"]).text)
    wanted = demand(witnesses, minimum)
    return weigh(cosigned_heads(lines[-1], head, LOG_KEY, wanted), leaves, wanted)


def with_note(note):
    return lambda value: put(value, ("cosigned", "checkpoint"), str(note))


@pytest.mark.parametrize("kind", ["same", "later"])
def test_cosignatures_that_are_asked_for_are_found(kind):
    found = judged(kind, W1, W2)
    assert (found.verdict, found.notes, found.witnessed_size) == (Verdict.VALID, (), 5)
    assert found.cosigned_by == tuple(f"witness.example/w{n} at 2026-05-24T09:02:00.000000Z" for n in (1, 2))
    assert judged(kind, W1, W2, W3, minimum=2).verdict is Verdict.VALID
    assert judged(kind).verdict is Verdict.VALID


@pytest.mark.parametrize("kind", ["same", "later", "newer"])
def test_too_few_cosignatures_are_incomplete(kind):
    found = judged(kind, W1, W2, W3)
    assert found.verdict is Verdict.INCOMPLETE
    assert found.notes == ("witnesses that are asked for: 3; that cosigned the log: 2",)
    assert judged(kind, W3).notes == ("witnesses that are asked for: 1; that cosigned the log: 0",)


def test_records_that_are_newer_than_the_cosigned_head_are_said():
    found = judged("newer", W1, W2)
    assert found.verdict is Verdict.INCOMPLETE
    assert found.notes == (
        "newer than the head that witnesses cosigned: 5 records; export again after their next round",
    )
    assert judged("newer", W1, W2, minimum=0).verdict is Verdict.VALID


@pytest.mark.parametrize(("indexes", "newer"), [((3, 4), ""), ((4, 5), "1 record"), ((5, 6, 7), "3 records")])
def test_a_record_is_newer_from_the_index_of_the_heads_size_on(indexes, newer):
    note = Note.parse(json.loads(WITNESSED["same"][-1])["cosigned"]["checkpoint"])
    assert Checkpoint.parse(note.text).size == 5
    leaves = [Line(1, "", {"leaf_index": index}) for index in indexes]
    notes = weigh([note], leaves, demand((W1,), None)).notes
    told = f"newer than the head that witnesses cosigned: {newer}; export again after their next round"
    assert notes == ((told,) if newer else ())


def test_old_verifiers_read_an_export_with_cosignatures():
    for lines in WITNESSED.values():
        assert check_export(lines, LOG_KEY, None).verdict is Verdict.VALID


@pytest.mark.parametrize("kind", sorted(WITNESSED))
def test_a_cosignature_that_is_not_the_witnesses_is_broken(kind):
    note = Note.parse(json.loads(WITNESSED[kind][-1])["cosigned"]["checkpoint"])
    (good,) = [line for line in note.signatures if line.name == W2.name]
    flipped = good.signature[:20] + bytes([good.signature[20] ^ 1]) + good.signature[21:]
    for bad in (replace(good, signature=flipped), replace(good, signature=good.signature[:9])):
        change = with_note(Note(note.text, tuple(bad if line == good else line for line in note.signatures)))
        with pytest.raises(BadLineError, match=r"has a cosignature that witness\.example/w2 did not make"):
            forged(kind, change, W1, W2)
        assert len(forged(kind, change, W1).names) == 1
    # Another key under the same name is not the witness: its line counts for nothing.
    stranger = Cosigner(W2.name, b"\x09" * 32)
    more = with_note(note.with_signatures([stranger.cosign(note.text, MOMENT)]))
    assert len(forged(kind, more, W1, W2).names) == 2
    assert forged(kind, with_note(note), stranger).notes


@pytest.mark.parametrize("kind", ["later", "newer"])
def test_a_cosigned_head_of_another_log_is_broken(kind):
    text = str(Checkpoint(LOG_KEY.name, 5, b"\1" * 32))
    unsigned = Note(text, (W1.cosign(text, MOMENT), W2.cosign(text, MOMENT)))
    with pytest.raises(BadLineError, match="holds a cosigned head that the given key did not sign"):
        forged(kind, with_note(unsigned), W1, W2)
    changes = {
        "does not go on": [
            lambda value: put(value, ("cosigned", "path"), value["cosigned"]["path"][:-1]),
            lambda value: put(value, ("cosigned", "path"), ["A" * 43 + "=" for _ in value["cosigned"]["path"]]),
        ],
        "cannot be read": [
            lambda value: put(value, ("cosigned", "path"), "x"),
            lambda value: put(value, ("cosigned",), {}),
            lambda value: put(value, ("cosigned",), "x"),
            lambda value: put(value, ("cosigned", "checkpoint"), 5),
        ],
    }
    for detail, several in changes.items():
        for change in several:
            for witnesses in ((W1, W2), ()):
                with pytest.raises(BadLineError, match=detail):
                    forged(kind, change, *witnesses)


def test_the_server_shows_the_cosigned_head_beside_the_latest():
    assert TOLD.cosigned_head.tree_size == 5
    assert TOLD.tree_head.tree_size > 5
    note = Note.parse(TOLD.cosigned_head.checkpoint)
    assert good_cosignatures(note, [W1.key, W2.key, W3.key]) == {W1.key: MOMENT, W2.key: MOMENT}
    assert note.holds(LOG_KEY, LOG_KEY.name)


def test_the_command_asks_for_witnesses(tmp_path):
    path, key = tmp_path / "later.ndjson", tmp_path / "w2.key"
    path.write_text("".join(f"{line}\n" for line in WITNESSED["later"]), encoding="utf-8")
    key.write_text(f"{W2.key}\n")

    def run(*arguments):
        given = ["verify", "--offline", str(path), "--public-key", str(LOG_KEY), *arguments, "--json"]
        done = CliRunner().invoke(app, given)
        return done.exit_code, json.loads(done.stdout)

    code, found = run("--witness", str(W1.key), "--witness", str(key))
    assert (code, found["verdict"], len(found["cosigned_by"])) == (0, "VALID", 2)
    assert run("--witness", str(W1.key), "--witness", str(W3.key))[0] == 1
    assert run("--witness", str(W1.key), "--witness", str(W3.key), "--min-cosignatures", "1")[0] == 0
    assert run("--witness", "x")[0] == 2
    assert run("--witness", str(W1.key), "--min-cosignatures", "2")[0] == 2
    assert CliRunner().invoke(app, ["verify", "crp_sess_x", "--witness", str(W1.key)]).exit_code == 2
