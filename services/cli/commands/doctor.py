"""``groundtrail doctor``: looks at weights, stores, ports, keys and settings, and explains each finding."""

import asyncio
import os
import shutil
import socket
import sqlite3
import stat
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.forms import UNFINISHED
from services.cli.key_findings import key_faults, key_traces
from services.cli.log_findings import log_faults
from services.cli.render import coloured
from services.common.adapters.encoders.feeds import check_inputs
from services.common.adapters.sqlite.looking import is_read_only, looking_uri
from services.common.answering import answering_milvus, answering_neo4j, answering_vector_engine
from services.common.composition import (
    FACTS_FILE,
    GATEWAY_FILE,
    GRAPH_FILE,
    SESSIONS_FILE,
    Adapters,
)
from services.common.counting import counted
from services.common.errors import CrpError, StartupError, UnavailableError
from services.common.model_repository import ModelRepository, ModelRepositoryError, open_repository
from services.common.oversight_stores import OVERSIGHT_FILE
from services.common.settings import Settings, SettingsError
from services.common.settings.server import is_loopback

MIN_FREE_BYTES: Final = 512 * 1024 * 1024
_ELSEWHERE: Final = "mount the folder so that it can be written, or copy the file with its -wal file to where it can"


@unique
class Level(StrEnum):
    """How bad a finding is; ``problem`` makes the exit code 3."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw, and what to do about it."""

    check: str
    level: Level
    detail: str
    advice: str = ""


async def doctor(settings: Settings, output: Output) -> Exit:
    """Run every check, none of which changes anything."""
    findings: list[Finding] = []
    with output.progress("checking", total=len(_CHECKS)) as bar:
        for check in _CHECKS:
            findings.extend(await check(settings))
            bar.step()
    rows = [(f.check, coloured(f.level.value), f.detail, f.advice) for f in findings]
    output.table(_title(findings), ("check", "finding", "detail", "what to do"), rows)
    output.result({"findings": [asdict(f) for f in findings]})
    return Exit.VERDICT if any(f.level is Level.PROBLEM for f in findings) else Exit.OK


def _title(findings: list[Finding]) -> str:
    """Return what there is to look into; what is as it should be stands in the table, and is no finding."""
    levels = Counter(finding.level for finding in findings)
    found = [counted(levels[level], level.value) for level in (Level.PROBLEM, Level.WARNING) if levels[level]]
    return f"{len(_CHECKS)} checks: {' and '.join(found) or 'nothing found'}"


async def _python(_: Settings) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    return [Finding("python", Level.OK, f"{version}, SQLite {sqlite3.sqlite_version}")]


async def _weights(settings: Settings) -> list[Finding]:
    try:
        repository = await asyncio.to_thread(_verified, settings)
    except (ModelRepositoryError, OSError) as error:
        return [
            Finding(
                "weights",
                Level.PROBLEM,
                str(error),
                "restore model_repository/ from the release, or add the model of your own again: "
                "a process refuses to start with other weights",
            )
        ]
    names = ", ".join(f"{model.name}@{model.version}" for model in repository.models)
    found = [Finding("weights", Level.OK, f"digests match MANIFEST.json: {names}")]
    inference, again = settings.inference, settings.inference.second_reading
    active = {inference.entailment_model, inference.grounding_model, again.entailment_model, again.grounding_model}
    raw = [model.name for model in repository.models if model.name in active and not model.calibrated]
    if raw:
        advice = (
            "`groundtrail models calibrate FILE` fits it on pairs of yours; reports name it as uncalibrated until then"
        )
        found.append(Finding("weights", Level.WARNING, f"active and not calibrated: {', '.join(raw)}", advice))
    return found


def _verified(settings: Settings) -> ModelRepository:
    repository = open_repository(settings.inference)
    for model in repository.models:
        repository.verified(model.name)
        if model.kind != "entity_recognition" and model.served_by is None:
            check_inputs(model)
            repository.config(model.name)
    return repository


async def _data_dir(settings: Settings) -> list[Finding]:
    return [await asyncio.to_thread(_disk, Path(settings.store.data_dir))]


def _disk(data_dir: Path) -> Finding:
    folder = data_dir.resolve()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        advice = "move GROUNDTRAIL_STORE__DATA_DIR to a folder that this user may write"
        return Finding("disk", Level.PROBLEM, f"{existing} is no folder that can be written", advice)
    free = shutil.disk_usage(existing).free
    if free < MIN_FREE_BYTES:
        advice = "free some space, or move GROUNDTRAIL_STORE__DATA_DIR"
        return Finding("disk", Level.PROBLEM, f"{free // 2**20} MiB free under {folder}", advice)
    return Finding("disk", Level.OK, f"{free // 2**30} GiB free under {folder}")


