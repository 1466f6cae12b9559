"""Races and repeats: one winner, the same answer byte for byte, no gap in the audit chain."""

import asyncio

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.errors import ConflictError, CrpError, ErrorReason
from services.common.rpc.idempotency import body_hash
from services.common.settings.dag import DagSettings
from services.common.settings.stores import StoreSettings
from services.common.taxonomy import ChainIntegrity
from services.dag import answers, convert
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, CountingIds, World, commit_request, fresh_uuid
from tests.tenth import WHOLE


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def outcome(call):
    import grpc

    from tests.fakes.dag_world import Refusal

    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error).reason


async def test_many_commits_of_one_window_have_one_winner(world, client):
    first = await client.window()
    opened = await client.open(first.session_token)
    requests = [commit_request(opened, f"Answer {number}.") for number in range(40)]
    outcomes = await asyncio.gather(*(outcome(client.call("CommitWindow", request)) for request in requests))
    won = [answer for answer in outcomes if isinstance(answer, pb.CommitWindowResponse)]
    lost = [answer for answer in outcomes if isinstance(answer, str)]
    assert len(won) == 1
    assert set(lost) <= {"COMMIT_RACE", "WINDOW_NOT_PENDING"}
    assert len(lost) == 39
    second = await client.window(won[0].session_token)
    assert second.window.window_number == 3
    verification = await world.reads.verify("tenant-a", first.session.session_id)
    assert (verification.integrity, verification.windows_verified) == (ChainIntegrity.VALID, 3)


class Waiting:
    """A store whose writes wait for each other, so that every racer has read before one writes."""

    def __init__(self, store, racers):
        self._store = store
        self._barrier = asyncio.Barrier(racers)

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def write(self, *changes):
        if not self._barrier.broken:
            try:
                async with asyncio.timeout(0.2):
                    await self._barrier.wait()
            except (TimeoutError, asyncio.BrokenBarrierError):
                await self._barrier.abort()
        await self._store.write(*changes)


async def test_two_commits_that_truly_race():
    world = World()
    async with world.serving() as client:
        opened = await client.open()
        world.app._writer._store = Waiting(world.store, 2)
        requests = [commit_request(opened, f"Answer {number}.") for number in range(2)]
        outcomes = await asyncio.gather(*(outcome(client.call("CommitWindow", request)) for request in requests))
        assert sorted(str(type(answer).__name__) for answer in outcomes) == ["CommitWindowResponse", "str"]
        assert "COMMIT_RACE" in outcomes


async def test_two_openings_with_one_token_have_one_winner():
    world = World()
    async with world.serving() as client:
        first = await client.window()
        world.app._writer._store = Waiting(world.store, 2)
        openings = await asyncio.gather(*(outcome(client.open(first.session_token)) for _ in range(2)))
        assert "TOKEN_SPENT" in openings
        assert sum(isinstance(answer, pb.OpenWindowResponse) for answer in openings) == 1


async def test_a_commit_and_an_append_both_succeed():
    world = World()
    async with world.serving() as client:
        opened = await client.open()
        world.app._writer._store = Waiting(world.store, 2)
        append = pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=opened.session.session_id,
            data="{}",
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        )
        committed, appended = await asyncio.gather(client.commit(opened), client.call("AppendEvent", append))
        assert committed.window.hmac
        assert appended.event.hmac
        verification = await world.reads.verify("tenant-a", opened.session.session_id)
        assert (verification.integrity, verification.events_verified) == (ChainIntegrity.VALID, 5)


async def test_many_appends_leave_no_gap(world, client):
    first = await client.window()

    def append(number):
        return pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=first.session.session_id,
            data=f'{{"n":{number}}}',
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        )

    answers = await asyncio.gather(*(client.call("AppendEvent", append(number)) for number in range(50)))
    assert sorted(answer.event.sequence for answer in answers) == list(range(4, 54))
    verification = await world.reads.verify("tenant-a", first.session.session_id)
    assert (verification.integrity, verification.events_verified) == (ChainIntegrity.VALID, 54)


REPEATED = ["CreateSession", "OpenWindow", "CommitWindow", "FailWindow", "AppendEvent", "TerminateSession"]


async def request_for(client, rpc):
    if rpc == "CreateSession":
        return pb.CreateSessionRequest(request_id=fresh_uuid())
    if rpc == "OpenWindow":
        return pb.OpenWindowRequest(request_id=fresh_uuid())
    opened = await client.open()
    ids = {"request_id": fresh_uuid(), "session_id": opened.session.session_id}
    return {
        "CommitWindow": lambda: commit_request(opened),
        "FailWindow": lambda: pb.FailWindowRequest(**ids, window_id=opened.window.window_id, reason="r"),
        "AppendEvent": lambda: pb.AppendEventRequest(**ids, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL),
        "TerminateSession": lambda: pb.TerminateSessionRequest(**ids, reason="r"),
    }[rpc]()


