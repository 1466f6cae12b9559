"""Rows and more: deleted, doubled, exchanged, cut off; whole sessions; copies that are older than a kept checkpoint."""

from dataclasses import replace
from itertools import combinations, pairwise

from tests.fakes.raw import fields
from tests.fakes.raw.changes import KEYS, LOG, RECORDS, Change
from tests.fakes.raw.fields import where
from tests.fakes.raw.template import FOREIGN, TENANT

LEFT = ("sessions", "events", "leaves")
"""What a tombstone leaves of a session."""
OF_SESSION = ("windows", "edges", "events", "reports", "sessions", "leaves", "receipts")


def row_changes(rows):
    """Delete, double and exchange whole rows."""
    for table, every in rows.items():
        for number, row in enumerate(every):
            condition, key = where(table, row)
            gone = (f"DELETE FROM {table} WHERE {condition}", key)
            yield Change(f"a row of {table} deleted", f"{number}", (gone,))
        for number, row in enumerate(every):
            yield Change(f"a row of {table} doubled", f"{number}", (_doubled(table, row),))
        for number, (one, two) in enumerate(pairwise(every)):
            yield Change(f"two rows of {table} exchanged", f"{number}", tuple(_exchanged(table, one, two)))


def _inserted(table, row):
    names = ", ".join(row)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())


def _doubled(table, row):
    """Return a row that nobody wrote, as like another as keys allow."""
    last = KEYS[table][-1]
    other = {**row, last: row[last] + 100_000 if isinstance(row[last], int) else f"{row[last]}0"}
    if table == "sessions":
        other |= {"session_id": f"{row['session_id'][:-1]}z"}
    if table == "windows":
        other |= {"continuation_id": "", "parent_ids": row["parent_ids"] if row["parent_ids"] != "[]" else '["x"]'}
    if table == "leaves":
        other |= {"record_id": f"{row['record_id']}0"}
    return _inserted(table, other)


def _exchanged(table, one, two):
    """Give each row the other's key."""
    for row in (one, two):
        condition, key = where(table, row)
        yield f"DELETE FROM {table} WHERE {condition}", key
    for row, other in ((one, two), (two, one)):
        yield _inserted(table, {**row, **{name: other[name] for name in KEYS[table]}})


def cut_trails(template, session_id):
    """Cut the end of a session: events alone, or its last windows with all that hangs on them."""
    events = [row for row in template.rows["events"] if row["session_id"] == session_id]
    windows = [row for row in template.rows["windows"] if row["session_id"] == session_id]
    ends = {f"{n} events": _without_events(events[-n:]) for n in range(1, 13)}
    for n in range(1, 4):
        gone = [row["window_id"] for row in windows[-n:]]
        first = min(row["sequence"] for row in events if row["window_id"] in gone)
        ends[f"{n} windows"] = _without_windows(session_id, gone, first)
    seals = {
        "": (),
        ", seal emptied": ("UPDATE sessions SET trail_mac = '' WHERE session_id = ?",),
        ", seal zeroed": ("UPDATE sessions SET trail_mac = printf('%064d', 0) WHERE session_id = ?",),
    }
    for end, statements in ends.items():
        for seal, more in seals.items():
            for leaves in (False, True):
                also = (_LEAVES_OF_NOTHING,) if leaves else ()
                name = f"{end}{seal}{', leaves too' if leaves else ''}"
                sealing = tuple((text, (session_id,)) for text in more)
                yield Change("the end of a session cut off", name, (*statements, *sealing, *also))


_OF_NOTHING = (
    "DELETE FROM leaves WHERE record_kind = 'event' AND record_id NOT IN (SELECT event_id FROM events) "
    "OR record_kind = 'window' AND record_id NOT IN (SELECT window_id FROM windows)"
)
_LEAVES_OF_NOTHING = (_OF_NOTHING, ())


def _without_events(events):
    return tuple(
        (f"DELETE FROM events WHERE {condition}", key) for condition, key in (where("events", e) for e in events)
    )


def _without_windows(session_id, gone, first):
    marks = ", ".join("?" * len(gone))
    return (
        (f"DELETE FROM windows WHERE window_id IN ({marks})", tuple(gone)),
        (f"DELETE FROM edges WHERE target_id IN ({marks}) OR source_id IN ({marks})", (*gone, *gone)),
        (f"DELETE FROM reports WHERE window_id IN ({marks})", tuple(gone)),
        ("DELETE FROM events WHERE session_id = ? AND sequence >= ?", (session_id, first)),
    )


