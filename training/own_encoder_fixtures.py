"""Small encoders with random weights, one of each family that users may bring, as a hub gives them.

    python -m training.own_encoder_fixtures --out tests/vectors/own_encoders

writes for each a folder with ``config.json``, ``tokenizer.json``, ``tokenizer_config.json`` and the graph that
``groundtrail models add`` makes of its safetensors, and ``expected.json``: for some pairs the token ids and the logits
that transformers gives, with its own tokenizer, its own padding and PyTorch. Tests that have neither hold the product
to them. The weights say nothing: what is tested is that they are asked and read as their makers would.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from services.common.adapters.own_encoders.conversion import convert
from services.common.adapters.own_encoders.hub_folder import open_folder

SEED: Final = 19
VOCABULARY: Final = 300
WIDTH: Final = 16
LONGEST: Final = 128
DIGITS: Final = 5
TEXTS: Final = (
    "Water damage must be reported to the insurer within three days.",
    "Water damage must be reported within 3 days.",
    "The fee is 40 EUR for members and 55 EUR for guests.",
    "Guests pay 40 EUR.",
    "Members may cancel at any time. Guests may not cancel, and pay the whole fee.",
    "Guests may cancel; members, too.",
    "Article 22 GDPR: no decision by a machine alone.",
)
PAIRS: Final = (
    (TEXTS[0], TEXTS[1]),
    (TEXTS[2], TEXTS[3]),
    (TEXTS[4], TEXTS[5]),
    (TEXTS[6], "A machine alone decides."),
)
NLI: Final = ("contradiction", "entailment", "neutral")
SUPPORT: Final = ("hallucinated", "consistent")
TOKENS: Final = ("supported", "hallucinated")
UNNAMED: Final = ("LABEL_0", "LABEL_1")


@dataclass(frozen=True, slots=True)
class Family:
    """One fixture.

    Attributes:
        model_type: as config.json names it.
        architecture: the class.
        labels: names of its logits.
        tokenizer: kind of tokenizer.
        marks: special tokens: first, last, padding, unknown.
        config: numbers beyond the common ones.
        template: how the pair is laid out where not by the tokenizer.
    """

    model_type: str
    architecture: str
    labels: tuple[str, ...]
    tokenizer: str
    marks: tuple[str, str, str, str]
    config: dict[str, Any]
    template: str = ""


BERT_MARKS: Final = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
ROBERTA_MARKS: Final = ("<s>", "</s>", "<pad>", "<unk>")
T5_MARKS: Final = ("", "</s>", "<pad>", "<unk>")
COMMON: Final = {
    "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 2 * WIDTH, "max_position_embeddings": LONGEST, "initializer_range": 0.5,
}  # fmt: skip
T5: Final = {
    "vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": 8, "d_ff": 2 * WIDTH, "num_layers": 2, "num_heads": 2,
    "relative_attention_num_buckets": 8, "feed_forward_proj": "gated-gelu", "initializer_factor": 1.0,
    "decoder_start_token_id": 0,
}  # fmt: skip
DEBERTA: Final = COMMON | {
    "type_vocab_size": 0, "relative_attention": True, "position_buckets": 16, "max_relative_positions": -1,
    "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
    "pooler_dropout": 0, "pooler_hidden_act": "gelu",
}  # fmt: skip
ROOM: Final = {"max_position_embeddings": LONGEST + 2, "pad_token_id": 1}
"""RoBERTa and MPNet count positions from behind the padding's."""
HHEM_TEMPLATE: Final = (
    "<pad> Is the hypothesis true given the premise? Premise: {premise}\n\nHypothesis: {hypothesis}</s>"
)
FAMILIES: Final = {
    "bert": Family("bert", "BertForSequenceClassification", NLI, "wordpiece", BERT_MARKS, COMMON),
    "roberta": Family("roberta", "RobertaForSequenceClassification", NLI, "bytes", ROBERTA_MARKS, COMMON | ROOM),
    "roberta-template": Family(
        "roberta", "RobertaForSequenceClassification", UNNAMED, "bytes", ROBERTA_MARKS, COMMON | ROOM,
        "<s>{premise}</s>{hypothesis}</s>",
    ),
    "deberta-v3": Family("deberta-v2", "DebertaV2ForSequenceClassification", NLI, "unigram", BERT_MARKS, DEBERTA),
    "mpnet": Family("mpnet", "MPNetForSequenceClassification", SUPPORT, "wordpiece", ROBERTA_MARKS, COMMON | ROOM),
    "modernbert": Family(
        "modernbert", "ModernBertForSequenceClassification", SUPPORT, "bytes", BERT_MARKS,
        COMMON | {"local_attention": 16},
    ),
    "modernbert-tokens": Family(
        "modernbert", "ModernBertForTokenClassification", TOKENS, "bytes", BERT_MARKS, COMMON | {"local_attention": 16}
    ),
    "t5": Family("t5", "T5ForSequenceClassification", SUPPORT, "unigram", T5_MARKS, T5),
    "t5-first-token": Family("t5", "T5ForTokenClassification", SUPPORT, "unigram", T5_MARKS, T5, HHEM_TEMPLATE),
}  # fmt: skip


