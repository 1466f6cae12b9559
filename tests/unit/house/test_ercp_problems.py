"""The scripted problems of ERCP are what their README says; messages name problems and quote nothing of them."""

import hashlib
import itertools
import json
import re
from collections import Counter
from datetime import date
from fractions import Fraction

import jsonschema
import pytest
import z3

from evaluation.ercp_problems import FINAL, FOLDER, HALVES, SETS, ProblemError, load
from tests.each import each

PROBLEMS = [problem for one in SETS for problem in load(one)]
PATHS = sorted(path for one in SETS for path in (FOLDER / one).glob("*.json"))
EACH = each("problem", PROBLEMS, ids=[f"{one.half}-{one.id}" for one in PROBLEMS])
SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
FEWEST, MOST = 3, 9

ERROR_TYPES = {"contradiction", "factual_incorrect", "missing_justification", "ambiguity", "syntax_error"}

# Written for this check alone, from the definitions of the units; nothing of the service is asked.
SCALES = {
    "": "1", "units": "1", "%": "0.01", "EUR": "1", "GB": "1", "C": "1", "K": "1", "bar": "100000", "Nm": "1",
    "t": "1000", "kg": "1", "g": "0.001", "lb": "0.45359237", "oz": "0.028349523125",
    "kPa": "1000", "mg/L": "1", "m3": "1000", "L": "1", "mL/h": "1",
    "km": "1000", "m": "1", "mm": "0.001", "ha": "10000", "m2": "1", "km/h": "1", "mph": "1.609344", "km/s": "1",
    "s": "1", "min": "60", "h": "3600", "days": "86400", "month": "2629746", "months": "2629746", "years": "31556952",
    "kW": "1000", "MW": "1000000", "kWh": "3600000", "1/min": "1",
}  # fmt: skip
KELVIN_AT_ZERO_CELSIUS = Fraction("273.15")


@each("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_file_keeps_to_the_schema(path):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    rows = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(rows, schema)
    assert {row["kind"] for row in rows} == {path.stem}


@pytest.mark.parametrize("name", ["problems_final_3", "problems_final_4"])
def test_the_problems_by_other_hands_are_those_that_were_counted(name):
    folder = FOLDER.parent / name
    path = folder / "problems.jsonl"
    digest, listed = (folder / "SHA256SUMS").read_text(encoding="ascii").split()
    assert (listed, hashlib.sha256(path.read_bytes()).hexdigest()) == (path.name, digest)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    jsonschema.validate(rows, json.loads((FOLDER / "schema.json").read_text(encoding="utf-8")))
    problems = load(folder.name, folder.parent)
    assert len({problem.id for problem in problems}) == 40
    assert not {problem.id for problem in problems} & {problem.id for problem in PROBLEMS}


def test_there_are_a_hundred_and_fifty_with_ids_and_questions_of_their_own():
    assert Counter(problem.half for problem in PROBLEMS) == {"development": 48, "held_back": 48, "final": 54}
    assert len({problem.id for problem in PROBLEMS}) == len(PROBLEMS)
    assert len({problem.description for problem in PROBLEMS}) == len(PROBLEMS)
    assert len({problem.script[0].text for problem in PROBLEMS}) == len(PROBLEMS)


def test_the_halves_hold_each_kind_equally_often():
    halves = [Counter(problem.kind for problem in PROBLEMS if problem.half == half) for half in HALVES]
    assert halves[0] == halves[1]


@pytest.mark.parametrize("one", SETS)
def test_a_third_of_each_set_is_infeasible(one):
    problems = [problem for problem in PROBLEMS if problem.half == one]
    assert 3 * sum(problem.status == "infeasible" for problem in problems) == len(problems)


def test_the_final_set_holds_every_kind_of_problem_and_of_error_and_clean_drafts():
    final = [problem for problem in PROBLEMS if problem.half == FINAL]
    assert Counter(problem.status for problem in final) == {"converged": 34, "infeasible": 18, "partial": 2}
    assert {problem.kind for problem in final} == {problem.kind for problem in PROBLEMS}
    drafts = [draft for problem in final for draft in problem.script]
    assert {error.type for draft in drafts for error in draft.errors} == ERROR_TYPES
    assert 3 * sum(not draft.errors for draft in drafts) > len(drafts)
    assert sum(len(draft.hard_negatives) for draft in drafts) > len(drafts)


def test_no_draft_of_the_final_set_stands_in_another():
    elsewhere = {draft.text for problem in PROBLEMS if problem.half != FINAL for draft in problem.script}
    final = [draft.text for problem in PROBLEMS if problem.half == FINAL for draft in problem.script]
    assert len(set(final)) == len(final)
    assert not elsewhere & set(final)


def test_the_table_of_the_readme_counts_right():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    halves, final = ({kind: int(row[at]) for kind, *row in rows} for at in (0, 1))
    assert halves == Counter(problem.kind for problem in PROBLEMS if problem.half in HALVES)
    assert final == Counter(problem.kind for problem in PROBLEMS if problem.half == FINAL)


@EACH
def test_texts_have_three_to_nine_sentences(problem):
    for draft in problem.script:
        assert FEWEST <= len(SENTENCE_END.findall(draft.text)) <= MOST, draft.id


@EACH
def test_planted_errors_and_hard_negatives_stand_apart(problem):
    for draft in problem.script:
        spans = sorted([error.span for error in draft.errors] + list(draft.hard_negatives))
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans)), draft.id
        assert all(error.against is None or error.against != error.span for error in draft.errors), draft.id


