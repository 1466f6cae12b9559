"""Runs are counted once each, by how they ended; what they found by type; what is read back not again."""

from prometheus_client import CollectorRegistry, generate_latest

from services.ercp.metrics import RunMetrics
from tests.fakes.ercp_world import ErcpWorld, fresh_uuid

HANDBOOK = [{"source": "handbook", "text": "The boiling point of water is 100 °C at sea level."}]


def scraped(counts):
    registry = CollectorRegistry()
    registry.register(RunMetrics(counts))
    lines = (line.rsplit(" ", 1) for line in generate_latest(registry).decode().splitlines() if line[0] != "#")
    return {name: float(value) for name, value in lines}


async def test_a_run_is_counted_when_it_ends_and_not_when_it_is_read_back():
    world, name = ErcpWorld(), fresh_uuid()
    async with world.serving() as client:
        before = scraped(world.counts)
        first = await client.run(request_id=name, retrieval_context=HANDBOOK)
        after = scraped(world.counts)
        again = await client.run(request_id=name, retrieval_context=HANDBOOK)
        assert scraped(world.counts) == after
    assert first.trace_id == again.trace_id
    assert not [name for name, value in before.items() if value]
    assert after['groundtrail_ercp_runs_total{reason="STABLE",status="converged"}'] == 1.0
    generated = sum(event.operator == 1 for event in first.trace_events)
    assert generated > 1, "the first candidate is denied by the handbook"
    assert after['groundtrail_ercp_run_iterations_sum{status="converged"}'] == generated
    assert after['groundtrail_ercp_run_iterations_bucket{le="1.0",status="converged"}'] == 0.0
    assert after['groundtrail_ercp_run_iterations_count{status="converged"}'] == 1.0
    assert after['groundtrail_ercp_errors_total{type="factual_incorrect"}'] >= 1.0
    assert after['groundtrail_ercp_errors_total{type="syntax_error"}'] == 0.0
