"""Sources as passages: paragraphs with their headings, lists with their lead-ins, rows of tables (ADR 0127)."""

import time

import numpy as np
import pytest

from services.dpe.domain.guard.source_passages import PASSAGE_CHARS, SourceText, passages_of
from services.dpe.domain.passages import MAX_PASSAGES
from services.dpe.domain.stages.s02_attribution import _nearest
from tests.each import each
from tests.fakes.verified_claims import judged, verified
from tests.speed import slowness

MOST_SECONDS = 6.0
"""Of processor time: each takes a tenth of it here; what was square took minutes."""


def texts(content):
    return [passage.text for passage in passages_of([SourceText("s", content)])]


@each(
    ("content", "expected"),
    [
        pytest.param("One thing holds. Another does.", ["One thing holds. Another does."], id="a-paragraph"),
        pytest.param("One thing holds.\n\nAnother does.", ["One thing holds.", "Another does."], id="two"),
        pytest.param("# Rent\n\nIt is 5 euros.\n\n# Pets", ["Rent\n\nIt is 5 euros.", "Pets"], id="headings"),
        pytest.param("LEASE\n\n1. Rent\n\nIt is 5 euros.", ["LEASE\n\n1. Rent\n\nIt is 5 euros."], id="plain-headings"),
        pytest.param("You must:\n- pay\n- clean\n\nIt ends.", ["You must:\n- pay\n- clean", "It ends."], id="a-list"),
        pytest.param("It holds.\n\nIt holds.", ["It holds."], id="said-twice"),
        pytest.param("Drug;Dose\nA;5 mg\nB;7 mg\n", ["Drug: A; Dose: 5 mg", "Drug: B; Dose: 7 mg"], id="semicolons"),
        pytest.param("A\tB\n1\t2\n3\t4\n", ["A: 1; B: 2", "A: 3; B: 4"], id="tabs"),
        pytest.param(
            'Who,Sum\nAnn,"1,200"\nBo,"2,300"\n', ["Who: Ann; Sum: 1,200", "Who: Bo; Sum: 2,300"], id="quotes"
        ),
        pytest.param("| Room | m2 |\n|---|---|\n| Hall | 4 |\n", ["Room: Hall; m2: 4"], id="bars"),
        pytest.param("Ann, Bo\nand Cy, Di\nwent home, all", ["Ann, Bo\nand Cy, Di\nwent home, all"], id="no-table"),
        pytest.param("Who, Sum\nAnn, 12\nBo, 23\n", ["Who: Ann; Sum: 12", "Who: Bo; Sum: 23"], id="blanks-behind"),
        pytest.param(
            "Dear Ann,\n\nthe rent, as said, is due.", ["Dear Ann,", "the rent, as said, is due."], id="commas"
        ),
        pytest.param('a,"b\nc,d\ne,f', ['a,"b\nc,d\ne,f'], id="open-quotation"),
        pytest.param(" \n\t\n", [], id="nothing"),
    ],
)
def test_what_is_read_together(content, expected):
    assert texts(content) == expected


def test_a_long_paragraph_is_cut_between_sentences():
    content = "The tenant pays the rent every month. " * 100
    found = passages_of([SourceText("s", content.strip())])
    assert all(len(passage.text) <= PASSAGE_CHARS and passage.text.endswith(".") for passage in found)


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    "content",
    [
        pytest.param('"a,b\n' * 40_000, id="open-quotations"),
        pytest.param("a,b\n" * 50_000, id="rows-without-heads"),
        pytest.param("|" * 100_000 + "\n" + "|" * 100_000, id="bars"),
        pytest.param("x\n" * 100_000, id="lines"),
        pytest.param("x" * 200_000, id="one-word"),
        pytest.param("# h\n" * 50_000, id="headings"),
        pytest.param("a:\n- b\n" * 30_000, id="lists"),
    ],
)
def test_hostile_sources_cost_time_in_proportion(content):
    began = time.thread_time()
    passages_of([SourceText("s", content)])
    assert time.thread_time() - began < MOST_SECONDS * slowness()


def test_the_nearest_facts_are_those_of_a_whole_sort():
    random = np.random.default_rng(7)
    for size in (1, 5, MAX_PASSAGES, 100, 1_000):
        raw = random.integers(0, 9, size).astype(np.float32)  # with many equals
        among = np.flatnonzero(random.random(size) < 0.7)
        kept = set(among.tolist())
        every = [index for index in np.argsort(-raw, kind="stable").tolist() if index in kept]
        assert _nearest(raw, among) == every[:MAX_PASSAGES]


async def test_a_claim_is_judged_by_a_bounded_number_of_passages():
    using = judged()
    source = "\n\n".join(f"Flat {number} has {number + 3} windows." for number in range(2, 400))
    await verified("Flat 7 has 12 windows.", source, using=using)
    (request,) = using.grounding.calls[-1]
    assert len(request.passages) <= MAX_PASSAGES
    assert any("Flat 7 " in passage for passage in request.passages)
