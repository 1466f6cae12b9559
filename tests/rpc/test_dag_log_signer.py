"""The service whose log is signed by another process: everything as before, and a rewritten log is not signed."""

import asyncio

import grpc
import pytest
from crp.dag.v1 import transparency_service_pb2 as pb

from services.cli.offline import Verdict, check_export
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.errors import StartupError
from services.common.settings.log_signer import LogSignerSettings
from services.common.signed_note import Note, NoteKey
from tests.contract.adapters import PLAIN
from tests.fakes.log_signers import running_signer
from tests.fakes.sealed_world import SealedWorld


@pytest.fixture
async def signer(tmp_path):
    async with running_signer(tmp_path / "signer") as settings:
        yield settings


async def head_of(client, **fields):
    return (await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest(**fields))).tree_head


async def test_heads_proofs_and_exports_are_signed_by_the_process(signer):
    async with SealedWorld(sections={"log_signer": signer}).serving() as client:
        assert (await head_of(client)).tree_size == 0
        token, first = "", None
        for _ in range(4):
            opened = await client.window(token)
            first, token = first or opened, opened.session_token
            head = await head_of(client)
            key = NoteKey(head.origin, head.public_key)
            assert Note.parse(head.checkpoint).holds(key, head.origin)
        for size in (0, 1, 7, head.tree_size):
            assert (await head_of(client, tree_size=size)).tree_size == size
        lines = await client.export(first.session.session_id, with_content=True, sizes=(3,))
        assert check_export(lines, key, None).verdict in {Verdict.VALID, Verdict.INCOMPLETE}
        assert check_export(lines, key, head.checkpoint).fault is None
    async with SealedWorld().serving() as client:  # signed by itself, the log has another key
        assert (await head_of(client)).public_key != key.public_key


@pytest.mark.parametrize("windows", [1, 3])
async def test_a_log_that_was_set_back_is_not_signed(tmp_path, signer, windows):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    async with SealedWorld(store, sections={"log_signer": signer}).serving() as client:
        await client.window()
        await client.window()
        size = (await head_of(client)).tree_size
    await store.close()
    other = await SqliteSessionStore.open(tmp_path / "other.db", PLAIN)  # as a database put back would be
    async with SealedWorld(other, sections={"log_signer": signer}).serving() as client:
        for _ in range(windows):  # smaller than what was signed, then larger
            await client.window()
        refusal = await client.log_fails("GetTreeHead", pb.GetTreeHeadRequest())
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.DATA_LOSS, "CHAIN_BROKEN")
        assert refusal.metadata["signed_size"] == str(size)
        assert (await client.window()).window.hmac  # what is written goes on
    await other.close()


async def test_a_signer_that_is_away_keeps_heads_and_nothing_else(tmp_path):
    async with running_signer(tmp_path / "signer") as settings:
        pass
    async with SealedWorld(sections={"log_signer": settings}).serving() as client:
        first = await client.window()
        await client.window(first.session_token)
        refusal = await client.log_fails("GetTreeHead", pb.GetTreeHeadRequest())
        assert refusal.reason == "SERVICE_UNAVAILABLE"
        async with running_signer(tmp_path / "signer"):
            assert (await head_of(client)).tree_size == 10
        assert (await client.log_fails("GetTreeHead", pb.GetTreeHeadRequest())).reason == "SERVICE_UNAVAILABLE"


async def test_another_credential_gets_nothing_signed(tmp_path, signer):
    other = tmp_path / "other"
    other.write_text("another-credential-of-thirty-two-or-more")
    other.chmod(0o600)
    settings = LogSignerSettings(socket=signer.socket, credential_file=other)
    async with SealedWorld(sections={"log_signer": settings}).serving() as client:
        assert (await client.log_fails("GetTreeHead", pb.GetTreeHeadRequest())).reason == "SERVICE_UNAVAILABLE"


async def test_the_socket_is_its_owners_and_one_process_has_it(tmp_path, signer):
    assert signer.socket.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StartupError, match="another process"):
        async with running_signer(tmp_path / "signer"):
            pass


async def test_the_service_and_several_callers_at_once(signer):
    async with SealedWorld(sections={"log_signer": signer}).serving() as client:

        async def one():
            await client.window()
            return (await head_of(client)).tree_size

        sizes = await asyncio.gather(*(one() for _ in range(6)))
        assert max(sizes) == 30
