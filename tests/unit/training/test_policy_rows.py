from random import Random

import pytest

from training.policies import Rule, changes, policy_rows, worded

RULE = Rule("tenants", "may", "keep pets", "for up to {n} {unit}", 6, "months", "if", "the landlord agrees in writing")
BARE = Rule("tenants", "may not", "keep pets", "for up to {n} {unit}", 6, "months", "", "")


@pytest.mark.parametrize(
    ("rule", "first", "text", "condition"),
    [
        (
            RULE,
            False,
            "Tenants may keep pets for up to 6 months if the landlord agrees in writing.",
            "if the landlord agrees in writing",
        ),
        (
            RULE,
            True,
            "If the landlord agrees in writing, tenants may keep pets for up to 6 months.",
            "If the landlord agrees in writing,",
        ),
        (BARE, True, "Tenants may not keep pets for up to 6 months.", None),
    ],
    ids=["last", "first", "none"],
)
def test_a_rule_in_words(rule, first, text, condition):
    found = worded(rule, condition_first=first)
    assert found.text == text
    slots = {slot: text[start:end] for slot, (start, end) in found.slots.items()}
    assert slots.get("condition") == condition
    assert slots["limit"] == "for up to 6 months"
    assert slots["modal"] == f"{rule.modal} keep pets"


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        (RULE, {"condition stripped", "condition turned", "condition exchanged"}),
        (BARE, {"condition added"}),
    ],
    ids=["conditional", "bare"],
)
def test_every_change_makes_another_rule(rule, kinds):
    found = list(changes(rule, [rule], Random(1)))
    assert {kind for kind, _, _ in found} == kinds | {"number", "unit", "limit", "negation", "who", "deed"}
    for _, changed, slots in found:
        assert changed != rule
        assert set(slots) <= set(worded(changed, condition_first=False).slots)


def test_a_stripped_condition_marks_what_now_holds_without_it():
    stripped = next(found for found in changes(RULE, [RULE], Random(1)) if found[0] == "condition stripped")
    assert worded(stripped[1], condition_first=False).text == "Tenants may keep pets for up to 6 months."
    assert stripped[2] == ("modal",)


def test_rows_come_in_pairs_and_are_the_seed_s_alone():
    rows = policy_rows(40, Random(1))
    assert [row.supported for row in rows] == [True, False] * 20
    assert rows == policy_rows(40, Random(1))
    assert all(row.spans == () for row in rows if row.supported)
    assert all(0 <= start < end <= len(row.claim) for row in rows for start, end in row.spans)
    assert all(row.claim not in row.premise for row in rows if not row.supported)
