"""``groundtrail checkpoint FILE``: what an auditor without the store needs is in two files beside one another."""

from contextlib import asynccontextmanager

import pytest
from crp.dag.v1 import transparency_service_pb2 as transparency
from structlog.testing import capture_logs

from services.cli.commands import offline
from services.cli.console import Output
from services.cli.exits import Exit, exit_of
from services.cli.kept_heads import read_key
from services.common.errors import ChainBrokenError, ErrorReason, InvalidRequestError
from services.common.settings import Settings
from services.common.signed_note import Checkpoint, Note, NoteKey, NoteSigner
from tests.fakes.sealed_world import SealedWorld

STRANGER = NoteSigner("log.example/x", bytes(32)).key


class Log:
    """What the command takes for the suite."""

    def __init__(self, client):
        self.transparency = self
        self.GetTreeHead = "GetTreeHead"
        self.GetConsistencyProof = "GetConsistencyProof"
        self.client = client

    async def call(self, rpc, request):
        return await self.client.ask_log(rpc, request)


@pytest.fixture
async def client(monkeypatch):
    with capture_logs():
        async with SealedWorld().serving() as client:

            @asynccontextmanager
            async def connect(_settings, *_parts):
                yield Log(client)

            monkeypatch.setattr(offline, "connect", connect)
            await client.window()
            yield client


async def keep(target):
    return await offline.checkpoint(Settings(), Output(as_json=False), target)


async def test_the_key_is_kept_beside_the_head_and_verifies_an_export(client, tmp_path):
    target = tmp_path / "log.checkpoint"
    assert await keep(target) is Exit.OK
    told = (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head
    key = read_key(str(tmp_path / "log.checkpoint.pub"), "--public-key")
    assert key == NoteKey(told.origin, told.public_key)
    window = await client.window()
    size = Checkpoint.parse(Note.parse(target.read_text()).text).size
    lines = await client.export(window.session.session_id, sizes=(size,))
    (tmp_path / "export").write_text("\n".join(lines) + "\n", encoding="utf-8")
    trusted = offline.Trusted(str(tmp_path / "log.checkpoint.pub"))
    checked = await offline.verify_offline(
        Settings(), Output(as_json=True), tmp_path / "export", trusted, tmp_path / "log.checkpoint"
    )
    assert checked is Exit.OK


async def test_a_later_head_takes_the_place_and_the_key_stays(client, tmp_path):
    target = tmp_path / "log.checkpoint"
    await keep(target)
    first, key = target.read_bytes(), (tmp_path / "log.checkpoint.pub").read_bytes()
    await client.window()
    await keep(target)
    assert target.read_bytes() != first
    assert (tmp_path / "log.checkpoint.pub").read_bytes() == key


async def test_another_key_than_the_one_that_was_kept_is_refused_and_nothing_is_written(client, tmp_path):
    target = tmp_path / "log.checkpoint"
    target.write_text("the head of before", encoding="utf-8")
    (tmp_path / "log.checkpoint.pub").write_text(f"{STRANGER}\n", encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="holds another key than the log has now"):
        await keep(target)
    assert target.read_text(encoding="utf-8") == "the head of before"
    assert (tmp_path / "log.checkpoint.pub").read_text(encoding="utf-8") == f"{STRANGER}\n"


async def test_the_key_lies_beside_the_file_that_a_link_leads_to(client, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "head")
    await keep(tmp_path / "link")
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["head", "head.pub"]


def size_of(path):
    return Checkpoint.parse(Note.parse(path.read_text(encoding="utf-8")).text).size


async def refused_as_evidence(target):
    before = target.read_bytes()
    with pytest.raises(ChainBrokenError, match="seems rolled back or rewritten") as caught:
        await keep(target)
    assert (caught.value.reason, exit_of(caught.value)) == (ErrorReason.LOG_INCONSISTENT, Exit.VERDICT)
    assert target.read_bytes() == before
    return caught.value.message


async def test_a_newer_head_of_the_same_log_is_evidence_and_stays(client, tmp_path, monkeypatch):
    target = tmp_path / "log.checkpoint"
    await keep(target)
    earlier = size_of(target)
    await client.window()
    await keep(target)

    async def set_back(_log, rpc, _request):
        return await client.ask_log(rpc, transparency.GetTreeHeadRequest(tree_size=earlier))

    monkeypatch.setattr(Log, "call", set_back)
    told = await refused_as_evidence(target)
    assert f"holds its head of size {size_of(target)}, and the log has size {earlier} now" in told


@pytest.mark.parametrize("windows", [1, 2], ids=["of the same size", "longer"])
async def test_a_log_that_was_written_anew_is_told_from_one_that_grew(client, tmp_path, monkeypatch, windows):
    target = tmp_path / "log.checkpoint"
    await keep(target)
    async with SealedWorld().serving() as other:
        for _ in range(windows):
            await other.window(text="another history")

        @asynccontextmanager
        async def connect(_settings, *_parts):
            yield Log(other)

        monkeypatch.setattr(offline, "connect", connect)
        assert "does not go on from it" in await refused_as_evidence(target)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("garbage\n", "is not a checkpoint"),
        ("log.example/x\n1\nAAAA\n", "is not a checkpoint"),
        (None, "is a checkpoint of another log, log.example/x"),
    ],
    ids=["garbage", "unsigned", "another log"],
)
async def test_a_file_of_something_else_is_not_replaced(client, tmp_path, content, said):
    target = tmp_path / "notes.txt"
    if content is None:
        text = str(Checkpoint("log.example/x", 0, bytes(32)))
        content = str(Note(text, (NoteSigner("log.example/x", bytes(32)).sign(text),)))
    target.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidRequestError, match=said):
        await keep(target)
    assert target.read_text(encoding="utf-8") == content
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


async def test_a_head_of_the_log_that_nobody_signed_is_not_replaced(client, tmp_path):
    target = tmp_path / "log.checkpoint"
    await keep(target)
    forged = target.read_text(encoding="utf-8").replace("\n5\n", "\n6\n", 1)
    target.write_text(forged, encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="is not signed by the key that the log has now"):
        await keep(target)
    assert target.read_text(encoding="utf-8") == forged


async def test_an_empty_file_is_none(client, tmp_path):
    (tmp_path / "log.checkpoint").touch()
    assert await keep(tmp_path / "log.checkpoint") is Exit.OK


@pytest.mark.parametrize("name", ["folder", "nowhere/head"])
async def test_where_no_file_can_be_written_is_wrong_input(client, tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidRequestError, match=r"FILE: .*(is a folder|there is no folder)"):
        await keep(tmp_path / name)
