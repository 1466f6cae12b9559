import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.taxonomy import QualityTier, RepetitionLevel, RiskLevel
from services.gateway.domain.policy import (
    KNOWN_DIRECTIVES,
    PROFILES,
    PolicyError,
    SafetyPolicy,
    find_relaxation,
    parse_policy,
    policy_hash,
    stricter,
)
from services.gateway.domain.vocabulary import OversightMode
from tests.each import each


@each(
    ("text", "expected"),
    [
        ("", SafetyPolicy()),
        (" ; ;", SafetyPolicy()),
        ("halt-on HIGH", SafetyPolicy(halt_on=RiskLevel.HIGH)),
        ("HALT-ON HIGH;", SafetyPolicy(halt_on=RiskLevel.HIGH)),
        ("warn-on MEDIUM", SafetyPolicy(warn_on=RiskLevel.MEDIUM)),
        ("default-src context ckf", SafetyPolicy(default_src=frozenset({"context", "ckf"}))),
        ("default-src 'none'", SafetyPolicy(default_src=frozenset())),
        ("require-grounding 0.75", SafetyPolicy(require_grounding=0.75)),
        ("require-entailment 1", SafetyPolicy(require_entailment=1.0)),
        ("require-quality S A", SafetyPolicy(require_quality=frozenset({QualityTier.S, QualityTier.A}))),
        ("require-oversight halt", SafetyPolicy(require_oversight=OversightMode.HALT)),
        ("require-flow 0.5; require-completeness 0.9", SafetyPolicy(require_flow=0.5, require_completeness=0.9)),
        (
            "block-ungrounded; block-parametric; block-pii; block-fabrication; block-repetition",
            SafetyPolicy(
                block_ungrounded=True,
                block_parametric=True,
                block_pii=True,
                block_fabrication=True,
                block_repetition=True,
            ),
        ),
        (
            "block-contradiction; block-distortion; warn-on-contradiction; incomplete-risk HIGH",
            SafetyPolicy(
                block_contradiction=True,
                block_distortion=True,
                warn_on_contradiction=True,
                incomplete_risk=RiskLevel.HIGH,
            ),
        ),
        ("max-repetition MINOR", SafetyPolicy(max_repetition=RepetitionLevel.MINOR)),
        ("upgrade-on-risk reflexive", SafetyPolicy(upgrade_on_risk="reflexive")),
        ("oversight log-only", SafetyPolicy(oversight=OversightMode.LOG_ONLY)),
        ("report-uri https://a.example/r; report-to g", SafetyPolicy(report_uri="https://a.example/r", report_to="g")),
    ],
)
def test_each_directive_is_read(text, expected):
    assert parse_policy(text) == expected


@each(
    ("text", "directive", "unknown"),
    [
        ("halt-on CRITICAL; halt-off LOW", "halt-off", True),
        ("block_pii", "block_pii", True),
        ("halt-on", "halt-on", False),
        ("halt-on VERY-HIGH", "halt-on", False),
        ("halt-on high", "halt-on", False),
        ("halt-on HIGH LOW", "halt-on", False),
        ("require-grounding 1.01", "require-grounding", False),
        ("require-grounding nan", "require-grounding", False),
        ("require-grounding x", "require-grounding", False),
        ("require-quality", "require-quality", False),
        ("require-quality E", "require-quality", False),
        ("default-src web", "default-src", False),
        ("default-src", "default-src", False),
        ("block-pii yes", "block-pii", False),
        ("warn-on-contradiction HIGH", "warn-on-contradiction", False),
        ("block-contradiction 1", "block-contradiction", False),
        ("incomplete-risk", "incomplete-risk", False),
        ("upgrade-on-risk push", "upgrade-on-risk", False),
        ("profile=unknown", "profile", False),
        ("halt-on=HIGH", "halt-on=HIGH", True),
    ],
)
def test_what_cannot_be_read_is_refused_never_ignored(text, directive, unknown):
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert (caught.value.directive, caught.value.unknown) == (directive, unknown)
    assert directive in str(caught.value)
    assert not unknown or str(caught.value) == f"{directive!r} is no directive"
    assert "profile" in caught.value.known
    assert len(KNOWN_DIRECTIVES) == 27


