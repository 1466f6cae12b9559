"""Requests and tokens of a credential in a minute: refused with the time to wait, and counted."""

import pytest
from opentelemetry import trace

from services.common.context import spender
from services.common.errors import ErrorReason, LimitExceededError
from services.common.rpc.rate_limits import RateLimits, spend
from services.common.settings import LimitSettings
from services.common.telemetry.model_calls import AskedModel, ModelCall

A, B = "crp_gw_test_aaaaaaaa", "jwt:b"


class Limited:
    def __init__(self, **settings):
        self.now = 0.0
        self.limits = RateLimits(LimitSettings.model_validate(settings), lambda: self.now)

    def refused(self, scope=A):
        with pytest.raises(LimitExceededError) as caught:
            self.limits.admit(scope)
        assert caught.value.reason is ErrorReason.RATE_LIMIT
        return caught.value

    def counted(self):
        return {
            (sample.name, *sample.labels.values()): sample.value
            for metric in self.limits.collect()
            for sample in metric.samples
        }


def test_without_a_setting_nobody_is_limited():
    limited = Limited()
    for _ in range(1000):
        limited.limits.admit(A)
    limited.limits.spend(A, 10**9)
    limited.limits.admit(A)


def test_requests_of_a_minute_come_back_one_by_one():
    limited = Limited(requests_per_minute=6)
    for _ in range(6):
        limited.limits.admit(A)
    limited.limits.admit(B)
    error = limited.refused()
    assert (error.retry_after_s, dict(error.metadata)) == (10.0, {"limit": "requests", "per_minute": "6"})
    limited.now = 9.0
    assert limited.refused().retry_after_s == pytest.approx(1.0)
    limited.now = 10.0
    limited.limits.admit(A)
    limited.refused()
    assert limited.counted()["groundtrail_rate_limited_total", "requests"] == 3


def test_tokens_are_known_at_the_end_and_the_next_call_waits_for_them():
    limited = Limited(tokens_per_minute=600)
    limited.limits.admit(A)
    limited.limits.spend(A, 900)
    error = limited.refused()
    assert (error.metadata["limit"], error.retry_after_s) == ("tokens", pytest.approx(30.1))
    limited.now = 30.2
    limited.limits.admit(A)
    assert limited.counted()["groundtrail_rate_limited_tokens_total",] == 900
    limited.limits.admit(B)


def test_a_credential_has_its_own_limits():
    limited = Limited(requests_per_minute=1, of_keys={A: {"requests_per_minute": 2}, B: {}})
    for scope, calls in ((A, 2), ("other", 1)):
        for _ in range(calls):
            limited.limits.admit(scope)
        limited.refused(scope)
    for _ in range(10):
        limited.limits.admit(B)


@pytest.mark.parametrize(
    ("read", "wrote", "chunks", "text", "spent"),
    [(10, 5, 0, None, 15), (None, None, 3, None, 13), (None, None, 0, "x" * 20, 15), (10, None, 0, None, 10)],
)
def test_what_a_call_took_is_the_providers_count_or_our_estimate(read, wrote, chunks, text, spent):
    limited = Limited(tokens_per_minute=1000)
    limited.limits.admit(A)
    assert spender() == A
    asked = AskedModel("p", "m", messages=[("user", [{"type": "text", "content": "y" * 40}, {"type": "image"}])])
    call = ModelCall(asked, trace.INVALID_SPAN, shows_content=False)
    call.input_tokens, call.output_tokens, call.written = read, wrote, text
    for _ in range(chunks):
        call.chunk()
    spend(limited.limits, call)
    assert limited.counted()["groundtrail_rate_limited_tokens_total",] == spent
