"""Which logit of somebody else's classifier means entailment, which neutral, which contradiction."""

from collections.abc import Mapping, Sequence
from typing import Final

from training.repository_folder import LABELS

_STEMS: Final = {"entailment": ("entail",), "neutral": ("neutral",), "contradiction": ("contradict",)}
_NEGATIONS: Final = ("not", "non", "no_", "no-", "no ")


class LabelError(ValueError):
    """A classifier's labels cannot be mapped; the message shows them and says what to do."""


def label_order(id2label: Mapping[int, str], given: Sequence[str] | None = None) -> tuple[int, int, int]:
    """Return the positions of entailment, neutral and contradiction among a classifier's logits.

    Args:
        id2label: the classifier's own names of its logits.
        given: names in the order of the logits, said by a person; overrules ``id2label``.

    Raises:
        LabelError: there are not three logits, or the names do not say which is which.
    """
    named = {index: str(name) for index, name in id2label.items()}
    if sorted(named) != list(range(len(LABELS))):
        raise LabelError(
            f"The classifier has {len(named)} labels, {named}; needed are three: {', '.join(LABELS)}. A classifier "
            "with two cannot tell a statement that is denied from one that is not mentioned."
        )
    if given is not None:
        named = dict(enumerate(given))
    found = {label: [index for index, name in named.items() if _means(name, label)] for label in LABELS}
    if any(len(indices) != 1 for indices in found.values()):
        raise LabelError(
            f"The labels {named} do not say which of them is {', '.join(LABELS)}. Read the model's card and name them "
            "in the order of its logits, for instance: --labels contradiction,entailment,neutral"
        )
    first, second, third = (found[label][0] for label in LABELS)
    return first, second, third


def _means(name: str, label: str) -> bool:
    plain = name.strip().lower()
    return plain.startswith(_STEMS[label]) and not plain.startswith(_NEGATIONS)
