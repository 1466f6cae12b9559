"""Sessions of every pattern, written by the composed dag service, and what an auditor is given of each.

A recipe writes one session, differently for each seed, beside others of the tenant; ``record`` returns its exports, the
heads that somebody kept, the log's public keys, the tokens on the way, and the master key.
"""

import asyncio
import contextlib
import itertools
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from unittest.mock import patch

import grpc
from crp.ckf.v1 import ckf_pb2
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.common.v1 import text_pb2
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import retention_service_pb2 as rules_pb
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as transparency
from crp.dpe.v1 import provenance_service_pb2 as provenance
from google.protobuf.message import Message
from pydantic import SecretStr

from services.cli.export_file import fact_line
from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.cosignature import Cosigner
from services.common.encoding import canonical_json, sha256_hex
from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.common.settings.stores import StoreSettings
from services.common.signed_note import Note, NoteKey
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from services.gateway.clients.inputs import kept_inputs
from tests.fakes import dag_world, sealed_world
from tests.fakes.dag_world import CountingIds, World
from tests.fakes.sealed_world import SECRET, SealedWorld

NEW_SECRET = "f7" * 32
FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE
TEXTS = (
    "The limit is 500 euros.",
    "Él límite — 500 €.",
    "",
    'Quotes " and \\ and\ttabs,\nlines and \u2028 more.',
    "\U0001f600 \ufb01 \U00010000 and \uffff",
    "A claim is decided within 15 working days. " * 20,
)
RISKS = ("LOW", "MEDIUM", "LOW", "HIGH")
WITNESSES = tuple(Cosigner(f"witness.example/w{number}", bytes(range(100 + number, 132 + number))) for number in (1, 2))
COSIGNED_AT = 1_779_613_320
"""Seconds since 1970."""


@dataclass(frozen=True)
class Recording:
    """What is left of a session.

    Attributes:
        plain, full: lines of the exports without and with content; ``full`` ends with the facts.
        keys: the log's public keys, the current one first.
        kept: heads, as notes: from before the session, in its midst, at its end, and after the export.
        answers: by RPC name, answers of the log as messages.
    """

    recipe: str
    session_id: str
    plain: tuple[str, ...]
    full: tuple[str, ...]
    keys: tuple[str, ...]
    kept: dict[str, str]
    tokens: tuple[str, ...]
    answers: dict[str, Message]
    master: str = SECRET
    facts: int = 0


@dataclass
class Told:
    """One session under way."""

    client: sealed_world.SealedClient
    draw: random.Random
    kept: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    facts: dict[str, ckf_pb2.Fact] = field(default_factory=dict)

    async def keep(self, name):
        head = (await self.client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest())).tree_head
        self.kept[name], self.sizes[name] = head.checkpoint, head.tree_size
        key = str(NoteKey(head.origin, head.public_key))
        self.keys = [key, *(known for known in self.keys if known != key)]

    async def commit(self, opened, **fields):
        text = self.draw.choice(TEXTS)
        values = {"risk": self.draw.choice(RISKS), "tier": self.draw.choice("SABC")}
        done = await self.client.commit(opened, text, **(values | fields))
        self.tokens.append(done.session_token)
        return done

    async def window(self, token="", **fields):
        return await self.commit(await self.client.open(token, **fields))

    async def children(self, parent, count):
        return [await self.client.open(parent.session_token, strategy=FAN_OUT) for _ in range(count)]

    async def merge(self, parents, **fields):
        values = {
            "request_id": dag_world.fresh_uuid(),
            "session_token": parents[0].session_token,
            "continuation_ids": [parent.continuation_id for parent in parents],
            "strategy": FAN_IN,
            "available_budget_tokens": 1000,
        }
        return await self.client.call("OpenWindow", pb.OpenWindowRequest(**(values | fields)))

    async def fail(self, opened):
        ids = {"session_id": opened.session.session_id, "window_id": opened.window.window_id}
        request = pb.FailWindowRequest(request_id=dag_world.fresh_uuid(), reason="LLM_UNAVAILABLE", **ids)
        await self.client.call("FailWindow", request)

    async def append(self, session_id, window_id=""):
        data = {
            "calls": self.draw.randrange(9),
            "ratio": self.draw.choice((0.1, 1e-7, 1e21, 1.5e300, 123456789.125, 5e-324, 0.000001)),
            "names": ["é", "\U0001f600", "\u20ac\x7f", 'q"\\\b\x01'],
            "\ufb01": None,
            "\U00010000": True,
            "": [{}, [], -1],
        }
        request = pb.AppendEventRequest(
            request_id=dag_world.fresh_uuid(),
            session_id=session_id,
            event_type=self.draw.choice((dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL, dag_pb2.AUDIT_EVENT_TYPE_PII_DETECTED)),
            window_id=window_id,
            data=canonical_json(data).decode(),
        )
        await self.client.call("AppendEvent", request)


