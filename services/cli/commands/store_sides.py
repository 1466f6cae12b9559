"""The sides of ``groundtrail stores copy``: which stores FROM and TO name (ADR 0186)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from services.common.composition import FACTS_FILE
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.vectors import VectorSettings

SETTINGS: Final = "settings"
"""Names the stores of the settings where a folder is expected; ``./settings`` is a folder of that name."""
MILVUS: Final = "milvus"
PartT = TypeVar("PartT", bound=BaseModel)
_NAMED: Final = re.compile(r"([a-z]+):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides as settings.

    Attributes:
        vectors_alone: both have the same facts; only the engine of the vectors is another.
    """

    source: Settings
    target: Settings
    vectors_alone: bool


def sides_of(settings: Settings, source: str, target: str) -> Sides:
    """Return what FROM and TO name.

    Raises:
        InvalidRequestError: INVALID_FIELD: FROM has no facts, a side is none, or both share what is copied.
    """
    one, other = _side(settings, "FROM", source), _side(settings, "TO", target)
    facts, graph = _same_facts(one, other), _same_graph(one, other)
    moves = bool(other.vectors.engine) and one.store.facts == "sqlite" and _engine(one) != _engine(other)
    if (facts or graph) and not (facts and graph and moves):
        text = "FROM and TO share a store of facts or of sources; copy between stores that are apart"
        raise _refused("TO", text)
    return Sides(one, other, facts)


def without_engine(settings: Settings) -> Settings:
    """Return a side whose engine is not spoken to."""
    return settings.model_copy(update={"vectors": VectorSettings()})


def _side(settings: Settings, side: str, where: str) -> Settings:
    if where == SETTINGS:
        return settings
    named = _NAMED.fullmatch(where)
    if named is None:
        folder = _folder(side, where, where)
        return _at(settings, folder, vectors=VectorSettings())
    name, (place, _, url) = named[1], named[2].partition("@")
    if name == MILVUS:
        return _at(settings, Path(place or "."), facts=MILVUS, milvus=_milvus(settings, side, url))
    from services.common.adapters.vector_engines import engine_names

    if name not in engine_names():
        known = ", ".join((*engine_names(), MILVUS))
        raise _refused(side, f"{name} is no engine; known: {known}. A folder of that name is ./{where}")
    return _at(settings, _folder(side, where, place), vectors=_engine_settings(settings, side, name, url))


def _folder(side: str, where: str, place: str) -> Path:
    """Return the data directory of a side."""
    if not place:
        raise _refused(side, f"{where} names no data directory; ENGINE:DIR is one, or ENGINE:DIR@URL")
    folder = Path(place)
    if side == "FROM" and not (folder / FACTS_FILE).is_file():
        text = f"{place} has no {FACTS_FILE}; name a data directory, or `{SETTINGS}` for the stores of the settings"
        raise _refused(side, text)
    if folder.exists() and not folder.is_dir():
        raise _refused(side, f"{place} is no folder")
    return folder


def _at(settings: Settings, folder: Path, facts: str = "sqlite", **parts: BaseModel) -> Settings:
    store = settings.store.model_copy(update={"data_dir": folder, "facts": facts, "graph": "sqlite"})
    return settings.model_copy(update={"store": store, **parts})


def _engine_settings(settings: Settings, side: str, name: str, url: str) -> VectorSettings:
    known = settings.vectors
    key = known.api_key if url and _may_know("url", known, url) else SecretStr("")
    return _made(side, VectorSettings, engine=name, url=url, api_key=key, timeout_s=known.timeout_s)


def _milvus(settings: Settings, side: str, url: str) -> MilvusSettings:
    known = settings.milvus
    if not url:
        return known
    token = known.token if _may_know("uri", known, url) else SecretStr("")
    return _made(side, MilvusSettings, **{**dict(known), "uri": url, "token": token})


def _may_know(name: str, known: BaseModel, url: str) -> bool:
    """Say whether a server may be told the secret of the settings: it is theirs, or they name none."""
    return name not in known.model_fields_set or getattr(known, name) == url


def _made(side: str, kind: type[PartT], **values: object) -> PartT:
    try:
        return kind(**values)
    except ValidationError as error:
        places = ", ".join(str(one["loc"][0]) for one in error.errors(include_input=False, include_url=False))
        raise _refused(side, f"not the address of a server ({places}): http:// or https://, without a key") from None


def _same_facts(one: Settings, other: Settings) -> bool:
    if one.store.facts != other.store.facts:
        return False
    if one.store.facts == MILVUS:
        return _database(one.milvus) == _database(other.milvus)
    return _same(one.store.data_dir, other.store.data_dir)


def _same_graph(one: Settings, other: Settings) -> bool:
    return one.store.graph == other.store.graph and (
        one.store.graph != "sqlite" or _same(one.store.data_dir, other.store.data_dir)
    )


def _database(milvus: MilvusSettings) -> Sequence[str]:
    return milvus.uri, milvus.database, milvus.collection_prefix


def _engine(side: Settings) -> tuple[str, str]:
    return side.vectors.engine, side.vectors.url


def _same(one: Path, other: Path) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _refused(side: str, text: str) -> InvalidRequestError:
    return InvalidRequestError.of(FieldViolation(side, text))
