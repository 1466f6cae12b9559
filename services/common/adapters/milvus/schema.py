"""The collections, and how a Milvus is brought to the layout that this program expects.

Milvus changes its schema outside of any transaction and cannot change a field of a collection. A version is a list of
steps that may be repeated, its number is written after them, and only ever grows: a process that ends half way leaves
the number, and the next one does the steps again; two that start at once do the same work. A change of fields makes
new collections, named after the version that made them, and copies.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pymilvus import DataType, MilvusClient

from services.common.adapters.milvus.database import Level, MilvusDatabase
from services.common.adapters.milvus.fact_rows import WHOLE_FIELDS, listed, timed
from services.common.adapters.milvus.failures import unavailable
from services.common.adapters.milvus.words import MOST_HASHES, MOST_TERMS_CHARS
from services.common.settings.milvus import MilvusSettings

HNSW_CONNECTIVITY: Final = 16
HNSW_EF_CONSTRUCTION: Final = 200
"""Of the graph over facts' vectors."""
_COPIED_ROWS: Final = 200
"""Rows with their text that are copied at a time."""
_UPGRADE_RETRY_S: Final = 3_600.0
_LONG: Final = 65_535
_PIECES: Final = 64
_NO_VECTOR: Final = [0.0, 1.0]
"""Milvus wants a vector in every collection; those without one of their own have this."""
_VERSION_KEY: Final = "schema"
_MODEL: Final = "model:"


@dataclass(frozen=True, slots=True)
class Collections:
    """Names of the collections of one installation.

    Attributes:
        meta: version of the layout; which embedding models have facts.
        journal: which writes are complete.
        accesses: access counts.
        facts: one for each embedding model, and the length of its vectors; the first is of the model in use.
    """

    meta: str
    journal: str
    accesses: str
    facts: dict[str, int]


Step = Callable[[MilvusDatabase, MilvusSettings], Awaitable[None]]


async def open_collections(
    database: MilvusDatabase, settings: MilvusSettings, *, embedding_model: str, dimension: int
) -> Collections:
    """Make what is not there yet and load it; return its names.

    Args:
        database: open.
        settings: prefix, partitions, times.
        embedding_model: fingerprint of the model in use.
        dimension: length of its vectors.

    Raises:
        UnavailableError: STORE_UNAVAILABLE: the layout is of a later version, the model's vectors have another length
            in Milvus, or it cannot be reached.
    """
    await _migrate(database, settings)
    name = facts_collection(settings, embedding_model)
    await _create(database, settings, name, _facts_fields(), dimension)
    await _check_dimension(database, settings, name, dimension)
    known = {"key": f"{_MODEL}{name}", "value": json.dumps([embedding_model, dimension]), "vector": _NO_VECTOR}
    await database.upsert(_name(settings, "meta"), [known])
    rows = await database.all_rows(
        _name(settings, "meta"), f'key > "{_MODEL}" and key < "{_MODEL[:-1]};"', ("key", "value"), Level.STRONG
    )
    facts = {name: dimension}
    for row in rows:
        other = row["key"].removeprefix(_MODEL)
        if other != name:
            await _load(database, settings, other)
            facts[other] = int(json.loads(row["value"])[1])
    return Collections(
        meta=_name(settings, "meta"),
        journal=_name(settings, "journal"),
        accesses=_name(settings, "accesses"),
        facts=facts,
    )


def facts_collection(settings: MilvusSettings, embedding_model: str) -> str:
    """Return the name of the collection of a model's facts, in the layout of version 3."""
    return _name(settings, f"facts3_{hashlib.sha256(embedding_model.encode()).hexdigest()[:16]}")


