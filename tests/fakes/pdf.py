"""Made PDF files, drawn word for word where the test says; nothing here is read from anywhere."""

import io
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

PROSE = (
    "The policyholder reports every loss without delay and keeps the damaged things until they have been seen. "
    "Whoever sells the vehicle tells the insurer within two weeks. Repairs above the limit need consent in writing. "
    "A loss abroad is settled by the rules of this country unless the contract names others for it. "
)


def drawn(*pages: Callable[[Canvas], Any], size: tuple[float, float] = A4, **options: Any) -> bytes:
    """Return a file whose pages functions draw."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, **options)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def wrapped(text: str, width: float, font: str = "Helvetica", size: float = 10) -> list[str]:
    """Return a text in lines of at most a width."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    lines: list[str] = []
    for word in text.split():
        if lines and stringWidth(f"{lines[-1]} {word}", font, size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def write(
    canvas: Canvas,
    x: float,
    y: float,
    lines: Sequence[str],
    *,
    font: str = "Helvetica",
    size: float = 10,
    lead: float = 13,
) -> float:
    """Draw lines from the top and return where the next would stand."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(x, y, line)
        y -= lead
    canvas.setFont("Helvetica", 10)
    return y


def grid(
    canvas: Canvas, x: float, y: float, widths: Sequence[float], rows: Sequence[Sequence[str]], height: float = 18
) -> None:
    """Draw a table with all lines, ``y`` at its top."""
    total = sum(widths)
    for number in range(len(rows) + 1):
        canvas.line(x, y - number * height, x + total, y - number * height)
    at = x
    for width in (*widths, 0):
        canvas.line(at, y, at, y - len(rows) * height)
        at += width
    for number, row in enumerate(rows):
        at = x
        canvas.setFont("Helvetica-Bold" if number == 0 else "Helvetica", 10)
        for width, cell in zip(widths, row, strict=True):
            canvas.drawString(at + 4, y - number * height - 12, cell)
            at += width
    canvas.setFont("Helvetica", 10)


def raw_file(
    content: bytes,
    *,
    resources: bytes = b"",
    page: bytes = b"",
    catalog: bytes = b"",
    pages: bytes = b"[3 0 R]",
    count: bytes = b"1",
    more: Sequence[bytes] = (),
) -> bytes:
    """Return a file of one page that draws what ``content`` says; ``more`` are its objects from number 6."""
    stream = zlib.compress(content, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
        b"<</Type/Pages/Kids" + pages + b"/Count " + count + b">>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R" + page + b"/Resources<</Font<</F 5 0 R>>"
        + resources + b">>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n" % len(stream) + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *more,
    ]  # fmt: skip
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()
