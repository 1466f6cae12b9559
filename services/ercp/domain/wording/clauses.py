"""A constraint as rules read it: one line, plain quotes, without courtesy and reasons; and the names that it gives.

Everything here only takes away what changes no meaning. What might change it stays, and then no rule fits.
"""

import re
from typing import Final

from services.common.reading.lexicon import STOPWORDS
from services.ercp.domain.predicates import Path, PredicateError, parse_text
from services.ercp.domain.wording.model import NotUnderstoodError

MOST_PATH_WORDS: Final = 6
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "\u00a0": " "})  # noqa: RUF001
_MARK: Final = re.compile(r"(?:(?<!\s)\s++)?(?:[-*•]|\(?\d{1,2}[.)])\s+")
_END: Final = re.compile(
    r"(?<!\bMs)(?<!\bMr)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bNo)(?<=[a-z0-9%)'\"])[.!]\s+(?=[A-Z'\"])"
)
_COURTESY: Final = re.compile(r",?\s*\bplease\b,?\s*|\s*\bthanks?(?:\s+you)?\b[.!]?\s*\Z", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"(?:(?:and|but|also|so|ok|okay|note|remember|important|rule|constraint)\b[,:]?\s+)*"
    r"(?:(?:please\s+)?(?:make\s+sure|ensure|see\s+to\s+it|be\s+sure|check|take\s+care|remember|note|keep\s+in\s+mind|it\s+is\s+important|"
    r"it's\s+important|i\s+want|we\s+want|the\s+rule\s+is|it\s+is\s+essential|it\s+matters)\s+(?:that\s+)(?=\w))?",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"(?:,\s*|\s+)(?:because|since\s+(?=we\b|it\b|they\b|you\b|he\b|she\b)|as\s+(?=we\b|it\b|they\b|you\b|he\b|she\b)|so\s+that|"
    r"otherwise|or\s+else)\b[^\d]*\Z|,\s*(?:we|they|it|he|she|that|this)(?:\s+|')(?:can't|cannot|can|is|are|s\b|re\b|was|has|have|will|"
    r"would|won't|don't|doesn't|didn't|isn't|aren't|wasn't|hasn't|haven't|do|does|get|gets|need|needs|like|likes|hate|hates)\b[^\d]*\Z|"
    r",\s*(?:make\s+sure|please\s+check|double-check|check)\b[^\d]*\Z",
    re.IGNORECASE,
)
_QUOTED_GIVEN: Final = re.compile(
    r"(?:if|when|wherever|where)\s+(?:we|you|they|it|the\s+\w+)\s+(?:quote|mention|give|state|show|name|list)s?\s+(?:an?\s+|the\s+|any\s+)?"
    r"(?P<what>[^,]{2,60}),\s+(?:it|they|that|this|these)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_EXCEPTION: Final = re.compile(
    r"\b(?:unless|except|apart\s+from|other\s+than|depending|preferably|ideally|if\s+possible|where\s+possible|usually|normally|"
    r"roughly|approximately|around|about\s+(?=\d)|ish\b|as\s+a\s+rule|wherever|whenever|whichever|whatever|rather\s+than|"
    r"(?:anything|everything|anyone|everyone|all)\s+but|excluding|excluded|excepting|not\s+(?:counted|included)|(?:not|without)\s+(?:counting|including)|leaving\s+(?:out|aside)|aside\s+from|save\s+for|barring|"
    r"with\s+the\s+exception|on\s+average|(?:an|the)\s+average|typically|generally|mostly|as\s+far\s+as\s+possible)\b",
    re.IGNORECASE,
)
_SECOND: Final = re.compile(
    r"(?:[,;]\s*(?:and|but)\s+|;\s+|\s+and\s+(?=(?:it|they|each|all|the|every|he|she|we|you)\b))[^,;]*\b(?:must|should|shall|has\s+to|have\s+to|needs?\s+to|"
    r"ought\s+to|may\s+not|cannot|can't|don't|never)\b",
    re.IGNORECASE,
)
"""A second demand beside the first one."""
_TOLD: Final = re.compile(
    r"\b(?:say|mention|tell|explain|describe|state|line|note|section|word|sentence|paragraph|hint|warning)\b.*\b(?:what|how|who|where|whom)\b",
    re.IGNORECASE,
)
"""Before a condition: it belongs to what has to be said, as in "say what to do if a day is missed"."""
_ASKED: Final = re.compile(
    r"\b(?:say|explain|state|mention|describe|specify|(?:tell|remind|show)(?:\s+(?:the\s+)?[a-z]+)?)\Z", re.IGNORECASE
)
"""Right before "where" or "when": a question that the text has to answer."""
_PROHIBITING: Final = re.compile(
    r"(?P<core>(?:no|never|don't|do\s+not|please\s+no)\s[^,;]+)[,;]\s*(?!and\b|but\b|or\b|nor\b|no\b|only\b|unless\b|except\b)"
    r"(?!.*\b(?:must|should|shall|may|only|unless|except)\b)[^\d]+",
    re.IGNORECASE,
)
"""A prohibition with its reason: "No museums, the kids have had enough of them"."""
_CONDITIONAL: Final = re.compile(r"(?:\A|[\s,])(?:if|when|where|in\s+case|provided)\s", re.IGNORECASE)
_DEMANDING: Final = re.compile(
    r"\b(?:must|shall|should|has\s+to|have\s+to|need|needs|may|can|can't|cannot|never|always|only|no|not|exactly|either|at\s+most|at\s+least|"
    r"before|after|don't|do\s+not|mustn't|shouldn't|none|nobody|nothing|without|max|min|maximum|minimum|keep|use|write|give|mention|"
    r"include|avoid|add|state|limit|ought)\b|\d",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    r"(?:we|they|he|she|(?:the|our|their|his|her|my|many|most|some|few)\s(?:[a-z-]+\s){1,4}?)\s?"
    r"(?:don't|doesn't|do\s+not|does\s+not|didn't|never|aren't|isn't|wasn't|hasn't|haven't|can't|cannot)\s",
    re.IGNORECASE,
)
"""The subject and the negation of a statement about people or things."""
_CLOSING: Final = re.compile(
    r"(?:there\s+(?:is|are|must\s+be|should\s+be)\s+no\s+(?:other|others|further|more|third|fourth|exception)s?(?:\s+\w+){0,3}|"
    r"nothing\s+else|no\s+others?|no\s+exceptions?|no\s+(?:more|less|fewer),?\s*(?:and\s+)?no\s+(?:more|less|fewer)|"
    r"(?:no|not)\s+(?:one|a)\s+(?:more|less|fewer)|that's\s+(?:it|all)|period|full\s+stop)[.!]?",
    re.IGNORECASE,
)
_TAKES_PLACE: Final = re.compile(r"\b(?:takes?|taking|took|taken)\s+place\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:'[^\W_]+)?")
_FILLER: Final = (STOPWORDS | frozenset(
    """must shall should may might can cannot could will would ought has have had having do does did don't doesn't didn't mustn't shouldn't
    can't won't is are was were be been being it its it's we you they he she i us them our your their his her my this that these
    those there here nobody no-one none nothing never not no any anyone anybody each every all both either neither only just always also
    ever at most least more less fewer than over under above below up to of for in on by with from into within without and or but so if
    when then exactly precisely need needs needed want wants wanted get gets able allowed required please keep make sure ensure let
    maximum minimum max min capped limited exceed exceeds very strictly one same take takes taken taking stay stays remain
    contain contains containing remains come comes give gives given set fixed a an the longer shorter later earlier higher lower greater larger smaller better together
    altogether total sum combined overall whole entire go goes going gone happen happens throughout had like ever per
amount amounts figure""".split()  # noqa: SIM905
)) - frozenset({"first", "last", "same"})  # fmt: skip
DOCUMENT: Final = frozenset(
    """answer text summary message email e-mail mail letter reply response description page post report document abstract leaflet note notes
    article essay output announcement review card copy advert ad blurb list plan recipe release section draft piece story flyer brochure
    newsletter invitation programme program contract agreement paragraph body it this everything offer quote label listing notice sheet
    memo guide manual instructions handbook readme specification agenda itinerary proposal poster""".split()  # noqa: SIM905
)
"""Words by which a constraint speaks of the text itself."""


