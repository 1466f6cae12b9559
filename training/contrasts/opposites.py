"""Words exchanged for their opposite, which costs the support, or for a word of the same meaning, which keeps it."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Scene, cased, single, with_article

_OPPOSITES: Final = """
increase:decrease increases:decreases increased:decreased increasing:decreasing rise:fall rises:falls rose:fell
rising:falling grew:shrank growth:decline gained:lost gain:loss profit:loss profits:losses before:after earlier:later
approved:rejected accepted:refused accept:refuse allowed:forbidden allow:forbid allows:forbids permitted:prohibited
required:optional mandatory:optional included:excluded includes:excludes including:excluding first:last
largest:smallest biggest:smallest highest:lowest longest:shortest oldest:youngest earliest:latest best:worst
larger:smaller higher:lower longer:shorter older:younger better:worse stronger:weaker faster:slower greater:lesser
north:south northern:southern east:west eastern:western northeast:southwest northwest:southeast won:lost wins:loses
winner:loser victory:defeat success:failure male:female men:women boys:girls boy:girl father:mother
son:daughter sons:daughters husband:wife brother:sister brothers:sisters king:queen actor:actress opened:closed
opens:closes began:ended begins:ends started:ended starts:ends beginning:end public:private positive:negative
favorable:unfavorable major:minor maximum:minimum above:below inside:outside bought:sold buys:sells purchased:sold
exports:imports exported:imported guilty:innocent convicted:acquitted guilt:innocence married:divorced alive:dead
winter:summer spring:autumn morning:evening daytime:nighttime majority:minority senior:junior upper:lower
ancient:modern domestic:foreign urban:rural hired:fired appointed:dismissed supported:opposed supports:opposes
supporters:opponents appeared:disappeared encouraged:discouraged improved:worsened improves:worsens young:old
high:low large:small strong:weak easy:difficult expensive:cheap rich:poor heavy:light wide:narrow fast:slow
deep:shallow tall:short wet:dry warm:cold hot:cold raised:lowered raise:lower raises:lowers accelerated:slowed
temporary:permanent voluntary:compulsory internal:external formal:informal true:false correct:wrong arrived:departed
entered:left joined:quit advantage:disadvantage advantages:disadvantages strengths:weaknesses benefit:harm
benefits:harms helps:harms helped:harmed protects:endangers protected:endangered prevents:causes prevent:cause
prevented:caused reduces:increases reduce:increase reduced:increased reducing:increasing lowers:raises
most:least more:less widely:hardly frequently:rarely often:seldom critically:badly acclaimed:panned praised:panned
praise:criticism popular:unpopular famous:obscure failed:managed succeeded:failed enabled:disabled agreed:refused
ascending:descending import:export input:output vertical:horizontal liquid:solid natural:artificial
conservative:liberal republican:democratic forward:backward forwards:backwards predecessor:successor
parent:child ancestor:descendant teacher:student employer:employee seller:buyer lender:borrower landlord:tenant
"""
_ONE_WAY: Final = frozenset(
    {"left", "short", "old", "end", "ended", "ends", "last", "lower", "light", "cold", "badly", "lost", "loss", "later"}
    | {"quit", "criticized", "sold", "child", "student", "hardly", "managed", "least", "less", "wrong"}
    | {"optional", "decreased", "refused", "failed", "lesser", "caused", "causes", "cause", "smallest", "lowers"}
)
"""Opposites with more meanings than one: put in, never taken out."""
_SAME: Final = """
purchased:bought began:started begins:starts film:movie films:movies located:situated helped:assisted
helps:assists roughly:approximately about:approximately nearly:almost numerous:many constructed:built automobile:car
physician:doctor physicians:doctors frequently:often seldom:rarely whole:entire ended:finished obtained:got
demonstrated:showed demonstrates:shows requires:needs required:needed additional:extra previously:formerly
primarily:mainly famous:well-known initially:originally subsequently:later sufficient:enough
kids:children attempted:tried attempts:tries resides:lives resided:lived commenced:began utilized:used utilizes:uses
assisted:helped concluded:ended nation:country nations:countries author:writer authors:writers cinema:movie
vehicle:car ill:sick illness:disease physician:doctor lawyer:attorney lawyers:attorneys shop:store shops:stores
autumn:fall quick:fast rapidly:quickly annually:yearly entirely:completely permitted:allowed permits:allows
prohibited:forbidden murdered:killed perished:died wed:married aid:help assistance:help
"""


def _table(pairs: str, *, one_way: frozenset[str] = frozenset()) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs.split():
        for old, new in (pair.split(":"), reversed(pair.split(":"))):
            if old not in one_way and new not in found.get(old, ()):
                found[old] = (*found.get(old, ()), new)
    return found


_OPPOSITE_OF: Final = _table(_OPPOSITES, one_way=_ONE_WAY)
_SAME_AS: Final = _table(
    _SAME,
    one_way=frozenset(
        [
            "got",
            "often",
            "needs",
            "needed",
            "later",
            "started",
            "starts",
            "movie",
            "movies",
            "country",
            "disease",
            "used",
            "uses",
            "car",
            "lived",
            "lives",
            "died",
            "killed",
            "fall",
            "help",
            "tried",
            "tries",
            "shows",
            "showed",
            "large",
            "ended",
            "enough",
            "extra",
            "many",
            "store",
            "stores",
            "fast",
            "began",
        ]
    ),
)
_NOT_ALONE: Final = re.compile(r"[-'’]$")  # noqa: RUF001 - typographic apostrophe
_BLOCKED: Final = {
    # a word before which, or after which, a word of the table means something else
    "more": re.compile(r"^ (?:than (?:\d|one|two|a)|and more|recent)"),
    "most": re.compile(r"^ (?:of|people|likely|[a-z]+s\b|recent)"),
    "high": re.compile(r"^ (?:school|court)", re.IGNORECASE),
    "first": re.compile(r"^ (?:name|lady|class|person|world|aid|time|of)", re.IGNORECASE),
    "major": re.compile(r"^ (?:league|in|general)", re.IGNORECASE),
    "spring": re.compile(r"^ (?:of|from|to|up)"),
    "about": re.compile(r"^ (?![$€£]?\d)"),
    "fast": re.compile(r"^ food"),
    "hot": re.compile(r"^ (?:dog|water)"),
    "before": re.compile(r"^ (?:the|a|an|his|her|their|its) (?:court|judge|committee|jury|magistrate)"),
    "young": re.compile(r"^ (?:people|adult)"),
    "rose": re.compile(r"^ to (?:fame|prominence)"),
    "rise": re.compile(r"^ to (?:fame|prominence)"),
    "end": re.compile(r"^ up"),
    "true": re.compile(r"^ (?:story|to)"),
    "conservative": re.compile(r"^ (?:party)", re.IGNORECASE),
    "public": re.compile(r"^ (?:domain|school)"),
    "large": re.compile(r"^ (?:part|number|scale|extent)"),
}


def opposite_words(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``increased`` to ``decreased``, ``before`` to ``after``, ``approved`` to ``rejected``."""
    yield from _exchanged(text, _OPPOSITE_OF, choice, keeps=False)


def same_words(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``purchased`` to ``bought``, ``film`` to ``movie``."""
    yield from _exchanged(text, _SAME_AS, choice, keeps=True)


def _exchanged(text: str, table: dict[str, tuple[str, ...]], choice: random.Random, *, keeps: bool) -> Iterator[Change]:
    kind = "opposites.same" if keeps else "opposites.opposite"
    for match in re.finditer(r"(?<![\w'’-])[A-Za-z]+(?![\w'’-])", text):  # noqa: RUF001 - typographic apostrophe
        word = match.group()
        others = table.get(word.lower())
        blocked = _BLOCKED.get(word.lower())
        if others is None or (blocked is not None and blocked.match(text[match.end() :])):
            continue
        if word[0].isupper() and match.start() > 0:
            continue  # within a sentence a capital makes a name of it: "First National", "East Timor"
        new = cased(choice.choice(others), word)
        yield single(kind, with_article(text, *match.span(), new), keeps=keeps, back=keeps)
