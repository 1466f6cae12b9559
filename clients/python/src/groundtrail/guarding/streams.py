"""Streams of a guarded client: what reads them sees the stream that it knows, and events that have passed.

In mode raise an event leaves when the sentence that it ends in has passed with everything before it; otherwise at once,
and the whole is checked behind it.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, Self

from groundtrail.errors import GroundtrailError
from groundtrail.guarding.forms import Form
from groundtrail.guarding.holding import Holding
from groundtrail.guarding.judging import Findings, Servers
from groundtrail.guarding.rules import Checked, Judged, withheld


class _Guarded(ABC):
    """A stream; everything but its events is that of the stream inside.

    Args:
        inside: the client's own stream.
        form: of its events.
        servers: check.
        checked: what the answers are checked against.
    """

    def __init__(self, inside: Any, form: Form, servers: Servers, checked: Checked) -> None:
        self._inside = inside
        self._form = form
        self._servers = servers
        self._checked = checked
        self._events = self._held() if checked.rules.mode == "raise" else self._watched()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)

    @abstractmethod
    def _held(self) -> Any:
        """Return the events as they pass."""

    @abstractmethod
    def _watched(self) -> Any:
        """Return the events at once, judged behind the last one."""


class GuardedStream(_Guarded):
    """A stream that waits for its events."""

    _events: Iterator[Any]

    def __iter__(self) -> Iterator[Any]:
        return self._events

    def __next__(self) -> Any:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the provider's call."""
        self._inside.close()

    def _held(self) -> Generator[Any, None, None]:
        holding = Holding(self._form)
        try:
            for event in self._inside:
                holding.add(event)
                if (text := holding.due()) is not None:
                    found = self._servers.judge(self._checked, text, is_whole=False)
                    _end_where_certain(found)
                    holding.judged(found)
                yield from holding.released()
            found_all = [self._servers.judge(self._checked, text) for text in holding.texts if text.strip()]
            Findings(self._checked, found_all, holding.unchecked).settle()
            yield from holding.rest()
        except GroundtrailError:
            self.close()
            raise

    def _watched(self) -> Generator[Any, None, None]:
        holding, last = Holding(self._form), list[Any]()
        for event in self._inside:
            yield from last
            holding.add(event)
            holding.rest()
            last = [event]
            if any(self._form.piece(event).texts.values()):
                yield from last
                last = []
        findings = Findings(self._checked, (), holding.unchecked)
        try:
            findings.found = [self._servers.judge(self._checked, text) for text in holding.texts if text.strip()]
        except GroundtrailError as error:
            findings.failed = error
        findings.settle(self, *last)
        yield from last


class AsyncGuardedStream(_Guarded):
    """A stream on an event loop."""

    _events: AsyncIterator[Any]

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    async def __anext__(self) -> Any:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the provider's call."""
        await self._inside.close()

    async def _held(self) -> AsyncGenerator[Any, None]:
        holding = Holding(self._form)
        try:
            async for event in self._inside:
                holding.add(event)
                if (text := holding.due()) is not None:
                    found = await self._servers.judge_async(self._checked, text, is_whole=False)
                    _end_where_certain(found)
                    holding.judged(found)
                for left in holding.released():
                    yield left
            Findings(self._checked, await self._all(holding), holding.unchecked).settle()
            for left in holding.rest():
                yield left
        except GroundtrailError:
            await self.close()
            raise

    async def _watched(self) -> AsyncGenerator[Any, None]:
        holding, last = Holding(self._form), list[Any]()
        async for event in self._inside:
            for left in last:
                yield left
            holding.add(event)
            holding.rest()
            last = [event]
            if any(self._form.piece(event).texts.values()):
                yield event
                last = []
        findings = Findings(self._checked, (), holding.unchecked)
        try:
            findings.found = await self._all(holding)
        except GroundtrailError as error:
            findings.failed = error
        findings.settle(self, *last)
        for left in last:
            yield left

    async def _all(self, holding: Holding) -> list[Judged]:
        return [await self._servers.judge_async(self._checked, text) for text in holding.texts if text.strip()]


class GuardedManager:
    """A manager that opens a stream whose own stream of events is replaced by a guarded one, on or off an event loop.

    Args:
        inside: the client's own manager.
        guarded: wraps the stream of events.
    """

    def __init__(self, inside: Any, guarded: Any) -> None:
        self._inside = inside
        self._guarded = guarded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)

    def __enter__(self) -> Any:
        return self._opened(self._inside.__enter__(), GuardedStream)

    def __exit__(self, *error: object) -> Any:
        return self._inside.__exit__(*error)

    async def __aenter__(self) -> Any:
        return self._opened(await self._inside.__aenter__(), AsyncGuardedStream)

    async def __aexit__(self, *error: object) -> Any:
        return await self._inside.__aexit__(*error)

    def _opened(self, stream: Any, kind: type[GuardedStream] | type[AsyncGuardedStream]) -> Any:
        events = getattr(stream, "_raw_stream", None)
        if events is None:
            raise GroundtrailError("NOT_GUARDED", "this version of the client's stream() cannot be guarded: use create")
        with contextlib.suppress(AttributeError):
            stream._raw_stream = self._guarded(events, kind)  # noqa: SLF001 - what its iterators read
            return stream
        raise GroundtrailError("NOT_GUARDED", "this version of the client's stream() cannot be guarded: use create")


def _end_where_certain(found: Judged) -> None:
    """Raise where no continuation makes a beginning pass."""
    if found.is_certain:
        raise withheld([found])
