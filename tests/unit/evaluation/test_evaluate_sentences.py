"""``python -m tools.evaluate_sentences``: figures, files, and the two baselines (ADR 0118)."""

import gzip
import io
import json
import tarfile

import numpy as np
import pytest

from tools.evaluate_sentences import figures, rows_of, table
from training.sentence_baselines import (
    best_threshold,
    fit_bag,
    kinds_by_readers,
    relation_by_readers,
    words_of_couple,
)
from training.sentence_heads import Couple, SentenceDataError, Single

SINGLE = {"text": "Suppose n is even.", "kinds": ["assumption"], "domain": "maths"}
COUPLE = {"first": "n is even.", "second": "n is odd.", "relation": "contradicts", "domain": "maths"}


def test_precision_recall_and_f1_by_name_and_together():
    truth = np.array([[True, False], [True, False], [False, False], [False, True]])
    said = np.array([[True, False], [False, False], [True, False], [False, True]])
    found = figures(truth, said, ("order", "result"))
    assert found["order"] == {"rows": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert found["result"] == {"rows": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert found["all"] == {"rows": 3, "precision": 0.667, "recall": 0.667, "f1": 0.667}
    nothing = figures(truth[:, :1], np.zeros((4, 1), dtype=bool), ("order",))["order"]
    assert (nothing["precision"], nothing["recall"], nothing["f1"]) == (None, 0.0, 0.0)
    shown = table("kinds", dict.fromkeys(("decided", "heads at best F1", "readers alone", "bag of words"), found))
    assert shown.row_count == 3


def test_lines_archives_and_gzip_are_read_alike(tmp_path):
    lines = "".join(json.dumps(each) + "\n" for each in (SINGLE, COUPLE)).encode()
    plain, packed, archive = (tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.tar.gz"))
    plain.write_bytes(lines)
    packed.write_bytes(gzip.compress(lines))
    with tarfile.open(archive, "w:gz") as made:
        member = tarfile.TarInfo("test/part/singles.jsonl")
        member.size = len(lines)
        made.addfile(member, io.BytesIO(lines))
    for path in (plain, packed, archive):
        assert rows_of([path]) == (
            [Single("Suppose n is even.", ("assumption",), "maths")],
            [Couple("n is even.", "n is odd.", "contradicts", "maths")],
        )
    plain.write_text('{"text": "A", "kinds": ["poem"]}\n', encoding="utf-8")
    with pytest.raises(SentenceDataError, match="poem"):
        rows_of([plain])


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("The valve is closed before the pump starts.", {"order"}),
        ("It is closed because the pump leaks badly.", {"justification"}),
        ("If the pump leaks, it is closed.", {"condition"}),
        ("Suppose the pump leaks.", {"assumption"}),
        ("Hence n is odd.", {"result"}),
        ("The pump is red.", set()),
    ],
)
def test_what_the_readers_take_a_sentence_for(sentence, kinds):
    assert kinds <= kinds_by_readers(Single(sentence, (), "plan"))
    if not kinds:
        assert kinds_by_readers(Single(sentence, (), "plan")) == frozenset()


def test_what_the_readers_take_a_pair_for():
    clash = Couple("The tank holds 5 litres.", "The tank holds 7 litres.", "contradicts", "plan")
    assert relation_by_readers(clash) == {"contradicts"}
    reason = Couple("The road is closed.", "This is because the bridge has fallen.", "justifies", "plan")
    assert relation_by_readers(reason) == {"justifies"}
    assert relation_by_readers(Couple("The tank is red.", "The road is long.", "none", "plan")) == frozenset()


def test_a_bag_of_words_learns_words_and_its_threshold():
    texts = [frozenset({"hence", f"w{at % 5}"} if at % 3 == 0 else {"the", f"w{at % 5}"}) for at in range(84)]
    truth = np.array([[at % 3 == 0] for at in range(84)])
    bag = fit_bag(texts, [f"d{at % 7}" for at in range(84)], truth)
    assert (bag.answers(texts) == truth).all()
    assert best_threshold(np.array([True, False, True]), np.array([0.9, 0.5, 0.6])) == 0.6
    couple = Couple("Stop now.", "Go now.", "none", "plan")
    assert {"1stop", "2go", "1now", "2now"} <= words_of_couple(couple)