def bare(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a collection without vectors of its own, with the vector that Milvus wants."""
    return row | {"vector": _NO_VECTOR}


async def _migrate(database: MilvusDatabase, settings: MilvusSettings) -> None:
    await _create(database, settings, _name(settings, "meta"), _META_FIELDS, None)
    rows = await database.rows(_name(settings, "meta"), f'key == "{_VERSION_KEY}"', ("key", "value"), Level.STRONG)
    version = max((int(row["value"]) for row in rows), default=0)
    if version > len(MIGRATIONS):
        why = f"its collections have layout {version}, this program knows {len(MIGRATIONS)}; upgrade the program"
        raise unavailable(why, "schema_version", _UPGRADE_RETRY_S)
    for number, steps in enumerate(MIGRATIONS[version:], start=version + 1):
        for step in steps:
            await step(database, settings)
        row = {"key": _VERSION_KEY, "value": str(number), "vector": _NO_VECTOR}
        await database.upsert(_name(settings, "meta"), [row])
    for name in ("journal", "accesses"):
        await _load(database, settings, _name(settings, name))


async def _first_layout(database: MilvusDatabase, settings: MilvusSettings) -> None:
    await _create(database, settings, _name(settings, "journal"), _JOURNAL_FIELDS, None)
    await _create(database, settings, _name(settings, "accesses"), _ACCESS_FIELDS, None)


async def _timed_facts(database: MilvusDatabase, settings: MilvusSettings) -> None:
    """Copy every model's facts into a collection that also says when they hold (ADR 0109); may be repeated.

    What is copied already is passed over. The former collection goes once its copy is complete and known by name, and
    its own name after it: texts that no erasure would reach are never left in a collection that nobody knows.
    """
    meta = _name(settings, "meta")
    where = f'key > "{_MODEL}" and key < "{_MODEL[:-1]};"'
    for known in await database.rows(meta, where, ("key", "value"), Level.STRONG):
        former = known["key"].removeprefix(_MODEL)
        model, dimension = json.loads(known["value"])
        present = facts_collection(settings, model)
        if former == present:
            continue
        await _create(database, settings, present, _facts_fields(), int(dimension))
        if await _exists(database, settings, former):
            await _load(database, settings, former)
            await _copy(database, former, present)
            await database.upsert(meta, [bare({"key": f"{_MODEL}{present}", "value": known["value"]})])
            await _drop(database, settings, former)
        await database.delete(meta, [known["key"]])


async def _copy(database: MilvusDatabase, former: str, present: str) -> None:
    fields = [name for name in WHOLE_FIELDS if name not in {"starts_us", "ends_us"}]
    after = ""
    while rows := await database.rows(former, f'key > "{after}"', fields, Level.STRONG, _COPIED_ROWS):
        after = rows[-1]["key"]
        copied = await database.rows(present, listed("key", [row["key"] for row in rows]), ("key",), Level.STRONG)
        there = {row["key"] for row in copied}
        await database.insert(present, [timed(row) for row in rows if row["key"] not in there])


MIGRATIONS: tuple[tuple[Step, ...], ...] = ((_first_layout,), (), (_timed_facts,))
"""Entry ``n`` takes the layout from version ``n`` to ``n + 1``.

Version 2 changed the words of keyword search (ADR 0082), no collection: its number keeps earlier programs out. The rows
are written anew by ``reindexing``, as whenever they were written in another way than the settings ask for. Version 3
says of each fact from when to when it holds.
"""

_Field = tuple[str, dict[str, Any]]
_KEY: Final[_Field] = ("key", {"datatype": DataType.VARCHAR, "is_primary": True, "max_length": _LONG})


def _text(name: str, length: int = 64, **options: Any) -> _Field:
    return name, {"datatype": DataType.VARCHAR, "max_length": length, **options}


def _number(name: str, kind: DataType = DataType.INT64) -> _Field:
    return name, {"datatype": kind}


_META_FIELDS: Final = (_KEY, _text("value", _LONG))
_JOURNAL_FIELDS: Final = (
    _KEY,
    _text("tenant"),
    _number("batch"),
    _text("state", 16),
    _text("writer"),
    _number("facts"),
    _number("words"),
    _number("at_us"),
)
_ACCESS_FIELDS: Final = (_KEY, _number("count"), _number("last_us"))


def _facts_fields() -> tuple[_Field, ...]:
    """Return the fields of facts; see ``fact_rows`` for what is in them."""
    array = {"datatype": DataType.ARRAY}
    return (
        _KEY,
        _number("fact"),
        _text("tenant", is_partition_key=True),
        _number("batch"),
        _number("born"),
        _number("status", DataType.INT8),
        _text("source"),
        _text("community"),
        _text("content_hash", 1_024),
        _number("modified_us"),
        ("words", array | {"element_type": DataType.INT64, "max_capacity": MOST_HASHES}),
        _text("terms", MOST_TERMS_CHARS),
        _number("length"),
        _number("starts_us"),
        _number("ends_us"),
        ("body", array | {"element_type": DataType.VARCHAR, "max_length": _LONG, "max_capacity": _PIECES}),
    )


async def _create(
    database: MilvusDatabase, settings: MilvusSettings, name: str, fields: Sequence[_Field], dimension: int | None
) -> None:
    """Create a collection and its index unless they are there, and load it; each step may be repeated, by anybody."""

    def request(client: MilvusClient, timeout: float) -> None:
        if not client.has_collection(name, timeout=timeout):
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            for field, options in fields:
                schema.add_field(field, **options)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension or len(_NO_VECTOR))
            partitioned = {} if dimension is None else {"num_partitions": settings.partitions}
            client.create_collection(
                name, schema=schema, num_shards=1, consistency_level="Bounded", timeout=timeout, **partitioned
            )
        if not client.list_indexes(name, timeout=timeout):
            index = client.prepare_index_params()
            if dimension is None:
                index.add_index("vector", index_name="vector", index_type="FLAT", metric_type="L2")
            else:
                graph = {"M": HNSW_CONNECTIVITY, "efConstruction": HNSW_EF_CONSTRUCTION}
                index.add_index("vector", index_name="vector", index_type="HNSW", metric_type="COSINE", params=graph)
            client.create_index(name, index, timeout=timeout)
        client.load_collection(name, timeout=timeout)

    await database.call(request, timeout_s=settings.start_timeout_s)


async def _load(database: MilvusDatabase, settings: MilvusSettings, name: str) -> None:
    await database.call(
        lambda client, timeout: client.load_collection(name, timeout=timeout), timeout_s=settings.start_timeout_s
    )


async def _exists(database: MilvusDatabase, settings: MilvusSettings, name: str) -> bool:
    return await database.call(
        lambda client, timeout: bool(client.has_collection(name, timeout=timeout)), timeout_s=settings.start_timeout_s
    )


async def _drop(database: MilvusDatabase, settings: MilvusSettings, name: str) -> None:
    await database.call(
        lambda client, timeout: client.drop_collection(name, timeout=timeout), timeout_s=settings.start_timeout_s
    )


async def _check_dimension(database: MilvusDatabase, settings: MilvusSettings, name: str, dimension: int) -> None:
    described = await database.call(
        lambda client, timeout: client.describe_collection(name, timeout=timeout), timeout_s=settings.start_timeout_s
    )
    (found,) = (int(field["params"]["dim"]) for field in described["fields"] if field["name"] == "vector")
    if found != dimension:
        why = (
            f"{name} has vectors of {found} dimensions, the embedding model makes {dimension}: use another "
            "GROUNDTRAIL_MILVUS__COLLECTION_PREFIX"
        )
        raise unavailable(why, "dimension", _UPGRADE_RETRY_S)


def _name(settings: MilvusSettings, what: str) -> str:
    return f"{settings.collection_prefix}_{what}"
