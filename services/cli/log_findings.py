"""What ``groundtrail doctor`` says of the transparency logs in sessions.db: each is computed anew, none is changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from services.common.adapters.sqlite.log_reader import LogReader, reading_logs
from services.common.errors import LogInconsistentError
from services.dag.domain.log_audit import LogAudit, check_floor

_PAGE: Final = 5_000


def log_faults(path: Path) -> Iterator[tuple[str, str]]:
    """Yield tenant and fault of every log that does not hold together; kept heads are compared without their MAC.

    Raises:
        sqlite3.Error: the file cannot be read, or is of a version before the kept heads.
    """
    with reading_logs(path) as logs:
        for tenant_id in logs.tenants():
            try:
                _audit(logs, tenant_id)
            except LogInconsistentError as error:
                yield tenant_id, error.metadata["detail"]


def _audit(logs: LogReader, tenant_id: str) -> None:
    state = logs.state(tenant_id)
    check_floor(state)
    audit = LogAudit(state)
    while not audit.done:
        audit.take(logs.page(tenant_id, audit.read - 1, _PAGE))
    audit.finish()
    if logs.page(tenant_id, audit.read - 1, 1):
        raise LogInconsistentError.of(f"its size is {state.size}, and there are leaves beyond that")
