"""Measure what libraries find of the labelled tables of PDF files, beside our own reader.

    python -m tools.compare_tables FINDER FOLDER [FOLDER ...]

FINDER is ``own`` or the name of a library and of its way: none of them is a dependency, so install the one that is
asked for beside the project first. Cells are counted as ``tools.evaluate_documents`` counts them: each labelled table
is compared with the produced one that shares most cells with it, at the same row and column. Time is processor time.
"""

import argparse
import importlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from evaluation.document_labels import read_labelled
from evaluation.documents import CELLS, LIMITS, Score, score_tables
from services.common.documents.document import Table
from services.common.documents.reading import read_document

_Grids = list[list[list[str]]]


def _own(path: Path) -> tuple[int, Iterable[Sequence[Sequence[str]]]]:
    document = read_document(path.read_bytes(), "", path.name, LIMITS)
    pages = max((block.place.page for block in document.blocks), default=1)
    return pages, [block.table.rows for block in document.blocks if block.table is not None]


def _pdfplumber(path: Path) -> tuple[int, _Grids]:
    lined = {"vertical_strategy": "lines", "horizontal_strategy": "lines"}
    text = {"vertical_strategy": "text", "horizontal_strategy": "text"}
    with importlib.import_module("pdfplumber").open(path) as document:
        grids = [grid for page in document.pages for way in (lined, text) for grid in page.extract_tables(way)]
        return len(document.pages), [_texts(grid) for grid in grids]


def _camelot(flavor: str) -> Callable[[Path], tuple[int, _Grids]]:
    def find(path: Path) -> tuple[int, _Grids]:
        found = importlib.import_module("camelot").read_pdf(str(path), pages="all", flavor=flavor, suppress_stdout=True)
        return _count_pages(path), [_texts(table.df.values.tolist()) for table in found]

    return find


def _img2table(path: Path) -> tuple[int, _Grids]:
    document = importlib.import_module("img2table.document").PDF(str(path))
    text = importlib.import_module("img2table.ocr.pdf").PdfOCR()
    found = document.extract_tables(ocr=text, implicit_rows=False, borderless_tables=True, min_confidence=1)
    tables = [table for page in found.values() for table in page]
    return _count_pages(path), [
        [[cell.value or "" for cell in row] for row in table.content.values()] for table in tables
    ]


def _pdf_oxide(path: Path) -> tuple[int, _Grids]:
    document = importlib.import_module("pdf_oxide").PdfDocument(str(path))
    pages = _count_pages(path)
    tables = [table for number in range(pages) for table in document.extract_tables(number)]
    return pages, [[[cell.get("text", "") for cell in row["cells"]] for row in table["rows"]] for table in tables]


def _tablers(path: Path) -> tuple[int, _Grids]:
    library = importlib.import_module("tablers")
    document = library.Document(str(path))
    grids: _Grids = []
    for page in document.pages():
        for way in ("lines", "text"):
            found = library.find_tables(page, extract_text=True, vertical_strategy=way, horizontal_strategy=way)
            grids += [_texts([[cell.text for cell in row] for row in table.to_list()]) for table in found]
    return _count_pages(path), grids


def _texts(grid: Iterable[Iterable[Any]]) -> list[list[str]]:
    return [[str(cell or "").replace("\n", " ") for cell in row] for row in grid]


def _count_pages(path: Path) -> int:
    return len(importlib.import_module("pypdfium2").PdfDocument(path))


FINDERS: Final[dict[str, Callable[[Path], tuple[int, Iterable[Sequence[Sequence[str]]]]]]] = {
    "own": _own,
    "pdfplumber": _pdfplumber,
    "camelot-stream": _camelot("stream"),
    "camelot-network": _camelot("network"),
    "camelot-hybrid": _camelot("hybrid"),
    "img2table": _img2table,
    "pdf_oxide": _pdf_oxide,
    "tablers": _tablers,
}


def main() -> None:
    """Read the arguments, measure each folder, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("finder", choices=FINDERS)
    parser.add_argument("folder", type=Path, nargs="+")
    arguments = parser.parse_args()
    for folder in arguments.folder:
        score, pages, seconds, failed = Score(), 0, 0.0, 0
        for labelled in read_labelled(folder):
            if labelled.path.suffix != ".pdf":
                continue
            start = time.process_time()
            try:
                count, grids = FINDERS[arguments.finder](labelled.path)
            except Exception as error:  # noqa: BLE001  # a library that fails at one file is told, not hidden
                print(f"{labelled.path.name}: {type(error).__name__}: {error}")
                count, grids, failed = _count_pages(labelled.path), [], failed + 1
            seconds += time.process_time() - start
            pages += count
            tables = [Table(tuple(tuple(row) for row in grid), 0, 0, "", frozenset(), ()) for grid in grids]
            score_tables(score, labelled.tables, tables)
        share = score.rights[CELLS] / max(score.wholes[CELLS], 1)
        speed = pages / max(seconds, 1e-9)
        print(f"{arguments.finder} {folder.name}: cells {share:.3f}, {speed:.1f} pages/s, {failed} failed")


if __name__ == "__main__":
    main()
