"""Every metric that the suite serves has a line in the operator's table."""

import re
from pathlib import Path

import httpx

from services.common.settings import TelemetrySettings
from tests.patience import patient
from tests.rpc.test_gateway_tenant_policy import served

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
FAMILY = re.compile(r"^# TYPE (groundtrail_\w+) (?:counter|gauge|histogram)$", re.MULTILINE)
CREATED = "_created"
"""When a counter began: the library's own, beside each."""


async def test_what_is_served_stands_in_the_table(tmp_path):
    async with served(tmp_path, telemetry=TelemetrySettings(http_port=0)) as doors:
        await doors.checked()
        async with httpx.AsyncClient(timeout=patient(10)) as http:
            told = await http.get(f"http://127.0.0.1:{doors.server.telemetry_port}/metrics")
    served_ones = {name for name in FAMILY.findall(told.text) if not name.endswith(CREATED)}
    table = {line for line in OPERATIONS.read_text(encoding="utf-8").splitlines() if line.startswith("| `groundtrail_")}
    documented = set(re.findall(r"`(groundtrail_\w+)`", " ".join(table)))
    assert len(served_ones) > 50
    assert served_ones - documented == set()
