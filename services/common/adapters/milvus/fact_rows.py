"""Facts as rows of Milvus: keys, encoding, filters.

No text of a caller ever stands in an expression: ids become hexadecimal digits of their UTF-8, which keeps their
order, tenants, sources and communities become digests. So there is nothing to escape, in any version of Milvus.

Each write of a fact makes a row with a key of its own: the fact's ``stem`` and the number of the write (``batch``, see
``journal``). Rows of a later write than the tenant's last complete one are not visible yet; rows that were replaced are
deleted. Rows are found by ``fact``, a hash of the stem.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from services.common.adapters.milvus.database import Row
from services.common.adapters.milvus.words import encoded_words
from services.common.keywords import Stemming
from services.common.locations import searched_text
from services.common.ports.fact_changes import FactOutline
from services.common.ports.facts import (
    ERASED_HASH,
    FactFilter,
    FactRecord,
    FactStatus,
    StateEntry,
    Vectors,
    check_embedding,
)
from services.common.ports.recognition import Entity, EntityKind

STATUS_CODES: Final[Mapping[FactStatus, int]] = {
    FactStatus.ACTIVE: 0,
    FactStatus.STALE: 1,
    FactStatus.QUARANTINED: 2,
    FactStatus.DELETED: 3,
}
GONE: Final = 4
"""Status code of a row that says that its fact was removed without a trace; never visible, soon deleted."""
_STATUSES: Final = {code: status for status, code in STATUS_CODES.items()}
RETRIEVABLE: Final = (FactStatus.ACTIVE, FactStatus.STALE)

OUTLINE_FIELDS: Final = ("key", "content_hash", "body")
"""What ``outline`` reads."""
STATE_FIELDS: Final = ("key", "status", "content_hash", "modified_us")
FULL_FIELDS: Final = ("key", "status", "modified_us", "born", "body", "vector")
"""What ``record`` reads."""
WHOLE_FIELDS: Final = (
    *("key", "fact", "tenant", "batch", "born", "status", "source", "community", "content_hash", "modified_us"),
    *("words", "terms", "length", "starts_us", "ends_us", "body", "vector"),
)
"""All of a row."""
NO_START: Final = -(1 << 62)
NO_END: Final = 1 << 62
"""Microseconds of a fact that has held always, or holds for ever."""
MOST_KEY_CHARS: Final = 65_535
MOST_BODY_PIECES: Final = 64
_BODY_PIECE_CHARS: Final = 16_383
"""At most 65,535 bytes of UTF-8, Milvus's limit."""
_TENANT_CHARS: Final = 32
_BATCH_CHARS: Final = 17
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def digest(text: str) -> str:
    """Return what stands for a tenant, source or community: 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stem(tenant: str, fact_id: str) -> str:
    """Return the start of the keys of a fact of a tenant (given by its digest); they sort as ids do."""
    return tenant[:_TENANT_CHARS] + fact_id.encode("utf-8", "surrogatepass").hex()


def stem_of(key: str) -> str:
    """Return a key without the number of its write."""
    return key[:-_BATCH_CHARS]


def key_of(one: str, batch: int) -> str:
    """Return the key of the row of a fact (given by its stem) that a write makes."""
    return f"{one}.{batch:016x}"


def fact_number(one: str) -> int:
    """Return the number by which the rows of a fact (given by its stem) are found; two facts may share one."""
    return int.from_bytes(hashlib.blake2b(one.encode(), digest_size=8).digest()) >> 1


def fact_id_of(key: str) -> str:
    """Return the id of the fact of a key."""
    return bytes.fromhex(key[_TENANT_CHARS:-_BATCH_CHARS]).decode("utf-8", "surrogatepass")


def micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """Read what ``micros`` wrote."""
    return _EPOCH + value * _MICROSECOND


def listed(field: str, values: Iterable[str | int]) -> str:
    """Return ``field in […]`` for keys, digests or numbers."""
    return f"{field} in {json.dumps(list(values))}"


def filter_condition(where: FactFilter) -> str:
    """Return `` and …`` for a filter; empty = no restriction."""
    condition = ""
    if where.source_ids:
        condition += " and " + listed("source", map(digest, where.source_ids))
    if where.communities:
        condition += " and " + listed("community", map(digest, where.communities))
    if where.statuses:
        condition += " and " + listed("status", [STATUS_CODES[status] for status in where.statuses])
    if where.time is not None and not where.time.ended:
        condition += f" and ends_us > {micros(where.time.at)}"
    if where.time is not None and not where.time.coming:
        condition += f" and starts_us <= {micros(where.time.at)}"
    return condition


def retrievable(where: FactFilter) -> FactFilter | None:
    """Return the filter with only statuses that a search may return; ``None`` when there are none."""
    statuses = tuple(status for status in RETRIEVABLE if not where.statuses or status in where.statuses)
    return replace(where, statuses=statuses) if statuses else None


def encode(fact: FactRecord, tenant: str, dimension: int, stemming: Stemming) -> Row:
    """Return the row of a fact of a tenant (given by its digest), with its stem as key, without batch and birth.

    Raises:
        ValueError: the vector is none of this collection, or the id or the text is too long for Milvus.
    """
    check_embedding(fact, dimension)
    key = stem(tenant, fact.fact_id)
    if len(key) + _BATCH_CHARS > MOST_KEY_CHARS:
        raise ValueError(f"fact id of {len(fact.fact_id)} characters; Milvus keeps ids of up to 32,700 bytes")
    erased = fact.status is FactStatus.DELETED
    return {
        "key": key,
        "fact": fact_number(key),
        "tenant": tenant,
        "status": STATUS_CODES[fact.status],
        "source": digest(fact.source_id),
        "community": digest(fact.community_label),
        "content_hash": ERASED_HASH if erased else fact.content_hash,
        "modified_us": micros(fact.modified_at),
        **_word_fields("" if erased else searched_text(fact.content, fact.source_location), stemming),
        "starts_us": NO_START if erased or fact.valid_from is None else micros(fact.valid_from),
        "ends_us": NO_END if erased or fact.ends_at is None else micros(fact.ends_at),
        "body": _pieces(fact.fact_id, _body(fact, erased=erased)),
        "vector": _no_vector(key, dimension) if erased else np.asarray(fact.embedding, dtype=np.float32),
    }


def tombstone_of(row: Row, modified_us: int) -> Row:
    """Return a row with its content, location, entities, metadata, words and vector destroyed."""
    body = json.loads("".join(row["body"]))
    body |= {"content": "", "hash": ERASED_HASH, "location": "", "entities": [], "metadata": {}}
    body |= {"superseded": None, "valid_from": None, "valid_to": None}
    return row | {
        "content_hash": ERASED_HASH,
        "status": STATUS_CODES[FactStatus.DELETED],
        "modified_us": modified_us,
        **_word_fields("", Stemming.NONE),
        "starts_us": NO_START,
        "ends_us": NO_END,
        "body": [json.dumps(body, ensure_ascii=False)],
        "vector": _no_vector(row["key"], len(row["vector"])),
    }


def without_hash(row: Row) -> Row | None:
    """Return a tombstone without the hash of what it was, as ``tombstone_of`` leaves it; ``None`` where it has none."""
    if row["content_hash"] == ERASED_HASH:
        return None
    body = json.loads("".join(row["body"])) | {"hash": ERASED_HASH}
    return row | {"content_hash": ERASED_HASH, "body": [json.dumps(body, ensure_ascii=False)]}


def reworded(row: Row, stemming: Stemming) -> Row | None:
    """Return a row with the words that ``stemming`` makes of its texts; ``None`` where it has them already."""
    fields = _word_fields(searched_text_of(row), stemming)
    return None if all(row[name] == value for name, value in fields.items()) else row | fields


def searched_text_of(row: Row) -> str:
    """Return the text by whose words a row is found that was read with its body: its own, and its headings."""
    body = json.loads("".join(row["body"]))
    return searched_text(body["content"], body["location"])


def superseded(row: Row, ended_us: int, modified_us: int) -> Row | None:
    """Return a row marked as replaced; ``None`` where it has ended already, or is DELETED."""
    body = json.loads("".join(row["body"]))
    before = body.get("superseded")
    if row["status"] == STATUS_CODES[FactStatus.DELETED] or (before is not None and before <= modified_us):
        return None
    is_over = row["status"] == STATUS_CODES[FactStatus.ACTIVE] and ended_us <= modified_us
    status = STATUS_CODES[FactStatus.STALE] if is_over else row["status"]
    return _timed(row, body | {"superseded": ended_us}) | {"status": status, "modified_us": modified_us}


def reinstated(row: Row, modified_us: int) -> Row | None:
    """Return a row without its mark; ``None`` where it has none."""
    body = json.loads("".join(row["body"]))
    if row["status"] == STATUS_CODES[FactStatus.DELETED] or body.get("superseded") is None:
        return None
    is_stale = row["status"] == STATUS_CODES[FactStatus.STALE]
    status = STATUS_CODES[FactStatus.ACTIVE] if is_stale else row["status"]
    return _timed(row, body | {"superseded": None}) | {"status": status, "modified_us": modified_us}


def timed(row: Row) -> Row:
    """Return a row of layout 2 with what layout 3 adds: a STALE one was replaced at its last change (ADR 0109)."""
    if row["status"] != STATUS_CODES[FactStatus.STALE]:
        return row | {"starts_us": NO_START, "ends_us": NO_END}
    return _timed(row, json.loads("".join(row["body"])) | {"superseded": row["modified_us"]})


def _timed(row: Row, body: dict[str, Any]) -> Row:
    start, ends = body.get("valid_from"), (body.get("superseded"), body.get("valid_to"))
    return row | {
        "starts_us": NO_START if start is None else start,
        "ends_us": min((end for end in ends if end is not None), default=NO_END),
        "body": _pieces(row["key"], json.dumps(body, ensure_ascii=False)),
    }


def relabelled(row: Row, label: str) -> Row:
    """Return a row with another community."""
    text = "".join(row["body"])
    body = json.loads(text) | {"community": label}
    return row | {"community": digest(label), "body": _pieces(row["key"], json.dumps(body, ensure_ascii=False))}


def gone(row: Row) -> Row:
    """Return the row that removes a fact without a trace."""
    return tombstone_of(row, 0) | {"status": GONE, "body": [], "content_hash": ""}


def marker(name: str, dimension: int) -> Row:
    """Return a row that is never visible and belongs to nobody."""
    return {
        "key": name,
        "fact": 0,
        "tenant": "",
        "batch": 0,
        "born": 0,
        "status": GONE,
        "source": "",
        "community": "",
        "content_hash": "",
        "modified_us": 0,
        "words": [],
        "terms": "",
        "length": 0,
        "starts_us": NO_START,
        "ends_us": NO_END,
        "body": [],
        "vector": _no_vector(name, dimension),
    }


def record(tenant_id: str, row: Row) -> FactRecord:
    """Return the fact of a row of ``FULL_FIELDS``."""
    body = json.loads("".join(row["body"]))
    vector = np.array(row["vector"], dtype=np.float32)
    status = _STATUSES[row["status"]]
    if status is FactStatus.DELETED:
        vector = np.zeros_like(vector)
    vector.setflags(write=False)
    return FactRecord(
        tenant_id=tenant_id,
        fact_id=fact_id_of(row["key"]),
        content=body["content"],
        content_hash=body["hash"],
        source_id=body["source"],
        source_location=body["location"],
        importance_weight=body["importance"],
        ingested_at=moment(body["ingested"]),
        modified_at=moment(row["modified_us"]),
        status=status,
        embedding=vector,
        embedding_model=body["model"],
        community_label=body["community"],
        access_count=body["accesses"],
        last_accessed_at=None if body["accessed"] is None else moment(body["accessed"]),
        ttl=None if body["ttl"] is None else timedelta(microseconds=body["ttl"]),
        entities=tuple(Entity(EntityKind(kind), *rest) for kind, *rest in body["entities"]),
        metadata=body["metadata"],
        superseded_at=_time(body, "superseded"),
        valid_from=_time(body, "valid_from"),
        valid_to=_time(body, "valid_to"),
    )


def _time(body: Mapping[str, Any], name: str) -> datetime | None:
    value = body.get(name)  # rows that stood in layout 2 have none
    return None if value is None else moment(value)


def state_entry(row: Row) -> StateEntry:
    """Return the entry of a row of ``STATE_FIELDS``."""
    return StateEntry(fact_id_of(row["key"]), row["content_hash"], moment(row["modified_us"]), _STATUSES[row["status"]])


def outline(row: Row) -> FactOutline:
    """Return the outline of a row of ``OUTLINE_FIELDS``."""
    body = json.loads("".join(row["body"]))
    return FactOutline(fact_id_of(row["key"]), row["content_hash"], body["importance"], body["community"])


def community_of(body: str) -> str:
    """Return the community's label that stands in a row's body."""
    return str(json.loads(body)["community"])


@dataclass(frozen=True, slots=True)
class Weight:
    """What facts count in a tenant's totals, which BM25 is computed from: all but tombstones."""

    facts: int
    words: int

    @staticmethod
    def of(rows: Iterable[Row]) -> "Weight":
        """Add up rows."""
        counted = [row["length"] for row in rows if row["status"] < STATUS_CODES[FactStatus.DELETED]]
        return Weight(len(counted), sum(counted))


