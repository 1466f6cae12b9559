"""The store that raw changes are made to: sessions of every kind, an older copy, and a checkpoint that was kept."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from crp.dag.v1 import retention_service_pb2 as rules_pb
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as log_pb
from pydantic import SecretStr

from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.common.settings.stores import StoreSettings
from services.common.signed_note import Note
from tests.fakes.dag_world import NOW, CountingIds, TurnedClock, fresh_uuid
from tests.fakes.raw.changes import meanings, rows_in
from tests.fakes.raw.pages import reads_of
from tests.fakes.recorded_sessions import COSIGNED_AT, WITNESSES
from tests.fakes.sealed_world import SECRET, SealedWorld
from tests.property.test_dag_mutations import FAN_OUT, LONG, REFLEXIVE, append, fail, merge, settled

TENANT = "tenant-a"
FOREIGN = "tenant-m"
PLAIN = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")
FILE = "sessions.db"
LONGEST = "A first part.\n\n" + "It goes on and on. " * 700 + "\n\nThe conclusion."
"""Fills pages of its own."""


RULES = RetentionSettings(sweep_interval_s=0, idle_expiry_s=0, tombstone_after_days=1)
BEFORE = timedelta(days=2)


def world_of(store, prefix="x", after=timedelta()):
    dag = DagSettings(master_key=SecretStr(SECRET), log_name="log.example", max_windows=12)
    clock = TurnedClock(NOW + after)
    return SealedWorld(store=store, clock=clock, ids=CountingIds(prefix=prefix), dag=dag, retention=RULES)


@dataclass
class Template:
    """Two closed files and what is known of them.

    Attributes:
        now, older: the file, and a copy from before the second half of ``victim`` and of ``other``.
        sessions: by role: victim, other, erased, buried (under a tombstone), beside (where work goes on meanwhile),
            foreign (another tenant's).
        tokens: the newest of each open session; ``victim-older`` is the one of the older copy.
        kept: the head that an auditor kept after everything was written.
        rows, says, reads: what plain SQLite finds in the file: every row, what it says, what is read of each session.
    """

    now: Path
    older: Path
    sessions: dict = field(default_factory=dict)
    tokens: dict = field(default_factory=dict)
    kept: Any = None
    rows: dict = field(default_factory=dict)
    says: dict = field(default_factory=dict)
    reads: dict = field(default_factory=dict)

    def owner(self, role):
        """Return tenant and session."""
        return FOREIGN if role == "foreign" else TENANT, self.sessions[role]


async def build(folder: Path) -> Template:
    """Write the sessions; the order in which sessions take turns mixes their rows."""
    template = Template(folder / "now.db", folder / "older.db")
    store = await SqliteSessionStore.open(folder / FILE, PLAIN)
    world = world_of(store, after=-BEFORE)
    async with world.serving() as client:
        await write_sessions(world, client, template, lambda: _copy(folder / FILE, template.older))
    await store.close()
    _copy(folder / FILE, template.now)
    template.rows = rows_in(template.now)
    template.says = meanings(template.rows)
    template.reads = {role: reads_of(template.now, template.owner(role)) for role in template.sessions}
    return template


async def write_sessions(world, client, template, half_way=lambda: None):
    """Write the sessions of every role, and keep a head of the log, which a witness cosigned.

    The clock of the world stands two days before all but the session that is buried.
    """
    await _bury(client, template, world.clock)
    await _first_half(client, template)
    half_way()
    await _second_half(client, template)
    template.kept = (await client.ask_log("GetTreeHead", log_pb.GetTreeHeadRequest())).tree_head
    note = Note.parse(template.kept.checkpoint)
    note = note.with_signatures([WITNESSES[0].cosign(note.text, COSIGNED_AT)])
    await world.store.keep_cosigned(TENANT, template.kept.tree_size, str(note))


async def _bury(client, template, clock):
    """Write a session, erase it, and let retention put a tombstone in its place."""
    buried = _took(template, "buried", await client.window(text="To be forgotten."))
    template.tokens.pop("buried")
    await client.window(buried.session_token, text="All of it.")
    await client.erase(template.sessions["buried"])
    clock.advance(days=BEFORE.days)
    await client.keep("ApplyRetention", rules_pb.ApplyRetentionRequest(request_id=fresh_uuid()))


def _took(template, role, answer):
    template.sessions.setdefault(role, answer.session.session_id)
    template.tokens[role] = answer.session_token
    return answer


async def _first_half(client, template):
    beside = _took(template, "beside", await client.window(text="Beside."))
    elsewhere = await client.open(subject="mallory")
    _took(template, "foreign", await client.commit(elsewhere, "Elsewhere.", subject="mallory"))
    _took(template, "other", await client.window(text="Another session."))
    _took(template, "beside", await client.window(beside.session_token, text="Beside it goes on."))
    root = await client.commit(await client.open(), LONGEST, response_tokens=700)
    _took(template, "victim", root)
    a, b, c = [await client.open(root.session_token, strategy=FAN_OUT) for _ in range(3)]
    await fail(client, c)
    b = await client.commit(b, "The second branch.", tier="B", risk="MEDIUM")
    a = await client.commit(a, LONG, response_tokens=700, facts_included=["f-5", "f-6", "f-7"])
    longer = await client.open(a.session_token, summariser_available=True)
    a = await client.commit(longer, LONG, response_tokens=700, transfers=settled(longer))
    opened = await merge(client, [a, b], fan_in_policy=pb.FAN_IN_POLICY_PARTIAL, summariser_available=True)
    deferred = [{"fact_id": "f-8", "token_count": 3}, {"fact_id": "f-9", "token_count": 4}]
    merged = await client.commit(opened, "Merged.", transfers=settled(opened), deferred_facts=deferred)
    _took(template, "victim-older", merged)
    template.sessions.pop("victim-older")


async def _second_half(client, template):
    merged = template.tokens["victim-older"]
    checked = await client.open(merged, strategy=REFLEXIVE)
    refined = await client.open(merged, strategy=REFLEXIVE, branch=True)
    inputs = {"analysis_inputs": {"request_sha256": "a" * 64}}
    branches = [await client.commit(checked, "Checked."), await client.commit(refined, "Refined.", **inputs)]
    other = template.tokens["other"]
    _took(template, "other", await client.window(other, risk="CRITICAL", text="What nobody should have said."))
    last = _took(template, "victim", await client.commit(await merge(client, branches), "The end."))
    session_id = template.sessions["victim"]
    await append(client, session_id, last.window.window_id)
    await client.open(last.session_token)
    await append(client, session_id)
    erased = _took(template, "erased", await client.window(text="To be erased."))
    _took(template, "erased", await client.window(erased.session_token, text="This too."))
    await client.erase(template.sessions["erased"])
    _took(template, "beside", await client.window(template.tokens["beside"], text="And on."))


def _copy(source, target):
    with closing(sqlite3.connect(source)) as taken, closing(sqlite3.connect(target)) as made:
        taken.backup(made)
