"""What ``groundtrail doctor`` says of the transparency logs in sessions.db: each is computed anew, none is changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from services.common.adapters.sqlite.log_rows import log_state, logged_tenants, page_log
from services.common.errors import LogInconsistentError
from services.dag.domain.log_audit import LogAudit, check_floor

_PAGE: Final = 5_000


def log_faults(path: Path) -> Iterator[tuple[str, str]]:
    """Yield tenant and fault of every log that does not hold together; kept heads are compared without their MAC.

    Raises:
        sqlite3.Error: the file cannot be read, or is of a version before the kept heads.
    """
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=2.0)) as database:
        database.execute("BEGIN")  # one picture, whatever is written meanwhile
        for tenant_id in logged_tenants(database):
            try:
                _audit(database, tenant_id)
            except LogInconsistentError as error:
                yield tenant_id, error.metadata["detail"]


def _audit(database: sqlite3.Connection, tenant_id: str) -> None:
    state = log_state(database, tenant_id)
    check_floor(state)
    audit = LogAudit(state)
    while not audit.done:
        audit.take(page_log(database, tenant_id, audit.read - 1, _PAGE))
    audit.finish()
    if page_log(database, tenant_id, audit.read - 1, 1):
        raise LogInconsistentError.of(f"its size is {state.size}, and there are leaves beyond that")
