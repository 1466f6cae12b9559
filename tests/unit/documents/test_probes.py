"""Documents that the readers' author made to break them, by many writing programs, read as they are labelled."""

from pathlib import Path
from typing import Final

from evaluation.document_labels import read_labelled
from evaluation.documents import APART, CELLS, FURNITURE, HIDDEN, ORDER, TOGETHER, score_document
from tests.each import each

PROBES: Final = list(read_labelled(Path(__file__).resolve().parents[2] / "documents" / "probes"))
KNOWN: Final = {
    ("carriage.pdf", TOGETHER): 2,  # notes in the margin are read with the line beside them
    ("forward_lease.eml", TOGETHER): 1,  # who wrote the mail itself is a fact of its own
    ("group_accounts.pdf", CELLS): 2,  # empty cells above names of columns repeat them
    ("wiki_release.html", CELLS): 1,  # the items of a list in a cell stand beside each other
    ("wiki_release.html", FURNITURE): 1,
}
"""What is still wrong, by document and measure."""


@each("labelled", PROBES, ids=lambda one: one.path.name)
def test_a_probe_is_read_as_a_person_reads_it(labelled):
    score = score_document(labelled, lambda text: len(text.split()))
    assert score.unread == 0
    measures = (CELLS, ORDER, TOGETHER, HIDDEN, FURNITURE, APART)
    wrong = {name: score.wrong(name) for name in measures if score.wrong(name)}
    known = {measure: count for (name, measure), count in KNOWN.items() if name == labelled.path.name}
    assert wrong == known, score.misses


def test_there_are_probes_of_many_kinds():
    assert len(PROBES) >= 35
    assert {one.path.suffix for one in PROBES} >= {".pdf", ".html", ".docx", ".xlsx", ".eml", ".csv"}
    assert sum(len(table.grid) * len(table.grid[0]) for one in PROBES for table in one.tables) > 800
