"""A witness over HTTP: every answer of C2SP tlog-witness, and a memory that outlives it."""

import asyncio
from datetime import UTC, datetime

import httpx
import pytest

from services.common.cosignature import Cosigner
from services.common.errors import StartupError
from services.common.signed_note import Note, NoteSigner, signature_lines
from services.common.submission import MAX_BODY_BYTES, Submission
from services.witness import HeadFolder, Witness, key_file
from services.witness.http import witness_app
from tests.unit.witness.logs import EMPTY, ORIGIN, SIGNER, ToyLog

NOW = datetime(2026, 5, 24, 9, 0, 0, tzinfo=UTC)
COSIGNER = Cosigner("witness.example/w1", b"\7" * 32)
OTHER_KEY = NoteSigner(ORIGIN, b"\1" * 32)


class Noon:
    def now(self):
        return NOW


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def heads(folder):
    opened = HeadFolder.open(folder)
    yield opened
    opened.close()


def client_of(heads, logs=(SIGNER.key,)):
    app = witness_app(Witness(logs, COSIGNER, heads, Noon()))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://witness")


@pytest.fixture
async def client(heads):
    async with client_of(heads) as opened:
        yield opened


async def submitted(client, body):
    answer = await client.post("/add-checkpoint", content=body)
    return answer.status_code, answer.text, answer.headers["content-type"]


async def cosigned(client, log, old, size):
    status, text, _ = await submitted(client, log.submission(old, size))
    assert status == 200, text
    (line,) = signature_lines(text)
    assert COSIGNER.key.signed_at(log.note(size).text, line) == int(NOW.timestamp())
    return line


async def test_a_log_that_grows_is_cosigned_step_by_step(client):
    log = ToyLog()
    sizes = [1, 2, 3, 3, 7, 8, 64, 100]
    for old, size in zip([0, *sizes], sizes, strict=False):
        await cosigned(client, log, old, size)


async def test_an_empty_log_can_be_cosigned(client):
    log = ToyLog()
    await cosigned(client, log, 0, 0)
    assert log.root(0) == EMPTY
    await cosigned(client, log, 0, 5)


@pytest.mark.parametrize("old", [0, 3, 6, 8])
async def test_another_size_is_told(client, old):
    log = ToyLog()
    await cosigned(client, log, 0, 5)
    status, text, kind = await submitted(client, log.submission(old, 9))
    assert (status, text, kind) == (409, "5\n", "text/x.tlog.size")


async def test_an_unknown_log_is_not_found_and_an_unknown_key_forbidden(client):
    stranger = ToyLog(signer=NoteSigner("log.example/y", b"\2" * 32))
    assert (await submitted(client, stranger.submission(0, 1)))[0] == 404
    forger = ToyLog(signer=OTHER_KEY)
    assert (await submitted(client, forger.submission(0, 1)))[0] == 403
    # A signature that the witness does not know beside one that it knows is passed over.
    log = ToyLog()
    note = log.note(1)
    both = Note(note.text, (OTHER_KEY.sign(note.text), *note.signatures))
    assert (await submitted(client, log.submission(0, 1, text=str(both))))[0] == 200


async def test_a_log_may_have_two_keys_while_they_rotate(heads):
    async with client_of(heads, (OTHER_KEY.key, SIGNER.key)) as client:
        await cosigned(client, ToyLog(), 0, 3)
        assert (await submitted(client, ToyLog(signer=OTHER_KEY).submission(3, 4)))[0] == 200


async def test_a_proof_that_does_not_hold_is_refused_and_kept(client, folder):
    log, fork = ToyLog(), ToyLog("b", common=3)
    await cosigned(client, log, 0, 5)
    assert (await submitted(client, fork.submission(5, 9)))[0] == 422
    assert (await submitted(client, log.submission(5, 9, path=())))[0] == 422
    assert (await submitted(client, log.submission(5, 9, path=(*log.proof(5, 9), EMPTY))))[0] == 422
    (evidence,) = folder.glob("*.evidence")
    assert Submission.parse(evidence.read_bytes()).text == str(fork.note(9))
    await cosigned(client, log, 5, 9)


