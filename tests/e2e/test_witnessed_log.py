"""A server, a log signer and a witness, each a process of its own; the auditor's commands beside them."""

import json
import shutil
import subprocess
import sys
import time

import grpc
import pytest
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from tests.e2e.processes import command, environment, start
from tests.fakes.dag_world import Client
from tests.leash import leashed, release
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
CREDENTIAL = "a-credential-of-thirty-two-characters"


class Keeper:
    """A ``witness serve`` or ``log-signer serve`` process."""

    def __init__(self, folder, name, *arguments):
        self._ready = folder / f"{name}-{time.monotonic_ns()}.ready"
        given = [sys.executable, "-m", "services.cli", *arguments, "--ready-file", str(self._ready)]
        self._log = folder / f"{name}.log"
        with self._log.open("ab") as sink:
            env = environment(folder / "none")
            self.process = leashed(given, cwd=folder, env=env, stdout=sink, stderr=sink, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + patient(60)
        while not self._ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                release(self.process)
                raise AssertionError(self._log.read_text()[-3000:])
            time.sleep(0.05)
        self.told = json.loads(self._ready.read_text())

    def kill(self):
        self.process.kill()
        self.process.wait(patient(10))
        release(self.process)

    def stop(self):
        self.process.terminate()
        code = self.process.wait(patient(30))
        release(self.process)
        return code


@pytest.fixture
def signer(tmp_path):
    secret = tmp_path / "credential"
    secret.write_text(CREDENTIAL)
    secret.chmod(0o600)
    folder = tmp_path / "signer"
    files = ("--key-file", str(folder / "key"), "--state", str(folder / "state"))
    given = ("--socket", str(tmp_path / "s.sock"), "--credential-file", str(secret), *files)
    kept = [Keeper(tmp_path, "signer", "log-signer", "serve", *given)]

    def again():
        kept[-1].kill()
        kept.append(Keeper(tmp_path, "signer", "log-signer", "serve", *given))

    yield again
    assert kept[-1].stop() == 0


def settings(tmp_path, **more):
    named = {
        "GROUNDTRAIL_LOG_SIGNER__SOCKET": str(tmp_path / "s.sock"),
        "GROUNDTRAIL_LOG_SIGNER__CREDENTIAL_FILE": str(tmp_path / "credential"),
        "GROUNDTRAIL_DAG__MASTER_KEY_DIR": str(tmp_path / "elsewhere" / "keys"),
        "GROUNDTRAIL_DAG__LOG_NAME": "log.example",
    }
    return environment(tmp_path / "data", **named, **more)


async def windows(server, count):
    """Write as many windows of a new session, and return its id."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        client = Client(pb_grpc.SessionServiceStub(channel))
        token = ""
        for _ in range(count):
            last = await client.window(token)
            token = last.session_token
        return last.session.session_id


def asked(tmp_path, server, *arguments):
    env = environment(
        tmp_path / "auditor", GROUNDTRAIL_CLIENT__SERVER=server.address, GROUNDTRAIL_CLIENT__API_KEY="x" * 32
    )
    done = command(tmp_path, *arguments, "--json", env=env)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def until(what, seconds=30):
    deadline = time.monotonic() + patient(seconds)
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.2)


@pytest.mark.whole
async def test_a_witnessed_log_from_the_first_record_to_the_rollback(tmp_path, signer):  # noqa: PLR0915 - one story
    env = settings(tmp_path)
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    _, first = asked(tmp_path, server, "checkpoint")
    assert asked(tmp_path, server, "checkpoint", "--cosigned")[0] == 4
    server.stop()

    held = ("--name", "witness.example/w1", "--key-file", str(tmp_path / "w" / "key"))
    _, key = asked(tmp_path, server, "witness", "key", *held)
    witness_arguments = (
        "witness",
        "serve",
        *held,
        "--state",
        str(tmp_path / "w" / "state"),
        "--log",
        first["public_key"],
    )
    witness = Keeper(tmp_path, "witness", *witness_arguments, "--port", "0")
    assert witness.told["key"] == key["key"]
    publishing = {
        "WITNESSES": json.dumps([{"key": key["key"], "url": f"http://127.0.0.1:{witness.told['port']}/"}]),
        "ALLOWED_HOSTS": '["127.0.0.1"]',
        "PRIVATE_HOSTS": '["127.0.0.1"]',
        "FILE": str(tmp_path / "heads.ndjson"),
        "INTERVAL_S": "0.2",
        "RETRY_MAX_S": "0.5",
    }
    env = settings(tmp_path, **{f"GROUNDTRAIL_CHECKPOINTS__{name}": value for name, value in publishing.items()})
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    session = await windows(server, 3)

    def cosigned(size):
        code, found = asked(tmp_path, server, "checkpoint", "--cosigned")
        return code == 0 and found["tree_size"] >= size and found

    until(lambda: cosigned(15))
    assert json.loads((tmp_path / "heads.ndjson").read_text().splitlines()[-1])["tree_size"] == 15
    state = str(tmp_path / "auditor.json")
    code, seen = asked(
        tmp_path, server, "log", "monitor", "--state", state, "--once", "--public-key", first["public_key"]
    )
    assert (code, seen["tree_size"], seen["findings"]) == (0, 15, [])
    export = str(tmp_path / "session.ndjson")
    assert asked(tmp_path, server, "export", session, export)[0] == 0
    demand = ("--public-key", first["public_key"], "--witness", key["key"])
    code, checked = asked(tmp_path, server, "verify", "--offline", export, *demand)
    assert (code, checked["verdict"], checked["witnessed_size"]) == (0, "VALID", 15)

    # Signer, witness and server die at any moment, and go on where they were.
    signer()
    witness.kill()
    server.kill()
    witness = Keeper(tmp_path, "witness", *witness_arguments, "--port", str(witness.told["port"]))
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    await windows(server, 2)
    until(lambda: cosigned(25))
    assert asked(tmp_path, server, "log", "monitor", "--state", state, "--once")[1]["tree_size"] == 25
    server.stop()

    # The whole database is put back to its copy, and other records are written.
    shutil.rmtree(tmp_path / "data")
    shutil.copytree(tmp_path / "copy", tmp_path / "data")
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    await windows(server, 3)
    code, refused = asked(tmp_path, server, "checkpoint")
    assert (code, refused["error"]["reason"]) == (3, "CHAIN_BROKEN")
    server.stop()
    assert witness.stop() == 0

    # The server that signs for itself shows the rewritten log: the monitor knows that it is another one.
    own = {name: value for name, value in env.items() if "LOG_SIGNER" not in name and "CHECKPOINTS" not in name}
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=own)
    code, found = asked(tmp_path, server, "log", "monitor", "--state", state, "--once")
    assert (code, found["findings"][0]["kind"]) == (3, "NOT_SIGNED")
    server.stop()
    assert not list((tmp_path / "data").rglob("master-*.key"))
    assert list((tmp_path / "elsewhere" / "keys").glob("master-1.key"))
