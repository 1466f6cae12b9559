"""The publisher's composition: which places heads go to, and who is asked to cosign them."""

import uuid
from typing import Final

from services.common.composition import Adapters
from services.common.settings.checkpoints import CheckpointSettings
from services.dag.publishing import (
    Cosigning,
    EndpointTarget,
    FileTarget,
    HeadSource,
    Publisher,
    PublisherParts,
    Target,
)

PUBLISHING: Final = "checkpoints"


async def open_publisher(settings: CheckpointSettings, adapters: Adapters, source: HeadSource) -> Publisher | None:
    """Return the configured publisher, started, or ``None`` when heads go nowhere; the adapters close it.

    Args:
        settings: of the publisher.
        adapters: of the process.
        source: heads and proofs.

    Raises:
        SettingsError: a secret or a certificate cannot be used.
    """
    if not settings.wanted:
        return None
    targets: list[Target] = [FileTarget(settings.file)] if settings.file else []
    endpoint = await adapters.checkpoint_endpoint()
    if endpoint is not None:
        targets.append(EndpointTarget(endpoint))
    witnesses = [Cosigning(witness, source.log) for witness in await adapters.witnesses()]
    feed = await adapters.event_feed()
    parts = PublisherParts(feed, source, targets, witnesses, adapters.clock, holder=uuid.uuid4().hex)
    publisher = Publisher(parts, settings)
    adapters.closing(publisher.close)
    publisher.start()
    return publisher
