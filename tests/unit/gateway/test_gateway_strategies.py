"""What a strategy is to the gateway: its word, the parents it takes, and what its answer is called."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from services.common.taxonomy import DispatchStrategy, QualityTier
from services.gateway.dispatch.strategies import SERVED, strategy_named
from services.gateway.domain.approach import PLAIN
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.completion import Completion
from services.gateway.domain.outcome import Verdict
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.domain.window import BuiltEnvelope, EnvelopeMessage
from tests.fakes.gateway_values import ENVELOPE, PLACE, REPORT

UPGRADED = DispatchDraft(
    place=PLACE,
    envelope=ENVELOPE,
    report=REPORT,
    report_message=b"",
    written=Completion("text", "stop", "model", 3, None, 4),
    tier=QualityTier.A,
    strategy=DispatchStrategy.REFLEXIVE,
    verdict=Verdict(),
    policy_applied="",
    oversight=OversightMode.AUTO,
    notices=(),
)
UNCHANGED = BuiltEnvelope(
    summary=ENVELOPE,
    facts=(),
    grounding_instruction="",
    not_modified=True,
    accepted=True,
    sub_queries=(),
    warnings=(),
    message=EnvelopeMessage(None),
)


class Window:
    """Takes every window to what it is given."""

    def __init__(self, drafted):
        self.drafted = drafted
        self.asked = []

    async def draft(self, admitted, opened):
        self.asked.append((admitted, opened))
        return self.drafted


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (DispatchStrategy.PUSH, DispatchStrategy.REFLEXIVE),
        (DispatchStrategy.PULL, DispatchStrategy.REFLEXIVE),
        (DispatchStrategy.FAN_OUT, DispatchStrategy.FAN_OUT),
        (DispatchStrategy.FAN_IN, DispatchStrategy.FAN_IN),
    ],
)
async def test_an_upgrade_names_the_answer_of_a_push_and_a_fan_window_keeps_its_strategy(name, kept):
    window: Any = Window(UPGRADED)
    admitted: Any = SimpleNamespace(approach=PLAIN)
    opened: Any = "opened"
    assert await strategy_named(name).draft(window, admitted, opened) == replace(UPGRADED, strategy=kept)
    assert window.asked == [(admitted, "opened")]


@pytest.mark.parametrize("strategy", SERVED, ids=lambda strategy: strategy.name)
async def test_an_etag_that_still_stands_is_handed_on(strategy):
    assert await strategy.draft(Window(UNCHANGED), "admitted", "opened") is UNCHANGED


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        (DispatchStrategy.PUSH, [True, True, False]),
        (DispatchStrategy.HIERARCHICAL, [True, True, False]),
        (DispatchStrategy.AGENTIC, [True, True, False]),
        (DispatchStrategy.FAN_OUT, [True, True, False]),
        (DispatchStrategy.FAN_IN, [False, True, True]),
    ],
)
def test_how_many_windows_a_strategy_continues(name, takes):
    assert [strategy_named(name).takes(parents) for parents in range(3)] == takes


def test_what_is_not_served_has_no_strategy():
    assert [strategy.name for strategy in SERVED] == [
        DispatchStrategy.PUSH,
        DispatchStrategy.PULL,
        DispatchStrategy.REFLEXIVE,
        DispatchStrategy.HIERARCHICAL,
        DispatchStrategy.AGENTIC,
        DispatchStrategy.FAN_OUT,
        DispatchStrategy.FAN_IN,
    ]
    with pytest.raises(KeyError):
        strategy_named(DispatchStrategy.BATCH)
