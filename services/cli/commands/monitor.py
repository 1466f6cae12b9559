"""``groundtrail log monitor``: follow the transparency log and say what does not extend or does not belong."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from crp.dag.v1 import transparency_service_pb2 as transparency

from services.allinone.parts import Part
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.kept_heads import read_key
from services.cli.monitoring import Follower, Look, MonitorState, StateFile
from services.cli.monitoring.follower import Head
from services.common.clock import SystemClock
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError, UnavailableError
from services.common.settings import Settings
from services.common.signed_note import NoteKey

_LONG: Final = 2
"""Pages from which on a read is shown as it goes."""


@dataclass(frozen=True, slots=True)
class MonitorWish:
    """How the log is followed.

    Attributes:
        public_key: the key or a file with it; empty = the one that was seen first.
        interval_s: between two looks.
    """

    state: Path
    public_key: str
    interval_s: float
    once: bool


class _RpcLog:
    """The log of the suite."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    async def head(self, size: int | None = None) -> Head:
        request = transparency.GetTreeHeadRequest(tree_size=size)
        head = (await self._suite.call(self._suite.transparency.GetTreeHead, request)).tree_head
        return Head(head.checkpoint, NoteKey(head.origin, head.public_key))

    async def entries(self, first: int, most: int) -> Sequence[bytes]:
        request = transparency.GetEntriesRequest(first_leaf_index=first, max_entries=most)
        leaves: Sequence[bytes] = (await self._suite.call(self._suite.transparency.GetEntries, request)).leaves
        return leaves


async def monitor(settings: Settings, output: Output, wish: MonitorWish) -> Exit:
    """Follow the log; exit code 3 when something was found, now or before."""
    file = StateFile(wish.state)
    state = file.read()
    _pin(state, wish.public_key)

    async def keep(kept: MonitorState) -> None:
        await asyncio.to_thread(file.write, kept)

    async with connect(settings, Part.SESSIONS) as suite:
        follower = Follower(_RpcLog(suite), state, SystemClock(), keep)
        while True:
            try:
                with _progress(output) as began:
                    look = await follower.look(began)
                _show(look, state, output, once=wish.once)
            except UnavailableError as error:
                if wish.once:
                    raise
                output.say(f"the server cannot be asked now: {error.message}", style="yellow")
                output.line({"error": {"reason": error.reason.value, "message": error.message}})
            if wish.once:
                return Exit.VERDICT if state.found else Exit.OK
            await asyncio.sleep(wish.interval_s)


def _pin(state: MonitorState, given: str) -> None:
    """Take the key that was given; one that is not the remembered log's is refused."""
    if not given:
        return
    key = read_key(given, "--public-key")
    if state.key is None:
        state.key = key
    elif state.key.name and key.name not in ("", state.key.name):
        text = f"is of the log {key.name}, and the state file remembers {state.key.name}"
        raise InvalidRequestError.of(FieldViolation("--public-key", text))
    else:
        state.key = NoteKey(state.key.name or key.name, key.public_key)


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[int], Callable[[], None]]]:
    """Show a long read page by page."""
    with ExitStack() as stack:

        def began(pages: int) -> Callable[[], None]:
            if pages <= _LONG:
                return lambda: None
            return stack.enter_context(output.progress("reading the log", pages)).step

        yield began


def _show(look: Look, state: MonitorState, output: Output, *, once: bool) -> None:
    root = state.tree.root().hex()
    for one in look.findings:
        place = f"leaf {one.leaf_index}: " if one.leaf_index >= 0 else ""
        whose = f" ({one.session_id})" if one.session_id else ""
        output.say(f"{one.kind.value}: {place}{one.detail}{whose}", style="bold red")
    if look.read or once or look.findings:
        output.say(f"size {look.tree_size}, {look.read} new, root {root}", style="dim")
    if once and state.rules.late:
        output.say(
            f"sessions that begin before the log, so that their first events are not in it: {state.rules.late}",
            style="yellow",
        )
    if once and state.found > len(look.findings):
        output.say(
            f"{counted(state.found, 'finding')} in all, earlier runs included; --json lists them", style="yellow"
        )
    told = {"tree_size": look.tree_size, "root": root, "read": look.read, "key": str(state.key or "")}
    findings = [asdict(one) for one in look.findings]
    if once:
        kept = [asdict(one) for one in state.findings]
        output.result({**told, "findings": findings, "all_findings": kept, "sessions_before_the_log": state.rules.late})
    else:
        output.line({**told, "findings": findings})
