"""One trunk for several models: outputs, one session, what is proven before it serves (ADR 0150)."""

import json

import numpy as np
import pytest

from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.grounding import open_grounding
from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.encoders.trunks import OutputView, SharedBackends
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.errors import UnavailableError
from services.common.model_repository import ModelRepository, ModelRepositoryError
from services.common.settings.inference import InferenceSettings
from tests.fakes.tiny_encoders import TinyEncoder, serve, token_id, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
TRUNK = TinyEncoder("grounding", "grounding", joint=True)


@pytest.fixture
def repository(tmp_path):
    write_repository(tmp_path, TRUNK)
    return serve(tmp_path)


@pytest.fixture
def loads(monkeypatch):
    """Which models were loaded."""
    found = []
    before = OnnxEncoder.__init__

    def counted(self, repository, entry, **options):
        found.append(entry.name)
        before(self, repository, entry, **options)

    monkeypatch.setattr(OnnxEncoder, "__init__", counted)
    return found


def change(root, name, **fields):
    manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
    next(entry for entry in manifest["models"] if entry["name"] == name).update(fields)
    (root / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ModelRepository.open(root)


async def test_a_served_model_says_what_a_graph_of_its_own_would_say(tmp_path, repository):
    alone = await open_entailment(SETTINGS, write_repository(tmp_path / "alone", TinyEncoder()))
    served = await open_entailment(SETTINGS, repository)
    pairs = [("w1 yes", "w2"), ("w1 no", "w3"), ("w1", "w2")]
    assert np.array_equal(await served.classify(pairs), await alone.classify(pairs))
    assert served.fingerprint != alone.fingerprint
    await alone.close()
    await served.close()


async def test_two_models_of_one_trunk_load_it_once_and_share_its_batches(repository, loads):
    shared = SharedBackends()
    trunk = await open_backend(SETTINGS, repository, "grounding", "grounding", shared)
    view = await open_backend(SETTINGS, repository, "nli", "entailment", shared)
    item = (0, token_id("yes"), 2)
    (both,), (own,) = await trunk.run([item]), await view.run([item])
    assert loads == ["grounding"]
    assert [output.shape for output in both] == [(1,), (3,), (3,)]
    assert [output.tolist() for output in own] == [[4.0, 1.0, 0.0]]
    assert both[2].tolist() == own[0].tolist()
    assert trunk.counts is view.counts
    assert view.entry.name == "nli"
    await trunk.close()
    await view.close()


async def test_a_shared_trunk_serves_until_its_last_user_has_gone(repository):
    shared = SharedBackends()
    first = await open_backend(SETTINGS, repository, "grounding", "grounding", shared)
    second = await open_backend(SETTINGS, repository, "nli", "entailment", shared)
    await first.close()
    await first.close()
    assert len(await second.run([(0, 5, 2)])) == 1
    await second.close()
    with pytest.raises(UnavailableError):
        await second.run([(0, 6, 2)])
    again = await open_backend(SETTINGS, repository, "nli", "entailment", shared)
    assert len(await again.run([(0, 5, 2)])) == 1
    await again.close()


async def test_without_sharing_each_model_has_a_session_of_its_own(repository, loads):
    backends = [
        await open_backend(SETTINGS, repository, "grounding", "grounding"),
        await open_backend(SETTINGS, repository, "nli", "entailment"),
    ]
    for backend in backends:
        await backend.run([(0, 5, 2)])
        await backend.close()
    assert loads == ["grounding", "grounding"]


def test_the_fingerprint_of_a_served_model_covers_the_weights_that_serve_it(tmp_path, repository):
    before = repository.entry("nli").fingerprint
    other = {"model": "grounding", "weights_sha256": "0" * 64}
    assert change(tmp_path, "nli", served_by=other).entry("nli").fingerprint != before


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("nli", {"served_by": {"model": "absent", "weights_sha256": "0" * 64}}, "holds no model absent"),
        ("nli", {"served_by": {"model": "grounding", "weights_sha256": "0" * 64}}, "fitted to other weights"),
        ("nli", {"served_by": {"model": "nli", "weights_sha256": "0" * 64}}, "served by nli, which has no graph"),
        (
            "nli",
            {"outputs": [{"name": "logits", "dtype": "float32", "shape": [-1, 2]}]},
            "grounding does not give the outputs of nli",
        ),
    ],
    ids=["no trunk", "other weights", "itself", "other outputs"],
)
def test_a_trunk_that_does_not_fit_is_refused(tmp_path, repository, name, fields, message):
    assert repository.verified("nli").served_by is not None
    with pytest.raises(ModelRepositoryError, match=message):
        change(tmp_path, name, **fields).verified("nli")


def test_a_changed_trunk_stops_the_models_that_it_serves(tmp_path, repository):
    path = tmp_path / "grounding" / "1" / "model.onnx"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ModelRepositoryError, match="is not the pinned file"):
        repository.verified("nli")


async def test_a_grounding_model_reads_its_own_outputs_of_a_joint_trunk(tmp_path):
    write_repository(tmp_path, TRUNK)
    repository = serve(tmp_path)
    backend = await open_backend(SETTINGS, repository, "nli", "entailment")
    assert isinstance(backend, OutputView)
    await backend.check()
    assert backend.at_rest
    await backend.close()
    with pytest.raises(ModelRepositoryError, match=r"combiner"):
        await open_grounding(SETTINGS, repository)
