"""Exporting other people's classifiers: the graph equals the model, labels in our order, segments from separators."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="install the training group")
pytest.importorskip("onnxscript", reason="install the training group")

from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import (  # noqa: E402
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
    PreTrainedTokenizerFast,
)

from services.common.model_repository import ModelRepository  # noqa: E402
from tools.export_classifier import ClassifierError, load, main, segments  # noqa: E402
from training.entailment_labels import LabelError  # noqa: E402
from training.parity import encoder_of, session_of  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SPECIAL = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
WORDS = "report insurer names date place amount damage the of and is not named water three days fee members guests pay"
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES |= {"vocab_size": 60, "initializer_range": 0.5, "pad_token_id": 1}
LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}
COMMON = {"id2label": LABELS, "label2id": {name: index for index, name in LABELS.items()}}
MODELS = {
    "mpnet": lambda: MPNetForSequenceClassification(MPNetConfig(**SIZES, **COMMON, max_position_embeddings=82)),
    "bert": lambda: BertForSequenceClassification(BertConfig(**SIZES, **COMMON, max_position_embeddings=80)),
    "deberta-v2": lambda: DebertaV2ForSequenceClassification(
        DebertaV2Config(
            **SIZES,
            **COMMON,
            max_position_embeddings=80,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=16,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
        )
    ),
}


def write_tokenizer(folder, second_type=1, **more):
    words = [*SPECIAL, *WORDS.split()]
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        "[CLS] $A [SEP]",
        f"[CLS] $A [SEP] $B:{second_type} [SEP]:{second_type}",
        special_tokens=[("[CLS]", 0), ("[SEP]", 2)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", pad_token="[PAD]", sep_token="[SEP]", unk_token="[UNK]", **more
    ).save_pretrained(folder)


def classifier(folder, name, **config):
    torch.manual_seed(2)
    model = MODELS[name]()
    for key, value in config.items():
        setattr(model.config, key, value)
    model.save_pretrained(folder)
    write_tokenizer(folder, model_max_length=80)
    return folder


def command(folder, root, *more):
    main(
        [
            *("--model", str(folder), "--name", "nli-theirs", "--repository", str(root), "--licence", "MIT"),
            *("--upstream", "a test", "--training-data", "none", *more),
        ]
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_classifier_becomes_a_model_that_the_product_opens(tmp_path, name):
    folder, root = classifier(tmp_path / "model", name), tmp_path / "repository"
    command(folder, root)
    repository = ModelRepository.open(root)
    entry = repository.verified("nli-theirs")
    repository.config("nli-theirs")
    assert (entry.kind, entry.licence, entry.max_tokens) == ("entailment", "MIT", 80)
    assert entry.softmax.labels == ("entailment", "neutral", "contradiction")
    assert entry.softmax.fitted_on == {"note": "not calibrated"}
    assert entry.metrics["export"]["graph_to_torch_largest_difference"] < 1e-4

    golden = json.loads((root / "nli-theirs" / "golden.json").read_text(encoding="utf-8"))
    theirs = type(MODELS[name]()).from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    encoder = encoder_of(session_of(str(root / "nli-theirs" / "1" / "model.onnx")), 1)
    for case in golden["cases"]:
        inputs = tokenizer(*case["pair"], return_tensors="pt", return_token_type_ids=name == "bert")
        assert inputs["input_ids"][0].tolist() == case["token_ids"]
        with torch.no_grad():
            contradiction, entailment, neutral = theirs(**inputs).logits[0].tolist()
        (found,) = encoder.compute(inputs["input_ids"].numpy(), inputs["attention_mask"].numpy())
        assert np.abs(found[0] - [entailment, neutral, contradiction]).max() < 1e-4


def test_segments_change_what_bert_says(tmp_path):
    """Or the comparison above would prove nothing of them."""
    source = load(str(classifier(tmp_path, "bert")), None, None)
    ids = torch.tensor([[0, 4, 5, 2, 6, 7, 2]])
    with torch.no_grad():
        without = source.model(input_ids=ids).logits
        with_segments = source.model(input_ids=ids, token_type_ids=segments(ids, 2)).logits
    assert source.separator == 2
    assert (without - with_segments).abs().max() > 1e-3


def test_segments_begin_after_the_first_separator():
    ids = torch.tensor([[0, 4, 2, 5, 6, 2, 1, 1], [0, 2, 5, 2, 1, 1, 1, 1]])
    assert segments(ids, 2).tolist() == [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1, 1]]


@pytest.mark.parametrize("name", ["mpnet", "deberta-v2"])
def test_a_model_without_segments_gets_none(tmp_path, name):
    assert load(str(classifier(tmp_path, name)), None, None).separator is None


def test_segments_that_do_not_follow_the_separator_are_refused(tmp_path):
    folder = classifier(tmp_path, "bert", type_vocab_size=2)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS]:1 $A:1 [SEP]:1 $B:0 [SEP]:0", special_tokens=[("[CLS]", 0), ("[SEP]", 2)]
    )
    tokenizer.save_pretrained(folder)
    with pytest.raises(ClassifierError, match="do not change at its first separator"):
        load(str(folder), None, None)


def test_numbered_labels_are_refused_until_a_person_names_them(tmp_path):
    numbered = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    folder = classifier(tmp_path, "bert", id2label=numbered, label2id={v: k for k, v in numbered.items()})
    with pytest.raises(LabelError, match="--labels"):
        load(str(folder), None, None)
    assert load(str(folder), ["neutral", "contradiction", "entailment"], None).order == (2, 0, 1)


def test_a_tokenizer_without_a_limit_needs_one_named(tmp_path):
    folder = classifier(tmp_path, "bert")
    write_tokenizer(folder)
    with pytest.raises(ClassifierError, match="--max-tokens"):
        load(str(folder), None, None)
    assert load(str(folder), None, 64).max_tokens == 64
