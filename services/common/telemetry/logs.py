"""Structured logs on stderr: one JSON object per line, or coloured text for people.

Two guards keep secrets out: values under telling keys are replaced, and the finished line is searched for anything
that looks like an API key, a JWT or a bearer credential. Content (prompts, facts, claims) is written only through
``content`` and only when ``telemetry.log_content`` is on.
"""

import json
import logging
import re
import sys
from collections.abc import Collection, MutableMapping
from typing import Any, Final, TextIO

import structlog

from services.common.context import current_call
from services.common.settings.telemetry import TelemetrySettings
from services.common.telemetry.notes import current_notes

HIDDEN: Final = "[hidden]"
_SECRET_KEYS: Final = frozenset(
    {"authorization", "credential", "api_key", "token", "session_token", "secret", "password", "key_material", "jwt"}
)
_SECRET_TEXT: Final = re.compile(
    r"(?P<key>crp_gw_[a-z]{2,16}_[A-Za-z0-9]{8})[A-Za-z0-9]{8,}"  # an API key: its prefix may stay
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?"  # a JWT
    r"|(?i:bearer)\s+[^\s\"'\\]{8,}"
    r"|crp_cont_[A-Za-z0-9]{32}"  # a continuation id opens a window (SPEC-004 §17.1)
)
_ENCODE: Final = json.JSONEncoder(default=str, ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_shows_content = False
_json_stream: TextIO | None = None


def scrub(line: str) -> str:
    """Return ``line`` with whatever looks like a credential replaced."""
    if "crp_" not in line and "eyJ" not in line and "earer" not in line and "EARER" not in line:
        return line
    return _SECRET_TEXT.sub(lambda found: f"{found['key']}{HIDDEN}" if found["key"] else HIDDEN, line)


def content(text: str) -> str:
    """Return ``text`` for a log or span when content is allowed there, else only its length."""
    return text if _shows_content else f"[{len(text)} characters]"


def json_stream() -> TextIO | None:
    """Return where lines of the level info go as JSON; ``None`` when they are not written, or not as JSON."""
    return _json_stream


def configure_logs(
    settings: TelemetrySettings, stream: TextIO | None = None, *, told_elsewhere: Collection[str] = ()
) -> None:
    """Set up structlog, and Python's own logging through it, for this process.

    Args:
        settings: format, level, and whether content may appear.
        stream: where lines go; stderr when not given.
        told_elsewhere: events that get no line, because whoever reads the lines is told them in another way.
    """

    def leave_out(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if event.get("event") in told_elsewhere:
            raise structlog.DropEvent
        return event

    global _shows_content, _json_stream  # noqa: PLW0603 - set once per process, like structlog's own configuration
    _shows_content = settings.log_content
    out = stream if stream is not None else sys.stderr
    level = _LEVELS[settings.log_level]
    _json_stream = out if settings.log_format == "json" and level <= logging.INFO else None
    shared: list[structlog.typing.Processor] = [
        leave_out,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_call,
        _hide_secret_keys,
    ]
    renderers = _renderers(settings)
    structlog.configure(
        processors=[*shared, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.WARNING))  # libraries speak up only when something is wrong


def _renderers(settings: TelemetrySettings) -> list[structlog.typing.Processor]:
    if settings.log_format == "console":
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback), _scrub_line]
    return [structlog.processors.format_exc_info, _render_json, _scrub_line]


def _add_call(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Name the running call in every line that is written within it."""
    try:
        call = current_call()
    except LookupError:
        return event
    event.setdefault("request_id", call.request_id)
    event.setdefault("tenant", call.caller.tenant_id)
    for key, value in current_notes().items():
        event.setdefault(key, value)
    return event


def _hide_secret_keys(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in event.keys() & _SECRET_KEYS:
        event[key] = HIDDEN
    return event


def _render_json(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    return _ENCODE(event)


def _scrub_line(_: Any, __: str, line: Any) -> str:
    return scrub(_encodable(str(line)))


def _encodable(line: str) -> str:
    """Write a lone surrogate, as a hostile model's text may hold, as its escape: no stream takes it as it is."""
    return line if line.isascii() else line.encode("utf-8", "backslashreplace").decode("utf-8")
