"""reStructuredText, by docutils: its tree walked; nothing is included from files or the network.

Kept: headings, lists with their numbers, definitions, fields, tables with spans, captions, notes, code, substitutions,
what stands in directives and roles that docutils does not know (those of Sphinx). Hidden: comments. Lost: raw parts of
other formats.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en as directive_names

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, HiddenText, Place, Table, first_heading
from services.common.documents.marks import NOTE, plain_of
from services.common.documents.notes import settle
from services.common.documents.numerals import letters, roman
from services.common.documents.refusals import refusing_damage
from services.common.documents.shifts import lowered, raised
from services.common.documents.wording import collapse

_KIND: Final = "reStructuredText"
_SETTINGS: Final = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "line_length_limit": 1_000_000,
    "_disable_config": True,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "output_encoding": "unicode",
    "warning_stream": False,
    "doctitle_xform": True,
    "sectsubtitle_xform": False,
}
_DIRECTIVE: Final = re.compile(r"^[ \t]*+\.\. (?:\|[^|\n]++\| )?([a-zA-Z][\w:.+-]{0,60})::", re.MULTILINE)
_ROLE: Final = re.compile(r"(?<![\w`]):([a-zA-Z][\w:.+-]{0,60}):`")
_TARGET: Final = re.compile(r"(?<!\s)\s*+<[^<>]*+>\Z")
_MAX_UNKNOWN: Final = 500
_ENUMERATIONS: Final[Mapping[str, Callable[[int], str]]] = {
    "arabic": str,
    "loweralpha": letters,
    "upperalpha": lambda number: letters(number).upper(),
    "lowerroman": roman,
    "upperroman": lambda number: roman(number).upper(),
}
_SKIPPED: Final = (
    nodes.raw,
    nodes.system_message,
    nodes.substitution_definition,
    nodes.target,
    nodes.pending,
    nodes.meta,
)
_NAMED: Final = (
    *(nodes.attention, nodes.caution, nodes.danger, nodes.error, nodes.hint, nodes.important, nodes.note),
    *(nodes.tip, nodes.warning),
)


class _Content(Directive):  # type: ignore[misc]
    """A directive that docutils does not know: its argument and what it holds are text."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = None

    def run(self) -> list[nodes.Node]:
        held = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, held)
        if self.arguments:
            texts, _ = self.state.inline_text(self.arguments[0], self.lineno)
            held.insert(0, nodes.paragraph(self.arguments[0], "", *texts))
        return [held]


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, **more: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return what a role that docutils does not know shows: its text, without the target that it names."""
    del name, lineno, inliner, more
    shown = _TARGET.sub("", text) or text
    return [nodes.inline(rawtext, shown.lstrip("~!"))], []


def read_rst(text: str) -> Document:
    """Parse reStructuredText.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: the parser fails on it.
        LimitExceededError: MESSAGE_TOO_LARGE: nested too deeply.
    """
    with refusing_damage(_KIND), _Unknown(text):
        tree = publish_doctree(text, settings_overrides=dict(_SETTINGS))
        walk = _Walk()
        walk.children(tree)
        blocks = tuple(walk.blocks)
    return Document(
        MediaType.RST.value,
        str(tree.get("title") or first_heading(blocks, 1)),
        blocks,
        hidden=tuple(walk.hidden),
        properties=walk.properties,
    )


class _Unknown:
    """Makes directives and roles that a text uses and docutils does not know readable, for as long as it is read."""

    def __init__(self, text: str) -> None:
        names = dict.fromkeys(match[1].lower() for match in _DIRECTIVE.finditer(text))
        self._directives = [name for name in names if name not in directive_names.directives][:_MAX_UNKNOWN]
        used = dict.fromkeys(match[1].lower() for match in _ROLE.finditer(text))
        self._roles = [name for name in used if name not in directive_names.roles][:_MAX_UNKNOWN]

    def __enter__(self) -> None:
        for name in self._directives:
            directives.register_directive(name, _Content)
        for name in self._roles:
            roles.register_local_role(name, _role)

    def __exit__(self, *_: object) -> None:
        for name in self._directives:
            directives._directives.pop(name, None)  # noqa: SLF001
        for name in self._roles:
            roles._roles.pop(name, None)  # noqa: SLF001


def _place(node: nodes.Node) -> Place:
    current: Any = node
    while current is not None and not current.line:
        current = current.parent
    return Place(path=f"line {current.line}") if current is not None else Place()


class _Walk:
    """Gathers the blocks of a tree."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.hidden: list[HiddenText] = []
        self.properties: dict[str, str] = {}
        self._level = 0
        self._lists = 0

    def children(self, node: Any) -> None:
        for child in node.children:
            self.node(child)

    def node(self, node: Any) -> None:
        handler = _HANDLERS.get(type(node).__name__)
        if handler is not None:
            handler(self, node)
        elif isinstance(node, nodes.comment):
            if node.astext().strip():
                self.hidden.append(HiddenText(collapse(node.astext()), "comment", _place(node)))
        elif isinstance(node, _SKIPPED):
            return
        elif isinstance(node, _NAMED):
            self._named(node)
        elif isinstance(node, nodes.Text | nodes.Inline):
            self.add(BlockKind.PARAGRAPH, collapse(text_of(node)), node)
        else:
            self.children(node)

    def add(self, kind: BlockKind, text: str, node: Any, **more: Any) -> None:
        text, notes = settle(text, _marks(node))
        if text:
            more.setdefault("within", 0 if kind is BlockKind.LIST_ITEM else self._lists)
            self.blocks.append(Block(kind, text, place=_place(node), notes=notes, **more))

    def section(self, node: Any) -> None:
        self._level += 1
        self.children(node)
        self._level -= 1

    def title(self, node: Any) -> None:
        level = 1 if isinstance(node.parent, nodes.document) else self._section_level()
        if isinstance(node.parent, nodes.section | nodes.document):
            self.add(BlockKind.HEADING, collapse(text_of(node)), node, level=min(level, 6))
        else:
            self.add(BlockKind.PARAGRAPH, collapse(text_of(node)), node)

    def _section_level(self) -> int:
        titled = any(block.kind is BlockKind.HEADING and block.level == 1 for block in self.blocks[:1])
        return self._level + (1 if titled else 0)

    def paragraph(self, node: Any) -> None:
        self.add(BlockKind.PARAGRAPH, collapse(text_of(node)), node)

    def code(self, node: Any) -> None:
        self.add(BlockKind.CODE, node.astext().strip(), node)

    def _named(self, node: Any) -> None:
        """Read an admonition: its name stands before its text."""
        name = type(node).__name__.capitalize()
        start = len(self.blocks)
        self.children(node)
        if len(self.blocks) > start and self.blocks[start].kind is BlockKind.PARAGRAPH:
            first = self.blocks[start]
            self.blocks[start] = Block(first.kind, f"{name}: {first.text}", place=first.place)

    def list(self, node: Any) -> None:
        start = int(node.get("start", 1))
        count = _ENUMERATIONS.get(node.get("enumtype", ""))
        for index, item in enumerate(node.children):
            number = f"{node.get('prefix', '')}{count(start + index)}{node.get('suffix', '.')}" if count else ""
            self._item(item, number)

    def _item(self, item: Any, number: str) -> None:
        level = self._lists
        self._lists += 1
        first = True
        for child in item.children:
            if isinstance(child, nodes.paragraph):
                text = collapse(text_of(child))
                if first:
                    self.add(BlockKind.LIST_ITEM, text, child, level=level, number=number)
                else:
                    self.add(BlockKind.PARAGRAPH, text, child)
                first = False
            else:
                self.node(child)
        self._lists -= 1

    def definition(self, node: Any) -> None:
        terms = [_plain(child) for child in node.children if isinstance(child, nodes.term)]
        kinds = [collapse(text_of(child)) for child in node.children if isinstance(child, nodes.classifier)]
        self._said(" / ".join(terms) + "".join(f" ({kind})" for kind in kinds), node)

    def _said(self, term: str, node: Any) -> None:
        """Read what is said of a term: each of its paragraphs carries the term."""
        for body in node.children:
            if isinstance(body, nodes.term | nodes.classifier | nodes.field_name | nodes.option_group):
                continue
            for child in body.children if isinstance(body, nodes.Body | nodes.Part) else [body]:
                if isinstance(child, nodes.paragraph):
                    self.add(BlockKind.DEFINITION, collapse(text_of(child)), child, term=term)
                else:
                    self.node(child)

    def field(self, node: Any) -> None:
        name = next((_plain(child) for child in node.children if isinstance(child, nodes.field_name)), "")
        self._said(name, node)
        self._property(name, next((child for child in node.children if isinstance(child, nodes.field_body)), None))

    def _property(self, name: str, node: Any | None) -> None:
        text = "" if node is None else collapse(text_of(node))
        if text and name:
            self.properties.setdefault("_".join(name.lower().split()), text.replace(NOTE, ""))

    def bibliographic(self, node: Any) -> None:
        """Read a field that docutils knows, as author and date."""
        if isinstance(node, nodes.authors):
            for child in node.children:
                self.bibliographic(child)
            return
        name = type(node).__name__
        text = collapse(text_of(node))
        self.add(BlockKind.DEFINITION, text, node, term=name.capitalize())
        self.properties.setdefault(name, text)

    def option(self, node: Any) -> None:
        group = next((child for child in node.children if isinstance(child, nodes.option_group)), None)
        name = ", ".join(option.astext() for option in group.children) if group is not None else ""
        description = [child for child in node.children if isinstance(child, nodes.description)]
        for one in description:
            self.add(BlockKind.DEFINITION, collapse(text_of(one)), node, term=name)

    def note(self, node: Any) -> None:
        mark = next((collapse(child.astext()) for child in node.children if isinstance(child, nodes.label)), "")
        text = " ".join(text_of(child) for child in node.children if not isinstance(child, nodes.label))
        self.add(BlockKind.FOOTNOTE, collapse(text), node, number=mark)

    def picture(self, node: Any) -> None:
        self.add(BlockKind.CAPTION, collapse(node.get("alt", "")), node)

    def caption(self, node: Any) -> None:
        self.add(BlockKind.CAPTION, collapse(text_of(node)), node)

    def table(self, node: Any) -> None:
        caption = next((_plain(child) for child in node.children if isinstance(child, nodes.title)), "")
        for group in node.findall(nodes.tgroup):
            table = _table(group, caption)
            if table.rows:
                self.blocks.append(Block(BlockKind.TABLE, "", place=_place(node), table=table))


