"""Under which policies of a tenant an answer that nothing was brought for is withheld (ADR 0219)."""

import pytest

from services.gateway.check_policy import needs_sources
from services.gateway.domain.outcome import PolicyRequest, policy_in_force

ASKING = "block-ungrounded"


@pytest.mark.parametrize(
    ("tenant", "needed"),
    [
        (ASKING, True),
        ("require-grounding 0.5", True),
        ("require-entailment 0.5", True),
        ("oversight human-review", True),
        ("oversight halt", True),
        ("oversight auto", False),
        ("halt-on HIGH; block-contradiction", False),
        ("", False),
    ],
)
def test_a_tenant_that_asks_for_sources_or_for_a_person(tenant, needed):
    assert needs_sources(policy_in_force(PolicyRequest(), tenant, "")) is needed


def test_what_a_request_asks_for_itself_is_no_tenants_policy():
    assert not needs_sources(policy_in_force(PolicyRequest(ASKING), "", ""))
