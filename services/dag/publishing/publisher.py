"""The loop that sends heads out: each log that grew, to every place, until all of them took it.

A log's position moves when every place has a head of it; until then the next round takes the newest head again, and
skips the places that have it. One process of those that share a store does this at a time. No commit waits for it.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from services.common.backoff import pause_s
from services.common.clock import Clock
from services.common.errors import CrpError
from services.common.ports.event_feed import Behind, EventFeed
from services.common.settings.checkpoints import CheckpointSettings
from services.dag.publishing.cosigning import Cosigned, Cosigning, HeadSource, cosigned_head
from services.dag.publishing.metrics import PublishingMetrics, Result
from services.dag.publishing.targets import Delivered, Target
from services.dag.transparency.log import SignedHead

CONSUMER: Final = "checkpoints"
_MAX_TENANTS: Final = 1_000
_LEASE: Final = timedelta(seconds=60)
_STOP_GRACE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class PublisherParts:
    """What the publisher works with.

    Attributes:
        holder: names this process among those that share the store.
        share: gives a random number, 0-1, for the pauses.
    """

    feed: EventFeed
    source: HeadSource
    targets: Sequence[Target]
    witnesses: Sequence[Cosigning]
    clock: Clock
    holder: str
    metrics: PublishingMetrics = field(default_factory=PublishingMetrics)
    share: Callable[[], float] = random.random


class Publisher:
    """Publishes until it is closed; ``start`` once, ``close`` once."""

    def __init__(self, parts: PublisherParts, settings: CheckpointSettings) -> None:
        self._parts = parts
        self._settings = settings
        self._log = structlog.get_logger("groundtrail")
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._delivered: dict[tuple[str, str], int] = {}
        self._problem = ""

    @property
    def metrics(self) -> PublishingMetrics:
        """What it counts."""
        return self._parts.metrics

    @property
    def detail(self) -> str:
        """What operators should know now."""
        metrics = self._parts.metrics
        if self._problem:
            return f"{self._problem}; {metrics.behind} records wait"
        return f"publishing, {metrics.behind} records wait" if metrics.sending else "standby: another process publishes"

    def start(self) -> None:
        """Begin to publish in the background."""
        self._task = asyncio.create_task(self._run(), name="checkpoints")

    async def close(self) -> None:
        """Stop, and give the claim up. Idempotent."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is None:
            return
        await asyncio.wait({task}, timeout=_STOP_GRACE_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with contextlib.suppress(CrpError):
            await self._parts.feed.release(CONSUMER, self._parts.holder)

    async def round(self) -> str:
        """Publish the head of every log that grew; return what went wrong, for operators, empty when nothing did.

        Raises:
            UnavailableError: the store or the signing key cannot be had.
        """
        parts = self._parts
        now = parts.clock.now()
        lease = _LEASE + 2 * timedelta(seconds=self._settings.interval_s)
        parts.metrics.sending = await parts.feed.claim(CONSUMER, parts.holder, now, now + lease)
        if not parts.metrics.sending:
            return ""
        behind = await parts.feed.behind(CONSUMER, _MAX_TENANTS, self._settings.tenants)
        parts.metrics.behind = sum(tenant.leaves for tenant in behind)
        problems: list[str] = []
        for tenant in behind:
            if self._stopping.is_set():
                break
            problems += await self._publish(tenant)
        return "; ".join(dict.fromkeys(problems))

    async def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                problem = await self.round()
            except CrpError as error:
                problem = f"{error.reason.value}: {error.message}"
            except Exception as error:  # noqa: BLE001 - a publisher that died in silence would be worse
                self._log.exception("publishing checkpoints failed")
                problem = type(error).__name__
            failures = failures + 1 if problem else 0
            self._note(problem)
            settings = self._settings
            wait = settings.interval_s
            if failures:
                wait = pause_s(failures, settings.retry_first_s, settings.retry_max_s, self._parts.share(), None)
            await self._sleep(wait)

    async def _publish(self, tenant: Behind) -> list[str]:
        """Publish a tenant's head and move the position when all have it; return what went wrong."""
        parts = self._parts
        try:
            head = await parts.source.app.head(tenant.tenant_id)
            head, problems = await self._cosigned(tenant.tenant_id, head)
        except CrpError as error:  # of this tenant alone: the others' heads go out
            return [f"{error.reason.value}: {error.message}"]
        except ValueError as error:
            return [f"no proof can be made: {error}"]
        for target in parts.targets:
            if self._delivered.get((target.name, tenant.tenant_id), 0) >= head.checkpoint.size:
                continue
            sent = await target.deliver(tenant.tenant_id, head)
            problems += self._counted(target.name, tenant.tenant_id, head, sent)
        if not problems:
            through = head.checkpoint.size - 1
            await parts.feed.advance(CONSUMER, parts.holder, tenant.tenant_id, through)
            parts.metrics.behind = max(0, parts.metrics.behind - (through - tenant.through))
        return problems

    async def _cosigned(self, tenant_id: str, head: SignedHead) -> tuple[SignedHead, list[str]]:
        """Return the head with the cosignatures that could be had, kept when there are enough, and what went wrong."""
        parts = self._parts
        if not parts.witnesses:
            return head, []
        answers = await asyncio.gather(*(witness.cosign(tenant_id, head) for witness in parts.witnesses))
        problems: list[str] = []
        for witness, answer in zip(parts.witnesses, answers, strict=True):
            problems += self._counted(witness.name, tenant_id, head, answer)
        parts.metrics.cosignatures.update(
            witness.name for witness, answer in zip(parts.witnesses, answers, strict=True) if answer.line
        )
        conflict = any(answer.result is Result.CONFLICT for answer in answers)
        (parts.metrics.conflicts.add if conflict else parts.metrics.conflicts.discard)(tenant_id)
        lines = [answer.line for answer in answers if answer.line is not None]
        head = cosigned_head(head, lines)
        if len(lines) >= self._settings.min_cosignatures:
            await parts.source.cosigned.keep(tenant_id, head)
        return head, problems

    def _counted(self, name: str, tenant_id: str, head: SignedHead, sent: Delivered | Cosigned) -> list[str]:
        self._parts.metrics.heads[name, sent.result] += 1
        if sent.result is Result.DELIVERED:
            self._delivered[name, tenant_id] = head.checkpoint.size
            return []
        if sent.result is Result.CONFLICT:
            origin, size = head.checkpoint.origin, head.checkpoint.size
            self._log.error("a witness does not recognise the log", origin=origin, tree_size=size, problem=sent.problem)
        return [sent.problem]

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _note(self, problem: str) -> None:
        """Remember what is wrong, and log it when it changes."""
        if problem == self._problem:
            return
        if problem:
            self._log.warning("checkpoints wait", problem=problem)
        else:
            self._log.info("checkpoints are published")
        self._problem = problem
