"""Whether the process lives is told from outside of the event loop, which is blocked here on purpose."""

import asyncio
import http.client
import json
import threading

import pytest

from services.common.rpc import http_endpoint
from services.common.settings import TelemetrySettings
from tests.fakes.runtime_probe import probe, probe_settings

LONGEST_S = 50
"""Far longer than any of this takes; only a failure blocks the loop for so long."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(http_endpoint, "LOOP_ANSWER_S", 0.1)


def asked(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


async def blocked(work, loop_dead_s):
    """Return ``work(port)``, done in a thread while the event loop does not turn at all."""
    settings = probe_settings().model_copy(
        update={"telemetry": TelemetrySettings(http_port=0, loop_dead_s=loop_dead_s)}
    )
    found = []
    async with probe(settings=settings) as p:
        port = p.server.telemetry_port
        thread = threading.Thread(target=lambda: found.append(work(port)))
        thread.start()
        thread.join(LONGEST_S)  # blocks the loop
        assert found, "the endpoint did not answer while the loop was blocked"
        for _ in range(3):
            await asyncio.sleep(0)
        return found[0], await asyncio.to_thread(asked, port, "/healthz"), p.metrics()


def until(port, path, wanted):
    while True:
        status, body = asked(port, path)
        if wanted(status, body):
            return status, body


async def test_a_blocked_loop_is_alive_and_says_for_how_long():
    (status, body), after, _ = await blocked(
        lambda port: until(port, "/healthz", lambda _, body: body != "alive\n"), loop_dead_s=3600
    )
    assert status == 200
    assert body.startswith("alive, busy: the event loop has not turned for ")
    assert after == (200, "alive\n")


async def test_a_loop_that_does_not_turn_for_long_is_dead_and_lives_again():
    (status, body), after, _ = await blocked(
        lambda port: until(port, "/healthz", lambda status, _: status != 200), loop_dead_s=0.5
    )
    assert status == 503
    assert body.startswith("dead: the event loop has not turned for ")
    assert after == (200, "alive\n")


async def test_a_blocked_loop_is_not_ready():
    (status, body), _, _ = await blocked(lambda port: asked(port, "/readyz"), loop_dead_s=3600)
    assert status == 503
    told = json.loads(body)
    assert (told["ready"], told["services"]) == (False, {})
    assert told["details"]["event_loop"].startswith("the event loop has not turned for ")


async def test_how_late_the_loop_is_is_a_metric_also_while_it_is_blocked():
    def late(_, body):
        (line,) = (
            line for line in body.splitlines() if line.startswith("groundtrail_event_loop_unresponsive_seconds ")
        )
        return float(line.split()[1]) > 0.3

    (status, body), _, after = await blocked(lambda port: until(port, "/metrics", late), loop_dead_s=3600)
    assert status == 200
    assert "groundtrail_rpc_total" not in body  # the loop would have to say
    (line,) = (line for line in after.splitlines() if line.startswith("groundtrail_event_loop_lag_seconds_sum"))
    assert float(line.split()[1]) > 0.3


async def test_a_port_that_is_taken_stops_the_start():
    async with probe() as p:
        settings = probe_settings().model_copy(
            update={"telemetry": TelemetrySettings(http_port=p.server.telemetry_port)}
        )
        with pytest.raises(Exception, match="GROUNDTRAIL_TELEMETRY__HTTP_PORT"):
            async with probe(settings=settings):
                pass
