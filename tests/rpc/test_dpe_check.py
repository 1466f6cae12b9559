"""Check over gRPC: an answer against facts that the caller brings, documents or single ones (ADR 0098)."""

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2 as claims
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.settings.dpe import DpeSettings
from tests.fakes.dpe_world import TableEntailment, TableGrounding, World, models, refusal

FEE = "The fee for late reports is 5 euros."
HAIL = "Hail is covered up to 900 euros."
HANDBOOK = b"# Claims\n\n## Fees\n\nThe fee for late reports is 5 euros in every branch of the insurer today.\n"
INVALID = grpc.StatusCode.INVALID_ARGUMENT
TOO_LARGE = grpc.StatusCode.RESOURCE_EXHAUSTED
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def contradicts(premise, hypothesis):
    return (0.0, 0.02, 0.98) if premise != hypothesis else (0.9, 0.1, 0.0)


def judged():
    """Models that support what stands in a passage and find any two different sentences contradictory."""
    support = TableGrounding(lambda request: float(any(request.claim in passage for passage in request.passages)))
    return models(entailment=TableEntailment(contradicts), grounding=support)


@pytest.fixture
async def client():
    async with World(models=judged()).serving() as served:
        yield served


def fact(content=FEE, title=""):
    return pb.CheckFact(content=content, title=title)


def document(content=HANDBOOK, name="handbook.md", media_type=""):
    return pb.CheckDocument(name=name, content=content, media_type=media_type)


async def test_an_answer_is_checked_against_single_facts(client):
    asked = pb.CheckRequest(answer=FEE, question="What is the fee?", facts=[fact(HAIL), fact(FEE, "Fees")])
    checked = await client.call("Check", asked)
    (claim,) = checked.report.claims
    assert claim.verdict == claims.CLAIM_VERDICT_SUPPORTED
    assert claim.judgement.evidence[0].fact_id == "f2"
    assert [(one.fact_id, one.content, one.title, one.location) for one in checked.facts] == [
        ("f1", HAIL, "", ""),
        ("f2", FEE, "Fees", ""),
    ]
    assert (checked.report.session_id, checked.report.window_id) == ("check", "check")


async def test_the_report_is_that_of_analyze_over_the_same_facts(client):
    envelope = envelope_pb2.ContextEnvelope(
        facts=[envelope_pb2.EnvelopeFact(fact_id=f"f{n}", content=text) for n, text in enumerate((HAIL, FEE), start=1)]
    )
    answer = "The fee for late reports is 7 euros."
    analysed = await client.call(
        "Analyze",
        pb.AnalyzeRequest(
            session_id="check",
            window_id="check",
            window_number=1,
            query="What is the fee?",
            prompt="What is the fee?",
            response_text=answer,
            envelope=envelope,
        ),
    )
    asked = pb.CheckRequest(answer=answer, question="What is the fee?", facts=[fact(HAIL), fact(FEE)])
    checked = await client.call("Check", asked)
    assert checked.report.report_hash == analysed.report.report_hash
    assert checked.report.claims[0].verdict == claims.CLAIM_VERDICT_CONTRADICTED


async def test_a_document_is_read_and_cut_and_told_by_title_and_place(client):
    asked = pb.CheckRequest(answer=FEE, facts=[fact(HAIL)], documents=[document(), document(b"A plain text.", "a.txt")])
    checked = await client.call("Check", asked)
    first, second, third = checked.facts
    assert first.content == HAIL
    assert (second.title, second.location) == ("Claims", "# Claims > ## Fees")
    assert "5 euros in every branch" in second.content
    assert (third.title, third.content) == ("a.txt", "A plain text.")
    assert {one.fact_id for claim in checked.report.claims for one in claim.judgement.evidence} <= {"f1", "f2", "f3"}


async def test_without_a_question_nothing_is_said_about_completeness(client):
    checked = await client.call("Check", pb.CheckRequest(answer=FEE, facts=[fact()]))
    (stage,) = [one for one in checked.report.stages if one.number == 8]
    assert (stage.status, stage.reason) == (taxonomy.STAGE_STATUS_NOT_APPLICABLE, "NO_QUESTION")
    assert not checked.report.HasField("completeness_score")
    asked = pb.CheckRequest(answer=FEE, facts=[fact()], question="What is the fee?")
    assert (await client.call("Check", asked)).report.HasField("completeness_score")


