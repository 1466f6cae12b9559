"""What a deadline leaves time for: ADR 0042's worked example, and whole analyses under a clock that the models move."""

import asyncio

import pytest

import services.dpe.app
from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.context import CallContext, set_current_call
from services.common.errors import DeadlineError
from services.dpe.deadline import Timekeeper, timekeeper, unlimited
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.findings import FloorReason
from services.dpe.domain.models import Requests
from services.dpe.domain.pipeline import STAGE_BY_KEY
from services.dpe.domain.policy import Policy
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.stage import Step
from services.dpe.domain.stage_row import StageKey
from services.dpe.gazetteer import load_gazetteer
from tests.fakes.dpe_world import NAMES, READER, DownModel, TableEntailment, TableRecognizer, analyse, app, statuses

FEE = "The fee is 5 euros."
LATE = ("SKIPPED", "DEADLINE_TOO_SHORT")


def stage_of(number, sub_stage=""):
    return STAGE_BY_KEY[StageKey(number, sub_stage)]


class Clock:
    """Stands until it is moved."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def nothing_found():
    return Analysis(AnalysisInput("s", "w", 1, "q", "a", ()), Policy(), load_gazetteer())


def asking(clock, seconds):
    """Return what stands for the models: it takes ``seconds``, and answers nothing."""

    async def fulfil(_, known):
        clock.seconds += seconds
        return known

    return fulfil


async def ask(keeper, stage, requests, fulfil):
    return await keeper.ask(Step(stage, (lambda _: requests,)), requests, nothing_found(), fulfil)


async def test_the_worked_example_of_adr_0042():
    clock = Clock()
    keeper = Timekeeper(clock, 2.05, 0.05)
    assert keeper.batch_limit_s(stage_of(1)) == pytest.approx(1.0)
    await ask(keeper, stage_of(1), Requests(recognise=("x" * 3_999,)), asking(clock, 0.4))
    assert keeper.batch_limit_s(stage_of(2)) == pytest.approx(1.2)
    await ask(keeper, stage_of(2), Requests(embed=("x" * 5_999,)), asking(clock, 0.6))
    assert keeper.predicted_s(Requests(embed=("x" * 8_999,))) == pytest.approx(0.9)
    assert keeper.batch_limit_s(stage_of(2)) == pytest.approx(0.75)
    assert keeper.batch_limit_s(stage_of(3, "a")) == pytest.approx(0.75)
    clock.seconds += 0.7
    keeper.computed(0.08)
    keeper.computed(0.02)
    assert keeper.predicted_s(Requests()) == pytest.approx(0.08)
    assert keeper.affords(stage_of(10), Requests(), is_first=False)
    assert not keeper.affords(stage_of(10), Requests(embed=("x" * 699,)), is_first=False)
    assert keeper.affords(stage_of(11), Requests(embed=("x" * 1_599,)), is_first=False)
    assert not keeper.affords(stage_of(11), Requests(recognise=("x" * 2_999,)), is_first=False)


@pytest.mark.parametrize(
    ("stage", "left", "expected"),
    [
        pytest.param(8, 0.401, True, id="optional-with-room-for-11-and-12"),
        pytest.param(8, 0.299, False, id="optional-gives-way-to-11-and-12"),
        pytest.param(6, 0.101, True, id="risk-stage-needs-its-own-time-alone"),
        pytest.param(6, 0.099, False, id="risk-stage-without-time"),
        pytest.param(12, -1.0, True, id="a-table-is-looked-up-whatever-the-time"),
        pytest.param(13, -1.0, True, id="the-report-is-written-whatever-the-time"),
        pytest.param(5, -1.0, True, id="stages-1-to-5-always-run"),
    ],
)
def test_which_stage_gives_way(stage, left, expected):
    keeper = Timekeeper(Clock(), left + 0.05 + 0.05, 0.05)  # the reserve, and half of what was computed
    keeper.computed(0.1)
    assert keeper.affords(stage_of(stage), Requests(), is_first=False) == expected


@pytest.mark.parametrize(
    ("stage", "computed", "expected"),
    [
        pytest.param(stage_of(2), 0.0, 75.0, id="nothing-computed-yet"),
        pytest.param(stage_of(2), 4.0, (100.0 - 12.0) * 0.75, id="stage-2-is-followed-by-most"),
        pytest.param(stage_of(3, "a"), 6.0, (100.0 - 12.0) * 0.75, id="stage-3a"),
        pytest.param(stage_of(3, "c"), 7.0, 100.0 - 10.5, id="stage-3c"),
        pytest.param(stage_of(4), 12.0, 100.0 - 6.0, id="stage-4-by-the-report-alone"),
        pytest.param(stage_of(2), 40.0, 0.0, id="no-time-is-not-less-than-none"),
    ],
)
def test_a_batch_leaves_time_to_compute_what_follows_it(stage, computed, expected):
    keeper = Timekeeper(Clock(), 100.05, 0.05)
    keeper.computed(computed)
    assert keeper.batch_limit_s(stage) == pytest.approx(expected)


def test_a_stage_that_has_nothing_to_do_is_not_dropped():
    keeper = Timekeeper(Clock(), 0.0, 0.05)
    assert [number for number in range(6, 12) if keeper.affords(stage_of(number), Requests(), is_first=True)] == [
        6,
        7,
        9,
    ]


def test_what_cannot_end_is_not_begun():
    Timekeeper(Clock(), 0.05, 0.05).require_time()
    with pytest.raises(DeadlineError, match="no time to write a report"):
        Timekeeper(Clock(), 0.049, 0.05).require_time()


async def test_without_a_deadline_there_is_no_limit():
    set_current_call(CallContext(READER, "r", "rpc", None))
    keeper = timekeeper(0.05)
    keeper.require_time()
    keeper.computed(1e9)
    assert keeper.affords(stage_of(8), Requests(embed=("x",)), is_first=False)


class Stuck(MemoryEmbeddingModel):
    """Never answers."""

    async def embed(self, texts):
        return await asyncio.Event().wait()


class Spending(MemoryEmbeddingModel):
    """Moves the clock by ``seconds`` for each call."""

    def __init__(self, clock, seconds):
        super().__init__()
        self.clock, self.seconds = clock, seconds

    async def embed(self, texts):
        self.clock.seconds += self.seconds
        return await super().embed(texts)


PRIOR = (PriorWindow("w0", 1, "Hail is covered up to 900 euros. Paint is not covered."),)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands, and ten seconds until the deadline."""
    standing = Clock()
    monkeypatch.setattr(services.dpe.app, "timekeeper", lambda reserve: Timekeeper(standing, 10.0, reserve))
    return standing


