"""What is kept between calls for a second opinion: votes per tenant and for a time, marks never (ADR 0119)."""

import asyncio
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from services.common.context import CallContext, set_current_call
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.ids import RandomIds
from services.common.ports.second_opinion import GivenVote, OpinionKind, OpinionReply, TypedSpan, Vote
from services.dpe.answer_cache import AnswerCache
from services.dpe.domain.opinion_record import Gap, Limits
from services.dpe.metrics import ProvenanceMetrics
from services.dpe.opinions import AskedOpinions
from services.dpe.ports import OpinionTerms
from tests.fakes.dpe_world import READER, TableGrounding, analyse, app

FACT = "Reports of damage have to reach the insurer within 7 days."
FIRST = "Tell the company about damage in a week at most."
SECOND = "Somebody in the office must hear of broken windows."
NO_LIMIT = float("inf")


class Endpoint:
    kind = OpinionKind.SPANS
    model = "opinion/table"
    prompt_version = "spans-1+sha256:0000000000000000"

    def __init__(self, *failures):
        self.failures = list(failures)
        self.requests = []

    def tokens(self, request):
        return 100 * len(request.claims), 10 * len(request.claims)

    async def ask(self, request):
        self.requests.append(request)
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        votes = {
            one.claim_id: GivenVote(Vote.UNSUPPORTED, (TypedSpan(one.start, one.start + 4, "contradiction", "entity"),))
            for one in request.claims
        }
        return OpinionReply(votes, "opinion/table-7b", "ab" * 32)


def desk(endpoint, limits=None, ttl_s=600.0, cache_bytes=1_000_000):
    return AskedOpinions(OpinionTerms(endpoint, limits or Limits(), ttl_s), AnswerCache(cache_bytes), RandomIds())


async def first_opinion(answer):
    finished = await analyse(answer, FACT, using=app(grounding=TableGrounding(lambda _: 0.1)))
    return finished.analysis


async def as_tenant(tenant, work):
    async def call():
        set_current_call(CallContext(replace(READER, tenant_id=tenant), "r1", "/x"))
        return await work()

    return await asyncio.create_task(call())


def record(analysis):
    return analysis.outputs.second_opinion


async def test_a_tenants_votes_are_its_own():
    endpoint = Endpoint()
    asked, analysis = desk(endpoint), await first_opinion(FIRST)
    for tenant in ("a", "a", "b"):
        await as_tenant(tenant, lambda: asked.settle(analysis, NO_LIMIT))
    assert len(endpoint.requests) == 2


async def test_a_vote_is_forgotten_in_time(monkeypatch):
    endpoint = Endpoint()
    asked, analysis = desk(endpoint, ttl_s=600.0), await first_opinion(FIRST)
    now = asyncio.get_running_loop().time()
    for later, calls in ((0, 1), (599, 1), (601, 2)):
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda later=later: now + later)
        await asked.settle(analysis, NO_LIMIT)
        assert len(endpoint.requests) == calls


@pytest.mark.parametrize("how", [{"ttl_s": 0.0}, {"cache_bytes": 0}])
async def test_nothing_is_remembered_where_nothing_may_be(how):
    endpoint = Endpoint()
    asked, analysis = desk(endpoint, **how), await first_opinion(FIRST)
    await asked.settle(analysis, NO_LIMIT)
    await asked.settle(analysis, NO_LIMIT)
    assert len(endpoint.requests) == 2


async def test_a_remembered_stretch_stands_where_its_claim_stands():
    endpoint = Endpoint()
    asked = desk(endpoint)
    await asked.settle(await first_opinion(f"{FIRST} {SECOND}"), NO_LIMIT)
    longer = f"Somewhat longer. {FIRST} {SECOND}"
    analysis = await first_opinion(longer)
    (vote,) = [one for one in record(await asked.settle(analysis, NO_LIMIT)).votes if one.cached]
    (span,) = vote.spans
    assert longer[span.start : span.end] == SECOND[:4]


async def test_marks_are_drawn_anew_for_each_call_and_attempt():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down", retry_after_s=0.0, cause="http_503")
    endpoint = Endpoint(down)
    limits = replace(Limits(), max_call_tokens=110)
    await desk(endpoint, limits).settle(await first_opinion(f"{FIRST} {SECOND}"), NO_LIMIT)
    marks = [request.nonce for request in endpoint.requests]
    assert len(marks) == len(set(marks)) == 3
    assert all(len(mark) == 32 for mark in marks)


async def test_an_endpoint_that_is_down_is_not_asked_about_the_rest():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down", cause="connection")
    endpoint = Endpoint(down)
    limits = replace(Limits(), max_call_tokens=110)
    done = await desk(endpoint, limits).settle(await first_opinion(f"{FIRST} {SECOND}"), NO_LIMIT)
    assert len(endpoint.requests) == 1
    assert record(done).left == ((Gap.ENDPOINT_FAILED, ("c1", "c2")),)


async def test_a_full_queue_of_the_endpoints_is_no_error_of_the_analysis():
    endpoint = Endpoint(LimitExceededError(ErrorReason.QUEUE_FULL, "full"))
    done = await desk(endpoint).settle(await first_opinion(FIRST), NO_LIMIT)
    assert [call.reason for call in record(done).calls] == ["refused"]


async def test_without_time_nobody_is_asked():
    endpoint = Endpoint()
    done = await desk(endpoint).settle(await first_opinion(FIRST), 0.0)
    assert endpoint.requests == []
    assert record(done).left == ((Gap.OUT_OF_TIME, ("c1",)),)


async def test_claims_calls_and_tokens_are_counted():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down", retry_after_s=0.0, cause="http_503")
    asked, analysis = desk(Endpoint(down)), await first_opinion(FIRST)
    await asked.settle(analysis, NO_LIMIT)
    await asked.settle(analysis, NO_LIMIT)
    await asked.settle(await first_opinion(SECOND), 0.0)
    registry = CollectorRegistry()
    registry.register(ProvenanceMetrics(AnswerCache(0), asked.counts))

    def value(name, **labels):
        return registry.get_sample_value(f"groundtrail_dpe_second_opinion_{name}_total", labels)

    assert [value("claims", outcome=each) for each in ("asked", "cached", "moved", "left")] == [1, 1, 0, 1]
    assert [value("calls", outcome=each) for each in ("answered", "http_5xx")] == [1, 1]
    assert (value("tokens", kind="prompt"), value("tokens", kind="completion")) == (100, 10)


def test_where_nobody_is_asked_nothing_of_it_is_counted():
    registry = CollectorRegistry()
    registry.register(ProvenanceMetrics(AnswerCache(0)))
    names = {sample.name for metric in registry.collect() for sample in metric.samples}
    labels = {sample.labels.get("model") for metric in registry.collect() for sample in metric.samples}
    assert not any("second_opinion" in name for name in names)
    assert "second_opinion" not in labels
