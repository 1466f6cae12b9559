"""``groundtrail log | witness | log-signer``: what they take; the commands are in ``commands/`` (ADR 0100)."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import run
from services.cli.paths import named_file

log_app = typer.Typer(no_args_is_help=True, help="The transparency log, as an auditor sees it.")
witness_app = typer.Typer(no_args_is_help=True, help="A witness of transparency logs (C2SP tlog-witness).")
signer_app = typer.Typer(no_args_is_help=True, help="The process that holds the log's key.")

KeyFile = Annotated[Path, typer.Option(help="The private key, 64 hex digits; made when the file is not there.")]
State = Annotated[Path, typer.Option(help="Folder of the last head of each log; for this process alone.")]
Ready = Annotated[Path | None, typer.Option(help="Written as JSON once calls are accepted.")]
Name = Annotated[str, typer.Option(help="The witness's name: a URL of its own without a schema.")]


@log_app.command("monitor")
def monitor_log(
    state: Annotated[
        Path,
        typer.Option(
            metavar="FILE", parser=named_file, help="File that remembers the log; made at the first run, for you alone."
        ),
    ],
    public_key: Annotated[
        str,
        typer.Option(help="The log's key, as `checkpoint` prints it, or a file with it; none = that of the first run."),
    ] = "",
    interval: Annotated[float, typer.Option(min=0.1, max=86_400.0, help="Seconds between two looks.")] = 60.0,
    *,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Follow the log: recompute its root from its leaves, and report what does not extend or does not belong.

    Exit code 3 when something was found, now or in an earlier run on the same state file.
    """
    from services.cli.commands.monitor import MonitorWish
    from services.cli.commands.monitor import monitor as command

    run(partial(command, wish=MonitorWish(state, public_key, interval, once)), as_json=as_json)


@witness_app.command("serve")
def serve_witness(  # noqa: PLR0913, PLR0917 - one for each option
    name: Name,
    key_file: KeyFile,
    state: State,
    log: Annotated[
        list[str],
        typer.Option(metavar="KEY", help="A log's key as `checkpoint` prints it, or a file of keys; repeatable."),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 = a free one.")] = 8790,
    tls_cert_file: Annotated[Path | None, typer.Option(help="PEM file of the certificate chain.")] = None,
    tls_key_file: Annotated[Path | None, typer.Option(help="PEM file of its private key.")] = None,
    ready_file: Ready = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Cosign the heads of logs that only grow, until SIGTERM."""
    from services.cli.commands.keepers import WitnessWish
    from services.cli.commands.keepers import serve_witness as command

    wish = WitnessWish(name, key_file, state, log, host, port, tls_cert_file, tls_key_file, ready_file)
    run(partial(command, wish=wish), as_json=as_json)


@witness_app.command("key")
def show_witness_key(name: Name, key_file: KeyFile, *, as_json: AsJson = False) -> None:
    """Print the witness's public key, for whoever asks it and whoever checks its cosignatures."""
    from services.cli.commands.keepers import show_witness_key as command

    run(partial(command, name=name, path=key_file), as_json=as_json)


@signer_app.command("serve")
def serve_signer(  # noqa: PLR0913 - one for each option
    socket: Annotated[Path, typer.Option(help="Unix socket to listen on.")],
    credential_file: Annotated[Path, typer.Option(help="What callers must show: at least 32 characters, mode 0600.")],
    key_file: KeyFile,
    state: State,
    ready_file: Ready = None,
    *,
    for_group: Annotated[bool, typer.Option("--for-group", help="The socket's group may connect too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Sign heads that go on from the last one that was signed, and nothing else, until SIGTERM."""
    from services.cli.commands.keepers import SignerWish
    from services.cli.commands.keepers import serve_signer as command

    wish = SignerWish(socket, credential_file, key_file, state, for_group, ready_file)
    run(partial(command, wish=wish), as_json=as_json)