def log_changes(template, session_id):
    """Change the log as a whole."""
    size = max(row["leaf_index"] for row in template.rows["leaves"] if row["tenant_id"] == TENANT) + 1
    whole: dict[str, tuple] = {
        "the session's leaves deleted": (("DELETE FROM leaves WHERE session_id = ?", (session_id,)),),
        "the session's windows' leaves deleted": (
            ("DELETE FROM leaves WHERE session_id = ? AND record_kind = 'window'", (session_id,)),
        ),
        "the session's events' leaves deleted": (
            ("DELETE FROM leaves WHERE session_id = ? AND record_kind = 'event'", (session_id,)),
        ),
        "the session's leaves given to another": (
            ("UPDATE leaves SET session_id = session_id || '0' WHERE session_id = ?", (session_id,)),
        ),
        "the session's content_hmacs zeroed": (
            ("UPDATE leaves SET content_hmac = printf('%064d', 0) WHERE session_id = ?", (session_id,)),
        ),
        "the session's hashes zeroed": (
            ("UPDATE leaves SET subtrees = zeroblob(length(subtrees)) WHERE session_id = ?", (session_id,)),
        ),
        "the tree deleted": (("DELETE FROM trees WHERE tenant_id = ?", (TENANT,)),),
        "the peaks zeroed": (("UPDATE trees SET peaks = zeroblob(length(peaks)) WHERE tenant_id = ?", (TENANT,)),),
        "the kept head deleted": (("DELETE FROM heads WHERE tenant_id = ?", (TENANT,)),),
        "tree, leaves and kept head deleted": (
            ("DELETE FROM trees WHERE tenant_id = ?", (TENANT,)),
            ("DELETE FROM leaves WHERE tenant_id = ?", (TENANT,)),
            ("DELETE FROM heads WHERE tenant_id = ?", (TENANT,)),
        ),
        "tree and leaves deleted": (
            ("DELETE FROM trees WHERE tenant_id = ?", (TENANT,)),
            ("DELETE FROM leaves WHERE tenant_id = ?", (TENANT,)),
        ),
    }
    for less in (1, 2, 3, 5, 8, 13, 21, 34):
        whole[f"the last {less} leaves deleted"] = (
            ("DELETE FROM leaves WHERE tenant_id = ? AND leaf_index >= ?", (TENANT, size - less)),
        )
        whole[f"the tree {less} smaller"] = (("UPDATE trees SET size = size - ? WHERE tenant_id = ?", (less, TENANT)),)
    for name, statements in whole.items():
        yield Change("the log changed as a whole", name, statements)


def tombstone_changes(template, buried, living):
    """Take a tombstone away, say that it stands for less, and put one in the place of a living session."""
    rows = {table: [row for row in template.rows[table] if row["session_id"] == buried] for table in LEFT}
    for way in fields.field_changes(rows, takes=1):
        kind = way.kind.replace("a value of", "a value of a tombstone's")
        yield replace(way, kind="a whole tombstone" if kind == way.kind else kind, name=f"tombstone: {way.name}")
    deleted = {table: (f"DELETE FROM {table} WHERE session_id = ?", (buried,)) for table in LEFT}
    for n in range(1, len(LEFT) + 1):
        for some in combinations(LEFT, n):
            yield Change("a whole tombstone", f"its {', '.join(some)} deleted", tuple(deleted[table] for table in some))
    (event,) = rows["events"]
    for leaf in rows["leaves"]:
        condition, key = where("leaves", leaf)
        yield Change(
            "a whole tombstone",
            f"leaf {leaf['position']} {leaf['record_kind']} deleted",
            ((f"DELETE FROM leaves WHERE {condition}", key),),
        )
    emptied = tuple(
        (f"DELETE FROM {table} WHERE session_id = ?", (living,)) for table in ("windows", "edges", "reports")
    )
    last = "SELECT max(sequence) FROM events WHERE session_id = ?1"
    cut = (*emptied, (f"DELETE FROM events WHERE session_id = ?1 AND sequence < ({last})", (living,)))
    lie = ("UPDATE sessions SET status = 'TOMBSTONED' WHERE session_id = ?", (living,))
    typed = ("UPDATE events SET event_type = 'SESSION_TOMBSTONED' WHERE session_id = ?", (living,))
    lent = (
        "UPDATE events SET event_type = 'SESSION_TOMBSTONED', event_id = ?, data = ?, hmac = ? WHERE session_id = ?",
        (f"{event['event_id']}0", event["data"], event["hmac"], living),
    )
    for name, more in {
        "": (),
        ", status": (lie,),
        ", status and type": (lie, typed),
        ", another's": (lie, lent),
    }.items():
        yield Change("a tombstone feigned", f"all but the last event{name}", (*cut, *more))


