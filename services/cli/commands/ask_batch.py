"""``groundtrail ask --batch FILE``: JSON Lines in, JSON Lines out, one question and one result a line.

A line is a question as it stands, a JSON text, or an object with fields of ``DispatchRequest`` as the contract names
them. Results come in the order of the file, part by part: what one call takes, then the next. A request without an id
gets one from the file's bytes and its line: the same command over the same file meets what was done (24 h) and makes
no second window.
"""

import asyncio
import hashlib
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as dispatch
from google.protobuf.json_format import ParseDict, ParseError

from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.local_state import HeldSession, LocalState
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.rpc.canonical import message_json
from services.common.settings import Settings
from services.common.strict_json import read_json

PART: Final = 100
"""Queries of one call."""
TIMEOUT_S: Final = 900.0
_MOST_PROBLEMS: Final = 20
_STANDARD_INPUT: Final = Path("-")


async def ask_batch(settings: Settings, output: Output, path: Path) -> Exit:
    """Ask what stands in a file and print the results as they come.

    Raises:
        InvalidRequestError: INVALID_FIELD naming every line that cannot be asked; nothing was asked then.
        OSError: the file cannot be read.
    """
    content = await asyncio.to_thread(sys.stdin.buffer.read if path == _STANDARD_INPUT else path.read_bytes)
    requests = _requests(content)
    counts, state = Counter[str](), LocalState(Path(settings.store.data_dir))
    async with connect(settings) as suite:
        for start in range(0, len(requests), PART):
            for number, item in await _part(suite, requests[start : start + PART]):
                counts[_kind(item)] += 1
                _keep(item, state)
                output.line({"line": number, **message_json(item)}, always=True)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    output.note(f"{len(requests)} asked: {told}")
    if counts["failed"]:
        return Exit.FAILURE
    return Exit.VERDICT if counts["halted"] or counts["held for review"] else Exit.OK


async def _part(
    suite: Suite, asked: list[tuple[int, dispatch.DispatchRequest]]
) -> Iterator[tuple[int, dispatch.DispatchBatchItem]]:
    request = dispatch.DispatchBatchRequest(dispatches=[each for _, each in asked])
    found: dispatch.DispatchBatchResponse = await suite.call(suite.dispatch.DispatchBatch, request, timeout_s=TIMEOUT_S)
    return zip((number for number, _ in asked), found.items, strict=True)


def _keep(item: dispatch.DispatchBatchItem, state: LocalState) -> None:
    """Keep what continues the session of an answer: ``ask --session`` does."""
    if item.response.HasField("answer"):
        answer = item.response.answer
        state.keep_session(HeldSession(answer.session_id, answer.session_token, answer.continuation_id))


def _kind(item: dispatch.DispatchBatchItem) -> str:
    if item.HasField("failure"):
        return "failed"
    outcome = item.response.WhichOneof("outcome") or "answer"
    return {"answer": "answered", "held_for_review": "held for review", "not_modified": "not modified"}.get(
        outcome, outcome
    )


def _requests(content: bytes) -> list[tuple[int, dispatch.DispatchRequest]]:
    """Return the number of each line that asks, and what it asks."""
    digest, found, problems = hashlib.sha256(content).hexdigest(), [], list[FieldViolation]()
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            request = _request(line)
        except ValueError as error:
            problems.append(FieldViolation(f"line {number}", str(error)))
            continue
        request.request_id = request.request_id or _derived(digest, number)
        found.append((number, request))
    if problems:
        raise InvalidRequestError.of(*problems[:_MOST_PROBLEMS])
    if not found:
        raise InvalidRequestError.of(FieldViolation("--batch", "the file holds no question"))
    return found


def _request(line: bytes) -> dispatch.DispatchRequest:
    """Return the request of a line: a question as it stands, a JSON text, or a JSON object.

    Raises:
        ValueError: it is no UTF-8, or an object with other fields than the contract's.
    """
    if not line.lstrip(_MARK).lstrip().startswith(_JSON):
        return dispatch.DispatchRequest(query=_plain(line))
    try:
        value: Any = read_json(line.decode("utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"must be JSON in UTF-8: {error}") from None
    if isinstance(value, str):
        return dispatch.DispatchRequest(query=value)
    if not isinstance(value, dict):
        raise ValueError("must be a text, the question, or an object with fields of DispatchRequest")  # noqa: TRY004 - of input
    try:
        return ParseDict(_in_capitals(value), dispatch.DispatchRequest())
    except ParseError as error:
        raise ValueError(f"must hold fields of DispatchRequest: {str(error)[:200]}") from None


_MARK: Final = "\ufeff".encode()
_JSON: Final = (b"{", b"[", b'"')
"""How a line begins that is JSON; no question of people does."""


def _plain(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ValueError(f"must be in UTF-8: {error}") from None


def _in_capitals(value: dict[str, Any]) -> dict[str, Any]:
    """Return a request with enums by their names in the contract: ``strict`` is SAFETY_MODE_STRICT.

    Raises:
        ValueError: it holds what is no field.
    """
    fields = dispatch.DispatchRequest.DESCRIPTOR.fields_by_name
    if unknown := [name for name in value if name not in fields]:
        raise ValueError(f"must hold fields of DispatchRequest alone; {unknown[0][:64]!r} is none")
    return {name: _named(fields[name].enum_type, each) for name, each in value.items()}


def _named(enum: Any, value: Any) -> Any:
    if enum is None:
        return value
    if isinstance(value, list):
        return [_named(enum, each) for each in value]
    if not isinstance(value, str):
        return value
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    name = value.upper().replace("-", "_")
    return name if name.startswith(prefix) else prefix + name


def _derived(digest: str, number: int) -> str:
    made = hashlib.sha256(f"groundtrail-ask-batch/{digest}/{number}".encode()).digest()
    return str(uuid.UUID(bytes=made[:16], version=4))
