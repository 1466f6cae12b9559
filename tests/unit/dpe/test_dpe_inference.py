"""Asking the models: once, together, from the cache of the own tenant alone (ADR 0041)."""

import asyncio
import contextvars
from dataclasses import replace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from services.common.context import CallContext, set_current_call
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.ports.grounding import GroundingRequest
from services.dpe.answer_cache import ENTRY_BYTES, AnswerCache, cache_keys
from services.dpe.domain.models import ModelRole, Requests
from services.dpe.inference import Inference
from services.dpe.metrics import ProvenanceMetrics
from tests.fakes.dpe_world import READER, DownModel, TableEntailment, TableGrounding, analyse, app, models
from tests.patience import patient

SAID = "For late reports the fee is 5 euros. Birds sing in spring."
FEE = "The fee for late reports is 5 euros."
ASKED = Requests(("a", "b", "a"), ("a", "b", "a"), (("a", "b"), ("a", "b")), (GroundingRequest("a", ("b",)),) * 2)


def everything():
    return models(entailment=TableEntailment(lambda *_: (0.9, 0.05, 0.05)), grounding=TableGrounding(lambda _: 0.9))


async def as_tenant(tenant, work):
    async def served():
        set_current_call(CallContext(replace(READER, tenant_id=tenant), "r1", "/x"))
        return await work()

    return await asyncio.create_task(served(), context=contextvars.copy_context())


def test_keys_tell_tenant_model_and_where_texts_end_apart():
    keys = [
        *cache_keys("t", "m", [("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", "")]),
        *cache_keys("u", "m", [("ab", "c")]),
        *cache_keys("t", "n", [("ab", "c")]),
        *cache_keys("tm", "", [("ab", "c")]),
    ]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {32}
    assert cache_keys("t", "m", [("\ud800",)]) != cache_keys("t", "m", [("?",)])


def test_a_tenant_finds_only_its_own_and_hits_are_counted():
    cache = AnswerCache(10_000)
    cache.keep("a", {b"1": ("one", 3)})
    assert cache.find("a", ModelRole.EMBEDDING, [b"0", b"1"]) == {1: "one"}
    assert cache.find("b", ModelRole.EMBEDDING, [b"1"]) == {}
    counted = cache.counts[ModelRole.EMBEDDING]
    assert (counted.hits, counted.misses) == (1, 2)


def test_it_never_holds_more_than_its_bound_and_the_least_recently_used_go_first():
    cache = AnswerCache(3 * (ENTRY_BYTES + 10))
    for name in (b"1", b"2", b"3"):
        cache.keep("a", {name: (name, 10)})
    cache.find("a", ModelRole.GROUNDING, [b"1"])
    cache.keep("a", {b"4": (b"4", 10)})
    assert sorted(cache.find("a", ModelRole.GROUNDING, [b"1", b"2", b"3", b"4"])) == [0, 2, 3]
    assert cache.size_bytes == 3 * (ENTRY_BYTES + 10)
    cache.keep("a", {b"5": (b"5", 10_000)})
    assert (cache.entries, cache.size_bytes) == (0, 0)


def test_room_is_taken_from_the_tenant_that_holds_most():
    cache = AnswerCache(10 * (ENTRY_BYTES + 10))
    cache.keep("small", {b"1": (1, 10), b"2": (2, 10)})
    for number in range(100):
        cache.keep("large", {bytes([number]): (number, 10)})
    assert sorted(cache.find("small", ModelRole.GROUNDING, [b"1", b"2"])) == [0, 1]
    assert cache.entries == 10


def test_a_bound_of_nothing_keeps_nothing():
    cache = AnswerCache(0)
    cache.keep("a", {b"1": (1, 1)})
    assert cache.entries == 0


async def test_each_thing_is_asked_once_in_one_batch_for_each_model():
    own = everything()
    inference = Inference(own, AnswerCache(1 << 20), 2_048)
    known = await inference.fulfil(ASKED, inference.empty_answers())
    again = await inference.fulfil(ASKED, known)
    assert own.entity_recognizer.calls == [("a", "b")]
    assert own.entailment.calls == [(("a", "b"),)]
    assert own.grounding.calls == [(GroundingRequest("a", ("b",)),)]
    assert list(known.vectors.index) == ["a", "b"]
    assert again == known


