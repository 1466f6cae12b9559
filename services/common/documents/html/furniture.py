"""What of a page is navigation, banner or footer: told by element, role, class and by being nothing but links."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from services.common.documents.document import Block, BlockKind, texts_of

_ROLES: Final = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "banner", "dialog", "alertdialog", "tablist"}
)
_WHOLE: Final = frozenset({"nav", "footer", "header", "aside", "form", "menu"})
_NAMED: Final = frozenset({"div", "section", "ul", "ol", "p", "dl", "table", "center", "span"})
_NAME: Final = re.compile(
    r"(?:(?:site|page|main|global|top|bottom|left|right|side|primary|secondary|sphinx|local|doc|docs|wy|bd|md|skip|app"
    r"|mobile|user|meta|web|blog|article|post|print|social|share|cookie|cookies|consent|gdpr|privacy|promo|newsletter"
    r"|back|to|prev|mdbook|help|next|lang|language|search|edit|chapter|book|header|inner)[-_]?)*"
    r"(?:(?:page|site|print|running|doc|global|main)[-_]?header|nav|navi|navbar|navigation|topnav|menu|menubar|menue|sidebar|sphinxsidebar|sidenav|footer|foot|breadcrumbs?"
    r"|crumbs?|toc|tableofcontents|table-of-contents|pagination|pager|cookies?|consent|gdpr|newsletter|skip-?link"
    r"|skip|toolbar|masthead|advert|adverts|advertisement|ads?|sponsor|share|sharing|social|subscribe|edit-?section"
    r"|to-?top|back-?to-?top|language-?switcher|pied|pied-de-page|bas-de-page|fusszeile|fu\u00dfzeile|kopfzeile|fuss"
    r"|navheader|navfooter|navpanel|popup|modal|overlay|tooltip|related|headerlink|searchbox|feedback|rating|login|signup)"
    r"(?:[-_]?(?:bar|container|wrapper|list|inner|links?|banner|notice|box|area|items?|menu|top|bottom|popup|overlay"
    r"|modal|bottom|main|row|section|block|panel|header|footer|title|toggle))*",
    re.IGNORECASE,
)
_BANNER: Final = re.compile(r"banner|consent|popup|notice|overlay|modal|footer|sidebar", re.IGNORECASE)
_COOKIES: Final = re.compile(r"\bcookies?\b|\bconsent\b", re.IGNORECASE)
_CONTENTS: Final = frozenset(
    {
        *("contents", "table of contents", "on this page", "in this article", "navigation", "menu", "quick links"),
        *(
            "inhalt",
            "inhaltsverzeichnis",
            "auf dieser seite",
            "sommaire",
            "table des mati\u00e8res",
            "indices and tables",
        ),
        *("contenido", "\u00edndice", "indice", "inhoud", "spis tre\u015bci"),
    }
)
_FOOT: Final = re.compile(
    r"\u00a9|\(c\)\s*\d{4}|\bcopyright\b|all rights reserved|alle rechte vorbehalten|tous droits r\u00e9serv\u00e9s"
    r"|webmaster@|\bimpressum\b|privacy policy|datenschutz|mentions l\u00e9gales|page generated|powered by"
    r"|back to top|haut de page|nach oben|last (?:updated|modified|change)",
    re.IGNORECASE,
)
_WAY: Final = r"(?:next|prev(?:ious)?|up|top|home|zur\u00fcck|weiter|pr\u00e9c\u00e9dent|suivant)\s*+:"
_PAGING: Final = re.compile(
    rf"(?:{_WAY}\s*+(?:(?<=\s)(?={_WAY})|[^,|\[\]](?:(?!{_WAY})[^,|\[\]]){{0,59}}+|(?<=\s))[,|]?+\s*+)++"
    r"(?:\s*+\[\w++\])*+",
    re.IGNORECASE,
)
"""One way to cut such a line: a way's title ends where the next way is named."""
_SEPARATOR: Final = re.compile(r"\s[\u00b7|\u2022\u2013\u2014/\u203a\u00bb]\s")
_MAX_FOOT_CHARS: Final = 300
_LAST_BLOCKS: Final = 6
_ENDED: Final = (".", "!", "?", ":")
_MIN_NAV_LINKS: Final = 3
_LONG_CHARS: Final = 200
_FEW_LONG: Final = 2
_FEW_SEPARATORS: Final = 2
_HIGH_LEVEL: Final = 2
_MAX_NAME_CHARS: Final = 60


