"""The door: how much work a process takes on, for one tenant and in all, and whose call computes next (ADR 0088).

Reads cost nothing here and pass. A call that costs something is refused at once when its tenant has its share of
admitted work, or when it would have to wait and its deadline could not be met by the measured pace; else it is
admitted. Of the admitted calls that compute, only so many do so at once; the others wait, tenants take turns by work,
and within a tenant they are served in the order of arrival. Properties:

* Nobody is refused for what others do: a tenant that has nothing admitted is let in, whatever its call costs.
* Nobody is refused for time who need not wait: a single caller of an idle server is always served.
* A call that a process makes to itself is part of one that was admitted. It is never refused, it takes its turn before
  its tenant's other calls, and it waits for no place while the call that it is part of holds one.
* A place is given back when the call ends, however it ends; a caller that goes away leaves the line.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.common.context import CallContext
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import FairTurns, Turn
from services.common.rpc.pace import Begun, Pace
from services.common.settings import ServerSettings
from services.common.telemetry.admission import AdmissionCounts

SPARE: Final = 1.5
"""A call that has to wait is admitted when it would end in time even if it took so many times as long as estimated."""
HOPELESS: Final = 0.5
"""A waiting call is given up when it would end late even if the rest took this share of what is estimated."""
NEWCOMER: Final = 0.5
"""What is promised holds although others come meanwhile who want this share of what the tenant itself has ahead."""
MOST_DONE: Final = 0.5
"""No more of a call that computes is taken to be done: its units are an estimate, and the rest may be as much again."""
MAX_RETRY_S: Final = 60.0


@dataclass(eq=False, slots=True)
class Ticket:
    """An admitted call's; ``Admission.leave`` takes it back.

    Attributes:
        nested: part of a call that was admitted before; nothing is counted against a budget.
        turn: the place that it holds, if it holds one.
    """

    call: CallContext
    units: int
    nested: bool
    turn: Turn | None = None
    begun: Begun | None = None

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self.call.caller.tenant_id


class Admission:
    """Admits, refuses, makes wait; on one event loop.

    Args:
        settings: budgets and places.
        counts: what is counted by tenant class.
        now: the event loop's clock.
    """

    def __init__(
        self, settings: ServerSettings, counts: AdmissionCounts, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = settings.max_admitted_work
        self._most_per_tenant = settings.max_admitted_work_per_tenant
        self._retry_s = settings.overload_retry_s
        self._turns = FairTurns(settings.heavy_calls, settings.heavy_calls_per_tenant)
        self._counts = counts
        self._now = now
        self._pace = Pace(now)
        self._admitted: Counter[str] = Counter()  # units by tenant
        self._most_places = settings.heavy_calls_per_tenant
        self._computing: dict[str, dict[Ticket, None]] = {}  # those that hold a place
        self._waiting: dict[str, dict[Ticket, None]] = {}  # in the order of arrival
        self._queued: Counter[str] = Counter()  # units by tenant, of those that wait
        self._holding: Counter[str] = Counter()  # places by request id
        counts.pace = lambda: self._pace.units_per_s

    async def enter(self, call: CallContext, units: int, *, computes: bool, nested: bool) -> Ticket:
        """Admit a call, and wait for its turn if it computes.

        Args:
            call: whose it is and by when it has to end.
            units: what it costs, by estimate.
            computes: it takes a place.
            nested: this process made it while it serves another.

        Raises:
            LimitExceededError: WORK_LIMIT, DEADLINE_UNREACHABLE: nothing was done.
            UnavailableError: SERVICE_UNAVAILABLE: the process began to stop while the call waited; nothing was done.
        """
        ticket = Ticket(call, units, nested)
        if not nested:
            self._check_budget(ticket)
            if computes and not self._turns.is_free(ticket.tenant):
                self._check_time(ticket)
            self._admitted[ticket.tenant] += units
            self._counts.admit(call.tenant_class, units)
        try:
            if computes and not (nested and self._holding[call.request_id]):
                await self._take_place(ticket)
        except BaseException:
            self.leave(ticket, done=False)
            raise
        return ticket

    def leave(self, ticket: Ticket, *, done: bool) -> None:
        """Undo ``enter``; ``done`` says whether the work was done, which tells the pace."""
        self.give_place(ticket, done=done)
        if ticket.nested:
            return
        self._admitted[ticket.tenant] -= ticket.units
        if not self._admitted[ticket.tenant]:
            del self._admitted[ticket.tenant]
        self._counts.release(ticket.call.tenant_class, ticket.units)

    def give_place(self, ticket: Ticket, *, done: bool) -> None:
        """Give a call's place to who waits, if it holds one; the call may go on."""
        if ticket.turn is None or ticket.begun is None:
            return
        self._pace.end(ticket.begun, ticket.units, done=done)
        _take_out(self._computing, ticket)
        _take_off(self._holding, ticket.call.request_id, 1)
        self._turns.give(ticket.turn)
        ticket.turn = ticket.begun = None
        self._give_up_late()

    def refuse_waiting(self) -> None:
        """Send away who waits for a place; calls that are part of one that was begun go on waiting."""
        for waiting in list(self._waiting.values()):
            for ticket in [one for one in waiting if not one.nested]:
                error = UnavailableError(
                    ErrorReason.SERVICE_UNAVAILABLE,
                    "this process is stopping and has not begun this call; another one, or the next, will",
                    retry_after_s=self._retry_s,
                )
                self._send_away(ticket, error)

    async def _take_place(self, ticket: Ticket) -> None:
        tenant, arrived = ticket.tenant, self._now()
        self._waiting.setdefault(tenant, {})[ticket] = None
        self._queued[tenant] += ticket.units
        self._counts.wait(ticket.call.tenant_class)
        try:
            ticket.turn = await self._turns.take(tenant, ticket.units, caller=ticket, urgent=ticket.nested)
        finally:
            self._counts.waited(ticket.call.tenant_class, self._now() - arrived)
            self._waits_no_more(ticket)
        ticket.begun = self._pace.begin(tenant)
        self._computing.setdefault(tenant, {})[ticket] = None
        self._holding[ticket.call.request_id] += 1

    def _waits_no_more(self, ticket: Ticket) -> None:
        if _take_out(self._waiting, ticket):
            _take_off(self._queued, ticket.tenant, ticket.units)

    def _send_away(self, ticket: Ticket, error: Exception) -> None:
        self._waits_no_more(ticket)
        self._turns.fail(ticket.tenant, ticket, error)

    def _check_budget(self, ticket: Ticket) -> None:
        own, whole = self._admitted[ticket.tenant], self._admitted.total()
        if not own:
            return
        wanted = own + ticket.units
        share = self._most / len(self._admitted)
        if wanted > self._most_per_tenant:
            raise self._too_much(ticket, "tenant", self._most_per_tenant, wanted - self._most_per_tenant)
        if whole + ticket.units > self._most and wanted > share:
            raise self._too_much(ticket, "process", self._most, whole + ticket.units - self._most)

    def _check_time(self, ticket: Ticket) -> None:
        """Refuse a call that has to wait and would end after its deadline.

        When it has its place, as many of its tenant's calls compute beside it as are there now, in the other places:
        it is done when they have had as much as it.
        """
        tenant, left = ticket.tenant, self._left(ticket)
        calls = len(self._computing.get(tenant, ())) + len(self._waiting.get(tenant, ()))
        ahead = self._queued.get(tenant, 0) + self._to_be_done(tenant)
        own = ticket.units * (1 + min(calls, self._most_places - 1))
        needed = self._seconds(tenant, ahead + own, NEWCOMER)
        if left is not None and needed is not None and needed * SPARE > left:
            raise self._too_late(ticket, needed, left)

    def _give_up_late(self) -> None:
        """Send away those who wait and cannot be served in time any more, the pace being what it is."""
        for tenant, waiting in list(self._waiting.items()):
            ahead = self._to_be_done(tenant)
            for ticket in list(waiting):
                left, needed = self._left(ticket), self._seconds(tenant, ahead + ticket.units)
                if ticket.nested or left is None or needed is None or needed * HOPELESS <= left:
                    ahead += ticket.units
                else:
                    self._send_away(ticket, self._too_late(ticket, needed, left))

    def _seconds(self, tenant: str, units: float, newcomer: float = 0.0) -> float | None:
        """Return how long the tenant's next so many units take while every other tenant that wants it gets as much.

        Args:
            tenant: whose units.
            units: that are ahead and its own.
            newcomer: share of them that others are taken to want at least, whoever is there now.
        """
        pace = self._pace.units_per_s_of(tenant)
        if not pace:  # nothing has ended yet, or nothing that was any work
            return None
        others = (self._queued.keys() | self._computing.keys()) - {tenant}
        beside = sum(min(self._queued[one] + self._to_be_done(one), units) for one in others)
        return (units + max(beside, newcomer * units)) / pace

    def _to_be_done(self, tenant: str) -> float:
        """Return the units that are left of what computes: what has just begun is not half done."""
        return sum(
            ticket.units - min(self._pace.done(ticket.begun), ticket.units * MOST_DONE)
            for ticket in self._computing.get(tenant, ())
            if ticket.begun is not None
        )

    def _left(self, ticket: Ticket) -> float | None:
        return None if ticket.call.deadline is None else ticket.call.deadline - self._now()

    def _too_much(self, ticket: Ticket, scope: str, limit: int, over: int) -> LimitExceededError:
        self._counts.refuse(ticket.call.tenant_class, ErrorReason.WORK_LIMIT)
        pace = self._pace.units_per_s
        return LimitExceededError(
            ErrorReason.WORK_LIMIT,
            f"this call costs about {ticket.units} units of work, which with what is under way is over the {limit} of "
            f"this {scope}; try again after the delay given in RetryInfo",
            retry_after_s=self._retry(over / pace if pace else 0.0),
            scope=scope,
            limit=str(limit),
            units=str(ticket.units),
        )

    def _too_late(self, ticket: Ticket, needed: float, left: float) -> LimitExceededError:
        self._counts.refuse(ticket.call.tenant_class, ErrorReason.DEADLINE_UNREACHABLE)
        left_ms, needed_ms = f"{max(left, 0) * 1000:.0f}", f"{needed * 1000:.0f}"
        return LimitExceededError(
            ErrorReason.DEADLINE_UNREACHABLE,
            f"with what is waiting ahead this call would take about {needed_ms} ms, and {left_ms} ms are left; nothing "
            "was done, try again after the delay given in RetryInfo",
            retry_after_s=self._retry(needed * SPARE - left),
            needed_ms=needed_ms,
            left_ms=left_ms,
            units=str(ticket.units),
        )

    def _retry(self, seconds: float) -> float:
        return round(min(max(seconds, self._retry_s), MAX_RETRY_S), 3)


def _take_out(tickets: dict[str, dict[Ticket, None]], ticket: Ticket) -> bool:
    """Take a ticket out of its tenant's; say whether it was there."""
    own = tickets.get(ticket.tenant, {})
    if ticket not in own:
        return False
    del own[ticket]
    if not own:
        del tickets[ticket.tenant]
    return True


def _take_off(counter: Counter[str], key: str, amount: int) -> None:
    counter[key] -= amount
    if not counter[key]:
        del counter[key]