async def linear(told):
    """A line with an appended event; sometimes it ends at the last window, sometimes by TerminateSession."""
    await told.keep("before")
    done = await told.window()
    session_id = done.session.session_id
    for _ in range(told.draw.randrange(1, 5)):
        await told.append(session_id, told.draw.choice(("", done.window.window_id)))
        done = await told.window(done.session_token)
        await told.keep("middle")
        if not done.continuation_id:
            return session_id
    if told.draw.random() < 0.5:
        request = pb.TerminateSessionRequest(
            request_id=dag_world.fresh_uuid(), session_id=session_id, reason="the user left"
        )
        await told.client.call("TerminateSession", request)
    return session_id


async def fan_in(told):
    """Appendix A: children, one of them continued, then merged; events of another session between them."""
    await told.keep("before")
    root = await told.commit(await told.client.open(), risk="LOW")
    first, *rest = await told.children(root, told.draw.randrange(2, 5))
    done = [await told.commit(child, risk="LOW") for child in told.draw.sample([first, *rest], len(rest) + 1)]
    await told.client.window()
    await told.keep("middle")
    done[0] = await told.commit(await told.client.open(done[0].session_token), risk="MEDIUM")
    await told.commit(await told.merge(told.draw.sample(done, len(done))), risk="LOW")
    return root.session.session_id


async def partial_fan_in(told):
    """A child fails; what is left is merged, or one survivor alone."""
    await told.keep("before")
    root = await told.commit(await told.client.open(), risk="LOW")
    lost, *rest = await told.children(root, told.draw.randrange(2, 4))
    await told.fail(lost)
    await told.keep("middle")
    done = [await told.commit(child, risk="LOW") for child in rest]
    await told.commit(await told.merge(done, fan_in_policy=pb.FAN_IN_POLICY_PARTIAL), risk="LOW")
    return root.session.session_id


async def fan_out(told):
    """Children that nobody merges, one still pending."""
    await told.keep("before")
    root = await told.commit(await told.client.open(), risk="LOW")
    _, *rest = await told.children(root, told.draw.randrange(2, 6))
    for child in rest:
        await told.commit(child)
        await told.keep("middle")
    return root.session.session_id


async def branch(told):
    """A reflexive window and its siblings."""
    await told.keep("before")
    root = await told.commit(await told.client.open(), risk="LOW")
    checked = await told.client.open(root.session_token, strategy=REFLEXIVE)
    await told.keep("middle")
    refined = [
        await told.client.open(root.session_token, strategy=REFLEXIVE, branch=True)
        for _ in range(told.draw.randrange(1, 4))
    ]
    for opened in told.draw.sample([checked, *refined], len(refined) + 1):
        await told.commit(opened, risk="LOW")
    return root.session.session_id


async def agent(told):
    """An agent's session under an orchestrator's."""
    orchestrator = await told.commit(await told.client.open(), risk="LOW")
    await told.keep("before")
    done = await told.window(agent_session_parent=orchestrator.session.session_id)
    await told.keep("middle")
    if done.continuation_id:
        await told.window(done.session_token)
    return done.session.session_id


async def lowered(told):
    """An orchestrator's session, whose budget an agent's session spent."""
    orchestrator = await told.commit(await told.client.open(), risk="LOW")
    await told.keep("before")
    spent = await told.client.open(agent_session_parent=orchestrator.session.session_id)
    await told.commit(spent, risk=told.draw.choice(("MEDIUM", "HIGH", "CRITICAL")))
    await told.keep("middle")
    if orchestrator.continuation_id:
        await told.commit(await told.client.open(orchestrator.session_token), risk="LOW")
    return orchestrator.session.session_id


