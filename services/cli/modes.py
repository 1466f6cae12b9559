"""The modes of retrieval as words of the command line."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.common.errors import FieldViolation, InvalidRequestError

_PREFIX: Final = "SEARCH_MODE_"


def search_mode(option: str, word: str) -> str:
    """Return the contract's name of the mode that a word such as ``late-interaction`` means.

    Raises:
        InvalidRequestError: INVALID_FIELD naming the option, with the words that there are.
    """
    name = f"{_PREFIX}{word.upper().replace('-', '_')}"
    known = knowledge.SearchMode.keys()[1:]
    if name not in known:
        modes = ", ".join(each.removeprefix(_PREFIX).lower().replace("_", "-") for each in known)
        raise InvalidRequestError.of(FieldViolation(option, f"{word} is none of {modes}"))
    return name
