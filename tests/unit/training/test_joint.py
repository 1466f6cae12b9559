"""One trunk, two tasks: a batch of either teaches its own heads, and the rows of public sets are taken with care."""

import itertools
import math
import random
from collections import defaultdict

import pytest

torch = pytest.importorskip("torch", reason="install the training group")
pytest.importorskip("sklearn", reason="install the training group")

from transformers import AutoModel, MPNetConfig  # noqa: E402

from training import joint  # noqa: E402
from training.claim_only import areas, guesses, own_sets  # noqa: E402
from training.encoder import JOINT_OUTPUTS, PairEncoder, with_joint_heads  # noqa: E402
from training.grounding import Example, Part  # noqa: E402
from training.joint import Batch, Prepared, Task, Teacher, interleaved, joint_loss, twin_loss  # noqa: E402
from training.nli import Encoded  # noqa: E402
from training.public_rows import CAPS, as_grounding, chosen  # noqa: E402
from training.rows import CheckedText  # noqa: E402

CPU = torch.device("cpu")


def entailment_model():
    torch.manual_seed(3)
    config = MPNetConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    encoder = AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
    return PairEncoder(encoder, 3, per_token=False).eval()


RIGHT = Example((Part([0, 4, 2, 2, 5, 2], [-1.0, -1.0, -1.0, -1.0, 0.0, -1.0]),), 1.0)
WRONG = Example(
    (Part([0, 6, 2, 2, 7, 2], [-1.0, -1.0, -1.0, -1.0, 1.0, -1.0]), Part([0, 6, 2, 2, 8, 2], [-1.0] * 6)), 0.0
)
DATA = Prepared([RIGHT, WRONG], Encoded([[0, 4, 2, 2, 9, 2], [0, 5, 2, 2, 9, 2]], [0, 2]), ((RIGHT, WRONG),))
GROUNDING, INFERENCE, TWINS = Batch(Task.GROUNDING, (0, 1)), Batch(Task.INFERENCE, (0, 1)), Batch(Task.TWINS, (0,))


def test_the_joint_head_begins_with_what_the_entailment_head_knows():
    before = entailment_model()
    after = with_joint_heads(before).eval()
    ids, mask = torch.tensor([[0, 4, 2, 2, 5, 2]]), torch.ones(1, 6, dtype=torch.int64)
    (logits,), (joint, tokens) = before(ids, mask), after(ids, mask)
    assert joint.shape == (1, JOINT_OUTPUTS)
    assert tokens.shape == (1, 6)
    assert torch.allclose(joint[:, :3], logits)
    assert torch.allclose(joint[:, 3], logits[:, 0] - (logits[:, 1] + logits[:, 2]) / 2, atol=1e-6)


@pytest.mark.parametrize(
    ("batch", "taught"),
    [(GROUNDING, {3}), (INFERENCE, {0, 1, 2}), (TWINS, {0, 1, 2, 3})],
    ids=["grounding", "inference", "twins"],
)
def test_a_batch_teaches_the_heads_of_its_own_task(batch, taught):
    model = with_joint_heads(entailment_model())
    joint_loss(model, DATA, batch, 1, CPU).backward()
    moved = {row for row in range(JOINT_OUTPUTS) if float(model.head.weight.grad[row].abs().sum()) > 0}
    assert moved == taught
    tokens = model.token_head.weight.grad
    assert (tokens is not None and float(tokens.abs().sum()) > 0) is (3 in taught)


def gradient(batch=GROUNDING, **changes):
    model = with_joint_heads(entailment_model())
    joint_loss(model, DATA, batch, 1, CPU, **changes).backward()
    return model.head.weight.grad


def test_what_a_teacher_says_of_the_weakest_part_counts_beside_the_label():
    teacher = with_joint_heads(entailment_model()).eval()
    ids, mask = torch.tensor([[0, 4, 2, 2, 5, 2], [0, 6, 2, 2, 7, 2]]), torch.ones(2, 6, dtype=torch.int64)
    said = torch.sigmoid(teacher(ids, mask)[0][:, 3])
    labels, apart, together = torch.tensor([1.0, 0.0]), torch.tensor([0, 1]), torch.tensor([0, 0])
    blended = Teacher(teacher, 0.25).blended(labels, (ids, mask), apart)
    assert torch.allclose(blended, 0.75 * labels + 0.25 * said)
    assert not blended.requires_grad
    both = Teacher(teacher, 1.0).blended(labels[:1], (ids, mask), together)
    assert torch.allclose(both, said.min()[None])


def test_a_teacher_without_a_share_changes_nothing_and_one_with_it_does():
    teacher = with_joint_heads(entailment_model()).eval()
    plain = gradient()
    assert torch.allclose(gradient(teacher=Teacher(teacher, 0.0)), plain)
    assert not torch.allclose(gradient(teacher=Teacher(teacher, 0.5)), plain)
    assert teacher.head.weight.grad is None


@pytest.mark.parametrize("outputs", [3, JOINT_OUTPUTS])
def test_a_teacher_is_a_joint_encoder(outputs, monkeypatch, tmp_path):
    model = entailment_model() if outputs == 3 else with_joint_heads(entailment_model())
    monkeypatch.setattr(joint, "load", {tmp_path: model}.__getitem__)
    if outputs == 3:
        with pytest.raises(ValueError, match="has 3 outputs; a teacher is a joint encoder and has 4"):
            Teacher.load(tmp_path, 0.5, CPU)
    else:
        assert Teacher.load(tmp_path, 0.5, CPU) == Teacher(model, 0.5)


