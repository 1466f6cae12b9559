"""Tools over HTTP and MCP: what is read, what is refused, and where nobody is asked (ADR 0161)."""

import asyncio
import contextlib
import json
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from services.common.adapters.tools.calling import CalledTools, HttpTools, open_tools
from services.common.adapters.tools.mcp import McpTools
from services.common.adapters.tools.registry import RegisteredTool, read_registry
from services.common.ports.tool_box import NoTools, ToolEnd
from services.common.settings import SettingsError, ToolSettings

HERE = ToolSettings(private_hosts=("localhost",), timeout_s=5, max_result_bytes=100)


def answer(status="200 OK", kind="application/json", body="{}", more=""):
    encoded = body if isinstance(body, bytes) else body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(encoded)}\r\n{more}\r\n"
    return head.encode() + encoded


@contextlib.asynccontextmanager
async def serving(reply):
    """Answer each request with these bytes; with ``None`` never. Yields url and what was asked."""
    asked, running = [], []

    async def serve(reader, writer):
        running.append(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            asked.append((head.decode(), json.loads(await reader.readexactly(length))))
            if reply is None:
                await reader.read()
            else:
                writer.write(reply)
                await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://localhost:{server.sockets[0].getsockname()[1]}/rates?x=1", asked
    await asyncio.gather(*running)


async def addresses(host, port):
    return ["127.0.0.1"]


def box(url, settings=HERE, resolver=addresses, **fields):
    tool = RegisteredTool(name="rates", description="Rates.", kind="http", url=url, **fields)
    return CalledTools([tool], {"http": HttpTools(settings, resolver)}, settings)


async def called(tools):
    try:
        return await tools.call("rates", {"query": "today"})
    finally:
        await tools.close()


async def test_the_arguments_are_posted_and_the_text_is_read(tmp_path):
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    secret.chmod(0o600)
    async with serving(answer(body='{"result": {"text": "4 percent."}}')) as (url, asked):
        reply = await called(box(url, result_path="result.text", bearer_token_file=secret))
    assert (reply.end, reply.text) == (ToolEnd.ANSWERED, "4 percent.")
    ((head, arguments),) = asked
    assert arguments == {"query": "today"}
    assert head.startswith("POST /rates?x=1 HTTP/1.1")
    assert "authorization: bearer s3cret" in head.lower()


@pytest.mark.parametrize(
    ("reply", "path", "end", "text"),
    [
        (answer(body='{"a": 1}'), "", ToolEnd.ANSWERED, '{"a": 1}'),
        (answer(kind="text/plain", body="four"), "", ToolEnd.ANSWERED, "four"),
        (answer(body='{"a": 1}'), "b.c", ToolEnd.ANSWERED, ""),
        (answer("500 Oops"), "", ToolEnd.FAILED, "HTTP 500"),
        (answer("302 Found", more="Location: http://localhost/\r\n"), "", ToolEnd.FAILED, "redirects"),
        (answer(kind="image/png"), "", ToolEnd.FAILED, "neither text nor JSON"),
        (answer(body="{"), "", ToolEnd.FAILED, "not what it says"),
        (answer(kind="text/plain", body=b"\xff"), "", ToolEnd.FAILED, "not what it says"),
        (answer(kind="text/plain", body="x" * 101), "", ToolEnd.TOO_LONG, "100 bytes"),
        (answer(kind="text/plain", body="x" * 70_000), "", ToolEnd.TOO_LONG, "100 bytes"),
        (b"no http", "", ToolEnd.FAILED, "RemoteProtocolError"),
    ],
)
async def test_what_is_made_of_an_answer(reply, path, end, text):
    async with serving(reply) as (url, _):
        found = await called(box(url, result_path=path))
    assert found.end is end
    assert text in (found.text if end is ToolEnd.ANSWERED else found.reason)


async def test_a_tool_that_does_not_answer_is_given_up():
    async with serving(None) as (url, _):
        found = await called(box(url, HERE.model_copy(update={"timeout_s": 0.2})))
    assert (found.end, found.reason) == (ToolEnd.TIMED_OUT, "no answer within 0.2 s")


@pytest.mark.parametrize("kind", ["http", "mcp"])
async def test_a_private_address_is_asked_nothing(kind):
    async def private(host, port):
        return ["10.0.0.7"]

    settings = HERE.model_copy(update={"private_hosts": ()})
    url = "https://tools.example/mcp"
    tool = RegisteredTool(name="rates", description="Rates.", kind=kind, url=url)
    callers: dict[str, Any] = {"http": HttpTools(settings, private), "mcp": McpTools(settings, private)}
    found = await called(CalledTools([tool], callers, settings))
    assert found.end is ToolEnd.FAILED
    assert "10.0.0.7 is a private address" in found.reason


def test_each_tenant_has_its_tools():
    one = RegisteredTool(name="rates", description="x", kind="http", url="https://a.example/", tenants=("a",))
    all_ = RegisteredTool(name="news", description="x", kind="http", url="https://a.example/")
    tools = CalledTools([one, all_], {}, HERE)
    assert [[each.name for each in tools.listed(tenant)] for tenant in ("a", "b")] == [["rates", "news"], ["news"]]


@contextlib.asynccontextmanager
async def mcp_server():
    server = MCPServer("tools", log_level="CRITICAL")

    @server.tool()
    def rates(query: str) -> str:
        """Rates."""
        if query == "fail":
            raise ToolError("no")
        return f"{query}: 4 percent."

    app = server.streamable_http_app(stateless_http=True)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, ws="none", lifespan="on")
    running = uvicorn.Server(config)
    task = asyncio.ensure_future(running.serve())
    while not running.started:  # noqa: ASYNC110 - the library announces nothing
        await asyncio.sleep(0.01)
    try:
        yield f"http://localhost:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task


