"""``groundtrail checkpoint FILE``: what an auditor without the store needs is in two files beside one another."""

from contextlib import asynccontextmanager

import pytest
from crp.dag.v1 import transparency_service_pb2 as transparency
from structlog.testing import capture_logs

from services.cli.commands import offline
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import InvalidRequestError
from services.common.settings import Settings
from services.common.signed_note import Checkpoint, Note, NoteKey, NoteSigner
from tests.fakes.sealed_world import SealedWorld

STRANGER = NoteSigner("log.example/x", bytes(32)).key


class Log:
    """What the command takes for the suite."""

    def __init__(self, client):
        self.transparency = self
        self.GetTreeHead = "GetTreeHead"
        self.call = client.ask_log


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
    key = offline.read_key(str(tmp_path / "log.checkpoint.pub"), "--public-key")
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
