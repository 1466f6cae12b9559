"""What the logits of somebody else's classifier stand for. Known names are mapped; anything else a person has to say.

A wrong guess turns every verdict round and no test of the model's own could find it, so nothing is guessed from an
order, from ``LABEL_0`` or from what most models do.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal

Role: TypeAlias = Literal["entailment", "grounding", "spans"]
"""What a model is added as: three-way entailment, support of a pair, unsupported tokens."""

ENTAILMENT: Final = ("entailment", "neutral", "contradiction")
SUPPORT: Final = ("supported", "unsupported")
_NAMES: Final[dict[str, frozenset[str]]] = {
    "entailment": frozenset({"entailment", "entail", "entails", "entailed"}),
    "neutral": frozenset({"neutral", "not enough info", "not enough information", "nei"}),
    "contradiction": frozenset(
        {"contradiction", "contradict", "contradicts", "contradictory", "contradicted", "refutes"}
    ),
    "supported": frozenset(
        {
            "supported", "supports", "support", "consistent", "factual", "faithful", "grounded", "attributable",
            "not hallucinated", "not hallucination", "no hallucination",
        }
    ),
    "unsupported": frozenset(
        {
            "unsupported", "not supported", "not support", "inconsistent", "not consistent", "non factual",
            "not factual", "nonfactual", "unfaithful", "not faithful", "ungrounded", "not grounded", "not attributable",
            "hallucinated", "hallucination", "not entailment", "non entailment", "not entailed",
        }
    ),
}  # fmt: skip
_WORDS: Final = {name: label for label, names in _NAMES.items() for name in names}
_FALLS: Final = {"entailment": "supported", "contradiction": "unsupported", "neutral": "unsupported"}
"""With two labels, what a three-way name means."""


def labels_of(config: Mapping[str, Any], role: Role, given: str | None) -> tuple[str, ...]:
    """Return what each logit stands for, in the order of the logits.

    Args:
        config: ``config.json``.
        role: what the model is added as.
        given: ``supported=1,unsupported=0``, said by a person; overrules the file.

    Raises:
        OwnModelError: LABELS_UNKNOWN: they cannot be told, or do not fit the role.
    """
    if given is not None:
        return _checked(_said(given), role, given)
    named = _named(config)
    found = tuple(_meaning(name) for name in named)
    if len(found) == len(SUPPORT):
        found = tuple(_FALLS.get(label, label) for label in found)
    elif set(found) & {"supported"} and set(found) & {"neutral", "contradiction"}:
        found = tuple("entailment" if label == "supported" else label for label in found)
    return _checked(found, role, ", ".join(f"{place} = {name}" for place, name in enumerate(named)))


def _said(given: str) -> tuple[str, ...]:
    pairs = [part.partition("=") for part in given.split(",")]
    try:
        places = {int(place): name.strip().lower() for name, _, place in pairs}
    except ValueError:
        places = {}
    if len(places) != len(pairs) or sorted(places) != list(range(len(pairs))):
        raise OwnModelError(
            Refusal.LABELS_UNKNOWN,
            f"--labels {given}: each label with its place among the logits, from 0, as in supported=1,unsupported=0",
        )
    return tuple(places[place] for place in range(len(pairs)))


def _named(config: Mapping[str, Any]) -> tuple[str, ...]:
    raw = config.get("id2label")
    named = {str(place): str(name) for place, name in raw.items()} if isinstance(raw, dict) else {}
    if not named or set(named) != {str(place) for place in range(len(named))}:
        raise OwnModelError(
            Refusal.LABELS_UNKNOWN, "config.json has no id2label that names every logit; say them with --labels"
        )
    return tuple(named[str(place)] for place in range(len(named)))


def _meaning(name: str) -> str:
    return _WORDS.get(" ".join(re.split(r"[\s_\-]+", name.strip().lower())), "")


def _checked(found: tuple[str, ...], role: Role, shown: str) -> tuple[str, ...]:
    allowed = {"entailment": (ENTAILMENT,), "grounding": (SUPPORT, ENTAILMENT), "spans": (SUPPORT,)}[role]
    if any(sorted(found) == sorted(one) for one in allowed):
        return found
    if role == "entailment" and sorted(found) == sorted(SUPPORT):
        text = "two labels cannot tell what is denied from what is not mentioned; add it with --as grounding"
    else:
        wanted = " or ".join(", ".join(one) for one in allowed)
        example = ",".join(f"{name}={place}" for place, name in enumerate(allowed[0]))
        text = f"needed are {wanted}; read the model's card and say which logit is which, such as --labels {example}"
    raise OwnModelError(Refusal.LABELS_UNKNOWN, f"the labels ({shown}) do not say what the logits stand for: {text}")
