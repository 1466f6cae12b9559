"""Made PDF files, drawn word for word where the test says; nothing here is read from anywhere."""

import io
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
    canvas: Canvas, x: float, y: float, lines: Sequence[str], *, font: str = "Helvetica", size: float = 10, lead: float = 13
) -> float:
    """Draw lines from the top and return where the next would stand."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(x, y, line)
        y -= lead
    canvas.setFont("Helvetica", 10)
    return y


def grid(canvas: Canvas, x: float, y: float, widths: Sequence[float], rows: Sequence[Sequence[str]], height: float = 18) -> None:
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
