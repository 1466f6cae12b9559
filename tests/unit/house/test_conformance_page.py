"""docs/conformance.md publishes the weights, factors and limits that are in force by default (SPEC-005 §16.3, §17)."""

import re
from pathlib import Path

from services.common.settings import DagSettings, DpeSettings
from services.dpe.domain.policy import CONTRADICTION_COST, DISTORTION_COST, FABRICATION_COST

PAGE = (Path(__file__).resolve().parents[3] / "docs/conformance.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}")[1].split("\n## ")[0]


def test_weights():
    rows = dict(re.findall(r"^\| (\w+) \| (\d\.\d\d) \|$", section("Risk weights"), re.MULTILINE))
    assert {name: float(value) for name, value in rows.items()} == DpeSettings().weights.model_dump()


def test_amplifiers():
    rows = dict(re.findall(r"\| (\w+) \| (\d\.\d\d) \|$", section("Amplifiers"), re.MULTILINE))
    assert {name: float(value) for name, value in rows.items()} == DpeSettings().amplifiers.model_dump()
    assert f"loop depth above {DpeSettings().loop_depth_threshold} " in section("Amplifiers")


def test_costs_of_fidelity():
    row = next(line for line in section("Thresholds").splitlines() if line.startswith("| fidelity"))
    costs = (FABRICATION_COST, DISTORTION_COST, CONTRADICTION_COST)
    assert f"| {', '.join(f'{cost:.2f}' for cost in costs)} |" in row


def test_limits():
    dag = DagSettings()
    names = ("max_windows", "max_fan_out", "max_dag_nodes", "max_loop_depth")
    assert ", ".join(f"{name} {getattr(dag, name)}" for name in names) in section("Safety budget and limits")
    assert f"(profile {dag.budget_profile})" in section("Safety budget and limits")
    assert f"up to {dag.verify_max_windows:,} windows" in section("Decisions")
