"""Lines of a batch: what is asked of each, and what cannot be."""

import json

import pytest
from crp.gateway.v1 import dispatch_pb2
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands.ask_batch import _requests
from services.common.errors import InvalidRequestError


def lines(*values):
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode()


def test_texts_and_objects_are_asked_with_ids_of_the_file_and_the_line():
    content = lines('"What?"', "", {"query": "Who?", "safety_mode": "strict", "strategies": ["fan-out", "push"]})
    (first, what), (third, who) = _requests(content)
    assert (first, what.query, third, who.query) == (1, "What?", 3, "Who?")
    assert who.safety_mode == dispatch_pb2.SAFETY_MODE_STRICT
    assert len(who.strategies) == 2
    assert what.request_id != who.request_id
    assert [request.request_id for _, request in _requests(content)] == [what.request_id, who.request_id]
    assert _requests(content + b"\n ")[0][1].request_id != what.request_id  # another file


def test_a_line_that_is_no_json_is_the_question_itself():
    content = "\ufeffHow long are files kept?\r\n  And who, \u201call\u201d of us?\n".encode()
    assert [request.query for _, request in _requests(content)] == [
        "How long are files kept?",
        "And who, \u201call\u201d of us?",
    ]
    with pytest.raises(InvalidRequestError, match="line 1") as refused:
        _requests(b"caf\xe9?")
    assert "UTF-8" in refused.value.violations[0].description


def test_an_id_of_ones_own_stays():
    assert _requests(lines({"query": "x", "request_id": "mine"}))[0][1].request_id == "mine"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('"x', "JSON"),
        ("[5]", "a text, the question"),
        ('{"queri": "x"}', "'queri' is none"),
        ('{"safety_mode": "lax"}', "fields of DispatchRequest"),
        ('{"max_tokens": "many"}', "fields of DispatchRequest"),
        ('{"query": "a", "query": "b"}', "JSON"),
    ],
)
def test_a_line_that_cannot_be_asked_is_named(line, says):
    with pytest.raises(InvalidRequestError, match="line 2") as refused:
        _requests(lines('"fine"', line))
    assert says in refused.value.violations[0].description


def test_an_empty_file_is_refused():
    with pytest.raises(InvalidRequestError, match="no question"):
        _requests(b"\n \n")


@pytest.mark.parametrize("option", [["--safety-budget", "0"], ["--stream"], ["--partial"]])
def test_an_option_beside_a_file_of_questions_is_refused_though_it_be_zero(option, tmp_path):
    path = tmp_path / "questions"
    path.write_bytes(lines('"What?"'))
    result = CliRunner().invoke(app, ["ask", "--batch", str(path), *option])
    assert result.exit_code == 2
    assert "--batch" in result.stderr
