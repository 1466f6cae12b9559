"""Held answers, feedback and violation reports are on disk whatever store sessions and knowledge are in (ADR 0148)."""

import pytest

from services.common.composition import Adapters
from services.common.settings import Settings
from services.common.settings.neo4j import Neo4jSettings
from services.common.settings.stores import StoreSettings
from tests.contract.records import NOW
from tests.contract.test_feedback_store_contract import said
from tests.contract.test_review_store_contract import review
from tests.contract.test_violation_report_store_contract import report

NOWHERE = Neo4jSettings(uri="bolt://127.0.0.1:1")


@pytest.mark.parametrize("sessions", ["sqlite", "neo4j"])
async def test_they_outlive_the_process_and_need_no_neo4j(tmp_path, sessions):
    settings = Settings(store=StoreSettings(data_dir=tmp_path, sessions=sessions), neo4j=NOWHERE)
    async with Adapters(settings) as before:
        await (await before.reviews()).add(review())
        await (await before.feedback()).put(said())
        assert await (await before.violation_reports()).file([report()], 9) == 0
    assert (tmp_path / "oversight.db").is_file()
    async with Adapters(settings) as after:
        assert await (await after.reviews()).get("tenant-a", "r1") == review()
        assert await (await after.feedback()).page("t", "", after="", limit=9) == [said()]
        assert await (await after.violation_reports()).take(NOW, NOW, 9, ()) == [report()]
