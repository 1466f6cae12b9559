"""Back from a delivered model to a checkpoint: it computes the same, and exporting it again gives the same weights."""

import json
from dataclasses import replace

import onnx
import pytest

torch = pytest.importorskip("torch", reason="install the training group")
pytest.importorskip("onnxscript", reason="install the training group")

from onnx import helper  # noqa: E402
from transformers import AutoModel, MPNetConfig  # noqa: E402

from tests.fakes.tiny_encoders import TinyEncoder, serve, write_repository  # noqa: E402
from training.encoder import PairEncoder, load  # noqa: E402
from training.export import Checkpoint  # noqa: E402
from training.parity import alone_and_together, encoder_of, largest_difference, random_items, session_of  # noqa: E402
from training.quantise import SizeLimits, int8_parameters, int8_weights  # noqa: E402
from training.restore import RestoreError, main, restored, write  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LIMITS = SizeLimits(matrix=900, table=6_000)
MAX_TOKENS = 200
LENGTHS = (3, 17, 129, 200)


def checkpoint(kind, *, hidden_size=32, inner=64):
    torch.manual_seed(5)
    config = MPNetConfig(
        vocab_size=200,
        hidden_size=hidden_size,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=inner,
        max_position_embeddings=300,
        initializer_range=0.4,
        layer_norm_eps=1e-5,
        pad_token_id=1,
    )
    encoder = AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
    heads = (3, False) if kind == "entailment" else (1, True)
    model = PairEncoder(encoder, heads[0], per_token=heads[1])
    for parameter in model.parameters():  # fresh biases are all 0, and the exporter stores what is equal once
        parameter.data += 0.1 * torch.randn_like(parameter)
    return Checkpoint(model, kind, MAX_TOKENS)


@pytest.fixture(scope="module", params=["entailment", "grounding"])
def delivered(request):
    """A checkpoint, and its graph in the form that is delivered."""
    source = checkpoint(request.param)
    return source, int8_weights(source.traced(), LIMITS)


@pytest.fixture
def back(delivered, tmp_path):
    """What is restored from the graph, read as training reads it."""
    source, graph = delivered
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text("{}", encoding="utf-8")
    write(restored(graph.graph), tokenizer, tmp_path / "checkpoint")
    return Checkpoint(load(tmp_path / "checkpoint"), source.kind, MAX_TOKENS)


def test_restored_checkpoint_computes_what_the_delivered_model_computes(delivered, back):
    source, graph = delivered
    assert int8_parameters(graph) > 0
    items = random_items(LENGTHS, 200)
    expected = alone_and_together(encoder_of(session_of(graph), source.pad_id), items)
    assert largest_difference(expected, alone_and_together(back.encoder(), items)) < 1e-4


def test_packed_weights_come_back_too(tmp_path):
    source = checkpoint("grounding", hidden_size=192, inner=384)
    graph = int8_weights(source.traced(), replace(LIMITS, packed=True))
    names = {tensor.name for tensor in graph.graph.initializer}
    assert sum(name.endswith(".packed.words") for name in names) == 2 * 6 + 1
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    write(restored(graph.graph), tmp_path / "tokenizer.json", tmp_path / "checkpoint")
    back = Checkpoint(load(tmp_path / "checkpoint"), "grounding", MAX_TOKENS)
    items = random_items(LENGTHS, 200)
    expected = alone_and_together(encoder_of(session_of(graph), source.pad_id), items)
    assert largest_difference(expected, alone_and_together(back.encoder(), items)) < 1e-3  # sums of 384 large weights


def test_exporting_it_again_gives_the_same_codes(delivered, back):
    _, graph = delivered
    again = int8_weights(back.traced(), LIMITS)
    first, second = (
        sorted(tensor.raw_data for tensor in model.graph.initializer if tensor.data_type == onnx.TensorProto.INT8)
        for model in (graph, again)
    )
    assert len(first) > 6
    assert first == second


def test_a_graph_of_somebody_else_is_refused():
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "other", [value], [value])
    with pytest.raises(RestoreError, match=r"encoder\.table"):
        restored(graph)


def test_parameters_that_were_stored_once_because_they_are_equal_are_missed_and_named():
    source = checkpoint("entailment")
    for name, parameter in source.model.named_parameters():
        if name.endswith("bias"):
            parameter.data.zero_()
    with pytest.raises(RestoreError, match="has no encoder"):
        restored(source.traced().graph)


def test_the_command_checks_the_repository_and_says_what_it_wrote(tmp_path, capsys):
    main(["--model", "grounding", "--checkpoint", str(tmp_path / "joint")])
    said = json.loads(capsys.readouterr().out)
    assert said["model"].startswith("grounding@")
    assert (said["outputs"], said["per_token"]) == (4, True)
    assert load(tmp_path / "joint").head.out_features == 4


def test_a_model_without_a_graph_names_the_one_that_serves_it(tmp_path, capsys):
    write_repository(tmp_path, TinyEncoder("grounding", "grounding", joint=True))
    serve(tmp_path)
    with pytest.raises(SystemExit):
        main(["--repository", str(tmp_path), "--model", "nli", "--checkpoint", str(tmp_path / "checkpoint")])
    assert "restore grounding, which serves it" in capsys.readouterr().err
