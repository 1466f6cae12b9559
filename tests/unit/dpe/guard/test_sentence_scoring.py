"""Scoring the sentences of a stream: what is known already is not worked out again (ADR 0123)."""

import asyncio
from dataclasses import replace

import pytest

from services.common.errors import ErrorReason, UnavailableError
from services.common.taxonomy import StageStatus
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.coherence_grounds import GroundText, grounds_of
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.sentence_scores import (
    SentenceScore,
    SentenceToScore,
    is_lasting,
    sentence_input,
    sentence_score,
)
from services.dpe.domain.outcome import Reason
from services.dpe.guard.sentence_scoring import MOST_KNOWN, EngineScoring
from tests.fakes.dpe_world import app

FACTS = [GroundText("f1", "The deposit for a locker is 20 euros. Lockers are emptied every Friday.")]
PROMPT = "What does a locker cost?"
CONTEXT = "Lockers are emptied every Friday. "
WRONG = SentenceToScore(0, "The deposit for a locker is 30 euros.", CONTEXT)
POLICY = CoherencePolicy()


class Counted:
    """The stages, with what they were given, and how each analysis ended."""

    def __init__(self):
        self._app = app()
        self.given = []
        self.done = []
        self.reason = Reason.NONE

    async def load(self):
        await self._app.load()

    async def run_stages(self, given, steps, fact_views, is_settled):
        self.given.append((given, fact_views))
        done = await self._app.run_stages(given, steps, fact_views, is_settled)
        if self.reason is not Reason.NONE:
            last = replace(done.outcomes[-1], status=StageStatus.DEGRADED, reason=self.reason)
            done = replace(done, outcomes=(*done.outcomes[:-1], last))
        self.done.append(done)
        return done


@pytest.fixture
def stages():
    return Counted()


@pytest.fixture
async def scorer(stages):
    return await EngineScoring(stages, POLICY, 4).open(PROMPT, FACTS)


async def plainly(asked):
    """Return the score as all stages give it, with nothing known before."""
    grounds = grounds_of(FACTS)
    done = await app().run_stages(sentence_input(PROMPT, asked, grounds), COHERENCE_STAGES)
    return sentence_score(done, asked, grounds, POLICY)


async def test_the_same_sentence_with_the_same_context_is_scored_once_and_shown_where_it_stands(stages, scorer):
    found = [await scorer.score(replace(WRONG, start=start)) for start in (40, 140, 240)]
    assert len(stages.given) == 1
    assert found == [await plainly(replace(WRONG, start=start)) for start in (40, 140, 240)]
    assert found[0].exhibits
    assert found[0] != found[1]


@pytest.mark.parametrize(
    "other",
    [
        replace(WRONG, context=""),
        replace(WRONG, text="The deposit for a locker is 20 euros."),
        SentenceToScore(0, WRONG.text[1:], WRONG.context + WRONG.text[:1]),
    ],
)
async def test_another_sentence_or_context_is_scored_by_itself(stages, scorer, other):
    asked = [replace(one, start=100) for one in (WRONG, other)]
    found = [await scorer.score(one) for one in asked]
    assert len(stages.given) == 2
    assert found == [await plainly(one) for one in asked]


async def test_the_facts_of_a_stream_are_read_once(stages, scorer):
    asked = [replace(WRONG, text=f"The deposit for a locker is {number} euros.", start=99) for number in (20, 30, 40)]
    found = [await scorer.score(one) for one in asked]
    views = [given[1] for given in stages.given]
    assert views[0] == ()
    assert views[1] is views[2] is stages.done[0].outputs.text.fact_views
    assert found == [await plainly(one) for one in asked]


async def test_of_a_sentence_that_asserts_nothing_the_first_stage_alone_runs(stages, scorer):
    asked = replace(WRONG, text="Shall we look at it together?", context=f"{CONTEXT.strip()}\n\n", start=99)
    assert await scorer.score(asked) == SentenceScore(None) == await plainly(asked)
    assert len(stages.done[0].outcomes) == 1


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ("Lockers are emptied every Friday.\n\n", "# Part 7"),
        ("# Part 6\n\n# The fee\n\n", "# Part 7"),
        ("```\nfee = 20\n", "deposit = 30"),
        (
            "Lockers are emptied every Friday.\n\n",
            "Die Kaution f\u00fcr ein Schlie\u00dffach betr\u00e4gt nicht mehr als 20 Euro.",
        ),
    ],
)
async def test_for_a_heading_that_says_nothing_no_stage_runs_whatever_stands_before_it(stages, scorer, context, text):
    """Each heading had what stands before it read again: 100,000 characters of headings took over a minute."""
    asked = replace(WRONG, text=text, context=context, start=99)
    assert await scorer.score(asked) == SentenceScore(None) == await plainly(asked)
    assert stages.given == []


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ("", "# The deposit for a locker is 30 euros"),
        ("The deposit for a locker covers:\n", "- the key"),
        ("```\nfee = 20\n```\n", "The deposit for a locker is 30 euros."),
    ],
)
async def test_what_may_claim_something_goes_through_the_stages(stages, scorer, context, text):
    asked = replace(WRONG, text=text, context=context, start=99)
    assert await scorer.score(asked) == await plainly(asked)
    assert len(stages.given) == 1


@pytest.mark.parametrize(
    ("reason", "times"), [(Reason.GROUNDING_MODEL_FAILED, 2), (Reason.DEADLINE_TOO_SHORT, 2), (Reason.NO_PRIOR_TEXT, 1)]
)
async def test_what_failed_is_tried_again(stages, scorer, reason, times):
    stages.reason = reason
    for _ in range(2):
        await scorer.score(WRONG)
    assert len(stages.given) == times
    assert is_lasting(stages.done[0]) is (times == 1)


async def test_only_so_many_scores_are_remembered_and_the_one_used_last_stays(stages, scorer):
    first = replace(WRONG, text="What is it?")
    for number in range(MOST_KNOWN + 5):
        await scorer.score(replace(WRONG, text=f"What is number {number}?"))
        await scorer.score(first)
    assert len(stages.given) == MOST_KNOWN + 6
    await scorer.score(replace(WRONG, text="What is number 0?"))
    assert len(stages.given) == MOST_KNOWN + 7


class Resting:
    """An entailment model that its first use loads, when it may."""

    def __init__(self):
        self.at_rest, self.may_load, self.fails = True, asyncio.Event(), False
        self.fingerprint, self.max_tokens = "slow@1", 512

    async def check(self):
        return

    async def classify(self, pairs):
        await self.may_load.wait()
        if self.fails:
            raise UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "cannot be loaded")
        self.at_rest = False
        return [(0.0, 1.0, 0.0)] * len(pairs)


async def opening(model):
    task = asyncio.create_task(EngineScoring(app(entailment=model), POLICY, 4).open(PROMPT, FACTS))
    for _ in range(20):
        await asyncio.sleep(0)
    return task


async def test_a_stream_begins_when_its_models_are_loaded():
    model = Resting()
    task = await opening(model)
    assert not task.done()
    model.may_load.set()
    await task
    assert not model.at_rest


async def test_a_model_that_cannot_be_loaded_is_told_of_by_the_scores():
    model = Resting()
    model.fails = True
    model.may_load.set()
    await (await opening(model))
    assert model.at_rest
