"""Reading documents and cutting them into facts: in processes that can be ended (ADR 0085), or in threads.

A document may be hostile, or only large: what takes more than its time or memory is refused with a reason, what nobody
waits for any more ends, and whatever happens to one document happens to no other.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from typing import Final

from services.common.documents.document import Document, DoubtfulTable
from services.common.documents.facts.chunking import chunk
from services.common.documents.limits import require_at_most
from services.common.documents.wire import read_parts
from services.common.errors import ErrorReason, FieldViolation, LimitExceededError, UnavailableError
from services.common.ports.documents import CutDocument
from services.common.ports.tokens import TokenCounter
from services.common.settings import Settings
from services.common.settings.envelope import EnvelopeSettings
from services.common.workers.errors import JobLimitError, QueueFullError, WorkerError, WorkerLostError
from services.common.workers.frames import Json
from services.common.workers.pool import WorkerLimits, WorkerPool

_MODULE: Final = "services.common.documents.document_process"
_THREADS: Final = 2
_NICENESS: Final = 5
"""Whoever answers calls goes first."""
_UNFOLDING: Final = 8
"""So many times as long as the longest document may its facts be, each with its headings; usual is two or three."""
_REMEMBERED_CHARS: Final = 2_000
"""The tokens of longer texts are counted anew: pieces of one text that grows would fill the memory."""
MAX_HIDDEN: Final = 1_000
"""So many pieces of hidden text, and of furniture, are told of."""
MAX_HIDDEN_CHARS: Final = 2_000
"""Of one piece, so many are."""
_RETRY_S: Final = 5.0
_WAYS_OUT: Final = "split it, or save it in a simpler form"


@dataclass(frozen=True, slots=True)
class CuttingLimits:
    """What a document may be at most: see ``ReadingLimits``; and the facts that it may hold."""

    max_bytes: int
    max_pages: int
    max_chars: int
    max_facts: int

    @classmethod
    def of(cls, settings: EnvelopeSettings) -> "CuttingLimits":
        """Return the limits of the settings."""
        return cls(
            settings.max_document_bytes,
            settings.max_document_pages,
            settings.max_document_chars,
            settings.max_facts_per_source,
        )


def read_and_cut(
    content: bytes, media_type: str, name: str, limits: CuttingLimits, count: Callable[[str], int]
) -> CutDocument:
    """Read a document and cut it into facts. CPU-bound.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA, or DOCUMENT_WITHOUT_TEXT.
        LimitExceededError: MESSAGE_TOO_LARGE: too many bytes, pages, characters or facts.
    """
    # The parsers, a tenth of a second: for processes that read documents, not for those that have them read.
    from services.common.documents.reading import ReadingLimits, read_document

    reading = ReadingLimits(limits.max_bytes, limits.max_pages, limits.max_chars)
    document = read_document(content, media_type, name, reading)
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if len(text) > _REMEMBERED_CHARS:
            return count(text)
        if text not in known:
            known[text] = count(text)
        return known[text]

    drafts = chunk(document, counted)
    require_at_most("facts", len(drafts), limits.max_facts)
    # A long heading stands at each of its facts: a document must not unfold to more than it may hold.
    size = sum(len(draft.content) + len(draft.section) + len(draft.location) for draft in drafts)
    require_at_most("characters, headings counted at every fact,", size, limits.max_chars * _UNFOLDING)
    return CutDocument(
        document.media_type,
        document.title,
        document.warnings,
        drafts,
        tuple(replace(one, text=one.text[:MAX_HIDDEN_CHARS]) for one in document.hidden[:MAX_HIDDEN]),
        tuple(one[:MAX_HIDDEN_CHARS] for one in document.furniture[:MAX_HIDDEN]),
        document.language,
        document.pages,
        document.properties,
        tuple(_doubtful_tables(document)),
    )


def _doubtful_tables(document: Document) -> Iterator[DoubtfulTable]:
    for block in document.blocks:
        table = block.table
        if table is not None and table.doubtful:
            width = len(table.rows[0]) if table.rows else 0
            yield DoubtfulTable(table.caption, len(table.rows), width, table.doubtful, block.place)


class ThreadDocumentReader:
    """``DocumentReader`` in threads of this process, without limits of time and memory: for tests and measurements.

    Args:
        limits: what is refused.
        model: whose tokens measure a fact.
        tokens: counts them.
    """

    def __init__(self, limits: CuttingLimits, model: str, tokens: TokenCounter) -> None:
        self._limits = limits
        self._model = model
        self._tokens = tokens
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="documents")

    async def read(self, content: bytes, media_type: str, name: str) -> CutDocument:
        """Return what the document holds."""

        def count(text: str) -> int:
            return self._tokens.count([text], self._model)[0]

        return await asyncio.get_running_loop().run_in_executor(
            self._threads, read_and_cut, content, media_type, name, self._limits, count
        )


class WorkerDocumentReader:
    """``DocumentReader`` in processes of their own.

    Args:
        pool: of processes that run ``document_process``.
    """

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    async def read(self, content: bytes, media_type: str, name: str) -> CutDocument:
        """Return what the document holds."""
        try:
            parts = await self._pool.run("cut", [media_type, name], content, cost=max(1, len(content)))
        except JobLimitError as error:
            raise self._too_complex(error.limit) from error
        except WorkerLostError as error:
            raise _crashed() from error
        except QueueFullError as error:
            raise self._full() from error
        except WorkerError as error:
            raise UnavailableError(
                ErrorReason.SERVICE_UNAVAILABLE,
                f"Documents cannot be read now: {error.told}.",
                retry_after_s=1.0,
                cause=error.told,
            ) from error
        return read_parts(parts)

    def _full(self) -> LimitExceededError:
        return LimitExceededError(
            ErrorReason.QUEUE_FULL,
            "Too many of your documents wait to be read; retry later, or bring fewer at once.",
            retry_after_s=_RETRY_S,
            model="documents",
            queue_bytes=str(self._pool.limits.queue_cost),
        )

    def _too_complex(self, limit: str) -> LimitExceededError:
        limits = self._pool.limits
        amount = f"{limits.job_s:g} s of processor time" if limit == "time" else f"{limits.memory_mib} MiB of memory"
        setting = "GROUNDTRAIL_WORKERS__DOCUMENT_" + ("LIMIT_S" if limit == "time" else "MEMORY_MIB")
        return LimitExceededError(
            ErrorReason.DOCUMENT_TOO_COMPLEX,
            f"Reading the document takes more than {amount}; nothing was stored. Please {_WAYS_OUT}; an operator can "
            f"raise {setting}.",
            violations=(FieldViolation("content", f"must be read within {amount}"),),
            limit=limit,
            amount=amount,
            setting=setting,
        )


def document_pool(settings: Settings) -> tuple[str, str, Json, WorkerLimits]:
    """Return what the pool of the settings is made of: name, module, configuration, limits."""
    workers, envelope, inference = settings.workers, settings.envelope, settings.inference
    configuration = {
        "limits": astuple(CuttingLimits.of(envelope)),
        "model": envelope.tokenizer_model,
        "tokenizers": [one.model_dump(mode="json") for one in inference.tokenizers],
        "approximate_margin_ratio": inference.approximate_margin_ratio,
    }
    limits = WorkerLimits(
        workers.document_processes,
        workers.document_memory_mib,
        workers.document_limit_s,
        workers.idle_s,
        niceness=_NICENESS,
        queue_cost=workers.document_queue_mib << 20,
    )
    return "documents", _MODULE, configuration, limits


def _crashed() -> LimitExceededError:
    return LimitExceededError(
        ErrorReason.DOCUMENT_TOO_COMPLEX,
        "The process that reads the document ended in the middle of it, most often for want of memory; nothing was "
        f"stored. Please {_WAYS_OUT}.",
        violations=(FieldViolation("content", "must not end the process that reads it"),),
        limit="process",
    )
