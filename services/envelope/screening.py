"""Candidates of an envelope that speak to a language model: told of, masked, or left out (SPEC-003 §16; ADR 0145).

What was found of a text is remembered by its hash, never by its words: a fact is searched once, however many envelopes
it is a candidate of. A mask keeps every other character where it stands, so that places in the fact stay places in it.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from services.common.computing import compute
from services.common.counting import counted
from services.common.encoding import sha256_hex
from services.common.injection.masking import Finding, Masked, masked
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.tokens import TokenCounter
from services.envelope.counted_facts import count_beside
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.instructions import TOLD_FROM, SuspectedFact, Treatment, found_in
from services.envelope.selection import MARK_TOKENS, Selection

REMEMBERED: Final = 65_536
"""Hashes of texts of which it is remembered what was found."""
TOLD: Final = 100
"""Candidates that are told of by id."""
Policy = Literal["off", "report", "leave_out", "mask"]


@dataclass(frozen=True, slots=True)
class _Mask:
    """A text without what speaks to a model, its tokens with the numbering, and its vector."""

    found: Masked
    token_count: int
    embedding: NDArray[np.float32]

    def applied(self, candidate: Candidate) -> Candidate:
        """Return the candidate with this text; entities of what was taken out are gone."""
        taken = self.found.stretches
        return replace(
            candidate,
            content=self.found.text,
            content_hash=sha256_hex(self.found.text),
            token_count=self.token_count + (0 if candidate.is_current else MARK_TOKENS),
            embedding=self.embedding,
            entities=tuple(
                one for one in candidate.entities if all(one.end <= start or end <= one.start for start, end in taken)
            ),
        )


@dataclass(frozen=True, slots=True)
class Screened:
    """What was found among the candidates, in their order."""

    facts: tuple[SuspectedFact, ...] = ()

    def suspected(self, packed: Sequence[RankedFact]) -> tuple[SuspectedFact, ...]:
        """Return those that the envelope holds and those that were left out, the first 100."""
        held = {fact.candidate.fact_id for fact in packed}
        return tuple(one for one in self.facts if one.treatment is Treatment.LEFT_OUT or one.fact_id in held)[:TOLD]

    def told(self, packed: Sequence[RankedFact]) -> tuple[str, ...]:
        """Return what the caller should know; numbers only, never content."""
        held = {fact.candidate.fact_id for fact in packed}
        count = sum(one.fact_id in held and one.treatment is Treatment.REPORTED for one in self.facts)
        masks = sum(one.fact_id in held and one.treatment is Treatment.MASKED for one in self.facts)
        left = sum(one.treatment is Treatment.LEFT_OUT for one in self.facts)
        return (
            *([f"speaking to a language model in the envelope: {counted(count, 'fact')}"] if count else ()),
            *([f"speaking to a language model and masked in the envelope: {counted(masks, 'fact')}"] if masks else ()),
            *([f"speaking to a language model and left out: {counted(left, 'relevant fact')}"] if left else ()),
        )


class Screening:
    """Screens candidates by policy; safe to share between tasks of one event loop.

    Args:
        policy: what becomes of candidates that speak to a model.
        tokens: counts a masked text as the target model does.
        embedding: the vectors of masked texts, for what was taken out shall ground nothing.
        overhead_tokens: what numbering a fact costs.
    """

    def __init__(
        self, policy: Policy, tokens: TokenCounter, embedding: EmbeddingModel, *, overhead_tokens: int
    ) -> None:
        self._policy = policy
        self._tokens = tokens
        self._embedding = embedding
        self._overhead_tokens = overhead_tokens
        self._known: OrderedDict[str, Finding | None] = OrderedDict()

    async def of(self, selection: Selection, model: str) -> tuple[Selection, Screened]:
        """Return what may be packed, and what was found.

        Args:
            selection: the candidates.
            model: whose tokenizer counts.

        Raises:
            UnavailableError: the embedding model is down.
        """
        if self._policy == "off":
            return selection, Screened()
        suspected = await self._suspected(selection.candidates)
        if not suspected:
            return selection, Screened()
        masks = await self._masks(selection.candidates, suspected, model) if self._policy == "mask" else {}
        treatment = Treatment.REPORTED if self._policy == "report" else Treatment.LEFT_OUT
        kept: list[Candidate] = []
        facts: list[SuspectedFact] = []
        for one in selection.candidates:
            finding = suspected.get(one.content_hash)
            if finding is None:
                kept.append(one)
                continue
            mask = masks.get(one.content_hash)
            done = treatment if mask is None else Treatment.MASKED
            facts.append(SuspectedFact(one.fact_id, one.carried_from_window_id, finding, done))
            if done is not Treatment.LEFT_OUT:
                kept.append(one if mask is None else mask.applied(one))
        return replace(selection, candidates=tuple(kept)), Screened(tuple(facts))

    async def _suspected(self, candidates: Sequence[Candidate]) -> dict[str, Finding]:
        """Return what was found, by the hash of the text."""
        texts = {one.content_hash: one.content for one in candidates}
        unknown = {content_hash: text for content_hash, text in texts.items() if content_hash not in self._known}
        found = await compute(_findings, unknown) if unknown else {}
        known = {content_hash: self._known[content_hash] for content_hash in texts if content_hash in self._known}
        self._known.update(found)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return {content_hash: one for content_hash, one in (known | found).items() if one is not None}

    async def _masks(
        self, candidates: Sequence[Candidate], suspected: dict[str, Finding], model: str
    ) -> dict[str, _Mask]:
        """Return the masked texts by the hash of the whole one; none where nothing is left of a text."""
        texts = {one.content_hash: one.content for one in candidates if one.content_hash in suspected}
        found = {key: one for key, one in (await compute(_masked, texts)).items() if not one.is_empty}
        if not found:
            return {}
        contents = [one.text for one in found.values()]
        counts = await count_beside(self._tokens, contents, model)
        vectors = await self._embedding.embed(contents)
        return {
            key: _Mask(one, count + self._overhead_tokens, vector)
            for (key, one), count, vector in zip(found.items(), counts, vectors, strict=True)
        }


def _findings(texts: dict[str, str]) -> dict[str, Finding | None]:
    """Return for each hash what in its text speaks to a model. CPU-bound, linear."""
    return {content_hash: found_in(text) for content_hash, text in texts.items()}


def _masked(texts: dict[str, str]) -> dict[str, Masked]:
    """Return the masked texts by hash. CPU-bound, linear."""
    return {content_hash: masked(text, TOLD_FROM, keeps_length=True) for content_hash, text in texts.items()}
