"""Our own weights through the front door: added from their ONNX files they say what the delivered models say."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx.utils
import pytest

from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.grounding import open_grounding
from services.common.adapters.own_encoders.adding import Wish, add_model
from services.common.adapters.own_encoders.calibrating import at_temperature
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.measures import auroc
from services.common.model_repository import open_repository
from services.common.ports.grounding import GroundingRequest
from services.common.settings.inference import InferenceSettings
from tests.fakes.own_encoders import DELIVERED, settings
from tests.tenth import WHOLE

CORPUS = Path(__file__).resolve().parents[4] / "training/corpus/train.jsonl"
NLI = {"0": "entailment", "1": "neutral", "2": "contradiction"}
MPNET = {"model_type": "mpnet", "architectures": ["MPNetForSequenceClassification"], "pad_token_id": 1}


def hub(root, name, **config):
    """Lay a delivered model out as a hub does: with a graph that gives the outputs of its own task alone."""
    folder = root / "hub" / name
    folder.mkdir(parents=True)
    entry = DELIVERED.entry(name)
    trunk = DELIVERED.folder(DELIVERED.trunk(entry).name)
    shutil.copyfile(DELIVERED.folder(name) / "tokenizer.json", folder / "tokenizer.json")
    inputs = [tensor.name for tensor in entry.inputs]
    outputs = [tensor.name for tensor in entry.outputs][: 2 if name == "grounding" else 1]
    onnx.utils.extract_model(str(trunk / "1/model.onnx"), str(folder / "model.onnx"), inputs, outputs)
    text = json.dumps(MPNET | {"max_position_embeddings": 2 + DELIVERED.entry(name).max_tokens} | config)
    (folder / "config.json").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
async def test_the_entailment_model_is_the_delivered_one_without_its_temperature(tmp_path):
    shelf = Shelf(tmp_path / "models")
    entry = add_model(hub(tmp_path, "nli", id2label=NLI), Wish(role="entailment", name="ours"), shelf, DELIVERED)
    delivered = DELIVERED.entry("nli")
    assert entry.fingerprint != delivered.fingerprint
    pairs = [("The fee is 40 EUR.", "The fee is 50 EUR."), ("It was closed in May.", "It closed."), ("", "Anything.")]
    rows = []
    for chosen in (settings(shelf, entailment_model="ours"), InferenceSettings(intra_op_threads=1)):
        model = await open_entailment(chosen)
        try:
            rows.append(await model.classify(pairs))
        finally:
            await model.close()
    own, ours = rows
    np.testing.assert_allclose(at_temperature(own.astype(np.float64), delivered.softmax.temperature), ours, atol=1e-5)


def claims(count):
    """Return claims of the project's own corpus with their passages: supported and not, as many of each."""
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()[:400]]
    found = [(row["passage"], claim["claim"], claim["supported"]) for row in rows for claim in row["claims"]]
    by_label = {label: [one for one in found if one[2] is label][: count // 2] for label in (True, False)}
    return by_label[True] + by_label[False]


@pytest.mark.slow
@pytest.mark.tenth
@pytest.mark.whole
async def test_the_grounding_encoder_is_as_good_as_the_delivered_one(tmp_path):
    shelf = Shelf(tmp_path / "models")
    add_model(hub(tmp_path, "grounding"), Wish(role="spans", name="ours"), shelf, DELIVERED)
    rows = claims(24 if WHOLE else 6)
    rows.append((rows[0][0], "Edwin Marlow bought the lighthouse for 77 million dollars on 3 May 1987.", False))
    requests = [GroundingRequest(claim, (passage,)) for passage, claim, _ in rows]
    verdicts = []
    for chosen in (settings(shelf, grounding_model="ours"), InferenceSettings(intra_op_threads=1)):
        model = await open_grounding(chosen)
        try:
            verdicts.append(await model.judge(requests))
        finally:
            await model.close()
    own, delivered = ([verdict.encoder_support for verdict in one] for one in verdicts)
    np.testing.assert_allclose(own, delivered, atol=1e-6)
    assert [verdict.evidence for verdict in verdicts[0]] == [verdict.evidence for verdict in verdicts[1]]
    labels = np.array([label for _, _, label in rows])
    assert auroc(np.array(own), labels) == auroc(np.array(delivered), labels)
    assert any(verdict.spans for verdict in verdicts[1])  # its threshold is fitted; that of an own model is not
    assert not open_repository(settings(shelf)).entry("ours").calibrated
