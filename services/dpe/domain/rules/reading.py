"""A sentence as the rules of stage 3b read it: words with their roots, clauses, and what stands over it (ADR 0095).

Roots join more than stems do ("inspected", "inspector", "inspection"): the rules compare what is said of the same act
or thing, and words that share a root speak of the same. Everything is linear in the text and computed once.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeVar, cast

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import BASE_VERBS, NEGATORS, STOPWORDS
from services.common.reading.text_types import Span
from services.common.reading.words import Word, stem, words

_ReadT = TypeVar("_ReadT")
_SUFFIXES: Final = (
    "ication", "ification", "ations", "ation", "itions", "ition", "ments", "ment", "ings", "ing", "ions", "ion", "ors",
    "ers", "or", "er", "ances", "ance", "ences", "ence", "ives", "ive", "ly", "al", "able", "ible", "ness", "ity",
)  # fmt: skip
_MIN_ROOT: Final = 4
_IRREGULAR: Final = {
    "sold": "sell", "bought": "buy", "paid": "pay", "gave": "give", "given": "give", "made": "make", "kept": "keep",
    "held": "hold", "led": "lead", "sent": "send", "took": "take", "taken": "take", "got": "get", "gone": "go",
    "went": "go", "left": "leave", "lost": "lose", "won": "win", "wrote": "write", "written": "write", "met": "meet",
    "fell": "fall", "fallen": "fall", "rose": "rise", "risen": "rise", "grew": "grow", "grown": "grow", "knew": "know",
    "known": "know", "broke": "break", "broken": "break", "chose": "choose", "chosen": "choose", "spoke": "speak",
    "drove": "drive", "driven": "drive", "built": "build", "told": "tell", "said": "say", "found": "find",
    "brought": "bring", "taught": "teach", "caught": "catch", "lent": "lend", "spent": "spend", "put": "put",
    "shown": "show", "seen": "see", "saw": "see", "done": "do", "did": "do", "begun": "begin", "began": "begin",
    "drawn": "draw", "drew": "draw", "withdrawn": "withdraw", "withdrew": "withdraw", "children": "child",
    "people": "person", "men": "man", "women": "woman", "data": "data",
    "putting": "put", "cutting": "cut", "getting": "get", "setting": "set", "letting": "let", "running": "run",
    "photo": "photograph", "photos": "photograph", "photography": "photograph", "lied": "lie", "lain": "lie",
    "died": "die", "tied": "tie", "vied": "vie", "untied": "untie", "unties": "untie", "belied": "belie",
    "belies": "belie",
}  # fmt: skip
_IN_IE: Final = frozenset({"l", "d", "t", "v", "bel", "unt", "underl"})
"""What stands before "-ying" where the verb ends in "-ie": "lying", "dying", "tying"."""


_PARTIES: Final = frozenset(
    {"employer", "employee", "lessor", "lessee", "licensor", "licensee", "payer", "payee", "grantor", "grantee"}
    | {"assignor", "assignee", "franchisor", "franchisee", "mortgagor", "mortgagee", "consignor", "consignee"}
    | {"transferor", "transferee", "promisor", "promisee", "trustor", "trustee", "drawer", "drawee", "donor", "donee"}
    | {"trainer", "trainee", "mentor", "mentee", "interviewer", "interviewee", "examiner", "examinee", "insurer"}
)
"""The two sides of a relation, whose endings alone tell them apart: they are no family."""


@lru_cache(maxsize=32_768)
def root(word: str) -> str:
    """Return what a word shares with the words of its family; the two parties of a relation share nothing."""
    single = word.removesuffix("'s").removesuffix("'").removesuffix("s")
    if single in _PARTIES:
        return single
    bare = _IRREGULAR.get(word, word)
    bare = stem(_of_ying(bare) if bare.endswith("ying") else bare)
    for suffix in _SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= _MIN_ROOT:
            bare = bare[: -len(suffix)]
            break
    doubled = len(bare) > _MIN_ROOT and bare[-1] == bare[-2] and bare[-1] not in "lsz"
    return (bare[:-1] if doubled else bare).removesuffix("e").removesuffix("i") or bare


def _of_ying(word: str) -> str:
    """Return the verb of a word in "-ying": "lie" of "lying", "pay" of "paying"."""
    before = word.removesuffix("ying")
    return before + ("ie" if before in _IN_IE else "y" if before else "ying")


def act_root(act: str) -> str:
    """Return the root of an act in "-ing" as that of its verb: "using" and "use", "registering" and "register"."""
    if act.endswith("ying"):
        return root(act)
    bare = act.removesuffix("ing")
    is_doubled = bare[-2:-1] == bare[-1:] and bare not in BASE_VERBS
    if is_doubled and (bare[:-1] in BASE_VERBS or bare[-1:] not in "flsz"):
        return root(bare[:-1])
    return root(bare if bare in BASE_VERBS else f"{bare}e")


def is_content(word: Word, text: str) -> bool:
    """Say whether a word carries content; a letter written large does ("solution A"), a pronoun does not."""
    if len(word.text) == 1 and text[word.start].isupper() and word.start > 0 and word.text != "i":
        return True
    return word.text not in STOPWORDS and word.text not in NEGATORS


def roots(text: str) -> frozenset[str]:
    """Return the roots of the words of content of a text, digits included."""
    return frozenset(root(word.text) for word in words(text) if is_content(word, text))


_ACTS: Final = {
    "registration": "register", "application": "apply", "cancellation": "cancel", "notification": "notify",
    "delivery": "deliver", "admission": "admit", "permission": "permit", "extension": "extend",
    "submission": "submit", "qualification": "qualify", "attendance": "attend", "subscription": "subscribe",
    "vaccination": "vaccinate", "suspension": "suspend", "signature": "sign", "approval": "approve",
}  # fmt: skip
"""Nouns of acts that share no root with their verbs."""


def acts(text: str) -> frozenset[str]:
    """Return the roots of a text, those of a noun for an act as its verb's: "registration" and "register"."""
    return frozenset(root(_ACTS.get(word.text, word.text)) for word in words(text) if is_content(word, text))


