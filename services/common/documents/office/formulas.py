"""Formulas of Office documents (ISO/IEC 29500-1 §22.1) in one line: ``x^2``, ``(a + b)/(c)``, ``sqrt(x)``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def formula_text(formula: Any) -> str:
    """Return a formula in one line."""
    name = _local(formula)
    if name == "t":
        return formula.text or ""
    children = [child for child in formula if isinstance(child.tag, str) and not _local(child).endswith("Pr")]
    written = _WRITTEN.get(name)
    if written is None:
        return "".join(formula_text(child) for child in children)
    return written({_local(child): formula_text(child) for child in children})


def _local(element: Any) -> str:
    return str(element.tag).removeprefix(MATH)


def _grouped(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"


_WRITTEN: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    "sSup": lambda parts: f"{parts.get('e', '')}^{_grouped(parts.get('sup', ''))}",
    "sSub": lambda parts: f"{parts.get('e', '')}_{_grouped(parts.get('sub', ''))}",
    "f": lambda parts: f"{_grouped(parts.get('num', ''))}/{_grouped(parts.get('den', ''))}",
    "rad": lambda parts: f"sqrt({parts.get('e', '')})",
    "d": lambda parts: f"({parts.get('e', '')})",
}
