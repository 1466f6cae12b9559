"""A provider's count of an answer against our own: agreed, more, fewer, not to be told, too many at once."""

import logging

import pytest
from opentelemetry import trace

from services.common.telemetry import usage_audit
from services.common.telemetry.model_calls import AskedModel, ModelCall
from services.common.telemetry.usage_audit import Compared, UsageAudit, compared
from tests.fakes.gateway_world import WordCounter

TEXT = "word " * 100


async def words():
    return WordCounter()


def call(theirs, text=TEXT, provider="p", error=""):
    found = ModelCall(AskedModel(provider, "m"), trace.INVALID_SPAN, shows_content=False)
    found.written, found.output_tokens, found.error_type = text, theirs, error
    return found


def counts(audit):
    return {
        (sample.name.removeprefix("groundtrail_model_usage_"), *sample.labels.values()): sample.value
        for metric in audit.collect()
        for sample in metric.samples
    }


@pytest.mark.parametrize(
    ("theirs", "ours", "result"),
    [(100, 100, "agrees"), (118, 100, "agrees"), (119, 100, "more"), (82, 100, "agrees"), (81, 100, "fewer")],
)
def test_a_tenth_and_a_few_tokens_are_no_difference(theirs, ours, result):
    assert compared(theirs, ours) is Compared(result)


async def test_what_differs_is_counted_and_said_once_a_minute(caplog):
    audit = UsageAudit(words)
    with caplog.at_level(logging.WARNING):
        for theirs in (100, 300, 400, 10, None):
            audit.note(call(theirs))
        audit.note(call(500, text=None))
        audit.note(call(500, error="http_500"))
        await audit.idle()
    assert counts(audit) == {
        ("compared_total", "p", "agrees"): 1,
        ("compared_total", "p", "fewer"): 1,
        ("compared_total", "p", "more"): 2,
        ("compared_total", "p", "uncounted"): 1,
        ("excess_tokens_total", "p"): 500,
    }
    assert [one.getMessage() for one in caplog.records] == ["a provider counts an answer otherwise than we do"]
    assert TEXT not in str(caplog.records[0].__dict__)


async def test_too_many_and_too_long_ones_are_shed(monkeypatch):
    monkeypatch.setattr(usage_audit, "MOST_WAITING", 2)
    audit = UsageAudit(words)
    for _ in range(3):
        audit.note(call(100))
    await audit.idle()
    audit.note(call(100, text="x" * 200_001))
    assert counts(audit)["compared_total", "p", "shed"] == 2
    audit.note(call(100))
    await audit.close()
