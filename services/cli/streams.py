"""The command's streams: any terminal can show what is said, and a reader that goes away ends nothing.

``groundtrail … | head -1`` closes the pipe while the command still works and speaks. What is said from then on goes
nowhere; the work is done to its end and the exit code is its verdict, as if somebody had listened.
"""

import io
import sys
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STREAMS: Final = ("stdout", "stderr")


class _Patient(io.FileIO):
    """A file whose reader may go away."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write the bytes; when nobody reads any more they count as written."""
        try:
            return cast("int", super().write(data))  # the streams block, so that there is always a count
        except BrokenPipeError:
            return memoryview(data).nbytes


def settle_streams() -> None:
    """Replace this process's streams by such ones; a character that their encoding lacks is shown as its escape."""
    for name in _STREAMS:
        stream = getattr(sys, name)
        try:
            number = stream.fileno()
        except (AttributeError, OSError, ValueError):  # none, or an object of whoever runs us
            continue
        stream.flush()
        patient = io.TextIOWrapper(
            io.BufferedWriter(_Patient(number, "wb", closefd=False)),
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        setattr(sys, name, patient)
