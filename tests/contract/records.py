"""Records for the contract suites, and the texts and ids that stores must keep apart and give back unchanged."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from crp.ckf.v1 import ingestion_pb2, knowledge_service_pb2

from services.common.ports.credentials import AiSystemRecord, ApiKeyRecord, TenantPolicyRecord, TenantProviderRecord
from services.common.ports.facts import FactRecord, FactStatus, Vectors
from services.common.ports.graph import SourceRecord, SourceStatus
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    ReportRecord,
    SessionRecord,
    SessionStatus,
    WindowPattern,
    WindowRecord,
)
from services.common.taxonomy import WindowStatus
from tests.contract.adapters import DIMENSION, MODEL

NOW: Final = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
LATER: Final = NOW + timedelta(seconds=1)

HOSTILE: Final = (
    "plain",
    'it\'s "quoted"; DROP TABLE facts; --',
    "' OR 1=1 --",
    '"NEAR(a b, 2)" AND NOT * ^ column:x (',
    '" or "1"=="1',
    'back\\slash \\" or 1 == 1 or "\\',
    "%' or status in [0] #",
    "nul\x00inside\x00",
    "\x00",
    "emoji 🧾👩‍💻 and flags 🇩🇪",
    "naïve Ångström ΑΒΓ",
    "é",
    "日本語の文 と العربية",
    "% _ \\ % [a-z]* ?",
    "tab\tnew\nline\r\n",
    " leading and trailing ",
    "a" * 10_000,
    "word " * 2_000,
)
"""Texts that have broken stores; also used as ids, where each must stay its own."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def vector(*direction: float) -> Vectors:
    """Return the unit vector in the direction of the leading components."""
    padded = np.zeros(DIMENSION, dtype=np.float64)
    padded[: len(direction)] = direction
    return (padded / np.linalg.norm(padded)).astype(np.float32)


def random_vectors(seed: int, count: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def fact(fact_id: str, **changes: Any) -> FactRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "fact_id": fact_id,
        "content": f"content of {fact_id}",
        "source_id": "source-1",
        "source_location": "p. 1",
        "importance_weight": 0.5,
        "ingested_at": NOW,
        "modified_at": NOW,
        "status": FactStatus.ACTIVE,
        "embedding": vector(1.0),
        "embedding_model": MODEL,
    } | changes
    values.setdefault("content_hash", digest(values["content"]))
    return FactRecord(**values)


def source(source_id: str, **changes: Any) -> SourceRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "source_id": source_id,
        "title": f"title of {source_id}",
        "uri": f"file:///{source_id}",
        "source_type": "INTERNAL",
        "media_type": "text/plain",
        "document_hash": digest(source_id),
        "ingested_at": NOW,
        "fact_count": 3,
        "status": SourceStatus.ACTIVE,
    }
    return SourceRecord(**(values | changes))


def receipt(request_id: str, **changes: Any) -> Receipt:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "rpc": "IngestSource",
        "request_id": request_id,
        "body_hash": digest(request_id),
        "response": b"\x00answer\xff" + request_id.encode(),
        "created_at": NOW,
    }
    return Receipt(**(values | changes))


def quoting(request_id: str, *source_ids: str, **changes: Any) -> Receipt:
    """Return an answer to an ingestion that quotes a fact of each source, as a duplicate and as another value."""
    report = ingestion_pb2.IngestionReport(
        duplicates=[
            ingestion_pb2.DuplicateFact(content="own", other_source_id=one, other_content=f"words of {one}")
            for one in source_ids
        ],
        disagreements=[
            ingestion_pb2.DisagreeingFact(
                value="own", other_source_id=one, other_content=f"words of {one}", other_value=f"value of {one}"
            )
            for one in source_ids
        ],
    )
    answer = knowledge_service_pb2.IngestSourceResponse(facts_created=2, report=report)
    return receipt(request_id, response=answer.SerializeToString(deterministic=True), **changes)


