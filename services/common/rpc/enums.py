"""The contract's enums and the words of ``services.common.taxonomy``, both ways: one table each, filled by name."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from crp.ckf.v1 import knowledge_service_pb2
from crp.common.v1 import taxonomy_pb2

from services.common import taxonomy

WordT = TypeVar("WordT", bound=StrEnum)


class EnumTable(Mapping[int, WordT]):
    """The words by the numbers of one enum of the contract, and the way back.

    Args:
        enum: the generated wrapper, for example ``taxonomy_pb2.RiskLevel``.
        words: every member has to be a value of the enum: ``HIGH`` is ``RISK_LEVEL_HIGH``. Values that no member names,
            such as UNSPECIFIED, have no word: indexing raises ``KeyError`` and ``get`` returns ``None``.

    Raises:
        ValueError: a word that the contract does not have.
    """

    def __init__(self, enum: Any, words: type[WordT]) -> None:
        prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum.DESCRIPTOR.name).upper()
        self._numbers: dict[WordT, int] = {word: enum.Value(f"{prefix}_{word.name}") for word in words}
        self._words = {number: word for word, number in self._numbers.items()}

    def __getitem__(self, number: int) -> WordT:
        """Return the word of a number; raises KeyError."""
        return self._words[number]

    def __iter__(self) -> Iterator[int]:
        """Iterate over the numbers in the order of the words."""
        return iter(self._words)

    def __len__(self) -> int:
        """Return how many words there are."""
        return len(self._words)

    def number(self, word: WordT) -> Any:
        """Return the number of a word; ``Any``, for the stubs type it as one class per enum."""
        return self._numbers[word]


QUALITY_TIERS: Final = EnumTable(taxonomy_pb2.QualityTier, taxonomy.QualityTier)
RISK_LEVELS: Final = EnumTable(taxonomy_pb2.RiskLevel, taxonomy.RiskLevel)
GROUNDING_MODES: Final = EnumTable(taxonomy_pb2.GroundingMode, taxonomy.GroundingMode)
STRATEGIES: Final = EnumTable(taxonomy_pb2.DispatchStrategy, taxonomy.DispatchStrategy)
BREAKER_STATES: Final = EnumTable(taxonomy_pb2.BreakerState, taxonomy.BreakerState)
CHAIN_INTEGRITIES: Final = EnumTable(taxonomy_pb2.ChainIntegrity, taxonomy.ChainIntegrity)
STAGE_STATUSES: Final = EnumTable(taxonomy_pb2.StageStatus, taxonomy.StageStatus)
RETRIEVAL_MODES: Final = EnumTable(knowledge_service_pb2.SearchMode, taxonomy.RetrievalMode)
"""How knowledge is searched; a number without a word leaves it to the server."""

TAXONOMY: Final[Mapping[str, EnumTable[Any]]] = {
    "QualityTier": QUALITY_TIERS,
    "RiskLevel": RISK_LEVELS,
    "GroundingMode": GROUNDING_MODES,
    "DispatchStrategy": STRATEGIES,
    "BreakerState": BREAKER_STATES,
    "ChainIntegrity": CHAIN_INTEGRITIES,
    "StageStatus": STAGE_STATUSES,
}
"""The table of each enum of ``crp/common/v1/taxonomy.proto``, by its name there."""
