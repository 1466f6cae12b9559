"""GetEntries: the whole log by index, without content, for whoever recomputes its root."""

import contextlib
import json
import sqlite3

import grpc
import pytest
from crp.dag.v1 import transparency_service_pb2 as pb

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.merkle import CompactRange, leaf_hash
from tests.contract.adapters import PLAIN
from tests.fakes.sealed_world import SealedWorld


async def entries(client, first=0, most=0, subject="alice"):
    request = pb.GetEntriesRequest(first_leaf_index=first, max_entries=most)
    return await client.ask_log("GetEntries", request, subject)


async def whole(client, page):
    """The log read to its end by pages."""
    leaves = []
    while True:
        answer = await entries(client, len(leaves), page)
        leaves += answer.leaves
        assert len(answer.leaves) <= page
        if not answer.leaves:
            assert answer.tree_size == len(leaves)
            return leaves


async def test_the_leaves_give_the_signed_root_of_every_size():
    async with SealedWorld().serving() as client:
        token = ""
        for number in range(3):
            token = (await client.window(token, text=f"A secret answer {number}.")).session_token
        leaves = await whole(client, 4)
        tree = CompactRange()
        for leaf in leaves:
            tree, _ = tree.extend([leaf_hash(leaf)])
            head = (await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest(tree_size=tree.size))).tree_head
            assert head.root_hash == tree.root()
        assert len(leaves) == 15
        assert b"secret" not in b"".join(leaves)
        fields = {"content_hmac", "position", "record_id", "record_kind", "session_id", "version"}
        assert all(json.loads(leaf).keys() == fields for leaf in leaves)
        assert await whole(client, 1) == await whole(client, 1_000) == leaves
        assert list((await entries(client, most=5_000)).leaves) == leaves


async def test_a_tenant_reads_its_own_log_and_a_reader_may():
    async with SealedWorld().serving() as client:
        await client.window()
        assert len((await entries(client, subject="reader")).leaves) == 5
        assert (await entries(client, subject="mallory")).tree_size == 0


async def test_an_index_beyond_the_log_is_refused():
    async with SealedWorld().serving() as client:
        assert (await entries(client)).tree_size == 0
        await client.window()
        assert list((await entries(client, 5)).leaves) == []
        for first in (6, 2**63, 2**64 - 1):
            refusal = await client.log_fails("GetEntries", pb.GetEntriesRequest(first_leaf_index=first))
            assert (refusal.reason, refusal.fields) == ("INVALID_FIELD", ("first_leaf_index",))


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM leaves WHERE leaf_index = 3",
        "UPDATE leaves SET record_kind = 'eventa' WHERE leaf_index = 3",
        "UPDATE leaves SET position = 'x' WHERE leaf_index = 3",
        "UPDATE leaves SET position = -1 WHERE leaf_index = 3",
        "UPDATE leaves SET content_hmac = x'00ff' WHERE leaf_index = 3",
        "UPDATE leaves SET session_id = x'ff' WHERE leaf_index = 3",
    ],
)
async def test_a_leaf_that_is_gone_or_none_is_named_and_the_rest_goes_on(tmp_path, change):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    async with SealedWorld(store).serving() as client:
        await client.window()
        with contextlib.closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
            connection.executescript(change)
        refusal = await client.log_fails("GetEntries", pb.GetEntriesRequest())
        assert refusal.code is grpc.StatusCode.DATA_LOSS
        assert (refusal.reason, refusal.metadata["leaf_index"]) == ("LOG_INCONSISTENT", "3")
        assert len((await entries(client, 0, 3)).leaves) == 3
        assert len((await entries(client, 4)).leaves) == 1
        assert (await entries(client, subject="mallory")).tree_size == 0
        assert (await client.log_fails("GetTreeHead", pb.GetTreeHeadRequest())).reason == "LOG_INCONSISTENT"
    await store.close()


async def test_a_changed_leaf_is_given_as_it_is_so_that_the_root_shows_it(tmp_path):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    async with SealedWorld(store).serving() as client:
        await client.window()
        before = await whole(client, 10)
        with contextlib.closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as connection:
            connection.execute("UPDATE leaves SET position = position + 1 WHERE leaf_index = 3")
        after = await whole(client, 10)
        assert [a == b for a, b in zip(before, after, strict=True)] == [True] * 3 + [False, True]
    await store.close()
