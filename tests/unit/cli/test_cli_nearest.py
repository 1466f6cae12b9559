"""What is shown where an answer says that it found none: the nearest facts, or nothing without search."""

from types import SimpleNamespace
from typing import Any

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dpe.v1 import quality_pb2
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from services.cli.commands.nearest import NEAREST, found_nothing, show_nearest
from services.cli.console import Output
from services.common.errors import ErrorReason, UnavailableError

FACTS = ("Electric bicycles: Limit: €3,500 each", "Theft is reported to the police. " * 20)


class Searched:
    """A suite whose search answers with facts, or fails."""

    def __init__(self, contents, error=None):
        self.knowledge = SimpleNamespace(SearchFacts="SearchFacts")
        self.contents, self.error, self.asked = contents, error, []

    async def call(self, rpc, request):
        assert rpc == "SearchFacts"
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        return knowledge.SearchFactsResponse(
            hits=[
                knowledge.SearchHit(fact=ckf_pb2.Fact(fact_id=f"f{n}", content=text))
                for n, text in enumerate(self.contents)
            ]
        )


def refusal(status=quality_pb2.RELEVANCE_STATUS_REFUSAL):
    response = dispatch.DispatchResponse()
    response.answer.report.relevance.status = status
    return response


def test_an_answer_that_says_that_it_has_none_is_known_as_one():
    assert found_nothing(refusal())
    assert not found_nothing(refusal(quality_pb2.RELEVANCE_STATUS_RELEVANT))
    assert not found_nothing(dispatch.DispatchResponse())


async def test_the_nearest_facts_are_shown_and_said_to_be_no_answer(capsys):
    suite: Any = Searched(FACTS)
    await show_nearest(suite, Output(as_json=False), "What is the most you give for an e-bike?")
    shown = capsys.readouterr().out
    assert "not checked to answer it" in shown
    assert "Electric bicycles: Limit: €3,500 each" in shown
    assert len(shown.splitlines()) < 10, "a long fact is cut"
    (asked,) = suite.asked
    assert (asked.query, asked.limit) == ("What is the most you give for an e-bike?", NEAREST)


@pytest.mark.parametrize(
    ("suite", "as_json"),
    [
        (Searched(()), False),
        (Searched(FACTS, UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "down")), False),
        (Searched(FACTS), True),
    ],
    ids=["nothing found", "no search", "json"],
)
async def test_nothing_is_shown_without_facts_without_search_and_in_json(suite, as_json, capsys):
    await show_nearest(suite, Output(as_json=as_json), "Where?")
    assert capsys.readouterr().out == ""
    assert bool(suite.asked) is not as_json
