"""The words by which English ties a value to what it is the value of (ADR 0070): verbs, comparisons, conditions.

Patterns are short and anchored; what they do not know is left unread.
"""

import re
from collections.abc import Mapping
from typing import Final

ADVERBS: Final = (
    "also|always|usually|typically|normally|generally|still|now|currently|then|therefore|thus|hence|only|already|again|"
    "initially|officially|really|actually|indeed|exactly|precisely|just|together|both|first|finally"
)
_MODALS: Final = (
    r"must|shall|should|will|can|cannot|can['\u2019]t|won['\u2019]t|mustn['\u2019]t|shouldn['\u2019]t|may|might|could|would|does|do|did|"
    r"doesn['\u2019]t|don['\u2019]t|didn['\u2019]t|ha(?:s|ve)\s+to|needs?\s+to|ought\s+to"
)
_COPULAS: Final = (
    r"is|are|was|were|be|been|being|equals?|equalled|remains?|remained|stays?|reach(?:es|ed)?|totals?|totalled|"
    r"comes?(?=\s+to\b)|came(?=\s+to\b)|adds?\s+up(?=\s+to\b)|works?\s+out(?=\s+(?:at|to)\b)|corresponds?(?=\s+to\b)|"
    r"ranges?|ranged|varies|varied|becomes?|became|amounts?|amounted|stands|stood|averages?|averaged|measures?|measured|isn['\u2019]t|aren['\u2019]t|"
    r"wasn['\u2019]t|weren['\u2019]t"
)
LEXICAL: Final[Mapping[str, str]] = {
    "boil": "boiling point", "melt": "melting point", "freez": "freezing point", "weigh": "weight", "cost": "cost",
    "last": "duration", "tak": "duration", "travel": "speed", "mov": "speed", "run": "speed", "expir": "expiry",
    "exceed": "", "surpass": "", "carr": "load", "support": "load", "bear": "load",
}  # fmt: skip
"""What a verb says its value is; an empty one compares instead of naming."""
_LEXICAL: Final = (
    r"boil(?:s|ed)?|melt(?:s|ed)?|freezes?|froze|weigh(?:s|ed)?|costs?|lasts?|lasted|takes?|took|travel(?:s|led|ed)?|"
    r"moves?|moved|runs?|ran|carr(?:y|ies|ied)|supports?|supported|bears?|exceed(?:s|ed)?|surpass(?:es|ed)?"
)
_HAVE: Final = (
    r"has|have|had|contains?|contained|holds?|held|includes?|included|employs?|employed|comprises?|uses?|needs?"
)
VERB: Final = re.compile(
    rf"\b(?:(?P<modal>{_MODALS})(?P<mneg>\s+not\b|\s+never\b)?\s+(?:(?:{ADVERBS})\s+)?)?"
    rf"(?:(?P<copula>{_COPULAS})|(?P<lexical>{_LEXICAL})|(?P<have>{_HAVE}))\b|(?P<sign><=|>=|≤|≥|≈|=|<|>|:(?=\s))",
    re.IGNORECASE,
)
BOUNDARY: Final = re.compile(
    r"[;—]|,(?!\d)|(?<=\s)-(?=\s)|\s(?:but|while|whereas|although|though|because|since|so|which|who|unless|"
    r"that(?!\sof\b)|yet|if|when|whenever|where|as\slong\sas|provided|given|and(?=\s(?:the|an?|its?|this|their|our)\s))\s",
    re.IGNORECASE,
)
_RELATIONS: Final[Mapping[str, str]] = {
    "<=": r"at\s+most|no\s+more\s+than|not\s+more\s+than|up\s+to|(?:a|the)\s+maximum\s+of|no\s+longer\s+than|"
    r"not\s+longer\s+than|not\s+exceeding|no\s+greater\s+than|not\s+greater\s+than|within|no\s+later\s+than|"
    r"not\s+later\s+than|no\s+higher\s+than|not\s+over|not\s+above|by",
    ">=": r"at\s+least|no\s+less\s+than|not\s+less\s+than|(?:a|the)\s+minimum\s+of|no\s+fewer\s+than|"
    r"not\s+fewer\s+than|not\s+below|not\s+under|no\s+lower\s+than|no\s+earlier\s+than|not\s+before",
    "<": r"less\s+than|under|below|fewer\s+than|shorter\s+than|lower\s+than|smaller\s+than|lighter\s+than|"
    r"cheaper\s+than|earlier\s+than|before|colder\s+than|slower\s+than",
    ">": r"more\s+than|over|above|greater\s+than|longer\s+than|higher\s+than|larger\s+than|heavier\s+than|"
    r"later\s+than|after|bigger\s+than|hotter\s+than|faster\s+than|taller\s+than|upwards\s+of",
}
_RELATION: Final = "|".join(_RELATIONS.values())
_APPROXIMATE: Final = (
    r"about|approximately|approx\.?|around|roughly|nearly|almost|circa|ca\.|some|close\s+to|near|~|≈|an\s+estimated"
)
FILLER: Final = re.compile(
    rf"(?P<neg>\s*(?:\bnot\b|\bnever\b|\bno\s+longer\b))?(?P<fill>(?:\s*+(?:,\s*+)?+\b(?:{ADVERBS}|set|fixed|limited|equal|given|"
    r"measured|estimated|capped|recorded|known|defined|expected|specified|listed|rated|found|said|taken|from|to|at|as|on|in|of|"
    r"[a-z]{3,20}ed(?=\s+(?:as|at|to)\b)|be|a|an|the|value|total|temperature|speed|rate|around(?=\s+about)|up(?=\s+of))\b)*)"
    rf"(?:\s*\b(?P<relation>{_RELATION})\b)?(?:\s*(?:\b(?:{ADVERBS}|the|a|an|around)\b))?(?:\s*(?P<approximate>{_APPROXIMATE}))?"
    r"\s*",
    re.IGNORECASE,
)
NAMED: Final = re.compile(
    r"\s+(?:an?|the)\s+(?P<attribute>[\w-]+(?:\s[\w-]+){0,4}?)\s+of(?P<rest>\s.*)?", re.IGNORECASE | re.DOTALL
)
"""After "has": "a mass of", "a boiling point of about"."""
DIMENSIONS: Final[Mapping[str, str]] = {
    "tall": "height", "high": "height", "long": "length", "wide": "width", "broad": "width", "deep": "depth",
    "thick": "thickness", "old": "age", "heavy": "weight", "away": "distance", "fast": "speed",
}  # fmt: skip
ADJECTIVE: Final = re.compile(
    rf"\s+(?:in\s+)?(?P<word>{'|'.join(DIMENSIONS)}|height|length|width|depth)\b", re.IGNORECASE
)
COUNTED: Final = re.compile(r"\s+(?P<noun>[a-z][a-z-]+(?:\s[a-z][a-z-]+)?)", re.IGNORECASE)
CONDITION: Final = re.compile(
    r"(?:\s*+,)?+\s*+\b(?P<phrase>(?:at|in|on|under|during|for|near|above|below|with|without|per|inside|outside|across)\s+"
    r"(?:[^\s,.;:()]+|(?<=\d)[.,](?=\d)){1}(?:(?:\s+(?!and\b|or\b|but\b|because\b|while\b|whereas\b|so\b|which\b|that\b|is\b|"
    r"are\b|at\b|since\b|when\b|if\b|therefore\b)[^\s,.;:()]+)|(?<=\d)[.,](?=\d)[^\s,.;:()]+){0,7})",
    re.IGNORECASE,
)
"""A phrase that limits an assertion: "at sea level", "in Denver", "at an altitude of 1,600 m"."""
NO_CONDITION: Final = re.compile(
    r"(?:in\s+(?:total|all|general|fact|practice|addition|other\s+words|this\s+case|particular|turn|length|height|width|"
    r"depth|contrast|comparison)|on\s+average|at\s+(?:all|once|least|most|present)|for\s+(?:example|instance|short|this\s+reason)|"
    r"on\s+the\s+other\s+hand|with\s+(?:respect|regard)\b.*|in\s+the\s+end|in\s+conclusion|in\s+summary)\s*",
    re.IGNORECASE,
)
LEADING: Final = re.compile(
    r"\s*+(?:(?:and|but|however|also|then|so|yet|that|conversely)(?:\s*+,)?+\s++)*+"
    r"(?P<phrase>(?:at|in|on|under|during|for|near|above|below|with|without|when|whenever|if|once|inside|outside|"
    r"as\s+long\s+as|provided|given|unless|where)\s.+)",
    re.IGNORECASE | re.DOTALL,
)
HYPOTHETICAL: Final = re.compile(
    r"\s*(?:(?:and|but|however|so|then|even)\s+)*(?:if|when|whenever|suppose|supposing|assume|assuming|unless|once|"
    r"provided|imagine|let|as\s+long\s+as|where|given)\b|.*\b(?:perhaps|possibly|probably|maybe|allegedly|reportedly)\b",
    re.IGNORECASE | re.DOTALL,
)
DENIED: Final = re.compile(
    r".*\b(?:false|wrong|incorrect|untrue|mistaken|myth|misconception|not\s+true|not\s+the\s+case|not\s+correct|doubt(?:s|ed|ful)?|"
    r"deny|denies|claim(?:s|ed)?|believed?|believes|thought|argues?|suppos\w+|imagin\w+|assum\w+)\s*,?",
    re.IGNORECASE | re.DOTALL,
)
CONNECTIVES: Final = re.compile(
    r"[\s,]*(?:(?:however|therefore|thus|hence|so|and|but|or|also|then|now|note|moreover|since|because|although|though|while|whereas|furthermore|in\s+fact|in\s+addition|"
    r"consequently|as\s+a\s+result|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|next|yet|we\s+know|recall|similarly|"
    r"meanwhile|conversely|instead|overall|for\s+example|for\s+instance|indeed|specifically|this\s+means|it\s+follows|"
    r"step\s+\d+|[-*•]|\d{1,3}[.)])(?![\w'\u2019])[\s,:]*)+",
    re.IGNORECASE,
)
INHERITING: Final = re.compile(
    rf"[\s,]*(?P<joined>\(|\b(?:and|but|or|i\.e\.|that\s+is|which\s+is|equivalently)\b)?[\s,]*"
    rf"(?P<lead>(?:for|in|at|on|under)\s(?!about\b|around\b|least\b|most\b)[^\s,.;()\d]+(?:\s[^\s,.;()\d]+){{0,4}}?\s+(?=\Z|it\b|about\b|at\b|around\b))?(?:\bit\s+is\b)?"
    rf"(?:\b(?:only|also|at|to|by|of|is|"
    rf"about\s+the\s+same\s+as)\b\s*)*(?:\b(?P<relation>{_RELATION})\b\s*)?(?P<approximate>\b(?:{_APPROXIMATE})|[~≈])?\s*=?\s*",
    re.IGNORECASE,
)
"""Between a value and one more of the same attribute: "100 °C (212 °F)", "100 °C at sea level and 93 °C in Denver"."""


