"""Where the driver's errors end: nothing above the adapters ever sees one.

A constraint that does not hold means that another writer came first. What the server, the network or the way there
causes is STORE_UNAVAILABLE. Anything else is a mistake of ours and passes through unchanged, to be reported as
INTERNAL. Neo4j's own message may name hosts and hold values, so that only its status goes to callers; the message
stands in the log, as the cause of the error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from neo4j.exceptions import ConstraintError, DriverError, IncompleteCommit, Neo4jError, ServiceUnavailable

from services.common.errors import ConflictError, CrpError, ErrorReason, UnavailableError

STORE: Final = "neo4j"
RETRY_S: Final = 1.0
"""``retry_after_s`` of a failure that time can heal."""
_RETRY_REFUSED_S: Final = 30.0
_HEALED_BY_TIME: Final = ("Neo.TransientError.", "Neo.DatabaseError.", "Neo.ClientError.Transaction.")
_REFUSED: Final = {
    "Neo.ClientError.Security.": "it refuses the user; check GROUNDTRAIL_NEO4J__USER, __PASSWORD and the user's rights",
    "Neo.ClientError.Database.": "it has no such database; check GROUNDTRAIL_NEO4J__DATABASE",
}

_ON_THE_WAY: Final = (
    (
        IncompleteCommit,
        "the connection was lost during a commit, which may have been made; repeat it under the same request_id",
        "incomplete_commit",
    ),
    (ServiceUnavailable, "it cannot be reached", "unreachable"),
    (TimeoutError, "it did not answer in time", "timeout"),
    (DriverError, "a connection was lost, or none became free in time", "no_connection"),
)
"""The first that fits counts."""


def race(what: str) -> ConflictError:
    """Build the error for a writer that came second."""
    return ConflictError(ErrorReason.COMMIT_RACE, f"{what}: another writer came first; read the session again")


def unavailable(why: str, cause: str, retry_after_s: float = RETRY_S) -> UnavailableError:
    """Build the error for a store that cannot serve now.

    Args:
        why: for people.
        cause: a stable word or Neo4j's status, for programs.
        retry_after_s: seconds after which a retry can help.
    """
    message = f"Neo4j cannot serve: {why}"
    return UnavailableError(
        ErrorReason.STORE_UNAVAILABLE, message, retry_after_s=retry_after_s, store=STORE, cause=cause
    )


def translate(error: Exception) -> CrpError | None:
    """Return what an error of the driver means to a caller, ``None`` when it is a mistake of ours."""
    if isinstance(error, ConstraintError):
        return race("an id, a place in the chain or the root is taken")
    for kind, why, cause in _ON_THE_WAY:
        if isinstance(error, kind):
            return unavailable(why, cause)
    return _of_status(error.code or "") if isinstance(error, Neo4jError) else None


def _of_status(code: str) -> UnavailableError | None:
    for start, why in _REFUSED.items():
        if code.startswith(start):
            return unavailable(why, code, _RETRY_REFUSED_S)
    if code.startswith(_HEALED_BY_TIME):
        return unavailable(f"it gave up ({code})", code)
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Translate the driver's errors of a block."""
    try:
        yield
    except (DriverError, Neo4jError, TimeoutError) as error:
        meaning = translate(error)
        if meaning is None:
            raise
        raise meaning from error
