"""``groundtrail witness | log-signer``: the processes that keep heads, each with a key of its own (ADR 0100)."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.adapters.http.event_endpoint import MIN_KEY_CHARS, read_secret
from services.common.clock import SystemClock
from services.common.cosignature import Cosigner
from services.common.errors import FieldViolation, InvalidRequestError, StartupError
from services.common.settings import Settings, SettingsError
from services.common.settings.http import HttpSettings
from services.common.signed_note import NoteKey
from services.witness import HeadFolder, LogSigner, Witness, key_file


@dataclass(frozen=True, slots=True)
class WitnessWish:
    """How a witness is set up.

    Attributes:
        logs: verifier keys, or files with one a line.
    """

    name: str
    key_file: Path
    state: Path
    logs: Sequence[str]
    host: str
    port: int
    certificate: Path | None
    certificate_key: Path | None
    ready_file: Path | None


@dataclass(frozen=True, slots=True)
class SignerWish:
    """How a signer is set up."""

    socket: Path
    credential_file: Path
    key_file: Path
    state: Path
    for_group: bool
    ready_file: Path | None


async def serve_witness(_settings: Settings, output: Output, wish: WitnessWish) -> Exit:
    """Serve a witness until SIGTERM or SIGINT."""
    from services.gateway.doors.http.server import HttpServer
    from services.witness.http import witness_app

    cosigner = Cosigner(_name(wish.name), key_file(wish.key_file))
    logs = log_keys(wish.logs)
    try:
        bounds = HttpSettings(
            host=wish.host, port=wish.port, tls_cert_file=wish.certificate, tls_key_file=wish.certificate_key
        )
    except ValueError as error:
        raise InvalidRequestError.of(FieldViolation("--host", str(error))) from None
    heads = HeadFolder.open(wish.state)
    try:
        server = await HttpServer.open(witness_app(Witness(logs, cosigner, heads, SystemClock())), bounds)
        output.drawn([(f"witness {cosigner.key}", "bold")])
        output.say(f"cosigns {len({key.name for key in logs})} logs; listens on {wish.host}:{server.port}")
        await _until_told(wish.ready_file, {"key": str(cosigner.key), "port": server.port}, server.close)
    finally:
        heads.close()
    return Exit.OK


async def show_witness_key(_settings: Settings, output: Output, name: str, path: Path) -> Exit:
    """Print a witness's public key; the private one is made when the file is not there."""
    key = str(Cosigner(_name(name), key_file(path)).key)
    output.drawn([(key, "")])  # not folded: people copy it
    output.result({"key": key})
    return Exit.OK


async def serve_signer(_settings: Settings, output: Output, wish: SignerWish) -> Exit:
    """Serve a signer until SIGTERM or SIGINT."""
    from services.witness.http import signer_app
    from services.witness.unix_server import UnixServer

    def credential() -> str:
        return read_secret(wish.credential_file, MIN_KEY_CHARS)

    try:
        credential()
    except SettingsError as error:
        raise StartupError("; ".join(error.problems)) from None
    seed = key_file(wish.key_file)
    heads = HeadFolder.open(wish.state)
    try:
        app = signer_app(LogSigner(seed, heads), credential)
        server = await UnixServer.open(app, wish.socket, for_group=wish.for_group)
        output.say(f"log signer at {wish.socket}", style="bold")
        await _until_told(wish.ready_file, {"socket": str(wish.socket)}, server.close)
    finally:
        heads.close()
    return Exit.OK


def log_keys(given: Sequence[str]) -> list[NoteKey]:
    """Return the logs' keys, out of keys and files with one a line.

    Raises:
        InvalidRequestError: INVALID_FIELD: one is no key, or names no log.
    """
    found: list[NoteKey] = []
    for one in given:
        path = Path(one)
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else [one]
            found += [_named(line) for line in lines if line.strip() and not line.startswith("#")]
        except (ValueError, OSError) as error:
            raise InvalidRequestError.of(FieldViolation("--log", f"{one[:80]}: {error}")) from None
    if not found:
        raise InvalidRequestError.of(FieldViolation("--log", "names no log: give its key, as `checkpoint` prints it"))
    return found


def _named(text: str) -> NoteKey:
    key = NoteKey.parse(text)
    if not key.name:
        msg = "a bare key names no log: give it as `groundtrail checkpoint` prints it"
        raise ValueError(msg)
    return key


def _name(text: str) -> str:
    if not text or "+" in text or any(character.isspace() for character in text) or len(text) > 255:  # noqa: PLR2004 - C2SP
        raise InvalidRequestError.of(FieldViolation("--name", "must be a name without spaces and plus signs"))
    return text


async def _until_told(ready_file: Path | None, told: dict[str, object], close: Callable[[], Awaitable[None]]) -> None:
    """Say that calls are accepted, wait for SIGTERM or SIGINT, and close."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    try:
        if ready_file is not None:
            await asyncio.to_thread(_write_ready, ready_file, {**told, "pid": os.getpid()})
        await stopping.wait()
    finally:
        await close()


def _write_ready(path: Path, told: dict[str, object]) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(told), encoding="utf-8")
    fresh.replace(path)
