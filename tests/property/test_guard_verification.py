"""Verified claims over generated texts and votes: exact places, and no signal against what it measures."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.findings import Judgement, Verdict
from services.dpe.domain.guard.source_passages import PASSAGE_CHARS, SourceText, passages_of
from services.dpe.domain.guard.verification_signals import Signal, SignalKind, Vote, Weighed
from services.dpe.domain.guard.verification_votes import (
    ClaimVerdict,
    VerificationPolicy,
    Weights,
    by_count,
    decide,
    support_of,
)
from tests.fakes.verified_claims import judged, verified
from tests.tenth import examples

PIECES = st.sampled_from(
    [
        "The rent is 1,250 euros. ", "# Deposit\n", "\n\n", "\n", "- clean the chimney\n", "a,b,c\n", "Tenants:\n",
        "Drug,Dose,Unit\n", "Aspirin,500,mg\n", "| Room | Size |\n", "|---|---|\n", "| Hall | 4 |\n", '"', "\u2028",
        "Die Miete ist fällig. ", "x" * 300 + " ", "…", "1. Rent\n", "\t", ";", "\x85", "\r\n", "é́ ",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@given(st.lists(TEXTS, max_size=4))
def test_passages_are_stretches_of_their_sources(contents):
    sources = [SourceText(str(number), content) for number, content in enumerate(contents)]
    found = passages_of(sources)
    assert len({passage.text for passage in found}) == len(found)
    before = (0, 0)
    for passage in found:
        content = contents[passage.source]
        stretch = content[passage.span.start : passage.span.end]
        assert before <= (passage.source, passage.span.start)
        before = (passage.source, passage.span.end if not passage.is_row else passage.span.start)
        if passage.is_row:
            assert "\n" not in stretch
            assert passage.place(0, 1) == passage.span
        else:
            assert stretch == passage.text
            assert passage.place(0, len(passage.text)) == passage.span
            assert len(stretch) <= PASSAGE_CHARS or len(stretch) - PASSAGE_CHARS < max(map(len, stretch.split("\n")))


@given(TEXTS)
def test_no_word_of_a_source_is_lost(content):
    said = " ".join(passage.text for passage in passages_of([SourceText("s", content)]))
    lost = {word for word in content.replace("|", " ").replace(",", " ").split() if word.isalnum() and word not in said}
    assert lost <= {"Room", "Size", "Drug", "Dose", "Unit", "a", "b", "c"}  # heads of tables without a row below them


VALUES = st.one_of(st.none(), st.floats(0.0, 1.0))
SIGNALS = st.tuples(
    *(st.builds(Signal, st.just(kind), VALUES, st.sampled_from(list(Vote))) for kind in SignalKind)
)  # fmt: skip
WEIGHTS = st.builds(Weights, st.floats(-5, 5), *[st.floats(0, 5)] * 5)


def item(signals, deciding=frozenset()):
    claim = Claim("c1", "The rent is due.", 0, 16, 0, ClaimType.FACTUAL, 0.5)
    return Weighed(claim, Judgement(Verdict.NONE, None), signals, deciding, doubted=bool(deciding))


@given(SIGNALS, WEIGHTS, st.sampled_from(list(SignalKind)), st.floats(0.0, 1.0))
def test_support_rises_with_every_signal(signals, weights, kind, other):
    changed = tuple(Signal(one.kind, other, one.vote) if one.kind is kind else one for one in signals)
    before = next(one.value for one in signals if one.kind is kind)
    if before is not None and other >= before:
        assert support_of(changed, weights) >= support_of(signals, weights) - 1e-12


@given(SIGNALS, WEIGHTS, st.frozensets(st.sampled_from(list(SignalKind)), min_size=1))
def test_no_vote_outweighs_a_rule_that_decides(signals, weights, deciding):
    found = decide(item(signals, deciding), VerificationPolicy(weights=weights))
    assert found.verdict is ClaimVerdict.CONTRADICTED


@given(SIGNALS, WEIGHTS, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_supports_more(signals, weights, one, other):
    low, high = sorted((one, other))
    supported = [
        decide(item(signals), VerificationPolicy(weights=weights, support_threshold=at)).verdict
        is ClaimVerdict.SUPPORTED
        for at in (low, high)
    ]
    assert supported[0] or not supported[1]


@given(SIGNALS, st.sampled_from(list(SignalKind)))
def test_one_more_support_never_costs_the_pages_support(signals, kind):
    changed = tuple(
        Signal(one.kind, one.value, Vote.SUPPORTS) if one.kind is kind and one.vote is not Vote.NONE else one
        for one in signals
    )
    if by_count(signals, 0.4).verdict is ClaimVerdict.SUPPORTED:
        assert by_count(changed, 0.4).verdict is ClaimVerdict.SUPPORTED


ITEMS = ("the heating", "the garage", "the garden", "the internet")


@settings(max_examples=examples(25))
@given(st.lists(st.integers(2, 900), min_size=4, max_size=4, unique=True), st.integers(0, 3), st.integers(1, 3))
def test_a_number_of_another_thing_is_never_support(amounts, at, by):
    source = " ".join(
        f"For {what} the tenant pays {amount} euros a month." for what, amount in zip(ITEMS, amounts, strict=True)
    )
    right = f"For {ITEMS[at]} the tenant pays {amounts[at]} euros a month."
    wrong = f"For {ITEMS[at]} the tenant pays {amounts[(at + by) % 4]} euros a month."
    using = judged(support=lambda _: 0.99)
    (text,) = asyncio.run(verified(f"{right} {wrong}", source, using=using)).texts
    first, second = text.claims
    assert first.decision.verdict is ClaimVerdict.SUPPORTED
    assert second.decision.verdict is ClaimVerdict.CONTRADICTED
    assert (first.text, second.text) == (right, wrong)