def _table(group: Any, caption: str) -> Table:
    columns = [child for child in group.children if isinstance(child, nodes.colspec)]
    heads = [row for part in group.children if isinstance(part, nodes.thead) for row in part.children]
    rows = heads + [row for part in group.children if isinstance(part, nodes.tbody) for row in part.children]
    grid: list[dict[int, str]] = [{} for _ in rows]
    spanned = set()
    notes: list[tuple[int, int, str]] = []
    for index, row in enumerate(rows):
        column = 0
        for entry in row.children:
            while column in grid[index]:
                column += 1
            marks = _marks(entry)
            text, _ = settle(collapse(" ".join(text_of(child) for child in entry.children)), marks)
            notes.extend((index, column, mark) for mark in marks)
            across, down = int(entry.get("morecols", 0)) + 1, int(entry.get("morerows", 0)) + 1
            for line in range(index, min(index + down, len(rows))):
                for place in range(column, min(column + across, len(columns) or column + across)):
                    grid[line][place] = text
                    if (line, place) != (index, column):
                        spanned.add((line, place))
            column += across
    width = max((max(row, default=-1) + 1 for row in grid), default=0)
    stubs = next((index for index, one in enumerate(columns) if not one.get("stub")), len(columns))
    return Table(
        tuple(tuple(row.get(column, "") for column in range(width)) for row in grid),
        len(heads),
        stubs,
        caption,
        frozenset(spanned),
        tuple(_place(row) for row in rows),
        notes=tuple(notes),
    )


