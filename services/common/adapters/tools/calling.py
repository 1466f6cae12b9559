"""``ToolBox`` over HTTP and MCP: judged addresses alone, no redirect, a bound for time and bytes (ADR 0161)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx

from services.common.adapters.http.event_endpoint import read_secret
from services.common.adapters.http.guarded import (
    MAX_ANSWER_BYTES,
    ForbiddenAddressError,
    GuardedHost,
    HostTraits,
    Resolve,
    named,
    resolve,
)
from services.common.adapters.tools.registry import RegisteredTool, read_registry
from services.common.ports.tool_box import ListedTool, NoTools, ToolBox, ToolEnd, ToolReply
from services.common.settings import SettingsError, ToolSettings

_TEXT: Final = ("text/", "application/json")


class Caller(Protocol):
    """How one kind of tool is called."""

    async def call(self, tool: RegisteredTool, arguments: Mapping[str, Any], token: str) -> ToolReply:
        """Return what it answered. Raises what httpx raises, OSError and ForbiddenAddressError."""
        ...

    async def close(self) -> None:
        """Close the connections; idempotent."""
        ...


class CalledTools:
    """The tools of a registry.

    Args:
        tools: of the registry.
        callers: by kind.
        settings: bounds.
    """

    def __init__(self, tools: Sequence[RegisteredTool], callers: Mapping[str, Caller], settings: ToolSettings) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._callers = callers
        self._settings = settings

    def listed(self, tenant_id: str) -> tuple[ListedTool, ...]:
        """Return the tools of a tenant."""
        return tuple(
            ListedTool(tool.name, tool.description, tool.parameters, tool.importance)
            for tool in self._tools.values()
            if not tool.tenants or tenant_id in tool.tenants
        )

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        """Call a tool once."""
        try:
            return await self._called(self._tools[name], arguments)
        except ForbiddenAddressError as error:
            reason = str(error)
        except SettingsError as error:
            reason = error.problems[0]
        except httpx.HTTPError as error:
            reason = named(error)
        except OSError as error:
            reason = error.strerror or type(error).__name__
        return ToolReply(ToolEnd.FAILED, reason=reason)

    async def _called(self, tool: RegisteredTool, arguments: Mapping[str, Any]) -> ToolReply:
        try:
            file = tool.bearer_token_file
            token = "" if file is None else await asyncio.to_thread(read_secret, file, 1)
            async with asyncio.timeout(self._settings.timeout_s):
                reply = await self._callers[tool.kind].call(tool, arguments, token)
        except TimeoutError:
            return ToolReply(ToolEnd.TIMED_OUT, reason=f"no answer within {self._settings.timeout_s:g} s")
        if len(reply.text.encode()) > self._settings.max_result_bytes:
            return too_long(self._settings.max_result_bytes)
        return reply

    async def close(self) -> None:
        """Close the connections."""
        for caller in self._callers.values():
            await caller.close()


class HttpTools:
    """Calls tools by a POST with the arguments as JSON object.

    Args:
        settings: what may be talked to.
        resolver: tells a host's addresses.
    """

    def __init__(self, settings: ToolSettings, resolver: Resolve = resolve) -> None:
        self._settings = settings
        self._resolver = resolver
        self._private = {host.lower() for host in settings.private_hosts}
        self._hosts: dict[str, GuardedHost] = {}

    async def call(self, tool: RegisteredTool, arguments: Mapping[str, Any], token: str) -> ToolReply:
        """Post the arguments."""
        host = await self._host(tool)

        async def headers() -> Mapping[str, str]:
            own = {"Content-Type": "application/json", "Accept": "application/json, text/plain"}
            return {**own, "Authorization": f"Bearer {token}"} if token else own

        parts = urlsplit(tool.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        answer = await host.post(path, headers, json.dumps(arguments, ensure_ascii=False).encode())
        status = answer.response.status_code
        if answer.response.is_redirect:
            return ToolReply(ToolEnd.FAILED, reason=f"HTTP {status}: redirects are not followed")
        if status != HTTPStatus.OK:
            return ToolReply(ToolEnd.FAILED, reason=f"HTTP {status}")
        if len(answer.body) >= MAX_ANSWER_BYTES:
            return too_long(self._settings.max_result_bytes)
        kind = answer.response.headers.get("content-type", "")
        if not kind.startswith(_TEXT):
            return ToolReply(ToolEnd.FAILED, reason="the answer is neither text nor JSON")
        return _read(answer.body, is_json="json" in kind, path=tool.result_path)

    async def close(self) -> None:
        """Close the connections."""
        while self._hosts:
            await self._hosts.popitem()[1].close()

    async def _host(self, tool: RegisteredTool) -> GuardedHost:
        found = self._hosts.get(tool.origin)
        if found is None:
            traits = HostTraits(tool.host in self._private, self._settings.ca_file, self._settings.timeout_s)
            found = await asyncio.to_thread(GuardedHost, tool.origin, traits, self._resolver)
            found = self._hosts.setdefault(tool.origin, found)
        return found


def too_long(most: int) -> ToolReply:
    """Return that an answer is longer than it may be."""
    return ToolReply(ToolEnd.TOO_LONG, reason=f"the answer has more than {most} bytes")


def _read(body: bytes, *, is_json: bool, path: str) -> ToolReply:
    try:
        text = body.decode()
        value = json.loads(text) if is_json else text
    except (ValueError, RecursionError):
        return ToolReply(ToolEnd.FAILED, reason="the answer is not what it says that it is: UTF-8 text or JSON")
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return ToolReply(ToolEnd.ANSWERED)
    return ToolReply(ToolEnd.ANSWERED, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


async def open_tools(settings: ToolSettings) -> ToolBox:
    """Return the tools of the registry that the settings name.

    Raises:
        SettingsError: the registry cannot be used, or the library of the protocol is not installed.
    """
    tools = await asyncio.to_thread(read_registry, settings)
    if not tools:
        return NoTools()
    callers: dict[str, Caller] = {"http": HttpTools(settings)}
    if any(tool.kind == "mcp" for tool in tools):
        try:
            from services.common.adapters.tools.mcp import McpTools
        except ImportError:
            text = "tools of kind mcp need the library mcp: pip install 'groundtrail-server[mcp]'"
            raise SettingsError([f"GROUNDTRAIL_TOOLS__REGISTRY_FILE: {text}"]) from None
        callers["mcp"] = McpTools(settings)
    return CalledTools(tools, callers, settings)
