"""Draw documents of the gallery with the facts that the former readers made of them, and those of today's.

    python -m tools.draw_gallery [--pages] [--check]

Writes docs/pictures/documents/NAME.EXT.svg for five documents of tests/documents/dev: left the document as a person
sees it, then the recorded facts of tests/documents/former.json (tools/former_facts.py made them), then what today's
readers make of it. Each fact is judged by the labels that stand beside the document.
"""

import argparse
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.gallery import former_reading, former_readings, read_shown, todays_reading
from evaluation.gallery_pages import PAGES, draw_page
from evaluation.gallery_picture import Shown, draw
from services.common.adapters.tokens.counter import open_counter_of
from services.common.settings.envelope import EnvelopeSettings

PICTURES: Final = Path("docs/pictures/documents")


def pictures() -> Iterator[tuple[Path, str]]:
    """Yield each picture with its place."""
    counts = open_counter_of(EnvelopeSettings().tokenizer_model, (), 1.0)
    record = former_readings()
    for labelled in read_shown():
        name = labelled.path.name
        today = todays_reading(labelled, lambda text: counts([text])[0])
        page = (PAGES / f"{name}.png").read_bytes()
        shown = Shown(name, page, former_reading(labelled, record), today, record["commit"])
        yield PICTURES / f"{name}.svg", draw(shown)


def main() -> None:
    """Read the arguments, write the pictures or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", action="store_true", help="draw the documents anew too (weasyprint, soffice)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a picture is another one")
    options = parser.parse_args()
    if options.pages:
        for labelled in read_shown():
            try:
                print(draw_page(labelled))
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                parser.error(f"{labelled.path.name} cannot be drawn: {error}")
    for path, picture in pictures():
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(picture, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != picture:
            parser.error(f"{path} is not what is drawn today: run `python -m tools.draw_gallery`")
        print(path)


if __name__ == "__main__":
    main()