def plain(text: str) -> str:
    """Return a constraint as one line with plain quotes, without a list mark."""
    return _MARK.sub("", " ".join(text.translate(_QUOTES).split()), count=1)


def sentences(text: str) -> list[str]:
    """Return the sentences that demand something; what only explains, or closes, is left out.

    Raises:
        NotUnderstoodError: there is none, or more than one.
    """
    parts = [part.strip() for part in _END.split(text) if part.strip()]
    open_ = [part for part in parts if not _CLOSING.fullmatch(part.strip(" .!"))]
    demanding = open_ if len(open_) == 1 else [part for part in open_ if _demands(part)]
    if not demanding:
        raise NotUnderstoodError("it demands nothing that a rule knows")
    return demanding


def _demands(sentence: str) -> bool:
    """Say whether one of several sentences demands something: "Our guests don't eat it." only says how things are."""
    stated = _STATED.match(sentence)
    return bool(_DEMANDING.search(sentence if stated is None else sentence[stated.end() :]))


def bare(sentence: str) -> str:
    """Return a sentence without courtesy, opening words, reasons and its end.

    Raises:
        NotUnderstoodError: it has a condition or an exception.
    """
    core = _COURTESY.sub(" ", sentence).strip(" .!;,")
    core = core[_OPENING.match(core).end() :]  # type: ignore[union-attr]
    core = _REASON.sub("", core).strip(" .!;,")
    prohibiting = _PROHIBITING.fullmatch(core)
    core = core if prohibiting is None else prohibiting["core"]
    given = _QUOTED_GIVEN.fullmatch(core)
    if given is not None:
        core = f"The {given['what']} {given['rest']}"
    if _SECOND.search(core):
        raise NotUnderstoodError("it makes more than one demand; give each its own constraint")
    if _EXCEPTION.search(core):
        raise NotUnderstoodError("it has an exception or is only roughly meant, which no operator says")
    conditional = _CONDITIONAL.search(core)
    if (
        conditional is not None
        and not _TOLD.search(core[: conditional.start()])
        and not _ASKED.search(core[: conditional.start()])
    ):
        raise NotUnderstoodError("it holds under a condition, and that may change what it demands")
    return core


