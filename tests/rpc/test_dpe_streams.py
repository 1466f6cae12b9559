"""AnalyzeStream: one event per stage in the stages' order, then the report, in whatever order the models answer; and
what becomes of the work of a client that goes away in the middle."""

import asyncio
import itertools

import pytest
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.dpe.domain.pipeline import STAGES
from tests.fakes.dpe_world import NAMES, TableEntailment, TableGrounding, TableRecognizer, World, models
from tests.patience import patient

FACTS = ("The fee for late reports is 5 euros.", "Acme Mutual was founded in 1999.", "Hail is covered up to 900 euros.")
ANSWER = "The fee for late reports is 6 euros. Acme Mutual was founded in 2001. Hail is not covered. Paint is covered."


def request():
    facts = [
        envelope_pb2.EnvelopeFact(fact_id=f"f{number}", content=text, importance_weight=0.95)
        for number, text in enumerate(FACTS, start=1)
    ]
    return pb.AnalyzeStreamRequest(
        analysis=pb.AnalyzeRequest(
            session_id="s1",
            window_id="w2",
            window_number=2,
            query="What is covered, and what is the fee?",
            response_text=ANSWER,
            envelope=envelope_pb2.ContextEnvelope(facts=facts),
            prior_windows=[pb.PriorWindow(window_id="w1", window_number=1, text="Hail is covered up to 900 euros.")],
        )
    )


class Turns:
    """Lets the models of one batch answer in a given order: each waits until those before it have answered."""

    def __init__(self, order):
        self._order = list(order)
        self._waiting = {}
        self.answers = []

    async def wait(self, role):
        mine = self._waiting[role] = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.call_later(0.02, self._next)  # by then all models of the batch were asked
        await mine.wait()
        self.answers.append(role)
        self._next()

    def _next(self):
        role = min(self._waiting, key=self._order.index, default=None)
        if role is not None:
            self._waiting.pop(role).set()


def ordered_models(turns):
    class Embedding(MemoryEmbeddingModel):
        async def embed(self, texts):
            await turns.wait("embedding")
            return await super().embed(texts)

    class Recognizer(TableRecognizer):
        async def recognize(self, texts):
            await turns.wait("entity_recognizer")
            return await super().recognize(texts)

    class Entailment(TableEntailment):
        async def classify(self, pairs):
            await turns.wait("entailment")
            return await super().classify(pairs)

    class Grounding(TableGrounding):
        async def judge(self, requests):
            await turns.wait("grounding")
            return await super().judge(requests)

    class PersonalData:
        fingerprint = "none@1+sha256:5555555555555555"

        async def detect(self, texts):
            await turns.wait("personal_data")
            return [() for _ in texts]

    return models(
        embedding=Embedding(),
        entity_recognizer=Recognizer(**NAMES),
        entailment=Entailment(lambda *_: (0.2, 0.6, 0.2)),
        grounding=Grounding(lambda asked: 0.9 if "covered" in asked.claim else 0.1),
        personal_data=PersonalData(),
    )


ROLES = ("entailment", "grounding", "embedding", "entity_recognizer", "personal_data")


async def test_events_come_in_the_order_of_the_stages_whichever_model_answers_first():
    seen, orders = [], set()
    for order in (ROLES, ROLES[::-1], ("grounding", "personal_data", "entailment", "entity_recognizer", "embedding")):
        turns = Turns(order)
        async with World(models=ordered_models(turns)).serving() as client:
            events = await client.stream(request())
        *stages, last = events
        assert [(event.stage.outcome.number, event.stage.outcome.sub_stage) for event in stages] == [
            (stage.key.number, stage.key.sub_stage) for stage in STAGES
        ]
        assert last.WhichOneof("event") == "result"
        last.result.report.ClearField("timings")
        outcomes = [event.stage.outcome.SerializeToString(deterministic=True) for event in stages]
        seen.append((outcomes, last.result.SerializeToString(deterministic=True)))
        orders.add(tuple(role for role, _ in itertools.groupby(turns.answers)))
    assert len(orders) > 1
    assert seen[0] == seen[1] == seen[2]


class Held(TableEntailment):
    """Says when it was asked, and whether its caller went away."""

    def __init__(self):
        super().__init__(lambda *_: (0.0, 1.0, 0.0))
        self.asked, self.cancelled = asyncio.Event(), asyncio.Event()

    async def classify(self, pairs):
        if pairs != [("a", "a")]:
            self.asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return await super().classify(pairs)


@pytest.mark.parametrize("others", [0, 3])
async def test_a_client_that_goes_away_after_some_events_frees_the_work_and_nobody_elses(others):
    entailment = Held()
    grounding = TableGrounding(lambda _: 0.9)
    async with World(models=models(entailment=entailment, grounding=grounding)).serving() as client:
        call = client.stub.AnalyzeStream(request(), metadata=client.metadata)
        first, second = await call.read(), await call.read()
        assert (first.stage.outcome.number, second.stage.outcome.number) == (1, 2)
        await asyncio.wait_for(entailment.asked.wait(), patient(20))
        waiting = [client.stub.AnalyzeStream(request(), metadata=client.metadata) for _ in range(others)]
        for other in waiting:
            await other.read()
        call.cancel()
        await asyncio.wait_for(entailment.cancelled.wait(), patient(20))
        for other in waiting:
            assert not other.done()
            other.cancel()
        assert (await client.call("SegmentClaims", pb.SegmentClaimsRequest(text=ANSWER))).claims
