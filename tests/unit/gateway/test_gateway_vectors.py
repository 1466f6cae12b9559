"""What the gateway decides, by vectors: better answers, due remedies, carried summaries, strategies (ADR 0059)."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from services.common.errors import CrpError
from services.common.taxonomy import (
    DispatchStrategy,
    QualityTier,
    Remedy,
    RemedyCall,
    RemedyCondition,
    RemedyForce,
    RiskLevel,
)
from services.gateway.dispatch.strategies.choosing import served_strategy
from services.gateway.domain.completion import Completion
from services.gateway.domain.outcome import Verdict
from services.gateway.domain.remedies import AnalyzedAnswer, RemedyTerms, due
from services.gateway.domain.remedy_plan import RemedyPlan, RemedyStep
from services.gateway.domain.summaries import CheckedClaim, Span, SummaryCheck, summary_passages, verified_part
from services.gateway.domain.vocabulary import RemedyMode
from services.gateway.domain.window import Analysis
from tests.each import each
from tests.fakes.gateway_values import REPORT

FOLDER = Path(__file__).parents[2] / "vectors" / "gateway"


def cases(topic):
    found = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(case["input"], case["expected"], id=case["test_id"]) for case in found["vectors"]]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_file_keeps_to_the_schema(path):
    if path.stem != "schema":
        schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)


def step(**given):
    return RemedyStep(
        remedy=Remedy(given.get("remedy", "UPGRADE_STRATEGY")),
        force=RemedyForce(given.get("force", "REQUIRED")),
        call=RemedyCall(given.get("call", "RE_DISPATCH")),
        stage_number=5,
        reason="X",
        conditions=tuple(RemedyCondition(name) for name in given.get("conditions", ())),
    )


def analysed(given):
    report = replace(
        REPORT,
        risk_level=RiskLevel(given.get("risk", "LOW")),
        composite_score=given.get("composite", 0.1),
        quality_score=given.get("quality", 0.9),
    )
    plan = RemedyPlan(
        tuple(step() for _ in range(given.get("required", 0))), stages_not_computed=tuple(given.get("unknown", ()))
    )
    written = Completion("x", "stop", "m", 1, None, None)
    return AnalyzedAnswer(
        written, Analysis(report, b"", plan=plan), QualityTier(given.get("tier", "A")), Verdict(given.get("halt", ""))
    )


@pytest.mark.parametrize(("given", "expected"), cases("better"))
def test_the_better_answer_is_kept(given, expected):
    first, second = analysed(given["first"]), analysed(given["second"])
    assert second.better_than(first) == (expected["kept"] == "second")


@each(("given", "expected"), cases("due"))
def test_a_step_is_due(given, expected):
    terms = RemedyTerms(
        RemedyMode(given["mode"]), given["upgrade_on_risk"], given["prompt_augmentation"], given["over_budget"]
    )
    plan = RemedyPlan(tuple(step(**each) for each in given["steps"]))
    assert [each.remedy.value for each in due(plan, RemedyCall(given["call"]), terms)] == expected["due"]


@pytest.mark.parametrize(("given", "expected"), cases("verified"))
def test_a_summary_keeps_its_verified_passages(given, expected):
    claims = tuple(CheckedClaim(Span(each["start"], each["end"]), each["verified"]) for each in given["claims"])
    kept = verified_part(given["summary"], SummaryCheck(faithful=True, fidelity_score=1.0, claims=claims))
    assert kept == expected["kept"]
    assert "\n".join(summary_passages(kept)) == kept


@pytest.mark.parametrize(("given", "expected"), cases("strategy"))
def test_a_strategy_is_taken_or_refused(given, expected):
    wanted = tuple(DispatchStrategy(name) for name in given["wanted"])
    if "refused" in expected:
        with pytest.raises(CrpError) as caught:
            served_strategy(wanted, given["parents"])
        assert caught.value.reason.value == expected["refused"]
    else:
        assert served_strategy(wanted, given["parents"]).value == expected["taken"]
