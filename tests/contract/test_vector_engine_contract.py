"""What every ``VectorEngine`` must do, over every adapter: the real ones where a package brings the engine along.

Pinecone is its official client against a stand-in (``tests/fakes/pinecone_standin.py``), which is not the service.
"""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from services.common.adapters.memory import MemoryVectorEngine
from services.common.adapters.vector_engines import engine_names, open_engine
from services.common.errors import StartupError
from services.common.ports.vector_engine import VectorEngineError
from services.common.settings.vectors import VectorSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import random_vectors
from tests.fakes.pinecone_standin import API_KEY, pinecone_standin
from tests.leash import leashed, release
from tests.patience import patient

PACKAGES = {"qdrant": "qdrant_client", "chroma": "chromadb", "pinecone": "pinecone"}
STAND_INS = {
    "pinecone-stand-in": {},
    "pinecone-stand-in-late": {"lag_s": 0.15},
    "pinecone-stand-in-late-without-positions": {"lag_s": 0.15, "positions": False},
}
HERE = ("memory", "qdrant", "chroma")
SERVED = ("chroma-server",)
"""Servers that a package brings along."""
NAME = "groundtrail-0123456789abcdef-1"
OTHER = "groundtrail-0123456789abcdef-2"


@contextmanager
def opened(name, directory):
    """Open an engine over a directory; the stand-ins keep what they have in the server, which ends with the block."""
    if name == "memory":
        yield MemoryVectorEngine()
        return
    package = PACKAGES[name.partition("-")[0]]
    pytest.importorskip(package, reason=f"{package} is not installed: make lock's development packages bring it")
    if name == "chroma-server":
        with chroma_server(directory) as (url, _):
            engine = open_engine(VectorSettings(engine="chroma", url=url), directory, DIMENSION)
            yield engine
            engine.close()
        return
    if name in HERE:
        engine = open_engine(VectorSettings(engine=name), directory, DIMENSION)
        yield engine
        engine.close()
        return
    with pinecone_standin(DIMENSION, **STAND_INS[name]) as server:
        settings = VectorSettings(engine="pinecone", url=server.url, api_key=SecretStr(API_KEY))
        engine = open_engine(settings, directory, DIMENSION)
        yield engine
        engine.close()


