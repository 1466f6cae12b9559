"""Golden outputs of every delivered model: this build computes what the model computed when it was made."""

import json

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings

REPOSITORY = open_repository(InferenceSettings())
MODELS = {entry.name: entry for entry in REPOSITORY.models}
GRAPHS = sorted(name for name, entry in MODELS.items() if entry.kind not in {"entity_recognition", "injection"})


def golden_of(name):
    return json.loads((REPOSITORY.folder(name) / "golden.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_has_golden_outputs_of_its_own_weights(name):
    golden = golden_of(name)
    assert golden["model"] == MODELS[name].fingerprint
    assert len(golden["cases"]) >= 3


@pytest.mark.parametrize("name", GRAPHS)
def test_the_tokenizer_gives_the_golden_tokens(name):
    tokenizer = Tokenizer.from_file(str(REPOSITORY.folder(name) / "tokenizer.json"))
    for case in golden_of(name)["cases"]:
        texts = case["pair"] if "pair" in case else [case["text"]]
        assert tokenizer.encode(*texts).ids == case["token_ids"]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_computes_the_golden_outputs(name):
    golden = golden_of(name)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(REPOSITORY.folder(REPOSITORY.trunk(MODELS[name]).name) / "1" / "model.onnx"),
        options,
        providers=["CPUExecutionProvider"],
    )
    outputs = [tensor.name for tensor in MODELS[name].outputs]
    for case in golden["cases"]:
        ids = np.array([case["token_ids"]], dtype=np.int64)
        found = session.run(outputs, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        for output, value in zip(outputs, found, strict=True):
            assert np.abs(np.ravel(value) - np.array(case[output])).max() < golden["tolerance"]


async def test_the_recogniser_finds_the_golden_entities():
    golden = golden_of("ner")
    recogniser = await open_recognizer(InferenceSettings())
    found = await recogniser.recognize([case["text"] for case in golden["cases"]])
    await recogniser.close()
    for case, entities in zip(golden["cases"], found, strict=True):
        assert [{"kind": e.kind.value, "text": e.text, "start": e.start, "end": e.end} for e in entities] == case[
            "entities"
        ]
