"""One server has a data directory; commands share it; a process that ends, however it ends, has nothing any more."""

import asyncio
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from services.common.adapters.sqlite import claims
from services.common.adapters.sqlite.claims import StoreClaim
from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.composition import FACTS_FILE, GATEWAY_FILE, SESSIONS_FILE, Adapters
from services.common.errors import ErrorReason, UnavailableError
from services.common.settings import EnvelopeSettings, Settings, StoreSettings
from tests.leash import running
from tests.patience import patient

HOLDER = """
import asyncio, sys, time
from pathlib import Path
from services.common.adapters.sqlite.claims import StoreClaim

async def hold():
    claim = await StoreClaim.take(Path(sys.argv[1]), exclusive=sys.argv[2] == "alone", serving=True)
    claim.tell("127.0.0.1:50051")
    print("held", flush=True)
    sys.stdin.read()
    await claim.close()

asyncio.run(hold())
"""


@contextmanager
def another_process(path: Path, how: str):
    """Hold the lock in another process, until its input ends."""
    command = [sys.executable, "-c", HOLDER, str(path), how]
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        yield process


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(claims, "SERVER_WAIT_S", 0.1)
    monkeypatch.setattr(claims, "COMMAND_WAIT_S", 0.1)


def open_files(folder):
    """Return the files of a folder that this process has open; others come and go with what runs beside a test."""
    targets = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            targets.append(entry.readlink())
    return sorted(str(target) for target in targets if target.is_relative_to(folder))


async def taken(path, *, exclusive, serving=False):
    claim = await StoreClaim.take(path, exclusive=exclusive, serving=serving)
    await claim.close()
    await claim.close()


async def refused(path, *, exclusive, serving=False):
    with pytest.raises(UnavailableError) as caught:
        await StoreClaim.take(path, exclusive=exclusive, serving=serving)
    assert caught.value.reason is ErrorReason.STORE_UNAVAILABLE
    return caught.value.message


async def test_a_second_server_is_told_who_has_the_directory_and_what_shares_it(tmp_path):
    path = tmp_path / "sessions.db"
    with another_process(path, "alone") as holder:
        message = await refused(path, exclusive=True, serving=True)
    assert f"process {holder.pid} on " in message
    assert ", since 20" in message
    assert str(tmp_path) in message
    assert "GROUNDTRAIL_ENVELOPE__SHARED_STORE=true" in message


async def test_a_command_is_told_how_to_use_the_server(tmp_path):
    path = tmp_path / "sessions.db"
    with another_process(path, "alone"):
        message = await refused(path, exclusive=False)
    assert "GROUNDTRAIL_CLIENT__SERVER=127.0.0.1:50051" in message


async def test_commands_share_and_keep_a_server_out_until_they_end(tmp_path):
    path = tmp_path / "sessions.db"
    with another_process(path, "together"):
        await taken(path, exclusive=False)
        assert "other processes" in await refused(path, exclusive=True, serving=True)
    await taken(path, exclusive=True, serving=True)


@pytest.mark.parametrize("how", ["alone", "together"])
async def test_a_process_that_is_killed_leaves_nothing_behind(tmp_path, how):
    path = tmp_path / "sessions.db"
    with another_process(path, how) as holder:
        holder.kill()
        holder.wait(patient(10))
        await taken(path, exclusive=True, serving=True)


async def test_whoever_waits_gets_it_when_the_other_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "COMMAND_WAIT_S", 60.0)
    path = tmp_path / "sessions.db"
    with another_process(path, "alone") as holder:
        waiting = asyncio.create_task(StoreClaim.take(path, exclusive=False, serving=False))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        holder.stdin.close()
        await (await waiting).close()


async def test_a_refusal_keeps_no_file_open(tmp_path):
    path = tmp_path / "sessions.db"
    with another_process(path, "alone"):
        await refused(path, exclusive=False)
        assert open_files(tmp_path) == []
    claim = await StoreClaim.take(path, exclusive=False, serving=False)
    assert open_files(tmp_path) == [f"{path}.lock"]
    await claim.close()


def settings(folder: Path, *, shared: bool = False) -> Settings:
    return Settings(store=StoreSettings(data_dir=folder), envelope=EnvelopeSettings(shared_store=shared))


async def test_a_serving_process_has_its_stores_alone_and_commands_beside_it_have_the_keys(tmp_path):
    async with Adapters(settings(tmp_path), serving=True) as server, Adapters(settings(tmp_path)) as command:
        await server.session_store()
        server.listening("127.0.0.1:4711")
        with pytest.raises(UnavailableError, match=r"GROUNDTRAIL_CLIENT__SERVER=127\.0\.0\.1:4711"):
            await command.session_store()
        await command.knowledge_graph()  # of another service of the split deployment
        await (await command.credentials()).count_keys()
    assert (tmp_path / GATEWAY_FILE).is_file()
    assert not (tmp_path / f"{GATEWAY_FILE}.lock").exists()
    assert not (tmp_path / FACTS_FILE).exists()
    async with Adapters(settings(tmp_path), serving=True) as next_one:
        await next_one.session_store()


async def test_servers_that_share_a_store_by_design_share_it(tmp_path):
    both = settings(tmp_path, shared=True)
    async with Adapters(both, serving=True) as one, Adapters(both, serving=True) as other, Adapters(both) as command:
        for adapters in (one, other, command):
            await adapters.session_store()
        async with Adapters(settings(tmp_path), serving=True) as alone:
            with pytest.raises(UnavailableError, match=r"sessions\.db: other processes"):
                await alone.session_store()


async def test_the_lock_is_given_back_after_the_store_is_closed(tmp_path, monkeypatch):
    order = []

    def noting(kind, name):
        inner = kind.close

        async def close(self):
            order.append(name)
            await inner(self)

        monkeypatch.setattr(kind, "close", close)

    noting(SqliteSessionStore, "store")
    noting(StoreClaim, "claim")
    async with Adapters(settings(tmp_path), serving=True) as adapters:
        await adapters.session_store()
    assert order == ["store", "claim"]
    assert (tmp_path / f"{SESSIONS_FILE}.lock").stat().st_mode & 0o077 == 0