def tokenizer_of(family: Family) -> Tokenizer:
    """Train a small tokenizer of the family's kind on the texts."""
    first, last, padding, unknown = family.marks
    specials = [mark for mark in _in_order(family) if mark]
    kinds: dict[str, Any] = {
        "wordpiece": (models.WordPiece(unk_token=unknown), trainers.WordPieceTrainer),
        "bytes": (models.BPE(), trainers.BpeTrainer),
        "unigram": (models.Unigram(), trainers.UnigramTrainer),
    }
    model, trainer = kinds[family.tokenizer]
    made = Tokenizer(model)
    options: dict[str, Any] = {"vocab_size": VOCABULARY - 20, "special_tokens": specials, "show_progress": False}
    if family.tokenizer == "wordpiece":
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif family.tokenizer == "bytes":
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    else:
        made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
        )
        made.decoder = decoders.Metaspace()
        options["unk_token"] = unknown
    made.train_from_iterator([*TEXTS, *(text for pair in PAIRS for text in pair)] * 4, trainer(**options))
    made.post_processor = _template(made, family)
    del padding, first, last
    return made


def _in_order(family: Family) -> tuple[str, ...]:
    """Return the special tokens in the order of their ids, as each family has them."""
    first, last, padding, unknown = family.marks
    if family.model_type == "t5":
        return (padding, last, unknown)
    if family.marks is BERT_MARKS:
        return (padding, first, last, unknown)
    return (first, padding, last, unknown)


def _template(tokenizer: Tokenizer, family: Family) -> Any:
    first, last, _, _ = family.marks
    ids: dict[str, Any] = {mark: tokenizer.token_to_id(mark) for mark in (first, last) if mark}
    if family.marks is ROBERTA_MARKS:
        return processors.RobertaProcessing((last, ids[last]), (first, ids[first]), trim_offsets=True)
    if family.model_type == "t5":
        return processors.TemplateProcessing(
            single=f"$A {last}", pair=f"$A {last} $B {last}", special_tokens=list(ids.items())
        )
    second = ":1" if family.model_type in {"bert", "deberta-v2"} else ""
    return processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B{second} {last}{second}",
        special_tokens=list(ids.items()),
    )


def write_source(folder: Path, family: Family) -> Any:
    """Write the folder with safetensors; return the module."""
    torch.manual_seed(SEED)
    first, last, padding, unknown = family.marks
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_of(family),
        model_max_length=LONGEST,
        pad_token=padding,
        unk_token=unknown,
        eos_token=last,
        sep_token=last,
        model_input_names=["input_ids", "attention_mask", *(["token_type_ids"] if family.model_type == "bert" else [])],
        **({"cls_token": first, "bos_token": first} if first else {}),
    )
    names = dict(enumerate(family.labels))
    marks = {"pad_token_id": fast.pad_token_id, "eos_token_id": fast.eos_token_id}
    if first:
        marks |= {
            "bos_token_id": fast.bos_token_id,
            "cls_token_id": fast.cls_token_id,
            "sep_token_id": fast.sep_token_id,
        }
    config = transformers.AutoConfig.for_model(
        family.model_type,
        **(family.config | marks | {"id2label": names, "label2id": {name: n for n, name in names.items()}}),
    )
    model = getattr(transformers, family.architecture)(config).eval()
    model.save_pretrained(folder, safe_serialization=True)
    fast.save_pretrained(folder)
    return model


def expected(folder: Path, family: Family, model: Any) -> list[dict[str, Any]]:
    """Return what transformers makes of the pairs, all of them as one padded batch."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if family.template:
        texts = [family.template.format(premise=premise, hypothesis=hypothesis) for premise, hypothesis in PAIRS]
        batch = tokenizer(texts, add_special_tokens=False, padding=True, return_tensors="pt")
    else:
        firsts, seconds = ([pair[place] for pair in PAIRS] for place in (0, 1))
        batch = tokenizer(firsts, seconds, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**batch).logits.float().numpy()
    lengths = batch["attention_mask"].sum(dim=1).tolist()
    return [
        {
            "pair": list(pair),
            "token_ids": batch["input_ids"][row, : lengths[row]].tolist(),
            "logits": np.round(logits[row][: lengths[row]] if logits.ndim == 3 else logits[row], DIGITS).tolist(),  # noqa: PLR2004
        }
        for row, pair in enumerate(PAIRS)
    ]


def write_fixture(out: Path, name: str) -> None:
    """Write one fixture's folder."""
    family = FAMILIES[name]
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / name
        model = write_source(source, family)
        convert(open_folder(source), family.architecture, "", family.labels, LONGEST, folder / "model.onnx")
        for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(source / file, folder / file)
        cases = expected(source, family, model)
    known = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(known, ensure_ascii=False) + "\n", encoding="utf-8")
    content = {"template": family.template, "cases": cases}
    (folder / "expected.json").write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all fixtures, or those named."""
    parser = argparse.ArgumentParser(prog="python -m training.own_encoder_fixtures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("names", nargs="*", help="none = all")
    options = parser.parse_args(arguments)
    for name in options.names or FAMILIES:
        write_fixture(options.out, name)
        size = sum(path.stat().st_size for path in (options.out / name).iterdir())
        print(f"{name}: {size:,} bytes")


if __name__ == "__main__":
    main()
