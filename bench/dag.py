"""Sessions: commits against the disk's own fsync, recomputing a chain against bare hmac, tokens; all in the same run.

    python -m bench.dag [--windows 10000] [--seconds 4]

Commits: 32 sessions write the records of CommitWindow to the SQLite store with synchronous FULL; then 32 clients open
and commit windows through a served dag process over gRPC. The baseline is what the disk does: append 4 KiB and fsync,
before and after each measurement, in the same directory. Recomputing: the same bytes lie ready for the baseline, one
``hmac.new`` (``sha256`` where no key is needed) after the other, in rounds that alternate with the measured ones.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, Literal, cast

import grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from crp.dpe.v1 import report_pb2

from bench import dag_chain
from bench.report import Row, show
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.clock import SystemClock
from services.common.context import Caller, Role
from services.common.encoding import sha256_hex
from services.common.ports.sessions import SessionChange, SessionRecord, SessionStatus, SessionStore
from services.common.provenance import report_hash
from services.common.rpc.canonical import message_json
from services.common.settings.stores import StoreSettings
from services.common.taxonomy import ChainIntegrity
from services.dag.chains import Chains
from services.dag.domain import chain, keys
from services.dag.domain import token as tokens
from services.dag.domain.leaf_checks import Records, compare_leaves
from services.dag.domain.opening import OpenCommand
from services.dag.domain.token import TokenState
from services.dag.domain.verification import StoredChain
from services.dag.domain.verify import verify_chain
from services.dag.master_keys import FixedMasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.tokens import Leaf, Tokens

SESSIONS: Final = 32
KEYS: Final = FixedMasterKeys({1: dag_chain.MASTER})
ALONE: Final = "commits at the store port, FULL, 1 session"
FSYNC: Final = "append 4 KiB and fsync"
BARE: Final = "bare hmac over the same bytes"
BARE_ALL: Final = "bare hmac and SHA-256 over the same bytes"
ROUNDS: Final = 5
_TEXT: Final = "A motor accident must be reported within 7 days. " * 40
_FSYNCS: Final = 100


def fsync_rate(directory: Path) -> float:
    """Return how often a second the disk makes 4 KiB more of a file durable."""
    handle = os.open(directory / "fsync", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        started = time.perf_counter()
        for _ in range(_FSYNCS):
            os.write(handle, b"x" * 4096)
            os.fsync(handle)
        return _FSYNCS / (time.perf_counter() - started)
    finally:
        os.close(handle)


class _Store(SealedSessionStore):
    """The store as the dag service opens it: content sealed, a leaf in the tenant's tree for every record."""

    def __init__(self, inner: SqliteSessionStore) -> None:
        super().__init__(inner, Sealer(KEYS))
        self.inner = inner


async def _open_store(path: Path, synchronous: Literal["FULL", "NORMAL"]) -> _Store:
    return _Store(await SqliteSessionStore.open(path, StoreSettings(synchronous=synchronous)))


class _Recorder:
    """Takes what the sealed store would write, so that the store port can be measured alone."""

    def __init__(self) -> None:
        self.changes: list[SessionChange] = []

    async def write(self, *changes: SessionChange) -> None:
        self.changes.extend(changes)


async def _sealed(session: dag_chain.Written) -> list[SessionChange]:
    """Return the session's changes as they reach the port: content sealed, leaves made."""
    recorder = _Recorder()
    store = SealedSessionStore(cast("SessionStore", recorder), Sealer(KEYS))
    for change in session.changes:
        await store.write(change)
    return recorder.changes


async def _store_commits(directory: Path, sessions: int, each: int, *, seal: bool) -> float:
    written = [dag_chain.write_session(f"{sessions}x{number}", each) for number in range(sessions)]
    store = await _open_store(directory / f"commits-{sessions}-{seal}.db", "FULL")
    changes = [session.changes if seal else await _sealed(session) for session in written]
    target: SessionStore = store if seal else store.inner

    async def write(of_session: Sequence[SessionChange]) -> None:
        for change in of_session:
            await target.write(change)

    started = time.perf_counter()
    await asyncio.gather(*(write(of_session) for of_session in changes))
    rate = sessions * each / (time.perf_counter() - started)
    await store.close()
    return rate


def commit_rows(directory: Path) -> list[Row]:
    """Measure commits: the records of one CommitWindow each, with 8 KiB of response and 24 KiB of report."""
    rows: list[Row] = []
    one_by_one = 0.0
    for name, sessions, seal, target in (
        (ALONE, 1, False, None),
        (f"commits at the store port, FULL, {SESSIONS} sessions", SESSIONS, False, 3.0),
        (f"… sealed and logged first, {SESSIONS} sessions", SESSIONS, True, None),
    ):
        before = fsync_rate(directory)
        rate = asyncio.run(_store_commits(directory, sessions, 60, seal=seal))
        disk = (before + fsync_rate(directory)) / 2
        rows.append(Row(FSYNC, disk, "a second"))
        rows.append(Row(name, rate, "commits/s", FSYNC, rate / disk, target, "records of one CommitWindow each"))
        one_by_one = one_by_one or rate
        if sessions > 1 and not seal:
            note = "what sharing a commit gains"
            rows.append(Row("… the same against one session", rate, "commits/s", ALONE, rate / one_by_one, note=note))
    return rows