def _marks(node: Any) -> list[str]:
    """Return the marks of the notes that a node refers to."""
    kinds = nodes.footnote_reference | nodes.citation_reference
    return [one.astext() for one in node.findall(lambda one: isinstance(one, kinds))]


def text_of(node: Any) -> str:
    """Return the text of a node as a reader sees it: a sign where a note is referred to, superscripts as ``^``."""
    parts: list[str] = []
    _gather(node, parts)
    return "".join(parts)


def _gather(node: Any, parts: list[str]) -> None:
    if isinstance(node, nodes.Text):
        parts.append(plain_of(node.astext()))
    elif isinstance(node, nodes.footnote_reference | nodes.citation_reference):
        parts.append(NOTE)
    elif isinstance(node, nodes.system_message | nodes.raw):
        return
    elif isinstance(node, nodes.superscript):
        parts.append(raised("".join(parts[-2:]), node.astext()))
    elif isinstance(node, nodes.subscript):
        parts.append(lowered("".join(parts[-2:]), node.astext()))
    elif isinstance(node, nodes.image):
        parts.append(node.get("alt", ""))
    else:
        for index, child in enumerate(node.children):
            if index and isinstance(child, nodes.Body | nodes.Part):
                parts.append(" ")
            _gather(child, parts)


def _plain(node: Any) -> str:
    return settle(collapse(text_of(node)), ())[0]


def _bibliographic() -> Iterator[str]:
    yield from ("author", "authors", "organization", "address", "contact", "version", "revision", "status", "date")
    yield "copyright"


_HANDLERS: Final[dict[str, Any]] = {
    "section": _Walk.section,
    "title": _Walk.title,
    "subtitle": _Walk.paragraph,
    "paragraph": _Walk.paragraph,
    "rubric": _Walk.paragraph,
    "line": _Walk.paragraph,
    "attribution": _Walk.paragraph,
    "literal_block": _Walk.code,
    "doctest_block": _Walk.code,
    "math_block": _Walk.code,
    "bullet_list": _Walk.list,
    "enumerated_list": _Walk.list,
    "definition_list_item": _Walk.definition,
    "field": _Walk.field,
    "option_list_item": _Walk.option,
    "footnote": _Walk.note,
    "citation": _Walk.note,
    "image": _Walk.picture,
    "caption": _Walk.caption,
    "table": _Walk.table,
    **dict.fromkeys(_bibliographic(), _Walk.bibliographic),
}