@contextmanager
def chroma_server(directory):
    """Serve an empty Chroma from a process of its own; gives its address and the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    command = [str(program), "run", "--path", str(directory), "--host", "127.0.0.1", "--port", str(port)]
    process = leashed(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + patient(30)
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait(patient(10))
        release(process)


@pytest.fixture(params=[*HERE, *SERVED, *STAND_INS])
def engine(request, tmp_path):
    with opened(request.param, tmp_path) as found:
        yield found


def numbers(*values):
    return np.array(values, dtype=np.int64)


def brute_force(vectors, query, limit):
    scores = vectors.astype(np.float64) @ query.astype(np.float64)
    order = np.argsort(-scores)[:limit]
    return [int(n) + 1 for n in order], scores[order]


def test_every_adapter_of_the_package_is_run():
    assert engine_names() == sorted(PACKAGES)


def test_what_is_added_is_found_best_first_with_its_cosine(engine):
    vectors, queries = random_vectors(1, 200), random_vectors(2, 5)
    engine.add(NAME, np.arange(1, 201), vectors)
    for query, found in zip(queries, engine.nearest(NAME, queries, 7), strict=True):
        expected, scores = brute_force(vectors, query, 7)
        assert found.numbers.tolist() == expected
        assert found.numbers.dtype == np.int64
        assert np.allclose(found.scores, scores, atol=1e-4)


def test_a_limit_above_what_there_is_gives_all(engine):
    engine.add(NAME, numbers(3, 1, 2), random_vectors(1, 3))
    (found,) = engine.nearest(NAME, random_vectors(2, 1), 100)
    assert sorted(found.numbers.tolist()) == [1, 2, 3]


def test_an_unknown_collection_is_empty(engine):
    (found,) = engine.nearest(NAME, random_vectors(1, 1), 5)
    assert len(found.numbers) == len(found.scores) == 0
    assert engine.numbers(NAME).tolist() == []
    assert engine.count(NAME) == 0
    engine.remove(NAME, numbers(1, 2))


def test_the_same_number_again_replaces_the_vector(engine):
    vectors = random_vectors(1, 3)
    engine.add(NAME, numbers(1, 2), vectors[:2])
    engine.add(NAME, numbers(1), vectors[2:])
    assert engine.count(NAME) == 2
    (found,) = engine.nearest(NAME, vectors[2:], 1)
    assert found.numbers.tolist() == [1]
    assert found.scores[0] == pytest.approx(1.0, abs=1e-4)


def test_what_is_removed_is_gone_and_nothing_else(engine):
    vectors = random_vectors(1, 50)
    engine.add(NAME, np.arange(1, 51), vectors)
    engine.remove(NAME, np.array([7, 8, 999], dtype=np.int64))
    engine.add(NAME, numbers(60), random_vectors(3, 1))  # an eventually consistent engine has caught up with it
    assert engine.numbers(NAME).tolist() == [n for n in (*range(1, 51), 60) if n not in {7, 8}]
    (found,) = engine.nearest(NAME, vectors[6:7], 49)
    assert not {7, 8} & set(found.numbers.tolist())


def test_what_is_kept_can_be_read_back(engine):
    vectors = random_vectors(1, 150)
    engine.add(NAME, np.arange(1, 151), vectors)
    known, found = engine.stored(NAME, np.array([150, 999, *range(1, 150)], dtype=np.int64))
    assert sorted(known.tolist()) == list(range(1, 151))
    assert found.dtype == np.float32
    assert np.allclose(found, vectors[known - 1], atol=1e-4)
    for collection, asked in ((NAME, numbers()), (NAME, numbers(999)), (OTHER, numbers(1))):
        known, found = engine.stored(collection, asked)
        assert len(known) == len(found) == 0


def test_nothing_added_or_removed_changes_nothing(engine):
    engine.add(NAME, numbers(1), random_vectors(1, 1))
    engine.add(NAME, numbers(), np.empty((0, DIMENSION), dtype=np.float32))
    engine.remove(NAME, numbers())
    assert engine.numbers(NAME).tolist() == [1]


def test_collections_are_apart(engine):
    vectors = random_vectors(1, 2)
    engine.add(NAME, numbers(1), vectors[:1])
    engine.add(OTHER, numbers(2), vectors[1:])
    assert engine.nearest(NAME, vectors[1:], 5)[0].numbers.tolist() == [1]
    engine.remove(NAME, numbers(1, 2))
    assert engine.numbers(OTHER).tolist() == [2]
    assert engine.count(OTHER) == 1


def test_numbers_are_listed_ascending_beyond_any_page(engine, monkeypatch):
    for name in ("qdrant", "chroma"):  # the stand-in's pages have 100
        monkeypatch.setattr(f"services.common.adapters.vector_engines.{name}._PAGE", 100)
    wanted = np.arange(1, 251) * 3 + (1 << 40)
    for start in range(0, len(wanted), 125):
        some = wanted[start : start + 125]
        engine.add(NAME, some[::-1], random_vectors(start, len(some)))
    assert np.array_equal(engine.numbers(NAME), wanted)
    assert engine.count(NAME) == len(wanted)


def test_many_proposals_are_given(engine):
    vectors = random_vectors(1, 400)
    for start in range(0, 400, 200):
        engine.add(NAME, np.arange(start + 1, start + 201), vectors[start : start + 200])
    (found,) = engine.nearest(NAME, vectors[:1], 380)
    assert len(set(found.numbers.tolist())) == 380
    assert set(brute_force(vectors, vectors[0], 50)[0]) <= set(found.numbers.tolist())
    assert (np.diff(found.scores) <= 1e-6).all()


def test_threads_may_search_and_write_at_once(engine):
    vectors = random_vectors(1, 200)
    engine.add(NAME, np.arange(1, 101), vectors[:100])

    def write(start):
        engine.add(NAME, np.arange(start + 1, start + 11), vectors[start : start + 10])
        return 0

    def search(row):
        (found,) = engine.nearest(NAME, vectors[row : row + 1], 1)
        return int(found.numbers[0]) - row - 1

    with ThreadPoolExecutor(4) as threads:
        writes = [threads.submit(write, start) for start in range(100, 200, 10)]
        searches = [threads.submit(search, row) for row in range(100)]
        assert {one.result() for one in (*writes, *searches)} == {0}
    assert engine.count(NAME) == 200


def test_it_answers_and_closes_twice(engine):
    engine.check()
    engine.close()
    engine.close()


@pytest.mark.parametrize("name", ["qdrant", "chroma"])
def test_what_was_added_outlives_the_process(name, tmp_path):
    vectors = random_vectors(1, 30)
    with opened(name, tmp_path) as engine:
        engine.add(NAME, np.arange(1, 31), vectors)
        engine.remove(NAME, numbers(30))
    with opened(name, tmp_path) as engine:
        assert engine.numbers(NAME).tolist() == list(range(1, 30))
        assert engine.nearest(NAME, vectors[4:5], 1)[0].numbers.tolist() == [5]


def test_a_server_that_hangs_is_the_ports_error_in_time(tmp_path):
    pytest.importorskip("chromadb")
    with chroma_server(tmp_path) as (url, process):
        engine = open_engine(VectorSettings(engine="chroma", url=url, timeout_s=0.5), tmp_path, DIMENSION)
        engine.add(NAME, numbers(1), random_vectors(1, 1))
        process.send_signal(signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(VectorEngineError, match="chroma could not search: ReadTimeout"):
            engine.nearest(NAME, random_vectors(1, 1), 1)
        assert time.monotonic() - started < patient(5)
        process.send_signal(signal.SIGCONT)
        assert engine.nearest(NAME, random_vectors(1, 1), 1)[0].numbers.tolist() == [1]
        engine.close()


@pytest.mark.parametrize("name", ["qdrant", "chroma"])
def test_a_server_that_is_not_there_is_refused_at_start(name, tmp_path):
    pytest.importorskip(PACKAGES[name])
    with pytest.raises(StartupError, match=f"the vector engine {name} cannot be used"):
        open_engine(VectorSettings(engine=name, url="http://127.0.0.1:9", timeout_s=1), tmp_path, DIMENSION)


class TestPinecone:
    @pytest.fixture
    def server(self):
        pytest.importorskip("pinecone", reason="pinecone is not installed")
        with pinecone_standin(DIMENSION) as server:
            yield server

    def settings(self, server, **changes):
        return VectorSettings(**({"engine": "pinecone", "url": server.url, "api_key": API_KEY} | changes))

    def test_a_failing_service_is_the_ports_error(self, server, tmp_path):
        engine = open_engine(self.settings(server, timeout_s=2), tmp_path, DIMENSION)
        server.broken = True
        with pytest.raises(VectorEngineError, match="pinecone could not search"):
            engine.nearest(NAME, random_vectors(1, 1), 1)
        engine.close()

    def test_an_index_of_another_dimension_is_refused_at_start(self, server, tmp_path):
        with pytest.raises(StartupError, match=f"{DIMENSION} dimensions, the embedding model 384"):
            open_engine(self.settings(server), tmp_path, 384)

    def test_a_wrong_key_is_refused_at_start_and_not_told(self, server, tmp_path):
        with pytest.raises(StartupError) as refused:
            open_engine(self.settings(server, api_key="another-secret"), tmp_path, DIMENSION)
        assert "another-secret" not in str(refused.value)

    def test_without_a_host_it_says_so(self, server, tmp_path):
        with pytest.raises(StartupError, match="GROUNDTRAIL_VECTORS__URL"):
            open_engine(self.settings(server, url=""), tmp_path, DIMENSION)


def test_an_unknown_engine_names_those_that_there_are(tmp_path):
    with pytest.raises(StartupError, match="chroma, pinecone, qdrant"):
        open_engine(VectorSettings(engine="failures"), tmp_path, DIMENSION)


def test_one_that_is_not_installed_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("services.common.adapters.vector_engines.find_spec", lambda _: None)
    with pytest.raises(StartupError, match=r'pip install "groundtrail\[qdrant\]"'):
        open_engine(VectorSettings(engine="qdrant"), tmp_path, DIMENSION)
