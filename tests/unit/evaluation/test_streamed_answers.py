"""Answers that are streamed, faithful and with one false sentence, and how long a run of them goes on."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from bench.report import Row
from evaluation.guard.stream_runs import AT_ONCE, StreamRunner
from evaluation.guard.streamed_answers import from_planted

SENTENCES = [
    f"The {word} pump delivers {number} litres of clean water to every house of the old village."
    for number, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"), 20)
]


@pytest.fixture
def folder(tmp_path):
    """Two files of grounding rows: five texts that are long enough, one that was fitted on, one too short."""
    (tmp_path / "grounding").mkdir()
    rows = [
        {
            "id": f"r{n}",
            "dataset": f"set{n % 2}",
            "fold": "report",
            "context": [" ".join([f"Text {n} begins."] + 2 * SENTENCES)],
        }
        for n in range(5)
    ]
    other = [
        rows[0] | {"id": "fit", "fold": "fit", "context": [" ".join(SENTENCES * 3)]},
        rows[1] | {"context": ["Short."]},
    ]
    for name, some in (("dev", rows[:3] + other), ("more", rows[3:])):
        with gzip.open(tmp_path / "grounding" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in some)
    return tmp_path


def test_a_falsified_answer_follows_each_faithful_one(folder):
    answers = list(from_planted(folder))
    assert len(answers) == 10
    assert {answer.id[:2] for answer in answers} == {f"r{n}" for n in range(5)}
    for true, false in zip(answers[::2], answers[1::2], strict=True):
        assert true.is_faithful
        assert not false.is_faithful
        assert true.text in " ".join(SENTENCES) or all(part in true.facts[0] for part in true.text.split(". "))
        wrong = false.text[false.false_start : false.false_end]
        assert wrong not in true.text
        assert false.text[: false.false_start] == true.text[: false.false_start]


def test_the_same_are_drawn_again_and_no_more_than_wanted(folder):
    answers = list(from_planted(folder))
    assert list(from_planted(folder)) == answers
    assert list(from_planted(folder, most=2)) == answers[:4]


def test_behind_its_time_a_run_begins_no_more():
    class Counting(StreamRunner):
        def __init__(self):
            self.ran = []

        async def run(self, answer):
            self.ran.append(answer)
            return answer

    answers: list[Any] = list(range(3 * AT_ONCE))
    for seconds, count in ((60.0, 3 * AT_ONCE), (-1.0, 0)):
        runner = Counting()
        found = asyncio.run(runner.run_all(answers, seconds))
        assert found == runner.ran == answers[:count]


def test_an_aim_says_whether_it_is_kept():
    assert Row("a", 1.0, "s").aim == ""
    assert Row("a", 1.0, "s", "b", 3.0, 3.0).aim == ">= 3.00x, kept"
    assert Row("a", 1.0, "s", "b", 2.9, 3.0).aim == ">= 3.00x, broken"
    assert Row("a", 1.0, "s", "b", None, 3.0).aim == ">= 3.00x, broken"
