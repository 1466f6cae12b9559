"""``groundtrail stores copy``: a knowledge base, or some tenants' part of it, in another store."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.forms import UNFINISHED
from services.common.composition import FACTS_FILE, Adapters
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.tenant_listing import TenantListing
from services.common.settings import Settings
from services.common.settings.vectors import VectorSettings
from services.envelope.store_copy import CopyPlan, Proof, StoreCopy
from services.envelope.store_pictures import Stores

SETTINGS: Final = "settings"
"""Names the stores of the settings where a folder is expected; ``./settings`` is a folder of that name."""


@dataclass(frozen=True, slots=True)
class CopyWish:
    """What is to be copied.

    Attributes:
        source, target: a folder of embedded stores, or ``settings``.
        tenants: whose knowledge; none = everybody's.
        merge: the target may have more.
        dry_run: say what would be done.
    """

    source: str
    target: str
    tenants: Sequence[str]
    merge: bool
    dry_run: bool


class _Side(Adapters):
    """The stores of one side; the embedding model is read once for both."""

    def __init__(self, settings: Settings, models: Adapters) -> None:
        super().__init__(settings)
        self._models = models

    async def embedding(self) -> EmbeddingModel:
        return await self._models.embedding()


async def copy(settings: Settings, output: Output, wish: CopyWish) -> Exit:
    """Copy facts, vectors, sources, outlines and communities; exit code 3 when both sides are not the same then."""
    source, target = _stores_of(settings, "FROM", wish.source), _stores_of(settings, "TO", wish.target)
    _check_sides(source, target)
    async with Adapters(settings) as models, _opened(source, models) as old, _target(target, models, wish) as new:
        model = (await models.embedding()).fingerprint
        done: list[dict[str, Any]] = []
        equal = True
        for tenant_id in await _chosen(old, wish.tenants):
            plan, proof = await _copied(old, new, model, tenant_id, wish, _Marker(target, wish), output)
            equal = equal and (proof is None or proof.equal)
            done.append(_told(plan, proof))
    _show(done, output, wish)
    output.result({"from": wish.source, "to": wish.target, "dry_run": wish.dry_run, "equal": equal, "tenants": done})
    return Exit.OK if equal else Exit.VERDICT


class _Marker:
    """Says, to the next copy and to ``doctor``, whose copies into these stores were not finished."""

    def __init__(self, settings: Settings, wish: CopyWish) -> None:
        self._path = Path(settings.store.data_dir) / UNFINISHED
        self._wish = wish

    def put(self, tenant_id: str) -> None:
        since = datetime.now(tz=UTC).isoformat(timespec="seconds")
        note = {"tenant_id": tenant_id, "from": self._wish.source, "to": self._wish.target, "since": since}
        self._write([*self._others(tenant_id), note])

    def remove(self, tenant_id: str) -> None:
        if self._path.is_file():
            self._write(self._others(tenant_id))

    def _others(self, tenant_id: str) -> list[dict[str, str]]:
        if not self._path.is_file():
            return []
        try:
            notes: list[dict[str, str]] = json.loads(self._path.read_text(encoding="utf-8"))
        except ValueError:  # cut short: this copy puts its own in its place
            return []
        return [note for note in notes if note["tenant_id"] != tenant_id]

    def _write(self, notes: list[dict[str, str]]) -> None:
        if not notes:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        fresh.write_text(json.dumps(notes), encoding="utf-8")
        fresh.replace(self._path)


async def _copied(  # noqa: PLR0913, PLR0917 - the parts of one copy
    old: Stores, new: Stores, model: str, tenant_id: str, wish: CopyWish, marker: _Marker, output: Output
) -> tuple[CopyPlan, Proof | None]:
    everything = FactFilter(statuses=tuple(FactStatus))
    counts = [await side.facts.count(tenant_id, everything) for side in (old, new)]
    if not counts[0]:
        raise InvalidRequestError.of(FieldViolation("--tenant", f"no facts of {tenant_id}"))
    with output.progress(f"comparing {tenant_id}", total=sum(counts)) as bar:
        copying = StoreCopy(old, new, model, bar.step)
        plan = await copying.plan(tenant_id, merge=wish.merge)
    if wish.dry_run:
        return plan, None
    if plan.facts or plan.sources or plan.communities:
        marker.put(tenant_id)
    with output.progress(f"copying {tenant_id}", total=len(plan.before.facts)) as bar:
        await StoreCopy(old, new, model, bar.step).carry_out(plan)
    with output.progress(f"proving {tenant_id}", total=2 * len(plan.before.facts)) as bar:
        proof = await StoreCopy(old, new, model, bar.step).prove(plan)
    if proof.equal:
        marker.remove(tenant_id)
    return plan, proof


def _stores_of(settings: Settings, side: str, where: str) -> Settings:
    """Return the settings of one side's stores.

    Raises:
        InvalidRequestError: INVALID_FIELD: FROM is no folder with facts.
    """
    if where == SETTINGS:
        return settings
    folder = Path(where)
    if side == "FROM" and not (folder / FACTS_FILE).is_file():
        text = f"{where} has no {FACTS_FILE}; name a data directory, or `{SETTINGS}` for the stores of the settings"
        raise InvalidRequestError.of(FieldViolation(side, text))
    if folder.exists() and not folder.is_dir():
        raise InvalidRequestError.of(FieldViolation(side, f"{where} is no folder"))
    store = settings.store.model_copy(update={"data_dir": folder, "facts": "sqlite", "graph": "sqlite"})
    return settings.model_copy(update={"store": store, "vectors": VectorSettings()})


def _check_sides(source: Settings, target: Settings) -> None:
    one, other = source.store, target.store
    same_facts = one.facts == other.facts and (one.facts != "sqlite" or _same(one.data_dir, other.data_dir))
    same_graph = one.graph == other.graph and (one.graph != "sqlite" or _same(one.data_dir, other.data_dir))
    if same_facts or same_graph:
        text = "FROM and TO share a store of facts or of sources; copy between stores that are apart"
        raise InvalidRequestError.of(FieldViolation("TO", text))


def _same(one: Path, other: Path) -> bool:
    return Path(one).resolve() == Path(other).resolve()


@asynccontextmanager
async def _opened(settings: Settings, models: Adapters) -> AsyncIterator[Stores]:
    async with _Side(settings, models) as adapters:
        yield Stores(await adapters.fact_store(), await adapters.knowledge_graph())


@asynccontextmanager
async def _target(settings: Settings, models: Adapters, wish: CopyWish) -> AsyncIterator[Stores]:
    """Open the target; for a dry run a folder that is not there stays so."""
    absent = settings.store.facts == "sqlite" and not (Path(settings.store.data_dir) / FACTS_FILE).is_file()
    if wish.dry_run and absent:
        from services.common.adapters.memory import MemoryFactStore, MemoryKnowledgeGraph

        yield Stores(MemoryFactStore((await models.embedding()).dimension), MemoryKnowledgeGraph())
        return
    async with _opened(settings, models) as stores:
        yield stores


async def _chosen(stores: Stores, wanted: Sequence[str]) -> list[str]:
    known = await stores.facts.tenants() if isinstance(stores.facts, TenantListing) else None
    if known is None and not wanted:
        text = "the facts that are copied from do not tell whose they are; name every tenant"
        raise InvalidRequestError.of(FieldViolation("--tenant", text))
    unknown = [] if known is None else sorted(set(wanted) - set(known))
    if unknown:
        raise InvalidRequestError.of(FieldViolation("--tenant", f"no facts of {', '.join(unknown)}"))
    return list(dict.fromkeys(wanted)) or known or []


def _told(plan: CopyPlan, proof: Proof | None) -> dict[str, Any]:
    wrote = {"facts": len(plan.facts), "sources": len(plan.sources), "communities": plan.communities}
    told: dict[str, Any] = {"tenant_id": plan.tenant_id, "written": wrote}
    if proof is None:
        return told | {"facts": len(plan.before.facts), "kept": len(plan.kept), "others": plan.others}
    state, content = (dict(zip(("from", "to"), pair, strict=True)) for pair in (proof.state, proof.content))
    counts = {name: value for name, value in asdict(proof).items() if name not in {"state", "content"}}
    return told | counts | {"state_hash": state, "content_hash": content, "equal": proof.equal}


def _show(done: Sequence[dict[str, Any]], output: Output, wish: CopyWish) -> None:
    if not done:
        output.say("Nothing to copy: no tenant has facts there.", style="yellow")
    for one in done:
        name, wrote = one["tenant_id"], one["written"]
        verb = "would be written" if wish.dry_run else "written"
        output.say(
            f"{name}: {counted(one['facts'], 'fact')}, {wrote['facts']} {verb}; "
            f"{counted(wrote['sources'], 'source')} {verb}."
        )
        if one["kept"]:
            output.say(f"  {one['kept']} left as they are there: erased or changed later.", style="yellow")
        if wish.dry_run:
            continue
        for title, pair in (("state  ", one["state_hash"]), ("content", one["content_hash"])):
            same = "=" if pair["from"] == pair["to"] else "differs from"
            output.say(f"  {title} {pair['from']} {same} {pair['to'] if same != '=' else 'there'}")
        if one["equal"]:
            output.say("  Both sides have the same.", style="green")
        else:
            text = "  The sides differ: something was written meanwhile, or the target lost some. Copy again."
            output.say(text, style="bold red")