def named_furniture(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Say whether an element is called what furniture is called; what is in it decides in the end."""
    if tag in _WHOLE or (attributes.get("role") or "").lower() in _ROLES:
        return True
    if tag not in _NAMED:
        return False
    return _called(attributes.get("class")) or _called(attributes.get("id"))


def _called(names: str | None) -> bool:
    """Say whether one of the names is a usual one of furniture."""
    return any(len(name) < _MAX_NAME_CHARS and _NAME.fullmatch(name) for name in (names or "").split())


def is_furniture(tag: str, attributes: Mapping[str, str | None], blocks: Sequence[Block], linked: int) -> bool:
    """Say whether the blocks of an element that could be furniture are.

    Args:
        tag: the element's.
        attributes: the element's.
        blocks: what is in it.
        linked: how many of them are links and nothing else.
    """
    role = (attributes.get("role") or "").lower()
    if tag == "nav" or role in {"navigation", "contentinfo", "search", "tablist"}:
        return True
    heads = sum(block.kind is BlockKind.HEADING and block.level <= _HIGH_LEVEL for block in blocks)
    long = sum(len(text) > _LONG_CHARS for block in blocks for text in texts_of(block))
    tables = sum(block.table is not None for block in blocks)
    if tag in {"header", "form"} or role == "banner":
        return not heads and not tables and not long and not (tag == "form" and len(blocks) > _LONG_CHARS // 10)
    if role in {"dialog", "alertdialog"}:
        return any(_COOKIES.search(text) for block in blocks for text in texts_of(block)) or not long
    if tag == "aside":
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
        return linked * 2 >= len(blocks) or any(_NAME.fullmatch(name) for name in names if len(name) < _MAX_NAME_CHARS)
    levels = [block.level for block in blocks if block.kind is BlockKind.HEADING]
    if levels and not _called(attributes.get("class")) and not _BANNER.search(attributes.get("id") or ""):
        return linked * 2 >= len(blocks)  # the section of a manual on what furniture is also called: pagination, login
    return 1 not in levels and long <= _FEW_LONG


def is_navigation(links: Sequence[bool], heading: str, *, before_title: bool) -> bool:
    """Say whether a list whose items are links and nothing else (each ``True``) leads elsewhere."""
    if not links or not all(links):
        return False
    return heading.strip(" :").lower() in _CONTENTS or (before_title and len(links) >= _MIN_NAV_LINKS)


def without_feet(blocks: Sequence[Block]) -> tuple[list[Block], list[Block]]:
    """Return the blocks without a page's foot, and the foot: with it what stands above the first heading as well."""
    start = len(blocks)
    for index in range(len(blocks) - 1, max(-1, len(blocks) - 1 - _LAST_BLOCKS), -1):
        block = blocks[index]
        if block.kind not in {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM} or len(block.text) > _MAX_FOOT_CHARS:
            break
        separated = len(_SEPARATOR.findall(block.text)) >= _FEW_SEPARATORS and not block.text.endswith(_ENDED)
        if _FOOT.search(block.text) or (separated and start == index + 1):
            start = index
        elif block.text.endswith(_ENDED):
            break
    start = start or len(blocks)
    feet = list(blocks[start:])
    repeated = {block.text for block in feet}
    kept: list[Block] = []
    titled = False
    for block in blocks[:start]:
        titled = titled or block.kind is BlockKind.HEADING
        paging = block.kind is BlockKind.PARAGRAPH and bool(_PAGING.fullmatch(block.text))
        (feet if paging or (not titled and block.text in repeated) else kept).append(block)
    return kept, feet
