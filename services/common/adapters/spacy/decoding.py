"""Finding a document's entities with spaCy's recogniser, all documents one step further at a time.

spaCy's own loop lets go of the interpreter's lock, and then its compiled states take and release the lock again for
every label of every token, which costs more than all its arithmetic. Stepped from here, by the methods by which spaCy's
training does, the lock is held and nothing waits; the arithmetic, the order and the batches are spaCy's own.
"""

from collections.abc import Sequence
from typing import Any, Final

_DOCUMENTS: Final = 64
"""Of a batch, of like lengths: what spaCy takes at once of the 256 that its ``pipe`` collects."""
_COLLECTED: Final = 4 * _DOCUMENTS


def can_step(pipeline: Any) -> bool:
    """Say whether a pipeline is one greedy entity recogniser and nothing else, so that ``annotate`` is all it does."""
    from spacy.pipeline import EntityRecognizer

    if pipeline.pipe_names != ["ner"]:
        return False
    recognizer = pipeline.get_pipe("ner")
    return isinstance(recognizer, EntityRecognizer) and recognizer.cfg["beam_width"] == 1


def annotate(recognizer: Any, documents: Sequence[Any]) -> None:
    """Set the entities of documents, as the recogniser's ``pipe`` does.

    Args:
        recognizer: the component of a pipeline that ``can_step``.
        documents: spaCy's ``Doc``, without entities.
    """
    for start in range(0, len(documents), _COLLECTED):
        by_length = sorted(documents[start : start + _COLLECTED], key=len)
        for first in range(0, len(by_length), _DOCUMENTS):
            some = by_length[first : first + _DOCUMENTS]
            recognizer.set_annotations(some, _states(recognizer, some))


def _states(recognizer: Any, documents: Sequence[Any]) -> list[Any]:
    """Return the final state of each document."""
    states: list[Any] = recognizer.moves.init_batch(documents)
    going_on = [state for state in states if not state.is_final()]
    if going_on:
        model = recognizer.model.predict(documents)
        while going_on:
            going_on = recognizer.transition_states(going_on, model.predict(going_on))
        model.clear_memory()
    return states