def share(inner: Iterable[str], outer: frozenset[str]) -> float:
    """Return which share of the roots is among others; 0.0 for none."""
    listed = frozenset(inner)
    return len(listed & outer) / len(listed) if listed else 0.0


_LEAD_CHARS: Final = 80
_FEW_WORDS: Final = 2


def without_lead(text: str) -> str:
    """Return a sentence without the heading or lead-in over it: "Water: the slide is long" says nothing of water."""
    at = text.find(": ", 0, _LEAD_CHARS)
    lead = words(text[: max(0, at)])
    is_lead = at > 0 and (len(lead) <= _FEW_WORDS or finite_verb_at(lead) is None)
    return text[at + 2 :] if is_lead else text


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence, or a clause of one.

    Attributes:
        text: as it stands.
        start: where it begins in its document.
        tokens: its words, with offsets in ``text``.
        content: roots of its words of content.
        context: roots of what stands over it: heading, lead-in, the sentence before; ``head`` without the last.
        names: roots of words that are written large inside the sentence, and of those with digits: they tell products,
            groups and versions apart.
        place: counts the sentences of a fact; ``fact_index`` counts facts, -1 for a claim.
        asked: the question that a claim answers.
    """

    text: str
    start: int
    tokens: tuple[Word, ...]
    content: frozenset[str]
    names: frozenset[str]
    context: frozenset[str] = frozenset()
    fact_index: int = -1
    place: int = 0
    head: frozenset[str] = frozenset()
    asked: str = ""
    memo: dict[Callable[["Reading"], object], object] = field(default_factory=dict, compare=False, repr=False)
    compared: dict[tuple[str, int], tuple[object, object]] = field(default_factory=dict, compare=False, repr=False)

    def once(self, read: Callable[["Reading"], _ReadT]) -> _ReadT:
        """Return what a rule reads of the sentence; read anew only the first time, however many claims it meets."""
        if read not in self.memo:
            self.memo[read] = read(self)
        return cast("_ReadT", self.memo[read])

    @classmethod
    def of(
        cls,
        text: str,
        start: int,
        context: frozenset[str] = frozenset(),
        fact_index: int = -1,
        place: int = 0,
        head: frozenset[str] = frozenset(),
    ) -> "Reading":
        """Read a text."""
        tokens = tuple(words(text))
        names = frozenset(root(word.text) for word in tokens if _tells_apart(word, text))
        return cls(text, start, tokens, roots(text), names, context, fact_index, place, head)

    def span(self, start: int, end: int) -> Span:
        """Return a stretch of the text with offsets in the document."""
        return Span(self.start + start, self.start + end)

    @property
    def whole(self) -> Span:
        """The whole text, with offsets in the document."""
        return self.span(0, len(self.text))

    @property
    def known(self) -> frozenset[str]:
        """Roots of the text and of what stands over it."""
        return self.content | self.context

    def part(self, start: int, end: int) -> "Reading":
        """Return a stretch of the sentence as a reading of its own."""
        stretch = self.text[start:end]
        return Reading.of(stretch, self.start + start, self.context, self.fact_index, self.place, self.head)


def asked_roots(claim: Reading) -> frozenset[str]:
    """Return the roots of the question that a claim answers; read with ``once``, however many rules ask."""
    return roots(claim.asked)


def _tells_apart(word: Word, text: str) -> bool:
    inside = word.start > 0 and text[word.start - 2 : word.start - 1] not in {".", "!", "?", ":"}
    return (text[word.start].isupper() and inside) or (not word.text.isalpha() and not word.text.isdigit())


_CUT: Final = re.compile(r"[;:]\s|,\s|\s(?=(?:and|but|or|while|whereas|then)\s)|\s[–—-]\s", re.IGNORECASE)  # noqa: RUF001


def pieces(reading: Reading) -> list[Reading]:
    """Cut a sentence at commas, semicolons, colons and coordinators; pieces without a word of content are left out."""
    found: list[Reading] = []
    at = 0
    for cut in [*_CUT.finditer(reading.text), None]:
        end = len(reading.text) if cut is None else cut.start()
        piece = reading.part(at, end)
        if piece.content:
            found.append(piece)
        at = len(reading.text) if cut is None else cut.end()
    return found


def nearest(
    content: frozenset[str], readings: Sequence[Reading], names: frozenset[str] = frozenset()
) -> list[tuple[float, Reading]]:
    """Return the readings with the share of the words that they hold, those that hold most first.

    What stands over a sentence counts half, and a name of the claim counts beside its words; of equals the shorter
    comes first, for it says less of other things.
    """
    rated = [
        ((share(content, one.content) + share(content, one.known)) / 2, share(names & content, one.known), one)
        for one in readings
    ]
    ranked = sorted(
        rated, key=lambda item: (-item[0] - item[1] / 2, len(item[2].content), item[2].fact_index, item[2].place)
    )
    return [(rate, one) for rate, _, one in ranked]


def nearest_to(claim: Reading, sources: Sequence[Reading]) -> list[tuple[float, Reading]]:
    """Return the sentences of a claim's facts as ``nearest`` does, computed once for all rules with one list."""
    key = ("sentences", id(sources))
    kept = claim.compared.get(key)
    if kept is None or kept[0] is not sources:
        kept = claim.compared[key] = (sources, nearest(claim.content, sources, claim.names))
    return cast("list[tuple[float, Reading]]", kept[1])


_APART: Final = re.compile(r";\s")


def statements(reading: Reading) -> list[Reading]:
    """Return the parts of a sentence between semicolons, each with the words of the whole over it."""
    if not _APART.search(reading.text):
        return [reading]
    found: list[Reading] = []
    at = 0
    for cut in [*_APART.finditer(reading.text), None]:
        part = reading.part(at, len(reading.text) if cut is None else cut.start())
        if part.content:
            found.append(replace(part, context=part.context | reading.content))
        at = 0 if cut is None else cut.end()
    return found
