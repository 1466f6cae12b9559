"""What an engine still owes: facts that are no more, whose vectors it may hold (ADR 0129).

One row of ``store`` for each tenant that an engine was ever given vectors of: the change number up to which everything
that went away has been destroyed there too. It is written before the first vector is sent, and raised only after the
engine has confirmed; so whatever breaks off in between, also in another process, is still owed.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.fact_rows import VECTOR_TYPE, tenant_change, tenant_number
from services.common.adapters.sqlite.values import json_list
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers

_GONE: Final = """
    SELECT fact_no FROM removals WHERE tenant_no = ?1 AND change > ?2
    UNION SELECT fact_no FROM facts WHERE tenant_no = ?1 AND change > ?2 AND status = 'DELETED'
    ORDER BY fact_no
"""
_ALIVE: Final = """
    SELECT fact_no FROM facts WHERE tenant_no = ? AND status <> 'DELETED'
    AND fact_no IN (SELECT value FROM json_each(?))
"""
_LATEST: Final = """
    SELECT fact_no, embedding FROM facts JOIN vectors USING (fact_no) WHERE tenant_no = ? AND status <> 'DELETED'
    AND fact_no IN (SELECT value FROM json_each(?)) ORDER BY fact_no DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Debt:
    """Numbers of a tenant's facts that were gone at a change number and may stand in the engine."""

    tenant_no: int
    change: int
    numbers: Numbers


def is_held(connection: sqlite3.Connection, tenant_no: int) -> bool:
    """Say whether the engine was ever given vectors of the tenant."""
    return connection.execute("SELECT 1 FROM store WHERE name = ?", (_name(tenant_no),)).fetchone() is not None


def hold(connection: sqlite3.Connection, tenant_no: int) -> None:
    """Write down that the engine is about to be given vectors of the tenant."""
    change = tenant_change(connection, tenant_no)
    connection.execute("INSERT OR IGNORE INTO store VALUES (?, ?)", (_name(tenant_no), str(change)))


def debt_of(connection: sqlite3.Connection, tenant_id: str) -> Debt | None:
    """Return what the engine owes of a tenant; ``None`` when it never had anything of it."""
    tenant_no = tenant_number(connection, tenant_id)
    if tenant_no is None:
        return None
    row = connection.execute("SELECT value FROM store WHERE name = ?", (_name(tenant_no),)).fetchone()
    if row is None:
        return None
    gone = [number for (number,) in connection.execute(_GONE, (tenant_no, int(row[0])))]
    return Debt(tenant_no, tenant_change(connection, tenant_no), np.array(gone, dtype=np.int64))


def settle(connection: sqlite3.Connection, debt: Debt) -> None:
    """Write down that the engine has destroyed it."""
    connection.execute(
        "UPDATE store SET value = ?2 WHERE name = ?1 AND CAST(value AS INTEGER) < ?2",
        (_name(debt.tenant_no), debt.change),
    )


def alive(connection: sqlite3.Connection, tenant_no: int, numbers: Numbers) -> NDArray[np.bool_]:
    """Say of each number whether it is of a fact of the tenant that is not DELETED."""
    found = [number for (number,) in connection.execute(_ALIVE, (tenant_no, json_list(numbers.tolist())))]
    return np.isin(numbers, np.array(found, dtype=np.int64))


def latest_of(connection: sqlite3.Connection, tenant_no: int, numbers: Numbers) -> tuple[int, Vectors] | None:
    """Return the highest of the numbers that is of a living fact, and the fact's vector."""
    row = connection.execute(_LATEST, (tenant_no, json_list(numbers.tolist()))).fetchone()
    return None if row is None else (row[0], np.frombuffer(row[1], dtype=VECTOR_TYPE))


def _name(tenant_no: int) -> str:
    return f"engine {tenant_no}"
