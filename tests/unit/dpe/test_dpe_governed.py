"""Two parties that changed places around a preposition (ADR 0095)."""

import pytest

from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.governed import exchanged_phrases
from services.dpe.domain.rules.reading import Reading

INSURES = "On behalf of the lessee, the lessor insures the devices against theft; damage by water is not insured."
NOTICE = "Notice is sent by the landlord to the tenant."
MOVED = "Goods are moved from the northern depot to the main hall."


@pytest.mark.parametrize(
    ("claim", "source", "is_exchanged"),
    [
        ("The lessee insures the devices against theft on behalf of the lessor.", INSURES, True),
        ("The lessor insures the devices against theft on behalf of the lessee.", INSURES, False),
        ("The devices are insured against theft on behalf of the lessee.", INSURES, False),
        ("Notice is sent to the landlord by the tenant.", NOTICE, True),
        ("Notice is sent to the tenant by the landlord.", NOTICE, False),
        ("The landlord sends notice to the tenant.", NOTICE, False),
        ("Goods are moved to the northern depot from the main hall.", MOVED, True),
        ("Goods are moved to the main hall from the northern depot.", MOVED, False),
        ("Letters are sent to the landlord by the tenant of the shop next door.", NOTICE, False),
        ("The tenant's notice is sent to the bank.", "Notice is sent to the tenant and to the bank.", False),
        ("Notice is sent by the tenant from the landlord.", NOTICE, False),  # another part, not each other's place
        ("The agent acts in the name of the owner.", "The owner acts in the name of the agent.", True),
        ("The lessee insures the devices of the branch against theft on behalf of the lessor.", INSURES, True),
        ("Notice is sent to landlords by tenants.", "Notice is sent by landlords to tenants.", True),
        ("The landlord's notice is sent by the agent to the tenant.", NOTICE, False),  # the agent is nowhere else
        (
            "Notice is sent by the agent to the tenant.",
            "The agent's notice is sent by the landlord to the tenant.",
            False,
        ),
        ("The owner pays instead, the agent collects.", "The agent pays instead, the owner collects.", False),
    ],
)
def test_parties_that_changed_places_around_a_preposition_are_found(claim, source, is_exchanged):
    found = exchanged_phrases(read_claim(claim, 0), [Reading.of(source, 0, fact_index=0)])
    assert (found is not None) is is_exchanged
    if found is not None:
        assert found.rule is Rule.PARTIES
        assert claim[found.claimed.start : found.claimed.end].strip()
