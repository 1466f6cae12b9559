"""What the command line shows of a report: the constraints that it was held against (ADR 0078)."""

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import constraint_pb2, report_pb2

from services.cli import render
from services.cli.console import Output


def report():
    made = report_pb2.DpeReport()
    for number, state in enumerate(("HELD", "VIOLATED", "UNKNOWN"), start=1):
        outcome = made.constraint_outcomes.outcomes.add(claim_ids=["c3"] if state == "VIOLATED" else [])
        outcome.verdict.state = constraint_pb2.ConstraintState.Value(f"CONSTRAINT_STATE_{state}")
        outcome.verdict.nl_text, outcome.verdict.why = f"Rule {number}.", f"Because {number}."
    made.constraint_outcomes.violated_count = made.constraint_outcomes.not_computed_count = 1
    made.constraint_outcomes.fidelity_score_without = 0.875
    return made


def test_each_constraint_has_its_state_its_claims_and_why(capsys):
    render.show_constraints(report(), Output(as_json=False))
    shown = capsys.readouterr().out
    assert "Constraints (3)" in shown
    assert "1 violated, 1 not computed; fidelity without violations 0.875" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["VIOLATED", "Rule", "2.", "c3", "Because", "2."] in lines
    assert ["UNKNOWN", "Rule", "3.", "-", "Because", "3."] in lines


def test_without_constraints_nothing_is_shown(capsys):
    render.show_constraints(report_pb2.DpeReport(), Output(as_json=False))
    assert capsys.readouterr().out == ""


def test_the_floors_are_shown_with_what_they_rest_on():
    told = report_pb2.DpeReport(
        composite_level=taxonomy_pb2.RISK_LEVEL_MEDIUM,
        judged_score=0.25,
        risk_floors=[
            report_pb2.RiskFloor(
                level=taxonomy_pb2.RISK_LEVEL_HIGH,
                reason=report_pb2.RISK_FLOOR_REASON_CONTRADICTED_BY_RULE,
                claim_ids=["c1", "c3"],
            ),
            report_pb2.RiskFloor(
                level=taxonomy_pb2.RISK_LEVEL_MEDIUM,
                reason=report_pb2.RISK_FLOOR_REASON_NOT_COMPUTED,
                stages=["3b"],
            ),
        ],
    )
    assert render.floor_rows(told) == [
        ("composite_level", "MEDIUM"),
        ("judged_score", "0.250"),
        ("risk floor", "HIGH CONTRADICTED_BY_RULE: c1, c3"),
        ("risk floor", "MEDIUM NOT_COMPUTED: stage 3b"),
    ]
    assert render.floor_rows(report_pb2.DpeReport()) == [("composite_level", "not computed")]
