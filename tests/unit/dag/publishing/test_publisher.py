"""Heads on their way out: to a file, an endpoint, witnesses; what fails comes again, what does not grow is told."""

import json
from datetime import timedelta

import pytest
from pydantic import ValidationError

from services.common.adapters.http import open_event_endpoint
from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.clock import SystemClock
from services.common.cosignature import Cosigner, good_cosignatures
from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.settings.checkpoints import CheckpointSettings, WitnessSettings
from services.common.settings.event_sink import EventSinkSettings
from services.common.signed_note import Checkpoint, Note, NoteSigner
from services.dag.domain.leaves import with_hash
from services.dag.publishing import EndpointTarget, FileTarget, Result
from tests.contract.records import digest, event, session
from tests.fakes.event_receiver import KEY, Receiver
from tests.fakes.sealed_world import SealedWorld
from tests.fakes.witnesses import LOOPBACK, TENANT, Publishing, asking, running_witness


def changed(session_id, count, version=1, tenant=TENANT):
    """A change that appends as many events, with leaves."""
    first = count * (version - 1)
    events = tuple(event(session_id, first + number) for number in range(count))
    leaves = tuple(
        with_hash(LogLeaf(session_id, LeafKind.EVENT, one.event_id, one.sequence, digest(one.event_id), b""))
        for one in events
    )
    return SessionChange(session(session_id, version, tenant_id=tenant), events=events, leaves=leaves)


@pytest.fixture
async def publishing():
    made = Publishing(SealedWorld(MemorySessionStore()))
    yield made
    await made.close()


async def grown(publishing, session_id, count=3, version=1, tenant=TENANT):
    await publishing.world.store.write(changed(session_id, count, version, tenant))