NOTHING: Final = Weight(0, 0)


def _body(fact: FactRecord, *, erased: bool) -> str:
    entities = [(entity.kind, entity.text, entity.start, entity.end) for entity in fact.entities]
    body: dict[str, Any] = {
        "content": "" if erased else fact.content,
        "hash": ERASED_HASH if erased else fact.content_hash,
        "source": fact.source_id,
        "location": "" if erased else fact.source_location,
        "importance": float(fact.importance_weight),
        "ingested": micros(fact.ingested_at),
        "model": fact.embedding_model,
        "community": fact.community_label,
        "accesses": fact.access_count,
        "accessed": None if fact.last_accessed_at is None else micros(fact.last_accessed_at),
        "ttl": None if fact.ttl is None else fact.ttl // _MICROSECOND,
        "entities": [] if erased else entities,
        "metadata": {} if erased else dict(fact.metadata),
    }
    times = (("superseded", fact.superseded_at), ("valid_from", fact.valid_from), ("valid_to", fact.valid_to))
    body |= {name: None if erased or time is None else micros(time) for name, time in times}
    return json.dumps(body, ensure_ascii=False)


def _word_fields(text: str, stemming: Stemming) -> Row:
    words = encoded_words(text, stemming)
    return {"words": words.hashes, "terms": words.terms, "length": words.length}


def _pieces(name: str, text: str) -> list[str]:
    pieces = [text[start : start + _BODY_PIECE_CHARS] for start in range(0, len(text), _BODY_PIECE_CHARS)]
    if len(pieces) > MOST_BODY_PIECES:
        raise ValueError(
            f"fact {name}: {len(text)} characters; at most {MOST_BODY_PIECES * _BODY_PIECE_CHARS} are kept"
        )
    return pieces


def _no_vector(name: str, dimension: int) -> Vectors:
    """Return a vector that says nothing of a fact's: Milvus wants one, and many equal ones would spoil its graph."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    numbers = np.random.default_rng(seed).standard_normal(dimension)
    unit: Vectors = (numbers / np.linalg.norm(numbers)).astype(np.float32)
    return unit


def stems(tenant: str, fact_ids: Sequence[str]) -> list[str]:
    """Return the stems of ids, each once, in their order."""
    return list(dict.fromkeys(stem(tenant, fact_id) for fact_id in fact_ids))
