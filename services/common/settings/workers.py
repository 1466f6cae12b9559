"""Settings of the processes that do the work which may have to be ended (ADR 0085)."""

from pydantic import BaseModel, ConfigDict, Field


class WorkerSettings(BaseModel):
    """``GROUNDTRAIL_WORKERS__*``: how many there are of each kind, and what one of them may take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text_processes: int = Field(default=1, ge=1, le=64)
    """Processes that find entities and personal data, started when text comes. About 130 MiB each. 1-64, default 1."""

    text_memory_mib: int = Field(default=1_024, ge=512, le=1_048_576)
    """Address space of one of them; a turn that needs more fails (MODEL_UNAVAILABLE). MiB, 512 and more,
    default 1,024."""

    text_limit_s: float = Field(default=60.0, gt=0.0, le=3_600.0)
    """Processor time that one turn (up to 64 texts) may take there; beyond it it fails (MODEL_UNAVAILABLE). Seconds,
    above 0, at most 3,600, default 60."""

    document_processes: int = Field(default=2, ge=1, le=64)
    """Documents that are read and cut into facts at once, each in a process. About 120 MiB each besides the document.
    1-64, default 2."""

    document_memory_mib: int = Field(default=2_048, ge=512, le=1_048_576)
    """Address space of one of them; a document that needs more is refused (DOCUMENT_TOO_COMPLEX). MiB, 512 and more,
    default 2,048."""

    document_limit_s: float = Field(default=120.0, gt=0.0, le=86_400.0)
    """Processor time that one document may take there; beyond it it is refused (DOCUMENT_TOO_COMPLEX). Seconds, above
    0, at most 86,400, default 120."""

    document_queue_mib: int = Field(default=256, ge=1, le=1_048_576)
    """Documents of one tenant that may wait to be read, together; one may wait whatever its size. Beyond it its call is
    refused (QUEUE_FULL), and nobody else's. MiB, 1 and more, default 256."""

    idle_s: float = Field(default=300.0, gt=0.0, le=86_400.0)
    """Time after which a process without work is ended; the next work starts one again, which takes one to three
    seconds. Seconds, above 0, at most 86,400, default 300."""
