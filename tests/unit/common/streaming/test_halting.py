"""Halt rules of streams (Director-AI page, D5): vectors, limits, and what holds for every stream."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.streaming.halting import Halt, HaltingKernel, StreamHaltedError
from services.common.streaming.rules import HaltMode, HaltReason, HaltRuleError, HaltRules
from services.common.streaming.sliding import SlidingMean, SlidingTrend

FILE = Path(__file__).parents[3] / "vectors/guard/halting.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
SCORES = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=60)
ENDS = st.sets(st.integers(0, 59))
LIMITS = st.builds(
    HaltRules,
    mode=st.sampled_from(HaltMode),
    hard_limit=st.floats(0.0, 1.0),
    window_tokens=st.integers(1, 12),
    window_threshold=st.floats(0.0, 1.0),
    trend_window_tokens=st.integers(2, 8),
    trend_threshold=st.floats(0.0, 1.0),
    soft_limit=st.floats(0.0, 1.0),
    soft_halt_cap_tokens=st.integers(0, 10),
)


def run(rules, scores, ends=()):
    """Return the halt, the verdicts and the summary of a stream."""
    kernel = HaltingKernel(rules)
    verdicts = []
    for index, score in enumerate(scores):
        verdicts.append(kernel.observe(score, ends_sentence=index in ends))
        if kernel.halt is not None:
            break
    summary = kernel.end()
    return summary.halt, verdicts, summary


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["test_id"] for vector in VECTORS])
def test_the_rules_of_the_page(vector):
    told, expected = vector["input"], vector["expected"]["halt"]
    halt, _, _ = run(HaltRules(**told["rules"]), told["scores"], told["ends"])
    if expected is not None:
        expected = Halt(HaltReason(expected["reason"]), expected["last_index"], expected["broken_at"])
    assert halt == expected, vector["source"]


def test_the_defaults_are_the_pages():
    rules = HaltRules()
    assert (rules.hard_limit, rules.window_tokens, rules.window_threshold) == (0.5, 10, 0.55)
    assert (rules.trend_window_tokens, rules.trend_threshold, rules.soft_limit) == (5, 0.15, 0.6)
    assert (rules.mode, rules.soft_halt_cap_tokens) == (HaltMode.HARD, 50)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hard_limit", -0.01),
        ("hard_limit", 1.01),
        ("window_threshold", float("nan")),
        ("trend_threshold", float("inf")),
        ("soft_limit", 2.0),
        ("window_tokens", 0),
        ("window_tokens", 10_001),
        ("trend_window_tokens", 1),
        ("soft_halt_cap_tokens", -1),
        ("soft_halt_cap_tokens", 1_001),
    ],
)
def test_a_limit_outside_of_its_range_is_named_with_what_is_allowed(field, value):
    with pytest.raises(HaltRuleError) as caught:
        HaltRules(**{field: value})
    assert caught.value.field == field
    assert "from" in caught.value.allowed


def test_nothing_is_taken_in_after_a_halt():
    kernel = HaltingKernel(HaltRules())
    kernel.observe(0.1)
    assert kernel.halt is not None
    with pytest.raises(StreamHaltedError, match="at token 0"):
        kernel.observe(0.9)


def test_a_score_that_does_not_come_halts_before_the_token_it_was_for():
    kernel = HaltingKernel(HaltRules())
    kernel.observe(0.9)
    kernel.observe(0.9)
    assert kernel.time_out() == Halt(HaltReason.CALLBACK_TIMEOUT, 1, 2)
    halted = HaltingKernel(HaltRules())
    halted.observe(0.1)
    assert halted.time_out().reason is HaltReason.HARD_LIMIT, "the first halt stands"


def test_a_soft_halt_is_told_while_the_sentence_ends():
    kernel = HaltingKernel(HaltRules(mode=HaltMode.SOFT))
    kernel.observe(0.1)
    assert kernel.is_ending
    assert kernel.halt is None
    kernel.observe(0.9, ends_sentence=True)
    assert not kernel.is_ending
    assert kernel.halt == Halt(HaltReason.HARD_LIMIT, 1, 0)


def test_a_summary_counts_what_was_scored():
    _, verdicts, summary = run(HaltRules(trend_threshold=1.0), [0.9, None, 0.55, 0.65])
    assert [verdict.warning for verdict in verdicts] == [False, False, True, False]
    assert (summary.tokens, summary.warnings, summary.minimum_coherence) == (4, 1, 0.55)
    assert summary.mean_coherence == pytest.approx(0.7)
    assert run(HaltRules(), [None])[2].mean_coherence is None


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=80), st.integers(1, 20))
def test_the_sliding_mean_is_the_mean(values, size):
    mean = SlidingMean(size)
    for end, value in enumerate(values, 1):
        found = mean.add(value)
        assert found == (pytest.approx(np.mean(values[end - size : end])) if end >= size else None)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60), st.integers(2, 12))
def test_the_trend_is_that_of_a_fitted_line(values, size):
    trend = SlidingTrend(size)
    for end, value in enumerate(values, 1):
        found = trend.add(value)
        if end < size:
            assert found is None
        else:
            slope = np.polyfit(np.arange(size), values[end - size : end], 1)[0]
            assert found == pytest.approx(-slope * (size - 1), abs=1e-9)


def test_a_million_values_leave_no_error_behind():
    generator = np.random.default_rng(3)
    values = generator.random(200_000).tolist()
    mean, trend = SlidingMean(7), SlidingTrend(7)
    for value in values:
        mean.add(value), trend.add(value)
    fresh_mean, fresh_trend = SlidingMean(7), SlidingTrend(7)
    last = [(fresh_mean.add(value), fresh_trend.add(value)) for value in values[-8:]][-1]
    assert (mean.add(0.5), trend.add(0.5)) == (fresh_mean.add(0.5), fresh_trend.add(0.5))
    assert last[0] is not None


@given(
    LIMITS, SCORES, ENDS, st.sampled_from(["hard_limit", "window_threshold", "trend_threshold"]), st.floats(0.0, 1.0)
)
def test_a_stricter_threshold_never_lets_more_pass(rules, scores, ends, name, by):
    value = getattr(rules, name)
    stricter = value * (1 - by) if name == "trend_threshold" else value + (1 - value) * by
    lenient, _, _ = run(rules, scores, ends)
    strict, _, _ = run(replace(rules, **{name: stricter}), scores, ends)
    if lenient is not None:
        assert strict is not None
        assert strict.last_index <= lenient.last_index
        assert strict.broken_at <= lenient.broken_at


@given(LIMITS, SCORES, ENDS)
def test_soft_mode_lets_the_same_rule_break_at_the_same_token_and_at_most_the_cap_pass(rules, scores, ends):
    hard, _, _ = run(replace(rules, mode=HaltMode.HARD), scores, ends)
    soft, _, _ = run(replace(rules, mode=HaltMode.SOFT), scores, ends)
    assert (hard is None) is (soft is None)
    if hard is not None:
        assert (hard.reason, hard.broken_at) == (soft.reason, soft.broken_at)
        assert hard.last_index < soft.last_index <= soft.broken_at + rules.soft_halt_cap_tokens


@given(LIMITS, SCORES, ENDS)
def test_the_same_stream_has_the_same_verdicts_and_no_window_speaks_before_it_is_full(rules, scores, ends):
    first, again = run(rules, scores, ends), run(rules, scores, ends)
    assert first == again
    scored = 0
    for verdict in first[1]:
        scored += verdict.coherence is not None
        assert verdict.window_mean is None or scored >= rules.window_tokens
        assert verdict.trend_drop is None or scored >= rules.trend_window_tokens
