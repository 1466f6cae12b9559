"""Which families of encoders are known, and how long a text each reads."""

from collections.abc import Mapping
from typing import Any, Final

from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal

SEQUENCE: Final = "ForSequenceClassification"
TOKENS: Final = "ForTokenClassification"
FAMILIES: Final[dict[str, str]] = {
    "bert": "Bert",
    "roberta": "Roberta",
    "deberta-v2": "DebertaV2",
    "mpnet": "MPNet",
    "modernbert": "ModernBert",
    "t5": "T5",
}
"""``model_type`` of config.json and how the family's classes begin; DeBERTa-v3 calls itself deberta-v2."""
POSITIONS_FROM: Final = {"roberta": 2, "mpnet": 2}
"""Rows of the table of positions that no token gets, since counting begins behind the padding's."""
LONGEST: Final = 8_192
_NO_LIMIT: Final = 100_000
"""Tokenizers that know no limit state one far above this."""


def check_family(model_type: str, architecture: str, form: str) -> None:
    """Refuse a family, or a class of it, that is not known.

    Raises:
        OwnModelError: ARCHITECTURE_UNSUPPORTED.
    """
    prefix = FAMILIES.get(model_type)
    if prefix is None:
        raise OwnModelError(
            Refusal.ARCHITECTURE_UNSUPPORTED,
            f"config.json says model_type {model_type!r}; known are {', '.join(FAMILIES)}",
        )
    if form == "safetensors" and architecture not in {f"{prefix}{SEQUENCE}", f"{prefix}{TOKENS}"}:
        raise OwnModelError(
            Refusal.ARCHITECTURE_UNSUPPORTED,
            f"config.json says {architecture or 'no architecture'}; converted are {prefix}{SEQUENCE} and "
            f"{prefix}{TOKENS} (--architecture names another class than config.json)",
        )


def longest_input(config: Mapping[str, Any], limits: Mapping[str, Any], wanted: int | None) -> int:
    """Return the longest input, special tokens included.

    Args:
        config: ``config.json``.
        limits: ``tokenizer_config.json``.
        wanted: said by a person.

    Raises:
        OwnModelError: MAX_TOKENS_UNKNOWN, MAX_TOKENS_INVALID.
    """
    positions = _positions(config)
    if wanted is not None:
        if wanted > min(LONGEST, positions or LONGEST):
            raise OwnModelError(
                Refusal.MAX_TOKENS_INVALID,
                f"the model reads at most {min(LONGEST, positions or LONGEST)} tokens, not {wanted}",
            )
        return wanted
    stated = limits.get("model_max_length")
    known = [positions] if positions else []
    if isinstance(stated, int | float) and 0 < stated < _NO_LIMIT:
        known.append(int(stated))
    if not known:
        raise OwnModelError(
            Refusal.MAX_TOKENS_UNKNOWN, "the folder does not say how long a text is read; give --max-tokens"
        )
    return min(LONGEST, *known)


def _positions(config: Mapping[str, Any]) -> int | None:
    """Return the rows of a table of positions; ``None`` for a model that has none, or only relative ones."""
    rows = config.get("max_position_embeddings")
    family = str(config.get("model_type", ""))
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1 or family == "t5":
        return None
    if family == "deberta-v2" and config.get("position_biased_input") is False:
        return None
    return rows - POSITIONS_FROM.get(family, 0)
