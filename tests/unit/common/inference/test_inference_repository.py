"""The model repository: pinned digests, and the delivered one as it is."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest

from services.common import resources
from services.common.model_repository import (
    ModelRepository,
    ModelRepositoryError,
    manifest_digest,
    open_repository,
    repository,
)
from services.common.resources import resource_path
from services.common.rpc.main import EXIT_STARTUP, run
from services.common.settings.inference import InferenceSettings
from services.dag.compose import build

IN_PROCESS = {"entity_recognition": "spacy"}
CONFIG = """name: "tiny" backend: "onnxruntime" max_batch_size: 4
input { name: "x" data_type: TYPE_INT64 dims: -1 } output { name: "y" data_type: TYPE_FP32 dims: 2 }"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def entry(folder, **changes):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    return {
        "name": "tiny",
        "version": "7",
        "kind": "embedding",
        "title": "Tiny",
        "licence": "MIT",
        "origin": {"package": "p", "upstream": "u", "conversion": "c"},
        "training_data": "none",
        "files": [
            {
                "path": p.relative_to(folder).as_posix(),
                "role": "config" if p.suffix == ".pbtxt" else "weights",
                "bytes": p.stat().st_size,
                "sha256": digest(p.read_bytes()),
            }
            for p in files
        ],
        "inputs": [{"name": "x", "dtype": "int64", "shape": [-1, -1]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [-1, 2]}],
    } | changes


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "tiny"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.onnx").write_bytes(b"weights")
    (folder / "config.pbtxt").write_text(CONFIG)
    write(tmp_path)
    return tmp_path


def write(root, **changes):
    manifest = {"schema_version": 1, "models": [entry(root / "tiny", **changes)]}
    (root / "MANIFEST.json").write_text(json.dumps(manifest))


def test_opens_verifies_and_reads_the_config(root):
    repository = ModelRepository.open(root)
    model = repository.verified("tiny")
    canonical = '{"1/model.onnx":"' + digest(b"weights") + '"}'
    assert model.fingerprint == f"tiny@7+sha256:{digest(canonical.encode())[:16]}"
    assert repository.config("tiny").max_batch_size == 4


def test_settings_name_the_repository(root):
    assert open_repository(InferenceSettings(model_repository=root)).models[0].name == "tiny"


def test_changed_file_stops_with_file_expected_and_found(root):
    path = root / "tiny" / "1" / "model.onnx"
    path.write_bytes(b"Weights")
    with pytest.raises(ModelRepositoryError) as caught:
        ModelRepository.open(root).verified("tiny")
    text = str(caught.value)
    assert str(path) in text
    assert f"expected sha256 {digest(b'weights')}, found {digest(b'Weights')}" in text


def test_missing_file_stops(root):
    (root / "tiny" / "1" / "model.onnx").unlink()
    with pytest.raises(ModelRepositoryError, match=r"model\.onnx cannot be read: No such file"):
        ModelRepository.open(root).verified("tiny")


def test_unlisted_file_stops(root):
    (root / "tiny" / "1" / "extra.py").write_text("print()")
    with pytest.raises(ModelRepositoryError, match=r"extra\.py is not listed"):
        ModelRepository.open(root).verified("tiny")


def test_unknown_model_lists_the_known(root):
    with pytest.raises(ModelRepositoryError, match="no model nli; it holds: tiny"):
        ModelRepository.open(root).verified("nli")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"licence": None}, "models.0.licence"),
        ({"surprise": 1}, "models.0.surprise"),
        ({"files": [{"path": "../x", "role": "weights", "bytes": 1, "sha256": "0" * 64}]}, "models.0.files.0.path"),
        ({"files": [{"path": "a/../x", "role": "weights", "bytes": 1, "sha256": "0" * 64}]}, "models.0.files.0.path"),
    ],
    ids=["missing", "unknown field", "path above", "path through above"],
)
def test_manifest_is_strict(root, changes, message):
    write(root, **changes)
    with pytest.raises(ModelRepositoryError, match=message):
        ModelRepository.open(root)


def test_no_manifest(tmp_path):
    with pytest.raises(ModelRepositoryError, match=r"MANIFEST\.json cannot be read: No such file"):
        ModelRepository.open(tmp_path)


def test_config_must_agree_with_the_manifest(root):
    write(root, outputs=[{"name": "y", "dtype": "float32", "shape": [-1, 3]}])
    expected = r"output y: found float32 \[-1, 2\], MANIFEST.json says float32 \[-1, 3\]"
    with pytest.raises(ModelRepositoryError, match=expected):
        ModelRepository.open(root).config("tiny")


@pytest.mark.parametrize("name", ["config.pbtxt", "golden.json", "1/model.onnx"])
def test_one_more_blank_in_any_listed_file_is_refused(root, name):
    (root / "tiny" / "golden.json").write_text("{}")
    write(root)
    path = root / "tiny" / name
    ModelRepository.open(root).verified("tiny")
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ModelRepositoryError, match=f"{name} is not the pinned file: expected sha256"):
        ModelRepository.open(root).verified("tiny")


