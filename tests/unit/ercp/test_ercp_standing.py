"""How a draft stands to its constraints: undecided is not kept (ADR 0115)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from services.ercp.domain import readings
from services.ercp.domain.records import Constraint, ConstraintOutcome, PredicateForm
from services.ercp.domain.standing import blocking, no_draft, outcomes
from services.ercp.domain.trace import MAX_BYTES, bounded, outcome_summary, told_texts, with_texts
from services.ercp.domain.vocabulary import ConstraintType, Standing, Undecided

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/ercp/standing.json").read_text(encoding="utf-8"))["vectors"]


def constraint(name, constraint_id="c1", *, immutable=False, **args):
    form = PredicateForm(name, args)
    return Constraint(constraint_id, ConstraintType.PREDICATE, "words", form, immutable=immutable)


def facts(text):
    return readings.facts_of(text, readings.sentences_of(text))


@pytest.mark.parametrize("vector", VECTORS, ids=[each["test_id"] for each in VECTORS])
def test_every_vector(vector):
    given = constraint(vector["constraint"]["predicate_name"], **vector["constraint"]["args"])
    (found,) = outcomes(facts(vector["text"]), [given])
    expected = vector["expected"]
    assert (found.standing.value, found.reason.value if found.reason else "") == (
        expected["state"],
        expected["undecided_reason"],
    )
    assert [[each.start, each.end] for each in found.places] == expected["places"]
    assert [each.sentence for each in found.places] == expected["sentences"]
    assert found.why
    for place in found.places:
        assert vector["text"][place.sentence_start : place.sentence_end] == place.sentence
        assert place.sentence_start <= place.start < place.end <= place.sentence_end


def test_only_an_immutable_one_that_is_undecided_stands_in_the_way():
    tank = {"left": "tank.volume", "right": "5", "unit": "l"}
    rules = [
        constraint("GreaterThan", "kept", immutable=True, **tank | {"left": "barrel.volume"}),
        constraint("GreaterThan", "soft", **tank),
        constraint("GreaterThan", "fixed", immutable=True, **tank),
    ]
    found = outcomes(facts("The volume of the barrel is 7 litres."), rules)
    assert [each.standing for each in found] == [Standing.KEPT, Standing.UNDECIDED, Standing.UNDECIDED]
    assert blocking(found) == ("fixed",)


def test_what_fits_is_not_kept_when_the_draft_gives_more_amounts_than_are_read():
    rule = constraint("GreaterThan", left="tank.volume", right="5", unit="l")
    whole = facts("The volume of the tank is 6 litres.")
    (found,) = outcomes(replace(whole, is_complete=False), [rule])
    assert (found.standing, found.reason) == (Standing.UNDECIDED, Undecided.TOO_LONG)
    broken = facts("The volume of the tank is 4 litres.")
    assert outcomes(replace(broken, is_complete=False), [rule])[0].standing is Standing.BROKEN


def test_without_a_draft_all_is_undecided():
    (found,) = no_draft([constraint("GreaterThan", immutable=True, left="a.b", right="5")])
    assert (found.standing, found.reason, found.immutable) == (Standing.UNDECIDED, Undecided.NO_DRAFT, True)


def test_a_trace_names_the_state_of_every_constraint_and_explains_the_broken_ones_first():
    ids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(200)]
    held = [ConstraintOutcome(name, Standing.KEPT, "it fits " * 40) for name in ids[:-1]]
    summary = outcome_summary([*held, ConstraintOutcome(ids[-1], Standing.BROKEN, "it does not fit")])
    assert (summary["count"], summary["kept"], summary["broken"], summary["undecided"]) == (200, 199, 1, 0)
    assert list(summary["states"]) == ids
    assert summary["items"][0]["constraint_id"] == ids[-1]
    short = bounded(summary)
    size = len(json.dumps(with_texts(short, told_texts(short)), ensure_ascii=False).encode())
    assert size <= MAX_BYTES
    assert len(short["states"]) == 200
