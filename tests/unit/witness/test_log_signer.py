"""The holder of the log's key: it signs what grows, what came before, notes over exports of it, and nothing else."""

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.common.signed_note import Note, NoteKey, signature_lines
from services.common.submission import Submission
from services.dag.transparency.exporting import EXPORT_TITLE
from services.witness import HeadFolder, LogSigner
from services.witness.http import signer_app
from tests.unit.dag import independent
from tests.unit.witness.logs import ORIGIN, ToyLog

SEED = b"\5" * 32
CREDENTIAL = "a-credential-of-thirty-two-characters"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "signer"


@pytest.fixture
async def client(folder):
    heads = HeadFolder.open(folder)
    app = signer_app(LogSigner(SEED, heads), lambda: CREDENTIAL)
    headers = {"Authorization": f"Bearer {CREDENTIAL}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://s", headers=headers) as opened:
        yield opened
    heads.close()


def unsigned(log, old, size, text=None):
    path = log.proof(min(old, size), max(old, size)) if old else ()
    return Submission(old, path, text or str(log.head(size)))


async def asked(client, submission):
    answer = await client.post("/sign", content=bytes(submission))
    return answer.status_code, answer.text


async def signed(client, submission):
    status, text = await asked(client, submission)
    assert status == 200, text
    key = NoteKey.parse((await client.get("/key", params={"origin": ORIGIN})).text)
    assert Note(submission.text, signature_lines(text)).holds(key, ORIGIN)


async def test_the_key_of_a_log_is_derived_and_each_has_its_own(client):
    key = NoteKey.parse((await client.get("/key", params={"origin": ORIGIN})).text)
    seed = independent.hkdf(SEED, ORIGIN.encode(), b"groundtrail-log-signer-v1")
    assert key.public_key == Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    other = NoteKey.parse((await client.get("/key", params={"origin": "log.example/y"})).text)
    assert other.public_key != key.public_key
    assert (await client.get("/key", params={"origin": "a b"})).status_code == 400


async def test_what_grows_is_signed_and_what_came_before_too(client):
    log = ToyLog()
    await signed(client, unsigned(log, 0, 5))
    await signed(client, unsigned(log, 5, 9))
    for size in (9, 8, 5, 1, 0):
        await signed(client, unsigned(log, 9, size))
    await signed(client, unsigned(log, 9, 10))


async def test_a_rewritten_log_is_not_signed(client, folder):
    log = ToyLog()
    await signed(client, unsigned(log, 0, 9))
    for common in range(9):
        fork = ToyLog("b", common=common)
        for size in (9, 10, 16):
            assert (await asked(client, unsigned(fork, 9, size)))[0] == 422
        if common < 8:
            assert (await asked(client, unsigned(fork, 9, 8)))[0] == 422
    assert list(folder.glob("*.evidence"))
    await signed(client, unsigned(log, 9, 10))


async def test_the_size_that_was_signed_last_is_told(client):
    log = ToyLog()
    await signed(client, unsigned(log, 0, 9))
    assert await asked(client, unsigned(log, 5, 12)) == (409, "9\n")
    assert await asked(client, unsigned(log, 0, 12)) == (409, "9\n")


async def test_a_note_over_an_export_is_signed_for_a_head_of_the_log(client):
    log, fork = ToyLog(), ToyLog("b")
    await signed(client, unsigned(log, 0, 9))

    def manifest(head, title=EXPORT_TITLE):
        return f"{title}\n{head}session s\nevents 1\nanalyses 0\nleaves 1\nsha256 {'0' * 64}\n"

    for size in (9, 4, 12):
        await signed(client, unsigned(log, 9, size, manifest(log.head(size))))
        if size == 12:
            break
    assert (await asked(client, unsigned(fork, 12, 4, manifest(fork.head(4)))))[0] == 422
    assert (await asked(client, unsigned(log, 12, 4, manifest(log.head(4), "another title"))))[0] == 400


@pytest.mark.parametrize("text", ["x\n", "{head}extension\n", "{head}\n", "a b\n1\nAAAA\n"])
async def test_nothing_else_is_signed(client, text):
    body = text.replace("{head}", str(ToyLog().head(3)))
    assert (await asked(client, Submission(0, (), body)))[0] == 400


async def test_without_the_credential_nothing_is_told(client):
    body = bytes(unsigned(ToyLog(), 0, 3))
    for value in ("", "Bearer ", "Bearer x", CREDENTIAL, f"Bearer {CREDENTIAL}x", f"bearer {CREDENTIAL}"):
        headers = {"Authorization": value}
        assert (await client.post("/sign", content=body, headers=headers)).status_code == 401
        assert (await client.get("/key", params={"origin": ORIGIN}, headers=headers)).status_code == 401
    assert (await client.get("/healthz", headers={"Authorization": ""})).text == "alive\n"


async def test_what_was_signed_outlives_the_process(folder, client):
    await signed(client, unsigned(ToyLog(), 0, 9))
    (head,) = folder.glob("*.head")
    assert head.read_text() == str(ToyLog().head(9))
