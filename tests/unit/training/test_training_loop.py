"""The loop makes the same steps whether or not it was interrupted, and never trains what it must not."""

import itertools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="install the training group")

from transformers import AutoModel, MPNetConfig  # noqa: E402

from services.common.grounding.windows import WindowSettings  # noqa: E402
from training.encoder import PairEncoder, load_tokenizer  # noqa: E402
from training.grounding import UNKNOWN, examples, grounding_loss, weakest  # noqa: E402
from training.loop import Schedule, Trainer, batches, pad  # noqa: E402
from training.nli import MASKED, distilled, inference_loss, layers_of  # noqa: E402
from training.rows import GroundingRow  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CPU = torch.device("cpu")
SCHEDULE = Schedule(steps=6, peak_rate=1e-3, warmup_steps=2, save_every_s=1e9)


def model():
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
    return PairEncoder(encoder, 3, per_token=False)


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(Path("model_repository/nli"))


ROWS = [[0, *range(4, 4 + size), 2] for size in (3, 8, 5, 9, 4, 7, 6, 3, 8, 5)]


def loss_of(encoder, batch):
    (logits,) = encoder(*pad([ROWS[row] for row in batch], 1, CPU))
    return torch.nn.functional.cross_entropy(logits.float(), torch.tensor([row % 3 for row in batch]))


def order():
    return batches([len(row) for row in ROWS], 24, seed=1)


def run(folder, *, limits):
    for until in limits:
        trainer = Trainer(model(), SCHEDULE, folder, CPU)
        trainer.run(order(), loss_of, lambda _: None, until_s=until)
    return trainer


def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    whole = run(tmp_path / "whole", limits=[float("inf")])
    part = Trainer(model(), SCHEDULE, tmp_path / "parts", CPU)

    def stop_after_two(now):
        if now["step"] == 2:
            part.save()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        part.run(order(), loss_of, stop_after_two)
    resumed = Trainer(model(), SCHEDULE, tmp_path / "parts", CPU)
    assert resumed.step == 2
    assert resumed.run(order(), loss_of, lambda _: None)
    ours, theirs = resumed.trained().state_dict(), whole.trained().state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_run_that_is_out_of_time_says_so_and_keeps_its_state(tmp_path):
    trainer = Trainer(model(), SCHEDULE, tmp_path, CPU)
    assert not trainer.run(order(), loss_of, lambda _: None, until_s=0)
    assert (tmp_path / "state.pt").is_file()


def test_word_embeddings_stay_and_the_rest_moves(tmp_path):
    before = {name: tensor.clone() for name, tensor in model().state_dict().items()}
    after = run(tmp_path, limits=[float("inf")]).trained().state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert not [name for name in moved if name.startswith("encoder.embeddings")]
    assert "head.weight" in moved
    assert any(name.startswith("encoder.encoder.layer") for name in moved)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path):
    trainer = Trainer(model(), SCHEDULE, tmp_path, CPU)
    with pytest.raises(ArithmeticError, match="step 0"):
        trainer.run(order(), lambda encoder, batch: loss_of(encoder, batch) * float("nan"), lambda _: None)


@pytest.mark.parametrize(("step", "rate"), [(0, 0.0005), (1, 0.001), (2, 0.001), (4, 0.0005), (6, 0.0)], ids=str)
def test_the_rate_rises_and_falls(step, rate):
    assert SCHEDULE.rate(step) == pytest.approx(rate)


def test_batches_hold_every_row_once_an_epoch_within_the_budget():
    one_epoch = []
    for batch in order():
        assert max(len(ROWS[row]) for row in batch) * len(batch) <= 24
        one_epoch += batch
        if len(one_epoch) == len(ROWS):
            break
    assert sorted(one_epoch) == list(range(len(ROWS)))


def test_batches_are_the_same_for_the_same_seed():
    lengths = [len(row) for row in ROWS]
    first, again, other = (list(itertools.islice(batches(lengths, 24, seed), 20)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("label", "expected"), [(0, 1.0986), (2, 1.0986), (MASKED, 0.4055)], ids=["entailment", "contradiction", "masked"]
)
def test_inference_loss_of_even_logits(label, expected):
    assert float(inference_loss(torch.zeros(1, 3), torch.tensor([label]))) == pytest.approx(expected, abs=1e-4)


def test_distillation_is_nothing_for_equal_logits_and_grows_with_their_distance():
    teacher = torch.tensor([[2.0, 0.0, -1.0]])
    assert float(distilled(teacher, teacher)) == pytest.approx(0.0, abs=1e-6)
    assert float(distilled(-teacher, teacher)) > float(distilled(0.5 * teacher, teacher)) > 0


def test_tokens_without_a_label_do_not_count():
    logits, tokens = torch.zeros(1), torch.tensor([[5.0, -3.0]])
    unmarked = grounding_loss(logits, tokens, torch.ones(1), torch.full((1, 2), UNKNOWN))
    assert float(unmarked) == pytest.approx(0.6931, abs=1e-4)
    marked = grounding_loss(logits, tokens, torch.ones(1), torch.tensor([[UNKNOWN, 1.0]]))
    assert float(marked) == pytest.approx(0.6931 + 0.5 * 3.0486, abs=1e-3)


def test_the_weakest_piece_speaks_for_its_claim_and_learns_alone():
    logits = torch.tensor([2.0, -1.0, 3.0, 0.5], requires_grad=True)
    found = weakest(logits, torch.tensor([0, 0, 1, 0]), 2)
    assert found.tolist() == [-1.0, 3.0]
    found.sum().backward()
    assert logits.grad.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_a_long_claim_is_read_in_pieces_with_their_own_labels(tokenizer):
    first = "Red one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen."
    second = "Blue one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."
    claim = f"{first} {second}"
    at = claim.index("Blue")
    row = GroundingRow("Red and blue one two.", claim, False, ((at, at + 4),), "test", None)
    (example,) = examples(tokenizer, [row], WindowSettings(64, 1))
    assert [sum(label == 1 for label in part.tokens) for part in example.parts] == [0, 1]
    assert example.size == 2 * max(len(part.ids) for part in example.parts)
    assert example.supported == 0.0


@pytest.mark.parametrize(("text", "layers"), [("all", None), ("0-5", [0, 1, 2, 3, 4, 5]), ("0,2,4", [0, 2, 4])])
def test_layers_by_name(text, layers):
    assert layers_of(text) == layers
