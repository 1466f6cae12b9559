"""The processes that find entities and personal data: asked from here, ``text_process`` is what runs in them.

Both are read by the same processes: each would take most of the memory of both, and they seldom compute at once for one
call. Results are compact: kinds and offsets; the texts stay where they are.
"""

from collections.abc import Sequence
from typing import Any, Final

from services.common.model_repository import ModelEntry
from services.common.ports.recognition import Entity, EntityKind
from services.common.queue_counts import QueueCounts
from services.common.settings.workers import WorkerSettings
from services.common.workers.counts import WorkerCounts
from services.common.workers.pool import WorkerLimits, WorkerPool

_LEAST_CHARS: Final = 2
"""No personal data is shorter, but for what the recogniser calls a person."""
_MODULE: Final = "services.common.adapters.text_process"


class TextWorkers:
    """The pool, with what it is asked; belongs to one event loop. What a process loads is named before the first job.

    Args:
        settings: how many there are and what they may take.
        counts: the process's numbers.
    """

    def __init__(self, settings: WorkerSettings, counts: WorkerCounts) -> None:
        self._configuration: dict[str, Any] = {"recognizer": None, "personal_data": False}
        limits = WorkerLimits(settings.text_processes, settings.text_memory_mib, settings.text_limit_s, settings.idle_s)
        self.pool = WorkerPool("text", _MODULE, self._configuration, limits, counts.of_pool("text"))

    @property
    def queue_counts(self) -> QueueCounts:
        """What the processes' queue counts by tenant class; the work in characters."""
        return self.pool.queue_counts

    def read_with(self, folder: str, entry: ModelEntry) -> None:
        """Let the processes load the recogniser of ``folder``, whose files each of them proves again."""
        files = [[file.path, file.sha256] for file in entry.files]
        self._configuration["recognizer"] = {"folder": folder, "files": files}

    def search_personal_data(self) -> None:
        """Let the processes load the rules for personal data."""
        self._configuration["personal_data"] = True

    async def entities(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return for each text its entities.

        Raises:
            WorkerError: there is no answer.
        """
        if not any(texts) and not self.pool.failing:  # what polls for readiness keeps no process alive
            return [() for _ in texts]
        (found,) = await self.pool.run("entities", list(texts), cost=max(1, sum(map(len, texts))))
        return [
            tuple(Entity(EntityKind(kind), text[start:end], start, end) for kind, start, end in row)
            for text, row in zip(texts, found, strict=True)
        ]

    async def personal_data(
        self, pieces: Sequence[tuple[str, Sequence[tuple[int, int]]]]
    ) -> tuple[list[list[tuple[str, int, int, float]]], float]:
        """Return for each piece, a text and where persons stand in it, what was found, and the time that it took.

        Raises:
            WorkerError: there is no answer.
        """
        if not self.pool.failing and all(len(text) < _LEAST_CHARS and not persons for text, persons in pieces):
            return [[] for _ in pieces], 0.0
        asked = [[text, list(persons)] for text, persons in pieces]
        size = sum(len(text) for text, _ in pieces)
        ((found, seconds),) = await self.pool.run("personal_data", asked, cost=max(1, size))
        return [[(kind, start, end, score) for kind, start, end, score in row] for row in found], seconds

    async def close(self) -> None:
        """End the processes; idempotent."""
        await self.pool.close()
