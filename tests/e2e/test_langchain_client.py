"""LangChain's chat model, unchanged, before the real suite: its base URL and its key are all that is told."""

import os
from pathlib import Path

import pytest

from tests.e2e.chat_clients import FEE, seen_by
from tools.real_servers import langchain

pytestmark = [pytest.mark.needs_langchain, pytest.mark.timeout(300)]

PROGRAM = Path(__file__).with_name("langchain_program.py")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Yield what the program saw."""
    interpreter = os.environ.get(langchain.VARIABLE, "")
    if not interpreter:
        pytest.skip(f"set {langchain.VARIABLE} to a Python that has langchain-openai, as make test-real does")
    return seen_by(tmp_path_factory.mktemp("langchain"), interpreter, str(PROGRAM), forms=["LLM"])


def test_answers_arrive_plain_and_streamed_waiting_and_not(seen):
    assert seen["plain"] == FEE
    assert seen["stream"].strip() == FEE
    assert [text.strip() for text in seen["asynchronous"]] == [FEE, FEE]
    assert seen["header"] == "LOW"


def test_a_stream_ends_before_what_is_wrong(seen):
    text, reason = seen["halted"]
    assert (text.strip(), reason) == (FEE, "content_filter")


def test_a_withheld_answer_is_an_error_with_our_reason(seen):
    assert seen["withheld"] == [451, "ANSWER_WITHHELD"]
