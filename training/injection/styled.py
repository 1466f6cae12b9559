"""Whole texts in many styles: attacks of every class, and benign texts beside them that look as hostile.

``styles.txt`` holds for each style (mail, page, code, data, record, chat, polite business prose, …) attacks and benign
texts, each written by itself. What of an attack's text is the attack stands between ``⟦`` and ``⟧``; without these the
whole text is. A style lies in one fold, so that what is measured is a style that was not learnt.
"""

from typing import Final

from training.injection.grammar import families
from training.injection.rows import Row

FILE: Final = "styles.txt"
SHARE: Final = "styled"
_MARKS: Final = str.maketrans("", "", "⟦⟧")


def styled_rows() -> list[Row]:
    """Return all texts; the number of its style is the fold of each.

    Raises:
        ValueError: a heading of the file names neither attacks nor benign texts.
    """
    found = families(FILE)
    styles = list(dict.fromkeys(name.partition(".")[2] for name in found))
    rows = list[Row]()
    for name, texts in found.items():
        label, _, style = name.partition(".")
        if label not in {"attack", "benign"}:
            raise ValueError(f"{FILE}: {name} is neither attack nor benign")
        rows += [_row(text, label == "attack", style, styles.index(style)) for text in texts]
    return rows


def _row(text: str, attack: bool, style: str, fold: int) -> Row:
    plain = text.replace("\\n", "\n")
    payload = plain.partition("⟦")[2].partition("⟧")[0]
    kind = f"{'attack' if attack else 'benign'}.{style}"
    return Row(plain.translate(_MARKS), attack, kind, style, fold, payload, SHARE)