def relation_of(phrase: str | None) -> str:
    """Return ``<``, ``<=``, ``>``, ``>=`` for a comparing phrase, ``=`` for none."""
    if not phrase:
        return "="
    return next(sign for sign, pattern in _RELATIONS.items() if re.fullmatch(pattern, phrase.strip(), re.IGNORECASE))


FLIPPED: Final[Mapping[str, str]] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""What "not" makes of a comparison."""
COMPARATIVES: Final[Mapping[str, tuple[str, str]]] = {
    "lighter": ("<", "weight"), "heavier": (">", "weight"), "taller": (">", "height"), "higher": (">", ""),
    "lower": ("<", ""), "longer": (">", "length"), "older": (">", "age"), "younger": ("<", "age"),
    "cheaper": ("<", "cost"), "dearer": (">", "cost"), "faster": (">", "speed"), "slower": ("<", "speed"),
    "hotter": (">", "temperature"), "warmer": (">", "temperature"), "colder": ("<", "temperature"),
    "cooler": ("<", "temperature"), "wider": (">", "width"), "narrower": ("<", "width"), "deeper": (">", "depth"),
    "shallower": ("<", "depth"), "thicker": (">", "thickness"), "thinner": ("<", "thickness"),
    "shorter": ("<", "length"),
    "less": ("<", ""), "fewer": ("<", ""), "smaller": ("<", ""), "more": (">", ""), "greater": (">", ""),
    "larger": (">", ""), "bigger": (">", ""),
}  # fmt: skip
"""What a comparative says, and of which attribute when the phrase names none."""
