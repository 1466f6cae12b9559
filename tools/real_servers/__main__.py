"""``python -m tools.real_servers triton [OPTIONS] [-- COMMAND…]``: a command beside a real server."""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tools.real_servers import triton
from tools.real_servers.provisioning import RealServerError, supported


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the server, run the command with the server's variable set, stop the server; returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    at = given.index("--") if "--" in given else len(given)
    options = _parser().parse_args(given[:at])
    command = given[at + 1 :]
    signal.signal(signal.SIGTERM, _leave)  # so that the server is stopped with this process
    reason = supported()
    if reason and options.if_possible:
        print(f"Triton is not started: {reason}.", file=sys.stderr)
        return _run(command, {})
    if command and os.environ.get(triton.VARIABLE):
        print(f"Triton: the one that {triton.VARIABLE} names.", file=sys.stderr)
        return _run(command, {})
    try:
        with triton.running(options.model_repository.resolve(), tuple(options.model)) as server:
            print(f"{triton.NAME}, at {server.target}: {', '.join(server.models)}", file=sys.stderr)
            if command:
                return _run(command, {triton.VARIABLE: server.target})
            return _serve(server)
    except RealServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.real_servers", description=__doc__)
    server = parser.add_subparsers(dest="server", required=True).add_parser("triton", help=triton.NAME)
    server.add_argument("--model-repository", type=Path, default=triton.MODEL_REPOSITORY, metavar="DIR")
    server.add_argument("--model", action="append", default=[], metavar="NAME", help="load this one (repeatable); all")
    server.add_argument(
        "--if-possible", action="store_true", help="where the recipe does not fit, run the command without a server"
    )
    return parser


def _serve(server: triton.RunningTriton) -> int:
    """Wait until this process is told to end; 1 = the server ended first."""
    print(f"export {triton.VARIABLE}={server.target}", flush=True)
    while server.process.running:
        time.sleep(1.0)
    print("error: Triton ended by itself", file=sys.stderr)
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
