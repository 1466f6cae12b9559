"""The development half of the gallery: pages and Markdown are read as the people saw them who labelled them."""

from pathlib import Path

import pytest

from evaluation.document_labels import read_labelled
from evaluation.documents import APART, CELLS, FURNITURE, HIDDEN, ORDER, TOGETHER, score_document

DEVELOPMENT = Path(__file__).resolve().parents[2] / "documents" / "dev"
LABELLED = [one for one in read_labelled(DEVELOPMENT) if one.path.suffix in {".html", ".md"}]


@pytest.mark.parametrize("labelled", LABELLED, ids=lambda one: one.path.name)
def test_what_people_see_is_read(labelled):
    score = score_document(labelled, lambda text: len(text.split()))
    assert score.unread == 0
    wrong = {name: score.wrong(name) for name in (CELLS, HIDDEN, FURNITURE, APART, TOGETHER)}
    assert not any(wrong.values()), score.misses
    # a table within a cell stands after its table, not within it
    assert score.wrong(ORDER) <= 1


def test_there_are_documents():
    assert len(LABELLED) >= 12
