"""Worker processes: answers, limits, lost children, callers that go away, idleness, the end."""

import asyncio
import json
import os
import signal
import socket
import sys
import textwrap
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from services.common.errors import ErrorReason, InvalidRequestError
from services.common.workers.counts import WorkerCounts
from services.common.workers.errors import (
    JobFailedError,
    JobLimitError,
    WorkerLostError,
    WorkersClosedError,
    WorkerStartError,
)
from services.common.workers.failures import from_data
from services.common.workers.frames import MAX_FRAME_BYTES, frame, lengths
from services.common.workers.pool import WorkerLimits, WorkerPool
from tests.leash import leashed, release

MODULE = "tests.fakes.worker_process"
LIMITS: dict[str, Any] = {"processes": 1, "memory_mib": 512, "job_s": 30.0, "idle_s": 60.0, "grace_s": 0.05}


@asynccontextmanager
async def a_pool(configuration=None, counts=None, **limits):
    pool = WorkerPool("test", MODULE, configuration or {}, WorkerLimits(**{**LIMITS, **limits}), counts)
    try:
        yield pool
    finally:
        await pool.close()


def is_there(pid):
    """Say whether a process is there, zombies included."""
    return Path(f"/proc/{pid}").exists()


async def until(condition):
    """Wait for what is sure to come."""
    while not condition():  # noqa: ASYNC110 - processes have no event to wait for
        await asyncio.sleep(0.01)


async def test_answers_come_in_parts_and_any_text_survives():
    said = ["\ud800 \x00 é😀", 0.1 + 0.2, None, {"a": [1]}]
    async with a_pool() as pool:
        assert pool.pids == []
        assert await pool.run("echo", said, b"\x00" * 3_000_000) == [said, 3_000_000]
        first = pool.pids
        assert await pool.run("echo", 1) == [1, 0]
        assert pool.pids == first
    assert not any(map(is_there, first))


async def test_a_refusal_comes_out_whole_and_a_failure_tells_no_text():
    async with a_pool() as pool:
        with pytest.raises(InvalidRequestError) as refused:
            await pool.run("refuse", None)
        error = refused.value
        assert (error.reason, error.message, error.metadata) == (ErrorReason.UNSUPPORTED_MEDIA, "no", {"detail": "x"})
        assert [(one.field, one.description) for one in error.violations] == [("content", "must be text")]
        with pytest.raises(JobFailedError) as failed:
            await pool.run("fail", "a secret of the text")
        assert str(failed.value) == "ValueError"
        assert await pool.run("echo", 1) == [1, 0]  # the child is well
        assert pool.counts.ended == {}


async def test_what_a_library_prints_goes_nowhere(capfd, caplog):
    async with a_pool() as pool:
        assert await pool.run("print", "a secret of the text") == ["quiet"]
        assert await pool.run("echo", 1) == [1, 0]
    assert capfd.readouterr() == ("", "")
    assert "secret" not in caplog.text