async def test_a_beginning_is_judged_as_within_the_whole_and_not_asked_whether_it_answers(client):
    question = "Does the Globex tariff of 77 euros apply, and what is the fee?"
    asked = pb.CheckRequest(answer="For Globex 77 euros apply.", facts=[fact()], question=question, is_beginning=True)
    report = (await client.call("Check", asked)).report
    (stage,) = [one for one in report.stages if one.number == 8]
    assert (stage.status, stage.reason) == (taxonomy.STAGE_STATUS_NOT_APPLICABLE, "UNFINISHED_ANSWER")
    assert not report.HasField("completeness_score")
    assert not report.HasField("relevance")
    assert report.fabrication_count == 0  # what the question itself names is not made up
    asked.question = ""
    assert (await client.call("Check", asked)).report.fabrication_count


async def test_what_models_said_of_a_beginning_serves_the_whole():
    parts, fee, hail = judged(), "The late reports' fee is 5 euros.", "Covered up to 900 euros is hail."
    async with World(models=parts).serving() as client:
        asked = pb.CheckRequest(answer=fee, facts=[fact(), fact(HAIL)], question="What is the fee?", is_beginning=True)
        await client.call("Check", asked)
        whole = pb.CheckRequest(answer=f"{fee} {hail}", facts=asked.facts, question=asked.question)
        await client.call("Check", whole)
    assert [[request.claim for request in call] for call in parts.grounding.calls] == [["a"], [fee], [hail]]


async def test_earlier_answers_are_windows_before_this_one(client):
    asked = pb.CheckRequest(answer=FEE, earlier_answers=[FEE, "The fee for late reports is 9 euros."])
    report = (await client.call("Check", asked)).report
    assert report.window_number == 3
    (found,) = report.cross_window_contradictions
    assert {found.window_id, found.other_window_id} == {"check", "check-2"}


REFUSED = [
    pytest.param(pb.CheckRequest(), ["answer", "facts"], id="empty"),
    pytest.param(pb.CheckRequest(answer=" \n", facts=[fact()]), ["answer"], id="blank-answer"),
    pytest.param(pb.CheckRequest(answer=FEE, facts=[fact(" ")]), ["facts[0].content"], id="blank-fact"),
    pytest.param(pb.CheckRequest(answer=FEE, facts=[fact(title="t" * 1_001)]), ["facts[0].title"], id="long-title"),
    pytest.param(pb.CheckRequest(answer=FEE, facts=[fact()], question="q" * 100_001), ["question"], id="long-question"),
    pytest.param(
        pb.CheckRequest(answer=FEE, facts=[fact()], grounding_mode=99),  # type: ignore[arg-type]  # no such mode
        ["grounding_mode"],
        id="unknown-grounding-mode",
    ),
    pytest.param(
        pb.CheckRequest(answer=FEE, documents=[document(b"", "")]),
        ["documents[0].name", "documents[0].content"],
        id="empty-document",
    ),
    pytest.param(pb.CheckRequest(answer=FEE, documents=[document()] * 101), ["documents"], id="too-many-documents"),
    pytest.param(pb.CheckRequest(answer=FEE, earlier_answers=["a", ""]), ["earlier_answers[1]"], id="blank-earlier"),
    pytest.param(pb.CheckRequest(answer=FEE, earlier_answers=["a"] * 101), ["earlier_answers"], id="many-earlier"),
]


@pytest.mark.parametrize(("bad", "fields"), REFUSED)
async def test_every_wrong_field_is_named(client, bad, fields):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.call("Check", bad)
    assert refusal(refused.value) == (INVALID, "INVALID_FIELD", fields)


async def test_a_document_that_cannot_be_read_is_named_by_its_number(client):
    asked = pb.CheckRequest(answer=FEE, documents=[document(), document(PNG, "a.png")])
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.call("Check", asked)
    code, reason, fields = refusal(refused.value)
    assert (code, reason) == (INVALID, "UNSUPPORTED_MEDIA")
    assert all(field.startswith("documents[1].") for field in fields)
    assert refused.value.details().startswith("documents[1]: ")


async def test_an_answer_of_500_001_characters_is_refused_whole(client):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.call("Check", pb.CheckRequest(answer="x" * 500_001, facts=[fact()]))
    assert refusal(refused.value)[:2] == (TOO_LARGE, "MESSAGE_TOO_LARGE")


async def test_facts_of_documents_count_with_single_ones():
    async with World(settings=DpeSettings(max_facts=2)).serving() as client:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.call("Check", pb.CheckRequest(answer=FEE, facts=[fact(), fact(HAIL)], documents=[document()]))
    assert refusal(refused.value) == (TOO_LARGE, "MESSAGE_TOO_LARGE", ["documents"])
    assert "hold 3 facts, the limit is 2" in refused.value.details()
