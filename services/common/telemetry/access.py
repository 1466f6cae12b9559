"""The access line of a call: the one line that every call writes, so its price counts.

It has the same form as every other line. In JSON it is put together by hand, since all its parts are known to need no
escaping, or are escaped once and remembered; that costs a fraction of a pass through the general chain.
"""

import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TextIO

from services.common.telemetry.logs import json_stream, scrub

REMEMBERED_TENANTS: Final = 1024


@dataclass(slots=True)
class AccessLine:
    """What a call was.

    Attributes:
        rpc: full method name.
        code: name of the status code.
        reason: the error reason; empty when there was none.
        seconds: from arrival to the last byte.
        request_id: of [A-Za-z0-9._:-] alone.
        tenant: empty when the caller was not proven.
        notes: what the app noted.
    """

    rpc: str
    code: str
    reason: str
    seconds: float
    request_id: str
    tenant: str
    notes: Mapping[str, str]


class AccessLog:
    """Writes access lines the way the process's logs are configured when it is made."""

    def __init__(self, log: Any) -> None:
        self._log = log.bind()
        self._out: TextIO | None = json_stream()
        self._second = 0
        self._second_text = ""

    def write(self, line: AccessLine) -> None:
        """Write one line."""
        if self._out is None:
            self._log.info(
                "rpc",
                rpc=line.rpc,
                code=line.code,
                reason=line.reason,
                duration_ms=round(line.seconds * 1000, 3),
                request_id=line.request_id,
                tenant=line.tenant,
                **line.notes,
            )
            return
        notes = "".join(f',"{key}":{json.dumps(value)}' for key, value in line.notes.items())
        text = (
            f'{{"event":"rpc","level":"info","timestamp":"{self._now()}","rpc":"{line.rpc}","code":"{line.code}"'
            f',"reason":"{line.reason}","duration_ms":{line.seconds * 1000:.3f},"request_id":"{line.request_id}"'
            f',"tenant":{_quoted(line.tenant)}{notes}}}\n'
        )
        self._out.write(scrub(text))
        self._out.flush()

    def _now(self) -> str:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._second_text}.{int((now - second) * 1e6):06d}Z"


@functools.lru_cache(maxsize=REMEMBERED_TENANTS)
def _quoted(text: str) -> str:
    return json.dumps(text)
