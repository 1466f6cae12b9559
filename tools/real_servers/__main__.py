"""``python -m tools.real_servers SERVER [OPTIONS] [-- COMMAND…]``: a command beside a real server.

SERVER is triton, neo4j, milvus, milvus-lite, llm, envoy, litellm, anthropic, langchain or node. Of the last five only
the program or package is fetched: what they stand in front of, or talk to, is the command's own.

For two servers the command of the first is this program with the second.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tools.real_servers import anthropic_client, envoy, langchain, litellm, llm, milvus, neo4j, node_clients, triton
from tools.real_servers.processes import ServerProcess
from tools.real_servers.provisioning import RealServerError, supported


@dataclass(frozen=True, slots=True)
class _Serving:
    """A server that is ready.

    Attributes:
        says: one line for people.
        variables: what tells the command of it.
        process: ``None`` for a program that the command starts itself.
    """

    says: str
    variables: dict[str, str]
    process: ServerProcess | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the server, run the command with the server's variables set, stop the server; returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    at = given.index("--") if "--" in given else len(given)
    options = _parser().parse_args(given[:at])
    command = given[at + 1 :]
    signal.signal(signal.SIGTERM, _leave)  # so that the server is stopped with this process
    named, variable, reason = _known(options.server)
    if reason and options.if_possible:
        print(f"{named} is not started: {reason}.", file=sys.stderr)
        return _run(command, {})
    if command and os.environ.get(variable):
        print(f"{named}: the one that {variable} names.", file=sys.stderr)
        return _run(command, {})
    try:
        with _served(options) as serving:
            print(serving.says, file=sys.stderr)
            return _run(command, serving.variables) if command else _serve(named, serving)
    except RealServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _known(server: str) -> tuple[str, str, str | None]:
    """Return the server's name, its variable, and why it cannot be started here."""
    known = {
        "neo4j": ("Neo4j", neo4j.VARIABLE, neo4j.missing),
        "milvus": ("Milvus", milvus.VARIABLE, supported),
        "milvus-lite": ("milvus-lite", milvus.LITE_VARIABLE, supported),
        "llm": ("A language model", llm.VARIABLE, llm.missing),
        "envoy": ("Envoy", envoy.VARIABLE, supported),
        "litellm": ("LiteLLM's proxy", litellm.VARIABLE, supported),
        "anthropic": ("Anthropic's client", anthropic_client.VARIABLE, supported),
        "langchain": ("LangChain's chat model", langchain.VARIABLE, supported),
        "node": ("The clients for Node", node_clients.VARIABLE, node_clients.missing),
        "triton": ("Triton", triton.VARIABLE, supported),
    }
    named, variable, missing = known[server]
    return named, variable, missing()


_FETCHED: Final[Mapping[str, Any]] = {
    "envoy": envoy,
    "litellm": litellm,
    "anthropic": anthropic_client,
    "langchain": langchain,
    "node": node_clients,
}
"""What is fetched, and started by the command."""


@contextmanager
def _served(options: argparse.Namespace) -> Iterator[_Serving]:
    if options.server == "neo4j":
        with neo4j.running() as (home, process):
            yield _Serving(f"{neo4j.name()}, at {home.uri}", home.variables, process)
    elif options.server == "milvus":
        with milvus.running() as (server, process):
            yield _Serving(f"{milvus.NAME}, at {server.uri}", {milvus.VARIABLE: server.uri}, process)
    elif options.server == "milvus-lite":
        with milvus.running_lite() as (uri, process):
            yield _Serving(f"{milvus.LITE_NAME}, at {uri}", {milvus.LITE_VARIABLE: uri}, process)
    elif options.server == "llm":
        with llm.running() as model:
            yield _Serving(f"{llm.NAME}, at {model.base_url}", {llm.VARIABLE: model.base_url}, model.process)
    elif fetched := _FETCHED.get(options.server):
        place = str(fetched.installed())
        yield _Serving(f"{fetched.NAME}, at {place}", {fetched.VARIABLE: place}, None)
    else:
        with triton.running(options.model_repository.resolve(), tuple(options.model)) as running:
            says = f"{triton.NAME}, at {running.target}: {', '.join(running.models)}"
            yield _Serving(says, {triton.VARIABLE: running.target}, running.process)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.real_servers", description=__doc__)
    servers = parser.add_subparsers(dest="server", required=True)
    for_triton = servers.add_parser("triton", help=triton.NAME)
    for_triton.add_argument("--model-repository", type=Path, default=triton.MODEL_REPOSITORY, metavar="DIR")
    for_triton.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="load this one (repeatable); all"
    )
    others = {
        "neo4j": neo4j.name(),
        "milvus": milvus.NAME,
        "milvus-lite": milvus.LITE_NAME,
        "llm": llm.NAME,
        **{name: fetched.NAME for name, fetched in _FETCHED.items()},
    }
    for server in (for_triton, *(servers.add_parser(name, help=what) for name, what in others.items())):
        server.add_argument(
            "--if-possible", action="store_true", help="where the recipe does not fit, run the command without a server"
        )
    return parser


def _serve(named: str, serving: _Serving) -> int:
    """Wait until this process is told to end; 1 = the server ended first."""
    for variable, value in serving.variables.items():
        print(f"export {variable}={value}", flush=True)
    if serving.process is None:
        return 0
    while serving.process.running:
        time.sleep(1.0)
    print(f"error: {named} ended by itself", file=sys.stderr)
    return 1


def _run(command: Sequence[str], variables: dict[str, str]) -> int:
    """Run a command to its end; when this process is told to end, the command is told too."""
    if not command:
        return 0
    with subprocess.Popen(command, env=os.environ | variables) as process:
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
