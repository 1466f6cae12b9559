"""Budget, quality trend, transfer types, limits (SPEC-004 §6.4, §8.2, §11, §13.2; ADR 0007, 0008)."""

from datetime import UTC, datetime

import pytest

from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.sessions import DeferredFact, TransferType, WindowPattern, WindowRecord
from services.common.taxonomy import Degradation, WindowStatus
from services.dag.domain import budget, quality
from services.dag.domain.limits import Limits
from services.dag.domain.transfer import (
    NOT_HERE,
    NOTHING_TO_SUMMARISE,
    SUMMARY_UNAVAILABLE,
    Room,
    choose_transfer,
    choose_transfers,
    last_paragraph,
    summary_length,
)
from tests.each import each


@pytest.mark.parametrize(
    ("before", "risk", "after"),
    [
        (1.0, "LOW", 1.0),
        (1.0, "MEDIUM", 0.95),
        (1.0, "HIGH", 0.85),
        (1.0, "CRITICAL", 0.65),
        (0.30, "HIGH", 0.15),
        (0.35, "CRITICAL", 0.0),
        (0.10, "CRITICAL", 0.0),
    ],
)
def test_budget_after_a_window(before, risk, after):
    assert budget.after_window(before, risk) == after


def test_sums_of_hundredths_stay_exact():
    left = 1.0
    for risk in ("CRITICAL", "CRITICAL", "HIGH", "MEDIUM", "MEDIUM"):
        left = budget.after_window(left, risk)
    assert left == 0.05


@pytest.mark.parametrize(
    ("parents", "ceiling", "expected"),
    [
        pytest.param((), None, 1.0, id="root"),
        pytest.param((), 0.85, 0.85, id="root with ceiling"),
        pytest.param((0.6,), 0.85, 0.6, id="a ceiling never raises"),
        pytest.param((0.62, 0.31, 0.80), None, 0.31, id="fan-in takes the minimum (§15.2)"),
    ],
)
def test_starting_budget(parents, ceiling, expected):
    assert budget.starting_budget(parents, ceiling) == expected


@pytest.mark.parametrize(
    ("left", "warning"), [(0.51, ""), (0.50, "caution"), (0.25, "caution"), (0.2499, "low"), (0.0, "low")]
)
def test_budget_warning(left, warning):
    assert budget.warning(left).value == warning


@pytest.mark.parametrize(
    ("profile", "left", "review", "ended"),
    [
        ("spec-004", 0.1001, False, False),
        ("spec-004", 0.10, True, False),
        ("spec-004", 0.0001, True, False),
        ("spec-004", 0.0, True, True),
        ("spec-012", 0.25, False, False),
        ("spec-012", 0.2499, True, False),
        ("spec-012", 0.1001, True, False),
        ("spec-012", 0.10, True, True),
    ],
)
def test_budget_profiles(profile, left, review, ended):
    chosen = budget.PROFILES[profile]
    assert (chosen.needs_review(left), chosen.depleted(left)) == (review, ended)


@each(
    ("history", "expected"),
    [
        pytest.param("", Degradation.NONE, id="nothing yet"),
        pytest.param("A", Degradation.NONE, id="one window"),
        pytest.param("AA", Degradation.NONE, id="level"),
        pytest.param("BA", Degradation.NONE, id="better"),
        pytest.param("AAB", Degradation.FIRST_DROP, id="A A B (§13.2)"),
        pytest.param("ABB", Degradation.FIRST_DROP, id="the drop before a level"),
        pytest.param("ABC", Degradation.SUSTAINED, id="A B C (§13.2)"),
        pytest.param("ABBC", Degradation.SUSTAINED, id="a level between two drops"),
        pytest.param("CBBC", Degradation.FIRST_DROP, id="the run starts after a rise"),
        pytest.param("BCD", Degradation.CRITICAL, id="B C D (§13.2)"),
        pytest.param("SD", Degradation.CRITICAL, id="straight to D"),
        pytest.param("D", Degradation.NONE, id="D from the start is no drop"),
        pytest.param("SDD", Degradation.PERSISTENT, id="any D D (§13.2)"),
        pytest.param("DD", Degradation.PERSISTENT, id="D D from the start"),
        pytest.param("DDC", Degradation.NONE, id="recovered"),
    ],
)
def test_degradation(history, expected):
    assert quality.degradation(history) is expected
    assert bool(quality.ADVICE[expected]) is (expected is not Degradation.NONE)


