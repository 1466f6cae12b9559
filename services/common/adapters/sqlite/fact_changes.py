"""What changed in a tenant's facts since a change number, and facts without their text, inside one read transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.common.adapters.sqlite.fact_reads import FactReads
from services.common.adapters.sqlite.fact_text import RETRIEVABLE
from services.common.adapters.sqlite.values import chunks, marks, moment
from services.common.ports.fact_changes import FactOutline, StateChanges, StateKnown, StateRow
from services.common.ports.facts import FactStatus, StateEntry

_MOST_CHANGES: Final = 10_000
"""Changes that are told one by one; beyond it the reader starts over with the communities that it wants."""
_BLOCK_ROWS: Final = 4_096
_STATUSES: Final = {status.value: status for status in FactStatus}

_ROWS: Final = (
    "SELECT fact_no, community_label, fact_id, content_hash, modified_us, status FROM facts WHERE tenant_no = ?"
)
_CHANGED: Final = f"{_ROWS} AND change > ? LIMIT {_MOST_CHANGES + 1}"
_REMOVED: Final = f"SELECT fact_no FROM removals WHERE tenant_no = ? AND change > ? LIMIT {_MOST_CHANGES + 1}"  # noqa: S608
_OUTLINES: Final = (
    "SELECT fact_id, content_hash, importance_weight, community_label FROM facts "  # noqa: S608
    f"WHERE tenant_no = ? AND fact_id > ? AND status IN ({marks(RETRIEVABLE)}) ORDER BY fact_id LIMIT {_BLOCK_ROWS}"
)


def known_change(facts: FactReads) -> int:
    """Return the tenant's change number; 0 for one that has written nothing."""
    return 0 if facts.tenant_no is None else facts.change()


def state_changes(facts: FactReads, known: StateKnown, communities: frozenset[str] | None) -> StateChanges:
    """Return how the entries of known communities changed, and all entries of the others that are wanted."""
    if facts.tenant_no is None:
        return StateChanges(0, starts_over=True, removed=(), changed=(), added=())
    change = facts.change()
    changed: Sequence[Any] = ()
    removed: list[int] = []
    if 0 <= known.change < change:
        changed = facts.connection.execute(_CHANGED, (facts.tenant_no, known.change)).fetchall()
        removed = [row[0] for row in facts.connection.execute(_REMOVED, (facts.tenant_no, known.change))]
    starts_over = known.change < 0 or max(len(changed), len(removed)) > _MOST_CHANGES
    if starts_over:
        known, changed, removed = StateKnown(), (), []
    return StateChanges(change, starts_over, removed, list(map(_row, changed)), _added(facts, known, communities))


def outline_block(facts: FactReads, after: str) -> list[FactOutline]:
    """Return the next retrievable facts by id, without text and vector."""
    if facts.tenant_no is None:
        return []
    rows = facts.connection.execute(_OUTLINES, (facts.tenant_no, after, *RETRIEVABLE))
    return [FactOutline(*row) for row in rows]


def _added(facts: FactReads, known: StateKnown, communities: frozenset[str] | None) -> list[StateRow]:
    if known.communities is None:
        return []
    if communities is None:
        return [_row(row) for row in facts.connection.execute(_ROWS, (facts.tenant_no,))]
    return [_row(row) for row in _of_communities(facts, sorted(communities - known.communities))]


def _of_communities(facts: FactReads, labels: Sequence[str]) -> Iterable[Any]:
    for some in chunks(labels):
        statement = f"{_ROWS} AND community_label IN ({marks(some)})"
        yield from facts.connection.execute(statement, (facts.tenant_no, *some))


def _row(row: Sequence[Any]) -> StateRow:
    number, community, fact_id, content_hash, modified, status = row
    return StateRow(number, community, StateEntry(fact_id, content_hash, moment(modified), _STATUSES[status]))