def test_a_teacher_says_nothing_of_twins():
    teacher = Teacher(with_joint_heads(entailment_model()).eval(), 0.5)
    assert torch.allclose(gradient(TWINS, teacher=teacher), gradient(TWINS))


def test_a_step_of_twins_adds_their_order_to_the_loss_of_both_labels(monkeypatch):
    model = with_joint_heads(entailment_model()).eval()
    whole = float(joint_loss(model, DATA, TWINS, 1, CPU).detach())
    order = []
    monkeypatch.setattr(
        joint, "twin_loss", lambda verdicts: order.append(twin_loss(verdicts.detach())) or torch.zeros(())
    )
    assert whole == pytest.approx(float(joint_loss(model, DATA, TWINS, 1, CPU).detach() + order[0]))
    assert float(order[0]) > 0.1


def test_twins_cost_what_the_wrong_one_is_above_the_right_one():
    level, above, below = (torch.tensor([right, 1.0]) for right in (1.0, 4.0, -2.0))
    assert float(twin_loss(level)) == pytest.approx(math.log(2))
    assert float(twin_loss(above)) < 0.05
    assert float(twin_loss(below)) > 3.0
    assert float(twin_loss(torch.cat([above, below]))) == pytest.approx(float(twin_loss(above) + twin_loss(below)) / 2)


@pytest.mark.parametrize(("twins", "rhythm"), [(0, "ggi"), (1, "tgi")])
def test_every_so_manieth_batch_is_of_inference_and_the_first_ones_are_twins(twins, rhythm):
    letters = {"g": GROUNDING, "i": INFERENCE, "t": TWINS}
    streams = {batch.task: itertools.repeat(list(batch.rows)) for batch in letters.values()}
    found = interleaved(streams, 3, twins)
    assert list(itertools.islice(found, 6)) == [letters[letter] for letter in rhythm * 2]


@pytest.mark.parametrize("given", ["--inference-every 1", "--inference-every 4 --twins 3", "--twins -1"])
def test_a_round_has_a_step_of_each_task(given, capsys):
    with pytest.raises(SystemExit):
        joint.main([*["--data", "d", "--start", "s", "--work", "w"], *given.split()])
    assert "--inference-every is at least 2 + --twins" in capsys.readouterr().err


def row(number, *, dataset="paws", supported=True, claim=None, fold="fit", clear=True, spans=None, query=None):
    text = claim if claim is not None else f"claim number {number} about thing {number % 7}"
    return CheckedText(
        f"{dataset}-{number}",
        dataset,
        "claim",
        (f"context {number}",),
        text,
        supported,
        fold,
        query,
        None,
        spans,
        clear,
    )


def given_away(count):
    """Rows whose label stands in the claim's words."""
    return [
        row(number, supported=number % 2 == 0, claim=f"{'good' if number % 2 == 0 else 'bad'} thing {number % 5}")
        for number in range(count)
    ]


def test_beside_turned_passages_each_answer_has_both_labels_and_one_context():
    told = defaultdict(list)
    for own in own_sets():
        if own.dataset == "own answers, turned too":
            told[own.claim, own.context].append(own.supported)
    assert len(told) == 2 * 4_804
    assert {tuple(sorted(labels)) for labels in told.values()} == {(False, True)}


def test_a_reader_of_claims_alone_sees_what_the_wording_gives_away():
    told = given_away(200)
    hidden = [row(number, supported=random.Random(number).random() < 0.5, dataset="other") for number in range(200)]
    found = areas(told + hidden)
    assert found["paws"] > 0.95
    assert 0.3 < found["other"] < 0.7
    own = guesses(told)
    assert float(own.min()) > 0.8


def test_what_the_claim_gives_away_is_mostly_left_out():
    kept = chosen(given_away(400), random.Random(1))
    assert 80 < len(kept) < 200  # about .35 of them


def test_a_set_is_capped_and_only_clear_rows_to_learn_from_are_taken():
    many = [row(number, dataset="fib_swaps", supported=False) for number in range(CAPS["fib_swaps"] + 100)]
    others = [row(1, dataset="a", fold="report"), row(2, dataset="b", clear=False), row(3, dataset="c", claim=" ")]
    kept = chosen(many + others, random.Random(1))
    assert len(kept) == CAPS["fib_swaps"]
    assert {each.dataset for each in kept} == {"fib_swaps"}


def test_the_larger_class_is_cut():
    rows = [row(number, supported=number < 6) for number in range(48)]
    kept = chosen(rows, random.Random(1))
    assert sum(each.supported for each in kept) == 6
    assert len(kept) == 24


def test_spans_move_along_with_the_statement():
    plain = as_grounding(row(1, supported=False, claim="It opened in 1950.", spans=((13, 17),)))
    assert [plain.claim[start:end] for start, end in plain.spans] == ["1950"]
    asked = as_grounding(row(1, supported=False, claim="Oslo", spans=((0, 4),), query="Where does the bank lie?"))
    assert asked.claim != "Oslo"
    assert [asked.claim[start:end] for start, end in asked.spans] == ["Oslo"]
    assert as_grounding(row(1, supported=False)).spans is None
    assert as_grounding(row(1)).spans == ()
