"""Models with answers that a test can work out: what ``tools.evaluate_models`` measures instead of real ones."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from evaluation.grounding_scores import BOTH, ENCODER, SURFACE, System
from evaluation.model_source import Entailment, Grounding, Recognition
from evaluation.pipeline import Findings
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.ports.grounding import GroundingRequest, GroundingVerdict, UnsupportedSpan
from services.dpe.domain.findings import Basis, Judgement, Verdict

OVERLAP = "overlap"
THRESHOLD = 0.5


class ScriptedEntailment:
    """Says what the hypothesis's first word says: ``0.7 0.2 0.1``-like probabilities, separated by slashes."""

    fingerprint = "scripted-nli@1+sha256:0"
    max_tokens = 512

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([[float(share) for share in text.split()[0].split("/")] for _, text in pairs], dtype=np.float32)


class OverlapGrounding:
    """Support is the mean of the claim's share of known words and a scripted encoder; unknown words are the spans.

    The encoder is sure (1.0) of claims that end in a full stop and sure of the opposite (0.0) for others.
    """

    fingerprint = "overlap-grounding@1+sha256:0"
    threshold = THRESHOLD

    def __init__(self) -> None:
        self.requests: list[GroundingRequest] = []

    async def judge(self, requests: Sequence[GroundingRequest]) -> list[GroundingVerdict]:
        self.requests += requests
        return [self._verdict(request) for request in requests]

    def _verdict(self, request: GroundingRequest) -> GroundingVerdict:
        known = set(" ".join(request.passages).split())
        words = request.claim.split()
        overlap = sum(word in known for word in words) / len(words)
        encoder = (1.0 if request.claim.endswith(".") else 0.0) if request.passages else None
        support = (overlap + (encoder or 0.0)) / 2
        spans, start = [], 0
        for word in words:
            place = request.claim.index(word, start)
            start = place + len(word)
            if word not in known:
                spans.append(UnsupportedSpan(place, start, 1.0))
        evidence = tuple(range(len(request.passages)))
        signals = ((OVERLAP, overlap),)
        return GroundingVerdict(support, support >= THRESHOLD, encoder, signals, tuple(spans), evidence)


COLUMNS = (
    System(SURFACE, lambda verdict: dict(verdict.signals)[OVERLAP], None),
    System(ENCODER, lambda verdict: verdict.encoder_support or 0.0, 0.5),
    System(BOTH, lambda verdict: verdict.support, THRESHOLD),
)


class ScriptedEngine:
    """Words of a text are its claims: "q" is quoted, "v" a value conflict, "=0.7" what the grounding model supports."""

    fingerprint = "scripted-engine"

    def __init__(self, grounding):
        self.grounding = grounding

    async def check(self, claim):
        found = tuple(map(self._judged, claim.claim.split()))
        return Findings(found, {"3b, NUMBER_CHANGED": sum(one.basis is Basis.VALUE_CONFLICT for one in found)})

    def _judged(self, word):
        if word == "q":
            return Judgement(Verdict.SUPPORTED, Basis.QUOTATION)
        if word == "v":
            return Judgement(Verdict.CONTRADICTED, Basis.VALUE_CONFLICT, support=0.9)
        support = float(word.removeprefix("="))
        verdict = Verdict.SUPPORTED if support >= THRESHOLD else Verdict.UNSUPPORTED
        return Judgement(verdict, Basis.GROUNDING, support=support)


class ScriptedModels:
    """``ModelSource`` of the models above."""

    backend = "memory"

    def __init__(self, temperature: float | None = 2.0) -> None:
        self.temperature = temperature
        self.grounding_model = OverlapGrounding()

    @asynccontextmanager
    async def entailment(self) -> AsyncIterator[Entailment]:
        yield Entailment("nli", ScriptedEntailment(), self.temperature)

    @asynccontextmanager
    async def grounding(self) -> AsyncIterator[Grounding]:
        yield Grounding("grounding", self.grounding_model, COLUMNS)

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[ScriptedEngine]:
        yield ScriptedEngine(self.grounding_model)

    @asynccontextmanager
    async def recognition(self) -> AsyncIterator[Recognition]:
        yield Recognition("ner", MemoryEntityRecognizer())
