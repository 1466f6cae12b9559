"""What the encoders said in earlier runs, kept in a file: a run after a changed rule pays for the rules alone.

A key is a digest of the model's fingerprint and of the texts, so that other weights find nothing of these. What is made
by code as well as by weights (signals of the grounding model, names, personal data) also has a digest of that code in
its key. The file holds texts' digests and numbers, and entities with their words: it is for data that may lie here.
"""

import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.composition import Adapters
from services.common.ports.embedding import Calibration, EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel, GroundingRequest, GroundingVerdict, UnsupportedSpan
from services.common.ports.personal_data import (
    PersonalData,
    PersonalDataCategory,
    PersonalDataDetector,
    RecognisedText,
)
from services.common.ports.recognition import Entity, EntityKind, EntityRecognizer
from services.dpe.answer_cache import cache_keys

if TYPE_CHECKING:
    from services.common.settings import Settings

ROOT: Final = Path(__file__).resolve().parents[1]
DEFAULT_FILE: Final = ROOT / ".cache" / "evaluation" / "encoders.sqlite3"
_CODE: Final = (
    "services/common/calibration.py",
    "services/common/letters.py",
    "services/common/grounding/**/*.py",
    "services/common/adapters/encoders/*.py",
)
_CODE_OF_NAMES: Final = (
    "services/common/letters.py",
    "services/common/adapters/spacy/*.py",
    "services/common/adapters/presidio/*.py",
)
_AT_ONCE: Final = 500
"""Keys in one statement."""


class EncoderMemory:
    """A file of answers by key; several processes may share it.

    Args:
        path: made when it is not there; ``:memory:`` keeps nothing after the process.
    """

    def __init__(self, path: Path | str) -> None:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB NOT NULL)")
        self.hits = 0
        self.misses = 0

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    async def answers(
        self,
        maker: str,
        texts: Sequence[Sequence[str]],
        ask: Callable[[list[int]], Awaitable[Sequence[bytes]]],
    ) -> list[bytes]:
        """Return the packed answer for each thing asked; ``ask`` gets the positions that are not known."""
        keys = cache_keys("", maker, texts)
        known = self._find(keys)
        missing = [position for position, key in enumerate(keys) if key not in known]
        self.hits += len(keys) - len(missing)
        self.misses += len(missing)
        if missing:
            fresh = await ask(missing)
            made = {keys[position]: answer for position, answer in zip(missing, fresh, strict=True)}
            self._file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", list(made.items()))
            known |= made
        return [known[key] for key in keys]

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        distinct = list(dict.fromkeys(keys))
        for start in range(0, len(distinct), _AT_ONCE):
            some = distinct[start : start + _AT_ONCE]
            places = ", ".join("?" * len(some))
            found |= self._file.execute(f"SELECT key, answer FROM answers WHERE key IN ({places})", some).fetchall()  # noqa: S608 - question marks alone
        return found


@cache
def code_digest(patterns: tuple[str, ...]) -> str:
    """Return a digest of the source files."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RememberedEmbedding:
    """``EmbeddingModel`` over another."""

    model: EmbeddingModel
    memory: EncoderMemory

    @property
    def name(self) -> str:
        """As the model's."""
        return self.model.name

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    @property
    def dimension(self) -> int:
        """As the model's."""
        return self.model.dimension

    @property
    def calibration(self) -> Calibration:
        """As the model's."""
        return self.model.calibration

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the model does."""

        async def ask(missing: list[int]) -> list[bytes]:
            return [row.tobytes() for row in await self.model.embed([texts[position] for position in missing])]

        packed = await self.memory.answers(f"embed {self.fingerprint}", [(text,) for text in texts], ask)
        return _rows(packed, self.dimension)


@dataclass(frozen=True, slots=True)
class RememberedEntailment:
    """``EntailmentModel`` over another."""

    model: EntailmentModel
    memory: EncoderMemory

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    @property
    def max_tokens(self) -> int:
        """As the model's."""
        return self.model.max_tokens

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """As the model does."""

        async def ask(missing: list[int]) -> list[bytes]:
            return [row.tobytes() for row in await self.model.classify([pairs[position] for position in missing])]

        return _rows(await self.memory.answers(f"classify {self.fingerprint}", pairs, ask), 3)


