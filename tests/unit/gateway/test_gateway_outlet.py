"""What of a stream waits, and that nothing is written ahead of a slow reader (ADR 0146)."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.common.errors import ConflictError, ErrorReason
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.streaming import streamed
from services.gateway.domain.command import Answered, DispatchResult
from services.gateway.domain.headers import Header
from services.gateway.domain.holding import Hold, hold_of
from services.gateway.domain.outcome import PolicyRequest, Verdict, policy_in_force
from services.gateway.domain.vocabulary import OversightMode
from tests.each import each

COMMAND: Any = SimpleNamespace()


def answered(text):
    part = cast("Any", SimpleNamespace(draft=SimpleNamespace(written=SimpleNamespace(text=text))))
    return DispatchResult(Answered((part,)), (Header("CRP-Context-Protocol-Version", "3.0.0"),), Verdict(), ())


class Dispatching:
    """Lets pieces go, and then answers."""

    def __init__(self, pieces, text=None, error=None):
        self.pieces = pieces
        self.text = "".join(pieces) if text is None else text
        self.error = error
        self.said = 0
        self.ended = False

    async def dispatch(self, _command, outlet: Outlet):
        outlet.hold = Hold.SENTENCES
        try:
            for piece in self.pieces:
                await outlet.say(piece)
                self.said += 1
        finally:
            self.ended = True
        if self.error is not None:
            raise self.error
        return answered(self.text)


async def test_a_slow_reader_holds_up_the_writer():
    app: Any = Dispatching([f"{number} " for number in range(100)])
    events = streamed(app, COMMAND, None)
    assert await anext(events) == "0 "
    for _ in range(50):
        await asyncio.sleep(0)
    assert app.said <= 3
    rest = [event async for event in events]
    assert app.said == 100
    assert isinstance(rest[-1], DispatchResult)


async def test_a_reader_who_leaves_ends_the_writer():
    app: Any = Dispatching([f"{number} " for number in range(100)])
    events = streamed(app, COMMAND, None)
    await anext(events)
    await events.aclose()
    assert app.ended
    assert app.said < 5


async def test_what_was_let_go_is_sent_before_the_error():
    app: Any = Dispatching(["One. ", "Two. "], error=ConflictError(ErrorReason.COMMIT_RACE, "x"))
    events = streamed(app, COMMAND, None)
    found = []
    with pytest.raises(ConflictError):
        found += [event async for event in events]
    app = Dispatching(["One. ", "Two. "], error=ConflictError(ErrorReason.COMMIT_RACE, "x"))
    events = streamed(app, COMMAND, None)
    assert [await anext(events), await anext(events)] == ["One. ", "Two. "]


async def test_the_answer_of_another_try_is_not_put_behind_other_text():
    app: Any = Dispatching(["One. "], text="Something else.")
    events = streamed(app, COMMAND, None)
    assert await anext(events) == "One. "
    with pytest.raises(ConflictError) as caught:
        await anext(events)
    assert caught.value.reason is ErrorReason.COMMIT_RACE


def force(text="", oversight=None):
    return policy_in_force(PolicyRequest(text, oversight=oversight), "", "halt-on CRITICAL")


@each(
    ("wish", "policy", "more", "expected"),
    [
        (None, force(), {}, Hold.SENTENCES),
        (Hold.ALL, force(), {}, Hold.ALL),
        (Hold.NOTHING, force(), {}, Hold.NOTHING),
        (None, force(), {"strict": True}, Hold.ALL),
        (None, force(), {"rewritten": True}, Hold.ALL),
        (Hold.NOTHING, force(), {"rewritten": True}, Hold.ALL),
        (None, force("require-completeness 0.5"), {}, Hold.ALL),
        (None, force("require-flow 0.5"), {}, Hold.ALL),
        (None, force("require-quality S A"), {}, Hold.ALL),
        (None, force("require-relevance 0.5"), {}, Hold.ALL),
        (Hold.NOTHING, force("require-relevance 0.5"), {}, Hold.NOTHING),
        (None, force("require-grounding 0.5"), {}, Hold.SENTENCES),
        (Hold.NOTHING, force("oversight human-review"), {}, Hold.ALL),
        (Hold.NOTHING, force(oversight=OversightMode.HALT), {}, Hold.ALL),
        (None, force(oversight=OversightMode.LOG_ONLY), {}, Hold.SENTENCES),
    ],
)
def test_what_waits(wish, policy, more, expected):
    assert hold_of(wish, policy, **({"strict": False} | more)) is expected


def of_tenant(text, request=""):
    return policy_in_force(PolicyRequest(request), text, "")


@each(
    ("wish", "policy", "expected"),
    [
        (Hold.NOTHING, of_tenant("halt-on HIGH"), Hold.SENTENCES),
        (Hold.NOTHING, of_tenant("block-contradiction"), Hold.SENTENCES),
        (Hold.NOTHING, of_tenant("require-flow 0.5"), Hold.ALL),
        (Hold.SENTENCES, of_tenant("require-flow 0.5"), Hold.ALL),
        (Hold.SENTENCES, of_tenant("halt-on HIGH"), Hold.SENTENCES),
        (Hold.NOTHING, of_tenant("warn-on HIGH"), Hold.NOTHING),
        (Hold.NOTHING, of_tenant("", "halt-on HIGH"), Hold.NOTHING),
    ],
)
def test_no_request_shows_at_once_what_its_tenant_may_withhold(wish, policy, expected):
    assert hold_of(wish, policy, strict=False) is expected


@pytest.mark.parametrize(("wish", "text"), [(Hold.NOTHING, "halt-on HIGH"), (Hold.SENTENCES, "require-flow 0.5")])
def test_what_nothing_is_withheld_by_takes_nothing_back(wish, text):
    policy = of_tenant(text)
    assert hold_of(wish, policy, strict=False) is not wish
    assert hold_of(wish, replace(policy, enforcing=False), strict=False) is wish


def test_the_sessions_policy_counts():
    joined = replace(force(), directives=force("require-flow 0.5").directives)
    assert hold_of(None, joined, strict=False) is Hold.ALL
