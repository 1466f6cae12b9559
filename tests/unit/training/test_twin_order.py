"""How often the right one of two twins lies above the wrong one: read in batches, in the order of the rows."""

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="install the training group")

from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import Whitespace  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import AutoModel, MPNetConfig  # noqa: E402

from services.common.grounding.windows import WindowSettings  # noqa: E402
from training import twin_order  # noqa: E402
from training.encoder import SUPPORT, PairEncoder, save, with_joint_heads  # noqa: E402
from training.grounding import Example, Part  # noqa: E402
from training.joint import twin_examples  # noqa: E402
from training.own_corpus import Twin, is_held_back, own_twins  # noqa: E402

WORDS = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "desk",
    "open",
    "from",
    "eight",
    "nine",
    "you",
    "can",
    "come",
    "to",
    "the",
    "early",
    "in",
    "morning",
    "on",
    "sunday",
]
DESKS = [name for name in "abcdefghijklmnopqrstuvwxyz" if is_held_back(name)]


def tokenizer():
    known = {word: place for place, word in enumerate(WORDS)}
    made = Tokenizer(WordLevel(known, unk_token="<unk>"))
    made.pre_tokenizer = Whitespace()
    special = [("<s>", known["<s>"]), ("</s>", known["</s>"])]
    made.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B:1 </s>:1", special_tokens=special
    )
    return made


def joint_model():
    torch.manual_seed(3)
    config = MPNetConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=80,
    )
    encoder = AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
    return with_joint_heads(PairEncoder(encoder, 3, per_token=False)).eval()


def example(*ids):
    return Example(tuple(Part(list(part), [0.0] * len(part)) for part in ids), 1.0)


def test_logits_stand_in_the_order_of_the_rows_and_the_weakest_piece_speaks():
    model = joint_model()
    rows = [example(range(4, 4 + size)) for size in (9, 3, 7, 5, 8, 4)] * 4
    rows[2] = example([4, 5, 6], [7, 8, 9, 10])
    found = twin_order.logits_of(model, rows, 1)
    for row, said in zip(rows, found, strict=True):
        each = []
        for part in row.parts:
            ids = torch.tensor([part.ids])
            with torch.no_grad():
                logits = model(ids, torch.ones_like(ids))[0][0]
            each.append([float(logits[SUPPORT]), float(logits[0] - logits[1:SUPPORT].logsumexp(0))])
        assert said == pytest.approx([min(column) for column in zip(*each, strict=True)], abs=1e-5)


def write_answers(path):
    right = {"id": "1", "twin": "2", "claim": "you can come to the desk from eight on sunday", "supported": True}
    wrong = {"id": "2", "twin": "1", "claim": "you can come to the desk from nine on sunday", "supported": False}
    right |= {"spans": [], "kind": "order", "question": None, "turned": [["eight", "nine"]]}
    wrong |= {"spans": [], "kind": "value", "question": None}
    passage = {"title": "desk", "passage": "open from eight", "claims": [right, wrong]}
    path.write_text("".join(json.dumps(passage | {"id": name}) + "\n" for name in DESKS))


def test_twins_that_are_read_alike_are_left_out(tmp_path):
    write_answers(tmp_path / "answers.jsonl")
    twins = own_twins(tmp_path / "answers.jsonl", held_back=True)
    assert len(twins) == 2 * len(DESKS)
    assert len(twin_examples(tokenizer(), twins, WindowSettings(40, 1))) == len(twins)
    same = [Twin(twin.supported, twin.supported) for twin in twins]
    assert twin_examples(tokenizer(), same, WindowSettings(40, 1)) == ()
    unread = Twin(twins[0].supported, replace(twins[0].unsupported, premise=""))
    with pytest.raises(ValueError, match="of 2 rows of twins 1 have a passage to read"):
        twin_examples(tokenizer(), [unread], WindowSettings(40, 1))


def test_the_command_says_for_both_parts_how_often_the_right_one_is_above(tmp_path, monkeypatch, capsys):
    answers = tmp_path / "answers.jsonl"
    write_answers(answers)
    monkeypatch.setattr(twin_order, "ANSWERS", answers)
    monkeypatch.setattr(twin_order, "CORPUS", answers)
    save(joint_model(), tokenizer(), tmp_path / "checkpoint")
    twin_order.main(["--checkpoint", str(tmp_path / "checkpoint"), "--limit", "4"])
    said = capsys.readouterr().out
    assert said.count(" of 4: ") == 4
    save(PairEncoder(joint_model().encoder, 3, per_token=False), tokenizer(), tmp_path / "other")
    with pytest.raises(SystemExit):
        twin_order.main(["--checkpoint", str(tmp_path / "other")])
    assert "has 3 outputs; a joint encoder has 4" in capsys.readouterr().err
