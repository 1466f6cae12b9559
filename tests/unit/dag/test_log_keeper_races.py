"""Heads that are kept at the same time: a head that another call keeps meanwhile is no head that went away."""

import asyncio
import uuid

from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.dag.log_keeper import LogKeeper
from tests.fakes.dag_world import World

TENANT = "tenant-a"


class Late:
    """A store whose state is read at once and told late, when ``told`` is set."""

    def __init__(self, store):
        self._store = store
        self.told = None

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def log_state(self, tenant_id):
        state = await self._store.log_state(tenant_id)
        if self.told is not None:
            waiting, self.told = self.told, None
            await waiting.wait()
        return state


async def test_a_larger_head_that_is_kept_meanwhile_is_no_fault():
    world = World()
    async with world.serving() as client:
        first = await client.window()

        async def append():
            await client.call(
                "AppendEvent",
                pb.AppendEventRequest(
                    request_id=str(uuid.uuid4()),
                    session_id=first.session.session_id,
                    event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
                    data="{}",
                ),
            )

        store = Late(world.store)
        keeper = LogKeeper(store, world.keys)
        await keeper.admit(TENANT)
        await append()
        small = (await store.log_state(TENANT)).size
        told = store.told = asyncio.Event()
        slow = asyncio.create_task(keeper.extend(TENANT, small))
        while store.told is not None:  # noqa: ASYNC110 - until the state was read
            await asyncio.sleep(0)
        await append()
        large = (await store.log_state(TENANT)).size
        await keeper.extend(TENANT, large)
        told.set()
        await slow
        await append()
        await keeper.extend(TENANT, large + 1)
        assert keeper.details() == {}
        assert keeper._kept[TENANT].size == large + 1
        await keeper.close()
