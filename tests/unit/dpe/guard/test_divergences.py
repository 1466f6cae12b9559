"""What a verdict makes of a claim's divergences, and how claims are held against prompt and facts (ADR 0122)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dpe.domain.findings import Basis, Judgement, Verdict
from services.dpe.domain.guard.coherence_grounds import GroundText, analysis_input, grounds_of
from services.dpe.domain.guard.divergences import claim_factual, claim_logical, contradiction_of, divergences
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.prompt_statements import MAX_STATEMENTS, compared
from tests.fakes.dpe_world import TableEntailment, TableGrounding, app

SHARES = st.floats(0.0, 1.0)
JUDGEMENTS = st.builds(
    Judgement, st.sampled_from(Verdict), st.none() | st.sampled_from(Basis), support=st.none() | SHARES
)


@pytest.mark.parametrize(
    ("verdict", "basis", "support", "contradiction", "factual", "logical"),
    [
        (Verdict.SUPPORTED, Basis.QUOTATION, None, None, 0.0, 0.0),
        (Verdict.SUPPORTED, Basis.GROUNDING, 0.84, 0.4, 0.16, 0.0),
        (Verdict.SUPPORTED, Basis.VALUES, 0.2, None, 0.5, 0.0),
        (Verdict.SUPPORTED, Basis.SECOND_OPINION, None, None, 0.0, 0.0),
        (Verdict.CONTRADICTED, Basis.VALUE_CONFLICT, 0.9, 0.1, 1.0, 1.0),
        (Verdict.CONTRADICTED, Basis.DISTORTION, None, None, 1.0, 1.0),
        (Verdict.CONTRADICTED, Basis.CONTRADICTION, 0.7, 0.8, 0.8, 0.8),
        (Verdict.CONTRADICTED, Basis.CONTRADICTION, 0.1, 0.6, 0.9, 0.6),
        (Verdict.UNSUPPORTED, Basis.GROUNDING, 0.1, None, 0.9, 0.5),
        (Verdict.UNSUPPORTED, Basis.DISTORTION, 0.88, 0.2, 0.5, 0.2),
        (Verdict.UNSUPPORTED, Basis.GROUNDING, None, None, 1.0, 0.5),
        (Verdict.SUPERSEDED, Basis.GROUNDING, 0.9, None, 1.0, 0.5),
        (Verdict.NONE, None, None, None, None, None),
        (Verdict.NONE, None, None, 0.3, None, 0.3),
    ],
)
def test_the_table_of_the_record(verdict, basis, support, contradiction, factual, logical):
    judgement = Judgement(verdict, basis, support=support)
    assert claim_factual(judgement, contradiction) == pytest.approx(factual)
    assert claim_logical(judgement, contradiction) == pytest.approx(logical)


@given(JUDGEMENTS, st.none() | SHARES)
def test_the_verdict_keeps_a_claim_on_its_side(judgement, contradiction):
    factual, logical = claim_factual(judgement, contradiction), claim_logical(judgement, contradiction)
    for value in (factual, logical):
        assert value is None or 0.0 <= value <= 1.0
    if judgement.verdict is Verdict.SUPPORTED:
        assert factual is not None
        assert (factual <= 0.5, logical) == (True, 0.0)
    elif judgement.verdict is not Verdict.NONE:
        assert factual is not None
        assert factual >= 0.5


@pytest.mark.parametrize(("row", "expected"), [((0.0, 1.0, 0.0), 0.5), ((1.0, 0.0, 0.0), 0.0), ((0.1, 0.2, 0.7), 0.8)])
def test_half_of_what_is_neither_counts(row, expected):
    assert contradiction_of(np.array(row, dtype=np.float32)) == pytest.approx(expected)
    assert contradiction_of(None) is None


def engine(row=(0.1, 0.8, 0.1)):
    support = TableGrounding(lambda asked: 0.9 if any(asked.claim in one for one in asked.passages) else 0.2)
    return app(entailment=TableEntailment(lambda *_: row), grounding=support)


async def analysed(prompt, answer, *facts, using=None):
    grounds = grounds_of([GroundText(f"f{n}", text) for n, text in enumerate(facts, start=1)])
    analysis = await (using or engine()).run_stages(analysis_input(prompt, answer, grounds), COHERENCE_STAGES)
    return analysis, grounds


async def test_the_worst_claim_is_the_answers():
    facts = ("The deposit is 500 euros.", "Pets are kept by nobody in the house.")
    alone, grounds = await analysed("What holds?", "The deposit is 900 euros.", *facts)
    among, _ = await analysed("What holds?", f"{facts[1]} The deposit is 900 euros. {facts[1]}", *facts)
    assert divergences(alone, grounds, 0.6).factual == divergences(among, grounds, 0.6).factual == 1.0


async def test_no_stage_but_the_needed_ones_runs():
    analysis, _ = await analysed("What holds?", "The deposit is 500 euros.", "The deposit is 500 euros.")
    assert {outcome.key.number for outcome in analysis.outcomes} == {1, 2, 3, 6}


async def test_claims_meet_the_statements_that_speak_of_the_same():
    prompt = "The office is in Bern. The garden has two gates. Where is the office?"
    analysis, _ = await analysed(prompt, "The office is in Basel.")
    assert [(claim.text, statement.text) for claim, statement in compared(analysis)] == [
        ("The office is in Basel.", "The office is in Bern.")
    ]


async def test_pairs_grow_with_the_answer_and_not_with_its_square():
    prompt = " ".join(f"The office number {n} is in Bern." for n in range(150))
    analysis, _ = await analysed(prompt, " ".join(f"The office number {n} is in Basel." for n in range(150)))
    assert len(list(compared(analysis))) <= MAX_STATEMENTS * 150


async def test_evidence_is_ordered_by_divergence():
    facts = ("The deposit is 500 euros.", "The office opens at 8 in the morning.")
    analysis, grounds = await analysed("What holds?", f"{facts[1]} The deposit is 900 euros.", *facts)
    found = divergences(analysis, grounds, 0.6).exhibits
    assert [one.text_id for one in found] == ["f1", "f2"]
    assert [one.divergence for one in found] == [1.0, 0.0]
