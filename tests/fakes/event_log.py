"""Audit events in a session store, with the leaves that a feed reads; shaped as dag writes them, chained by nobody."""

import hashlib

from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind, LogLeaf
from tests.contract.records import digest, event, session


async def append(store, session_id, count, *, tenant="tenant-a", **changes):
    """Append ``count`` events to a session in one step each, and return their ids."""
    ids = []
    for _ in range(count):
        snapshot = await store.snapshot(tenant, session_id)
        version = snapshot.session.version + 1 if snapshot else 1
        last = snapshot.last_event.sequence if snapshot and snapshot.last_event else -1
        values = {"event_id": f"{tenant}/{session_id}/{last + 1}", "event_type": "TOOL_CALL"}
        record = event(session_id, last + 1, **(values | changes))
        name = f"{tenant}/{session_id}/{record.sequence}"
        leaf = LogLeaf(
            session_id, LeafKind.EVENT, record.event_id, record.sequence, digest(name),
            hashlib.sha256(name.encode()).digest(),
        )  # fmt: skip
        await store.write(
            SessionChange(session(session_id, version, tenant_id=tenant), events=(record,), leaves=(leaf,))
        )
        ids.append(record.event_id)
    return ids
