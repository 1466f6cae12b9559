"""Why a job has no answer; for the adapter that gave the job, which says it in its caller's terms."""

from typing import Literal


class WorkerError(Exception):
    """A job has no answer. Never holds a text of the job's."""

    @property
    def told(self) -> str:
        """What a caller may be told."""
        return str(self)


class JobLimitError(WorkerError):
    """The job took more than its time or memory; its process was ended."""

    def __init__(self, limit: Literal["time", "memory"]) -> None:
        super().__init__(f"over its limit of {limit}")
        self.limit = limit


class JobFailedError(WorkerError):
    """The job raised; ``cause`` is the name of the exception's class."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class WorkerLostError(WorkerError):
    """The job's process crashed, or two in a row were ended by somebody else."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"the process ended with status {status}")
        self.status = status


class WorkerStartError(WorkerError):
    """No process could be started; the message says why, to operators: it may name files."""

    @property
    def told(self) -> str:
        """What a caller may be told."""
        return "its process cannot be started"


class QueueFullError(WorkerError):
    """So much of the tenant waits already that the job may not."""

    def __init__(self) -> None:
        super().__init__("its queue is full")


class WorkersClosedError(WorkerError):
    """The pool is closed: this process is going down."""

    def __init__(self) -> None:
        super().__init__("closed")
