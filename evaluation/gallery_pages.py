"""Documents as a person sees them, as small PNG files: drawn once, with programs that are no part of the project.

PDF by PDFium; HTML, and the HTML part of a mail below its heads, by the command ``weasyprint``; Office files by
``soffice``. The pages stand below each other, without the blank below the last line.
"""

import email
import html
import subprocess
import tempfile
from email import policy
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import Image

from evaluation.document_labels import LabelledDocument

PAGES: Final = Path("tests/documents/pages")
WIDTH_PX: Final = 700
_COLOURS: Final = 24
_MARGIN_PX: Final = 22
_BETWEEN_PX: Final = 3
_BLANK: Final = 248
_SHEET: Final = "@page { size: 140mm 420mm; margin: 6mm }"
_HEADS: Final = ("From", "To", "Cc", "Date", "Subject")


def draw_page(labelled: LabelledDocument) -> Path:
    """Write the picture of a document's labelled pages; return where.

    Raises:
        CalledProcessError, FileNotFoundError: a program failed, or is not installed.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        pypdfium2.PdfDocument(_as_pdf(labelled.path, Path(scratch))) as document,
    ):
        first, last = labelled.pages or (1, len(document))
        sheets = [_cropped(document[number - 1]) for number in range(first, last + 1)]
    width = max(sheet.width for sheet in sheets)
    gaps = _BETWEEN_PX * (len(sheets) - 1)
    whole = Image.new("RGB", (width, sum(sheet.height for sheet in sheets) + gaps), "gray")
    y = 0
    for sheet in sheets:
        whole.paste(sheet, (0, y))
        y += sheet.height + _BETWEEN_PX
    PAGES.mkdir(exist_ok=True)
    file = PAGES / f"{labelled.path.name}.png"
    whole.quantize(_COLOURS).save(file, optimize=True)
    return file


def _as_pdf(path: Path, scratch: Path) -> Path:
    if path.suffix == ".pdf":
        return path
    drawn = scratch / f"{path.stem}.pdf"
    if path.suffix in {".html", ".eml"}:
        page, sheet = scratch / "page.html", scratch / "sheet.css"
        page.write_text(_mail(path) if path.suffix == ".eml" else path.read_text(encoding="utf-8"), encoding="utf-8")
        sheet.write_text(_SHEET, encoding="utf-8")
        command = ["weasyprint", "--quiet", "--presentational-hints", "-s", str(sheet), str(page), str(drawn)]
    else:
        command = ["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(scratch), str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return drawn


def _mail(path: Path) -> str:
    message = email.message_from_bytes(path.read_bytes(), policy=policy.default)
    heads = (f"<div><b>{name}:</b> {html.escape(str(message[name]))}</div>" for name in _HEADS if message[name])
    body = message.get_body(("html",))
    return "".join(heads) + "<hr>" + (str(body.get_content()) if body else "")


def _cropped(page: pypdfium2.PdfPage) -> Image.Image:
    """Return a page without its blank borders: a little wider than what stands on it."""
    image: Image.Image = page.render(scale=2 * WIDTH_PX / page.get_width()).to_pil().convert("RGB")
    box = image.convert("L").point([255 * (shade < _BLANK) for shade in range(256)]).getbbox()
    left, top, right, bottom = box or (0, 0, *image.size)
    edge = 2 * _MARGIN_PX
    image = image.crop((max(0, left - edge), max(0, top - edge), min(image.width, right + edge), bottom + edge))
    return image.resize((WIDTH_PX, round(image.height * WIDTH_PX / image.width)), Image.Resampling.LANCZOS)
