from dataclasses import replace

import pytest

from training.grounding_rows import Sizes, grounding_rows, real_rows, table
from training.rows import CheckedText, GroundingRow, NliRow
from training.words import word_count

FIT = [
    CheckedText(
        id=f"halueval_qa-{number}",
        dataset="halueval_qa",
        kind="response",
        context=(
            f"Anna Berg founded Orion Bank in 19{number}. The bank had {number} clerks at the beginning.",
            "It lies in Oslo, which is the largest city of the country. Carl Foster led it until 2004.",
        ),
        claim=claim,
        supported=supported,
        fold="fit",
        query=query,
    )
    for number, claim, supported, query in (
        (41, "Orion Bank was founded by Anna Berg in the year 1941.", True, None),
        (42, "Anna Berg", True, "Who founded Orion Bank?"),
        (43, "Paul Novak", False, "Who founded Orion Bank?"),
        (44, "The bank had 90 clerks at the beginning.", False, None),
    )
]
NLI = [
    NliRow(f"The ship {name} sank in 19{number} near Lake Arden with {number} men .", claim, label, origin, clear)
    for number, name in enumerate(("Vasa", "Mary", "Rose", "Gneisenau"), start=20)
    for claim, label in (("The ship sank near a lake.", 0), ("The ship was red.", 1), ("No ship ever sank there.", 2))
    for origin, clear in (("fever", True), ("snli", True), ("healthver", False), ("clcd_counting", True))
]
SIZES = Sizes(inference=16, claims=6, sentences=8, questions=4, policies=4, premise_words=40)


@pytest.fixture(scope="module")
def rows():
    return grounding_rows(NLI, FIT, 1, SIZES)


def test_the_mix_is_the_seed_s_alone(rows):
    assert rows == grounding_rows(NLI, FIT, 1, SIZES)
    assert rows != grounding_rows(NLI, FIT, 2, SIZES)


def test_every_source_is_there(rows):
    assert {row.origin.split("/")[0] for row in rows} == {"contrast", "fit", "nli", "policy", "question"}


def test_no_row_of_an_unclear_or_of_a_synthetic_origin(rows):
    assert not any("healthver" in row.origin or "clcd" in row.origin for row in rows)


def test_what_is_made_here_is_balanced_and_short(rows):
    made = [row for row in rows if not row.origin.startswith("fit/")]
    for source in ("nli", "policy", "question"):
        verdicts = [row.supported for row in made if row.origin.startswith(source)]
        assert sum(verdicts) * 2 == len(verdicts) > 0
    assert all(word_count(row.premise) <= 40 for row in made if not row.origin.startswith("policy/"))


def test_spans_say_what_is_known(rows):
    for row in rows:
        if row.supported:
            assert row.spans == ()
        elif row.origin.startswith(("fit/", "nli/")):
            assert row.spans is None
        else:
            assert row.spans
            assert all(0 <= start < end <= len(row.claim) for start, end in row.spans)


def test_real_rows_come_once_each_with_the_claim_as_a_statement():
    assert real_rows(FIT) == [
        GroundingRow("\n\n".join(row.context), claim, row.supported, spans, "fit/halueval_qa", row.query)
        for row, claim, spans in zip(
            FIT,
            (FIT[0].claim, "Anna Berg founded Orion Bank", "Paul Novak founded Orion Bank", FIT[3].claim),
            ((), (), None, None),
            strict=True,
        )
    ]


@pytest.mark.parametrize("fold", ["calibrate", "report"])
def test_rows_that_are_measured_on_are_refused(fold):
    with pytest.raises(ValueError, match="'fit' alone"):
        grounding_rows(NLI, [replace(FIT[0], fold=fold)], 1, SIZES)


def test_the_table_counts_every_row(rows):
    lines = table(rows)
    counts = {line.split()[0]: int(line.split()[1]) for line in lines[1:]}
    assert sum(count for name, count in counts.items() if "/" not in name) == len(rows)
