"""Joining two encoders, and what a joint one gives when it is delivered (ADR 0150)."""

import pytest

torch = pytest.importorskip("torch", reason="install the training group")

from tests.unit.training.test_export_checkpoint import pair_encoder  # noqa: E402
from training.encoder import as_delivered, with_joint_heads  # noqa: E402
from training.export import Checkpoint  # noqa: E402
from training.joined import joined  # noqa: E402

IDS = torch.tensor([[0, 7, 9, 2, 2, 11, 2]])
MASK = torch.ones_like(IDS)


def test_a_joined_encoder_says_what_each_head_said_on_its_own_trunk():
    grounding, inference = pair_encoder(1, per_token=True).eval(), pair_encoder(3, per_token=False).eval()
    inference.encoder = grounding.encoder
    whole = as_delivered(joined(grounding, inference)).eval()
    support, tokens, logits = whole(IDS, MASK)
    expected, marks = grounding(IDS, MASK)
    assert torch.allclose(support, expected, atol=1e-6)
    assert torch.allclose(tokens, marks, atol=1e-6)
    assert torch.allclose(logits, inference(IDS, MASK)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("first", "second"),
    [((1, False), (3, False)), ((3, True), (3, False)), ((1, True), (1, False))],
    ids=["no token head", "two entailment encoders", "no entailment encoder"],
)
def test_other_heads_are_refused(first, second):
    one, other = (pair_encoder(outputs, per_token=tokens) for outputs, tokens in (first, second))
    with pytest.raises(ValueError, match="entailment encoder three"):
        joined(one, other)


def test_joint_heads_begin_as_entailment_against_the_rest_and_are_kept_afterwards():
    inference = pair_encoder(3, per_token=False)
    model = with_joint_heads(inference)
    weight = inference.head.weight
    assert torch.allclose(model.head.weight[3], weight[0] - (weight[1] + weight[2]) / 2)
    assert torch.equal(model.head.weight[:3], weight)
    assert with_joint_heads(model) is model


def test_the_graph_of_a_joint_encoder_names_the_outputs_of_both_tasks():
    source = Checkpoint(as_delivered(with_joint_heads(pair_encoder(3, per_token=False))), "grounding", 32)
    assert source.outputs == ("support_logit", "token_logits", "logits")
    assert [output.name for output in source.traced().graph.output] == list(source.outputs)


def test_a_joint_encoder_is_no_entailment_model_by_itself():
    with pytest.raises(ValueError, match="this checkpoint has"):
        Checkpoint(as_delivered(with_joint_heads(pair_encoder(3, per_token=False))), "entailment", 32)