def test_history_is_printed_with_commas():
    assert quality.printed_history(("A", "A", "B")) == "A,A,B"


def parent(response_tokens, deferred=(), text="First part.\n\nThe conclusion.", report_id="r-1"):
    return WindowRecord(
        session_id="s",
        window_id="w",
        window_number=1,
        parent_ids=(),
        pattern=WindowPattern.LINEAR,
        status=WindowStatus.COMMITTED,
        strategy="push",
        timestamp=datetime(2026, 5, 24, tzinfo=UTC),
        response_text=text,
        response_tokens=response_tokens,
        report_id=report_id,
        facts_included=("g1", "g2"),
        facts_deferred=tuple(DeferredFact(f"f{i}", tokens) for i, tokens in enumerate(deferred)),
    )


@pytest.mark.parametrize(
    ("response", "deferred", "available", "expected", "tokens"),
    [
        pytest.param(500, (100,), 1000, TransferType.FULL_CONTEXT, 600, id="exactly 60%"),
        pytest.param(501, (100,), 1000, TransferType.FACTS_ONLY, 100, id="one token over"),
        pytest.param(501, (600,), 1000, TransferType.FACTS_ONLY, 600, id="facts exactly 60%"),
        pytest.param(500, (601,), 1000, TransferType.RESULT_ONLY, 268, id="facts one over"),
        pytest.param(0, (), 0, TransferType.FULL_CONTEXT, 0, id="nothing fits into nothing"),
        pytest.param(33, (), 55, TransferType.FULL_CONTEXT, 33, id="60% without binary fractions"),
    ],
)
def test_transfer_type(response, deferred, available, expected, tokens):
    chosen = choose_transfer(parent(response, deferred), Room(available))
    assert (chosen.transfer_type, chosen.tokens) == (expected, tokens)
    assert (SUMMARY_UNAVAILABLE in chosen.skipped) is (expected is not TransferType.FULL_CONTEXT)


@pytest.mark.parametrize(
    ("available", "expected", "handed_on"),
    [
        pytest.param(100, TransferType.FULL_CONTEXT, ("g1", "g2"), id="ADR 0022: 20 is at most 60% of 100"),
        pytest.param(30, TransferType.FACTS_ONLY, (), id="ADR 0022: 20 is over 60% of 30"),
    ],
)
def test_full_context_alone_hands_on_the_parents_facts(available, expected, handed_on):
    chosen = choose_transfer(parent(20), Room(available))
    assert (chosen.transfer_type, chosen.transferred_fact_ids) == (expected, handed_on)


def test_what_flows_with_each_type():
    full = choose_transfer(parent(10, (5, 5)), Room(1000))
    assert (full.text, full.deferred_fact_ids) == ("First part.\n\nThe conclusion.", ("f0", "f1"))
    assert full.transferred_fact_ids == ("g1", "g2")
    facts = choose_transfer(parent(900, (5,)), Room(1000))
    assert (facts.text, facts.deferred_fact_ids) == ("", ("f0",))
    assert facts.transferred_fact_ids == ()
    result = choose_transfer(parent(900, (700,)), Room(1000))
    assert result.transferred_fact_ids == ()
    assert (result.text, result.deferred_fact_ids) == ("The conclusion.", ())
    assert result.skipped == (
        "FULL_CONTEXT: 1600 tokens are over 60% of 1000",
        "SUMMARY: no summariser is available",
        "FACTS_ONLY: 700 tokens are over 60% of 1000",
    )


def test_an_adopted_parent_has_nothing_to_transfer():
    chosen = choose_transfer(parent(0, text="", report_id=""), Room(1000))
    assert (chosen.transfer_type, chosen.tokens, chosen.text) == (TransferType.FACTS_ONLY, 0, "")
    assert chosen.skipped == (NOT_HERE, SUMMARY_UNAVAILABLE)


