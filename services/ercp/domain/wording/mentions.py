"""What a text must say and must not: "must mention the side effects", "no exclamation marks", "do not use the word X"."""

import re
from typing import Final

from services.common.reading.lexicon import BASE_VERBS
from services.ercp.domain.predicates import Predicate, PredicateName, Text
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.model import NotUnderstoodError

_MUST: Final = r"(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|ought\s+to|is\s+to|are\s+to|will)"
_ADVERB: Final = r"(?:(?:also|always|clearly|explicitly|at\s+least|briefly|somewhere|somehow|definitely)\s+)*"
_TELLING: Final = (
    r"mention|contain|include|state|say|name|list|explain|tell|warn|refer\s+to|cover|describe|quote|cite|remind|point\s+out|specify|"
    r"disclose|spell\s+out|give|have|carry|show|thank|apologi[sz]e|touch\s+on|note|own\s+up\s+to|admit|acknowledge|make\s+clear|address"
)
_TOLD: Final = (
    r"mentioned|stated|included|named|listed|explained|disclosed|described|covered|pointed\s+out|spelled\s+out|noted|specified|quoted|"
    r"cited|given|said|told|shown"
)
_REVEALING: Final = r"mention|contain|include|reveal|give\s+away|expose|disclose|show|leak|name|refer\s+to|use|say|quote|list|promise|have"
_ALWAYS_OF_TEXT: Final = frozenset(
    {"reveal", "give away", "expose", "disclose", "leak", "mention", "refer to", "promise"}
)
_MUST_SAY: Final = re.compile(rf"(?P<who>.*?)\b{_MUST}\s+{_ADVERB}(?P<verb>{_TELLING})\s+(?P<what>.+)", re.IGNORECASE)
_SAY: Final = re.compile(
    r"(?:always\s+|also\s+)?(?P<verb>mention|include|state|say|name|explain|list|warn|remind|thank|point\s+out|add|describe|cite|quote|"
    r"disclose|tell|specify|refer\s+to|spell\s+out)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_NEEDS: Final = re.compile(
    r"\A(?P<who>(?!\s)[^,;:]+?)(?<!\s)\s++(?:needs|need|requires?|wants)\s++(?:an?|the|some)\s++(?P<what>(?!to\b)[a-z].+)",
    re.IGNORECASE,
)
"""What the text itself has to have: "the plan needs a fallback for rain"."""
_KEEP_OUT: Final = re.compile(r"(?:keep|leave)\s+(?P<what>[^,;:]+?)\s+out(?:\s+of\s+(?P<of>[^,;:]+))?", re.IGNORECASE)
_BE_SAID: Final = re.compile(
    rf"(?P<what>.+?)\s+{_MUST}\s+{_ADVERB}be\s+{_ADVERB}(?:{_TOLD})(?P<where>\s+(?:in|on|at|somewhere).*)?",
    re.IGNORECASE,
)
_THERE: Final = re.compile(
    rf"there\s+{_MUST}\s+be\s+(?:(?:an?|some|one)\s+)(?:(?:short\s+|clear\s+|brief\s+)?(?:line|note|section|word|sentence|paragraph|warning|mention|hint|"
    r"reference|statement|remark|notice|passage)\s+(?:on|about|of|against|to|for|that|saying)\s+)?(?P<what>.+)",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"\A(?:(?:them|him|her|us|people|readers?|users?|customers?|guests?|everyone|the\s+(?:reader|user|customer|patient|client)s?)\s+)?"
    r"(?:(?:about|of|on|that|to|for|against|with)\s+)?(?:(?:what|when|where|who|whom|which|whether)\s+)?",
    re.IGNORECASE,
)
_NOT_SAY: Final = re.compile(
    rf"(?P<who>.*?)\b(?:(?:must|may|should|shall|can|do|does|will)\s*(?:not|never)|mustn't|shouldn't|can't|cannot|don't|doesn't|won't|never)\s+(?:ever\s+)?"
    rf"(?P<verb>call\s+it|{_REVEALING})\s+(?P<what>.+)",
    re.IGNORECASE,
)
_NOT_HELD: Final = re.compile(
    r"(?:(?:please\s+)?(?:don't|do\s+not|never)\s+(?:use|add|put\s+in|serve|eat|buy|plan|book|order)\s+any(?:thing\s+with)?\s+(?P<what>[^,;:]+?)|"
    r"[^,;:]+?\s+(?:must|may|should|shall|can)\s*(?:not|never)\s+(?:contain|include|involve)\s+(?:any\s+)?(?P<what2>[^,;:]+?)|"
    r"[^,;:]+?\s+(?:must|should|shall|has\s+to|have\s+to)\s+(?:be|do)\s+(?:free\s+(?:of|from)|without)\s+(?:any\s+)?(?P<what3>[^,;:]+?))"
    r"(?P<where>\s+(?:in|on|anywhere|at\s+all)\b.*)?",
    re.IGNORECASE,
)
"""What a thing, and so the text about it, is not to hold."""
_NOT_WANTED: Final = re.compile(
    r"(?:we|i)\s+(?:don't|do\s+not)\s+want\s+(?:any\s+)?(?P<what>.+?)(?P<kind>\s+of\s+any\s+kind)?(?P<where>\s+(?:in|on|anywhere)\s+.*)?|"
    r"(?:avoid|leave\s+out|omit)\s+(?P<what2>.+)|"
    r"(?P<what3>.+?)\s+(?:must|may|should|shall|can)\s*(?:not|never)\s+(?:appear|occur|be\s+(?:mentioned|used|named|included|disclosed|shown|revealed))(?:\s+(?:in|on|anywhere)\s+.*)?",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"(?:use\s+|with\s+|there\s+(?:must|should|may)\s+be\s+)?no\s+(?P<what>[a-z][^,;:]*?)(?P<where>\s+(?:in|on|anywhere|at\s+all)\b.*)?",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\A(?:more|less|fewer|later|earlier|longer|shorter|higher|lower|one|other|matter|need|longer|person|two|three)\b|\bthan\b|\d|\b(?:before|after|until|when|if)\b",
    re.IGNORECASE,
)
_VERBAL: Final = re.compile(r"\b(?:may|must|should|shall|can|is|are|was|will|has|have|gets?|goes|be)\b", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r"(?:the\s+)?(?:(?:exact\s+)?(?:words?|phrases?|sentence|term|expression|line|text|name)\s+)?[\"'](?P<text>[^\"]+?)[\"'](?:\s+(?:in|on|anywhere|at|as)\b.*)?",
    re.IGNORECASE,
)
_THE_WORD: Final = re.compile(
    r"(?:the\s+)?(?:exact\s+)?(?:word|phrase|term|expression|name)\s+(?!for\b|of\b|in\b|that\b|to\b)(?P<text>[^,;]+?)(?:\s+(?:in|on|anywhere|at\s+all)\b.*)?",
    re.IGNORECASE,
)
_SIGNS: Final = {
    "exclamation mark": "!", "exclamation point": "!", "question mark": "?", "semicolon": ";", "ampersand": "&", "hashtag": "#",
    "percent sign": "%", "dollar sign": "$", "euro sign": "€",
}  # fmt: skip
_STYLE: Final = re.compile(
    r"\b(?:jargon|abbreviations?|acronyms?|passive|slang|typos?|capitals|capital\s+letters?|repetitions?|adjectives?|adverbs?|superlatives?|"
    r"emojis?|fluff|clich\w+|spelling|mistakes?|bold|italics?|foreign\s+words?|technical\s+terms?|first\s+person|second\s+person|rhyme|"
    r"humou?r|jokes?|irony|contractions?)\b"
    r"|\A(?:the\s+|any\s+|more\s+)?(?:errors?|numbers?|digits?|figures?|names?|links?|questions?|headings?|lists?|tables?|bullets?|colou?rs?|"
    r"images?|pictures?)\Z",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(
    r"\s+(?:in|on|to|at)\s+(?:the|this|that|our|your|their|each|every)\s+(?P<doc>[a-z-]+)(?:\s+(?:line|text|itself))?\Z",
    re.IGNORECASE,
)
_DETERMINER: Final = re.compile(r"\A(?:the|an?|any|some|all|our|your|its|their|his|her|it|that|to)\s+", re.IGNORECASE)
_OF_THINGS: Final = re.compile(
    r"\b(?:or|either|if|unless|before|after|more|less|than|only|each|every)\b", re.IGNORECASE
)
_LIMITING: Final = re.compile(
    r"\b(?:at\s+(?:the\s+)?(?:very\s+)?(?:least|most|latest|earliest)|(?:more|less|fewer|later|earlier|longer|shorter|higher|lower)\s+than|up\s+to|"
    r"exactly|between|within|before|after|by|under|over|max\w*|min\w*)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 12


def read_mention(sentence: str) -> tuple[Predicate, str] | None:
    """Read what the text must say or must not, or ``None``.

    Raises:
        NotUnderstoodError: what is meant is a manner of writing, or not plain.
    """
    if read(sentence) and _LIMITING.search(sentence):
        return None  # how much, and not what, is to be said
    denied = _denied(sentence)
    if denied is not None:
        return denied
    for pattern in (_THERE, _BE_SAID, _MUST_SAY, _SAY, _NEEDS):
        match = pattern.fullmatch(sentence)
        if match is None or re.search(r"\b(?:not|never)\b|n't\b", sentence[: match.start("what") + 4]):
            continue
        who = match.groupdict().get("who") or ""
        if who.strip() and not clauses.is_of_document(who):
            continue
        if _OF_EACH.match(who):
            raise NotUnderstoodError("it asks for a topic in each of several parts")
        _refuse_place(match.groupdict().get("where"))
        if _SO_MANY.match(match["what"]):
            return None
        nothing = _NOTHING.fullmatch(match["what"])
        if nothing is not None:
            return _made(PredicateName.NOT_CONTAINS, nothing["what"])
        return _made(PredicateName.CONTAINS, match["what"])
    return None


def _denied(sentence: str) -> tuple[Predicate, str] | None:  # noqa: PLR0911 - one for each wording
    match = _NOT_HELD.fullmatch(sentence)
    if match is not None and not read(sentence):
        _refuse_place(match["where"])
        return _made(PredicateName.NOT_CONTAINS, match["what"] or match["what2"] or match["what3"])
    match = _NOT_SAY.fullmatch(sentence)
    if match is not None:
        verb = " ".join(match["verb"].lower().split())
        if verb == "call it":
            return _literal(PredicateName.NOT_CONTAINS, match["what"])
        is_worded = bool(_QUOTED.fullmatch(match["what"]) or _THE_WORD.fullmatch(match["what"]))
        is_meant = not match["who"].strip() or clauses.is_of_document(match["who"]) or verb in _ALWAYS_OF_TEXT
        if verb == "promise" and not is_worded:
            raise NotUnderstoodError(
                "a promise can be made in many words: forbid words in quotes, or that something is mentioned"
            )
        if is_meant and (is_worded or verb not in {"use", "have", "say"}):
            return _made(PredicateName.NOT_CONTAINS, match["what"])
        return None
    match = _NOT_WANTED.fullmatch(sentence)
    if match is not None:
        _refuse_place(match["where"])
        return _made(PredicateName.NOT_CONTAINS, match["what"] or match["what2"] or match["what3"])
    match = _KEEP_OUT.fullmatch(sentence)
    if match is not None and clauses.is_of_document(match["of"] or ""):
        return _made(PredicateName.NOT_CONTAINS, match["what"])
    match = _NO.fullmatch(sentence)
    if match is not None and not _COMPARED.search(match["what"]) and not _VERBAL.search(match["what"]):
        _refuse_place(match["where"])
        return _made(PredicateName.NOT_CONTAINS, match["what"])
    return None


def _refuse_place(where: str | None) -> None:
    """Refuse what is demanded of one place, or one day, alone: "no meetings on Friday"."""
    place = (where or "").strip()
    if (
        place
        and not re.match(r"(?:anywhere|at\s+all|in\s+any\s+(?:form|shape|way|guise))\b", place, re.IGNORECASE)
        and not clauses.is_of_document(place)
    ):
        raise NotUnderstoodError("it speaks of one place in the text, or of one time, alone")


_NOTHING: Final = re.compile(r"(?:nothing|no\s+word)\s+(?:about|of|on)\s+(?P<what>.+)", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\A(?:both|all|every|each|everything|nothing|anything|something|more|neither|none|no|what|it|them|this|that)\b",
    re.IGNORECASE,
)


_QUESTION: Final = re.compile(r"(?:how|why)\s+(?!much\b|many\b|long\b|often\b|far\b|soon\b|old\b)", re.IGNORECASE)
"""What has to be explained, and not only named, is kept in the topic (ADR 0221)."""
_OF_EACH: Final = re.compile(r"\s*(?:each|every|all\s+the|both)\b", re.IGNORECASE)
_SO_MANY: Final = re.compile(
    r"(?:exactly\s+|only\s+)?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+(?:[a-z]+\s+){0,2}?[a-z]+s\Z",
    re.IGNORECASE,
)
"""Things that are counted: "include three examples"."""
_AND_VERB: Final = re.compile(r"\band\s+(?P<verb>[a-z]+)", re.IGNORECASE)
_HOW: Final = re.compile(
    r"\b(?:only|once|twice|every|each)\b|\b(?:in|on|at)\s+(?:the\s+)?(?:very\s+)?(?:first|last|second|third|opening|closing|beginning|start|top|bottom)\b"
    r"|\b(?:one|two|three|four|five|\d+)\s+[a-z ]+\s(?:a|per)\s(?:day|week|month|year)\b",
    re.IGNORECASE,
)
_SHOWN: Final = re.compile(
    r"(?:,|(?<!\s)(?=\s))\s*+(?:like|such\s++as|e\.g\.|for\s++example)\s++[^,\d]*+\d|,\s*+(?:not|no|never|instead\s++of)\s",
    re.IGNORECASE,
)


def _made(name: PredicateName, what: str) -> tuple[Predicate, str]:
    what = what.strip(" .,;")
    sign = _SIGNS.get(_DETERMINER.sub("", what.lower()).removesuffix("s"))
    if sign is not None:
        return Predicate(name, Text(sign)), "words"
    quoted = _QUOTED.fullmatch(what) or _THE_WORD.fullmatch(what)
    if quoted is not None:
        return _literal(name, quoted["text"])
    return _topic(name, what)


def _literal(name: PredicateName, what: str) -> tuple[Predicate, str]:
    text = what.strip(" .,;\"'")
    if not text or _OF_THINGS.search(text):
        raise NotUnderstoodError("which words are meant is not plain")
    return Predicate(name, Text(text)), "words"


def _refuse_more(topic: str) -> None:
    """Refuse what says more than a topic: a second demand, how often or where it is to stand, how it is written."""
    further = _AND_VERB.search(topic)
    if further is not None and further["verb"].lower() in BASE_VERBS:
        raise NotUnderstoodError("it asks for two things at once")
    if _HOW.search(topic):
        raise NotUnderstoodError("how often, or where in the text, a topic is to stand, no operator says")
    if _SHOWN.search(topic):
        raise NotUnderstoodError("it shows by an example how something is to be written")


def _topic(name: PredicateName, what: str) -> tuple[Predicate, str]:
    if name is PredicateName.NOT_CONTAINS and _STYLE.search(what):
        raise NotUnderstoodError("it forbids a manner of writing, which no operator says")
    topic = _ABOUT.sub("", what)
    _refuse_more(topic)
    if _VAGUE.search(topic):
        raise NotUnderstoodError("which topic is meant is not plain")
    where = _WHERE.search(topic)
    if where is not None and where["doc"].lower() in clauses.DOCUMENT:
        topic = topic[: where.start()]
    topic = re.sub(r"(?<!\s)\s++(?:anywhere\b.*\Z|of\s+any\s+kind\Z)", "", topic, flags=re.IGNORECASE)
    while _DETERMINER.match(topic):
        topic = _DETERMINER.sub("", topic, count=1)
    question = _QUESTION.match(topic)
    words = clauses.names(topic if question is None else topic[question.end() :])
    if not words or len(topic.split()) > _MOST_WORDS:
        raise NotUnderstoodError("which topic is meant is not plain")
    if re.search(r"\bor\b|\beither\b", topic, re.IGNORECASE):
        raise NotUnderstoodError("it leaves a choice of topics")
    if name is PredicateName.NOT_CONTAINS and re.search(r"\band\b|,", topic):
        raise NotUnderstoodError("it forbids several topics at once")
    if any(char.isdigit() for char in topic) and re.search(
        r"\b(?:least|most|exactly|more|less|fewer)\b", topic, re.IGNORECASE
    ):
        raise NotUnderstoodError("it asks for a number of mentions")
    return Predicate(name, Text(topic), is_topic=True), "topic"
