"""Source code: symbols as sections, comments and documentation as text."""

import pytest

from services.common.documents.reading import ReadingLimits, read_document

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def read(text, name, declared=""):
    return read_document(text.encode(), declared, name, LIMITS)


def kinds(text, name):
    return [(b.kind.name, b.level, b.text) for b in read(text, name).blocks]


PYTHON = '''#!/usr/bin/env python
"""Retries calls.

At most 5 tries are made.
"""

TIMEOUT = 30  # seconds

# The pool keeps
# ten connections.
class Pool:
    """Keeps connections."""

    def take(self):
        # never blocks
        return self.free.pop()


def main():
    pass
'''


def test_python():
    found = read(PYTHON, "pool.py")
    assert [(b.kind.name, b.level, b.text, b.place.path) for b in found.blocks] == [
        ("PARAGRAPH", 0, "Retries calls.", "line 2"),
        ("PARAGRAPH", 0, "At most 5 tries are made.", "line 4"),
        ("CODE", 0, "TIMEOUT = 30  # seconds", "line 7"),
        ("HEADING", 1, "class Pool", "line 11"),
        ("PARAGRAPH", 0, "The pool keeps ten connections.", "lines 9-10"),
        ("PARAGRAPH", 0, "Keeps connections.", "line 12"),
        ("CODE", 0, "class Pool:", "line 11"),
        ("HEADING", 2, "def take", "line 14"),
        ("PARAGRAPH", 0, "never blocks", "line 15"),
        ("CODE", 0, "    def take(self):\n        \n        return self.free.pop()", "lines 14-16"),
        ("HEADING", 1, "def main", "line 19"),
        ("CODE", 0, "def main():\n    pass", "lines 19-20"),
    ]
    assert (found.media_type, found.properties["language"]) == ("text/x-source", "Python")


C = """/*
 * Ring buffer of 16 places.
 */
#include <stdio.h>

// Adds a value.
int push(struct ring *r, int v)
{
    if (v) { printf("x"); } // says x
    return 0;
}
"""


def test_c():
    assert kinds(C, "ring.c") == [
        ("PARAGRAPH", 0, "Ring buffer of 16 places."),
        ("CODE", 0, "#include <stdio.h>"),
        ("HEADING", 1, "push"),
        ("PARAGRAPH", 0, "Adds a value."),
        ("CODE", 0, C[C.index("int push") :].strip()),
    ]


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        (
            "a.ts",
            "export class Cart {\n  add(i: Item) { x(); }\n}\nexport function pay() {}\n",
            ["class Cart", "function pay"],
        ),
        ("a.go", "package main\n\nfunc Pay() {}\n\ntype Cart struct {}\n", ["package main", "func Pay", "type Cart"]),
        ("a.rs", "pub struct Cart {}\nfn pay() {}\n", ["struct Cart", "fn pay"]),
        ("a.java", "class Cart {\n  void pay() { a(); }\n}\n", ["class Cart", "pay"]),
    ],
)
def test_symbols_of_other_languages(name, text, headings):
    assert [text for kind, _, text in kinds(text, name) if kind == "HEADING"] == headings


def test_the_language_by_declared_type_and_by_first_line():
    assert read("def a():\n    pass\n", "file", "text/x-python").properties["language"] == "Python"
    assert read("#!/bin/sh\n# Makes backups.\nls\n", "backup").blocks[0].text == "Makes backups."
