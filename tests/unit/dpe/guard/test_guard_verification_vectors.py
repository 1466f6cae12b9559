"""The committed vectors of verified claims: votes, the page's count, the verdict (page, ADR 0127, 0229)."""

import json
from pathlib import Path

import pytest

from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.findings import Basis, Judgement, Verdict
from services.dpe.domain.guard.verification_signals import Signal, SignalKind, Signalled, Vote
from services.dpe.domain.guard.verification_votes import VerificationPolicy, by_count, decide
from tests.fakes.verified_claims import verified

FILE = Path(__file__).parents[3] / "vectors/guard/verification.json"
DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))


def vectors(what):
    return [
        pytest.param(item["input"], item["expected"], id=item["test_id"])
        for item in DOCUMENT["vectors"]
        if item["input"]["what"] == what
    ]


def signals(given):
    values = given.get("values", {"TRACEABILITY": given.get("traceability")})
    return tuple(
        Signal(kind, values.get(kind), Vote.NONE if given["votes"][kind] is None else Vote(given["votes"][kind]))
        for kind in SignalKind
    )


def test_the_vectors_are_numbered_and_say_where_they_are_from():
    ids = [item["test_id"] for item in DOCUMENT["vectors"]]
    assert ids == [f"verification-{number:03d}" for number in range(1, len(ids) + 1)]
    keys = {"test_id", "section", "level", "source", "input", "expected"}
    assert all(item.keys() == keys and "page" in item["section"] for item in DOCUMENT["vectors"])


@pytest.mark.parametrize(("given", "expected"), vectors("count"))
def test_the_pages_count(given, expected):
    found = by_count(signals(given), 0.4)
    assert (str(found.verdict), found.confidence) == (expected["verdict"], pytest.approx(expected["confidence"]))


@pytest.mark.parametrize(("given", "expected"), vectors("decide"))
def test_the_verdict(given, expected):
    claim = Claim("c1", "The rent is due.", 0, 16, 0, ClaimType.FACTUAL, 0.5)
    basis = given["basis"] and Basis(given["basis"])
    judgement = Judgement(Verdict(given["verdict"]), basis, given["support"], contradiction=given["contradiction"])
    deciding = frozenset(SignalKind(name) for name in given["deciding"])
    found = decide(Signalled(claim, judgement, signals(given), deciding, given["doubted"]), VerificationPolicy())
    assert str(found.verdict) == expected["verdict"]
    assert found.support == (None if expected["support"] is None else pytest.approx(expected["support"]))
    assert found.confidence == pytest.approx(expected["confidence"])


@pytest.mark.parametrize(("given", "expected"), vectors("signals"))
async def test_the_signals(given, expected):
    (text,) = (await verified(given["answer"], *given["sources"])).texts
    found = {signal.kind: signal for signal in text.claims[-1].signals}
    for kind, (value, vote) in expected.items():
        signal = found[SignalKind(kind)]
        assert (signal.value, str(signal.vote)) == (None if value is None else pytest.approx(value), vote)
