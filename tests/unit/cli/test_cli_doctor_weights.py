"""``groundtrail doctor`` says of weights what the start would say."""

import json

from services.cli.commands.doctor import Level, _weights
from services.common.model_repository import open_repository
from services.common.settings import Settings
from services.common.settings.inference import InferenceSettings

DELIVERED = open_repository(InferenceSettings()).root


def repository(tmp_path, change):
    """Return the settings of a repository of the classifier of injections alone, with another manifest."""
    (tmp_path / "injection").symlink_to(DELIVERED / "injection")
    manifest = json.loads((DELIVERED / "MANIFEST.json").read_text(encoding="utf-8"))
    manifest["models"] = [change(model) for model in manifest["models"] if model["name"] == "injection"]
    (tmp_path / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Settings(inference=InferenceSettings(model_repository=tmp_path))


async def test_models_that_would_be_opened_are_fine(tmp_path):
    (found,) = await _weights(repository(tmp_path, lambda model: model))
    assert (found.level, found.detail) == (Level.OK, "digests match MANIFEST.json: injection@6")


async def test_inputs_that_no_start_would_accept_are_a_problem(tmp_path):
    text = [{"name": "text", "dtype": "string", "shape": [-1, 1]}]
    (found,) = await _weights(repository(tmp_path, lambda model: model | {"inputs": text}))
    assert found.level is Level.PROBLEM
    assert "injection reads {'text': 'string'}" in found.detail


async def test_a_configuration_beside_another_manifest_is_a_problem(tmp_path):
    other = [{"name": "other", "dtype": "float32", "shape": [-1, 1]}]
    (found,) = await _weights(repository(tmp_path, lambda model: model | {"outputs": other}))
    assert found.level is Level.PROBLEM
    assert "config.pbtxt" in found.detail
