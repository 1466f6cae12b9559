"""The score of one sentence of a text that is still being written (ADR 0123)."""

from dataclasses import replace

import pytest

from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.coherence_grounds import GroundText, grounds_of
from services.dpe.domain.guard.sentence_scores import (
    DOUBTFUL,
    SentenceScore,
    SentenceToScore,
    sentence_input,
    sentence_score,
)
from tests.fakes.dpe_world import app

GROUNDS = grounds_of([GroundText("f1", "The deposit for a locker is 20 euros. Lockers are emptied every Friday.")])


async def scored(text, context="", grounds=GROUNDS):
    asked = SentenceToScore(100, text, context)
    finished = await app().analyze(sentence_input("What does a locker cost?", asked, grounds))
    return sentence_score(finished.analysis, asked, grounds, CoherencePolicy())


async def test_a_sentence_that_says_otherwise_is_no_mere_doubt_and_is_shown_where_the_stream_has_it():
    context = "Lockers are emptied every Friday. "
    found = await scored("The deposit for a locker is 30 euros.", context)
    assert found.coherence is not None
    assert not found.doubtful
    assert all(one.answer_span.start >= 100 - len(context) for one in found.exhibits)


@pytest.mark.parametrize("text", ["The deposit for a locker is 30 euros.", "The deposit for a locker is 20 euros."])
async def test_what_stands_before_is_read_and_not_held_against_the_facts(text):
    context = "Lockers are never emptied on Fridays. The deposit for a locker is 40 euros. "
    asked = SentenceToScore(100, text, context)
    given = sentence_input("What does a locker cost?", asked, GROUNDS)
    alone, whole = [(await app().analyze(one)).analysis for one in (given, replace(given, scored_from=0))]
    found = [{item.claim_id for item in one.outputs.distortion.found} for one in (alone, whole)]
    own = {claim.claim_id for claim in alone.outputs.text.claims if claim.start >= len(context)}
    assert found[0] == found[1] & own
    assert found[1] - own
    scores = [sentence_score(one, asked, GROUNDS, CoherencePolicy()) for one in (alone, whole)]
    assert scores[0] == scores[1]


async def test_a_sentence_that_asserts_nothing_has_no_score():
    assert await scored("Shall we look at it together?") == SentenceScore(None)


async def test_without_facts_it_is_said_why_something_is_missing():
    found = await scored("The deposit for a locker is 30 euros.", grounds=grounds_of([]))
    assert found.reason == "NO_FACTS"


@pytest.mark.parametrize(
    ("score", "strict", "counted"),
    [
        (SentenceScore(0.3, doubtful=True), False, DOUBTFUL),
        (SentenceScore(0.3, doubtful=True), True, 0.3),
        (SentenceScore(0.3), False, 0.3),
        (SentenceScore(0.95, doubtful=True), False, 0.95),
        (SentenceScore(None, doubtful=True), False, None),
    ],
)
def test_a_mere_doubt_halts_a_strict_stream_alone(score, strict, counted):
    assert score.counted(strict=strict) == counted