async def _stores(settings: Settings) -> list[Finding]:
    store = settings.store
    kept = {FACTS_FILE: store.facts, GRAPH_FILE: store.graph, SESSIONS_FILE: store.sessions}
    names = (FACTS_FILE, GRAPH_FILE, SESSIONS_FILE, GATEWAY_FILE, OVERSIGHT_FILE)
    in_files = [name for name in names if kept.get(name, "sqlite") == "sqlite"]
    return [await asyncio.to_thread(_store, Path(store.data_dir) / name) for name in in_files]


async def _neo4j(settings: Settings) -> list[Finding]:
    """Ask Neo4j once, where a store is there; nothing is migrated."""
    store = settings.store
    stores = {"the sessions": store.sessions, "sources and communities": store.graph}
    kept = " and ".join(what for what, where in stores.items() if where == "neo4j")
    if not kept:
        return []
    try:
        await answering_neo4j(settings.neo4j)
    except (CrpError, StartupError) as error:
        advice = "start Neo4j, or correct GROUNDTRAIL_NEO4J__URI, __USER, __PASSWORD and __DATABASE"
        return [Finding("neo4j", Level.PROBLEM, str(error), advice)]
    return [Finding("neo4j", Level.OK, f"{settings.neo4j.uri} answers; it keeps {kept}")]


async def _milvus(settings: Settings) -> list[Finding]:
    """Ask Milvus once, where the facts are there; nothing is migrated."""
    if settings.store.facts != "milvus":
        return []
    try:
        await answering_milvus(settings.milvus)
    except (CrpError, StartupError) as error:
        advice = "start Milvus, or correct GROUNDTRAIL_MILVUS__URI, __TOKEN and __DATABASE"
        return [Finding("milvus", Level.PROBLEM, str(error), advice)]
    return [Finding("milvus", Level.OK, f"{settings.milvus.uri} answers; it keeps facts and vectors")]


async def _vector_engine(settings: Settings) -> list[Finding]:
    """Ask the engine once, where there is one and the facts are in files."""
    wanted = settings.vectors
    if not wanted.engine or settings.store.facts != "sqlite":
        return []
    where = wanted.url or "this process, with its files under GROUNDTRAIL_STORE__DATA_DIR"
    try:
        await answering_vector_engine(settings)
    except (StartupError, ModelRepositoryError) as error:
        advice = "start it, install its client, or unset GROUNDTRAIL_VECTORS__ENGINE: the facts are in knowledge.db"
        return [Finding("vector engine", Level.PROBLEM, str(error), advice)]
    return [Finding("vector engine", Level.OK, f"{wanted.engine} at {where} proposes the nearest facts")]


async def _copies(settings: Settings) -> list[Finding]:
    """Say so when a copy into these stores was broken off."""
    path = Path(settings.store.data_dir) / UNFINISHED
    if not path.is_file():
        return []
    detail = f"a copy of facts into these stores was not finished: {path.read_text(encoding='utf-8')[:1_000]}"
    return [Finding("stores copy", Level.PROBLEM, detail, "run the same `groundtrail stores copy` again")]


async def _logs(settings: Settings) -> list[Finding]:
    """Compute every transparency log in sessions.db anew; one in Neo4j is the server's to look at."""
    path = Path(settings.store.data_dir) / SESSIONS_FILE
    if settings.store.sessions != "sqlite" or not await asyncio.to_thread(path.is_file):
        return []
    try:
        faults = await asyncio.to_thread(lambda: list(log_faults(path)))
    except sqlite3.Error as error:
        advice = _ELSEWHERE if is_read_only(path) else "start the server once: it migrates"
        return [Finding("log", Level.WARNING, f"cannot be looked at: {error}", advice)]
    advice = "the tenant's writes are refused; keep the file and restore a backup (docs/how-to/verify-a-chain.md)"
    found = [Finding("log", Level.PROBLEM, f"tenant {tenant}: {detail}", advice) for tenant, detail in faults]
    return found or [Finding("log", Level.OK, "every leaf, tree and kept head fits")]


async def _master_keys(settings: Settings) -> list[Finding]:
    """Hold the configured master keys against sessions.db; none is made."""
    path = Path(settings.store.data_dir) / SESSIONS_FILE
    if settings.store.sessions != "sqlite" or not await asyncio.to_thread(path.is_file):
        return []
    advice = "put the key back from its backup; the sessions need not have been changed (docs/errors.md)"
    try:
        traces = await asyncio.to_thread(key_traces, path)
        faults = [fault async for fault in key_faults(settings, traces)] if traces.versions else []
    except sqlite3.Error:
        return []  # the check of the logs says so
    except SettingsError as error:
        return [Finding("master key", Level.PROBLEM, "; ".join(error.problems), advice)]
    except UnavailableError as error:
        return [Finding("master key", Level.PROBLEM, error.message, advice)]
    found = [
        Finding("master key", Level.PROBLEM if fault.is_needed else Level.WARNING, fault.detail, advice)
        for fault in faults
    ]
    return found or [Finding("master key", Level.OK, "it is the one that the sessions were made with")]