def neutral(*_):
    return (0.1, 0.8, 0.1)


async def test_enough_time_gives_the_same_as_no_deadline(clock, monkeypatch):
    given = {"window_number": 2, "prior_windows": PRIOR}
    bounded = await analyse(FEE, FEE, using=app(entailment=TableEntailment(neutral)), **given)
    assert not clock.seconds
    monkeypatch.setattr(services.dpe.app, "timekeeper", lambda _: unlimited())
    free = await analyse(FEE, FEE, using=app(entailment=TableEntailment(neutral)), **given)
    assert bounded.analysis.outcomes == free.analysis.outcomes
    assert repr(bounded.analysis.outputs) == repr(free.analysis.outputs)


async def test_a_batch_that_does_not_come_back_is_given_up_and_the_report_comes(monkeypatch):
    ending = Clock()
    monkeypatch.setattr(services.dpe.app, "timekeeper", lambda reserve: Timekeeper(ending, 0.09, reserve))
    finished = await analyse(FEE, FEE, using=app(embedding=Stuck()))
    found = statuses(finished)
    assert (found["1"], found["2"]) == (("COMPLETED", ""), LATE)
    assert found["13"] == ("DEGRADED", "DEADLINE_TOO_SHORT")
    risk = finished.analysis.outputs.risk
    assert (str(risk.level), str(risk.composite_level), risk.degraded) == ("CRITICAL", "LOW", True)
    left_out = next(floor for floor in risk.floors if floor.reason is FloorReason.LEFT_OUT)
    assert left_out.stages == ("2",)
    assert finished.analysis.outputs.attribution.grounding_pct is None


async def test_stages_without_time_are_named_and_the_risk_is_degraded(clock):
    spending = Spending(clock, 9.96)
    finished = await analyse(
        FEE,
        FEE,
        using=app(embedding=spending, entailment=TableEntailment(neutral)),
        window_number=2,
        prior_windows=PRIOR,
    )
    found = statuses(finished)
    assert {key for key, status in found.items() if status == LATE} == {"6", "7", "8", "9", "10", "11"}
    assert found["13"] == ("DEGRADED", "DEADLINE_TOO_SHORT")
    assert found["2"] == ("COMPLETED", "")
    outputs = finished.analysis.outputs
    assert (outputs.risk.degraded, outputs.completeness.score, outputs.flow.score) == (True, None, None)
    assert len(finished.stage_ends) == 16


async def test_earlier_windows_go_out_last_and_are_left_out_first(clock):
    """The answer's own texts take 4 s, so those of a long earlier window would take longer than what is left."""
    long_ago = (PriorWindow("w0", 1, "Hail is covered up to 900 euros in May. " * 200),)
    spending = Spending(clock, 4.0)
    finished = await analyse(FEE, FEE, using=app(embedding=spending), window_number=2, prior_windows=long_ago)
    asked = [text for call in spending.calls for text in call]
    assert FEE in asked
    assert not any("Hail" in text for text in asked)
    found = statuses(finished)
    assert [found[key] for key in "6789"] == [LATE] * 4
    assert found["2"] == ("COMPLETED", "")
    assert finished.analysis.outputs.attribution.grounding_pct == 1.0


async def test_names_that_did_not_come_in_time_are_not_blamed_on_the_model(monkeypatch):
    class StuckRecognizer(TableRecognizer):
        async def recognize(self, texts):
            return await asyncio.Event().wait()

    ending = Clock()
    monkeypatch.setattr(services.dpe.app, "timekeeper", lambda reserve: Timekeeper(ending, 0.09, reserve))
    finished = await analyse(FEE, FEE, using=app(entity_recognizer=StuckRecognizer(**NAMES)))
    found = statuses(finished)
    assert (found["1"], found["3a"]) == (("DEGRADED", "DEADLINE_TOO_SHORT"),) * 2
    assert found["2"] == ("COMPLETED", "")


async def test_a_model_that_is_down_is_still_the_model_s_fault(clock):
    finished = await analyse(FEE, FEE, using=app(embedding=DownModel()))
    assert statuses(finished)["2"] == ("FAILED", "EMBEDDING_MODEL_FAILED")
    assert statuses(finished)["13"][0] == "COMPLETED"
    assert not clock.seconds
