"""The documents of ``bench.documents``: the tariff books of ``bench.ingestion``, written in every kind that is read."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from typing import Final

import docx
import openpyxl
import pptx
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, ListFlowable, Paragraph, SimpleDocTemplate, Table

from bench.ingestion import document

PAGE_CHARS: Final = 3_000
Part = tuple[str, list[str]]
"""Kind of a part ("title", "heading", "text", "lead", "list", "table") and its lines; cells stand between bars."""


def parts_of(pages: int) -> list[Part]:
    """Return what a corpus of so many pages says, in parts."""
    found: list[Part] = []
    written = number = 0
    while written < pages * PAGE_CHARS:
        text = document(number)
        written += len(text)
        number += 1
        found.extend(_part(block) for block in text.split("\n\n"))
    return found


def _part(block: str) -> Part:
    lines = block.splitlines()
    if block.startswith("# "):
        return "title", [block[2:]]
    if block.startswith("## "):
        return "heading", [block[3:]]
    if block.startswith("- "):
        return "list", [line[2:] for line in lines]
    if block.startswith("|"):
        return "table", [line.strip("|") for line in lines if "---" not in line]
    return "text", [block]


def cells_of(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of a table's lines."""
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def _markdown(parts: Sequence[Part]) -> bytes:
    written = []
    for kind, lines in parts:
        if kind == "table":
            rows = [f"| {' | '.join(row)} |" for row in cells_of(lines)]
            written.append("\n".join([rows[0], "|---|---|", *rows[1:]]))
        else:
            sign = {"title": "# ", "heading": "## ", "list": "- "}.get(kind, "")
            written.append("\n".join(f"{sign}{line}" for line in lines))
    return "\n\n".join(written).encode()


def _html(parts: Sequence[Part]) -> bytes:
    written = ["<!doctype html><html><head><title>Tariffs</title></head><body>"]
    for kind, lines in parts:
        match kind:
            case "title" | "heading":
                tag = "h1" if kind == "title" else "h2"
                written.append(f"<{tag}>{lines[0]}</{tag}>")
            case "list":
                written.append("<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>")
            case "table":
                head, *rows = cells_of(lines)
                body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
                written.append("<table><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + f"</tr>{body}</table>")
            case _:
                written.append(f"<p>{lines[0]}</p>")
    return "\n".join([*written, "</body></html>"]).encode()


def _pdf(parts: Sequence[Part]) -> bytes:
    styles, story = getSampleStyleSheet(), list[Flowable]()
    names = {"title": "Heading1", "heading": "Heading2"}
    for kind, lines in parts:
        if kind == "list":
            story.append(ListFlowable([Paragraph(line, styles["BodyText"]) for line in lines], bulletType="bullet"))
        elif kind == "table":
            story.append(Table(cells_of(lines), style=[("GRID", (0, 0), (-1, -1), 0.5, "black")]))
        else:
            story.append(Paragraph(lines[0], styles[names.get(kind, "BodyText")]))
    target = io.BytesIO()
    SimpleDocTemplate(target, pagesize=A4).build(story)
    return target.getvalue()


def _docx(parts: Sequence[Part]) -> bytes:
    book = docx.Document()
    for kind, lines in parts:
        if kind in {"title", "heading"}:
            book.add_heading(lines[0], 1 if kind == "title" else 2)
        elif kind == "table":
            rows = cells_of(lines)
            table = book.add_table(len(rows), len(rows[0]))
            for cells, row in zip(table.rows, rows, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
        else:
            for line in lines:
                book.add_paragraph(line, "List Bullet" if kind == "list" else None)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _pptx(parts: Sequence[Part]) -> bytes:
    show = pptx.Presentation()
    slide = None
    for kind, lines in parts:
        if kind in {"title", "heading"} or slide is None:
            slide = show.slides.add_slide(show.slide_layouts[1])
            slide.shapes.title.text = lines[0]
            continue
        frame = slide.placeholders[1].text_frame
        for line in lines:
            frame.add_paragraph().text = line
    target = io.BytesIO()
    show.save(target)
    return target.getvalue()


def _rows(parts: Sequence[Part]) -> list[list[str]]:
    rows, heading = list[list[str]](), ""
    for kind, lines in parts:
        heading = lines[0] if kind == "heading" else heading
        if kind in {"text", "list"}:
            rows.extend([heading, str(number), line] for number, line in enumerate(lines, 1))
    return rows


_HEAD: Final = ["Section", "Number", "Rule"]


def _xlsx(parts: Sequence[Part]) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Rules", 0)
    for row in [_HEAD, *_rows(parts)]:
        sheet.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _eml(parts: Sequence[Part]) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "desk@example.com", "members@example.com", "Tariffs"
    message["Date"] = "Mon, 02 Nov 2026 09:00:00 +0000"
    message.set_content(_text(parts).decode())
    return message.as_bytes()


def _rst(parts: Sequence[Part]) -> bytes:
    written = []
    for kind, lines in parts:
        if kind in {"title", "heading"}:
            written.append(f"{lines[0]}\n{('=' if kind == 'title' else '-') * len(lines[0])}")
        elif kind == "table":
            rows = "\n".join(f"   {','.join(row)}" for row in cells_of(lines))
            written.append(f".. csv-table::\n   :header-rows: 1\n\n{rows}")
        else:
            written.append("\n".join(f"- {line}" if kind == "list" else line for line in lines))
    return "\n\n".join(written).encode()


def _csv(parts: Sequence[Part]) -> bytes:
    target = io.StringIO()
    csv.writer(target).writerows([_HEAD, *_rows(parts)])
    return target.getvalue().encode()


def _json_lines(parts: Sequence[Part]) -> bytes:
    return "\n".join(json.dumps(dict(zip(_HEAD, row, strict=True))) for row in _rows(parts)).encode()


def _text(parts: Sequence[Part]) -> bytes:
    return "\n\n".join(
        "\n".join(f"- {line}" if kind == "list" else line for line in lines) for kind, lines in parts
    ).encode()


WRITERS: Final[dict[str, Callable[[Sequence[Part]], bytes]]] = {
    "html": _html,
    "md": _markdown,
    "pdf": _pdf,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "eml": _eml,
    "rst": _rst,
    "csv": _csv,
    "jsonl": _json_lines,
    "txt": _text,
}
