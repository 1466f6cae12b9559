"""Names: another of the same shape, from the premise where it has one, else from another passage."""

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from training.contrasts.change import Change, Edit, Scene, single, with_article
from training.contrasts.mentions import GENERIC, NATIONALITIES, names

_NATIONALITY: Final = re.compile(rf"(?<![\w-])({'|'.join(NATIONALITIES)})(?![\w-])")
_EXCHANGEABLE: Final = re.compile(
    r"^\s*(?:,|and|or|&|with|/|,? and (?:his|her)|married|met|meets|alongside|together with)\s|\bbetween\b|\bborders?\b"
)
_BETWEEN: Final = re.compile(r"\b(?:between|both|either|neither)\b", re.IGNORECASE)
_LONGEST_GAP: Final = 60
_DRAWN: Final = 8


def other_names(text: str, scene: Scene, choice: random.Random) -> Iterator[Change]:
    """A name exchanged for one of the same kind: of the premise (the harder case) or of another passage."""
    in_premise = _by_kind(scene.premise)
    folded = text.lower()
    premise = scene.premise.lower()
    for name in names(text):
        near = [other for other in in_premise.get(name.kind, ()) if not _overlap(other, name.text, folded)]
        far = [other for other in _some(scene, name.kind, choice) if not _overlap(other, name.text, folded + premise)]
        pool = near if near and (not far or choice.random() < 0.6) else far  # noqa: PLR2004 - mostly the harder case
        if pool:
            new = choice.choice(pool)
            yield single("names.swap", Edit(name.start, name.end, new))
    for match in _NATIONALITY.finditer(text):
        new = choice.choice([other for other in NATIONALITIES if other != match.group()])
        yield single("names.nationality", with_article(text, *match.span(), new))


def swapped_roles(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """Two names of one kind change places: who did it, and to whom."""
    for first, second in pairwise(names(text)):
        gap = text[first.end : second.start]
        if first.kind != second.kind or first.text == second.text or not 2 < len(gap) <= _LONGEST_GAP:  # noqa: PLR2004
            continue
        if (
            re.search(r"[.;:()]|\b(?:and|or)\s*$", gap)
            or _EXCHANGEABLE.search(gap)
            or _BETWEEN.search(text[: first.start])
        ):
            continue
        edits = (Edit(first.start, first.end, second.text), Edit(second.start, second.end, first.text))
        yield Change("roles.swap", edits, keeps=False, back=False)


def shortened(text: str, scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """A person by the last name alone, where nobody else in the premise has it."""
    for name in names(text):
        last = name.text.split()[-1]
        full = {other.text for other in names(scene.premise) if other.text.endswith(last)}
        if name.kind == "person" and full <= {name.text, last} and len(last) > 3 and name.text in scene.premise:  # noqa: PLR2004
            yield single("names.shortened", Edit(name.start, name.end, last), keeps=True, back=None)


def renamed(premise: str, text: str, scene: Scene, choice: random.Random) -> tuple[str, Change] | None:
    """Give one name that text and premise share another name in both; the label stays what it was.

    Returns:
        The premise under the new name and the change of the text, or None where no name is shared word for word.
    """
    shared = [name for name in names(text) if name.text in premise and scene.names.get(name.kind)]
    if not shared:
        return None
    name = choice.choice(shared)
    known = f"{text} {premise}".lower()
    fresh = [other for other in _some(scene, name.kind, choice) if not _overlap(other, name.text, known)]
    if not fresh:
        return None
    new = choice.choice(fresh)
    whole = re.compile(rf"(?<!\w){re.escape(name.text)}(?!\w)")
    edits = tuple(Edit(*match.span(), new) for match in whole.finditer(text))
    if not edits:
        return None
    return whole.sub(lambda _: new, premise), Change("names.renamed", edits, keeps=True, back=False)


def by_kind(passages: list[str]) -> dict[str, list[str]]:
    """Return the names of passages by kind, each once, in alphabetical order."""
    found: dict[str, set[str]] = {}
    for passage in passages:
        for name in names(passage):
            found.setdefault(name.kind, set()).add(name.text)
    return {kind: sorted(there) for kind, there in sorted(found.items())}


def _some(scene: Scene, kind: str, choice: random.Random) -> list[str]:
    """Draw a few names of a kind: enough that one of them fits, few enough to look at."""
    pool = scene.names.get(kind, ())
    return choice.sample(pool, min(_DRAWN, len(pool)))


def _by_kind(premise: str) -> dict[str, list[str]]:
    return by_kind([premise])


def _overlap(other: str, name: str, text: str) -> bool:
    """Whether a name may be the same one, shorter or longer, or stands in the text already."""
    shared = set(other.lower().split()) & set(name.lower().split())
    return bool(shared - GENERIC) or other.lower() in text