async def test_a_child_has_nothing_of_its_parent(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with socket.create_server(("127.0.0.1", 0)):
        async with a_pool(niceness=1) as pool:
            (seen,) = await pool.run("look", None)
    assert not any(name.startswith(("GROUNDTRAIL_", "AWS_")) for name in seen["environment"])
    assert not any(name.startswith("socket:") for name in seen["files"])
    assert seen["ignored"] == [True, True]
    assert seen["session"]
    assert seen["core"] == "0"
    assert seen["nice"] == os.nice(0) + 1


async def test_a_job_over_its_time_is_ended_and_the_next_has_a_new_child():
    async with a_pool(job_s=0.3) as pool:
        await pool.run("echo", 1)
        first = pool.pids
        with pytest.raises(JobLimitError) as over:
            await pool.run("spin", 60)
        assert over.value.limit == "time"
        assert await pool.run("echo", 1) == [1, 0]
        assert pool.pids != first
        assert pool.counts.ended == {"time": 1}


async def test_time_is_the_processor_s_and_not_the_clock_s():
    async with a_pool(job_s=0.2) as pool:
        assert await pool.run("sleep", 0.6) == ["done"]


async def test_a_job_over_its_memory_is_ended():
    async with a_pool() as pool:
        with pytest.raises(JobLimitError) as over:
            await pool.run("allocate", 1_000)
        assert over.value.limit == "memory"
        assert await pool.run("allocate", 10) == [10 << 20]
        assert pool.counts.ended == {"memory": 1}


async def test_a_job_whose_child_is_killed_is_tried_once_more(tmp_path):
    async with a_pool() as pool:
        assert await pool.run("die", [signal.SIGKILL, str(tmp_path / "died")]) == ["alive"]
        with pytest.raises(WorkerLostError) as lost:
            await pool.run("die", [signal.SIGKILL, ""])
        assert lost.value.status == -signal.SIGKILL
        assert pool.counts.ended == {"lost": 3}
        assert await pool.run("echo", 1) == [1, 0]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
async def test_a_job_that_crashes_its_child_is_not_tried_again(number, tmp_path):
    async with a_pool() as pool:
        with pytest.raises(WorkerLostError) as lost:
            await pool.run("die", [number, str(tmp_path / "died")])
        assert lost.value.status == -number
        assert pool.counts.ended == {"lost": 1}
        assert await pool.run("echo", 1) == [1, 0]


async def test_a_child_that_was_killed_while_idle_is_replaced_unnoticed():
    async with a_pool() as pool:
        await pool.run("echo", 1)
        (first,) = pool.pids
        os.kill(first, signal.SIGKILL)
        assert await pool.run("echo", 2) == [2, 0]
        assert pool.pids != [first]


async def test_signals_of_a_terminal_do_not_end_a_child():
    async with a_pool() as pool:
        await pool.run("echo", 1)
        (first,) = pool.pids
        for number in (signal.SIGINT, signal.SIGTERM) * 20:
            os.kill(first, number)
        assert await pool.run("echo", 2) == [2, 0]
        assert pool.pids == [first]


async def test_a_caller_that_goes_away_takes_its_job_along_and_no_other():
    async with a_pool() as pool:
        await pool.run("echo", 1)
        first = pool.pids
        left = asyncio.create_task(pool.run("spin", 60))
        queued = asyncio.create_task(pool.run("echo", "queued"))
        await until(lambda: pool.counts.busy == 1 and pool.counts.waiting == 1)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert await queued == ["queued", 0]
        assert not is_there(first[0])
        assert pool.pids != first
        assert pool.counts.ended == {"cancelled": 1}


async def test_a_job_that_ends_within_the_grace_keeps_its_child():
    async with a_pool(grace_s=30.0) as pool:
        await pool.run("echo", 1)
        first = pool.pids
        left = asyncio.create_task(pool.run("spin", 0.1))
        await until(lambda: pool.counts.busy == 1)
        left.cancel()
        await asyncio.wait([left])
        assert await pool.run("echo", 1) == [1, 0]
        assert (pool.pids, pool.counts.ended) == (first, {})


async def test_a_caller_that_leaves_the_queue_leaves_nothing():
    async with a_pool() as pool:
        running = asyncio.create_task(pool.run("sleep", 0.3))
        await until(lambda: pool.counts.busy == 1)
        queued = [asyncio.create_task(pool.run("spin", 60)) for _ in range(20)]
        await until(lambda: pool.counts.waiting == 20)
        for task in queued:
            task.cancel()
        await asyncio.wait(queued)
        assert await running == ["done"]
        assert await pool.run("echo", 1) == [1, 0]
        assert (pool.counts.waiting, pool.counts.busy, pool.counts.running) == (0, 0, 1)


async def test_a_start_is_nobody_s_work_and_goes_on_for_the_next():
    async with a_pool({"start_s": 0.3}) as pool:
        left = asyncio.create_task(pool.run("echo", 1))
        await asyncio.sleep(0.05)
        left.cancel()
        await asyncio.wait([left])
        await until(lambda: pool.counts.running == 1)
        started = pool.pids
        assert await pool.run("echo", 2) == [2, 0]
        assert pool.pids == started


async def test_no_more_children_than_allowed_and_each_is_used():
    async with a_pool(processes=2) as pool:
        seen = 0
        jobs = [asyncio.create_task(pool.run("sleep", 0.05)) for _ in range(10)]
        while not all(job.done() for job in jobs):
            seen = max(seen, len(pool.pids))
            await asyncio.sleep(0.005)
        assert seen == 2
        assert [await job for job in jobs] == [["done"]] * 10


async def test_an_idle_child_is_retired_and_another_started_when_needed():
    async with a_pool(idle_s=0.05) as pool:
        await pool.run("echo", 1)
        (first,) = pool.pids
        await until(lambda: not pool.pids and not is_there(first))
        assert pool.counts.ended == {"idle": 1}
        assert await pool.run("echo", 2) == [2, 0]


async def test_closing_ends_what_runs_and_what_waits():
    async with a_pool() as pool:
        running = asyncio.create_task(pool.run("spin", 60))
        await until(lambda: pool.counts.busy == 1)
        waiting = asyncio.create_task(pool.run("echo", 1))
        await until(lambda: pool.counts.waiting == 1)
        (pid,) = pool.pids
        await pool.close()
        for task in (running, waiting):
            with pytest.raises(WorkersClosedError):
                await task
        with pytest.raises(WorkersClosedError):
            await pool.run("echo", 1)
        assert not is_there(pid)
        await pool.close()


async def test_closing_while_a_child_starts():
    async with a_pool({"start_s": 0.2}) as pool:
        asked = asyncio.create_task(pool.run("echo", 1))
        await asyncio.sleep(0.05)
        await pool.close()
        with pytest.raises((WorkersClosedError, WorkerStartError)):
            await asked
        await pool.close()
        assert pool.pids == []


async def test_a_child_that_cannot_start_says_why_and_the_slot_stays_open():
    async with a_pool({"broken": True}) as pool:
        for _ in range(3):
            with pytest.raises(WorkerStartError, match="RuntimeError: nothing works here"):
                await pool.run("echo", 1)
        assert pool.failing
        assert pool.pids == []
    gone = WorkerPool("test", "tests.fakes.no_such_module", {}, WorkerLimits(**LIMITS))
    with pytest.raises(WorkerStartError, match="ended with status 1"):
        await gone.run("echo", 1)
    await gone.close()


def test_children_die_with_a_parent_that_is_killed(tmp_path):
    told = tmp_path / "pids"
    program = f"""
        import asyncio, json, pathlib
        from services.common.workers.pool import WorkerLimits, WorkerPool

        async def main():
            pool = WorkerPool("test", {MODULE!r}, {{}}, WorkerLimits(**{LIMITS!r}))
            job = asyncio.create_task(pool.run("spin", 60))
            while pool.counts.busy == 0:
                await asyncio.sleep(0.01)
            part = pathlib.Path({str(told)!r} + ".part")
            part.write_text(json.dumps(pool.pids))
            part.rename({str(told)!r})
            await job

        asyncio.run(main())
    """
    parent = leashed([sys.executable, "-c", textwrap.dedent(program)])
    while not told.exists():
        assert parent.poll() is None
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    release(parent)
    for pid in json.loads(told.read_text()):
        while is_there(pid) and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():  # init may reap late
            time.sleep(0.02)


async def test_the_numbers_are_what_a_registry_reads():
    counts, registry = WorkerCounts(), CollectorRegistry()
    registry.register(counts)
    async with a_pool(counts=counts.of_pool("test"), job_s=0.2) as pool:
        await pool.run("echo", 1)
        with pytest.raises(JobLimitError):
            await pool.run("spin", 60)
        await pool.run("echo", 1)
        text = generate_latest(registry).decode()
    assert 'groundtrail_workers{pool="test"} 1.0' in text
    assert 'groundtrail_workers_ended_total{pool="test",reason="time"} 1.0' in text
    assert 'groundtrail_worker_queue_seconds_count{pool="test"} 3.0' in text


def test_frames_and_failures_of_a_child_out_of_its_mind():
    assert lengths(frame([1], b"ab")[:8]) == (3, 2)
    with pytest.raises(ValueError, match="larger"):
        lengths((MAX_FRAME_BYTES).to_bytes(4, "little") + b"\x01\x00\x00\x00")
    odd = {"kind": "SystemExit", "reason": "INTERNAL", "message": "x", "violations": [], "retry_after_s": None}
    assert type(from_data({**odd, "metadata": {}})).__name__ == "CrpError"
