"""Conversations by an id of the caller's: where each goes on, kept for its key in this process's memory (ADR 0141).

The id stands for the session token and the continuation id of the last answer. Calls of one conversation go one after
the other: a token is spent once. A repeat under the same request id goes on from where the first try did, so that it
is recognised. What is forgotten begins a new session, and the answer says so.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

Key: TypeAlias = tuple[str, str, str]
"""Tenant, scope of the credential, id."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a conversation goes on; empty = with a new session."""

    session_token: str = field(default="", repr=False)
    continuation_id: str = ""


@dataclass(slots=True)
class Turn:
    """One call of a conversation; ``became`` is set where it went on."""

    head: Head
    became: Head | None = None


@dataclass(slots=True)
class _Kept:
    head: Head
    at: float
    request_id: str
    before: Head


@dataclass(slots=True)
class _Lock:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Conversations:
    """The heads.

    Args:
        most: conversations that are remembered; the longest unused goes first.
        kept_s: how long each is, after its last answer.
        now: a clock that never goes back, in seconds.
    """

    def __init__(self, most: int, kept_s: float, now: Callable[[], float]) -> None:
        self._most = most
        self._kept_s = kept_s
        self._now = now
        self._heads: OrderedDict[Key, _Kept] = OrderedDict()
        self._locks: dict[Key, _Lock] = {}

    @contextlib.asynccontextmanager
    async def turn(self, key: Key, request_id: str) -> AsyncIterator[Turn]:
        """Hold a conversation for one call.

        Args:
            key: of the conversation.
            request_id: of the call; a repeat has the same.
        """
        held = self._locks.setdefault(key, _Lock())
        held.users += 1
        try:
            async with held.lock:
                kept = self._found(key)
                again = kept is not None and kept.request_id == request_id
                before = Head() if kept is None else kept.before if again else kept.head
                turn = Turn(before)
                yield turn
                if turn.became is not None:
                    self._heads[key] = _Kept(turn.became, self._now(), request_id, before)
                    self._heads.move_to_end(key)
                    while len(self._heads) > self._most:
                        self._heads.popitem(last=False)
        finally:
            held.users -= 1
            if not held.users:
                del self._locks[key]

    def _found(self, key: Key) -> _Kept | None:
        kept = self._heads.get(key)
        if kept is not None and self._now() - kept.at > self._kept_s:
            del self._heads[key]
            return None
        return kept