def names(text: str) -> list[str]:
    """Return the telling words of a part of a sentence, in order, each once."""
    found = [word.lower().removesuffix("'s").rstrip("'") for word in _WORD.findall(_TAKES_PLACE.sub(" ", text))]
    return list(dict.fromkeys(word for word in found if word not in _FILLER and len(word) > 1))


def path_of(text: str, *more: str) -> Path:
    """Return the attribute that some words name.

    Raises:
        NotUnderstoodError: they name none, or say too much for a name.
    """
    return path_from(names(text), *more)


def path_from(words: list[str], *more: str) -> Path:
    """Return the attribute of these words, with further segments."""
    if not words or len(words) > MOST_PATH_WORDS:
        fault = "it does not say of what" if not words else "it says more of its subject than a name can hold"
        raise NotUnderstoodError(fault)
    segments = ("_".join(word.replace("-", "_") for word in words), *more)
    try:
        predicate = parse_text(f"NoContradiction({'.'.join(segments)})")
    except PredicateError:
        raise NotUnderstoodError("what it speaks of is no name of an attribute") from None
    assert isinstance(predicate.left, Path)
    return predicate.left


def is_of_document(text: str) -> bool:
    """Say whether what stands before a verb is the text itself, or nothing: "it", "the summary", "your reply"."""
    words = names(text)
    return all(word in DOCUMENT for word in words)


def says_of_document(words: list[str]) -> list[str]:
    """Return the words that are left when those for the text itself are taken away."""
    return [word for word in words if word not in DOCUMENT]
