"""The monitor of a log: what grows passes, whatever was set back, rewritten, cut or slipped in is named."""

import json
import random

import pytest

from services.cli.commands import monitor
from services.cli.monitoring import EntryRules, FindingKind, Follower, MonitorState, StateFile
from services.cli.monitoring.follower import PAGE, Head
from services.common.clock import SystemClock
from services.common.encoding import canonical_json
from services.common.errors import (
    ChainBrokenError,
    ErrorReason,
    InvalidRequestError,
    LogInconsistentError,
    UnavailableError,
)
from services.common.merkle import CompactRange, leaf_hash
from services.common.signed_note import Checkpoint, Note, NoteSigner
from tests.each import each

ORIGIN = "log.example/x"
SIGNER = NoteSigner(ORIGIN, bytes(range(32)))
NEXT = NoteSigner(ORIGIN, b"\1" * 32)


def entry(session_id, kind, place, **changes):
    fields = {
        "content_hmac": f"{place:064x}",
        "position": place,
        "record_id": f"{session_id}/{kind}/{place}",
        "record_kind": kind,
        "session_id": session_id,
        "version": 1,
    }
    return canonical_json(fields | changes)


def session(session_id, windows, first=0):
    """The leaves of a session: its creation, and for each window that and the event that commits it."""
    leaves = [entry(session_id, "event", first)]
    for number in range(1, windows + 1):
        leaves += [entry(session_id, "window", number), entry(session_id, "event", first + number)]
    return leaves


class FakeLog:
    """A server's log; heads are those of ``signed``, entries those of ``leaves``."""

    def __init__(self, leaves, signers=(SIGNER,)):
        self.leaves = list(leaves)
        self.signed = list(leaves)
        self.signers = signers
        self.asked = 0
        self.refuses = None
        self.missing = said_now

    def add(self, leaves):
        self.leaves += leaves
        self.signed += leaves

    async def head(self, size=None):
        self.asked += 1
        if self.refuses is not None:
            raise self.refuses
        size = len(self.signed) if size is None else size
        tree, _ = CompactRange().extend(map(leaf_hash, self.signed[:size]))
        text = str(Checkpoint(ORIGIN, size, tree.root()))
        return Head(str(Note(text, tuple(one.sign(text) for one in self.signers))), self.signers[0].key)

    async def entries(self, first, most):
        if None in self.leaves[first : first + most]:
            index = self.leaves.index(None, first)
            raise self.missing(index)
        return self.leaves[first : first + most]


def said_now(index):
    return LogInconsistentError.of(f"leaf {index} is missing", leaf_index=str(index))


def said_before(index):
    return ChainBrokenError(ErrorReason.CHAIN_BROKEN, f"leaf {index} is missing", leaf_index=str(index))


class Watch:
    """A monitor of a fake log."""

    def __init__(self, log, state=None):
        self.log = log
        self.state = state or MonitorState()
        self.kept = []
        self.pages = []

    async def look(self):
        async def keep(state):
            self.kept.append(state.tree.size)

        def began(pages):
            self.pages.append(pages)
            return lambda: None

        return await Follower(self.log, self.state, SystemClock(), keep).look(began)

    async def finds(self):
        return [(one.kind, one.leaf_index) for one in (await self.look()).findings]


async def test_a_log_that_only_grows_gives_nothing():
    log = FakeLog([])
    watch = Watch(log)
    for number in range(6):
        look = await watch.look()
        assert (look.tree_size, look.findings) == (len(log.leaves), ())
        assert watch.state.tree.root() == CompactRange().extend(map(leaf_hash, log.leaves))[0].root()
        log.add(session(f"s{number}", number))
    assert watch.state.heads[-1][0] == watch.state.tree.size
    assert len(watch.state.heads) == 6


async def test_sessions_that_interleave_and_siblings_of_a_fan_out_belong():
    siblings = [
        entry("s", "window", 2, record_id="a"),
        entry("s", "event", 3),
        entry("s", "window", 2, record_id="b"),
        entry("s", "event", 4),
    ]
    watch = Watch(FakeLog([*session("s", 2), entry("t", "event", 0), *siblings, entry("t", "event", 1)]))
    assert await watch.finds() == []


async def test_a_long_log_is_read_in_pages_and_kept_after_each():
    log = FakeLog(session("s", PAGE))
    watch = Watch(log)
    assert await watch.finds() == []
    assert watch.pages == [3]
    assert watch.kept == [PAGE, 2 * PAGE, len(log.leaves), len(log.leaves)]


