"""Parts of the suite that a command starts alone: they ask the dag service, and nothing else has to be there."""

import pytest

from services.allinone.embedded import embedded
from services.allinone.parts import Part
from services.common.settings import Settings, StoreSettings
from tests.rpc.test_gateway_suite import MemoryAdapters


@pytest.mark.parametrize(
    "parts",
    [(Part.SESSIONS, Part.REVIEWS), (Part.SESSIONS, Part.FEEDBACK), (Part.SESSIONS, Part.ADMIN)],
    ids=["reviews", "feedback", "policy"],
)
async def test_a_part_starts_with_what_it_asks(tmp_path, parts):
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    async with MemoryAdapters(settings) as adapters, embedded(settings, adapters=adapters, parts=parts) as system:
        assert await system.first_key()