def _report(opened: pb.OpenWindowResponse) -> report_pb2.DpeReport:
    window = opened.window
    report = report_pb2.DpeReport(
        report_id=str(uuid.uuid4()),
        session_id=window.session_id,
        window_id=window.window_id,
        window_number=window.window_number,
        response_content_hash=sha256_hex(_TEXT),
        risk_level=taxonomy.RISK_LEVEL_LOW,
    )
    report.report_hash = report_hash(message_json(report))
    return report


async def _client(stub: pb_grpc.SessionServiceStub, until: float) -> int:
    """Open and commit windows, session after session, and return how many were committed."""
    windows, token = 0, ""
    while time.perf_counter() < until:
        request = pb.OpenWindowRequest(request_id=str(uuid.uuid4()), session_token=token, available_budget_tokens=1000)
        opened = await stub.OpenWindow(request)
        committed = await stub.CommitWindow(
            pb.CommitWindowRequest(
                request_id=str(uuid.uuid4()),
                session_id=opened.session.session_id,
                window_id=opened.window.window_id,
                response_text=_TEXT,
                response_tokens=400,
                report=_report(opened),
                quality_tier=taxonomy.QUALITY_TIER_A,
            )
        )
        token = committed.session_token if committed.continuation_id else ""
        windows += 1
    return windows


async def _served_windows(address: str, seconds: float) -> float:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = pb_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        await _client(stub, time.perf_counter() + 0.5)
        started = time.perf_counter()
        done = await asyncio.gather(*(_client(stub, started + seconds) for _ in range(SESSIONS)))
        return sum(done) / (time.perf_counter() - started)


