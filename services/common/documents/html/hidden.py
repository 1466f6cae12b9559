"""Why nobody who opens a page sees an element: where injected instructions live (ADR 0106).

What a click opens (closed ``details``, tabs without a style) counts as seen; ``aria-hidden`` alone hides nothing from
the eye. Colours count only where the background is known.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tinycss2.color3 import RGBA

from services.common.documents.html.styles import Declarations, Styles, colour_of

_CLASSES: Final = frozenset(
    {
        *("d-none", "hidden", "visually-hidden", "sr-only", "screen-reader-text", "screenreader-text", "is-hidden"),
        *("is-sr-only", "is-invisible", "show-for-sr", "uk-hidden", "uk-invisible", "ng-hide", "element-hidden"),
        *("element-invisible", "govuk-visually-hidden", "cdk-visually-hidden", "d-sr-only", "ion-hide", "u-hidden"),
        *("visuallyhidden", "hide-visually", "opacity-0", "assistive-text", "offscreen", "off-screen", "a11y-hidden"),
        *("mw-empty-elt", "slds-hide", "slds-assistive-text", "pf-u-screen-reader", "usa-sr-only", "text-hide"),
        *("display-none", "text-transparent", "visually-hidden-focusable", "sr-only-focusable", "w3-hide"),
        *("invisible", "hide", "show-on-focus", "v-hidden", "u-visually-hidden", "nhsuk-u-visually-hidden"),
        *("slds-hidden", "pf-v5-u-screen-reader", "pf-v6-u-screen-reader", "d-hide", "d-invisible", "text-assistive"),
        *("bx--visually-hidden", "cds--visually-hidden", "ui-helper-hidden", "ui-helper-hidden-accessible"),
        *("ui-hidden-accessible", "accesshide", "elementor-screen-only", "components-visually-hidden"),
        *("tw-hidden", "tw-invisible", "tw-sr-only", "gl-hidden", "gl-invisible", "gl-sr-only", "visibility-hidden"),
    }
)
"""Classes by which Bootstrap, Tailwind, Bulma, Foundation, WordPress, Drupal and others hide, and nothing else."""
_CLASSES_WHERE_LINKED: Final = frozenset({"collapse", "fade", "hidden-xs-up", "none", "boring"})
"""They hide in a framework, and may mean something else in a page that links to no style sheet."""
_SHOWN_BESIDE: Final = frozenset(
    {
        *("show", "in", "open", "active", "is-active", "visible", "navbar-collapse"),
        *("is-visible", "shown", "expanded", "slds-show", "animated", "wow"),
    }
)
"""Beside these a class that hides is undone, by a script as it stands or as the page is scrolled."""
_SHOWN_WIDE: Final = re.compile(
    r"@?(?:sm|md|lg|xl|2xl):(?:tw-|gl-)?!?"
    r"(?:block|flex|inline|inline-block|grid|table|table-cell|contents|visible|not-sr-only|inline-flex)!?$"
    r"|d-(?:sm|md|lg|xl)-(?:block|flex|inline|inline-block|grid|table|table-cell|inline-flex)$"
)
_LENGTH: Final = re.compile(r"(-?(?:\d++(?:\.\d*+)?|\.\d++))(px|em|rem|vw|vh|%|pt|ch|in|cm)?$")
_PX: Final = {"em": 16.0, "rem": 16.0, "vw": 12.0, "vh": 8.0, "%": 12.0, "pt": 4 / 3, "ch": 8.0, "in": 96.0, "cm": 38.0}
_OF_WINDOW: Final = re.compile(r"(-?(?:\d++(?:\.\d*+)?|\.\d++))(vw|vh|%)$")
_WHOLE_WINDOW: Final = 100.0
_FAR_PX: Final = 900.0
_TINY_PX: Final = 1.0
_TINY_FONT_PX: Final = 2.0
_FAINT: Final = 0.05
_CLIPPED: Final = re.compile(
    r"rect\(\s*(?:0|1px|0px)[\s,]+(?:0|1px|0px)[\s,]+(?:0|1px|0px)[\s,]+(?:0|1px|0px)\s*\)"
    r"|inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0|polygon\((?:\s*0(?:px)? 0(?:px)?\s*,?){3}"
)
_MOVED: Final = re.compile(r"translate(?:x|y|3d)?\(\s*(-?\d+(?:\.\d+)?(?:px|em|rem|vw|vh|%))")
_SHRUNK: Final = re.compile(r"scale(?:x|y|3d)?\(\s*0?\.?0+\s*[,)]")
_TEXT_FILTER: Final = re.compile(r"opacity\(\s*0(?:\.0\d*)?%?\s*\)")
_DARK: Final = 0.04045
_ALIKE_RATIO: Final = 1.1
"""Of contrast: below it nobody tells the text from what is behind it."""


def why_hidden(tag: str, attributes: Mapping[str, str | None], style: Declarations, styles: Styles) -> str:
    """Return what hides an element and all in it; empty when nothing does."""
    if "hidden" in attributes:
        return "attribute hidden"
    if tag == "dialog" and "open" not in attributes:
        return "dialog that is not open"
    if tag == "input" and attributes.get("type") == "hidden":
        return "hidden input"
    if style:
        found = _by_style(style)
        if found:
            return f"style {found}"
    return _by_class(attributes.get("class") or "", style, styles)


def _by_style(style: Declarations) -> str:
    if style.get("display") == "none":
        return "display:none"
    if style.get("content-visibility") == "hidden":
        return "content-visibility:hidden"
    opacity = style.get("opacity")
    if opacity is not None and (_number(opacity) or 0.0) <= _FAINT and _number(opacity) is not None:
        return f"opacity:{opacity}"
    if _TEXT_FILTER.search(style.get("filter", "")):
        return "filter:opacity"
    return _by_place(style) or _by_size(style)


def _is_beyond_window(position: str, side: str, value: str) -> bool:
    """Say whether a length is that of the window or more: nobody scrolls to the side of it, nor to what is fixed."""
    match = _OF_WINDOW.match(value)
    if match is None or abs(float(match[1])) < _WHOLE_WINDOW:
        return False
    across = side in {"left", "right"}
    return (match[2] == "vw" and across and position != "relative") or (
        position == "fixed" and (match[2] == "%" or (match[2] == "vh" and not across))
    )


def _by_place(style: Declarations) -> str:
    indent = _px(style.get("text-indent", ""))
    if indent is not None and abs(indent) >= _FAR_PX:
        return f"text-indent:{style['text-indent']}"
    if style.get("position") in {"absolute", "fixed", "relative"}:
        for side in ("left", "top", "right", "bottom"):
            at = _px(style.get(side, ""))
            if at is not None and at <= -_FAR_PX:
                return f"off-screen, {side}:{style[side]}"
            beyond = _is_beyond_window(style["position"], side, style.get(side, ""))
            if (at is not None and at >= 5 * _FAR_PX) or beyond:
                return f"off-screen, {side}:{style[side]}"
    for side in ("margin-left", "margin-top"):
        at = _px(style.get(side, ""))
        if at is not None and at <= -_FAR_PX:
            return f"off-screen, {side}:{style[side]}"
    transform = style.get("transform", "")
    moved = _MOVED.search(transform)
    if moved and (_px(moved[1]) or 0.0) <= -_FAR_PX:
        return f"off-screen, {transform}"
    return "transform:scale(0)" if _SHRUNK.search(transform) else ""


def _by_size(style: Declarations) -> str:
    for name in ("clip", "clip-path"):
        if _CLIPPED.search(style.get(name, "")):
            return f"{name}:{style[name]}"
    if not any(style.get(name) in {"hidden", "clip"} for name in ("overflow", "overflow-x", "overflow-y")):
        return ""
    for name in ("width", "height", "max-width", "max-height"):
        size = _px(style.get(name, ""))
        if size is not None and size <= _TINY_PX:
            return f"zero size, {name}:{style[name]}"
    return ""


def _by_class(classes: str, style: Declarations, styles: Styles) -> str:
    names = classes.split()
    for name in names:
        plain = name.lower().strip("!")
        known = plain in _CLASSES or (plain in _CLASSES_WHERE_LINKED and styles.linked)
        if not known or (name in styles.named_classes and not styles.linked):
            continue
        if style.get("display", "none") != "none" or _shown(names):
            continue
        return f"class {name}"
    return ""


def _shown(names: list[str]) -> bool:
    return any(name in _SHOWN_BESIDE or _SHOWN_WIDE.match(name) for name in names)


def _number(text: str) -> float | None:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _px(text: str) -> float | None:
    match = _LENGTH.match(text)
    return None if match is None else float(match[1]) * _PX.get(match[2] or "px", 1.0)


_BLACK: Final = RGBA(0.0, 0.0, 0.0, 1.0)
_WHITE: Final = RGBA(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Paint:
    """What an element hands down to the text in it.

    Attributes:
        ground: what is behind the text; ``None`` = not known.
        why: what hides the text; empty when nothing does.
    """

    colour: RGBA | None = _BLACK
    ground: RGBA | None = _WHITE
    font: str = ""
    visibility: str = ""

    @property
    def why(self) -> str:
        """Return what hides text of this paint."""
        if self.visibility or self.font:
            return self.visibility or self.font
        if self.colour is None:
            return ""
        if self.colour.alpha <= _FAINT:
            return "style color:transparent"
        if self.ground is None or self.ground.alpha < 1.0 or _contrast(self.colour, self.ground) >= _ALIKE_RATIO:
            return ""
        return "text colour = background"


def painted(
    paint: Paint, tag: str, attributes: Mapping[str, str | None], style: Declarations, *, linked: bool
) -> Paint:
    """Return the paint inside an element.

    Args:
        paint: around it.
        tag: the element's.
        attributes: the element's.
        style: what holds for it.
        linked: style sheets that were not read may colour what has a class or an id.
    """
    result = paint
    if linked and ("class" in attributes or "id" in attributes):
        result = replace(result, ground=None)
    ground = style.get("background") or style.get("background-color") or attributes.get("bgcolor")
    if ground or style.get("background-image", "none") != "none" or attributes.get("background"):
        named = None if style.get("background-image", "none") != "none" else _ground(ground or "")
        result = result if named is not None and named.alpha <= _FAINT else replace(result, ground=named)
    written = style.get("color") or (attributes.get("color") if tag == "font" else None)
    written = written or (attributes.get("text") if tag == "body" else None)
    if written and written not in {"inherit", "currentcolor"}:
        result = replace(result, colour=colour_of(written.strip()))
    size = style.get("font-size")
    if size:
        result = replace(result, font=_font(paint.font, size))
    seen = style.get("visibility")
    if seen:
        result = replace(result, visibility=f"style visibility:{seen}" if seen in {"hidden", "collapse"} else "")
    return result


def _ground(text: str) -> RGBA | None:
    if "url(" in text or "gradient" in text:
        return None
    return next((found for part in text.split() if (found := colour_of(part)) is not None), None)


def _font(around: str, size: str) -> str:
    """Return what is written of a font too small to see; a relative size keeps what is around it."""
    number = _px(size)
    if number is None:
        return "" if size in {"medium", "large", "small", "initial", "x-large", "x-small", "smaller"} else around
    if number <= _TINY_FONT_PX and not (size.endswith(("em", "%")) and number > 0):
        return f"style font-size:{size}"
    return around if size.endswith(("%", "em")) and not size.endswith("rem") and around else ""


def _contrast(one: RGBA, other: RGBA) -> float:
    """Return the contrast of two colours as WCAG 2 has it, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: RGBA) -> float:
    parts = (_linear(part) for part in (colour.red, colour.green, colour.blue))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def _linear(part: float) -> float:
    return part / 12.92 if part <= _DARK else float(((part + 0.055) / 1.055) ** 2.4)
