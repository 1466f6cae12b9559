"""``python -m evaluation.guard.claims``: parts of documents, what each system says, figures that can be worked out."""

import json

import numpy as np
import pytest

from evaluation.contexts import sources
from evaluation.guard import claims
from evaluation.guard.claim_rows import CALIBRATE, REPORT, LabelledText
from evaluation.guard.claims import COUNTED, ENGINE, RECALL, SHIPPED, Verified, figures, parts_of, predictions, run
from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.findings import Basis, Judgement, Verdict
from services.dpe.domain.guard.verification_signals import Signal, SignalKind, Signalled, Vote
from services.dpe.domain.guard.verification_votes import VerificationPolicy

SOURCE = "Late payment costs 15 euros."


def text(number, text="Late payment costs 15 euros.", *, dataset="pairs", fold="", supported=True):
    return LabelledText(f"{number}", dataset, fold, f"document {number}", (SOURCE,), text, "", supported)


def verified(labelled, verdict, support, vote):
    claim = Claim("c1", labelled.text, 0, len(labelled.text), 0, ClaimType.FACTUAL, 0.5)
    signals = tuple(Signal(kind, 1.0, vote) for kind in SignalKind)
    item = Signalled(claim, Judgement(verdict, Basis.GROUNDING, support), signals)
    return Verified(labelled, (item,), verdict is Verdict.SUPPORTED, support)


def rows_of(count=10, **given):
    """Return as many true texts as false ones; the engine is right about all, the votes support everything."""
    true = [verified(text(n, **given), Verdict.SUPPORTED, 0.6, Vote.SUPPORTS) for n in range(count)]
    false = [
        verified(
            text(count + n, "Nobody ever pays.", supported=False, **given), Verdict.UNSUPPORTED, 0.9, Vote.SUPPORTS
        )
        for n in range(count)
    ]
    return [*true, *false]


def test_documents_are_dealt_to_five_parts_and_sets_with_folds_are_one():
    texts = [text(number) for number in range(7)] + [text(9, dataset="wice", fold=REPORT)]
    assert parts_of(texts) == [1, 2, 3, 4, 5, 1, 2, 0]


def test_the_engines_verdict_decides_what_the_votes_do_not_see():
    rows = rows_of()
    found = predictions(rows, VerificationPolicy(), [])
    assert found[SHIPPED] == [(True, 0.6)] * 10 + [(False, 0.499)] * 10
    assert found[ENGINE] == [(True, 0.6)] * 10 + [(False, 0.9)] * 10
    assert [supported for supported, _ in found[COUNTED]] == [True] * 20
    assert [supported for supported, _ in found[RECALL]] == [True] * 10 + [False] * 10
    (measured,) = figures(rows, VerificationPolicy(), [])
    assert (measured["set"], measured["texts"], measured["supported"]) == ("pairs", 20, 10)
    balanced = {name: one["balanced_accuracy"] for name, one in measured["systems"].items()}
    assert balanced == {SHIPPED: 1.0, COUNTED: 0.5, ENGINE: 1.0, RECALL: 1.0}
    assert (measured["systems"][SHIPPED]["auroc"], measured["systems"][ENGINE]["auroc"]) == (1.0, 0.0)


def test_it_is_told_by_how_much_it_is_above_the_engine():
    labels = np.array([True] * 40 + [False] * 40)
    engine = np.array([1.0] * 20 + [0.0] * 20 + [0.0] * 40)
    own = np.array([1.0] * 30 + [0.0] * 10 + [0.0] * 40)
    found = claims.against_engine(own, engine, labels)
    assert found["difference"] == pytest.approx(0.125)
    assert 0 < found["low"] < 0.125 < found["high"] < 0.25
    assert claims.against_engine(engine, engine, labels) == {"difference": 0.0, "low": 0.0, "high": 0.0}
    with pytest.raises(ValueError, match="that are true and claims that are not"):
        claims.against_engine(own[:40], engine[:40], labels[:40])


def test_a_page_is_one_source_and_passages_are_many():
    lines = ("Late payment", "costs 15 euros.")
    assert sources("wice", lines) == ("Late payment\ncosts 15 euros.",)
    assert sources("attributionbench", lines) == lines


def test_the_rules_threshold_of_a_set_with_folds_is_that_of_calibrate():
    rows = rows_of(dataset="wice", fold=REPORT)
    known = [
        text("t", dataset="wice", fold=CALIBRATE),
        text("f", "Nobody pays.", dataset="wice", fold=CALIBRATE, supported=False),
    ]
    found = predictions(rows, VerificationPolicy(), known)
    assert [supported for supported, _ in found[RECALL]] == [True] * 10 + [False] * 10
    assert predictions(rows, VerificationPolicy(), [])[RECALL] == [(False, 0.0)] * 20


@pytest.mark.parametrize(("fold", "expected"), [("report", {"", "report"}), ("calibrate", {"", "calibrate"})])
def test_one_fold_is_asked_about(monkeypatch, capsys, tmp_path, fold, expected):
    texts = [text("p"), text("r", dataset="wice", fold=REPORT), text("c", dataset="wice", fold=CALIBRATE)]
    asked = []

    async def verify(_, __, given):
        asked.extend(given)
        return []

    monkeypatch.setattr(claims, "read_texts", lambda *_: texts)
    monkeypatch.setattr(claims, "verify_all", verify)
    monkeypatch.setenv("GROUNDTRAIL_EVAL_DATA", str(tmp_path))
    assert run(["--fold", fold, "--json"]) == 0
    assert {one.fold for one in asked} == expected
    assert json.loads(capsys.readouterr().out) == {"figures": []}
