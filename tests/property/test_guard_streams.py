"""What holds for every stream under oversight (Director-AI page, D5; ADR 0123)."""

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.common.streaming.oversight import Oversight, TokenState
from services.common.streaming.rules import HaltMode, HaltReason, HaltRules

SENTENCES = st.lists(
    st.tuples(
        st.integers(1, 9), st.one_of(st.none(), st.floats(0.0, 1.0)), st.sampled_from([". ", "! ", ".\n\n", ":\n- "])
    ),
    min_size=1,
    max_size=9,
)  # fmt: skip
RULES = st.builds(
    HaltRules,
    mode=st.sampled_from(HaltMode),
    hard_limit=st.floats(0.0, 1.0),
    window_tokens=st.integers(1, 12),
    window_threshold=st.floats(0.0, 1.0),
    trend_window_tokens=st.integers(2, 8),
    trend_threshold=st.floats(0.0, 1.0),
    soft_halt_cap_tokens=st.integers(0, 10),
)
LIMITS = st.sampled_from(["hard_limit", "window_threshold", "trend_threshold"])
CUTS = st.sets(st.integers(1, 400))
EVERY = st.integers(1, 5)


def text_of(told):
    """Return a text of sentences, and the score of each by the place where it ends."""
    text, scores = "", []
    for length, score, mark in told:
        text += "Word" + " word" * (length - 1) + mark
        scores.append((len(text), score))
    return text, scores


def pieces_of(text, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(places) if b > a]


def score_of(unit, scores):
    """Return the least score of the sentences that a unit is made of."""
    end = unit.start + len(unit.text)
    own = [score for place, score in scores if unit.start < place <= end + 5 and score is not None]
    return min(own, default=None)


def is_false(unit, scores, rules):
    score = score_of(unit, scores)
    return score is not None and score < rules.hard_limit


def run(rules, tokens, scores, every=1, ahead=1):
    """Return the steps, the summary and the units that were judged; so many tokens are taken in ahead of scores."""
    oversight = Oversight(rules, every)
    line, steps, units = [], [], []
    coming = iter([*tokens, None])
    while True:
        while len(line) < ahead and (token := next(coming, "")) != "":
            line.append(oversight.end() if token is None else oversight.take(token))
            is_end = token is None
        taken = line.pop(0)
        units += taken.units
        judged = [score_of(unit, scores) for unit in taken.units]
        if is_end and not line:
            last, summary = oversight.finish(taken, judged)
            return [*steps, *([last] if last else [])], summary, units
        steps.append(oversight.conclude(taken, judged))
        if steps[-1].halt is not None:
            return steps, oversight.summary(), units


@given(SENTENCES, RULES, CUTS, EVERY, st.integers(1, 40))
def test_the_same_tokens_have_the_same_verdicts_whenever_they_come(told, rules, cuts, every, ahead):
    text, scores = text_of(told)
    tokens = pieces_of(text, cuts)
    steps, summary, _ = run(rules, tokens, scores, every)
    again, same, _ = run(rules, tokens, scores, every, ahead)
    assert (steps, summary) == (again, same)


@given(SENTENCES, CUTS, CUTS)
def test_the_same_text_in_other_tokens_has_the_same_sentences_and_halts_before_the_same_one(told, cuts, others):
    text, scores = text_of(told)
    rules = HaltRules(window_threshold=0.0, trend_threshold=1.0)
    held = []
    for places in (cuts, others):
        tokens = pieces_of(text, places)
        _, summary, units = run(rules, tokens, scores)
        delivered = sum(map(len, tokens[: summary.halt.last_index + 1])) if summary.halt else len(text)
        first_false = next((unit.start for unit in units if is_false(unit, scores, rules)), None)
        held.append(first_false)
        assert (summary.halt is None) is (first_false is None)
        if first_false is not None:
            assert delivered <= first_false
    assert held[0] == held[1]


@given(SENTENCES, RULES, CUTS, EVERY)
def test_nothing_is_released_after_a_halt_and_nothing_is_taken_back(told, rules, cuts, every):
    text, scores = text_of(told)
    tokens = pieces_of(text, cuts)
    steps, summary, _ = run(rules, tokens, scores, every)
    released = [step.released for step in steps]
    assert released == sorted(released)
    assert all(step.released < step.verdict.index + 1 for step in steps)
    if summary.halt is not None:
        assert max(released, default=-1) <= summary.halt.last_index
        assert steps[-1].halt in {summary.halt, None}
        assert all(step.halt is None for step in steps[:-1])
        if rules.mode is HaltMode.HARD:
            broken = [step for step in steps if step.state in set(TokenState) - _CALM]
            assert released[-1] == summary.halt.last_index
            assert len(broken) == 1
    else:
        assert len({step.verdict.index for step in steps}) == len(tokens)


_CALM = {TokenState.UNSCORED, TokenState.CARRIED, TokenState.SCORED, TokenState.UNASSERTING, TokenState.BETWEEN}


@given(SENTENCES, RULES, CUTS, LIMITS, st.floats(0.0, 1.0))
def test_a_stricter_threshold_never_lets_more_pass(told, rules, cuts, name, by):
    rules = replace(rules, mode=HaltMode.HARD)
    value = getattr(rules, name)
    stricter = value * (1 - by) if name == "trend_threshold" else value + (1 - value) * by
    text, scores = text_of(told)
    tokens = pieces_of(text, cuts)
    _, lenient, _ = run(rules, tokens, scores)
    _, strict, _ = run(replace(rules, **{name: stricter}), tokens, scores)
    if lenient.halt is not None:
        assert strict.halt is not None
        assert strict.halt.last_index <= lenient.halt.last_index
        assert strict.halt.broken_at <= lenient.halt.broken_at


@given(SENTENCES, RULES, CUTS)
def test_soft_mode_breaks_the_same_rule_at_the_same_token_and_lets_at_most_the_cap_pass(told, rules, cuts):
    text, scores = text_of(told)
    tokens = pieces_of(text, cuts)
    _, hard, _ = run(replace(rules, mode=HaltMode.HARD), tokens, scores)
    _, soft, _ = run(replace(rules, mode=HaltMode.SOFT), tokens, scores)
    assert (hard.halt is None) is (soft.halt is None)
    if hard.halt is not None:
        assert (hard.halt.reason, hard.halt.broken_at) == (soft.halt.reason, soft.halt.broken_at)
        assert hard.halt.last_index <= soft.halt.last_index <= soft.halt.broken_at + rules.soft_halt_cap_tokens


@given(SENTENCES, CUTS)
def test_a_sentence_that_was_not_judged_in_time_is_not_released(told, cuts):
    text, _ = text_of(told)
    oversight = Oversight(HaltRules(hard_limit=0.0, window_threshold=0.0, trend_threshold=1.0))
    for token in pieces_of(text, cuts):
        taken = oversight.take(token)
        before = oversight.released
        if taken.units:
            halt = oversight.time_out()
            assert (halt.reason, halt.last_index) == (HaltReason.CALLBACK_TIMEOUT, before)
            assert oversight.released == before
            return
        oversight.conclude(taken)
