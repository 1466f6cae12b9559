"""A cut document crosses from one process to another as it is."""

import json

from services.common.documents.document import DoubtfulTable, HiddenText, Place
from services.common.documents.facts.draft import FactDraft, FactKind
from services.common.documents.wire import read_parts, write_parts
from services.common.ports.documents import CutDocument


def test_what_is_written_is_read():
    place = Place(2, (0.1, 0.2, 0.3, 0.4), "sheet A", 1, (2, 3), (1, 4))
    drafts = tuple(FactDraft(f"fact {number}", "# A", "p. 2", FactKind.RULE, place) for number in range(1_200))
    cut = CutDocument(
        "text/html",
        "Title",
        ("warned",),
        (*drafts, FactDraft("last", "", "")),
        (HiddenText("hidden", "style display:none", place), HiddenText("more", "comment")),
        ("foot",),
        "de",
        7,
        {"author": "A"},
        (DoubtfulTable("Rates", 3, 4, "why", place),),
    )
    parts = list(write_parts(cut))
    assert len(parts) == 4
    assert read_parts(json.loads(json.dumps(parts))) == cut