async def test_a_first_head_takes_no_proof(client):
    log = ToyLog()
    assert (await submitted(client, log.submission(0, 5, path=(EMPTY,))))[0] == 422
    await cosigned(client, log, 0, 5)


async def test_two_roots_of_one_size_are_a_conflict_without_a_size(client):
    log, fork = ToyLog(), ToyLog("b", common=3)
    await cosigned(client, log, 0, 5)
    status, _, kind = await submitted(client, fork.submission(5, 5, path=()))
    assert (status, kind) == (409, "text/plain; charset=utf-8")
    await cosigned(client, log, 5, 5)


async def test_an_old_size_above_the_heads_is_a_bad_request(client):
    log = ToyLog()
    await cosigned(client, log, 0, 5)
    assert (await submitted(client, log.submission(5, 4, path=())))[0] == 400


@pytest.mark.parametrize(
    "body", [b"", b"old 0\n", b"\xff\xfe", b"old 0\n\nno note", b"old 0\n\nx\ny\nz\n\n\xe2\x80\x94 a AAAAAAAA\n"]
)
async def test_what_is_no_submission_is_a_bad_request(client, body):
    assert (await submitted(client, body))[0] == 400


async def test_a_body_without_end_is_cut_off(client):
    assert (await submitted(client, b"old 0\n" + b"x" * MAX_BODY_BYTES))[0] == 413


async def test_what_was_cosigned_outlives_the_process(folder):
    log = ToyLog()
    first = HeadFolder.open(folder)
    async with client_of(first) as client:
        await cosigned(client, log, 0, 5)
    first.close()
    second = HeadFolder.open(folder)
    async with client_of(second) as client:
        assert (await submitted(client, ToyLog("b").submission(0, 5)))[:2] == (409, "5\n")
        await cosigned(client, log, 5, 6)
    second.close()
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


async def test_a_damaged_memory_signs_nothing(folder):
    first = HeadFolder.open(folder)
    async with client_of(first) as client:
        await cosigned(client, ToyLog(), 0, 5)
    first.close()
    (head,) = folder.glob("*.head")
    head.write_text("nothing")
    second = HeadFolder.open(folder)
    async with client_of(second) as client:
        assert (await submitted(client, ToyLog("b").submission(0, 5)))[0] == 503
        assert (await submitted(client, ToyLog().submission(5, 6)))[0] == 503
    second.close()


async def test_what_cannot_be_kept_is_not_cosigned(client, folder):
    await cosigned(client, ToyLog(), 0, 5)
    folder.rename(folder.with_name("gone"))
    assert (await submitted(client, ToyLog().submission(5, 6)))[0] == 503
    folder.with_name("gone").rename(folder)
    await cosigned(client, ToyLog(), 5, 6)


async def test_one_process_has_the_folder(heads, folder):
    with pytest.raises(StartupError, match="another process"):
        HeadFolder.open(folder)


async def test_submissions_at_once_never_set_the_memory_back(client):
    log = ToyLog()
    await cosigned(client, log, 0, 5)
    answers = await asyncio.gather(*(submitted(client, log.submission(5, size)) for size in range(6, 30)))
    good = [size for size, (status, _, _) in zip(range(6, 30), answers, strict=True) if status == 200]
    assert len(good) == 1
    assert {text for status, text, _ in answers if status == 409} == {f"{good[0]}\n"}
    await cosigned(client, log, good[0], 30)


def test_a_key_is_made_once_and_is_its_owners(tmp_path):
    path = tmp_path / "keys" / "witness.key"
    seed = key_file(path)
    assert (key_file(path), len(seed)) == (seed, 32)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(StartupError, match="chmod 600"):
        key_file(path)
    path.chmod(0o600)
    path.write_text("00")
    with pytest.raises(StartupError, match="64 hex digits"):
        key_file(path)
