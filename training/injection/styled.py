"""Whole texts in many styles: attacks of every class, and benign texts beside them that look as hostile.

Each file is by another hand, and holds for each style (mail, page, code, data, record, chat, polite business prose, …)
attacks and benign texts, each written by itself. What of an attack's text is the attack stands between ``⟦`` and ``⟧``;
without these the whole text is. A style lies in one fold, so that what is measured is a style that was not learnt.
"""

from typing import Final

from training.injection.grammar import families
from training.injection.rows import Row

FILES: Final = (
    "styles.txt",
    "styles_business.txt",
    "styles_public.txt",
    "styles_prompts.txt",
    "styles_technical.txt",
    "styles_letters.txt",
    "styles_everyday.txt",
    "styles_kept.txt",
)
SHARE: Final = "styled"
_MARKS: Final = str.maketrans("", "", "⟦⟧")


def styled_rows() -> list[Row]:
    """Return all texts; the number of its style is the fold of each.

    Raises:
        ValueError: a heading of a file names neither attacks nor benign texts.
    """
    rows = list[Row]()
    folds: dict[str, int] = {}
    for file in FILES:
        for name, texts in families(file).items():
            label, _, style = name.partition(".")
            if label not in {"attack", "benign"}:
                raise ValueError(f"{file}: {name} is neither attack nor benign")
            fold = folds.setdefault(style, len(folds))
            rows += [_row(text, label == "attack", style, fold) for text in texts]
    return rows


def _row(text: str, attack: bool, style: str, fold: int) -> Row:
    plain = text.replace("\\n", "\n")
    payload = plain.partition("⟦")[2].partition("⟧")[0]
    kind = f"{'attack' if attack else 'benign'}.{style}"
    return Row(plain.translate(_MARKS), attack, kind, style, fold, payload, SHARE)