def test_a_profile_expands_and_can_be_extended():
    policy = parse_policy("profile=financial; require-grounding 0.95")
    assert policy == stricter(parse_policy(PROFILES["financial"]), SafetyPolicy(require_grounding=0.95))
    assert policy.require_grounding == 0.95
    assert policy.canonical == (
        "default-src context parametric; halt-on CRITICAL; warn-on HIGH; incomplete-risk HIGH; require-grounding 0.95; "
        "require-completeness 0.8; block-fabrication; upgrade-on-risk reflexive"
    )


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_profiles_read_back_from_their_canonical_text(profile):
    policy = parse_policy(f"profile={profile}")
    assert parse_policy(policy.canonical) == policy
    assert policy == parse_policy(PROFILES[profile])


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [
        ("halt-on CRITICAL", "halt-on MEDIUM", "halt-on MEDIUM"),
        ("warn-on LOW", "warn-on HIGH", "warn-on LOW"),
        ("require-grounding 0.7", "require-grounding 0.9", "require-grounding 0.9"),
        ("require-quality S A B", "require-quality A B C", "require-quality A B"),
        ("default-src context parametric", "default-src context ckf", "default-src context"),
        ("default-src parametric", "default-src ckf", "default-src 'none'"),
        ("max-repetition SIGNIFICANT", "max-repetition NONE", "max-repetition NONE"),
        ("oversight auto", "oversight human-review", "oversight human-review"),
        ("block-pii", "", "block-pii"),
        ("incomplete-risk MEDIUM", "incomplete-risk HIGH", "incomplete-risk HIGH"),
        ("warn-on-contradiction", "block-contradiction", "warn-on-contradiction; block-contradiction"),
    ],
)
def test_the_stricter_of_two_directives_holds(first, second, joint):
    assert stricter(parse_policy(first), parse_policy(second)).canonical == joint
    assert stricter(parse_policy(second), parse_policy(first)).canonical == joint


@pytest.mark.parametrize(
    ("parent", "child", "found"),
    [
        ("halt-on HIGH", "halt-on CRITICAL", ("halt-on", "halt-on HIGH", "halt-on CRITICAL")),
        ("require-flow 0.9", "require-flow 0.8", ("require-flow", "require-flow 0.9", "require-flow 0.8")),
        ("require-quality S", "require-quality S B", ("require-quality", "require-quality S", "require-quality S B")),
        ("default-src ckf", "default-src ckf context", ("default-src", "default-src ckf", "default-src context ckf")),
        (
            "incomplete-risk HIGH",
            "incomplete-risk MEDIUM",
            ("incomplete-risk", "incomplete-risk HIGH", "incomplete-risk MEDIUM"),
        ),
        ("block-distortion", "block-contradiction", None),
        ("halt-on CRITICAL", "halt-on HIGH", None),
        ("halt-on CRITICAL; block-pii", "", None),
        ("", "halt-on LOW", None),
        ("require-grounding 0.9", "require-grounding 0.9", None),
    ],
)  # fmt: skip
def test_a_child_may_only_tighten(parent, child, found):
    relaxation = find_relaxation(parse_policy(parent), parse_policy(child))
    assert found == (relaxation and (relaxation.directive, relaxation.parent_value, relaxation.child_value))


def test_the_hash_is_over_the_canonical_text():
    one = parse_policy("warn-on HIGH;halt-on  CRITICAL").canonical
    other = parse_policy("halt-on CRITICAL; warn-on HIGH; halt-on CRITICAL").canonical
    assert one == other == "halt-on CRITICAL; warn-on HIGH"
    assert policy_hash(one) == "51d0de8d4928a245c9822c8d7a2d630897461b7f188e17581474a79c41681a07"
    assert policy_hash("") == ""


DIRECTIVES = st.sampled_from(
    ["halt-on LOW", "halt-on CRITICAL", "warn-on MEDIUM", "require-grounding 0.5", "require-grounding 0.123",
     "require-quality S B", "default-src context", "default-src 'none'", "block-pii", "max-repetition MINOR",
     "oversight halt", "oversight auto", "block-contradiction", "warn-on-contradiction", "incomplete-risk HIGH",
     "incomplete-risk MEDIUM", "profile=medical", "profile=developer"]
)  # fmt: skip


@given(st.lists(DIRECTIVES, max_size=6))
def test_canonical_text_is_stable_and_order_does_not_matter(directives):
    policy = parse_policy("; ".join(directives))
    assert parse_policy("; ".join(reversed(directives))) == policy
    assert parse_policy(policy.canonical) == policy or "require-quality 'none'" in policy.canonical


@given(st.lists(DIRECTIVES, max_size=4), st.lists(DIRECTIVES, max_size=4))
def test_what_is_stricter_than_both_relaxes_neither(first, second):
    one, other = parse_policy("; ".join(first)), parse_policy("; ".join(second))
    joint = stricter(one, other)
    assert find_relaxation(one, joint) is None
    assert find_relaxation(other, joint) is None