def _store(path: Path) -> Finding:
    if not path.is_file():
        return Finding(path.name, Level.OK, "not there yet; made at first use")
    try:
        with closing(sqlite3.connect(looking_uri(path), uri=True, timeout=2.0)) as database:
            verdict = database.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError) and is_read_only(path):
            detail = (
                f"cannot be looked at: {path.parent} is read-only, and the file has a log that was not written back"
            )
            return Finding(path.name, Level.WARNING, detail, _ELSEWHERE)
        return Finding(path.name, Level.PROBLEM, str(error), "restore the file from a backup (docs/operations.md)")
    if verdict != "ok":
        return Finding(path.name, Level.PROBLEM, verdict, "restore the file from a backup (docs/operations.md)")
    return Finding(path.name, Level.OK, f"{path.stat().st_size / 2**20:.1f} MiB, pages intact")


async def _secrets(settings: Settings) -> list[Finding]:
    return list(_open_secrets(Path(settings.store.data_dir))) or [
        Finding("secrets", Level.OK, "no key file is readable by others")
    ]


def _open_secrets(data_dir: Path) -> Iterator[Finding]:
    for folder in ("keys", "cli"):
        for path in sorted((data_dir / folder).glob("*")):
            if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                yield Finding("secrets", Level.PROBLEM, f"{path} is readable by others", f"chmod 600 {path}")


async def _files(settings: Settings) -> list[Finding]:
    data_dir = Path(settings.store.data_dir)
    wide = await asyncio.to_thread(_readable_by_others, data_dir)
    if wide:
        advice = f"chmod 600 {' '.join(map(str, wide))}; a file of another user is theirs to change"
        return [Finding("files", Level.PROBLEM, f"others may read or write {', '.join(p.name for p in wide)}", advice)]
    return [Finding("files", Level.OK, "databases and indexes are their owner's alone")]