async def test_every_head_of_a_log_that_grew_is_appended_to_the_file(publishing, tmp_path):
    path = tmp_path / "heads.ndjson"
    publisher = publishing.publisher([FileTarget(path)])
    assert await publisher.round() == ""
    assert not path.exists()
    await grown(publishing, "s1")
    await grown(publishing, "s2", tenant="tenant-b")
    assert await publisher.round() == ""
    await grown(publishing, "s3")
    assert await publisher.round() == ""
    assert await publisher.round() == ""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["tree_size"] for line in lines] == [3, 3, 6]
    for line in lines:
        note = Note.parse(line["checkpoint"])
        assert (Checkpoint.parse(note.text).size, line["origin"]) == (line["tree_size"], note.text.split("\n")[0])
    assert Note.parse(lines[2]["checkpoint"]).holds(await publishing.log_key(), lines[2]["origin"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert publisher.metrics.heads == {("file", Result.DELIVERED): 3}
    assert publisher.metrics.behind == 0


async def test_a_line_that_a_crash_cut_off_costs_that_line_alone(publishing, tmp_path):
    path = tmp_path / "heads.ndjson"
    path.write_text('{"origin":"x')
    await grown(publishing, "s1")
    assert await publishing.publisher([FileTarget(path)]).round() == ""
    first, second, end = path.read_text().split("\n")
    assert (first, json.loads(second)["tree_size"], end) == ('{"origin":"x', 3, "")


async def test_a_head_is_posted_signed_and_again_until_it_is_taken(publishing, tmp_path):
    key = tmp_path / "sink.key"
    key.write_text(KEY)
    key.chmod(0o600)
    receiver = await Receiver().listen()
    answers = [(503, {}), (200, {}), (200, {})]

    async def answer(_request):
        return answers.pop(0)

    receiver.answer = answer
    sink = EventSinkSettings(url=receiver.url, signing_key_file=key, **LOOPBACK)
    endpoint = await open_event_endpoint(sink, SystemClock())
    path = tmp_path / "heads.ndjson"
    publisher = publishing.publisher([FileTarget(path), EndpointTarget(endpoint)])
    await grown(publishing, "s1")
    assert "throttled" in await publisher.round()
    assert await publisher.round() == ""
    await grown(publishing, "s2")
    assert await publisher.round() == ""
    sizes = [Checkpoint.parse(Note.parse(one.body.decode()).text).size for one in receiver.accepted]
    assert sizes == [3, 6]
    assert receiver.accepted[0].headers["content-type"] == "text/plain; charset=utf-8"
    assert receiver.accepted[0].signed_with(KEY)
    assert len(path.read_text().splitlines()) == 2  # not once more for the endpoint's sake
    assert publisher.metrics.heads["endpoint", Result.FAILED] == 1
    await endpoint.close()
    await receiver.close()


async def test_a_witness_cosigns_and_the_head_is_kept_with_its_line(publishing, tmp_path):
    async with running_witness(tmp_path / "w", [await publishing.log_key()]) as witness:
        publisher = publishing.publisher(settings=asking(witness))
        for number, size in enumerate((3, 6, 9)):
            await grown(publishing, f"s{number}")
            assert await publisher.round() == ""
            kept = await publishing.cosigned.latest(TENANT)
            assert kept.checkpoint.size == size
            assert set(good_cosignatures(kept.note, [witness.cosigner.key])) == {witness.cosigner.key}
        # A publisher that knows nothing asks the witness what it has seen, and goes on.
        await grown(publishing, "s9")
        assert await publishing.publisher(settings=asking(witness)).round() == ""
        assert (await publishing.cosigned.latest(TENANT)).checkpoint.size == 12
        assert publisher.metrics.cosignatures == {"witness.example/w1": 3}
        # The head of the moment has the line exactly as long as it is the cosigned one.
        now, kept = await publishing.cosigned.with_cosignatures(TENANT, await publishing.app.head(TENANT))
        assert now == kept
        await grown(publishing, "s10")
        now, kept = await publishing.cosigned.with_cosignatures(TENANT, await publishing.app.head(TENANT))
        assert (now.checkpoint.size, kept.checkpoint.size, len(now.note.signatures)) == (15, 12, 1)


async def test_fewer_cosignatures_than_are_asked_for_are_not_kept(publishing, tmp_path):
    key = await publishing.log_key()
    async with running_witness(tmp_path / "w1", [key]) as one:
        async with running_witness(tmp_path / "w2", [key], "witness.example/w2", b"\6" * 32) as two:
            publisher = publishing.publisher(settings=asking(one, two, min_cosignatures=2))
            await grown(publishing, "s1")
            assert await publisher.round() == ""
            kept = await publishing.cosigned.latest(TENANT)
            assert len(good_cosignatures(kept.note, [one.cosigner.key, two.cosigner.key])) == 2
        await grown(publishing, "s2")
        assert "w2: unreachable" in await publisher.round()
        assert (await publishing.cosigned.latest(TENANT)).checkpoint.size == 3
        assert "w2: unreachable" in await publisher.round()  # and again, until both have one


@pytest.mark.parametrize("size", [2, 3, 4, 9])
async def test_a_log_that_was_set_back_and_written_anew_is_a_conflict(publishing, tmp_path, size):
    async with running_witness(tmp_path / "w", [await publishing.log_key()]) as witness:
        await grown(publishing, "s1")
        assert await publishing.publisher(settings=asking(witness)).round() == ""
        rewritten = Publishing(SealedWorld(MemorySessionStore()))
        await grown(rewritten, "s2", size)
        publisher = rewritten.publisher(settings=asking(witness))
        assert "the log was cut, rewritten or forked" in await publisher.round()
        assert publisher.metrics.heads["witness.example/w1", Result.CONFLICT] == 1
        assert publisher.metrics.conflicts == {TENANT}
        assert await rewritten.cosigned.latest(TENANT) is None
        text = "\n".join(str(sample) for metric in publisher.metrics.collect() for sample in metric.samples)
        assert "groundtrail_checkpoints_conflicts" in text
        await rewritten.close()


async def test_a_cosigned_head_that_the_log_does_not_hold_is_not_shown(publishing):
    signer = Cosigner("witness.example/w1", b"\7" * 32)
    await grown(publishing, "s1")
    for size, root in ((3, b"\1" * 32), (7, b"\1" * 32)):
        text = str(Checkpoint(publishing.signers.origin(TENANT), size, root))
        note = (await publishing.signers.sign(TENANT, text)).with_signatures([signer.cosign(text, 5)])
        await publishing.world.store.keep_cosigned(TENANT, size, str(note))
        assert await publishing.cosigned.latest(TENANT) is None
    await publishing.world.store.keep_cosigned(TENANT, 7, "no note")
    assert await publishing.cosigned.latest(TENANT) is None


async def test_a_witness_that_does_not_know_the_log_is_a_failure_and_not_a_conflict(publishing, tmp_path):
    stranger = NoteSigner("log.example/stranger", bytes(32)).key
    async with running_witness(tmp_path / "w", [stranger]) as witness:
        publisher = publishing.publisher(settings=asking(witness))
        await grown(publishing, "s1")
        assert "HTTP 404: the log is not known here" in await publisher.round()
        assert publisher.metrics.conflicts == set()


async def test_a_witness_at_an_address_that_is_not_allowed_gets_nothing(publishing, tmp_path):
    async with running_witness(tmp_path / "w", [await publishing.log_key()]) as witness:
        url = witness.url.replace("http:", "https:")
        setting = WitnessSettings(key=str(witness.cosigner.key), url=url)
        settings = CheckpointSettings(witnesses=(setting,), allowed_hosts=("127.0.0.1",))
        await grown(publishing, "s1")
        assert (
            "forbidden: 127.0.0.1: 127.0.0.1 is a private address"
            in await publishing.publisher(settings=settings).round()
        )


async def test_one_of_two_processes_publishes_and_the_other_takes_over(publishing, tmp_path):
    first = publishing.publisher([FileTarget(tmp_path / "1")], holder="one")
    second = publishing.publisher([FileTarget(tmp_path / "2")], holder="two")
    await grown(publishing, "s1")
    assert (await first.round(), await second.round()) == ("", "")
    assert (first.metrics.sending, second.metrics.sending) == (True, False)
    assert not (tmp_path / "2").exists()
    publishing.world.clock.moment += timedelta(minutes=5)
    await grown(publishing, "s2")
    assert await second.round() == ""
    assert json.loads((tmp_path / "2").read_text())["tree_size"] == 6


async def test_one_tenants_trouble_is_its_own(publishing, tmp_path):
    await grown(publishing, "s1", tenant="tenant-a")
    await grown(publishing, "s2", tenant="tenant-b")
    origin = publishing.signers.origin("tenant-a")
    publishing.signers.sign, whole = failing(publishing.signers.sign, origin), publishing.signers.sign
    publisher = publishing.publisher([FileTarget(tmp_path / "heads")])
    assert "no proof can be made" in await publisher.round()
    assert [json.loads(line)["tree_size"] for line in (tmp_path / "heads").read_text().splitlines()] == [3]
    publishing.signers.sign = whole
    assert await publisher.round() == ""


def failing(sign, origin):
    async def fails(tenant_id, text):
        if text.startswith(origin):
            raise ValueError("out of order")
        return await sign(tenant_id, text)

    return fails


KEY_OF_W = str(Cosigner("witness.example/w1", b"\7" * 32).key)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"witnesses": [{"key": "x", "url": "https://w.example/"}]}, "NAME\\+ID\\+BASE64"),
        ({"witnesses": [{"key": KEY_OF_W, "url": "https://w.example/"}]}, "allowed_hosts must hold its host"),
        (
            {"witnesses": [{"key": KEY_OF_W, "url": "http://w.example/"}], "allowed_hosts": ["w.example"]},
            "must be https",
        ),
        (
            {"witnesses": [{"key": KEY_OF_W, "url": "https://w.example/"}] * 2, "allowed_hosts": ["w.example"]},
            "same name or key",
        ),
        (
            {
                "witnesses": [{"key": KEY_OF_W, "url": "https://w.example/"}],
                "allowed_hosts": ["w.example"],
                "min_cosignatures": 2,
            },
            "more than there are witnesses",
        ),
        ({"url": "https://w.example/", "allowed_hosts": ["w.example"]}, "signing_key_file"),
        ({"url": "https://u:p@w.example/", "allowed_hosts": ["w.example"]}, "no user"),
    ],
)
def test_impossible_settings_stop_the_start(values, problem):
    with pytest.raises(ValidationError, match=problem):
        CheckpointSettings(**values)
