"""The questions about the handbook are answered by the sentences that they cite."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HANDBOOK = ROOT / "examples" / "handbook"
QUESTIONS = json.loads((ROOT / "examples/questions.json").read_text(encoding="utf-8"))["questions"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_cited_sentences_stand_in_their_pages(question):
    assert question["answers"]
    for answer in question["answers"]:
        assert answer["sentence"] in (HANDBOOK / answer["page"]).read_text(encoding="utf-8")
    sentences = " ".join(answer["sentence"] for answer in question["answers"])
    assert [value for value in question["values"] if value not in sentences] == []


@pytest.mark.parametrize("question", [q for q in QUESTIONS if "superseded" in q], ids=lambda question: question["id"])
def test_superseded_pages_say_so_and_differ(question):
    old = (HANDBOOK / question["superseded"]).read_text(encoding="utf-8")
    assert "(superseded)" in old.splitlines()[0]
    assert [answer for answer in question["answers"] if answer["sentence"] in old] == []


def test_the_conversation_has_two_windows():
    assert sorted(question["demo"] for question in QUESTIONS if "demo" in question) == [1, 2]


def test_pages_are_of_readable_length():
    pages = sorted(HANDBOOK.iterdir())
    assert len(pages) >= 20
    assert {page.suffix for page in pages} == {".md", ".html"}
    lengths = {page.name: len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert {name: length for name, length in lengths.items() if not 300 <= length <= 700} == {}
