"""The scoring policy of the settings: what SPEC-005 §16.3 and §17 demand of weights and amplifiers."""

import pytest
from pydantic import ValidationError

from services.common.settings.dpe import DpeAmplifiers, DpeSettings, DpeWeights
from services.dpe.compose import policy_of
from services.dpe.domain.policy import Policy


def test_the_defaults_are_the_domain_s():
    assert policy_of(DpeSettings()) == Policy()


@pytest.mark.parametrize(
    "weights",
    [
        {"attribution": 0.4},
        {"attribution": 0.2, "fidelity": 0.3, "entailment": 0.3, "specificity": 0.2},
        {"attribution": 0.4, "fidelity": 0.3, "entailment": 0.2, "specificity": 0.1},
    ],
    ids=["sum", "attribution-first", "second-place-shared"],
)
def test_weights_that_the_specification_forbids(weights):
    with pytest.raises(ValidationError):
        DpeWeights(**weights)


@pytest.mark.parametrize("amplifiers", [{"gdpr_pii": 1.1}, {"sector": 1.01}, {"severe_repetition": 0.9}])
def test_amplifiers_out_of_order(amplifiers):
    with pytest.raises(ValidationError):
        DpeAmplifiers(**amplifiers)
