"""Encoders that are loaded when they are first used: once, of the pinned files, tried again after a failure."""

import asyncio

import pytest

from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.onnx import on_demand
from services.common.adapters.onnx.backend import OnnxBackend
from services.common.adapters.onnx.on_demand import OnDemandEncoder
from services.common.errors import ErrorReason, UnavailableError
from services.common.free_memory import release_free_memory
from services.common.model_repository import ModelRepositoryError
from services.common.settings.inference import InferenceSettings
from tests.fakes.tiny_encoders import TinyEncoder, token_id, write_repository

YES = token_id("yes")
SETTINGS = InferenceSettings(intra_op_threads=1)


@pytest.fixture
def repository(tmp_path):
    return write_repository(tmp_path, TinyEncoder())


@pytest.fixture
def loads(monkeypatch):
    """Count the sessions that are made."""
    made = []
    real = OnDemandEncoder._timed_load

    def counted(self):
        made.append(self)
        return real(self)

    monkeypatch.setattr(OnDemandEncoder, "_timed_load", counted)
    return made


async def test_nothing_is_loaded_by_opening_and_checking_and_one_load_serves_all_first_calls(repository, loads):
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    await backend.check()
    assert (backend.at_rest, len(loads)) == (True, 0)
    found = await asyncio.gather(*(backend.run([(YES,)]) for _ in range(20)))
    assert {tuple(outputs[0].tolist()) for (outputs,) in found} == {(4.0, 1.0, 0.0)}
    assert (backend.at_rest, len(loads)) == (False, 1)
    await backend.close()


async def test_a_call_of_nothing_loads_nothing(repository, loads):
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    assert await backend.run([]) == []
    assert not loads
    await backend.close()


async def test_load_at_start_loads_at_the_start(repository, loads):
    backend = await open_backend(SETTINGS.model_copy(update={"load": "start"}), repository, "nli", "entailment")
    assert (backend.at_rest, len(loads)) == (False, 1)
    await backend.close()


async def test_a_caller_that_goes_away_does_not_end_the_load_of_the_others(repository, loads):
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    first = asyncio.create_task(backend.run([(YES,)]))
    second = asyncio.create_task(backend.run([(YES,)]))
    await asyncio.sleep(0)
    first.cancel()
    assert len(await second) == 1
    with pytest.raises(asyncio.CancelledError):
        await first
    assert len(loads) == 1
    await backend.close()


async def test_weights_that_were_changed_after_the_start_are_never_loaded_and_mended_ones_are(
    repository, tmp_path, monkeypatch
):
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    path = tmp_path / "nli" / "1" / "model.onnx"
    pinned = path.read_bytes()
    path.write_bytes(pinned[:-1] + bytes([pinned[-1] ^ 1]))
    with pytest.raises(UnavailableError) as caught:
        await backend.run([(YES,)])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE
    assert caught.value.metadata["cause"] == "ModelRepositoryError"
    with pytest.raises(UnavailableError):  # readiness tells the truth
        await backend.check()
    path.write_bytes(pinned)
    with pytest.raises(UnavailableError):  # not tried again at once
        await backend.run([(YES,)])
    monkeypatch.setattr(on_demand, "RETRY_S", 0.0)
    path.write_bytes(pinned[:-1] + bytes([pinned[-1] ^ 1]))
    backend._encoder._retry_at = 0.0
    with pytest.raises(UnavailableError):
        await backend.check()
    path.write_bytes(pinned)
    await backend.check()  # comes back by itself, without a call
    assert not backend.at_rest
    assert len(await backend.run([(YES,)])) == 1
    await backend.close()


async def test_changed_weights_stop_a_start_whatever_the_setting(repository, tmp_path):
    path = tmp_path / "nli" / "1" / "model.onnx"
    path.write_bytes(path.read_bytes() + b"\0")
    for load in ("first-use", "start"):
        with pytest.raises(ModelRepositoryError, match="is not the pinned file"):
            await open_backend(SETTINGS.model_copy(update={"load": load}), repository, "nli", "entailment")


async def test_a_closed_backend_loads_nothing(repository, loads):
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    await backend.close()
    with pytest.raises(UnavailableError, match="shutting down"):
        await backend.run([(YES,)])
    assert isinstance(backend, OnnxBackend)
    assert not loads


def test_memory_is_given_back_where_there_is_a_way(monkeypatch):
    def missing(_name):
        raise OSError

    assert release_free_memory() in {True, False}  # glibc has a way, musl has not
    monkeypatch.setattr("services.common.free_memory.ctypes.CDLL", missing)
    assert release_free_memory() is False
    monkeypatch.setattr("services.common.free_memory.sys.platform", "darwin")
    assert release_free_memory() is False
