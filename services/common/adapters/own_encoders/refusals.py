"""Why a folder, a file of pairs or a name is refused: stable reasons for programs, a sentence for people.

They are a command's own and are never sent: what a running process finds wrong with a model that was added is a
``ModelRepositoryError``, as for delivered ones.
"""

from enum import StrEnum, unique


@unique
class Refusal(StrEnum):
    """Stable reason codes of ``groundtrail models``; docs/how-to/bring-your-own-encoder.md lists them."""

    FOLDER_MISSING = "FOLDER_MISSING"
    FILE_MISSING = "FILE_MISSING"
    FILE_UNREADABLE = "FILE_UNREADABLE"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    PATH_ESCAPES = "PATH_ESCAPES"
    PICKLE_REFUSED = "PICKLE_REFUSED"
    ARCHITECTURE_UNSUPPORTED = "ARCHITECTURE_UNSUPPORTED"
    LABELS_UNKNOWN = "LABELS_UNKNOWN"
    TOKENIZER_UNUSABLE = "TOKENIZER_UNUSABLE"
    TOKENS_DIFFER = "TOKENS_DIFFER"
    VOCABULARY_MISMATCH = "VOCABULARY_MISMATCH"
    TEMPLATE_INVALID = "TEMPLATE_INVALID"
    MAX_TOKENS_UNKNOWN = "MAX_TOKENS_UNKNOWN"
    MAX_TOKENS_INVALID = "MAX_TOKENS_INVALID"
    GRAPH_UNUSABLE = "GRAPH_UNUSABLE"
    INPUTS_UNSUPPORTED = "INPUTS_UNSUPPORTED"
    OUTPUTS_UNSUPPORTED = "OUTPUTS_UNSUPPORTED"
    CONVERTER_MISSING = "CONVERTER_MISSING"
    CONVERSION_FAILED = "CONVERSION_FAILED"
    NAME_INVALID = "NAME_INVALID"
    NAME_TAKEN = "NAME_TAKEN"
    MODEL_UNKNOWN = "MODEL_UNKNOWN"
    MODEL_UNFIT = "MODEL_UNFIT"
    ROWS_INVALID = "ROWS_INVALID"
    ROWS_TOO_FEW = "ROWS_TOO_FEW"


class OwnModelError(Exception):
    """What was asked cannot be done; nothing was written.

    Args:
        reason: the stable code.
        message: what is wrong, and what to do next.
    """

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
