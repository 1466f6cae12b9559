"""Office files for tests: made with the libraries, changed where a library cannot make what a program does."""

import io
import zipfile

import docx
import openpyxl
import pptx
from pptx.util import Inches


def saved(thing):
    """Return the bytes of a document, presentation or workbook."""
    buffer = io.BytesIO()
    thing.save(buffer)
    return buffer.getvalue()


def rewritten(content, parts=None, replace=None, compression=zipfile.ZIP_DEFLATED):
    """Return a package with further parts, and with texts of parts replaced.

    Args:
        content: of the package.
        parts: bytes or text by name.
        replace: by name of a part, (old, new) texts.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for info in old.infolist():
            data = old.read(info)
            for before, after in (replace or {}).get(info.filename, ()):
                assert before.encode() in data, (info.filename, before)
                data = data.replace(before.encode(), after.encode())
            if info.filename not in (parts or {}):
                new.writestr(info.filename, data)
        for name, data in (parts or {}).items():
            new.writestr(name, data)
    return buffer.getvalue()


def word(*texts):
    """Return a Word document of paragraphs."""
    document = docx.Document()
    for text in texts or ("A sentence that stands in the document.",):
        document.add_paragraph(text)
    return saved(document)


def slides(*titles):
    """Return a presentation of slides with titles and a sentence."""
    show = pptx.Presentation()
    for title in titles or ("A title that stands on a slide",):
        shapes = show.slides.add_slide(show.slide_layouts[5]).shapes
        shapes.title.text = title
        box = shapes.add_textbox(Inches(1), Inches(2), Inches(6), Inches(1))
        box.text_frame.text = f"The sentence of {title} stands on this slide and nowhere else."
    return saved(show)


def workbook(rows=(("Name", "Price"), ("Bolt", 2))):
    """Return a workbook of one sheet."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return saved(book)
