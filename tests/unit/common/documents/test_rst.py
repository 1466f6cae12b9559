"""reStructuredText by docutils: structure kept, comments apart, nothing included."""

from services.common.documents.reading import ReadingLimits, read_document

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def read(text):
    return read_document(text.encode(), "", "a.rst", LIMITS)


def kinds(text):
    return [(b.kind.name, b.level, b.number, b.term, b.text) for b in read(text).blocks]


TITLED = """Guide
=====

:Author: Ann
:Applies to: C8,
   C16

Intro with |max| and H\\ :sub:`2`\\ O at 10\\ :sup:`6` Pa. [#f]_

.. |max| replace:: 30 V
.. a remark for writers

Part
----

3. third
#. fourth::

      code here

   more of it

   a) inner

term
    said once

    said twice

.. note:: Mind the gap.

.. [#f] A footnote.
"""


def test_structure():
    found = read(TITLED)
    assert found.title == "Guide"
    assert kinds(TITLED) == [
        ("HEADING", 1, "", "", "Guide"),
        ("DEFINITION", 0, "", "Author", "Ann"),
        ("DEFINITION", 0, "", "Applies to", "C8, C16"),
        ("PARAGRAPH", 0, "", "", "Intro with 30 V and H2O at 10^6 Pa."),
        ("HEADING", 2, "", "", "Part"),
        ("LIST_ITEM", 0, "3.", "", "third"),
        ("LIST_ITEM", 0, "4.", "", "fourth:"),
        ("CODE", 0, "", "", "code here"),
        ("PARAGRAPH", 0, "", "", "more of it"),
        ("LIST_ITEM", 1, "a)", "", "inner"),
        ("DEFINITION", 0, "", "term", "said once"),
        ("DEFINITION", 0, "", "term", "said twice"),
        ("PARAGRAPH", 0, "", "", "Note: Mind the gap."),
        ("FOOTNOTE", 0, "1", "", "A footnote."),
    ]
    assert [(one.text, one.why) for one in found.hidden] == [("a remark for writers", "comment")]
    assert found.blocks[3].notes == ((35, "1"),)
    assert [block.within for block in found.blocks[7:9]] == [1, 1]
    assert found.properties["author"] == "Ann"


TABLE = """
.. list-table:: Runs
   :header-rows: 1
   :stub-columns: 1

   * - Wire
     - Length
   * - 0.5
     - 90

+-----+-----------+
| A   | B         |
|     +-----+-----+
|     | b1  | b2  |
+=====+=====+=====+
| x   | 1   | 2   |
+-----+-----+-----+
"""


def test_tables():
    first, second = [block.table for block in read(TABLE).blocks]
    assert (first.caption, first.header_rows, first.header_columns) == ("Runs", 1, 1)
    assert first.rows == (("Wire", "Length"), ("0.5", "90"))
    assert second.rows == (("A", "B", "B"), ("A", "b1", "b2"), ("x", "1", "2"))
    assert (second.header_rows, second.spanned) == (2, {(0, 2), (1, 0)})


def test_what_docutils_does_not_know_is_text_and_is_forgotten_afterwards():
    from docutils.parsers.rst import directives, roles

    text = "Use :class:`~pool.Pool` and :ref:`the guide <guide>`.\n\n.. versionadded:: 3.1\n   Works with *both*.\n"
    assert [block.text for block in read(text).blocks] == ["Use pool.Pool and the guide.", "3.1 Works with both."]
    assert "versionadded" not in directives._directives
    assert "class" not in roles._roles


def test_nothing_is_included_and_raw_parts_are_left_out(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("password")
    text = f"Text.\n\n.. include:: {secret}\n\n.. raw:: html\n\n   <b>raw</b>\n\n.. csv-table::\n   :file: {secret}\n"
    found = " ".join(block.text for block in read(text).blocks)
    assert "Text." in found
    assert "password" not in found
    assert "raw</b>" not in found
