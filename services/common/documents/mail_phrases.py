"""What a mail says by custom, and what tells whose words follow: greetings, sign-offs, notices, lines before quotes.

English, German, French, Spanish, Italian and Dutch. Every pattern is anchored and reads a bounded part of a text.
"""

import re
from dataclasses import dataclass
from typing import Final

_GREETING: Final = re.compile(
    r"(?:dear|hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings|to whom it may concern"
    r"|sehr geehrte[rs]?|liebe[rs]?|hallo|guten (?:morgen|tag|abend)|moin|servus"
    r"|bonjour|bonsoir|chers?|ch\u00e8res?|madame|monsieur|mesdames|salut"
    r"|estimad[oa]s?|hola|buen(?:os|as) (?:d\u00edas|tardes)|gentile|car[oai]|ciao|buongiorno|beste|geachte)\b"
    r"(?P<whom>[^\n,:!.;?]{0,60})(?P<end>[,:!.]|$)",
    re.IGNORECASE,
)
_CALLED: Final = re.compile(r"[^\W\d_][\w'\u2019-]*(?:(?: and| und| et| &|,)? [^\W\d_][\w'\u2019.-]*){0,3},")
_JOINING: Final = frozenset({"and", "und", "et", "all", "team", "both", "zusammen"})
_TITLE: Final = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.", re.IGNORECASE)
_TITLE_CHARS: Final = 60
_MAX_WHOM_WORDS: Final = 8
_BARE_WHOM_WORDS: Final = 4
_SIGN_OFF: Final = re.compile(
    r"(?:(?:with )?(?:(?:kind|kindest|best|warm|warmest|friendly) )?regards|(?:with )?(?:best|kind|good"
    r"|all good) wishes|all the best"
    r"|(?:yours|very) (?:sincerely|faithfully|truly|respectfully)|sincerely(?: yours)?|respectfully|cheers"
    r"|best|warmly|take care"
    r"|thanks(?: (?:in advance|again|a lot|for (?:reading|your (?:help|time|patience|support))"
    r"|and (?:kind|best) regards|so much|very much))?|many thanks"
    r"|thank you(?: (?:in advance|again|very much|so much|and (?:kind|best) regards))?"
    r"|(?:mit )?(?:freundliche[nm]?|herzliche[nm]?|beste[nm]?|viele[nm]?|liebe[nm]?"
    r"|sch\u00f6ne[nm]?) gr(?:\u00fc\u00dfe[n]?|\u00fcsse[n]?|u\u00df)|mfg"
    r"|hochachtungsvoll|vielen dank(?: im voraus)?|danke"
    r"|(?:bien )?cordialement|bien \u00e0 (?:vous|toi)|salutations distingu\u00e9es|meilleures salutations"
    r"|merci(?: d'avance)?"
    r"|(?:un )?(?:cordial )?saludos?(?: cordiales)?|atentamente|cordiali saluti|distinti saluti"
    r"|met vriendelijke groet(?:en)?)"
    r"(?P<end>[,.!]?)(?P<rest>.{0,200})",
    re.IGNORECASE,
)
_SHORT_FORMS: Final = frozenset({"best", "thanks", "cheers", "danke", "merci", "warmly", "respectfully", "sincerely"})
_MAX_NAME_WORDS: Final = 12
_COURTESY: Final = re.compile(
    r"(?:(?:thank you|thanks|many thanks) (?:very much |so much )?for your (?:e-?mail|mail|message|letter"
    r"|reply|enquiry|inquiry|call|note)"
    r"[^.!?\d]{0,60}[.!]"
    r"|i hope (?:this|you)[^.!?\d]{0,80}(?:well|great|fine|day|week|weekend)[.!]"
    r"|(?:i|we) look forward to hearing from you[^.!?\d]{0,40}[.!]"
    r"|looking forward to hearing from you[^.!?\d]{0,40}[.!]"
    r"|(?:please |do )?(?:do not|don't|feel free to)(?: hesitate)?(?: to)? (?:contact|call|write|ask|get in touch)"
    r"(?: with)?(?: us| me)?(?: (?:if|should|with|for)[^.!?\d]{0,80}(?:questions?|queries|help|information"
    r"|assistance))?[.!]"
    r"|(?:vielen dank|danke|herzlichen dank) f\u00fcr (?:ihre|deine|eure) (?:e-?mail|mail|nachricht|anfrage"
    r"|antwort)[^.!?\d]{0,40}[.!]"
    r"|merci (?:beaucoup )?(?:de|pour) votre (?:message|courriel|mail|r\u00e9ponse)[^.!?\d]{0,40}[.!])\s*",
    re.IGNORECASE,
)
_SECRECY: Final = (
    ("confidential", "intended"),
    ("confidential", "recipient"),
    ("confidential", "addressee"),
    ("confidential", "in error"),
    ("privileged", "recipient"),
    ("received this", "in error"),
    ("vertrauliche", "empf\u00e4nger"),
    ("vertraulich", "irrt\u00fcmlich"),
    ("confidentiel", "destinataire"),
    ("confidencial", "destinatario"),
    ("riservat", "destinatari"),
)
_THIS_MAIL: Final = re.compile(
    r"\b(?:this|the) (?:e-?mail|message|communication|transmission)|\bdiese (?:e-?mail|nachricht)"
    r"|\bce (?:message|courriel)|\beste (?:mensaje|correo)|\bquest[ao] (?:messaggio|e-?mail)"
)
_ADDED: Final = (
    ("not the intended recipient",),
    ("environment", "before printing"),
    ("environment", "print this"),
    ("sent from my ",),
    ("get outlook for ",),
    ("scanned for viruses",),
    ("virus-free",),
    ("checked for viruses",),
    ("von meinem iphone gesendet",),
    ("to unsubscribe", "click"),
    ("unsubscribe from this",),
    ("opinions", "author", "do not necessarily"),
)
_MAX_NOTICE_CHARS: Final = 2_000
_CONTACT: Final = re.compile(
    r"\b(?:tel(?:efon|ephone)?|t\u00e9l|phone|mobile?|mobil|cell|fax|e-?mail|web(?:site)?|direct(?: line)?"
    r"|durchwahl|hotline|office hours|[TMFE])\s?\.?\s?:\s?\S"
    r"|\b(?:tel(?:efon|ephone)?|t\u00e9l|phone|mobile|mobil|fax)\.?\s(?=[+(\d])"
)
_CONTACT_ANY: Final = re.compile(_CONTACT.pattern.replace("[TMFE]", "(?-i:[TMFE])"), re.IGNORECASE)
_VERBS: Final = (
    "wrote",
    "writes",
    "schrieb",
    "a \u00e9crit",
    "escribi\u00f3",
    "ha scritto",
    "scrisse",
    "schreef",
    "skrev",
    "escreveu",
)
_OPENINGS: Final = ("on ", "am ", "le ", "el ", "il ", "op ", "den ", "em ")
_DATED: Final = re.compile(r"\d{1,2}[:.]\d\d|\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d\d")
_MAX_ATTRIBUTION: Final = 300
_ADDRESS: Final = re.compile(r"\s?[<\[(][^<>\[\]()\s]{1,100}@[^<>\[\]()\s]{1,100}[>\])]")
_MARKERS: Final = re.compile(
    r"[-_ ]{0,20}(?:original message|original appointment|forwarded message|begin forwarded message"
    r"|urspr\u00fcngliche nachricht"
    r"|weitergeleitete nachricht|message d'origine|message transf\u00e9r\u00e9|mensaje original"
    r"|messaggio originale)[-_: ]{0,20}",
    re.IGNORECASE,
)
_HEAD_LINE: Final = re.compile(
    r"\*{0,2}(?P<name>from|sent|date|to|cc|subject|reply-to|von|gesendet|datum|an|betreff|de|envoy\u00e9"
    r"|\u00e0|objet|para|asunto|enviado|da|inviato|a|oggetto)"
    r"\s?:\*{0,2}\s?(?P<value>.{0,300})",
    re.IGNORECASE,
)
_HEADS_WITHIN: Final = re.compile(
    r"\*{0,2}(?:From|Von|De|Da)\s?:\*{0,2} (?P<who>.{1,200}?) \*{0,2}(?:Sent|Date|Gesendet|Datum|Envoy\u00e9"
    r"|Enviado|Inviato)\s?:\*{0,2} "
    r"(?P<when>.{1,100}?) \*{0,2}(?:To|An|\u00c0|Para|A|Cc|Subject|Betreff|Objet)\s?:"
)
_FROM: Final = frozenset({"from", "von", "de", "da"})
_SENT: Final = frozenset({"sent", "date", "gesendet", "datum", "envoy\u00e9", "enviado", "inviato"})
_GERMAN: Final = frozenset({"von", "gesendet", "datum", "betreff"})
UNKNOWN: Final = "An earlier mail that is quoted says"