async def failed(told):
    """Windows that were given up between others, and one that is pending."""
    await told.keep("before")
    done = await told.commit(await told.client.open(), risk="LOW")
    for _ in range(told.draw.randrange(1, 4)):
        await told.fail(await told.client.open(done.session_token))
    await told.keep("middle")
    done = await told.commit(await told.client.open(done.session_token), risk="LOW")
    await told.client.open(done.session_token)
    return done.session.session_id


async def erased(told):
    """A session of which the content was erased."""
    session_id = await told.draw.choice((linear, fan_in, failed))(told)
    await told.client.erase(session_id)
    return session_id


async def created(told):
    """A session without a window."""
    await told.keep("before")
    made = await told.client.call("CreateSession", pb.CreateSessionRequest(request_id=dag_world.fresh_uuid()))
    told.tokens.append(made.session_token)
    await told.keep("middle")
    return made.session.session_id


async def summarised(told):
    """An edge along which a summary flowed."""
    await told.keep("before")
    first = await told.client.commit(await told.client.open(), "The first part.\n\nThe end.", response_tokens=700)
    opened = await told.client.open(first.session_token, summariser_available=True)
    await told.keep("middle")
    transfer = {
        "source_window_id": first.window.window_id,
        "transfer_type": dag_pb2.TRANSFER_TYPE_SUMMARY,
        "transferred_tokens": 180,
        "summary_text": "Kurz: 500 €.",
        "fidelity_score": told.draw.choice((0.8, 0.9999999, 1.0)),
        "model_fingerprint": "model@1",
    }
    await told.commit(opened, transfers=[transfer])
    return first.session.session_id


async def with_facts(told):
    """Windows with the inputs of their analyses and the facts that went into them."""
    await told.keep("before")
    done, priors = None, []
    for number in range(1, told.draw.randrange(3, 5)):
        opened = await told.client.open(done.session_token if done else "")
        text = told.draw.choice(TEXTS)
        request = _analysis(told, opened, text, priors, number)
        inputs = kept_inputs(request)
        done = await told.client.commit(opened, text, analysis_inputs=inputs)
        told.tokens.append(done.session_token)
        priors.append((opened.window.window_id, number, text))
        await told.keep("middle")
    return done.session.session_id


def _analysis(told, opened, text, priors, number):
    """The request of an analysis: facts of the knowledge base, one that was carried, earlier answers, a prompt."""
    request = provenance.AnalyzeRequest(
        session_id=opened.session.session_id,
        window_id=opened.window.window_id,
        window_number=number,
        query="What is the limit? €",
        response_text=text,
        windows_remaining=5 - number,
    )
    lines = ["Answer from these facts.", ""]
    for place in range(told.draw.randrange(1, 4)):
        name = f"f-{number}-{place}"
        content = told.draw.choice(
            (
                "The limit is 500 euros.",
                "One line.\r\n  Two\u200b lines.\u2028\tThree\u00a0",
                "Él límite — 500 €.\n\nEnd",
            )
        )
        entity = text_pb2.Entity(text="500 euros", span=text_pb2.TextSpan(start=13, end=22))
        known = ckf_pb2.Fact(
            fact_id=name,
            content=content,
            content_hash=sha256_hex(content),
            source_id="s-1",
            importance_weight=0.3,
            access_count=7,
            entities=[entity],
            metadata={"page": "3"},
        )
        known.ingested_at.FromDatetime(datetime(2026, 5, 1, tzinfo=UTC))
        told.facts[name] = known
        fact = request.envelope.facts.add(
            fact_id=name, content=content, embedding=b"\x01\x02", relevance_score=0.1, entities=[entity], position=place
        )
        fact.ingested_at.CopyFrom(known.ingested_at)
        lines += [f"[{place + 1}]", *(f"    {line.strip()}" for line in content.replace("\u200b", "").splitlines())]
    request.envelope.facts.add(
        fact_id="carried",
        content="An earlier answer.",
        carried_from_window_id="crp_win_x",
        transfer_type="FULL_CONTEXT",
    )
    request.envelope.facts.add(
        fact_id="summary", content="Kurz.", carried_from_window_id="crp_win_x", transfer_type="SUMMARY"
    )
    for window_id, earlier, answer in priors:
        request.prior_windows.add(window_id=window_id, window_number=earlier, text=answer)
    if priors:
        request.prior_windows.add(window_id=priors[0][0], window_number=1, text="In short.", is_summary=True)
    request.prompt = "\n".join(lines)
    return request


