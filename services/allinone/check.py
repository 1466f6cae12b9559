"""An answer checked against facts, inside the calling process: no server, no session, nothing stored (ADR 0098).

    from services.allinone.check import check
    result = check("Claims files are kept for 3 years.", [Path("retention.md")], "How long are claims files kept?")
    result.level, result.supported, [(claim.verdict, claim.why) for claim in result.claims]

``Checker`` holds the models for many checks: ``async with open_checker() as checker: await checker.check_all(...)``.
The command, the evaluation and these functions are one path: ``ProvenanceService.Check``.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crp.dpe.v1 import provenance_service_pb2 as pb
from groundtrail.requests import check_request
from groundtrail.sources import Source

from services.allinone.check_result import PolicedResult, result_of
from services.common.composition import Adapters
from services.common.settings import Settings, load_settings

if TYPE_CHECKING:
    from services.gateway.domain.outcome import PolicyInForce

AT_ONCE: Final = 16
"""Checks that run together: the encoders batch over all of them."""

CallCheck = Callable[[pb.CheckRequest], Awaitable[pb.CheckResponse]]
"""What serves a check: a server's stub, or the servicer in this process."""


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """One answer to check.

    Attributes:
        answer: the answer, complete.
        facts: what it is checked against; at least one.
        question: that it answers; empty = not known.
        earlier_answers: of the same conversation, oldest first.
    """

    answer: str = field(repr=False)
    facts: tuple[Source, ...] = field(repr=False)
    question: str = field(default="", repr=False)
    earlier_answers: tuple[str, ...] = field(default=(), repr=False)


class Checker:
    """Checks answers by one way of calling ``Check``; belongs to one event loop.

    Args:
        call: serves a check.
    """

    def __init__(self, call: CallCheck) -> None:
        self._call = call

    async def check(
        self,
        answer: str,
        facts: Iterable[Source],
        question: str | None = None,
        *,
        policy: str = "",
        earlier_answers: Iterable[str] = (),
    ) -> PolicedResult:
        """Return what is found.

        Args:
            answer: the answer, complete.
            facts: what it is checked against.
            question: that it answers; ``None`` = not known.
            policy: safety policy to hold it against, as in ``CRP-Safety-Policy``; empty = none.
            earlier_answers: of the same conversation, oldest first.

        Raises:
            InvalidRequestError: an input is wrong (INVALID_FIELD, UNSUPPORTED_MEDIA, DOCUMENT_WITHOUT_TEXT,
                UNKNOWN_DIRECTIVE); the message names it.
            CrpError: a limit, or a model that does not answer.
            OSError: a file cannot be read.
        """
        return await self._one(
            CheckOrder(answer, tuple(facts), question or "", tuple(earlier_answers)), in_force(policy)
        )

    async def check_all(self, orders: Iterable[CheckOrder], *, policy: str = "") -> list[PolicedResult]:
        """Return what is found in each answer, in order; ``AT_ONCE`` are checked together. Raises as ``check``."""
        turns, force = asyncio.Semaphore(AT_ONCE), in_force(policy)

        async def one(order: CheckOrder) -> PolicedResult:
            async with turns:
                return await self._one(order, force)

        return list(await asyncio.gather(*map(one, orders)))

    async def _one(self, order: CheckOrder, force: "PolicyInForce | None") -> PolicedResult:
        request = await asyncio.to_thread(
            check_request, order.answer, order.facts, order.question, order.earlier_answers
        )
        return result_of(await self._call(request), force)


def in_force(policy: str) -> "PolicyInForce | None":
    """Read a safety policy; ``None`` for an empty one.

    Raises:
        InvalidRequestError: UNKNOWN_DIRECTIVE or INVALID_FIELD.
    """
    if not policy.strip():
        return None
    from services.gateway.check_policy import read_policy

    return read_policy(policy)


@asynccontextmanager
async def open_checker(settings: Settings | None = None, adapters: Adapters | None = None) -> AsyncIterator[Checker]:
    """Open the models for any number of checks.

    Args:
        settings: of the process; read from the environment when not given.
        adapters: shared ones of the caller, who closes them; made and closed here when not given.

    Raises:
        StartupError: a model cannot be used.
        SettingsError: the settings cannot be used.
    """
    from services.dpe.compose import open_servicer

    own = settings or load_settings()
    if adapters is not None:
        servicer = await open_servicer(own, adapters)
        yield Checker(lambda request: servicer.Check(request, None))
        return
    async with Adapters(own) as made:
        servicer = await open_servicer(own, made)
        yield Checker(lambda request: servicer.Check(request, None))


async def check_async(
    answer: str,
    facts: Sequence[Source],
    question: str | None = None,
    *,
    policy: str = "",
    earlier_answers: Sequence[str] = (),
    settings: Settings | None = None,
) -> PolicedResult:
    """Check one answer; opens the models for this once. Arguments and errors as ``Checker.check``."""
    async with open_checker(settings) as checker:
        return await checker.check(answer, facts, question, policy=policy, earlier_answers=earlier_answers)


def check(
    answer: str,
    facts: Sequence[Source],
    question: str | None = None,
    *,
    policy: str = "",
    earlier_answers: Sequence[str] = (),
    settings: Settings | None = None,
) -> PolicedResult:
    """Check one answer, for callers without an event loop. Arguments and errors as ``Checker.check``."""
    return asyncio.run(
        check_async(answer, facts, question, policy=policy, earlier_answers=earlier_answers, settings=settings)
    )
