"""Verified claims over generated texts and votes: exact places, and no signal against what it measures."""

import asyncio
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.findings import Basis, Judgement, Verdict
from services.dpe.domain.guard.source_passages import PASSAGE_CHARS, SourceText, passages_of
from services.dpe.domain.guard.verification_signals import Signal, SignalKind, Signalled, Vote
from services.dpe.domain.guard.verification_votes import (
    HALF,
    ClaimVerdict,
    VerificationPolicy,
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
JUDGEMENTS = st.builds(
    Judgement, st.sampled_from(list(Verdict)), st.sampled_from([None, *Basis]), VALUES, contradiction=VALUES
)
DECIDING = st.frozensets(st.sampled_from(list(SignalKind)), min_size=1)


def item(signals, judgement, deciding=frozenset(), *, doubted=False):
    claim = Claim("c1", "The rent is due.", 0, 16, 0, ClaimType.FACTUAL, 0.5)
    return Signalled(claim, judgement, signals, deciding, doubted or bool(deciding))


@given(SIGNALS, JUDGEMENTS, st.booleans())
def test_what_the_engine_supports_is_supported_and_nothing_else(signals, judgement, doubted):
    policy = VerificationPolicy()
    found = decide(item(signals, judgement, doubted=doubted), policy)
    is_supported = judgement.verdict is Verdict.SUPPORTED
    assert (found.verdict is ClaimVerdict.SUPPORTED) == is_supported
    if found.support is not None:
        assert (found.support >= HALF) == is_supported
    assert 0.0 <= found.confidence <= 1.0


@given(SIGNALS, JUDGEMENTS, st.floats(0.0, 1.0), st.booleans())
def test_support_rises_with_the_engines_probability(signals, judgement, other, doubted):
    policy = VerificationPolicy()
    before = support_of(item(signals, judgement, doubted=doubted), policy)
    after = support_of(item(signals, replace(judgement, support=other), doubted=doubted), policy)
    if judgement.support is not None and other >= judgement.support:
        assert after >= before


@given(SIGNALS, JUDGEMENTS, DECIDING)
def test_no_vote_outweighs_a_rule_that_decides(signals, judgement, deciding):
    contradicted = replace(judgement, verdict=Verdict.CONTRADICTED)
    assert decide(item(signals, contradicted, deciding), VerificationPolicy()).verdict is ClaimVerdict.CONTRADICTED


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
