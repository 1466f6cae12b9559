"""Data files are their owner's alone: in a directory that everybody may read, under the usual umask."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from services.cli.commands import doctor
from services.common.adapters.sqlite.hnsw import HnswIndex
from services.common.adapters.sqlite.index_files import IndexFiles
from services.common.composition import GATEWAY_FILE, GRAPH_FILE, SESSIONS_FILE, Adapters
from services.common.settings import Settings, StoreSettings
from services.dag.master_keys.folder import add_key


@pytest.fixture
def folder(tmp_path):
    """Return a directory as ``mkdir`` or a volume has it."""
    before = os.umask(0o022)
    try:
        made = tmp_path / "data"
        made.mkdir(mode=0o755)
        yield made
    finally:
        os.umask(before)


def settings(folder: Path) -> Settings:
    return Settings(store=StoreSettings(data_dir=folder))


def wide(folder: Path) -> dict[str, str]:
    """Return the files that others may use, with their modes."""
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}
    return {name: f"{mode:04o}" for name, mode in modes.items() if mode & 0o077}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def open_all(folder: Path, *, serving: bool = True):
    async with Adapters(settings(folder), serving=serving) as adapters:
        await adapters.session_store()
        await adapters.knowledge_graph()
        await adapters.credentials()
        return wide(folder), names_in(folder)


async def test_every_file_of_a_store_is_its_owners_alone(folder):
    found, names = await open_all(folder)
    assert found == {}
    for name in (SESSIONS_FILE, GRAPH_FILE, GATEWAY_FILE):
        assert {name, f"{name}-wal", f"{name}-shm"} <= names
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755  # the operator's, left as it is


async def test_files_of_before_are_narrowed_when_they_are_opened(folder):
    async with Adapters(settings(folder)) as adapters:
        store = await adapters.credentials()
        for path in folder.iterdir():  # what a crash leaves: the write-ahead log, too
            path.chmod(0o644)
        assert set(wide(folder)) == {GATEWAY_FILE, f"{GATEWAY_FILE}-wal", f"{GATEWAY_FILE}-shm"}
        async with Adapters(settings(folder)) as again:
            await again.credentials()
            assert wide(folder) == {}
        assert await store.count_keys() == 0


async def test_a_file_that_is_there_is_not_opened_to_be_looked_at(folder, monkeypatch):
    """Closing any descriptor of a file drops the locks that SQLite holds on it in this process."""
    await open_all(folder)
    opened = []
    inner = os.open

    def noting(path, *arguments, **options):
        handle = inner(path, *arguments, **options)
        opened.append(str(path))
        return handle

    monkeypatch.setattr(os, "open", noting)
    await open_all(folder)
    assert [path for path in opened if path.endswith(".db")] == []


def test_indexes_on_disk_are_private_and_old_ones_become_so(folder):
    kept = StoreSettings(data_dir=folder)
    vectors = np.eye(4, 8, dtype=np.float32)
    index = HnswIndex.empty(8, kept).extended(np.arange(4, dtype=np.int64), vectors, kept, lambda: False)
    files = IndexFiles(folder / "knowledge.indexes", "store", kept)
    assert files.save(1, index, files.erasures(1))
    assert wide(folder) == {}
    for path in (folder / "knowledge.indexes").iterdir():
        path.chmod(0o644)
    assert files.load(1, 8) is not None
    assert wide(folder) == {}


def test_keys_are_private(folder):
    add_key(folder / "keys")
    assert wide(folder) == {}


async def test_doctor_names_the_files_that_others_may_read(folder):
    await open_all(folder)
    (fine,) = await doctor._files(settings(folder))
    assert fine.level is doctor.Level.OK
    (folder / GATEWAY_FILE).chmod(0o640)
    (found,) = await doctor._files(settings(folder))
    assert (found.level, found.check) == (doctor.Level.PROBLEM, "files")
    assert GATEWAY_FILE in found.detail
    assert f"chmod 600 {folder / GATEWAY_FILE}" in found.advice