def session_changes(one, two):
    """Delete a session, give it away, exchange it with another, feign its erasure."""

    def everywhere(text, values, tables=OF_SESSION):
        return tuple((text.format(table=table), values) for table in tables)

    records = tuple(table for table in OF_SESSION if table in RECORDS)
    logged = (*records, "leaves")
    deleted = "DELETE FROM {table} WHERE session_id = ?"
    yield Change("a whole session deleted", "records", everywhere(deleted, (one,), records))
    yield Change("a whole session deleted", "with its leaves", everywhere(deleted, (one,), logged))
    yield Change("a whole session deleted", "with all there is", everywhere(deleted, (one,)))
    away = "UPDATE {table} SET tenant_id = ? WHERE session_id = ?"
    yield Change("a whole session", "given to another tenant", everywhere(away, (FOREIGN, one), records))
    renamed = "UPDATE {table} SET session_id = ? WHERE session_id = ?"
    for name, tables in (("records", records), ("records and leaves", logged)):
        swap = [*everywhere(renamed, ("between", one), tables), *everywhere(renamed, (one, two), tables)]
        swap += everywhere(renamed, (two, "between"), tables)
        yield Change("a whole session", f"{name} exchanged with another session's", tuple(swap))
    for table in records:
        swap = [(renamed.format(table=table), pair) for pair in (("between", one), (one, two), (two, "between"))]
        yield Change("a whole session", f"{table} exchanged with another session's", tuple(swap))
        yield Change("a whole session", f"its {table} deleted", ((deleted.format(table=table), (one,)),))
        yield Change(
            "a whole session", f"its {table} given to another tenant", ((away.format(table=table), (FOREIGN, one)),)
        )
    feigned = [
        ("UPDATE sessions SET status = 'ERASED' WHERE session_id = ?", (one,)),
        ("UPDATE windows SET response_text = '' WHERE session_id = ?", (one,)),
        ("UPDATE reports SET body = '', inputs = '' WHERE session_id = ?", (one,)),
        ("UPDATE events SET data = '', data_sha256 = printf('%064d', 0) WHERE session_id = ?", (one,)),
    ]
    for n in range(1, len(feigned) + 1):
        for some in combinations(feigned, n):
            name = " ".join(statement.split()[1] for statement, _ in some)
            yield Change("an erasure feigned", name, tuple(some))
    for status in ("OPEN", "COMPLETED", "TERMINATED", "BROKEN", "ERASED", "UNREADABLE", "open", ""):
        yield Change(
            "a whole session",
            f"status {status!r}",
            (("UPDATE sessions SET status = ? WHERE session_id = ?", (status, one)),),
        )


def copies(sessions):
    """Put back what an older copy of the file holds: a session's rows, tables, the log."""
    for session_id, role in sessions:
        for n in range(1, len(RECORDS) + 1):
            for some in combinations(RECORDS, n):
                for logged in (False, True):
                    tables = (*some, "leaves") if logged else some
                    statements = tuple(part for table in tables for part in _put_back(table, "session_id", session_id))
                    kind = "a session's older copy" if n == len(RECORDS) else "a part of a session's older copy"
                    yield Change(kind, f"{role}: {', '.join(tables)}", statements, attaches=True)
    tables = (*RECORDS, *LOG)
    for n in (1, 2, len(RECORDS), len(tables) - 1, len(tables)):
        for some in combinations(tables, n):
            statements = tuple(part for table in some for part in _put_back(table, "tenant_id", TENANT))
            yield Change("a table's older copy", ", ".join(some), statements, attaches=True)


def _put_back(table, column, value):
    return (
        (f"DELETE FROM main.{table} WHERE {column} = ?", (value,)),
        (f"INSERT INTO main.{table} SELECT * FROM older.{table} WHERE {column} = ?", (value,)),
    )