async def _closing(told, recipe, session_id, **more):
    """Take the exports and what goes with them."""
    await told.client.window()
    await told.keep("end")
    asked = (told.sizes["before"], told.sizes["middle"], told.sizes["end"])
    plain = await told.client.export(session_id, sizes=asked)
    full = await told.client.export(session_id, with_content=True, sizes=asked)
    facts = [fact_line(told.facts[name]) for name in sorted(told.facts)]
    events = await told.client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1000))
    proof = transparency.GetInclusionProofRequest(session_id=session_id, event_id=events.events[-1].event_id)
    growth = transparency.GetConsistencyProofRequest(first_tree_size=told.sizes["before"])
    answers = {}
    with contextlib.suppress(grpc.aio.AioRpcError):  # an event may be older than the log
        answers["inclusion"] = await told.client.ask_log("GetInclusionProof", proof)
    answers["entries"] = await told.client.ask_log("GetEntries", transparency.GetEntriesRequest())
    answers["consistency"] = await told.client.ask_log("GetConsistencyProof", growth)
    await told.client.window()
    await told.keep("later")
    return Recording(
        recipe=recipe,
        session_id=session_id,
        plain=tuple(plain),
        full=(*full, *facts),
        keys=tuple(told.keys),
        kept=dict(told.kept),
        tokens=tuple(told.tokens),
        answers=answers,
        facts=len(facts),
        **more,
    )


SIMPLE = (
    linear,
    fan_in,
    partial_fan_in,
    fan_out,
    branch,
    agent,
    lowered,
    failed,
    erased,
    created,
    summarised,
    with_facts,
)


async def _simple(recipe, seed, world=None):
    world = world or SealedWorld()
    async with world.serving() as client:
        told = Told(client, random.Random(f"{recipe.__name__} {seed}"))
        await client.window(text="another session's")
        return await _closing(told, recipe.__name__, await recipe(told))


async def _on_sqlite(seed, folder):
    store = await SqliteSessionStore.open(folder / f"sessions-{seed}.db", StoreSettings(disk_reserve_bytes=0))
    try:
        return replace(
            await _simple(linear if seed % 2 else with_facts, seed, SealedWorld(store=store)), recipe="sqlite"
        )
    finally:
        await store.close()


async def _relay(seed, _):
    """A second instance without the first one's store goes on from its token."""
    here, there = SealedWorld(), SealedWorld(ids=CountingIds(prefix="y"))
    draw = random.Random(f"relay {seed}")
    async with here.serving() as client:
        first = Told(client, draw)
        done = await first.commit(await client.open(), risk="LOW")
        if draw.random() < 0.5:
            done = await first.commit(await client.open(done.session_token), risk="LOW")
    async with there.serving() as client:
        told = Told(client, draw, tokens=first.tokens)
        await client.window(text="another session's")
        await told.keep("before")
        done = await told.commit(await client.open(done.session_token), risk="LOW")
        await told.keep("middle")
        await told.window(done.session_token)
        return await _closing(told, "relay", done.session.session_id)


async def _rotated(seed, _):
    """The master key is rotated in the midst of the session: its HMAC key stays, tokens and heads get the new one."""
    world = SealedWorld()
    async with world.serving() as client:
        told = Told(client, random.Random(f"rotated {seed}"))
        await client.window(text="another session's")
        await told.keep("before")
        done = await told.commit(await client.open(), risk="LOW")
    world.clock.advance(seconds=60)
    world.dag = DagSettings(
        master_key=SecretStr(NEW_SECRET),
        master_key_version=2,
        previous_master_keys={1: SecretStr(SECRET)},
        master_key_rotated_at=world.clock.now(),
        log_name="log.example",
    )
    async with world.serving() as client:
        told.client = client
        done = await told.commit(await client.open(done.session_token), risk="LOW")
        await told.keep("middle")
        await told.window(done.session_token)
        return await _closing(told, "rotated", done.session.session_id)


