"""Tools of servers of the Model Context Protocol over streamable HTTP, with the official library (ADR 0155, ADR 0161).

A session is opened for each call and closed behind it: nothing of one question is known when the next one is answered.
What the server would have of its client (sampling, roots, questions to a person) is refused by the library.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from services.common.adapters.http.addresses import refusal
from services.common.adapters.http.guarded import MAX_ANSWER_BYTES, ForbiddenAddressError, Resolve, resolve
from services.common.adapters.tools.registry import RegisteredTool
from services.common.ports.tool_box import ToolEnd, ToolReply
from services.common.settings import ToolSettings

_PORTS: Final = {"http": 80, "https": 443}


class McpTools:
    """Calls tools of MCP servers.

    Args:
        settings: what may be talked to.
        resolver: tells a host's addresses.
    """

    def __init__(self, settings: ToolSettings, resolver: Resolve = resolve) -> None:
        self._settings = settings
        self._resolver = resolver
        self._private = {host.lower() for host in settings.private_hosts}

    async def call(self, tool: RegisteredTool, arguments: Mapping[str, Any], token: str) -> ToolReply:
        """Open a session, call the tool, close the session."""
        judged = _Judged(self._resolver, tool.host in self._private, self._settings)
        own = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            async with httpx2.AsyncClient(
                transport=judged, headers=own, follow_redirects=False, timeout=self._settings.timeout_s
            ) as http:
                transport = streamable_http_client(tool.url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES)
                async with Client(transport) as client:
                    result = await client.call_tool(tool.remote_name or tool.name, dict(arguments))
        except Exception as error:  # noqa: BLE001 - whatever a server and the library do is the tool's failure
            return ToolReply(ToolEnd.FAILED, reason=judged.problem or f"the MCP server did not answer: {_kind(error)}")
        text = "\n\n".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            return ToolReply(ToolEnd.FAILED, reason="the tool says that it failed")
        return ToolReply(ToolEnd.ANSWERED, text)

    async def close(self) -> None:
        """Nothing stays open."""


def _kind(error: BaseException) -> str:
    """Return what went wrong first, within groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


class _Judged(httpx2.AsyncBaseTransport):
    """Goes to judged addresses alone, and reads of an answer no more than the bound."""

    def __init__(self, resolver: Resolve, private_allowed: bool, settings: ToolSettings) -> None:
        self._resolver = resolver
        self._private = private_allowed
        verify = str(settings.ca_file) if settings.ca_file else True
        self._inner = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False)
        self.problem = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Judge the host's addresses, and ask the first."""
        url = request.url
        port = url.port or _PORTS[url.scheme]
        addresses = await self._resolver(url.host, port)
        problem = refusal(addresses, private_allowed=self._private, plaintext=url.scheme == "http")
        if problem:
            self.problem = f"{url.host}: {problem}"
            raise ForbiddenAddressError(self.problem)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.url = url.copy_with(host=addresses[0])
        response = await self._inner.handle_async_request(request)
        request.url = url
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response),
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer up to the bound."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._response.aiter_raw():
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("the answer is longer than it may be")
            yield part

    async def aclose(self) -> None:
        """Close it."""
        await self._response.aclose()