async def test_a_tool_of_an_mcp_server_is_called():
    async with mcp_server() as url:
        tool = RegisteredTool(name="ours", remote_name="rates", description="Rates.", kind="mcp", url=url)
        tools = CalledTools([tool], {"mcp": McpTools(HERE, addresses)}, HERE)
        answered = await tools.call("ours", {"query": "today"})
        failed = await tools.call("ours", {"query": "fail"})
    gone = await tools.call("ours", {"query": "today"})
    assert (answered.end, answered.text) == (ToolEnd.ANSWERED, "today: 4 percent.")
    assert (failed.end, failed.reason) == (ToolEnd.FAILED, "the tool says that it failed")
    assert (gone.end, gone.text) == (ToolEnd.FAILED, "")


def registry(tmp_path, *tools):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": tools}))
    return ToolSettings(registry_file=file, private_hosts=("localhost",))


GOOD = {"name": "rates", "description": "Rates.", "kind": "http", "url": "https://rates.example/ask"}


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([GOOD | {"name": "no spaces"}], "tools.0.name"),
        ([GOOD, GOOD], "a name stands twice: rates"),
        ([GOOD | {"kind": "soap"}], "tools.0.kind"),
        ([GOOD | {"url": "http://rates.example/"}], "must be https"),
        ([GOOD | {"url": "https://u:p@rates.example/"}], "no user, password"),
        ([GOOD | {"parameters": {"type": "array"}}], "JSON Schema of an object"),
        ([GOOD | {"colour": "red"}], "tools.0.colour"),
    ],
)
def test_a_registry_that_cannot_be_used_is_refused_at_start(tmp_path, tools, problem):
    with pytest.raises(SettingsError) as found:
        read_registry(registry(tmp_path, *tools))
    assert problem in str(found.value)
    assert "GROUNDTRAIL_TOOLS__REGISTRY_FILE" in str(found.value)


async def test_a_registry_is_opened(tmp_path):
    tools = await open_tools(registry(tmp_path, GOOD, GOOD | {"name": "local", "url": "http://localhost:9/"}))
    assert [each.name for each in tools.listed("any")] == ["rates", "local"]
    await tools.close()
    assert isinstance(await open_tools(ToolSettings()), NoTools)
    with pytest.raises(SettingsError, match="No such file"):
        read_registry(ToolSettings(registry_file=tmp_path / "none.json"))
