"""What a caller whose time is up is told: how far its call had come, what was stored, and what to do next."""

from dataclasses import dataclass
from typing import Final

from services.common.errors import DeadlineError, ErrorReason
from services.common.progress import Done, Progress

ALLOW_MORE_TIME: Final = "ALLOW_MORE_TIME"
REPEAT: Final = "REPEAT_WITH_SAME_REQUEST_ID"


@dataclass(frozen=True, slots=True)
class _Ending:
    text: str
    next: str


_ENDINGS: Final = {
    Done.NOTHING: _Ending("nothing was stored; allow more time", ALLOW_MORE_TIME),
    Done.UNKNOWN: _Ending(
        "it is not known whether all of it was stored; repeat it with the same request_id, which finds what was done "
        "and does the rest",
        REPEAT,
    ),
    Done.STORED: _Ending("it was stored; repeat it with the same request_id to get the answer", REPEAT),
}


def late(progress: Progress) -> DeadlineError:
    """Return the error of a call that was ended because its time is up."""
    return DeadlineError(ErrorReason.DEADLINE_EXCEEDED, f"the time was up while {progress.stage or 'it was worked on'}")


def told_truly(error: DeadlineError, progress: Progress) -> DeadlineError:
    """Return the error with what this call, not one that it made, leaves behind."""
    done = progress.done
    ending = _ENDINGS[done]
    metadata = {**error.metadata, "done": done.value, "next": ending.next}
    if progress.stage:
        metadata["stage"] = progress.stage
    said = error.message.rstrip(".")
    for peers in _ENDINGS.values():  # what a nested call left behind is no word about this one
        said = said.removesuffix(f": {peers.text}")
    text = f"{said}: {ending.text}"
    told = DeadlineError(error.reason, text, retry_after_s=error.retry_after_s)
    told.metadata = metadata
    return told
