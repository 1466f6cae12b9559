"""The parts of the Neo4j adapter that need no server: keys, properties, failures, settings, how it is chosen."""

import ast
import hashlib
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

import neo4j.exceptions
import pytest
from neo4j.exceptions import (
    ClientError,
    ConstraintError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from pydantic import ValidationError

import services.common.adapters.neo4j
from services.common import answering, composition
from services.common.adapters.neo4j import Neo4jSessionStore, session_records
from services.common.adapters.neo4j.failures import translate, translated
from services.common.adapters.neo4j.knowledge import source_of, source_properties
from services.common.adapters.neo4j.receipts import receipt_of, receipt_properties
from services.common.adapters.neo4j.values import key, micros, moment, sort_key
from services.common.errors import ConflictError, ErrorReason, StartupError, UnavailableError
from services.common.ports.graph import SourceStatus
from services.common.ports.sessions import DeferredFact, EdgeRecord, TransferType
from services.common.settings import Settings, StoreSettings
from services.common.settings.neo4j import Neo4jSettings
from services.common.taxonomy import WindowStatus
from tests.contract.records import HOSTILE, NOW, event, receipt, report, session, source, window

PACKAGE = Path(services.common.adapters.neo4j.__file__).parent


class TestValues:
    def test_a_key_is_of_its_parts_and_of_no_others(self):
        lists = [
            (),
            ("",),
            ("", ""),
            ("a", "b"),
            ("ab",),
            ("a", "b", ""),
            ("1:a",),
            ("a1:b",),
            ("a", "1:b"),
            *((t,) for t in HOSTILE),
        ]
        assert len({key(*parts) for parts in lists}) == len(lists)
        record = (Path(__file__).parents[3] / "docs/adr/0056-sessions-on-neo4j.md").read_text(encoding="utf-8")
        for parts, text in ((("a", "bc"), "1:a2:bc"), (("ab", "c"), "2:ab1:c")):
            assert key(*parts) == hashlib.sha256(text.encode()).hexdigest()
            assert f"`{text}`, {key(*parts)}" in record

    def test_an_index_takes_every_key_and_every_start_of_an_id(self):
        for text in (*HOSTILE, "🧾" * 10_000):
            assert len(key(text)) == 64
            assert len(sort_key(text).encode()) <= 2_000

    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_the_start_of_an_id_never_contradicts_the_ids_order(self, text):
        assert all((text < other) <= (sort_key(text) <= sort_key(other)) for other in HOSTILE)

    def test_moments_keep_their_microseconds(self):
        for one in (NOW, datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)):
            assert moment(micros(one)) == one


class TestRecords:
    def test_every_record_comes_back(self):
        full = replace(window("s", 2), facts_included=("f",), facts_deferred=(DeferredFact("g", 3),))
        flow = EdgeRecord("s", "a", "b", TransferType.SUMMARY, 4, "hash")
        row = session_records.edge_row("t", flow)
        assert session_records.session_of(session_records.session_properties(session("s"))) == session("s")
        assert session_records.window_of(session_records.window_properties("t", full)) == full
        assert session_records.edge_of("s", row["properties"] | {"source_id": "a", "target_id": "b"}) == flow
        assert session_records.event_of(session_records.event_properties("t", event("s", 1))) == event("s", 1)
        assert session_records.report_of(session_records.report_properties("t", report("s", "r"))) == report("s", "r")
        assert receipt_of(receipt_properties(receipt("q"))) == receipt("q")
        kept = source("s", fact_ids_pending=("f",), stale_on_activation=("g",), metadata={"ключ": "значение"})
        assert source_of(source_properties(kept)) == kept

    @pytest.mark.parametrize(
        ("status", "found_by_uri", "unfinished"),
        [("INGESTING", True, True), ("ACTIVE", True, False), ("ERASING", True, True), ("ERASED", False, False)],
    )
    def test_an_index_holds_a_source_only_where_it_is_looked_for(self, status, found_by_uri, unfinished):
        properties = source_properties(source("s", status=SourceStatus(status)))
        assert ("uri_key" in properties, "unfinished" in properties) == (found_by_uri, unfinished)

    def test_a_salt_is_never_a_property(self):
        salted = (replace(window("s", 1), salt=b"x" * 32), replace(event("s", 0), salt=b"x" * 32))
        assert all("salt" in {field.name for field in fields(record)} for record in salted)
        assert "salt" not in session_records.window_properties("t", salted[0])
        assert "salt" not in session_records.event_properties("t", salted[1])

    def test_constraints_see_living_roots_and_continuations_alone(self):
        root = session_records.window_properties("t", window("s", 1))
        child = session_records.window_properties("t", window("s", 2, continuation_id=""))
        failed = session_records.window_properties("t", window("s", 1, status=WindowStatus.FAILED))
        assert ("root_key" in root, "root_key" in child, "root_key" in failed) == (True, False, False)
        assert ("continuation_key" in root, "continuation_key" in child) == (True, False)


