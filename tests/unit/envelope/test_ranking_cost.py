"""What ranking does in Python grows with the candidates, not with their pairs (SPEC-003 §6).

Bytecode instructions are counted, not time: the same on every machine, however busy. What is left to NumPy, one product
of all vectors and bits of the pairs above 0.95, is not counted.
"""

import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.envelope.domain.assembly import PackingTerms, assemble
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.ranking import RankingTerms
from services.envelope.domain.weights import RankWeights

NOW = datetime(2026, 5, 24, tzinfo=UTC)
TERMS = PackingTerms(RankingTerms(RankWeights(), NOW, 365.0), 1_000)
DIMENSION = 48
FEW, MANY = 100, 400
QUERY = np.eye(1, DIMENSION, dtype=np.float32)


def name(number):
    return "".join(chr(ord("a") + digit) for digit in divmod(number, 26)).capitalize()


TEXTS = {
    "other figures": lambda number: f"Case {number} is settled within {number + 2} days.",
    "the same": "The case is settled within 30 days.".format,
    "other names": lambda number: f"The case of Mr {name(number)}x and Mr {name(number)}y is settled within 30 days.",
    "nested names": lambda number: " ".join(f"{name(one)}x" for one in range(number % 20)),
    "opposites": lambda number: f"The case {'rises' if number % 2 else 'falls'} within 30 days.",
}


def candidates(count, text, *, alike, seconds=86_400.0):
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((count, DIMENSION))
    if alike:
        vectors = vectors[0] + 0.01 * vectors
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return [
        Candidate(
            fact_id=f"f{number:05}",
            content=text(number),
            content_hash=f"{number * 7919 % 10_007:064x}",
            source_id=f"s{number % 5}",
            token_count=10,
            importance_weight=0.5,
            ingested_at=NOW - timedelta(seconds=seconds * (number % 300)),
            embedding=QUERY[0] if seconds < 1 else vectors[number],
            community="c",
        )
        for number in range(count)
    ]


def instructions(given):
    """Return how many bytecode instructions ranking and packing take, its calls included."""
    counted = 0

    def trace(frame, event, _):
        nonlocal counted
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assemble(given, QUERY, TERMS)
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("alike", [False, True], ids=["different", "alike"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_four_times_the_candidates_take_about_four_times_the_instructions(text, alike):
    few, many = (instructions(candidates(count, text, alike=alike)) for count in (FEW, MANY))
    assert few > 10 * FEW
    assert many < 5.5 * few


def test_so_do_candidates_whose_scores_differ_by_less_than_rounding():
    few, many = (
        instructions(candidates(count, TEXTS["other figures"], alike=True, seconds=0.01)) for count in (FEW, MANY)
    )
    assert many < 5.5 * few
