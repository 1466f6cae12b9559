"""The answerer with the delivered encoders: the sentence that answers, in whatever words it is asked for (ADR 0191).

Three steps, each over fewer passages: rules over the words, meaning, then entailment and the words one by one. One
linear model orders what is left, a second says whether the first of them answers; else nothing is said.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from services.common.computing import compute
from services.common.extractive.candidates import (
    Candidate,
    Need,
    Vectors,
    content_words,
    first_candidates,
    near_candidates,
    need_of,
    read_candidate,
)
from services.common.extractive.composing import Asked, ExtractLimits, Source, Unit, extract, units_of
from services.common.extractive.weighing import Chosen, chosen
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.common.questions.following import leans
from services.common.questions.reading import read_needs

_REMEMBERED_WORDS: Final = 8_192
_UNREAD: Final = (0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Considered:
    """A question, and the passages that the slow models read for it."""

    need: Need
    candidates: tuple[Candidate, ...]


class AnswerSelector:
    """Finds what answers; keeps vectors of single words, and nothing else, between calls.

    Args:
        embedding: says which texts are near in meaning.
        entailment: says what a passage entails; ``None`` where it is not delivered.
    """

    def __init__(self, embedding: EmbeddingModel, entailment: EntailmentModel | None) -> None:
        self._embedding = embedding
        self._entailment = entailment
        self._words: OrderedDict[str, Vectors] = OrderedDict()

    async def choose(self, asked: Asked, sources: Sequence[Source], limits: ExtractLimits) -> list[Chosen]:
        """Return what answers each question of the text best, and how surely.

        Args:
            asked: the question and its conversation.
            sources: the facts in envelope order.
            limits: of the rules over words, whose choice is one sign.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        return [chosen(each.need, each.candidates) for each in await self.consider(asked, sources, limits)]

    async def consider(self, asked: Asked, sources: Sequence[Source], limits: ExtractLimits) -> list[Considered]:
        """Return each question of the text with the passages that may answer it. Raises as ``choose``."""
        needs, first = await compute(_first, asked, sources, limits)
        if not any(first):
            return [Considered(need, ()) for need in needs]
        near = await self._near(needs, first)
        return await self._read(needs, near)

    async def _near(self, needs: Sequence[Need], first: Sequence[Sequence[Candidate]]) -> list[list[Candidate]]:
        texts = [text for need in needs for text in need.texts]
        texts += [each.text for candidates in first for each in candidates]
        distinct = list(dict.fromkeys(texts))
        vectors = dict(zip(distinct, await self._embedding.embed(distinct), strict=True))
        return [
            near_candidates(
                candidates,
                np.stack([vectors[text] for text in need.texts]),
                np.stack([vectors[each.text] for each in candidates]),
            )
            if candidates
            else []
            for need, candidates in zip(needs, first, strict=True)
        ]

    async def _read(self, needs: Sequence[Need], near: Sequence[Sequence[Candidate]]) -> list[Considered]:
        pairs = [
            (each.text, need.texts[0]) for need, candidates in zip(needs, near, strict=True) for each in candidates
        ]
        distinct = list(dict.fromkeys(pairs))
        said = dict.fromkeys(distinct, _UNREAD)
        if self._entailment is not None:
            rows = await self._entailment.classify(distinct)
            said = {pair: (float(a), float(b), float(c)) for pair, (a, b, c) in zip(distinct, rows, strict=True)}
        asked = {word for need in needs for word in need.words}
        held = {word for candidates in near for each in candidates for word in content_words(each.text)}
        words = await self._vectors_of_words(sorted(asked | held))
        return [
            Considered(
                need,
                tuple(
                    read_candidate(
                        each, said[each.text, need.texts[0]], _likeness(need.words, each.text, words), need.worths
                    )
                    for each in candidates
                ),
            )
            for need, candidates in zip(needs, near, strict=True)
        ]

    async def _vectors_of_words(self, words: Sequence[str]) -> dict[str, Vectors]:
        missing = [word for word in words if word not in self._words]
        made = await self._embedding.embed(missing) if missing else ()
        fresh = dict(zip(missing, made, strict=True))
        known = {word: fresh[word] if word in fresh else self._words[word] for word in words}
        for word, vector in known.items():
            self._words[word] = vector
            self._words.move_to_end(word)
        while len(self._words) > _REMEMBERED_WORDS:
            self._words.popitem(last=False)
        return known


def _first(asked: Asked, sources: Sequence[Source], limits: ExtractLimits) -> tuple[list[Need], list[list[Candidate]]]:
    units = units_of(sources)
    by_rule = extract(asked, sources, limits).passages
    needs = _needs(asked, units)
    return needs, [first_candidates(need, units, sources, by_rule) for need in needs]


def _needs(asked: Asked, units: Sequence[Unit]) -> list[Need]:
    """Return the questions of a text, each with those that it leans on."""
    found: list[Need] = []
    before = asked.leans_on
    for question in read_needs(asked.question, asked.leans_on):
        found.append(need_of(question, before if not found or leans(question.text) else asked.leans_on, units))
        before = (question.text, *before)
    return found


def _likeness(asked: Sequence[str], text: str, vectors: dict[str, Vectors]) -> Vectors | None:
    held = content_words(text)
    if not asked or not held:
        return None
    return np.stack([vectors[word] for word in asked]) @ np.stack([vectors[word] for word in held]).T