@dataclass(frozen=True, slots=True)
class Heads:
    """What the heads of a quoted mail say, as a lead-in to its words, and how many lines they are."""

    lead: str
    lines: int


def after_greeting(line: str) -> str | None:
    """Return what follows a greeting on its line, empty when nothing does; ``None`` where there is none."""
    line = _TITLE.sub(r"\1", line[:_TITLE_CHARS]) + line[_TITLE_CHARS:]
    match = _GREETING.match(line)
    if match is None or len(match["whom"].split()) > _MAX_WHOM_WORDS:
        return None
    rest = line[match.end() :].strip()
    if match["end"] == "." and rest:
        return None
    if not match["end"] and len(match["whom"].split()) > _BARE_WHOM_WORDS:
        return None
    return rest


def is_called(line: str) -> bool:
    """Say whether a line is nothing but the name of whom it calls, and a comma; at the top of a mail alone."""
    words = line.replace(",", " ").split()
    return bool(_CALLED.fullmatch(line)) and all(word[:1].isupper() or word in _JOINING for word in words)


def after_sign_off(line: str) -> str | None:
    """Return the name behind a sign-off on its line, empty when it stands alone; ``None`` where there is none."""
    match = _SIGN_OFF.fullmatch(line)
    if match is None:
        return None
    rest = match["rest"].strip(" ,-\u2013")
    if rest and match["rest"][:1].isalnum():
        return None
    phrase = line[: match.start("end")].lower()
    words = rest.split()
    named = all(word[:1].isupper() or not word[:1].isalpha() for word in words[:2])
    most = 3 if phrase in _SHORT_FORMS else _MAX_NAME_WORDS
    if rest and (len(words) > most or not named or (phrase in _SHORT_FORMS and not match["end"])):
        return None
    return None if rest.endswith((".", "?", "!", ";")) and len(words) > 3 else rest  # noqa: PLR2004 - a sentence