@pytest.mark.parametrize("size", range(11))
async def test_every_rollback_is_found_and_found_again(size):
    log = FakeLog(session("s", 5))
    watch = Watch(log)
    await watch.look()
    log.leaves, log.signed = log.leaves[:size], log.signed[:size]
    assert await watch.finds() == [(FindingKind.ROLLED_BACK, -1)]
    assert await watch.finds() == []  # told once
    assert watch.state.found == 1
    assert watch.state.tree.size == 11


@pytest.mark.parametrize("added", [0, 1, 7])
@pytest.mark.parametrize("place", range(11))
async def test_every_rewritten_leaf_is_a_fork(place, added):
    log = FakeLog(session("s", 5))
    watch = Watch(log)
    await watch.look()
    log.leaves[place] = log.signed[place] = entry("s", "event", 77)
    log.add(session("t", 0) * (added > 0) + [entry("t", "event", 1 + n) for n in range(added - 1)])
    assert await watch.finds() == [(FindingKind.FORKED, -1)]
    assert watch.state.tree.size == 11


@pytest.mark.parametrize("place", range(11))
async def test_every_leaf_that_is_not_the_signed_one_is_named(place):
    log = FakeLog(session("s", 5))
    log.leaves[place] = entry("s", "event", 77)
    assert await Watch(log).finds() == [(FindingKind.ENTRY_DIFFERS, place)]
    later = Watch(FakeLog(session("s", 5)))
    await later.look()
    later.log.add(session("t", 5))
    later.log.leaves[11 + place] = entry("t", "event", 78)
    assert await later.finds() == [(FindingKind.ENTRY_DIFFERS, 11 + place)]


@pytest.mark.parametrize("said", [said_now, said_before])
async def test_a_leaf_that_the_server_has_not_is_named(said):
    log = FakeLog(session("s", 5))
    log.missing = said
    log.leaves[7] = None
    assert await Watch(log).finds() == [(FindingKind.ENTRY_MISSING, 7)]
    log.leaves = log.leaves[:4]
    watch = Watch(log)
    assert await watch.finds() == [(FindingKind.ENTRY_MISSING, 4)]


async def test_a_server_that_signs_no_head_of_its_own_log_is_a_finding_and_one_that_is_away_is_none():
    log = FakeLog(session("s", 5))
    watch = Watch(log)
    assert await watch.finds() == []
    log.refuses = LogInconsistentError.of("the head that was kept is gone")
    assert await watch.finds() == [(FindingKind.LOG_INCONSISTENT, -1)]
    assert watch.state.findings[0].detail == "the server signs no head: the head that was kept is gone"
    assert await watch.finds() == []
    assert watch.state.found == 1
    log.refuses = UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "away")
    with pytest.raises(UnavailableError):
        await watch.look()


async def test_a_session_that_was_set_back_and_written_anew_shows_it():
    rewritten = [entry("s", "window", 2, record_id="nicer"), entry("s", "event", 2), entry("s", "event", 3)]
    log = FakeLog([*session("s", 3), *session("t", 1), *rewritten])
    watch = Watch(log)
    assert await watch.finds() == [(FindingKind.POSITION_TWICE, len(session("s", 3)) + 3 + 1)]
    assert watch.state.findings[0].session_id == "s"


@each(
    ("leaves", "found"),
    [
        ([entry("s", "event", 0), entry("s", "event", 2)], [(FindingKind.POSITION_SKIPPED, 1)]),
        ([entry("s", "event", 0), entry("s", "event", 0)], [(FindingKind.POSITION_TWICE, 1)]),
        ([*session("s", 1), entry("s", "event", 0)], [(FindingKind.POSITION_TWICE, 3)]),
        ([entry("s", "window", 1), entry("s", "window", 2), entry("s", "event", 0)], [(FindingKind.WINDOW_ALONE, 0)]),
        ([entry("s", "window", 1), entry("t", "event", 0)], [(FindingKind.WINDOW_ALONE, 0)]),
        ([entry("s", "event", 0, version=2)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, record_kind="note")], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, position=-1)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, position=True)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, position="0")], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("", "event", 0)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, content_hmac="x")], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0, more=1)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0).replace(b",", b", ", 1)], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([entry("s", "event", 0)[:-1] + b',"version":1}'], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([b"\xff"], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([b"[]"], [(FindingKind.ENTRY_MALFORMED, 0)]),
        ([b""], [(FindingKind.ENTRY_MALFORMED, 0)]),
    ],
)
async def test_what_does_not_belong_is_named(leaves, found):
    assert await Watch(FakeLog(leaves)).finds() == found