def of_code(kind: type[Neo4jError], code: str) -> Neo4jError:
    error = Neo4jError._hydrate_neo4j(code=code, message="Node(7) with host db.internal and value 'secret'")
    assert isinstance(error, kind)
    return error


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "cause"),
        [
            (ServiceUnavailable("no route to db.internal"), "unreachable"),
            (IncompleteCommit("db.internal"), "incomplete_commit"),
            (SessionExpired("db.internal"), "no_connection"),
            (TimeoutError(), "timeout"),
            (of_code(Neo4jError, "Neo.TransientError.Transaction.DeadlockDetected"), None),
            (of_code(Neo4jError, "Neo.TransientError.General.DatabaseUnavailable"), None),
            (of_code(Neo4jError, "Neo.DatabaseError.General.UnknownError"), None),
            (of_code(Neo4jError, "Neo.ClientError.Transaction.TransactionTimedOut"), None),
            (of_code(Neo4jError, "Neo.ClientError.Security.Unauthorized"), None),
            (of_code(Neo4jError, "Neo.ClientError.Database.DatabaseNotFound"), None),
        ],
        ids=lambda value: getattr(value, "code", None) or type(value).__name__,
    )
    def test_what_the_server_or_the_way_causes_is_unavailable_and_names_no_host(self, error, cause):
        with pytest.raises(UnavailableError) as caught, translated():
            raise error
        assert caught.value.reason is ErrorReason.STORE_UNAVAILABLE
        assert caught.value.metadata == {"store": "neo4j", "cause": cause or error.code}
        assert caught.value.retry_after_s is not None
        assert not any(word in str(caught.value) for word in ("db.internal", "secret"))
        assert caught.value.__cause__ is error

    def test_a_constraint_that_does_not_hold_is_a_race(self):
        with pytest.raises(ConflictError) as caught, translated():
            raise of_code(ConstraintError, "Neo.ClientError.Schema.ConstraintValidationFailed")
        assert caught.value.reason is ErrorReason.COMMIT_RACE

    def test_a_mistake_of_ours_passes_through(self):
        mistake = of_code(ClientError, "Neo.ClientError.Statement.SyntaxError")
        assert translate(mistake) is None
        with pytest.raises(neo4j.exceptions.ClientError), translated():
            raise mistake

    async def test_nobody_there_is_told_when_the_start_has_waited_enough(self):
        nobody = Neo4jSettings(uri="bolt://127.0.0.1:1", start_timeout_s=3.0, connect_timeout_s=1.0)
        with pytest.raises(UnavailableError, match="cannot be reached"):
            await Neo4jSessionStore.open(nobody)

    async def test_a_certificate_file_that_is_not_there(self, tmp_path):
        with pytest.raises(StartupError, match="GROUNDTRAIL_NEO4J__TLS_ROOT_CERTIFICATES"):
            await Neo4jSessionStore.open(Neo4jSettings(tls_root_certificates=tmp_path / "none.pem"))


class TestSettings:
    @pytest.mark.parametrize("uri", ["bolt://h:1", "neo4j://h", "bolt+s://h:7687", "neo4j+ssc://10.0.0.1:7687"])
    def test_an_address(self, uri):
        assert Neo4jSettings(uri=uri).uri == uri

    @pytest.mark.parametrize(
        "uri", ["", "http://h:7474", "bolt://", "bolt://user:secret@h:7687", "bolt://h/db", "h:7687"]
    )
    def test_no_address(self, uri):
        with pytest.raises(ValidationError):
            Neo4jSettings(uri=uri)

    def test_one_kind_of_tls(self, tmp_path):
        with pytest.raises(ValidationError, match="bring their own trust"):
            Neo4jSettings(uri="bolt+s://h", tls_root_certificates=tmp_path / "ca.pem")

    def test_the_password_is_shown_nowhere(self):
        shown = Settings(neo4j=Neo4jSettings(password="s3cr3t-neo4j"))
        assert "s3cr3t-neo4j" not in repr(shown) + str(shown.model_dump(mode="json"))

    @pytest.mark.parametrize(("store", "opened"), [("sessions", "session_store"), ("graph", "knowledge_graph")])
    async def test_without_the_driver_the_start_says_what_to_install(self, monkeypatch, store, opened):
        monkeypatch.setattr(answering, "find_spec", lambda _: None)
        async with composition.Adapters(Settings(store=StoreSettings(**{store: "neo4j"}))) as adapters:
            with pytest.raises(StartupError, match=r"groundtrail\[neo4j\]"):
                await getattr(adapters, opened)()


def test_no_statement_is_put_together():
    """Every constant that holds Cypher is a plain literal, and every call runs a constant or what it was given."""
    assembled, literals = [], 0
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.JoinedStr, ast.BinOp)):
                parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                words = {word for part in parts if isinstance(part, str) for word in part.split()}
                if words & {"MATCH", "MERGE", "CREATE", "RETURN", "WHERE", "SET", "UNWIND"}:
                    assembled.append((path.name, node.lineno))
            literals += isinstance(node, ast.Constant) and "MATCH (" in str(node.value)
    assert assembled == []
    assert literals >= 20