def is_custom(text: str) -> bool:
    """Say whether a paragraph of a letter is a greeting or a sign-off alone, which says nothing."""
    if len(text) > _MAX_ATTRIBUTION:
        return False
    greets = text.endswith(",") and after_greeting(text) == ""
    return greets or (text.rstrip(",").lower() not in _SHORT_FORMS and after_sign_off(text) == "")


def without_courtesy(text: str) -> str:
    """Return a text without the sentences of mere politeness at its beginning and, alone, at its end."""
    match = _COURTESY.match(text)
    while match:
        text = text[match.end() :]
        match = _COURTESY.match(text)
    return text


def is_notice(text: str) -> bool:
    """Say whether a paragraph is what a mail system adds to every mail: secrecy, viruses, printing."""
    if len(text) > _MAX_NOTICE_CHARS:
        return False
    small = text.lower()
    if any(all(part in small for part in parts) for parts in _ADDED):
        return True
    return _THIS_MAIL.search(small) is not None and any(all(part in small for part in parts) for parts in _SECRECY)


def contact_of(line: str) -> str:
    """Return the labelled contact data in a line of a signature; empty where it has none."""
    match = _CONTACT_ANY.search(line[:_MAX_ATTRIBUTION])
    return line[match.start() :].strip() if match else ""


def attribution_of(text: str, *, quoted_below: bool) -> str:
    """Return the lead-in to a quoted mail that a line gives, without address and colon; empty where it gives none."""
    if len(text) > _MAX_ATTRIBUTION or not text.rstrip().endswith(":"):
        return ""
    lead = " ".join(_ADDRESS.sub("", text).split()).rstrip(": ")
    small = f" {text.lower().rstrip(': ')} "
    if lead.lower() in _VERBS or not any(f" {verb} " in small for verb in _VERBS):
        return ""
    dated = small[1:].startswith(_OPENINGS) and _DATED.search(small) is not None
    if not (dated or quoted_below or "@" in text):
        return ""
    return lead


def attribution_within(text: str) -> tuple[str, ...]:
    """Return a line that says who wrote what follows on it in two, as they were before a page ran them together."""
    end = text.find(": ", 0, _MAX_ATTRIBUTION)
    while end >= 0 and not attribution_of(text[: end + 1], quoted_below=False):
        end = text.find(": ", end + 1, _MAX_ATTRIBUTION)
    return (text,) if end < 0 else (text[: end + 1], text[end + 2 :])


def is_marker(line: str) -> bool:
    """Say whether a line says that another mail follows."""
    return _MARKERS.fullmatch(line.strip()) is not None


def heads_of(lines: list[str]) -> Heads | None:
    """Return what the heads of a quoted mail say that lines begin with; ``None`` where they are none."""
    within = _HEADS_WITHIN.match(" ".join(lines[0].split())[:500]) if lines else None
    if within:
        return Heads(_lead(within["who"], within["when"], german=lines[0].startswith("Von")), 1)
    who = when = ""
    german = False
    count = 0
    for line in lines[:12]:
        match = _HEAD_LINE.fullmatch(line.strip())
        if match is None:
            break
        name = match["name"].lower()
        german |= name in _GERMAN
        who = match["value"] if name in _FROM and not who else who
        when = match["value"] if name in _SENT and not when else when
        count += 1
    return Heads(_lead(who, when, german=german), count) if who and when and count > 2 else None  # noqa: PLR2004


def _lead(who: str, when: str, *, german: bool) -> str:
    name = _ADDRESS.sub("", who).strip(" \"'") or who.strip()
    day = when.strip()
    return f"Am {day} schrieb {name}" if german else f"On {day} {name} wrote"
