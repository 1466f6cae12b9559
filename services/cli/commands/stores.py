"""``groundtrail stores copy``: a knowledge base, or some tenants' part of it, in another store."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.cli.commands.engine_vectors import FilledVectors, filled, held_by, lines_of
from services.cli.commands.store_sides import Sides, sides_of, without_engine
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.forms import UNFINISHED
from services.common.composition import FACTS_FILE, Adapters
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.tenant_listing import TenantListing
from services.common.ports.vector_holding import HeldVectors
from services.common.settings import Settings
from services.envelope.store_copy import CopyPlan, Proof, StoreCopy
from services.envelope.store_pictures import Stores

_EVERYTHING: Final = FactFilter(statuses=tuple(FactStatus))


@dataclass(frozen=True, slots=True)
class CopyWish:
    """What is to be copied.

    Attributes:
        source, target: a data directory, one with an engine of its vectors, or ``settings`` (``store_sides``).
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
    sides = sides_of(settings, wish.source, wish.target)
    async with Adapters(settings) as models:
        done = await (_moved if sides.vectors_alone else _all_copied)(sides, models, output, wish)
    equal = all(one["equal"] for one in done if "equal" in one)
    _show(done, output, wish)
    output.result({"from": wish.source, "to": wish.target, "dry_run": wish.dry_run, "equal": equal, "tenants": done})
    return Exit.OK if equal else Exit.VERDICT


async def _all_copied(sides: Sides, models: Adapters, output: Output, wish: CopyWish) -> list[dict[str, Any]]:
    """Copy between stores that are apart."""
    source, marker = without_engine(sides.source) if wish.dry_run else sides.source, _Marker(sides.target, wish)
    async with _opened(source, models) as old, _target(sides.target, models, wish) as new:
        model = (await models.embedding()).fingerprint
        chosen = await _chosen(old, wish.tenants)
        return [await _copied(old, new, model, tenant_id, wish, marker, output) for tenant_id in chosen]


async def _moved(sides: Sides, models: Adapters, output: Output, wish: CopyWish) -> list[dict[str, Any]]:
    """Fill another engine from the same facts; one store after the other, since no two may have the files."""
    held: dict[str, HeldVectors | None] = {}
    source = without_engine(sides.source) if wish.dry_run else sides.source
    async with _opened(source, models) as old:
        for tenant_id in await _chosen(old, wish.tenants):
            held[tenant_id] = await held_by(old.facts, tenant_id)
    done: list[dict[str, Any]] = []
    target, marker = without_engine(sides.target) if wish.dry_run else sides.target, _Marker(sides.target, wish)
    async with _opened(target, models) as new:
        for tenant_id, before in held.items():
            count = await new.facts.count(tenant_id, _EVERYTHING)
            nothing = {"facts": 0, "sources": 0, "communities": False}
            told: dict[str, Any] = {"tenant_id": tenant_id, "written": nothing, "facts": count, "kept": 0, "others": 0}
            done.append(told)
            if wish.dry_run:
                continue
            marker.put(tenant_id)
            with output.progress(f"filling {tenant_id}", total=count) as bar:
                vectors = await filled(new.facts, tenant_id, before)
                bar.step(count)
            told |= {"vectors": vectors.told(), "equal": vectors.equal}
            if vectors.equal:
                marker.remove(tenant_id)
    return done


class _Marker:
    """Says, to the next copy and to ``doctor``, whose copies into these stores were not finished."""

    def __init__(self, settings: Settings, wish: CopyWish) -> None:
        self._path = Path(settings.store.data_dir) / UNFINISHED
        self._wish = wish
        self.fills = bool(settings.vectors.engine)
        """An engine is filled, so that something may be written that no plan tells of."""

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
) -> dict[str, Any]:
    counts = [await side.facts.count(tenant_id, _EVERYTHING) for side in (old, new)]
    if not counts[0]:
        raise InvalidRequestError.of(FieldViolation("--tenant", f"no facts of {tenant_id}"))
    with output.progress(f"comparing {tenant_id}", total=sum(counts)) as bar:
        copying = StoreCopy(old, new, model, bar.step)
        plan = await copying.plan(tenant_id, merge=wish.merge)
    if wish.dry_run:
        return _told(plan, None, None)
    if plan.facts or plan.sources or plan.communities or marker.fills:
        marker.put(tenant_id)
    with output.progress(f"copying {tenant_id}", total=len(plan.before.facts)) as bar:
        await StoreCopy(old, new, model, bar.step).carry_out(plan)
        vectors = await filled(new.facts, tenant_id, await held_by(old.facts, tenant_id))
    with output.progress(f"proving {tenant_id}", total=2 * len(plan.before.facts)) as bar:
        proof = await StoreCopy(old, new, model, bar.step).prove(plan)
    if proof.equal and vectors.equal:
        marker.remove(tenant_id)
    return _told(plan, proof, vectors)


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
    async with _opened(without_engine(settings) if wish.dry_run else settings, models) as stores:
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


def _told(plan: CopyPlan, proof: Proof | None, vectors: FilledVectors | None) -> dict[str, Any]:
    wrote = {"facts": len(plan.facts), "sources": len(plan.sources), "communities": plan.communities}
    told: dict[str, Any] = {"tenant_id": plan.tenant_id, "written": wrote}
    if proof is None or vectors is None:
        return told | {"facts": len(plan.before.facts), "kept": len(plan.kept), "others": plan.others}
    state, content = (dict(zip(("from", "to"), pair, strict=True)) for pair in (proof.state, proof.content))
    counts = {name: value for name, value in asdict(proof).items() if name not in {"state", "content"}}
    told |= counts | {"state_hash": state, "content_hash": content}
    return told | {"vectors": vectors.told(), "equal": proof.equal and vectors.equal}


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
        for title in ("state_hash", "content_hash"):
            if pair := one.get(title):
                same = "=" if pair["from"] == pair["to"] else "differs from"
                name = title.removesuffix("_hash").ljust(7)
                output.say(f"  {name} {pair['from']} {same} {pair['to'] if same != '=' else 'there'}")
        for line in lines_of(one["vectors"]):
            output.say(f"  {line}")
        if one["equal"]:
            output.say("  Both sides have the same.", style="green")
        else:
            text = "  The sides differ: something was written meanwhile, or the target lost some. Copy again."
            output.say(text, style="bold red")