# The delivered repository.


@pytest.fixture
def pinned(root, monkeypatch):
    """Take ``root`` for the delivered repository, with the digest of its manifest in the code."""
    monkeypatch.setattr(repository, "resource_path", lambda _: root)
    monkeypatch.setattr(repository, "MANIFEST_SHA256", digest((root / "MANIFEST.json").read_bytes()))
    return root


def test_a_delivered_manifest_that_was_changed_is_refused_with_both_digests(pinned):
    path = pinned / "MANIFEST.json"
    before = digest(path.read_bytes())
    assert open_repository(InferenceSettings()).root == pinned
    assert manifest_digest(InferenceSettings()) == before
    path.write_bytes(path.read_bytes() + b"\n")
    now = digest(path.read_bytes())
    for refused in (open_repository, manifest_digest):
        with pytest.raises(ModelRepositoryError, match=f"not the one of this release: expected sha256 {before}.*{now}"):
            refused(InferenceSettings())


def test_a_repository_of_the_operators_own_has_a_manifest_of_its_own(pinned, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    shutil.copytree(pinned / "tiny", own / "tiny")
    (own / "tiny" / "config.pbtxt").write_text(CONFIG + "\n# mine\n")
    write(own)
    settings = InferenceSettings(model_repository=own)
    assert manifest_digest(settings) != manifest_digest(InferenceSettings())
    open_repository(settings).verified("tiny")


def test_a_process_does_not_start_with_another_manifest(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(repository, "MANIFEST_SHA256", "0" * 64)
    monkeypatch.setenv("GROUNDTRAIL_STORE__DATA_DIR", str(tmp_path / "data"))
    with pytest.raises(SystemExit) as ended:
        run("dag", build, ["--insecure-local", "--port", "0"])
    assert ended.value.code == EXIT_STARTUP
    assert "MANIFEST.json is not the one of this release" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_every_file_beside_the_weights_is_pinned_but_the_card():
    for model in delivered().models:
        folder = delivered().folder(model.name)
        beside = {path.name for path in folder.iterdir() if path.is_file()}
        assert beside - {file.path for file in model.files} == {"README.md"}


def delivered():
    return open_repository(InferenceSettings())


def test_every_delivered_model_is_pinned_and_small():
    repository = delivered()
    assert [model.name for model in repository.models] == ["embedder", "grounding", "injection", "ner", "nli"]
    for model in repository.models:
        repository.verified(model.name)
    assert sum(file.bytes for model in repository.models for file in model.files) < 200_000_000
    assert max(file.bytes for model in repository.models for file in model.files) < 120_000_000


def test_delivered_manifest_is_up_to_date():
    tool = resource_path("tools/update_manifest.py")
    done = subprocess.run([sys.executable, str(tool), "--check"], cwd=tool.parent.parent, check=False)
    assert done.returncode == 0


def test_every_delivered_config_agrees_with_manifest_and_graph():
    repository = delivered()
    for model in (model for model in repository.models if model.served_by is None):
        config = repository.config(model.name)
        if model.kind in IN_PROCESS:
            assert config.backend == IN_PROCESS[model.kind]  # no graph, and no server that would load it
            continue
        session = onnxruntime.InferenceSession(
            str(repository.folder(model.name) / "1" / "model.onnx"), providers=["CPUExecutionProvider"]
        )
        assert [node.name for node in session.get_inputs()] == [spec.name for spec in config.inputs]
        assert [node.name for node in session.get_outputs()] == [spec.name for spec in config.outputs]
        assert config.max_batch_size >= config.preferred_batch_sizes[-1]


def test_every_delivered_model_has_a_card_naming_its_licence():
    for model in delivered().models:
        card = (delivered().folder(model.name) / "README.md").read_text(encoding="utf-8")
        assert model.licence in card
        assert model.origin.package.split()[1] in card


def test_resources_in_the_wheel_come_first(tmp_path, monkeypatch):
    packaged = tmp_path / "_resources" / "model_repository"
    packaged.mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    assert resource_path("model_repository") == packaged


def test_resource_that_is_nowhere_names_both_places(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "services")
    with pytest.raises(FileNotFoundError) as caught:
        resource_path("examples/handbook")
    assert str(tmp_path / "services" / "_resources" / "examples" / "handbook") in str(caught.value)
    assert str(Path(tmp_path) / "examples" / "handbook") in str(caught.value)


def test_models_of_the_installed_package_are_found(tmp_path, monkeypatch):
    package = tmp_path / "site" / "groundtrail_models"
    (package / "model_repository").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "elsewhere" / "groundtrail_server")
    with pytest.raises(FileNotFoundError, match=r'pip install "groundtrail\[embedded\]"'):
        resource_path("model_repository")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert resource_path("model_repository") == package / "model_repository"
    monkeypatch.delitem(sys.modules, "groundtrail_models")
