"""``groundtrail erase``: a session's content goes for good; its hashes, HMACs and proofs stay (ADR 0055)."""

import uuid
from typing import Final

from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import PreconditionError
from services.common.settings import Settings

_GONE: Final = frozenset({"ERASED", "TOMBSTONED"})


async def erase(settings: Settings, output: Output, session_id: str, reason: str) -> Exit:
    """Erase a session's content; needs the role admin."""
    request = sessions.EraseSessionRequest(request_id=str(uuid.uuid4()), session_id=session_id, reason=reason)
    async with connect(settings, Part.SESSIONS) as suite:
        try:
            found: sessions.EraseSessionResponse = await suite.call(suite.sessions.EraseSession, request)
        except PreconditionError as error:
            if error.metadata.get("status") not in _GONE:
                raise
            text = f"the content of {session_id} was erased before; there is nothing left to erase"
            raise PreconditionError(error.reason, text, session_id=session_id) from None
    output.say(
        f"{session_id} erased. Answers: {found.windows_erased}, reports: {found.reports_erased}, "
        f"events: {found.events_erased}. Its chain can still be verified and is TRUNCATED.",
        style="green",
    )
    output.say("Not reached: exports that were made, what an event sink delivered, and backups.", style="yellow")
    output.result(render.response_json(found))
    return Exit.OK