def _readable_by_others(data_dir: Path) -> list[Path]:
    """Return the data files that more than their owner may use; keys are looked at apart."""
    kept = (path for pattern in ("*.db", "*.db-wal", "*.db-shm", "*.indexes/*") for path in data_dir.glob(pattern))
    return sorted(path for path in kept if path.is_file() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


async def _ports(settings: Settings) -> list[Finding]:
    host, port = settings.server.host, settings.server.port
    if not port:
        return [Finding("port", Level.OK, "a free one is taken at start")]
    try:
        taken = await asyncio.to_thread(_answers, host, port)
    except OSError as error:
        advice = "set GROUNDTRAIL_SERVER__HOST to an address of this machine"
        return [Finding("port", Level.PROBLEM, f"{host} cannot be used: {error.strerror or error}", advice)]
    if taken:
        return [
            Finding(
                "port",
                Level.WARNING,
                f"something already listens on {host}:{port}",
                "that may be Groundtrail itself; otherwise set GROUNDTRAIL_SERVER__PORT",
            )
        ]
    return [Finding("port", Level.OK, f"{host}:{port} is free")]


def _answers(host: str, port: int) -> bool:
    """Say whether anything listens there, whatever the address family."""
    family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(address) == 0


async def _language_model(settings: Settings) -> list[Finding]:
    if not settings.llm.base_url:
        return [
            Finding(
                "llm",
                Level.WARNING,
                "none is configured: answers are composed of the facts' own sentences",
                "set GROUNDTRAIL_LLM__BASE_URL, __API_KEY and __MODEL for a real provider",
            )
        ]
    host = urlsplit(settings.llm.base_url).netloc
    async with Adapters(settings) as adapters:
        model = await adapters.language_model()
        try:
            if model is not None:
                await model.check()
        except CrpError as error:
            advice = "check GROUNDTRAIL_LLM__BASE_URL, __API_KEY and the network"
            return [Finding("llm", Level.PROBLEM, f"{host}: {error.message}", advice)]
    return [Finding("llm", Level.OK, f"{settings.llm.model} answers at {host}"), *await _tokens(settings)]


async def _tokens(settings: Settings) -> list[Finding]:
    """Say so where tokens of the deployment's model are not counted by its own tokenizer (ADR 0217)."""
    model, assumed = settings.llm.model, settings.gateway.assumed_window_tokens
    async with Adapters(settings) as adapters:
        profile = (await adapters.tokens()).stand_in(model, assumed)
    if not profile.approximate:
        return []
    margin, window = profile.safety_margin_ratio, profile.context_window_tokens
    advice = "name its tokenizer.json with GROUNDTRAIL_INFERENCE__TOKENIZERS (docs/how-to/count-tokens.md)"
    if window == assumed:
        advice += ", or at least its context window with GROUNDTRAIL_GATEWAY__ASSUMED_WINDOW_TOKENS"
    text = f"{model} has no tokenizer here: counted by a stand-in plus {margin:.0%}, in a window of {window:,} tokens"
    return [Finding("tokens", Level.WARNING, text, advice)]


async def _second_opinion(settings: Settings) -> list[Finding]:
    """Ask the endpoint of second opinions whether it is there; no claim is sent."""
    wanted = settings.second_opinion
    if not wanted.configured:
        return [Finding("second opinion", Level.OK, "none is configured")]
    host = urlsplit(wanted.base_url).netloc
    try:
        async with Adapters(settings) as adapters:
            endpoint = await adapters.second_opinion()
            if endpoint is not None:
                await endpoint.check()
    except (CrpError, StartupError) as error:
        advice = (
            "check GROUNDTRAIL_SECOND_OPINION__BASE_URL, __API_KEY and __PROMPT_FILE (docs/how-to/second-opinion.md)"
        )
        told = error.message if isinstance(error, CrpError) else str(error)
        return [Finding("second opinion", Level.PROBLEM, f"{host}: {told}", advice)]
    asks = f"{wanted.kind} {wanted.model} answers at {host}; asked about {wanted.scope} claims"
    return [Finding("second opinion", Level.OK, asks)]


async def _event_sink(settings: Settings) -> list[Finding]:
    """Look at secrets and addresses of the event sink; nothing is sent."""
    if not settings.event_sink.url:
        return [Finding("event sink", Level.OK, "none is configured")]
    advice = "docs/how-to/stream-events.md lists what the endpoint needs"
    try:
        async with Adapters(settings) as adapters:
            endpoint = await adapters.event_endpoint()
            problem = await endpoint.problem() if endpoint else ""
    except SettingsError as error:
        problem = "; ".join(error.problems)
    if problem:
        return [Finding("event sink", Level.PROBLEM, problem, advice)]
    return [Finding("event sink", Level.OK, f"{settings.event_sink.host} may be connected to, its key can be read")]


async def _checkpoints(settings: Settings) -> list[Finding]:
    """Look at where heads of the log go and at who signs them; no head is signed or sent."""
    advice = "docs/how-to/have-the-log-witnessed.md says how both are set up"
    problem = ""
    try:
        async with Adapters(settings) as adapters:
            endpoint = await adapters.checkpoint_endpoint()
            problem = await endpoint.problem() if endpoint else ""
            signer = await adapters.log_signer()
            if signer is not None:
                await signer.key(f"{settings.dag.log_name}/doctor")
    except SettingsError as error:
        problem = "; ".join(error.problems)
    except UnavailableError as error:
        problem = error.message
    if problem:
        return [Finding("checkpoints", Level.PROBLEM, problem, advice)]
    signed = "a process of its own" if settings.log_signer.socket else "the dag service"
    return [Finding("checkpoints", Level.OK, f"signed by {signed}; sent to {_places(settings)}")]


def _places(settings: Settings) -> str:
    wanted = settings.checkpoints
    places = ["a file"] * bool(wanted.file) + ["an endpoint"] * bool(wanted.url)
    places += [counted(len(wanted.witnesses), "witness", "witnesses")] * bool(wanted.witnesses)
    return ", ".join(places) or "nobody on a schedule"


async def _exposure(settings: Settings) -> list[Finding]:
    loopback = is_loopback(settings.server.host)
    if not loopback and not settings.server.tls.enabled:
        return [
            Finding(
                "tls",
                Level.WARNING,
                f"{settings.server.host} without TLS: API keys would cross the network in clear",
                "set GROUNDTRAIL_SERVER__TLS__CERT_FILE and __TLS__KEY_FILE, or bind to loopback behind a proxy",
            )
        ]
    return [Finding("tls", Level.OK, "loopback only" if loopback else "TLS is on")]


_CHECKS: Final[tuple[Callable[[Settings], Awaitable[list[Finding]]], ...]] = (
    _python,
    _weights,
    _data_dir,
    _stores,
    _logs,
    _master_keys,
    _milvus,
    _vector_engine,
    _copies,
    _neo4j,
    _secrets,
    _files,
    _ports,
    _exposure,
    _language_model,
    _second_opinion,
    _event_sink,
    _checkpoints,
)