@EACH
def test_the_first_draft_holds_an_error(problem):
    assert [error for error in problem.script[0].errors if not error.optional]


@EACH
def test_every_draft_is_reached_by_some_move(problem):
    reached, waiting = {"d0"}, ["d0"]
    while waiting:
        for move in problem.draft(waiting.pop()).moves:
            if move.to not in reached:
                reached.add(move.to)
                waiting.append(move.to)
    assert reached == {draft.id for draft in problem.script}


@EACH
def test_the_script_ends_as_the_problem_should(problem):
    resting = [draft for draft in problem.script if not draft.moves]
    if problem.status == "converged":
        assert resting
        assert not any(draft.errors for draft in resting)
        assert any(draft.errors for draft in problem.script)
    else:
        assert all(draft.errors for draft in problem.script)


@EACH
def test_the_core_names_given_constraints_that_fit_the_status(problem):
    given = {one.name: one for one in problem.constraints}
    assert len(given) == len(problem.constraints)
    assert set(problem.core) <= set(given)
    assert set(problem.relaxed) <= {name for name, one in given.items() if not one.immutable}
    if problem.status == "infeasible":
        assert all(given[name].immutable for name in problem.core)
        assert len(problem.core) + len(problem.core_learned) > 1
        assert bool(problem.core_learned) == any(
            error.type == "factual_incorrect" for draft in problem.script for error in draft.errors
        )
    else:
        assert bool(problem.core) == (problem.kind == "relaxable")


@EACH
def test_statements_against_passages_have_passages(problem):
    against_passages = any(error.type == "factual_incorrect" for draft in problem.script for error in draft.errors)
    assert against_passages == bool(problem.retrieval_context)


def test_an_excerpt_that_is_not_in_its_draft_is_refused(tmp_path):
    row = json.loads((FOLDER / "development" / "form.json").read_text(encoding="utf-8"))[:1]
    row[0]["script"][0]["errors"][0]["excerpt"] = "not in the draft"
    (tmp_path / "development").mkdir()
    (tmp_path / "development" / "form.json").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(ProblemError, match="0 times"):
        load("development", tmp_path)


def number(text, unit):
    """Return the value in the base of its unit, a date as its day; ``None`` for a name."""
    try:
        value = (
            Fraction(date.fromisoformat(text).toordinal()) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else Fraction(text)
        )
    except ValueError:
        return None
    return value * Fraction(SCALES[unit]) + (KELVIN_AT_ZERO_CELSIUS if unit == "C" else 0)


def formula(predicate):
    """Return the predicate over real variables; ``e`` happens when ``e.date`` is. Claims say nothing about numbers."""
    args = predicate.args
    if predicate.name == "TemporalOrder":
        return z3.Real(f"{args['before']}.date") < z3.Real(f"{args['after']}.date")
    if predicate.name in {"HasJustification", "NoContradiction"}:
        return z3.BoolVal(True)
    value = number(args["right"], args.get("unit", ""))
    right = z3.Real(args["right"]) if value is None else z3.RealVal(str(value))
    left = z3.Real(args["left"])
    return {"Equal": left == right, "NotEqual": left != right, "LessThan": left < right, "GreaterThan": left > right}[
        predicate.name
    ]


def holds_together(predicates):
    solver = z3.Solver()
    solver.add(*map(formula, predicates))
    return solver.check() == z3.sat


@EACH
def test_the_core_clashes_and_no_part_of_it_does(problem):
    given = {one.name: one.predicate for one in problem.constraints}
    core = [given[name] for name in problem.core] + list(problem.core_learned)
    if core:
        assert not holds_together(core)
        assert all(holds_together(core[:place] + core[place + 1 :]) for place in range(len(core)))
        assert holds_together([one for name, one in given.items() if name != problem.core[0]])
    else:
        assert holds_together(given.values())
    assert holds_together([one for name, one in given.items() if name not in problem.relaxed]) or not problem.relaxed
