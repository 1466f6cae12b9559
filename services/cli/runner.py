"""Runs one command: reads the settings, runs its coroutine, and turns every failure into a message and an exit code."""

import asyncio
from collections.abc import Awaitable, Callable
from textwrap import wrap
from typing import Final

import typer

from services.cli.console import Output
from services.cli.exits import Exit, exit_of
from services.common.document_kinds import ACCEPTED
from services.common.errors import CrpError, ErrorReason, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.telemetry import configure_logs

_HINT_CHARS: Final = 116
_HINTS: Final = {
    ErrorReason.CREDENTIAL_MISSING: "set GROUNDTRAIL_CLIENT__API_KEY, or unset GROUNDTRAIL_CLIENT__SERVER",
    ErrorReason.CREDENTIAL_INVALID: "`groundtrail keys create` makes a key; give it in GROUNDTRAIL_CLIENT__API_KEY",
    ErrorReason.ROLE_MISSING: "`groundtrail keys create --role …` makes a key with another role: with an admin's key, "
    "or where the data are, without GROUNDTRAIL_CLIENT__SERVER",
    ErrorReason.SERVICE_UNAVAILABLE: "is `groundtrail serve` running at GROUNDTRAIL_CLIENT__SERVER, and does "
    "GROUNDTRAIL_CLIENT__CA_FILE fit its TLS?",
    ErrorReason.MASTER_KEY_MISMATCH: "`groundtrail doctor` names the versions; docs/errors.md says what to do",
    ErrorReason.SESSION_NOT_FOUND: "`groundtrail sessions` lists the sessions of this tenant",
    ErrorReason.REPORT_NOT_FOUND: "`groundtrail sessions` lists the reports of this tenant",
    ErrorReason.AI_SYSTEM_NOT_FOUND: "`groundtrail systems list` lists those that are registered, `groundtrail systems "
    "register FILE` registers one",
    ErrorReason.PROVIDER_NOT_FOUND: "`groundtrail providers list` lists those that there are",
    ErrorReason.SESSION_EXPIRED: "ask again without --session to start a new session",
    ErrorReason.SESSION_HELD: "`groundtrail sessions release` ends a session's hold, `sessions set-rules` the tenant's",
    ErrorReason.TOKEN_EXPIRED: "ask again without --session to start a new session",
    ErrorReason.TOKEN_SPENT: "the session went on elsewhere; ask again without --session",
    ErrorReason.UNSUPPORTED_MEDIA: f"{ACCEPTED} can be ingested",
    ErrorReason.DOCUMENT_WITHOUT_TEXT: "run a text recogniser (OCR) over the file first",
    ErrorReason.LLM_UNAVAILABLE: "check GROUNDTRAIL_LLM__*, or unset it to use the extractive answerer",
    ErrorReason.STORAGE_FULL: "free some space under GROUNDTRAIL_STORE__DATA_DIR; nothing was half-written",
    ErrorReason.MODEL_UNAVAILABLE: "`groundtrail doctor` checks the weights",
}

_LISTED: Final = {
    "session_id": "`groundtrail sessions` lists the sessions of this tenant",
    "source_id": "`groundtrail sources` lists the sources with their ids",
    "fact_id": "`groundtrail search` finds facts with their ids",
    "key_id": "`groundtrail keys list` lists the keys with their ids",
    "review_id": "`groundtrail reviews list` lists the answers that wait, with their ids",
}
"""Where the ids are to be had that a field takes."""
_TOLD_AS_ERRORS: Final = ("the transparency log does not hold together",)
"""What a server logs for its operator, and a command tells as its error."""

Command = Callable[[Settings, Output], Awaitable[Exit]]


def run(command: Command, *, as_json: bool) -> None:
    """Run the command and leave the process with its exit code."""
    output = Output(as_json=as_json)
    try:
        settings = load_settings()
    except SettingsError as error:
        output.error("the settings cannot be used", reason="SETTINGS_INVALID", hint="\n  ".join(error.problems))
        raise typer.Exit(Exit.USAGE) from None
    warned = settings.telemetry.model_copy(update={"log_level": "warning"})
    configure_logs(warned, told_elsewhere=_TOLD_AS_ERRORS)
    try:
        code = asyncio.run(_run(command, settings, output))
    except (StartupError, SettingsError) as error:
        output.error(f"cannot start: {error}", reason="STARTUP_FAILED", hint="`groundtrail doctor` looks for the cause")
        raise typer.Exit(Exit.FAILURE) from None
    except KeyboardInterrupt:
        output.error("stopped; what was acknowledged stays", reason="INTERRUPTED")
        raise typer.Exit(130) from None
    raise typer.Exit(code)


def hint_of(error: CrpError) -> str:
    """Return what to do about an error; empty where nothing is known."""
    if error.metadata.get("code") == "UNIMPLEMENTED":  # one service of several processes, or an RPC not furnished
        return "name the process that serves it in GROUNDTRAIL_CLIENT__SERVER, or a proxy before all of them"
    known = str(error.metadata.get("known", ""))
    if error.reason is ErrorReason.UNKNOWN_DIRECTIVE and known and known not in error.message:
        return "\n  ".join(wrap(f"there are {known}", _HINT_CHARS, break_on_hyphens=False))
    if error.reason is ErrorReason.INVALID_FIELD and error.violations:
        return _LISTED.get(error.violations[0].field, "")
    return _HINTS.get(error.reason, "")


async def _run(command: Command, settings: Settings, output: Output) -> Exit:
    try:
        return await command(settings, output)
    except CrpError as error:
        fields = [{"field": v.field, "description": v.description} for v in error.violations]
        output.error(error.message, reason=error.reason.value, hint=hint_of(error), fields=fields)
        return exit_of(error)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        output.error(f"{name}{error.strerror or error}", reason="FILE_UNUSABLE")
        return Exit.FAILURE