async def test_a_window_whose_event_comes_with_the_next_look_is_not_alone():
    log = FakeLog(session("s", 1)[:2])
    watch = Watch(log)
    assert await watch.finds() == []
    log.add(session("s", 1)[2:])
    assert await watch.finds() == []


async def test_a_session_that_is_older_than_the_log_is_no_finding():
    watch = Watch(FakeLog(session("s", 2, first=7)))
    assert await watch.finds() == []
    assert watch.state.rules.late == 1


async def test_a_head_that_another_key_signed_is_not_believed():
    log = FakeLog(session("s", 1))
    watch = Watch(log)
    await watch.look()
    log.signers = (NEXT,)
    log.add(session("t", 1))
    assert await watch.finds() == [(FindingKind.NOT_SIGNED, -1)]
    log.signers = (NoteSigner("log.example/y", bytes(range(32))),)
    assert (await watch.look()).tree_size == 3


async def test_a_rotated_key_is_taken_over_while_both_sign():
    log = FakeLog(session("s", 1))
    watch = Watch(log)
    await watch.look()
    log.signers = (NEXT, SIGNER)
    assert await watch.finds() == []
    log.signers = (NEXT,)
    log.add(session("t", 1))
    assert await watch.finds() == []
    assert watch.state.key == NEXT.key


async def test_the_state_comes_back_whole(tmp_path):
    log = FakeLog([*session("s", 3), entry("s", "event", 0), entry("w", "window", 1)])
    watch = Watch(log)
    await watch.look()
    file = StateFile(tmp_path / "state" / "log.json")
    file.write(watch.state)
    assert (tmp_path / "state" / "log.json").stat().st_mode & 0o777 == 0o600
    again = Watch(log, file.read())
    assert again.state == watch.state
    log.add([entry("t", "event", 0)])
    assert await again.finds() == [(FindingKind.WINDOW_ALONE, 8)]


async def test_a_bare_key_that_is_not_the_logs_is_remembered_with_what_it_found(tmp_path):
    state = MonitorState()
    monitor._pin(state, NEXT.key.public_key.hex())
    file = StateFile(tmp_path / "log.json")

    async def keep(kept):
        file.write(kept)

    await Follower(FakeLog(session("s", 2)), state, SystemClock(), keep).look(lambda _: lambda: None)
    again = file.read()
    assert (again.key, again.found, again.findings[0].kind) == (state.key, 1, FindingKind.NOT_SIGNED)
    before = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))
    (tmp_path / "log.json").write_text(json.dumps(before | {"key": str(state.key)}), encoding="utf-8")
    assert file.read().key == state.key  # as it was written before
    monitor._pin(again, str(SIGNER.key))
    assert again.key == SIGNER.key


def test_a_folder_is_no_state(tmp_path):
    with pytest.raises(InvalidRequestError, match=r"--state: .* cannot be read: Is a directory; name another file"):
        StateFile(tmp_path).read()


@pytest.mark.parametrize("change", [{"version": 2}, {"peaks": "00"}, {"window": []}, {"findings": [{}]}, {"key": "x"}])
def test_a_state_that_is_none_is_refused(tmp_path, change):
    file = StateFile(tmp_path / "log.json")
    assert file.read() == MonitorState()
    file.write(MonitorState())
    value = json.loads((tmp_path / "log.json").read_text())
    (tmp_path / "log.json").write_text(json.dumps(value | change))
    with pytest.raises(InvalidRequestError, match="not what a monitor wrote"):
        file.read()
    (tmp_path / "log.json").write_text("{")
    with pytest.raises(InvalidRequestError):
        file.read()


@each("seed", range(40))
async def test_any_change_of_a_log_that_was_seen_is_found(seed):
    chance = random.Random(seed)
    log = FakeLog([leaf for number in range(chance.randrange(1, 6)) for leaf in session(f"s{number}", number)])
    watch = Watch(log)
    await watch.look()
    seen = list(log.signed)
    log.add(session("later", chance.randrange(5)))
    leaves = list(log.leaves)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(seen))
        leaves[place : place + chance.randrange(2)] = [entry("forged", "event", chance.randrange(9))][
            : chance.randrange(2)
        ]
    log.leaves = log.signed = leaves
    changed = leaves[: len(seen)] != seen
    assert bool((await watch.look()).findings) is changed


def test_the_rules_keep_sessions_apart():
    rules = EntryRules()
    for number in range(2_000):
        assert rules.take(number, entry(f"s{number % 7}", "event", number // 7)) == []
