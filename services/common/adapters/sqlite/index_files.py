"""Vector indexes on disk: a cache beside the database, trusted only when its digest and its store are the right ones.

An index that holds the vector of anything erased must not stay on disk, so ``forget`` and ``save`` exclude each other:
a graph that was built before an erasure is not saved after it.
"""

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Final

from services.common.adapters.sqlite.hnsw import HnswIndex
from services.common.adapters.sqlite.private_files import DIRECTORY_MODE, keep_private, made_private
from services.common.settings.stores import StoreSettings

_DIGEST_BLOCK_BYTES: Final = 1024 * 1024


class IndexFiles:
    """The files of one store's indexes.

    Args:
        directory: where they are; created on first use.
        store_id: the database they belong to.
        settings: whether to keep files at all, and the graph's parameters.
    """

    def __init__(self, directory: Path, store_id: str, settings: StoreSettings) -> None:
        self._directory = directory
        self._store_id = store_id
        self._settings = settings
        self._lock = threading.Lock()
        self._erasures: dict[int, int] = {}

    def erasures(self, tenant_no: int) -> int:
        """Return a number that grows with every ``forget``; ``save`` wants the one from before the build."""
        with self._lock:
            return self._erasures.get(tenant_no, 0)

    def forget(self, tenant_no: int) -> None:
        """Remove the tenant's files."""
        with self._lock:
            self._erasures[tenant_no] = self._erasures.get(tenant_no, 0) + 1
            for path in (self._state_path(tenant_no), self._index_path(tenant_no)):
                path.unlink(missing_ok=True)

    def save(self, tenant_no: int, index: HnswIndex, erasures: int) -> bool:
        """Write a graph unless something was erased since ``erasures``; say whether it was written."""
        if not self._settings.index_on_disk:
            return False
        self._directory.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        unfinished = self._directory / f"{tenant_no}.{os.getpid()}.unfinished"
        try:
            made_private(unfinished)  # before a vector is in it
            index.save(unfinished)
            state = json.dumps({"store": self._store_id, "facts": len(index), "sha256": _digest(unfinished)})
            with self._lock:
                if self._erasures.get(tenant_no, 0) != erasures:
                    return False
                self._state_path(tenant_no).unlink(missing_ok=True)
                unfinished.replace(self._index_path(tenant_no))
                made_private(self._state_path(tenant_no))
                self._state_path(tenant_no).write_text(state)
        finally:
            unfinished.unlink(missing_ok=True)
        return True

    def load(self, tenant_no: int, dimension: int) -> HnswIndex | None:
        """Return the tenant's graph; ``None`` when there is none, or none that can be trusted."""
        if not self._settings.index_on_disk:
            return None
        path = self._index_path(tenant_no)
        keep_private(path, self._state_path(tenant_no))
        try:
            state = json.loads(self._state_path(tenant_no).read_text())
            if state["store"] != self._store_id or state["sha256"] != _digest(path):
                return None
            return HnswIndex.load(path, dimension, self._settings)
        except (OSError, RuntimeError, ValueError, KeyError):
            return None

    def _index_path(self, tenant_no: int) -> Path:
        return self._directory / f"{tenant_no}.hnsw"

    def _state_path(self, tenant_no: int) -> Path:
        return self._directory / f"{tenant_no}.json"


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_DIGEST_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