def freshness(rpc, answers):
    """Take out of the answers what alone may differ, and return it: an OpenWindow says whether it was the one."""
    if rpc != "OpenWindow":
        return [True] + [False] * (len(answers) - 1)
    told = [answer.fresh for answer in answers]
    for answer in answers:
        answer.ClearField("fresh")
    return told


@pytest.mark.parametrize("rpc", REPEATED)
async def test_a_repeated_request_gets_the_same_answer_and_does_nothing(world, client, rpc):
    request = await request_for(client, rpc)
    first = await client.call(rpc, request)
    written = {key: (held.record.version, len(held.events)) for key, held in world.store._sessions.items()}
    world.clock.advance(hours=23)
    again = await client.call(rpc, request)
    assert freshness(rpc, [first, again]) == [True, False]
    assert again.SerializeToString(deterministic=True) == first.SerializeToString(deterministic=True)
    assert written == {key: (held.record.version, len(held.events)) for key, held in world.store._sessions.items()}


@pytest.mark.parametrize("rpc", REPEATED)
async def test_the_same_request_many_times_at_once_happens_once(world, client, rpc):
    request = await request_for(client, rpc)
    before = sum(held.record.version for held in world.store._sessions.values())
    answers = await asyncio.gather(*(client.call(rpc, request) for _ in range(10)))
    assert sorted(freshness(rpc, answers)) == [False] * 9 + [True]
    assert len({answer.SerializeToString(deterministic=True) for answer in answers}) == 1
    assert sum(held.record.version for held in world.store._sessions.values()) == before + 1


@pytest.mark.parametrize("rpc", REPEATED)
async def test_another_body_under_the_same_id_is_refused(client, rpc):
    request = await request_for(client, rpc)
    await client.call(rpc, request)
    field, value = {
        "CreateSession": ("policy_hash", "a" * 64),
        "OpenWindow": ("policy_hash", "a" * 64),
        "CommitWindow": ("token_count", 999),
        "AppendEvent": ("data", '{"other":1}'),
    }.get(rpc, ("reason", "another"))
    setattr(request, field, value)
    assert (await client.fails(rpc, request)).reason == "REQUEST_ID_REUSED"


async def test_a_request_id_is_free_again_after_a_day(world, client):
    request = pb.CreateSessionRequest(request_id=fresh_uuid())
    first = await client.call("CreateSession", request)
    world.clock.advance(hours=24, seconds=1)
    again = await client.call("CreateSession", request)
    assert again.session.session_id != first.session.session_id


async def test_endless_conflicts_end_in_a_race():
    world = World()

    class Losing:
        def __getattr__(self, name):
            return getattr(world.store, name)

        async def write(self, *changes):
            raise ConflictError(ErrorReason.COMMIT_RACE, "always")

    world.app._writer._store = Losing()
    from services.dag.beginning import CreateCommand

    key = RequestKey("CreateSession", fresh_uuid(), "h", lambda _: b"")
    with pytest.raises(CrpError) as caught:
        await world.app.create_session(ALICE, CreateCommand(), key)
    assert caught.value.reason is ErrorReason.COMMIT_RACE


@pytest.mark.tenth
@pytest.mark.parametrize("writers", [32 if WHOLE else 8])
async def test_as_many_processes_commit_siblings_of_one_session(tmp_path, writers):
    """Each writer has its own queue, as in a process of its own: only the store's version guard stands between them."""
    inner = await SqliteSessionStore.open(tmp_path / "sessions.db", StoreSettings(data_dir=tmp_path))
    keys = World().keys
    store = SealedSessionStore(inner, Sealer(keys))
    settings = DagSettings(max_fan_out=writers)
    here = World(store=store, keys=keys, settings=settings)
    async with here.serving() as client:
        root = await client.window()
        fan_out = taxonomy.DISPATCH_STRATEGY_FAN_OUT
        children = [await client.open(root.session_token, strategy=fan_out) for _ in range(writers)]
    elsewhere = [World(store=store, clock=here.clock, ids=CountingIds(prefix=f"p{n}x")) for n in range(writers)]

    async def commit(world, child):
        request = commit_request(child)
        key = RequestKey("CommitWindow", request.request_id, body_hash(request), answers.committed)
        answer = await world.app.commit_window(ALICE, convert.commit_command(request), key)
        return pb.CommitWindowResponse.FromString(answer)

    committed = await asyncio.gather(*(commit(*pair) for pair in zip(elsewhere, children, strict=True)))
    assert {answer.window.status for answer in committed} == {dag_pb2.WINDOW_STATUS_COMMITTED}
    assert len({answer.window.hmac for answer in committed}) == writers
    verification = await here.reads.verify("tenant-a", root.session.session_id)
    assert (verification.integrity, verification.windows_verified) == (ChainIntegrity.VALID, writers + 1)
    await store.close()