@pytest.mark.parametrize(
    ("response", "available", "expected"),
    [
        pytest.param(4000, 10_000, 1000, id="a quarter of the response"),
        pytest.param(4000, 1000, 300, id="30% of the budget"),
        pytest.param(7, 1000, 1, id="rounded down"),
        pytest.param(3, 1000, 1, id="at least one"),
        pytest.param(4000, 0, 1, id="at least one of nothing"),
    ],
)
def test_length_of_a_summary(response, available, expected):
    """SPEC-004 §12.2."""
    assert summary_length(response, available) == expected


@pytest.mark.parametrize(
    ("response", "deferred", "available", "expected", "tokens"),
    [
        pytest.param(400, (), 1000, TransferType.FULL_CONTEXT, 400, id="what fits is not summarised"),
        pytest.param(2000, (300,), 1000, TransferType.SUMMARY, 600, id="exactly 60%"),
        pytest.param(2000, (301,), 1000, TransferType.FACTS_ONLY, 301, id="one token over"),
        pytest.param(2000, (601,), 1000, TransferType.RESULT_ONLY, 1072, id="facts over too"),
    ],
)
def test_transfer_type_with_a_summariser(response, deferred, available, expected, tokens):
    chosen = choose_transfer(parent(response, deferred), Room(available, summariser=True))
    assert (chosen.transfer_type, chosen.tokens) == (expected, tokens)
    assert bool(chosen.summary_tokens) is bool(chosen.fallback_text) is (expected is TransferType.SUMMARY)


@pytest.mark.parametrize(
    ("response", "deferred", "summariser", "expected", "tokens"),
    [
        pytest.param(40, (), False, TransferType.RESULT_ONLY, 22, id="no summariser: the conclusion (§8.1)"),
        pytest.param(40, (), True, TransferType.SUMMARY, 10, id="a summary, however short (§7.3.3)"),
        pytest.param(4000, (150,), True, TransferType.SUMMARY, 300, id="60% of the share"),
        pytest.param(4000, (151,), True, TransferType.RESULT_ONLY, 2143, id="one token over"),
    ],
)
def test_transfer_of_a_fan_in(response, deferred, summariser, expected, tokens):
    """Two parents share 1,000 tokens (ADR 0050)."""
    parents = [parent(response, deferred), parent(20)]
    (_, first), (_, second) = choose_transfers(parents, Room(1000, summariser), merged=True)
    assert (first.transfer_type, first.tokens) == (expected, tokens)
    assert first.transferred_fact_ids == ("g1", "g2")
    assert second.transfer_type in (TransferType.SUMMARY, TransferType.RESULT_ONLY)


def test_an_empty_or_erased_response_is_not_summarised():
    blank = choose_transfer(parent(900, text="  "), Room(1000, summariser=True))
    assert (blank.transfer_type, blank.skipped[1]) == (TransferType.FACTS_ONLY, NOTHING_TO_SUMMARISE)
    erased = choose_transfer(parent(10, text=""), Room(1000, summariser=True))
    assert (erased.transfer_type, erased.tokens, erased.skipped[0]) == (TransferType.FACTS_ONLY, 0, NOT_HERE)


@pytest.mark.parametrize(("text", "expected"), [("", ""), ("One.", "One."), ("A.\n\nB.\n\n \n\n", "B."), ("\n\n", "")])
def test_last_paragraph(text, expected):
    assert last_paragraph(text) == expected


def test_result_of_an_empty_response_is_nothing():
    assert choose_transfer(parent(900, (700,), text="  "), Room(1000)).tokens == 0


LIMITS = Limits(max_windows=5, max_fan_out=10, max_dag_nodes=50, max_loop_depth=5)


@pytest.mark.parametrize(
    ("check", "allowed", "refused", "reason"),
    [
        ("check_window_number", 5, 6, ErrorReason.WINDOW_LIMIT),
        ("check_fan_out", 9, 10, ErrorReason.FAN_OUT_LIMIT),
        ("check_nodes", 49, 50, ErrorReason.DAG_NODE_LIMIT),
        ("check_loop_depth", 5, 6, ErrorReason.LOOP_DEPTH_LIMIT),
    ],
)
def test_limits(check, allowed, refused, reason):
    getattr(LIMITS, check)(allowed)
    with pytest.raises(LimitExceededError) as caught:
        getattr(LIMITS, check)(refused)
    assert caught.value.reason is reason
    assert caught.value.metadata["limit"] in caught.value.message
