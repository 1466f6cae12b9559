"""A service as a process: start, ready file, configuration in the log, signals, exit statuses."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest

from services.common.composition import Adapters
from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings
from tests.leash import leashed, release
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import asyncio, sys
from services.common.context import Role
from services.common.rpc.main import run
from services.common.rpc.server import ServedService
from tests.fakes.runtime_probe import SERVICE, healthy, register

async def slow(request, context):
    sys.stderr.write("entered\\n")
    sys.stderr.flush()
    await asyncio.sleep(float(request.value))
    return request

async def build(settings, adapters):
    return [ServedService(SERVICE, register({"Slow": slow}), {"Slow": Role.READER}, healthy)]

run("probe", build)
"""


class Process:
    """The child and its output."""

    def __init__(self, folder, arguments, **environment):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GROUNDTRAIL_")}
        self.ready_file = folder / "ready.json"
        self.log = (folder / "stderr").open("w+")
        self.child = leashed(
            [sys.executable, "-c", SCRIPT, *arguments, "--ready-file", str(self.ready_file)],
            cwd=folder,
            env=kept | {"PYTHONPATH": f"{ROOT}:{ROOT / 'gen'}"} | environment,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def ready(self):
        until = time.monotonic() + patient(30)
        while not self.ready_file.exists():
            assert self.child.poll() is None, self.stderr()
            assert time.monotonic() < until, self.stderr()
            time.sleep(0.02)
        return json.loads(self.ready_file.read_text())

    def stderr(self):
        return Path(self.log.name).read_text()


@contextlib.contextmanager
def process(folder, *arguments, **environment):
    started = Process(folder, arguments, **environment)
    try:
        yield started
    finally:
        release(started.child)
        started.log.close()


def call(address, seconds):
    from google.protobuf.wrappers_pb2 import StringValue

    from tests.fakes.runtime_probe import SERVICE

    with grpc.insecure_channel(address) as channel:
        rpc = channel.unary_unary(f"/{SERVICE}/Slow", StringValue.SerializeToString, StringValue.FromString)
        return rpc(StringValue(value=str(seconds)), timeout=patient(20)).value


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_serves_says_where_and_drains_on_a_signal(tmp_path, number):
    secret = "sk-verysecretvalue"
    arguments = ("--port", "0", "--telemetry-port", "0", "--insecure-local")
    with process(tmp_path, *arguments, GROUNDTRAIL_LLM__API_KEY=secret) as started:
        ready = started.ready()
        assert ready["service"] == "probe"
        assert ready["ready"] is True
        assert ready["pid"] == started.child.pid
        assert ready["address"] == f"127.0.0.1:{ready['port']}"
        assert started.child.stdout.readline() == f"probe listening on {ready['address']}\n"
        assert call(ready["address"], 0.0) == "0.0"
        slow = _in_thread(call, ready["address"], 0.7)
        _until(lambda: started.stderr().count("entered") == 2)
        started.child.send_signal(number)
        assert slow() == "0.7"
        assert started.child.wait(patient(20)) == 0
        log = started.stderr()
    assert secret not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    configuration = next(line for line in lines if line["event"] == "configuration")
    assert configuration["settings"]["llm.api_key"] == "**********"
    assert configuration["settings"]["server.port"] == "0"
    assert [line["event"] for line in lines if line["event"] in {"listening", "draining", "stopped"}] == [
        "listening",
        "draining",
        "stopped",
    ]


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        ((), {"GROUNDTRAIL_SERVER__PROT": "1"}, "did you mean GROUNDTRAIL_SERVER__PORT?"),
        (("--insecure-local", "--host", "0.0.0.0"), {}, "loopback"),
        (("--insecure-local", "--port", "70000"), {}, "command line"),
    ],
    ids=["unknown variable", "insecure on every interface", "port"],
)
def test_settings_that_cannot_be_used_end_the_process_with_2(tmp_path, arguments, environment, said):
    with process(tmp_path, *arguments, **environment) as started:
        assert started.child.wait(patient(30)) == 2
        assert said in started.stderr()
        assert "Traceback" not in started.stderr()


@pytest.mark.parametrize("typed", [True, False])
def test_a_taken_port_ends_the_process_with_2_and_is_told_as_it_was_given(tmp_path, typed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments, environment = (("--port", port), {}) if typed else ((), {"GROUNDTRAIL_SERVER__PORT": port})
        with process(tmp_path, "--insecure-local", *arguments, **environment) as started:
            assert started.child.wait(patient(30)) == 2
            lines = [line for line in started.stderr().splitlines() if "cannot listen on" in line]
    named = "--port (GROUNDTRAIL_SERVER__PORT)" if typed else "GROUNDTRAIL_SERVER__PORT"
    assert [line.split(": ")[1] for line in lines] == [named]


def _in_thread(function, *arguments):
    import concurrent.futures

    pool = concurrent.futures.ThreadPoolExecutor(1)
    future = pool.submit(function, *arguments)
    pool.shutdown(wait=False)
    return lambda: future.result(patient(20))


def _until(condition):
    until = time.monotonic() + patient(20)
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


class Closing:
    """An adapter that tells when it is closed."""

    def __init__(self, name, order):
        self.name, self.order = name, order

    async def close(self):
        self.order.append(self.name)


async def test_everything_built_is_closed_in_reverse_also_when_the_start_fails_half_way():
    settings = Settings(server=ServerSettings(port=0, insecure_local=True))
    order = []

    async def build(settings, adapters):
        for name in ("first", "second"):

            async def open_adapter(name=name):
                return Closing(name, order)

            await adapters._once(name, open_adapter)
        raise RuntimeError("the third one breaks")

    with pytest.raises(RuntimeError, match="third"):
        async with running_server("probe", build, settings):
            pass
    assert order == ["second", "first"]


async def test_shared_adapters_stay_open_for_their_owner():
    from services.common.context import Role
    from services.common.rpc.server import ServedService
    from tests.fakes.runtime_probe import SERVICE, echo, healthy, register

    settings = Settings(server=ServerSettings(port=0, insecure_local=True))
    order = []

    async def open_adapter():
        return Closing("shared", order)

    async def build(settings, adapters):
        await adapters._once("shared", open_adapter)
        return [ServedService(SERVICE, register({"Echo": echo}), {"Echo": Role.READER}, healthy)]

    async with Adapters(settings) as adapters:
        async with running_server("probe", build, settings, adapters=adapters) as server:
            assert server.port > 0
            await asyncio.sleep(0)
        assert order == []
    assert order == ["shared"]
