"""A store that holds nothing but stand-ins takes a line that went on past all of them (SPEC-004 §10.2, ADR 0102)."""

import asyncio

import pytest

from services.common.errors import CrpError
from tests.property.test_dag_relay_walks import Stores


def walk(steps):
    async def go():
        stores = Stores(4)
        latest = await stores.window(0)
        for place, gives_up in steps:
            if gives_up:
                await stores.give_up(place, latest)
            else:
                latest = await stores.window(place, latest)
            await stores.check()
        return stores, latest

    return asyncio.run(go())


@pytest.mark.parametrize(
    "steps",
    [
        [(2, True), (0, False), (3, False), (1, False), (2, False)],
        [(0, False), (2, True), (0, False), (3, False), (1, False), (2, False)],
        [(2, True), (0, False), (2, True), (0, False), (3, False), (0, False), (1, False), (2, False), (0, False)],
    ],
    ids=["from the first window", "from a later one", "twice"],
)
def test_a_window_that_was_given_up_where_the_line_stood_does_not_shut_the_store(steps):
    _, latest = walk(steps)
    assert latest.number == 1 + sum(not gives_up for _, gives_up in steps)


def test_a_fork_that_a_store_of_own_windows_meets_is_refused_as_before():
    async def go():
        stores = Stores(3)
        first = await stores.window(0)
        second = await stores.window(1, first)
        await stores.window(0, second)
        other = await stores.window(2, first)  # the first token, used again where nobody can know
        with pytest.raises(CrpError) as caught:
            await stores.window(0, other)
        await stores.check()
        return caught.value

    assert asyncio.run(go()).reason.name in {"TOKEN_SPENT", "CONTINUATION_NOT_FOUND"}