async def test_a_second_call_of_the_tenant_asks_nothing_and_another_tenants_asks_anew():
    own = everything()
    using = app(entailment=own.entailment, grounding=own.grounding, entity_recognizer=own.entity_recognizer)

    async def work():
        return await analyse(SAID, FEE, using=using)

    first = await as_tenant("a", work)
    calls = [len(model.calls) for model in (own.entailment, own.grounding, own.entity_recognizer)]
    second = await as_tenant("a", work)
    assert [len(model.calls) for model in (own.entailment, own.grounding, own.entity_recognizer)] == calls
    assert second.analysis.outputs.fidelity.judgements == first.analysis.outputs.fidelity.judgements
    assert second.analysis.outcomes == first.analysis.outcomes
    await as_tenant("b", work)
    assert [len(model.calls) for model in (own.entailment, own.grounding, own.entity_recognizer)] == [
        2 * n for n in calls
    ]


async def test_models_compute_at_the_same_time():
    """Each model waits for the others, so that one after the other would never end."""
    barrier = asyncio.Barrier(4)

    def waiting(model, name):
        inner = getattr(model, name)

        async def wrapped(asked):
            await barrier.wait()
            return await inner(asked)

        setattr(model, name, wrapped)
        return model

    own = everything()
    for model, name in (
        (own.entity_recognizer, "recognize"),
        (own.embedding, "embed"),
        (own.entailment, "classify"),
        (own.grounding, "judge"),
    ):
        waiting(model, name)
    async with asyncio.timeout(patient(5)):
        inference = Inference(own, AnswerCache(1 << 20), 2_048)
        known = await inference.fulfil(ASKED, inference.empty_answers())
    assert known.judged is not None


async def test_a_model_that_is_down_is_not_asked_again_and_the_others_answer():
    own = replace(everything(), entailment=DownModel())
    inference = Inference(own, AnswerCache(1 << 20), 2_048)
    known = await inference.fulfil(ASKED, inference.empty_answers())
    assert (known.classified, len(known.judged), len(known.recognised)) == (None, 1, 2)
    assert (await inference.fulfil(ASKED, known)).classified is None


async def test_a_full_queue_ends_the_call_and_cancels_what_the_other_models_do():
    own = replace(everything(), entailment=DownModel(LimitExceededError(ErrorReason.QUEUE_FULL, "Full.")))
    cancelled = asyncio.Event()

    async def judge(_):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    own.grounding.judge = judge
    inference = Inference(own, AnswerCache(1 << 20), 2_048)
    with pytest.raises(LimitExceededError, match="Full"):
        await inference.fulfil(ASKED, inference.empty_answers())
    assert cancelled.is_set()


async def test_texts_are_embedded_in_calls_of_a_bounded_size():
    own = everything()
    sizes = []
    embed = own.embedding.embed

    async def noted(texts):
        sizes.append(len(texts))
        return await embed(texts)

    own.embedding.embed = noted
    inference = Inference(own, AnswerCache(0), 2)
    known = await inference.fulfil(Requests(embed=("a", "b", "c", "d", "e")), inference.empty_answers())
    assert sizes == [2, 2, 1]
    assert np.array_equal(known.vectors.of(["e", "a"]), await embed(["e", "a"]))


@pytest.mark.parametrize("part", ["entity_recognizer", "embedding", "entailment", "grounding"])
async def test_an_analysis_is_served_only_when_every_model_answers(part):
    own = {"entailment": everything().entailment, "grounding": everything().grounding}
    await app(**own).check()
    with pytest.raises(UnavailableError):
        await app(**own | {part: DownModel()}).check()


async def test_hits_and_misses_are_metrics_by_model():
    own = everything()
    using = app(entailment=own.entailment, grounding=own.grounding)
    registry = CollectorRegistry()
    registry.register(ProvenanceMetrics(using.cache))

    def count(source):
        labels = {"model": "grounding", "source": source}
        return registry.get_sample_value("groundtrail_dpe_model_answers_total", labels)

    await analyse(SAID, FEE, using=using)
    assert (count("cache"), count("model")) == (0, 2)
    await analyse(SAID, FEE, using=using)
    assert (count("cache"), count("model")) == (2, 2)
    assert registry.get_sample_value("groundtrail_dpe_cache_bytes") == using.cache.size_bytes > 0
