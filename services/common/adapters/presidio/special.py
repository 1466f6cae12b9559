"""Special categories of personal data (GDPR Art. 9): words of a kind in a sentence about a person.

The lists name conditions, creeds and the like, never the subjects that a handbook treats ("health insurance", "sick
leave"). A term counts only where the sentence speaks of somebody (``about_a_person``): a rule, a product or a statistic
is about nobody. This is precise rather than complete: what no list names is not found.
"""

import re
from typing import Any, Final

from presidio_analyzer import EntityRecognizer

from services.common.adapters.presidio.nearby import about_a_person, hints, phrase
from services.common.adapters.presidio.rules import RuleRecognizer

_CONFIDENCE: Final = 0.7

_HEALTH: Final = (
    "diabetes", "diabetic", "hiv", "hiv-positive", "aids", "cancer", "leukaemia", "leukemia", "tumour", "tumor",
    "lymphoma", "depression", "depressed", "bipolar disorder", "schizophrenia", "schizophrenic", "anxiety disorder",
    "autism", "autistic", "adhd", "ptsd", "epilepsy", "epileptic", "asthma", "asthmatic", "hepatitis",
    "tuberculosis", "multiple sclerosis", "parkinson's disease", "alzheimer's disease", "dementia", "heart attack",
    "heart disease", "stroke", "hypertension", "high blood pressure", "kidney failure", "chronic pain", "migraine",
    "migraines", "arthritis", "burnout", "anorexia", "bulimia", "alcoholic", "alcoholism", "drug addiction",
    "addicted to", "pregnant", "miscarriage", "abortion", "infertility", "chemotherapy", "dialysis", "insulin",
    "antidepressants", "psychotherapy", "rehab", "wheelchair", "blind", "deaf", "disabled", "amputation",
    "concussion", "slipped disc", "covid-19", "diagnosed with", "suffers from", "suffering from", "was hospitalised",
    "was hospitalized", "underwent surgery", "blood pressure", "blood type", "medical history", "krank", "schwanger",
)  # fmt: skip
_POLITICS: Final = (
    "votes for", "voted for", "member of the labour party", "communist", "socialist", "conservative party",
    "party member", "registered democrat", "registered republican", "a democrat", "a republican", "political views",
    "political opinion", "political opinions", "party membership", "supports the party", "campaigned for",
    "anarchist", "far-right", "far-left",
)  # fmt: skip
_RELIGION: Final = (
    "muslim", "catholic", "protestant", "jewish", "hindu", "buddhist", "sikh", "atheist", "mormon",
    "jehovah's witness", "christian", "evangelical", "shia", "shiite", "sunni", "converted to", "religious beliefs",
    "orthodox church", "practises islam", "practices islam",
)  # fmt: skip
_ETHNICITY: Final = (
    "ethnicity", "ethnic origin", "racial origin", "of african descent", "of asian descent", "african american",
    "african-american", "roma", "sinti", "hispanic", "latino", "latina", "kurdish", "aboriginal", "native american",
    "mixed race", "jewish descent", "turkish origin", "arab descent", "skin colour", "skin color",
)  # fmt: skip
_UNION: Final = (
    "trade union member",
    "union member",
    "member of the union",
    "trade union membership",
    "shop steward",
    "joined the union",
    "union representative",
)
_SEX: Final = (
    "gay",
    "lesbian",
    "bisexual",
    "homosexual",
    "heterosexual",
    "transgender",
    "sexual orientation",
    "sex life",
    "came out as",
    "asexual",
    "non-binary",
)
_GENES: Final = (
    "fingerprint scan",
    "iris scan",
    "retina scan",
    "dna profile",
    "dna test",
    "genetic test",
    "brca1",
    "brca2",
    "huntington's gene",
    "facial recognition template",
    "voiceprint",
)

_NAMED_AFTER: Final = re.compile(
    r"[ -](?:insurance|insurances|insurer|cover|coverage|policy|policies|plans?|rules|guidelines?|centre|center|"
    r"awareness|research|prevention|screening|campaign|foundation|charity|society|association|benefits?|allowance|access|parking|church|school|"
    r"party|parties|holidays?|calendar|art|literature|cuisine|architecture|democracy|era|studies|month|day)\b",
    re.IGNORECASE,
)


def recognizers() -> list[EntityRecognizer]:
    """Return the recognisers of this module."""
    groups = (
        ("HEALTH_DATA", _HEALTH), ("POLITICAL_OPINION", _POLITICS), ("RELIGION_OR_BELIEF", _RELIGION),
        ("ETHNIC_ORIGIN", _ETHNICITY),
        ("TRADE_UNION_MEMBERSHIP", _UNION), ("SEX_LIFE", _SEX), ("GENETIC_OR_BIOMETRIC_DATA", _GENES),
    )  # fmt: skip
    return [RuleRecognizer(entity, (phrase(words),), _about, hints(words)) for entity, words in groups]


def _about(text: str, start: int, end: int, artifacts: Any) -> float | None:
    if _NAMED_AFTER.match(text, end):
        return None
    return _CONFIDENCE if about_a_person(text, start, end, artifacts) else None