async def _broken(seed, _):
    """A session whose stored window was changed, and that was then continued; every other one is erased afterwards."""
    world = SealedWorld()
    async with world.serving() as client:
        told = Told(client, random.Random(f"broken {seed}"))
        await client.window(text="another session's")
        await told.keep("before")
        done = await told.commit(await client.open(), risk="LOW")
        done = await told.commit(await client.open(done.session_token), risk="LOW")
        await told.keep("middle")
        session_id = done.session.session_id
        windows = world.store._sessions["tenant-a", session_id].windows
        windows[done.window.window_id] = replace(windows[done.window.window_id], risk_level="NONE")
        request = pb.OpenWindowRequest(
            request_id=dag_world.fresh_uuid(), session_token=done.session_token, available_budget_tokens=1000
        )
        refusal = await client.fails("OpenWindow", request)
        assert refusal.reason == "CHAIN_BROKEN"
        if seed % 2:
            await client.erase(session_id)
        return await _closing(told, "broken", session_id)


async def _older(seed, _):
    """A session that began before there was a log, and before a session promised a leaf of each record."""
    master = MasterKey(1, bytes.fromhex(SECRET))
    plain = World(store=MemorySessionStore(), keys=FixedMasterKeys({1: master}))
    with patch("services.dag.domain.step.promising", tuple, create=True):
        async with plain.serving() as client:
            first = await client.window()
    world = SealedWorld(store=plain.store, clock=plain.clock, ids=plain.ids)
    async with world.serving() as client:
        told = Told(client, random.Random(f"older {seed}"))
        await told.keep("before")
        await told.window(first.session_token)
        await told.keep("middle")
        return await _closing(told, "older", first.session.session_id)


async def _cosigned(seed, _):
    """A session of a log that witnesses cosigned: in its midst or when it was whole, one of them or both."""
    world = SealedWorld()
    async with world.serving() as client:
        told = Told(client, random.Random(f"cosigned {seed}"))
        await client.window(text="another session's")
        session_id = await linear(told)
        await told.keep("whole")
        seen = told.draw.choice(("middle", "whole"))
        note = Note.parse(told.kept[seen])
        lines = [one.cosign(note.text, COSIGNED_AT) for one in told.draw.sample(WITNESSES, told.draw.randrange(1, 3))]
        await world.store.keep_cosigned("tenant-a", told.sizes[seen], str(note.with_signatures(lines)))
        return await _closing(told, "cosigned", session_id)


async def _tombstoned(seed, _):
    """A session that retention expired or somebody ended, that it then erased, and that a tombstone stands for."""
    rules = RetentionSettings(sweep_interval_s=0, idle_expiry_s=86_400, erase_after_days=30, tombstone_after_days=60)
    world = SealedWorld(retention=rules)
    async with world.serving() as client:
        told = Told(client, random.Random(f"tombstoned {seed}"))
        await client.window(text="another session's")
        session_id = await told.draw.choice((linear, fan_in, failed))(told)
        for days in (2, 31, 61):
            world.clock.advance(days=days)
            await client.keep("ApplyRetention", rules_pb.ApplyRetentionRequest(request_id=dag_world.fresh_uuid()))
        return await _closing(told, "tombstoned", session_id)


SPECIAL = {
    "sqlite": _on_sqlite,
    "relay": _relay,
    "rotated": _rotated,
    "broken": _broken,
    "older": _older,
    "cosigned": _cosigned,
    "tombstoned": _tombstoned,
}
RECIPES = (*(recipe.__name__ for recipe in SIMPLE), *SPECIAL)


async def recorded(recipe, seed, folder):
    """Write the session of a recipe and return what is left of it."""
    for simple in SIMPLE:
        if simple.__name__ == recipe:
            return await _simple(simple, seed)
    return await SPECIAL[recipe](seed, folder)


def record(recipe, seed, folder):
    """The same, for callers without a loop."""
    return asyncio.run(recorded(recipe, seed, folder))


@contextlib.contextmanager
def counted_randomness():
    """Salts, ids of stores and request ids that count up, so that a recording is the same in every run."""
    salts, ids, stores = itertools.count(1), itertools.count(1), itertools.count(1)

    def urandom(count):
        return sha256_hex(f"salt {next(salts)}").encode()[:count]

    def fresh():
        return f"00000000-0000-4000-8000-{next(ids):012x}"

    def token_hex(count):
        return sha256_hex(f"store {next(stores)}")[: 2 * count]

    with (
        patch("services.dag.sealed_store.os", SimpleNamespace(urandom=urandom)),
        patch("services.common.adapters.memory.sessions.secrets", SimpleNamespace(token_hex=token_hex)),
        patch.object(dag_world, "fresh_uuid", fresh),
        patch.object(sealed_world, "fresh_uuid", fresh),
    ):
        yield
