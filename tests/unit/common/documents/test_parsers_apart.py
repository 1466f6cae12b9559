"""Processes that have documents read load no parser: they take memory there, and what they meet is hostile."""

import subprocess
import sys

PARSERS = ("selectolax", "pypdfium2", "markdown_it", "tinycss2", "docx", "pptx", "openpyxl", "docutils", "pygments")


def loaded_with(module: str) -> set[str]:
    program = f"import sys, {module}; print(*(name for name in {PARSERS} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_whoever_has_documents_read_loads_no_parser() -> None:
    assert loaded_with("services.common.documents.cutting") == set()


def test_whoever_reads_them_does() -> None:
    assert {"selectolax", "pypdfium2"} <= loaded_with("services.common.documents.reading")