def served_rows(directory: Path, seconds: float) -> list[Row]:
    """Measure windows that are opened and committed over gRPC against a dag process of its own."""
    data = directory / "served"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDTRAIL_")}
    env = kept | {
        "GROUNDTRAIL_STORE__DATA_DIR": str(data),
        "GROUNDTRAIL_TELEMETRY__LOG_LEVEL": "warning",
        "GROUNDTRAIL_TELEMETRY__HTTP_PORT": "0",
    }
    ready = directory / "ready.json"
    command = [sys.executable, "-m", "services.dag", "--insecure-local", "--port", "0", "--ready-file", str(ready)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""  # "dag listening on ADDRESS"
            before = fsync_rate(directory)
            rate = asyncio.run(_served_windows(line.split()[-1], seconds))
            disk = (before + fsync_rate(directory)) / 2
        finally:
            process.terminate()
    name = f"windows opened and committed over gRPC, FULL, {SESSIONS} clients"
    note = "two RPCs, two durable writes and two verified chains each"
    return [Row(FSYNC, disk, "a second"), Row(name, rate, "windows/s", FSYNC, rate / disk, note=note)]


def _medians(measured: Callable[[], object], baseline: Callable[[], object]) -> tuple[float, float]:
    """Return the medians in ms of both, run in turns so that the machine's moods hit both."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for calls, kept in zip((measured, baseline), spent, strict=True):
            started = time.perf_counter()
            calls()
            kept.append((time.perf_counter() - started) * 1e3)
    return statistics.median(spent[0]), statistics.median(spent[1])


def _recomputed(stored: StoredChain, key: bytes) -> None:
    """Recompute both HMACs of every window from its record and its parents' records."""
    macs, hmacs = chain.Macs(key), {window.window_id: window.hmac for window in stored.snapshot.windows}
    for window in stored.snapshot.windows:
        found = macs.window(window, [hmacs[parent] for parent in window.parent_ids])
        if found != (window.hmac, window.window_hmac):
            raise AssertionError(window.window_id)


def _verified(stored: StoredChain, key: bytes) -> None:
    found = verify_chain(stored, key, 100_000)
    if found.integrity is not ChainIntegrity.VALID:
        raise AssertionError(found)


def _compared(stored: StoredChain) -> None:
    windows = {window.window_id: window for window in stored.snapshot.windows}
    digests = [sha256_hex(event.data) for event in stored.events]
    found = compare_leaves(stored.leaves, Records(stored.events, digests, windows), 0)
    if found.fault is not None:
        raise AssertionError(found)


def chain_rows(directory: Path, count: int) -> list[Row]:
    """Measure the recomputation of a long chain, in memory and read from the store."""
    session = dag_chain.write_session("chain", count)
    stored, key = session.stored(), session.key
    texts = dag_chain.bare_windows(stored)
    mine, bare = _medians(partial(_recomputed, stored, key), partial(dag_chain.hmac_all, texts, key))
    name = f"{count:,} windows, their HMACs recomputed, in memory"
    rows = [Row(f"{BARE}, {count:,} windows", bare, "ms")]
    rows.append(Row(name, mine, "ms", BARE, bare / mine, 0.5, "chained and single HMAC"))
    events = list(dag_chain.bare_events(stored.events))
    content = dag_chain.bare_content(stored) + [data for data, _ in events]
    texts += [text for _, text in events]
    salted, leaves = dag_chain.bare_leaves(stored)

    def everything() -> None:
        dag_chain.hmac_all(texts, key)
        dag_chain.hash_all(content)
        dag_chain.salted_all(salted)
        dag_chain.hash_all(leaves)

    mine, bare = _medians(partial(_verified, stored, key), everything)
    size = sum(map(len, content)) + sum(map(len, texts)) + sum(len(text) for _, text in salted) + sum(map(len, leaves))
    rows.append(Row(f"{BARE_ALL}, {count:,} windows", bare, "ms", note=f"{size / 2**20:,.0f} MiB"))
    name = f"{count:,} windows verified whole, in memory"
    note = "responses, reports, events, edges, invariants and the log's leaves too"
    rows.append(Row(name, mine, "ms", BARE_ALL, bare / mine, 0.5, note))
    bare_log, log = partial(dag_chain.salted_all, salted), partial(_compared, stored)
    mine, plain = _medians(log, bare_log)
    rows.append(
        Row(f"… of that: {len(stored.leaves):,} leaves compared", mine, "ms", note=f"bare HMACs {plain:.0f} ms")
    )
    read = asyncio.run(_from_store(directory, session))
    rows.append(Row(f"{count:,} windows read from SQLite and verified whole", read, "ms", BARE_ALL, bare / read))
    return rows


async def _from_store(directory: Path, session: dag_chain.Written) -> float:
    store = await _open_store(directory / "chain.db", "NORMAL")
    for change in session.changes:
        await store.write(change)
    chains = Chains(store, KEYS, SystemClock(), 100_000)
    spent = []
    for _ in range(3):
        started = time.perf_counter()
        found = await chains.verify(await chains.load(dag_chain.TENANT, session.session_id))
        spent.append((time.perf_counter() - started) * 1e3)
        if found.integrity is not ChainIntegrity.VALID:
            raise AssertionError(found)
    await store.close()
    return statistics.median(spent)


def _token_state() -> TokenState:
    now = datetime.now(tz=UTC).replace(microsecond=0)
    return TokenState(
        session_id="crp_sess_" + "s" * 32,
        window_number=4,
        quality_history=("A", "A", "B", "A"),
        safety_budget=0.85,
        chain_tip="9" * 64,
        continuation_id="crp_cont_" + "c" * 32,
        dag_structure="LINEAR",
        strategy="push",
        policy_hash="a" * 64,
        ckf_state_hash="b" * 64,
        scope="crp_gw_bench_abcdefgh",
        tenant=tokens.tenant_digest(dag_chain.TENANT),
        limits=(5, 10, 50, 5),
        issued_at=now,
        expires_at=now + timedelta(hours=1),
        key_version=1,
        hmac_key_version=1,
    )


def token_rows() -> list[Row]:
    """Measure issuing and checking a token, key derivation included, against the two HMACs and the HKDF in it."""
    state = _token_state()
    service = Tokens(KEYS, SystemClock(), timedelta(hours=1))
    token = tokens.issue(state, keys.session_sign_key(dag_chain.MASTER, state.session_id))
    caller = Caller(dag_chain.TENANT, state.scope, frozenset({Role.WRITER}), "bench")
    session = SessionRecord(
        dag_chain.TENANT, state.session_id, state.scope, SessionStatus.OPEN, state.issued_at, 1, "trail", 1, "a" * 64,
        5, 10, 50, 5,
    )  # fmt: skip
    leaf = Leaf(dag_chain.write_session("token", 1).changes[0].windows[0], state.quality_history, 0.85, "b" * 64)
    each = 300

    async def issue() -> None:
        for _ in range(each):
            await service.issue(session, leaf)

    async def check() -> None:
        ask = OpenCommand("push", "request")
        for _ in range(each):
            await service.verify(token, caller, ask)

    def bare() -> None:
        body = token.partition(".")[0].encode()
        for _ in range(each):
            key = keys.session_sign_key(dag_chain.MASTER, state.session_id)
            dag_chain.hmac_all((body, body[:105]), key)

    rows: list[Row] = []
    for name, call in (("a token issued", issue), ("a token checked, all but its chain tip", check)):
        mine, plain = _medians(lambda call=call: asyncio.run(call()), bare)  # type: ignore[misc]
        if not rows:
            rows.append(Row("bare HKDF and the two HMACs of a token", plain * 1e3 / each, "µs"))
        rows.append(Row(name, mine * 1e3 / each, "µs", "bare HKDF and two HMACs", plain / mine))
    return rows


def run(windows: int, seconds: float) -> list[Row]:
    """Measure in a directory of its own beside the working directory, so that the disk is the one that data is on."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-dag-") as place:
        directory = Path(place)
        rows = commit_rows(directory) + served_rows(directory, seconds)
        return rows + chain_rows(directory, windows) + token_rows()


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.dag", description=__doc__)
    parser.add_argument("--windows", type=int, default=10_000, help="length of the chain (default 10000)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of load over gRPC (default 4)")
    given = parser.parse_args()
    show("Sessions, chains and tokens", run(given.windows, given.seconds))


if __name__ == "__main__":
    main()
