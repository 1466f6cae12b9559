"""A stage is one file and one row: what rows say of each other, of the contract and of their code (ADR 0139)."""

import ast
import dataclasses
import sys
from importlib import import_module
from pathlib import Path

import pytest
from crp.dpe.v1 import report_pb2

from services.common.taxonomy import StageStatus
from services.dpe.domain import stages as folder
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.judging import JUDGING
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import StageOutcome
from services.dpe.domain.pipeline import PIPELINE, STAGES, stages_for, steps_of
from services.dpe.domain.policy import Amplifiers
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.results import AttributionResult, FlowResult, Outputs, TextReading
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s03_fidelity, s03c_contradiction, s06_coherence
from tests.each import each
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app

FILES = sorted(path.stem for path in Path(folder.__file__).parent.glob("s*.py"))
PLACE = {stage.key: place for place, stage in enumerate(STAGES)}


def stage_in(file):
    return import_module(f"services.dpe.domain.stages.{file}").STAGE


def imported(file):
    """Return the files of stages that a file imports from."""
    tree = ast.parse((Path(folder.__file__).parent / f"{file}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("services.dpe.domain.stages"):
            inner = node.module.removeprefix("services.dpe.domain.stages").strip(".")
            found |= {inner} if inner else {alias.name for alias in node.names}
    return found


def test_every_file_has_one_row_and_every_row_one_file():
    rows = [stage_in(file) for file in FILES]
    assert len(rows) == len(set(PLACE)) == len(STAGES)
    assert all(isinstance(row, Stage) for row in rows)
    assert {id(row) for row in rows} == {id(stage) for stage in STAGES}
    for file, row in zip(FILES, rows, strict=True):
        assert file.startswith(f"s{row.key.number:02d}{row.key.sub_stage}_"), file


def test_a_stage_stands_behind_all_that_it_needs():
    for stage in STAGES:
        for needed in stage.needs:
            assert PLACE[needed.key] < PLACE[stage.key], f"stage {stage.key} needs {needed.key}"


@each("file", FILES)
def test_no_stage_imports_a_later_one(file):
    own = PLACE[stage_in(file).key]
    assert [other for other in imported(file) if PLACE[stage_in(other).key] >= own] == []


def test_what_has_no_results_before_it_needs_none():
    assert s01_claims.STAGE.needs == ()
    assert STAGES[0] is s01_claims.STAGE


def test_names_sections_and_keys_are_told_apart():
    for column in ("key", "name", "section"):
        assert len({getattr(stage, column) for stage in STAGES}) == len(STAGES), column
    assert [str(stage.key) for stage in STAGES[:6]] == ["1", "2", "3a", "3b", "3c", "3"]


def test_every_signal_of_the_contract_rests_on_some_stage():
    of_contract = {
        name.removeprefix("RISK_SIGNAL_KIND_") for name, number in report_pb2.RiskSignalKind.items() if number
    }
    assert {signal.value for stage in STAGES for signal in stage.signals} == of_contract
    numbers = [report_pb2.RiskSignalKind.Value(f"RISK_SIGNAL_KIND_{signal}") for signal in RiskSignal]
    assert numbers == sorted(numbers), "the order of SPEC-005 §7.2 is that of the contract"


def test_every_amplifier_is_one_of_the_policy():
    known = {field.name for field in dataclasses.fields(Amplifiers)}
    found = {name for stage in STAGES for name in stage.amplifiers}
    assert known - found == {"loop_depth"}, "the loop depth stands in the request"
    assert found <= known


@pytest.mark.parametrize("steps", [PIPELINE, JUDGING, COHERENCE_STAGES], ids=["report", "judging", "coherence"])
def test_a_batch_goes_out_before_the_first_stage_that_has_a_share(steps):
    order = [step.stage for step in steps]
    for batch in Batch:
        senders = [place for place, stage in enumerate(order) if stage.sends is batch]
        sharing = [place for place, stage in enumerate(order) if batch in stage.shares]
        assert len(senders) == 1, batch
        assert senders[0] <= min(sharing), batch


def test_a_run_holds_what_is_needed_and_nothing_else():
    assert [str(step.key) for step in JUDGING] == ["1", "2", "3a", "3b", "3"]
    assert [str(step.key) for step in COHERENCE_STAGES] == ["1", "2", "3a", "3b", "3c", "3", "6"]
    assert stages_for(STAGES[-1]) == STAGES
    assert stages_for(s03_fidelity.STAGE, without=(s03c_contradiction.STAGE,)) == tuple(one.stage for one in JUDGING)


def test_a_batch_asks_nothing_for_a_stage_that_does_not_run():
    def asks(steps):
        return {ask.__module__ for step in steps for ask in step.asks}

    assert s06_coherence.__name__ in asks(PIPELINE)
    assert s06_coherence.__name__ not in asks(JUDGING)


def test_requests_are_merged_in_order_and_nothing_twice():
    one, other = Requests(embed=("a", "b"), recognise=("x",)), Requests(embed=("b", "c"), classify=(("p", "h"),))
    assert Requests.merge([one, other]) == Requests(recognise=("x",), embed=("a", "b", "c"), classify=(("p", "h"),))


SEEN = set()


class Watched(Outputs):
    """Notes which results a stage reads; what is copied into a new one is not read."""

    def __getattribute__(self, name):
        if name in _RESULTS and sys._getframe(1).f_globals["__name__"] not in {"dataclasses", __name__}:
            SEEN.add(name)
        return super().__getattribute__(name)


_RESULTS = {field.name for field in dataclasses.fields(Outputs)}
GIVES = {
    "text": "1", "attribution": "2", "fabrication": "3a", "distortion": "3b", "contradiction": "3c", "fidelity": "3",
    "entailment": "4", "risk": "5", "coherence": "6", "repetition": "7", "completeness": "8", "flow": "9",
    "omission": "10", "personal_data": "11", "regulatory": "12", "quality": "13",
}  # fmt: skip


SETTLED_LATER = {("5", "8")}
"""Floors are asked of whatever is there: at stage 5 nothing of stage 8 is; stages 12 and 13 settle the risk."""


def watched(analysis):
    parts = {name: getattr(analysis.outputs, name) for name in _RESULTS}
    return dataclasses.replace(analysis, outputs=Watched(**parts))


async def test_a_stage_reads_no_result_that_it_does_not_declare(monkeypatch):
    """Of everything: two windows, a question, models for all; each stage is given outputs that note what is read."""
    read = {}

    def noting(stage, work):
        def noted(analysis):
            SEEN.clear()
            done = work(watched(analysis))
            read.setdefault(str(stage.key), set()).update(SEEN)
            return done

        return noted

    steps = steps_of(
        [
            dataclasses.replace(
                stage,
                apply=noting(stage, stage.apply),
                plan=noting(stage, stage.plan),
                shares={batch: noting(stage, ask) for batch, ask in stage.shares.items()},
            )
            for stage in STAGES
        ]
    )
    monkeypatch.setattr("services.dpe.app.PIPELINE", steps)
    using = app(entailment=TableEntailment(lambda *_: (0.1, 0.8, 0.1)), grounding=TableGrounding(lambda _: 0.4))
    await analyse(
        "The fee is 6 euros. It is due in June. Hail is covered, and NIST says so. The fee is 7 euros.",
        "The fee is 5 euros.", "Hail is covered unless the roof is old.",
        importance=0.9, using=using, query="What is the fee?", window_number=2,
        prior_windows=(PriorWindow("w0", 1, "The fee is 9 euros. It is due in May."),),
    )  # fmt: skip
    assert set(read) == {str(stage.key) for stage in STAGES}
    for stage in STAGES:
        declared = {str(needed.key) for needed in stage.needs} | {str(stage.key)}
        undeclared = {GIVES[name] for name in read[str(stage.key)] if name in GIVES} - declared
        undeclared -= {later for by, later in SETTLED_LATER if by == str(stage.key)}
        assert not undeclared, f"stage {stage.key} reads what {sorted(undeclared)} gave and does not say so"


def test_a_result_lies_in_the_field_of_its_type():
    outputs = Outputs().with_results(FlowResult(0.5), AttributionResult(grounding_pct=0.25))
    assert (outputs.flow.score, outputs.attribution.grounding_pct) == (0.5, 0.25)
    assert outputs.text == TextReading()
    assert set(GIVES) == _RESULTS - {"second_opinion"}


def test_an_outcome_carries_its_row():
    outcome = StageOutcome(s06_coherence.STAGE, StageStatus.COMPLETED)
    assert (outcome.key, outcome.stage.name) == (StageKey(6), "Cross-Window Coherence")