def session(session_id: str, version: int = 1, **changes: Any) -> SessionRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "session_id": session_id,
        "scope": "crp_gw_test_12345678",
        "status": SessionStatus.OPEN,
        "created_at": NOW,
        "version": version,
        "audit_trail_id": "crp_trail_1",
        "key_version": 1,
        "policy_hash": digest("policy"),
        "max_windows": 5,
        "max_fan_out": 10,
        "max_dag_nodes": 50,
        "max_loop_depth": 5,
        "trail_mac": digest(f"trail {version}"),
    }
    return SessionRecord(**(values | changes))


def window(session_id: str, number: int, **changes: Any) -> WindowRecord:
    values: dict[str, Any] = {
        "session_id": session_id,
        "window_id": f"{session_id}/w{number}",
        "window_number": number,
        "parent_ids": () if number == 1 else (f"{session_id}/w{number - 1}",),
        "pattern": WindowPattern.LINEAR,
        "status": WindowStatus.COMMITTED,
        "strategy": "push",
        "timestamp": NOW,
        "continuation_id": f"{session_id}/c{number}",
    }
    return WindowRecord(**(values | changes))


def event(session_id: str, sequence: int, **changes: Any) -> AuditEventRecord:
    values: dict[str, Any] = {
        "session_id": session_id,
        "sequence": sequence,
        "event_id": f"{session_id}/e{sequence}",
        "event_type": "WINDOW_COMMITTED",
        "timestamp": NOW,
        "window_id": f"{session_id}/w1",
        "data": '{"n":1}',
        "hmac": digest(str(sequence)),
    }
    return AuditEventRecord(**(values | changes))


def report(session_id: str, report_id: str, **changes: Any) -> ReportRecord:
    values: dict[str, Any] = {
        "session_id": session_id,
        "window_id": f"{session_id}/w1",
        "report_id": report_id,
        "report_hash": digest(report_id),
        "created_at": NOW,
        "body": '{"claims":[]}',
    }
    return ReportRecord(**(values | changes))


def api_key(key_id: str, **changes: Any) -> ApiKeyRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "key_id": key_id,
        "prefix": f"crp_gw_test_{key_id}",
        "key_hash": digest(key_id),
        "label": "a key",
        "roles": ("reader", "writer"),
        "created_at": NOW,
    }
    return ApiKeyRecord(**(values | changes))


def ai_system(ai_system_id: str, **changes: Any) -> AiSystemRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "ai_system_id": ai_system_id,
        "name": "Claims assistant",
        "domain": "EMPLOYMENT",
        "sector": "finance",
        "registered_at": NOW,
        "iso_42001_evidence": (("A.6.2.4", "report 12"), ("A.6.2.5", "report 13")),
        "intended_purpose": HOSTILE,
        "annex_iii_areas": ("EMPLOYMENT", "ESSENTIAL_SERVICES"),
        "prohibited_practices": ("SOCIAL_SCORING",),
        "interacts_with_people": True,
        "generates_content": True,
        "safety_component": True,
        "makes_decisions": True,
        "role": "DEPLOYER",
        "regulated_sector": "FINANCIAL",
        "updated_at": NOW,
    }
    return AiSystemRecord(**(values | changes))


def policy(version: int, **changes: Any) -> TenantPolicyRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "safety_policy": "halt-on=critical",
        "allowed_sink_hosts": ("sink.example", "audit.example"),
        "data_residency": "eu",
        "version": version,
        "updated_at": NOW,
    }
    return TenantPolicyRecord(**(values | changes))


def provider(name: str, **changes: Any) -> TenantProviderRecord:
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "name": name,
        "form": "openai",
        "base_url": "https://llm.example/v1",
        "models": ("gpt-*", *HOSTILE),
        "sealed_key": b"gtprov1.\x00\xff",
        "key_version": 3,
        "updated_at": NOW,
    }
    return TenantProviderRecord(**(values | changes))
