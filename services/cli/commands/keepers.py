"""``groundtrail witness | log-signer``: the processes that keep heads, each with a key of its own (ADR 0100)."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.key_texts import read_given
from services.common.adapters.http.event_endpoint import MIN_KEY_CHARS, read_secret
from services.common.clock import SystemClock
from services.common.cosignature import Cosigner
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError, StartupError
from services.common.settings import Settings, SettingsError
from services.common.settings.http import HttpSettings
from services.common.settings.server import is_loopback
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

    name, logs, bounds = _name(wish.name), log_keys(wish.logs), _listening(wish)
    seed, _ = _own_key(wish.key_file, output)  # behind all that may be refused: it may make one
    cosigner = Cosigner(name, seed)
    heads = HeadFolder.open(wish.state)
    try:
        server = await HttpServer.open(witness_app(Witness(logs, cosigner, heads, SystemClock())), bounds)
        output.drawn([(f"witness {cosigner.key}", "bold")])
        output.say(f"cosigns {counted(len({key.name for key in logs}), 'log')}; listens on {wish.host}:{server.port}")
        await _until_told(wish.ready_file, {"key": str(cosigner.key), "port": server.port}, server.close)
    finally:
        heads.close()
    return Exit.OK


async def show_witness_key(_settings: Settings, output: Output, name: str, path: Path) -> Exit:
    """Print a witness's public key; the private one is made when the file is not there."""
    checked = _name(name)
    seed, made = _own_key(path, output)
    key = str(Cosigner(checked, seed).key)
    output.drawn([(key, "")])  # not folded: people copy it
    output.result({"key": key, "made": made})
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
    seed, _ = _own_key(wish.key_file, output)
    heads = HeadFolder.open(wish.state)
    try:
        app = signer_app(LogSigner(seed, heads), credential)
        server = await UnixServer.open(app, wish.socket, for_group=wish.for_group)
        output.say(f"log signer at {wish.socket}", style="bold")
        await _until_told(wish.ready_file, {"socket": str(wish.socket)}, server.close)
    finally:
        heads.close()
    return Exit.OK


def _listening(wish: WitnessWish) -> HttpSettings:
    """Return where a witness listens.

    Raises:
        InvalidRequestError: INVALID_FIELD: it would listen in plain text beyond this machine, or on no such port.
    """
    if (wish.certificate is None) != (wish.certificate_key is None):
        missing, given = "--tls-cert-file", "--tls-key-file"
        if wish.certificate_key is None:
            missing, given = given, missing
        raise InvalidRequestError.of(FieldViolation(missing, f"is missing: {given} is nothing without it"))
    if wish.certificate is None and not is_loopback(wish.host):
        text = (
            f"{wish.host} can be reached from other machines, and that needs TLS: give --tls-cert-file and "
            "--tls-key-file, or listen on 127.0.0.1 behind a proxy that ends TLS"
        )
        raise InvalidRequestError.of(FieldViolation("--host", text))
    try:
        return HttpSettings(
            host=wish.host, port=wish.port, tls_cert_file=wish.certificate, tls_key_file=wish.certificate_key
        )
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        wrong = (
            FieldViolation("--" + "-".join(map(str, one["loc"])).replace("_", "-"), one["msg"].lower()) for one in found
        )
        raise InvalidRequestError.of(*wrong) from None


def _own_key(path: Path, output: Output) -> tuple[bytes, bool]:
    """Return the key in the file, and whether it was made just now: a mistyped name makes one that nobody knows."""
    known = path.exists()
    seed = key_file(path)
    if not known:
        text = (
            f"made a new key in {path.resolve()}: whoever trusts another one does not know it. If you have a key "
            "already, stop, remove this file and name yours with --key-file."
        )
        output.note(text)
    return seed, not known


def log_keys(given: Sequence[str]) -> list[NoteKey]:
    """Return the logs' keys, out of keys and files with one a line.

    Raises:
        InvalidRequestError: INVALID_FIELD: one is no key, or names no log.
    """
    found: list[NoteKey] = []
    for one in given:
        try:
            found += read_given(one, _named_keys)
        except (ValueError, OSError) as error:
            raise InvalidRequestError.of(FieldViolation("--log", f"{one[:80]}: {error}")) from None
    if not found:
        raise InvalidRequestError.of(FieldViolation("--log", "names no log: give its key, as `checkpoint` prints it"))
    return found


def _named_keys(text: str) -> list[NoteKey]:
    return [_named(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]


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
