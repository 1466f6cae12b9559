"""``python -m tools.evaluate_ercp``: the scripted generator and the scores, on hand-made problems and findings."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from evaluation import ercp_tables
from evaluation.ercp_failures import failures
from evaluation.ercp_generator import ScriptedGenerator, constraint_lines, meets
from evaluation.ercp_measure import Checked, Measured, measure, measure_model, measure_stubborn, results
from evaluation.ercp_problems import Condition, Draft, Move, PlantedError, Predicate, ScriptedProblem, load
from evaluation.ercp_scoring import (
    FoundError,
    RunOutcome,
    distinct_drafts,
    percentile,
    score_draft,
    score_run,
)
from evaluation.ercp_system import comparable
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.settings.llm import LlmSettings
from tools import evaluate_ercp

TEXT = "The tank holds 5 L. It is red. It holds 7 L."
WRONG = PlantedError(
    "contradiction", (31, 44), (0, 19), "two volumes", Predicate("Equal", {"left": "tank.volume"}), False
)
ABOUT_VOLUME = Condition(("Equal",), ("volume|holds",), ("tank|drum", "volume"))
FIRST = Draft("d0", TEXT, (WRONG,), ((20, 30),), (Move("d1", (ABOUT_VOLUME,)),))
SECOND = Draft("d1", "The tank holds 5 L. It is red.", (), (), (Move("d0", ()),))
PROBLEM = ScriptedProblem(
    "tank", "unit", "development", "physics", "How much?", (), (), (FIRST, SECOND), "converged", (), (), ()
)


def asked(*lines):
    message = ChatMessage(ChatRole.USER, "\n".join(lines))
    return LanguageRequest(query="?", messages=(message,), evidence=(), model="m")


async def told(generator, *lines):
    return (await generator.complete(asked(*lines))).text


class TestScriptedGenerator:
    async def test_the_first_answer_is_the_first_draft_whatever_is_asked(self):
        generator = ScriptedGenerator("m")
        generator.begin(PROBLEM)
        assert await told(generator, 'Equal {"left": "tank.volume", "right": "5"}') == TEXT

    async def test_it_moves_when_a_constraint_is_met_and_else_says_the_same_again(self):
        generator = ScriptedGenerator("m")
        generator.begin(PROBLEM)
        await told(generator)
        assert await told(generator, 'Equal {"left": "tank.colour", "right": "red"}') == TEXT
        assert await told(generator, 'Equal {"left": "tank.volume", "right": "5"}') == SECOND.text
        assert generator.given == ["d0", "d0", "d1"]

    async def test_a_move_without_conditions_needs_no_constraint(self):
        generator = ScriptedGenerator("m")
        generator.begin(PROBLEM)
        await told(generator)
        await told(generator, "Equal(tank.volume, 5)")
        assert await told(generator) == TEXT

    async def test_same_calls_same_answers(self):
        generator = ScriptedGenerator("m")
        answers = []
        for _ in range(2):
            generator.begin(PROBLEM)
            answers.append([await generator.complete(asked("Equal volume")) for _ in range(4)])
        assert answers[0] == answers[1]

    async def test_it_answers_nothing_before_a_problem_was_begun(self):
        with pytest.raises(RuntimeError, match="begin"):
            await told(ScriptedGenerator("m"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Equal(tank.VOLUME, 5)", True),
        ("NotEqual(vat.volume, 5)", False),
        ("NoContradiction: the drum has one volume", True),
        ("Equal(tank.colour, red)", False),
    ],
)
def test_conditions_are_met_by_predicate_or_by_words(line, expected):
    assert meets(line, ABOUT_VOLUME) is expected


def test_only_lines_with_a_predicate_state_constraints():
    assert constraint_lines(["What is equal?\n- Equal(a, b)\nEquality", "LessThan(a, 2)"]) == (
        "- Equal(a, b)",
        "LessThan(a, 2)",
    )


class TestDraftScore:
    def test_naming_the_other_statement_of_the_pair_is_right_and_naming_both_is_a_repeat(self):
        found = [FoundError("contradiction", (0, 19)), FoundError("contradiction", None, "It holds 7 L.")]
        score = score_draft(FIRST, found)
        assert (score.by_type["contradiction"].right, score.by_type["contradiction"].false, score.repeats) == (1, 0, 1)

    def test_another_type_at_the_place_is_false_but_for_any_type(self):
        score = score_draft(FIRST, [FoundError("ambiguity", (31, 44))])
        assert score.missed == [WRONG]
        assert score.by_type["ambiguity"].false == 1
        assert (score.by_type["any type"].recall, score.by_type["any type"].precision) == (1.0, 1.0)

    def test_a_finding_on_a_right_sentence_is_false_and_hits_its_hard_negative(self):
        score = score_draft(FIRST, [FoundError("contradiction", (20, 30))])
        assert (score.by_type["contradiction"].precision, score.by_type["contradiction"].recall) == (0.0, 0.0)
        assert score.negatives_hit == 1

    def test_a_finding_without_a_place_is_false(self):
        assert score_draft(FIRST, [FoundError("contradiction", None)]).by_type["contradiction"].false == 1

    def test_optional_errors_count_neither_way(self):
        draft = replace(FIRST, errors=(replace(WRONG, optional=True),))
        assert score_draft(draft, []).missed == []
        found = score_draft(draft, [FoundError("contradiction", (31, 44))]).by_type
        assert (found["contradiction"].right, found["contradiction"].false) == (0, 0)


class TestRunScore:
    def test_converging_on_a_draft_with_an_error_is_not_sound(self):
        assert score_run(PROBLEM, RunOutcome("converged", final_text=TEXT)).sound is False
        assert score_run(PROBLEM, RunOutcome("converged", final_text=f" {SECOND.text}\n")).sound is True
        assert score_run(PROBLEM, RunOutcome("converged", final_text="Something else.")).sound is False
        assert score_run(PROBLEM, RunOutcome("partial", final_text=TEXT)).sound is None

    @pytest.mark.parametrize(
        ("core", "learned", "exact"),
        [({"c1", "c2"}, 0, True), ({"c1"}, 0, False), ({"c1", "c2", "c3"}, 0, False), ({"c1", "c2"}, 1, False)],
    )
    def test_a_core_is_exact_with_no_more_and_no_less(self, core, learned, exact):
        problem = replace(PROBLEM, status="infeasible", core=("c1", "c2"))
        outcome = RunOutcome("infeasible", core=frozenset(core), core_learned=learned)
        assert score_run(problem, outcome).core_exact is exact

    def test_a_refusal_is_not_an_answer(self):
        problem = replace(PROBLEM, status="infeasible", core=("c1",))
        score = score_run(problem, RunOutcome("refused", "INVALID_ARGUMENT"))
        assert (score.as_expected, score.core_exact) == (False, False)


def test_percentiles_are_values_that_were_measured():
    assert percentile([4, 1, 3, 2], 0.5) == 2
    assert percentile(range(1, 21), 0.95) == 19
    assert percentile([7], 0.95) == 7
    assert percentile([], 0.5) is None


def test_drafts_that_say_the_same_are_verified_once():
    again = replace(PROBLEM, script=(FIRST, SECOND, replace(FIRST, id="d2")))
    assert [draft.id for draft in distinct_drafts(again)] == ["d0", "d1"]


def test_answers_are_compared_but_for_ids_times_and_signatures():
    def answer(first, second, text="same"):
        return {
            "trace_id": first,
            "timestamp": f"2026-01-0{second}T10:00:00.123456Z",
            "node_signature": f"hmac:{second}",
            "constraints": [{"source": {"error_id": first}, "nl_text": text, "confidence": 0.5}],
            "window_id": f"crp_win_{second}a{second}B",
        }

    one = "11111111-1111-4111-8111-111111111111"
    two = "22222222-2222-4222-8222-222222222222"
    assert comparable(answer(one, 1)) == comparable(answer(two, 2))
    assert comparable(answer(one, 1)) != comparable(answer(one, 1, "other"))
    crossed = answer(one, 1) | {"trace_id": two}
    assert comparable(answer(one, 1)) != comparable(crossed)


def measured(half="development"):
    problem = replace(PROBLEM, half=half)
    drafts = tuple(
        Checked(problem, draft, score_draft(draft, [FoundError("contradiction", (20, 30), "It is red.")]))
        for draft in problem.script
    )
    run = score_run(problem, RunOutcome("converged", final_text=TEXT, iterations=3, seconds=0.5))
    return Measured(drafts, (run,), 1, ("tank",), {})


def test_the_results_hold_what_was_counted():
    found = results(measured())
    assert found["runs"]["ended"]["converged"]["converged"] == 1
    assert (found["runs"]["converged"], found["runs"]["sound"]) == (1, 0)
    assert found["detection"]["types"]["contradiction"] == {
        "planted": 1,
        "right": 0,
        "false": 2,
        "precision": 0.0,
        "recall": 0.0,
    }
    assert found["detection"]["clean_drafts_with_findings"] == 1
    assert found["repeated"] == {"problems": 1, "unequal": 1}


def test_failures_are_told_by_problem_and_never_of_the_final_set():
    text = failures(measured())
    assert "tank (unit)" in text
    assert "converged on d0, which is wrong" in text
    assert "missed contradiction: 'It holds 7 L.'" in text
    assert "consecutive runs differ" in text
    assert failures(measured("held_back")) == text
    with pytest.raises(ValueError, match="not for looking at"):
        failures(measured("final"))


def test_tables_show_each_half_in_its_column(tmp_path):
    path = tmp_path / "ercp.json"
    ercp_tables.save(path, {"development": results(measured())})
    ercp_tables.save(path, {"final": results(measured("final"))})
    kept = ercp_tables.load(path)
    assert sorted(kept) == ["development", "final"]
    page = "# Page\n\n<!-- begin ercp runs -->\nold\n<!-- end ercp runs -->\n"
    after = ercp_tables.rewritten(page, kept)
    assert "| measure | development | held back | final |" in after
    assert "| feasible problems that converged | 1 of 1 | - | 1 of 1 |" in after
    assert "old" not in after
    assert ercp_tables.rewritten(after, kept) == after
    only = ercp_tables.rewritten(page, {"held_back": results(measured("held_back"))})
    assert "| feasible problems that converged | - | 1 of 1 | - |" in only


def test_a_set_of_somebody_else_has_the_only_column():
    found = {"blind_set": results(measured())}
    for table in ercp_tables.tables_of(found)[:4]:
        assert table.columns[1:] == ("blind set",)
        assert {len(row) for row in table.rows} == {2}
    assert "| feasible problems that converged | 1 of 1 |" in ercp_tables.tables_of(found)[0].markdown()


def test_the_page_of_the_repository_is_what_its_figures_say():
    assert evaluate_ercp.run(["--markdown", "--check"]) == 0


def test_a_limit_takes_problems_of_all_kinds():
    some = evaluate_ercp.chosen("development", 12)
    assert len({problem.kind for problem in some}) > 8
    assert evaluate_ercp.chosen("development", 500) == load("development")


def test_a_missing_model_is_named(monkeypatch, capsys):
    monkeypatch.delenv("GROUNDTRAIL_TEST_LLM_BASE_URL", raising=False)
    monkeypatch.delenv("GROUNDTRAIL_LLM__BASE_URL", raising=False)
    assert evaluate_ercp.run(["--model"]) == 1
    assert "GROUNDTRAIL_TEST_LLM_BASE_URL" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--limit", "0"],
        ["--save", "--limit", "3"],
        ["--half", "third"],
        ["--half", "final", "--failures", "f.txt"],
        ["--save", "--failures", "f.txt"],
    ],
)
def test_what_cannot_be_measured_is_refused(arguments, monkeypatch):
    monkeypatch.setattr(evaluate_ercp, "evaluate", lambda _: pytest.fail("it was measured"))
    with pytest.raises(SystemExit):
        evaluate_ercp.run(arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("development", "held_back")),
        (["--save"], ("development", "held_back", "final")),
        (["--half", "all"], ("development", "held_back", "final")),
        (["--half", "both", "--save"], ("development", "held_back")),
        (["--half", "final"], ("final",)),
    ],
)
def test_the_final_set_is_measured_when_it_is_asked_for_or_all_is_kept(arguments, expected):
    assert evaluate_ercp.asked_for(evaluate_ercp.parser().parse_args(arguments)) == expected


def test_a_dry_run_counts_and_measures_nothing(monkeypatch, capsys):
    monkeypatch.setattr(evaluate_ercp, "evaluate", lambda _: pytest.fail("it was measured"))
    assert evaluate_ercp.run(["--half", "final", "--dry-run"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line == "final: 54 problems (converged 34, infeasible 18, partial 2), 113 drafts, 75 errors, 41 clean"


def test_the_final_set_is_measured_into_its_own_column_and_a_copy_of_others_can_stand_in(monkeypatch, tmp_path, capsys):
    three = [replace(problem, half="final") for problem in load("development")[:3]]

    async def measured_without_service(settings, problems, repeats):
        assert [problem.id for problem in problems] == [problem.id for problem in three]
        return measured("final")

    monkeypatch.setattr(evaluate_ercp, "load", lambda _: tuple(three))
    monkeypatch.setattr(evaluate_ercp, "measure_half", measured_without_service)
    page = tmp_path / "page.md"
    page.write_text("<!-- begin ercp runs -->\n<!-- end ercp runs -->\n", encoding="utf-8")
    monkeypatch.setattr(ercp_tables, "PAGE", page)
    monkeypatch.setattr(ercp_tables, "DEFAULT_FILE", tmp_path / "ercp.json")
    assert evaluate_ercp.run(["--half", "final", "--save"]) == 0
    assert sorted(ercp_tables.load(tmp_path / "ercp.json")) == ["final"]
    assert "| feasible problems that converged | - | - | 1 of 1 |" in page.read_text(encoding="utf-8")
    assert "final" in capsys.readouterr().out


def test_a_results_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "ercp.json"
    path.write_text(json.dumps({"schema_version": 9}), encoding="utf-8")
    with pytest.raises(ercp_tables.EvaluationDataError, match="version"):
        ercp_tables.load(path)


class LoopWithoutRules:
    """Stands in for the service: two rounds, then whatever is there; every second answer of ``wavers`` is another."""

    def __init__(self, generator, *, wavers=False):
        self.generator = generator
        self.wavers = wavers
        self.runs = 0

    async def verify(self, problem, draft):
        return [FoundError("contradiction", (31, 44))] if draft.errors else [], ("nli: MODEL_NOT_CONFIGURED",)

    async def run(self, problem, config):
        self.runs += 1
        await self.generator.complete(asked())
        text = await told(self.generator, "Equal(tank.volume, 5)")
        outcome = RunOutcome("converged", final_text=text, iterations=2, seconds=0.1)
        return outcome, {"trace_id": "t", "final": text if self.runs % 2 or not self.wavers else "other"}


async def test_measuring_verifies_each_draft_and_repeats_the_sample():
    generator = ScriptedGenerator("m")
    loop = LoopWithoutRules(generator)
    told_of = []
    found = results(await measure(loop, generator, [PROBLEM], 10, told_of.append))
    assert loop.runs == 11
    assert told_of == ["tank", "tank, 10 times"]
    assert found["runs"]["sound"] == 1
    assert found["detection"]["types"]["contradiction"]["recall"] == 1.0
    assert found["repeated"] == {"problems": 1, "unequal": 0}
    assert found["skipped_detectors"] == {"nli: MODEL_NOT_CONFIGURED": 2}


async def test_consecutive_runs_that_differ_are_counted():
    generator = ScriptedGenerator("m")
    found = await measure(LoopWithoutRules(generator, wavers=True), generator, [PROBLEM], 2, lambda _: None)
    assert found.unequal == ("tank",)


async def test_a_real_model_is_reported_as_it_ends():
    generator = ScriptedGenerator("m")
    generator.begin(PROBLEM)
    found = await measure_model(LoopWithoutRules(generator), [PROBLEM], "some-model")
    assert (found["model"], found["ended"], found["problems"]) == ("some-model", {"converged": 1}, 1)
    assert ercp_tables.tables_of({"model": found})[-1].rows[0] == ("model", "some-model")


@pytest.mark.parametrize(
    ("told", "expected"),
    [({"data": [{"id": "small"}]}, "small"), ({"data": [{"id": "a"}, {"id": "b"}]}, "asked"), ([], "asked")],
)
def test_a_model_is_called_what_its_endpoint_calls_it(told, expected):
    class Endpoint(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        settings = LlmSettings(base_url=f"http://127.0.0.1:{server.server_port}/v1", model="asked")
        assert evaluate_ercp.served_name(settings) == expected
        thread.join()


async def test_an_answerer_that_insists_says_one_draft_again_whatever_is_asked_and_is_counted_by_what_it_holds():
    generator = ScriptedGenerator("m")
    generator.insist(PROBLEM, SECOND)
    assert await told(generator, 'Equal {"left": "tank.volume", "right": "5"}') == SECOND.text
    assert await told(generator, 'Equal {"left": "tank.volume", "right": "5"}') == SECOND.text
    ends = {TEXT: "partial", SECOND.text: "converged"}

    class System:
        async def run(self, problem, config):
            text = await told(generator)
            return RunOutcome(ends[text], final_text=text), {}

    unmeetable = replace(PROBLEM, status="infeasible")
    counts = await measure_stubborn(System(), generator, [PROBLEM, unmeetable], [].append)
    assert counts == {"clean": 1, "clean_converged": 1, "broken": 1, "broken_converged": 0}
