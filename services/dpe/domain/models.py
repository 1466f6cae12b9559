"""The models of an analysis: what they are asked, what they answered, and one row for each (ADR 0167).

A further model is a member of ``ModelRole``, a field of ``Requests`` and one of ``ModelAnswers``, and its row in
``ASKED_MODELS``; asking, remembering, measuring and probing go by the rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum, unique
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.embedding import Calibration
from services.common.ports.grounding import GroundingRequest, GroundingVerdict
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity
from services.dpe.domain.outcome import Reason

Vectors = NDArray[np.float32]
Pair = tuple[str, str]

_ENTITY_BYTES: Final = 160
"""What an entity takes besides its text."""
_VERDICT_BYTES: Final = 1_600
"""What a grounding verdict takes with its named signals."""
_SPAN_BYTES: Final = 120


@unique
class ModelRole(StrEnum):
    """Which model an answer is from: its role in reports, the label of metrics, the name of what opens it."""

    EMBEDDING = "embedding"
    ENTITY_RECOGNIZER = "entity_recognizer"
    ENTAILMENT = "entailment"
    GROUNDING = "grounding"
    PERSONAL_DATA = "personal_data"
    SECOND_OPINION = "second_opinion"


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Unit vectors by text."""

    index: Mapping[str, int]
    rows: Vectors
    calibration: Calibration

    def __contains__(self, text: str) -> bool:
        """Say whether the text has a row."""
        return text in self.index

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of the texts, in order.

        Raises:
            KeyError: a text was not asked for.
        """
        return self.rows[[self.index[text] for text in texts]]

    def extended(self, texts: Sequence[str], rows: Sequence[NDArray[np.float32]]) -> "VectorTable":
        """Return a table that also holds the rows of further texts."""
        index = {**self.index, **{text: len(self.rows) + row for row, text in enumerate(texts)}}
        return VectorTable(index, np.concatenate([self.rows, np.stack(rows)]), self.calibration)


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """What the models answered so far; ``None`` = failed, or not configured.

    Attributes:
        entailment_tokens: what the entailment encoder reads at most; ``None`` = none is configured.
        recognised: entities by text.
        vectors: embeddings by text.
        classified: probabilities of entailment, neutral and contradiction by (premise, hypothesis).
        judged: what the grounding model says, by request.
        personal_data: what its detector found, by text.
        fingerprints: role and fingerprint of each configured model.
    """

    entailment_tokens: int | None = None
    recognised: Mapping[str, tuple[Entity, ...]] | None = None
    vectors: VectorTable | None = None
    classified: Mapping[Pair, NDArray[np.float32]] | None = None
    judged: Mapping[GroundingRequest, GroundingVerdict] | None = None
    personal_data: Mapping[RecognisedText, tuple[PersonalData, ...]] | None = None
    fingerprints: tuple[tuple[str, str], ...] = ()

    def has(self, role: ModelRole) -> bool:
        """Say whether there is such a model, whether or not it answers."""
        return any(known == role for known, _ in self.fingerprints)


@dataclass(frozen=True, slots=True)
class Requests:
    """What a stage needs the models to answer; one batch for each model."""

    recognise: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
    classify: tuple[Pair, ...] = ()
    judge: tuple[GroundingRequest, ...] = ()
    detect: tuple[RecognisedText, ...] = ()

    @staticmethod
    def merge(each: "Iterable[Requests]") -> "Requests":
        """Return all of them as one batch for each model, in order, nothing twice."""
        asked = tuple(each)
        return Requests(
            **{name: tuple(dict.fromkeys(item for one in asked for item in getattr(one, name))) for name in _ASKED}
        )

    def beyond(self, known: "Requests") -> "Requests":
        """Return what is asked here and not there."""
        kept = {name: set(getattr(known, name)) for name in _ASKED}
        return Requests(
            **{name: tuple(item for item in getattr(self, name) if item not in kept[name]) for name in _ASKED}
        )

    def chars(self) -> dict[ModelRole, int]:
        """Return the characters that each model is asked to read, and one for each text or pair; 0 = nothing."""
        return {
            model.role: sum(model.chars(item) + 1 for item in getattr(self, model.requests)) for model in ASKED_MODELS
        }


_ASKED: Final = tuple(each.name for each in fields(Requests))


def _nothing(_: Any) -> Mapping[Any, Any]:
    return {}


def _with(known: Mapping[Any, Any], asked: Sequence[Any], answers: Sequence[Any]) -> Mapping[Any, Any]:
    return {**known, **dict(zip(asked, answers, strict=True))}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """The row of a model.

    Attributes:
        role: which it is; so are called the field of ``AnalysisModels`` and what opens it.
        requests: the field of ``Requests`` with what it is asked.
        answers: the field of ``ModelAnswers`` with what it said.
        method: of its port, from a sequence to a sequence of answers.
        failed: what a stage says that missed its answers.
        probe: something small that it can be asked.
        in_parts: asked in calls of a bounded size, so that a long answer cannot fill its queue.
        texts: what stands in the key of an answer, of one thing asked.
        chars: what one thing has it read.
        size: what an answer takes in bytes, by a careful estimate.
        nothing: what is known before anything was asked, given the model.
        extended: what is known, with the answers to more.
    """

    role: ModelRole
    requests: str
    answers: str
    method: str
    failed: Reason
    probe: Any
    in_parts: bool = False
    texts: Callable[[Any], Sequence[str]] = field(repr=False)
    chars: Callable[[Any], int] = field(repr=False)
    size: Callable[[Any], int] = field(repr=False)
    nothing: Callable[[Any], Any] = field(default=_nothing, repr=False)
    extended: Callable[[Any, Sequence[Any], Sequence[Any]], Any] = field(default=_with, repr=False)


def _one_text(text: str) -> Sequence[str]:
    return (text,)


def _pair_texts(pair: Pair) -> Sequence[str]:
    return pair


def _pair_chars(pair: Pair) -> int:
    return sum(map(len, pair))


def _request_texts(request: GroundingRequest) -> Sequence[str]:
    """Return the texts of a request so that no two give the same list: query and windows are told apart."""
    asked = () if request.query is None else (request.query,)
    return (f"{len(asked)} {request.max_windows}", *asked, request.claim, *request.passages)


def _request_chars(request: GroundingRequest) -> int:
    return len(request.claim) + sum(map(len, request.passages))


def _recognised_texts(asked: RecognisedText) -> Sequence[str]:
    """Return the text, and the entities without which the same text gives other findings."""
    return (asked.text, *(f"{one.kind} {one.start} {one.end}" for one in asked.entities))


def _recognised_chars(asked: RecognisedText) -> int:
    return len(asked.text)


def _bytes_of_personal_data(found: tuple[PersonalData, ...]) -> int:
    return _ENTITY_BYTES * len(found)


def _bytes_of_entities(entities: tuple[Entity, ...]) -> int:
    return sum(_ENTITY_BYTES + 4 * len(entity.text) for entity in entities)


def _bytes_of_array(row: NDArray[np.float32]) -> int:
    return int(row.nbytes)


def _bytes_of_verdict(verdict: GroundingVerdict) -> int:
    return _VERDICT_BYTES + _SPAN_BYTES * len(verdict.spans)


def _empty_table(model: Any) -> VectorTable:
    return VectorTable({}, np.empty((0, model.dimension), dtype=np.float32), model.calibration)


ASKED_MODELS: Final = (
    AskedModel(
        role=ModelRole.EMBEDDING,
        requests="embed",
        answers="vectors",
        method="embed",
        failed=Reason.EMBEDDING_MODEL_FAILED,
        probe="",
        in_parts=True,
        texts=_one_text,
        chars=len,
        size=_bytes_of_array,
        nothing=_empty_table,
        extended=VectorTable.extended,
    ),
    AskedModel(
        role=ModelRole.ENTITY_RECOGNIZER,
        requests="recognise",
        answers="recognised",
        method="recognize",
        failed=Reason.ENTITY_RECOGNIZER_FAILED,
        probe="",
        texts=_one_text,
        chars=len,
        size=_bytes_of_entities,
    ),
    AskedModel(
        role=ModelRole.ENTAILMENT,
        requests="classify",
        answers="classified",
        method="classify",
        failed=Reason.ENTAILMENT_MODEL_FAILED,
        probe=("a", "a"),
        texts=_pair_texts,
        chars=_pair_chars,
        size=_bytes_of_array,
    ),
    AskedModel(
        role=ModelRole.GROUNDING,
        requests="judge",
        answers="judged",
        method="judge",
        failed=Reason.GROUNDING_MODEL_FAILED,
        probe=GroundingRequest("a", ("a",)),
        texts=_request_texts,
        chars=_request_chars,
        size=_bytes_of_verdict,
    ),
    AskedModel(
        role=ModelRole.PERSONAL_DATA,
        requests="detect",
        answers="personal_data",
        method="detect",
        failed=Reason.PII_DETECTOR_FAILED,
        probe=RecognisedText("a"),
        texts=_recognised_texts,
        chars=_recognised_chars,
        size=_bytes_of_personal_data,
    ),
)
"""Every model that stages ask, in the order in which the report names them (SPEC-005 §21.1)."""
