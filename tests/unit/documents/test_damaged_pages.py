"""Pages that are damaged in any way are read: tables are grids, our own marks are gone, and twice is the same."""

import random

import pytest

from services.common.documents.facts.chunking import chunk
from services.common.documents.html import read_html
from services.common.documents.markdown import read_markdown
from tests.unit.documents.test_gallery import LABELLED

PIECES = (
    *("<td>", "</td>", "<table>", "</table>", "<tr>", "<th rowspan=3>", "<td colspan=4>", "<caption>", "<li>", "</li>"),
    *(
        "<ol>",
        "</ul>",
        "<sup>",
        "</sup>",
        "<sub>",
        "<dl>",
        "<dt>",
        "<dd>",
        "<details>",
        "<summary>",
        "<figure>",
        "<pre>",
    ),
    *(
        "<h2>",
        "</div>",
        "<p hidden>",
        "<a href='#x'>",
        "<p id=x>",
        "<br>",
        "<del>",
        "<b>",
        "\ue000",
        "\ue001",
        "\ue005",
    ),
)


def damaged(text, chance):
    letters = list(text)
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(letters))
        match chance.randrange(3):
            case 0:
                del letters[at : at + chance.randint(1, 60)]
            case 1:
                letters.insert(at, chance.choice(PIECES))
            case _:
                other = chance.randrange(len(letters))
                letters[at:at] = letters[other : other + 200]
    return "".join(letters)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_pages_are_read(seed):
    chance = random.Random(seed)
    pages = [one.path.read_text(encoding="utf-8") for one in LABELLED]
    for _ in range(12):
        page = damaged(chance.choice(pages), chance)
        read = chance.choice((read_html, read_html, read_markdown))
        document = read(page)
        assert document == read(page)
        for block in document.blocks:
            assert not any("\ue000" <= letter <= "\ue00f" for letter in block.text + block.term)
            assert block.table is None or len({len(row) for row in block.table.rows}) == 1
        drafts = chunk(document, lambda text: len(text.split()))
        assert len({(draft.section, draft.content) for draft in drafts}) == len(drafts)
