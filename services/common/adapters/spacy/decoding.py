"""Finding a document's entities with spaCy's recogniser, all documents one step further at a time.

spaCy's own loop lets go of the interpreter's lock, and then its compiled states take and release the lock again for
every label of every token, which costs more than all its arithmetic. Stepped from here, by the methods by which spaCy's
training does, the lock is held and nothing waits; the arithmetic and the order are spaCy's own, and so are the batches
where they are not of too many tokens.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

_DOCUMENTS: Final = 64
"""Of a batch, of like lengths: what spaCy takes at once of the 256 that its ``pipe`` collects."""
_COLLECTED: Final = 4 * _DOCUMENTS
MOST_TOKENS: Final = 8_192
"""Of a batch, but for a document that is longer: each takes 16 kB while the model computes, and 60,000 of them took all
the memory that a process of ``TextWorkers`` may have. Prose of 64 sentences has some 2,000."""


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
            for some in _batches(by_length[first : first + _DOCUMENTS]):
                recognizer.set_annotations(some, _states(recognizer, some))


def _batches(documents: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the documents in order, as many at once as have ``MOST_TOKENS``, one at least."""
    first = tokens = 0
    for at, document in enumerate(documents):
        if at > first and tokens + len(document) > MOST_TOKENS:
            yield documents[first:at]
            first, tokens = at, 0
        tokens += len(document)
    yield documents[first:]


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
