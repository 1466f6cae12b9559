"""The DAG as lines of text, as SPEC-004 appendix A draws it: a tree of forks, then each join with what follows it.

A line is a row of (text, word) pairs: ``word`` is a risk level or status that a terminal may colour, and empty
elsewhere; the text says everything without it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from services.dag.exports.picture import NOT_YET, DagPicture, WindowPicture
from services.dag.exports.plain import plain

MAX_DEPTH: Final = 12
"""Generations that are indented under one another; deeper ones begin a block of their own."""
_HMAC_DIGITS: Final = 12

Line = tuple[tuple[str, str], ...]


def tree(picture: DagPicture) -> list[Line]:
    """Return the drawing: windows, HMAC chain, quality history, safety budget."""
    lines: list[Line] = [_said(f"Session: {plain(picture.session_id)} ({picture.status})"), ()]
    lines += _Layout(picture).lines()
    if picture.agents:
        lines += [(), _said("Merged from agents' sessions:"), *(_said(text) for text in _merged(picture))]
    lines += [(), _said("HMAC Chain:"), *(_said(text) for text in _chain(picture))]
    lines += [(), *(_said(text) for text in _histories(picture))]
    return lines


def _said(text: str) -> Line:
    return ((text, ""),)


class _Layout:
    """Draws every window once, also in a stored graph that is no tree and no DAG."""

    def __init__(self, picture: DagPicture) -> None:
        self._picture = picture
        self._by_id = picture.by_id()
        self._children = picture.children()
        self._drawn: set[str] = set()
        self._blocks: list[WindowPicture] = []

    def lines(self) -> Iterator[Line]:
        """Yield the blocks: roots, joins and what is too deep, and at last what no root leads to."""
        order = {window.window_id: place for place, window in enumerate(self._picture.windows)}
        self._blocks = [window for window in self._picture.windows if not window.parents]
        while len(self._drawn) < len(self._picture.windows):
            if not self._blocks:
                self._blocks = [next(w for w in self._picture.windows if w.window_id not in self._drawn)]
            self._blocks.sort(key=lambda window: order[window.window_id])
            window = self._blocks.pop(0)
            if window.window_id in self._drawn:
                continue
            if self._drawn:
                yield ()
            yield from self._block(window)

    def _block(self, top: WindowPicture) -> Iterator[Line]:
        """Yield a window, led to by its parents' names where it has some, and everything under it."""
        yield from self._joined(top)
        # Entries are windows to draw, with the text before them and before their children.
        waiting = self._under(top, "", 1)
        while waiting:
            window, before, indent, depth = waiting.pop()
            if window.window_id in self._drawn:
                continue
            yield _said(f"{before[: -len('├──► ')]}│")
            yield self._line(window, before)
            waiting += self._under(window, indent, depth + 1)

    def _joined(self, window: WindowPicture) -> Iterator[Line]:
        names = [f"Window {self._by_id[parent].name}" for parent in window.parents]
        width = max((len(name) for name in names), default=0)
        middle = (len(names) - 1) // 2
        for place, name in enumerate(names):
            lead = f"{name.ljust(width)} ──{_corner(place, len(names), middle)}"
            yield self._line(window, f"{lead}──► ") if place == middle else _said(lead)
        if not names:
            yield self._line(window, "")

    def _under(self, window: WindowPicture, indent: str, depth: int) -> list[tuple[WindowPicture, str, str, int]]:
        """Return the window's children, last first; joins and what is too deep wait for a block of their own."""
        fresh = [child for child in self._children[window.window_id] if child.window_id not in self._drawn]
        own = [child for child in fresh if len(child.parents) == 1 and depth <= MAX_DEPTH]
        self._blocks += [child for child in fresh if child not in own and self._ready(child)]
        found = []
        for place, child in enumerate(own):
            last = place == len(own) - 1
            found.append((child, f"{indent}{'└' if last else '├'}──► ", indent + ("     " if last else "│    "), depth))
        return found[::-1]

    def _ready(self, window: WindowPicture) -> bool:
        return all(parent in self._drawn for parent in window.parents)

    def _line(self, window: WindowPicture, before: str) -> Line:
        self._drawn.add(window.window_id)
        root = "root, " if window.is_root else ""
        state = ((", ", ""), (window.status, window.status)) if window.status != "COMMITTED" else ()
        missing = "" if not window.elsewhere else ", parents not in this store"
        return (
            (f"{before}Window {window.name} [{root}{window.pattern}, Quality={window.tier}, Risk=", ""),
            (window.risk, window.risk),
            (f", Budget={window.budget:.2f}", ""),
            *state,
            (f"{missing}] {plain(window.window_id)}", ""),
        )


def _corner(place: int, count: int, middle: int) -> str:
    if count == 1:
        return "─"
    if place == middle:
        return "┬" if place == 0 else "┼"
    if place == 0:
        return "┐"
    return "┘" if place == count - 1 else "┤"


def _merged(picture: DagPicture) -> Iterator[str]:
    """Yield which answer of which agent's session flowed into which window (SPEC-004 §15.1)."""
    by_id = picture.by_id()
    for agent in picture.agents:
        target = f"Window {by_id[agent.target].name}" if agent.target in by_id else plain(agent.target)
        yield (
            f"  {plain(agent.session_id)} ──► {target} [{agent.transfer}, Budget={agent.budget:.2f}] "
            f"{plain(agent.window_id)} sha256:{plain(agent.hmac, _HMAC_DIGITS)}"
        )


def _chain(picture: DagPicture) -> Iterator[str]:
    """Yield what each HMAC is over (SPEC-004 §9), in appendix A's notation."""
    by_id = picture.by_id()
    for window in picture.windows:
        if not window.hmac:
            continue
        value = f"sha256:{plain(window.hmac, _HMAC_DIGITS)}"
        parents = [f"W{by_id[parent].name}" for parent in window.parents] + [plain(p) for p in window.elsewhere]
        if not parents:
            yield f"  Root: {value}"
        else:
            over = f"{parents[0]}_HMAC" if len(parents) == 1 else f"SORT[{', '.join(parents)}]_HMACs"
            yield f"  W{window.name}: HMAC(W{window.name}_content || {over}, key) = {value}"


def _histories(picture: DagPicture) -> Iterator[str]:
    """Yield the quality history and the budgets of committed windows by number; brackets mark parallel windows."""
    groups: dict[int, list[WindowPicture]] = defaultdict(list)
    for window in picture.windows:
        if window.tier != NOT_YET and window.status == "COMMITTED":
            groups[window.number].append(window)
    tiers = [_grouped(group, [window.tier for window in group], ",") for group in groups.values()]
    budgets = [_grouped(group, [f"{window.budget:.2f}" for window in group], ", ") for group in groups.values()]
    yield f"QualityHistory: {', '.join(tiers) or 'none yet'}"
    yield f"Safety Budget: {' → '.join(budgets) or 'none spent yet'}"
    if picture.breaker:
        yield f"Left: {picture.message.session.safety_budget:.2f}, circuit breaker {picture.breaker}"


def _grouped(group: Sequence[WindowPicture], values: Sequence[str], comma: str) -> str:
    text = comma.join(values)
    return f"[{text}]" if len(group) > 1 or group[0].forks else text
