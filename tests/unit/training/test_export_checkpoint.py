"""From a checkpoint to a folder: the graph computes what the module does, in every variant, at every length."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason="install the training group")
pytest.importorskip("onnxscript", reason="install the training group")

from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import Whitespace  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import AutoModel, MPNetConfig  # noqa: E402

from services.common.model_repository import ModelRepository  # noqa: E402
from training import export  # noqa: E402
from training.encoder import PairEncoder, save  # noqa: E402
from training.export import Checkpoint, main  # noqa: E402
from training.onnx_graph import TabulatedMPNet  # noqa: E402
from training.parity import (  # noqa: E402
    ParityError,
    alone_and_together,
    encoder_of,
    largest_difference,
    random_items,
    session_of,
)
from training.quantise import SizeLimits, int8_parameters  # noqa: E402
from training.variants import build  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WORDS = ["<s>", "<pad>", "</s>", "<unk>", *(f"w{n}" for n in range(196))]
LIMITS = SizeLimits(matrix=900, table=6_000)


def pair_encoder(outputs, *, per_token, layers=2):
    torch.manual_seed(5)
    config = MPNetConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=300,
        initializer_range=0.4,
        pad_token_id=1,
    )
    encoder = AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
    return PairEncoder(encoder, outputs, per_token=per_token)


def checkpoint(kind, max_tokens=298):
    return Checkpoint(
        pair_encoder(*((3,) if kind == "entailment" else (1,)), per_token=kind == "grounding"), kind, max_tokens
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint as training writes it."""
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_truncation(16)
    path = tmp_path_factory.mktemp("checkpoint")
    save(pair_encoder(3, per_token=False), tokenizer, path)
    return path


@pytest.fixture(scope="module")
def repository(folder, tmp_path_factory):
    """What the command writes of it."""
    root = tmp_path_factory.mktemp("repository")
    words = root / "said.json"
    shutil.copy(Path(export.__file__).parent / "descriptions" / "nli.json", words)
    arguments = ["--checkpoint", str(folder), "--name", "nli", "--kind", "entailment", "--repository", str(root)]
    main([*arguments, "--max-tokens", "298", "--description", str(words)])
    return root


@pytest.fixture(scope="module")
def grounding():
    """The grounding checkpoint, its graph in float32 and in the default form."""
    source = checkpoint("grounding")
    return source, source.traced(), build(source, "fp32-int8weights", LIMITS)[0]


def test_the_command_writes_a_folder_that_the_product_opens(repository):
    opened = ModelRepository.open(repository)
    entry = opened.verified("nli")
    assert entry.kind == "entailment"
    assert entry.max_tokens == 298
    assert entry.metrics["export"]["graph_to_torch_largest_difference"] < 1e-4
    assert entry.metrics["export"]["batch_invariance_largest_difference"] < 1e-5
    opened.config("nli")


def test_golden_outputs_come_from_the_written_file(repository):
    golden = json.loads((repository / "nli" / "golden.json").read_text(encoding="utf-8"))
    encoder = encoder_of(session_of(str(repository / "nli" / "1" / "model.onnx")), 1)
    for case in golden["cases"]:
        (found,) = encoder.compute(np.array([case["token_ids"]]), np.ones((1, len(case["token_ids"])), dtype=np.int64))
        assert np.abs(found[0] - case["logits"]).max() < golden["tolerance"]


@pytest.mark.parametrize("length", [2, 3, 9, 128, 129, 298])
def test_the_graph_computes_what_the_module_does_at_any_length(grounding, length):
    source, exact, _ = grounding
    items = random_items([length, max(2, length // 3), length], len(WORDS))
    expected = alone_and_together(source.encoder(), items)
    assert largest_difference(expected, alone_and_together(encoder_of(session_of(exact), 1), items)) < 2e-5


def test_relative_positions_reach_the_graph(grounding):
    """A bias that is off by one distance must show, or the comparison above would prove nothing of it."""
    source, exact, _ = grounding
    moved = onnx.ModelProto()
    moved.CopyFrom(exact)
    (table,) = (t for t in moved.graph.initializer if list(t.dims) == [2 * 298 - 1, 2])
    table.CopyFrom(onnx.numpy_helper.from_array(np.roll(onnx.numpy_helper.to_array(table), 1, axis=0), table.name))
    items = random_items([40], len(WORDS))
    found = alone_and_together(encoder_of(session_of(moved), 1), items)
    assert largest_difference(alone_and_together(source.encoder(), items), found) > 1e-3


def test_matrices_and_words_are_int8_and_the_loaded_session_multiplies_floats(grounding, tmp_path):
    _, _, quantised = grounding
    assert int8_parameters(quantised) == 200 * 32 + 2 * (4 * 32 * 32 + 2 * 32 * 64)
    options = onnxruntime_options(tmp_path / "loaded.onnx")
    import onnxruntime

    onnxruntime.InferenceSession(quantised.SerializeToString(), options, providers=["CPUExecutionProvider"])
    loaded = onnx.load(tmp_path / "loaded.onnx").graph
    floats = {t.name for t in loaded.initializer if t.data_type == onnx.TensorProto.FLOAT}
    products = [n for n in loaded.node if n.op_type in {"MatMul", "Gemm"}]
    assert sum(node.input[1] in floats for node in products) >= 2 * 6
    casts = {node.input[0] for node in loaded.node if node.op_type == "Cast"}
    assert not casts & {t.name for t in loaded.initializer}
    assert not {node.op_type for node in loaded.node if "Quantize" in node.op_type or "Integer" in node.op_type}


def onnxruntime_options(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    return options


def test_only_standard_operators_and_no_notes_of_the_exporter(grounding):
    _, _, quantised = grounding
    assert {node.domain for node in quantised.graph.node} == {""}
    assert not [node.name for node in quantised.graph.node if node.doc_string or node.metadata_props]
    assert b"site-packages" not in quantised.SerializeToString()
    assert b".py" not in quantised.SerializeToString()


@pytest.mark.parametrize("variant", ["fp16", "int8-dynamic"])
def test_variants_stay_near_the_module(variant):
    source = checkpoint("entailment", max_tokens=64)
    _, measured = build(source, variant)
    assert 0 < measured["variant_to_torch_largest_difference"] < 0.3


def test_a_graph_that_differs_from_the_module_is_refused(monkeypatch):
    source = checkpoint("entailment", max_tokens=64)
    faithful = TabulatedMPNet.__init__

    def wrong(self, trunk, max_tokens):
        faithful(self, trunk, max_tokens)
        self.table = self.table + torch.randn_like(self.table)

    monkeypatch.setattr(TabulatedMPNet, "__init__", wrong)
    with pytest.raises(ParityError, match="differ from the module's"):
        build(source, "fp32")


def test_heads_of_another_kind_are_refused():
    with pytest.raises(ValueError, match=r"a model for grounding has .* \(1, True\); this checkpoint has \(3, False\)"):
        Checkpoint(pair_encoder(3, per_token=False), "grounding", 64)


@pytest.mark.parametrize("max_tokens", [1, 299])
def test_a_length_without_positions_is_refused(max_tokens):
    with pytest.raises(ValueError, match="max_tokens must lie between 2 and 298"):
        checkpoint("entailment", max_tokens).traced()
