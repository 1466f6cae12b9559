"""``groundtrail mcp``: the suite as tools for language models, over stdio or over HTTP (ADR 0155)."""

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.local_state import LocalState
from services.common.errors import StartupError
from services.common.settings import Settings

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
MISSING: Final = (
    'the protocol\'s library is not installed: pip install "groundtrail-server[mcp]", '
    'in a checkout pip install -e ".[mcp]"'
)


async def mcp(settings: Settings, output: Output, port: int | None = None) -> Exit:
    """Serve until standard input ends, or over HTTP until SIGTERM.

    Args:
        settings: of the command.
        output: says where it listens.
        port: of HTTP on the loopback interface; 0 = a free one; ``None`` = standard input and output.

    Raises:
        StartupError: the library is not there.
    """
    if find_spec("mcp") is None:
        raise StartupError(MISSING)
    from services.cli.tool_server.tools import SuiteTools

    async with connect(settings) as suite:
        server = SuiteTools(suite, LocalState(Path(settings.store.data_dir))).server(version("groundtrail"))
        if port is None:
            await server.run_stdio_async()
        else:
            from services.cli.tool_server.listening import listen

            await listen(server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK), port, PATH, output)
    return Exit.OK
