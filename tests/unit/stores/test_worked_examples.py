"""The worked examples of ADR 0030 and ADR 0031, by the code that decides."""

import asyncio
import sqlite3
import threading
from functools import partial

import numpy as np
import pytest

from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.vector_view import NO_END, NO_START, VectorView
from services.common.ports.facts import FactFilter
from services.common.settings.stores import StoreSettings
from tests.patience import patient

FACTS = 100_000


class Asked(Exception):  # noqa: N818 - a probe, not a failure
    """Says how the graph was used."""


class Graph:
    def search(self, queries, limit):
        raise Asked("search", limit)

    def vectors(self, numbers):
        raise Asked("compare", len(numbers))


def stored(_numbers):
    raise AssertionError("the graph has them")


def view() -> VectorView:
    numbers = np.arange(FACTS, dtype=np.int64)
    return VectorView(
        change=1,
        numbers=numbers,
        statuses=np.zeros(FACTS, dtype=np.int8),
        sources=(numbers % 50).astype(np.int32),
        communities=np.zeros(FACTS, dtype=np.int32),
        starts=np.full(FACTS, NO_START),
        ends=np.full(FACTS, NO_END),
        is_timed=False,
        source_codes={f"s{number}": number for number in range(50)},
        community_codes={"": 0},
        index=Graph(),
        indexed=FACTS,
        tail=(),
    )


@pytest.mark.parametrize(("sources", "use"), [(25, ("search", 146)), (1, ("compare", 2_000))])
def test_0031_a_filter_decides_how_the_graph_is_used(sources, use):
    where = FactFilter(source_ids=tuple(f"s{number}" for number in range(sources)))
    with pytest.raises(Asked) as asked:
        view().candidates(np.ones((1, 4), dtype=np.float32), 50, where, stored)
    assert asked.value.args == use


async def test_0030_of_64_writers_the_first_commits_alone_and_the_others_share(tmp_path):
    schema = Schema(application_id=7, migrations=(("CREATE TABLE notes (note INTEGER PRIMARY KEY)",),))
    database = await Database.open(tmp_path / "notes.db", schema, StoreSettings(disk_reserve_bytes=0))
    commits = []
    database._writer._connection.set_trace_callback(lambda text: commits.append(text) if text == "COMMIT" else None)
    all_queued = threading.Event()

    def write(number: int, connection: sqlite3.Connection) -> None:
        assert number > 0 or all_queued.wait(patient(5))  # stands for the fsync that the first write waits for
        connection.execute("INSERT INTO notes VALUES (?)", (number,))

    writes = [asyncio.create_task(database.write(partial(write, number))) for number in range(64)]
    await asyncio.sleep(0)
    all_queued.set()
    await asyncio.gather(*writes)
    await database.close()
    assert len(commits) <= 2