@dataclass(frozen=True, slots=True)
class RememberedGrounding:
    """``GroundingModel`` over another."""

    model: GroundingModel
    memory: EncoderMemory

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    @property
    def threshold(self) -> float:
        """As the model's."""
        return self.model.threshold

    async def judge(self, requests: Sequence[GroundingRequest]) -> list[GroundingVerdict]:
        """As the model does."""

        async def ask(missing: list[int]) -> list[bytes]:
            return [_packed(one) for one in await self.model.judge([requests[position] for position in missing])]

        texts = [(repr((one.query, one.max_windows)), one.claim, *one.passages) for one in requests]
        maker = f"judge {self.fingerprint} {code_digest(_CODE)}"
        return [_verdict(one) for one in await self.memory.answers(maker, texts, ask)]


@dataclass(frozen=True, slots=True)
class RememberedRecognizer:
    """``EntityRecognizer`` over another."""

    model: EntityRecognizer
    memory: EncoderMemory

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    async def recognize(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """As the model does."""

        async def ask(missing: list[int]) -> list[bytes]:
            found = await self.model.recognize([texts[position] for position in missing])
            return [_packed([dataclasses.astuple(entity) for entity in one]) for one in found]

        maker = f"recognize {self.fingerprint} {code_digest(_CODE_OF_NAMES)}"
        packed = await self.memory.answers(maker, [(text,) for text in texts], ask)
        return [tuple(Entity(EntityKind(kind), *rest) for kind, *rest in json.loads(one)) for one in packed]


@dataclass(frozen=True, slots=True)
class RememberedDetector:
    """``PersonalDataDetector`` over another."""

    model: PersonalDataDetector
    memory: EncoderMemory

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    async def detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        """As the model does."""

        async def ask(missing: list[int]) -> list[bytes]:
            found = await self.model.detect([texts[position] for position in missing])
            return [_packed([dataclasses.astuple(item) for item in one]) for one in found]

        asked = [
            (one.text, *(f"{entity.kind} {entity.start} {entity.end}" for entity in one.entities)) for one in texts
        ]
        maker = f"detect {self.fingerprint} {code_digest(_CODE_OF_NAMES)}"
        return [
            tuple(PersonalData(PersonalDataCategory(category), *rest) for category, *rest in json.loads(one))
            for one in await self.memory.answers(maker, asked, ask)
        ]


class RememberingAdapters(Adapters):
    """A process's adapters whose encoders remember what they said in earlier runs.

    Args:
        settings: of the process.
        memory: what was said; the caller closes it.
    """

    def __init__(self, settings: "Settings", memory: EncoderMemory) -> None:
        super().__init__(settings)
        self._memory = memory

    async def embedding(self) -> EmbeddingModel:
        """Return the embedding model with its memory."""
        return RememberedEmbedding(await super().embedding(), self._memory)

    async def entailment(self) -> EntailmentModel | None:
        """Return the NLI encoder with its memory."""
        model = await super().entailment()
        return None if model is None else RememberedEntailment(model, self._memory)

    async def grounding(self) -> GroundingModel | None:
        """Return the grounding model with its memory."""
        model = await super().grounding()
        return None if model is None else RememberedGrounding(model, self._memory)

    async def entity_recognizer(self) -> EntityRecognizer:
        """Return the recogniser with its memory."""
        return RememberedRecognizer(await super().entity_recognizer(), self._memory)

    async def personal_data(self) -> PersonalDataDetector:
        """Return the detector with its memory."""
        return RememberedDetector(await super().personal_data(), self._memory)


def _rows(packed: Sequence[bytes], width: int) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(packed), dtype=np.float32).reshape(-1, width).copy()


def _packed(value: Any) -> bytes:
    plain = dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
    return json.dumps(plain).encode()


def _verdict(packed: bytes) -> GroundingVerdict:
    found: Mapping[str, Any] = json.loads(packed)
    return GroundingVerdict(
        found["support"],
        found["supported"],
        found["encoder_support"],
        tuple((name, value) for name, value in found["signals"]),
        tuple(UnsupportedSpan(**span) for span in found["spans"]),
        tuple(found["evidence"]),
        found["undecided"],
    )
