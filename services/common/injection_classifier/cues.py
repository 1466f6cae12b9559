"""What a window says to whom, and in what kind of text it stands: cues beside words and vectors (ADR 0175).

Words alone do not tell an order to a model from an order to people, nor an attack from a text that quotes one. A cue
is a family of expressions that a window has: who is addressed, what is asked for, what is to be hidden, whether it is
reported or quoted. The text around it adds whether it is otherwise addressed to a model, and whether it speaks of
attacks. Each window is searched once for each family, so that the work is linear in the text's length.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.injection_classifier.windows import Cut

Floats = NDArray[np.float32]

_FAMILIES: Final[dict[str, str]] = {
    "model": r"\b(?:ai|a\.i\.|assistants?|chat ?bots?|llms?|gpt\S*|claude|gemini|copilots?|language[- ]models?"
    r"|digital helpers?|virtual helpers?|judge model|text[- ]generation|summari[sz]ers?|voice bot)\b",
    "machine": r"\b(?:models?|agents?|bots?|software|programs?|tools?|machines?|automat\w+|algorithms?|engines?"
    r"|systems?|scanners?|crawlers?|screening|pipeline|runtime)\b",
    "your_work": r"\byour? (?:\w+ )?(?:answers?|reply|replies|response|output|summary|overview|user|owner"
        r"|principal|operator"
    r"|developer|provider|maker|task|instructions?|guidelines?|rules|prompt|configuration|set-up|settings"
    r"|session|notes"
    r"|long-term|memory|research|verdict|rubric|account of|suggestion)\b",
    "user": r"\b(?:the|this|that|a|its|their) (?:user|person|reader|customer|human|people|owner|asker)s?\b"
    r"|\b(?:who(?:ever)?|anyone|someone|somebody) (?:asks?|asked|reads?|is asking|wants|looking)\b",
    "summary": r"\b(?:summar\w+|digests?|abstracts?|overviews?|condense\w*|shorten\w*|gist|translat\w+|quot(?:e"
        r"|es|ing)"
    r"|cit(?:e|es|ing))\b",
    "chat": r"\b(?:conversations?|chats?|sessions?|this exchange|context window|messages?|requests?|questions?"
        r"|later request)\b",
    "you": r"\byou\b|\byour\b",
    "speaker": r"\b(?:i|we|my|our|me|us)\b",
    "please": r"\b(?:please|kindly|grateful|be so good|would you|might i|thank you|favour)\b",
    "duty": r"\b(?:must|shall|should|ought|has to|have to|is to|are to|will want|need to|required|expected to"
        r"|advised)\b",
    "say": r"\b(?:say|says|answer|reply|state|tell|describe|call|present|report|mention|conclude|confirm|claim"
        r"|name|write)\b",
    "omit": r"\b(?:leave out|leaves? \w+ out|omit|skip|drop|pass over|withhold|ignore|disregard|forget|overlook"
        r"|unmentioned"
    r"|not mention|not repeat\w*|avoid|decline|refuse|deny|keep quiet|as absent|never took place|not written)\b",
    "rank": r"\b(?:recommend\w*|rank\w*|rate|rating|scores?|grades?|first|top|full (?:points|marks)|award"
        r"|approve[ds]?|accept"
    r"|positive|excellent|best|highest|prefer)\b",
    "send": r"\b(?:send|forward|mail|post|upload|append|copy|transfer|pass along|hand over|share|attach|fetch"
        r"|load|paste)\b",
    "do": r"\b(?:call|run|open|delete|wipe|overwrite|book|order|buy|pay|submit|push|disable|approve|set the"
        r"|execute|merge|add"
    r"|remove|store|save|remember|press|install|activate)\b",
    "reveal": r"\b(?:repeat|print|reveal|disclose|display|list|show|read out|output|dump|expose)\b",
    "hide": r"\b(?:silently|quietly|secretly|between the lines|confidential|hidden|invisible|unseen"
        r"|keep (?:this|it) (?:between|to)"
    r"|without (?:asking|telling|mention\w*|confirm\w*|remark)|no need to|no reason to|need not|(?:not|n't"
    r"|never) (?:tell|mention"
    r"|let|show|reveal|report|log)|nobody will|remove this)\b",
    "secret": r"\b(?:passwords?|passcode|card numbers?|api keys?|private keys?|tokens?|pin|credentials?"
        r"|seed words|cookies?"
    r"|connection string|date of birth|passport|secrets?|\.env|session|balance|codes?)\b",
    "earlier": r"\b(?:previous|prior|earlier|above|preceding|initial|original|first) (?:\w+ )?(?:instructions?"
        r"|rules|guidelines?"
    r"|prompts?|messages?|text|paragraph|configuration|promises|directions?|task|policy)\b",
    "rules": r"\b(?:instructions?|rules?|guidelines?|restrictions?|filters?|limits?|policy|policies|safety"
        r"|guardrails?|checks?"
    r"|constraints?|refusal|unrestricted|unfiltered|uncensored)\b",
    "lifted": r"\b(?:lifted|suspended|off|disabled|no longer|overrid\w+|overrul\w+|cleared|outranks?|bypass"
        r"|exempts?|void|reset"
    r"|waived|undone|removed|instead|from now on|from here on|from this \w+ on\w*|new task|replaces?)\b",
    "rank_of_speaker": r"\b(?:administrator|admin|developer|operator|security team|legal|head office|provider|officer"
    r"|authori[sz]\w*|verified|pre-?approved|trusted|by order|on behalf|in charge)\b",
    "markup": r"\[/?(?:system|inst|admin|user|assistant)|<</?|<\|?/?(?:system|user|assistant|tool_result"
        r"|document|context|im_)"
    r"|\brole: ?system|\bsystem(?: message| notice| prompt)?:|-{3,} ?\w|#{3}",
    "turn": r"\b(?:user|human|assistant|q|a|you|ai|observation|thought|action|model): ?",
    "whatever": r"\b(?:whatever|whichever|regardless|even (?:if|where|though)|although|no other|nothing else"
        r"|only|always|every"
    r"|any question|all questions|in any case|as though|as if)\b",
    "play": r"\b(?:pretend|act as|play(?:ed|s|ing)?|roles?|characters?|imagine|persona|voice of|part of|scene"
        r"|story|game|twin"
    r"|fiction\w*|you are now|stay in)\b",
    "if": r"\b(?:if|when(?:ever)?|should|once|unless|as long as|in case|where|after|before|until)\b",
    "attack_talk": r"\b(?:attack\w*|injection\w*|injected|jailbreak\w*|phish\w*|malicious|red team\w*"
        r"|exploit\w*|hackers?|adversar\w*"
    r"|vulnerab\w*|hidden (?:text|order|line)|payload|spoof\w*|scam\w*|worm|exfiltrat\w*)\b",
    "example": r"\b(?:examples?|for instance|e\.g\.|such as|phrases?|tests?|expected|labels?|exercise|quiz"
        r"|patterns?|flagged"
    r"|blocked|detect\w*|sample|glossary|slide|lesson|module|proof|finding)\b",
    "reported": r"\b(?:said|says|wrote|typed|told|asked|answered|whispers?|claimed|read:|read \"|followed it"
        r"|obeyed|tried|declined)\b",
    "past": r"\b(?:was|were|had|did|been|went|came)\b",
    "code": r"[{}=;]|\bdef |\breturn\b|=>|\bconst\b|\bimport\b|^[^\S\n]*(?://|#|--|/\*)",
    "link": r"https?://|www\.|\S@\S|!\[",
    "prompt_code": r"\bprompts?\b ?[=:(]|prompt_|messages ?=|\brole\W{1,4}(?:system|user)|\b(?:client|llm"
        r"|chat)\.?\w*\("
    r"|\btemplate ?=|\bparametrize\b|\bassert\b|\"description\":|agents\.md|copilot-instructions|llms\.txt",
    "slot": r"\$\{|\{\w+\}|<\w+>|%s",
    "salutation": r"^(?:dear|hi|hello|hey|team|mum)\b",
    "foreign_reader": r"\b(?:l'assistant|asistente|assistente|asystent|modello?|modelo|modèle|nutzer\w*"
        r"|benutzer\w*|anwender\w*|usuari\w+"
    r"|utilisateur\w*|utente|användar\w+|gebruiker\w*|użytkownik\w*|maschinell\w*|automat\w+|ki|ia"
    r"|zusammenfass\w*|résum\w+"
    r"|resum\w+|riassum\w*|elabora|samenvatting|sammanfatt\w*|antwort\w*|antwoord\w*|répon\w+|contest\w+"
    r"|rispond\w*|svara)\b",
}  # fmt: skip
"""Of each family the expressions of a window, in lower case."""
_OPENINGS: Final = re.compile(
    r"^\W{0,4}(?:system\W{0,3} ?)?(?:you are (?:a|an|the)\b|your name is|your role|role:|as the assistant"
    r"|you will (?:get|be given)"
    r"|act as|answer only|answer the|summari[sz]e|translate|extract|judge|rewrite|write a|please summari[sz]e"
    r"|classify)"
)
"""How a text begins that is addressed to a model as a whole."""
_ORDERS: Final = re.compile(
    r"(?:^|[.!?:;,]\s|\]\s|-\s)(?:then |simply |just |please |never |always |do not |don't )?(?:say|answer"
    r"|reply|tell|state|describe|give"
    r"|put|rate|rank|recommend|make|leave|drop|skip|ignore|disregard|forget|treat|keep|call|run|send|forward"
    r"|copy|share|save|store"
    r"|remember|use|set|show|list|repeat|print|translate|pretend|imagine|act|play|write|add|mark|count|deny"
    r"|pass|avoid|present|let"
    r"|ask|have|turn|fetch|load|open|book|close|stay|take|end|work|order|fill|complete|summari[sz]e|switch"
    r"|press|apply|proceed)\b"
)
"""A sentence or clause that begins with an order."""
_NAMED: Final = re.compile(r"^[A-Z][a-z]+,? |^(?:Dear|Hi|Hello|Hey) [A-Z]|\b(?:Ms|Mr|Mrs|Dr)\.? [A-Z]")
_QUOTES: Final = '"“”«»„'
_PATTERNS: Final = {name: re.compile(pattern, re.MULTILINE) for name, pattern in _FAMILIES.items()}
_OWN: Final = (*_FAMILIES, "order", "named", "quoted", "in_quotation", "other_script")
_ADDRESSED: Final = ("model", "your_work", "markup", "turn", "foreign_reader")
_ASKED: Final = ("order", "say", "omit", "rank", "send", "do", "reveal", "hide", "lifted", "play")
_AROUND: Final = (
    "model",
    "machine",
    "your_work",
    "you",
    "attack_talk",
    "example",
    "reported",
    "code",
    "order",
    "salutation",
    "past",
)
_TEXT: Final = ("opening", "quotations", "attacks_told", "examples_told", "prompts_told", "speech_told")
_JOINT: Final = (
    "addressed",
    "addressed_asked",
    "addressed_asked_alone",
    "addressed_hide",
    "user_asked",
    "user_hide",
    "addressed_reported",
    "addressed_attack_talk",
    "addressed_in_prompt",
    "addressed_quoted",
    "asked_of_named",
    "machine_duty",
    "machine_asked",
    "summary_omit",
    "rules_lifted",
    "your_work_reveal",
    "send_link",
    "user_secret",
    "you_earlier",
    "whatever_say",
)
NAMES: Final = (*_OWN, *(f"around_{name}" for name in _AROUND), *_TEXT, *_JOINT)
"""The cues in the order of their columns."""


def cues(cut: Cut) -> Floats:
    """Return the cues of each window of a text.

    Args:
        cut: a readable text in windows.

    Returns:
        Numbers from 0 to 1; shape ``(windows, len(NAMES))``.
    """
    count = len(cut.windows)
    if not count:
        return np.zeros((0, len(NAMES)), dtype=np.float32)
    own = _own(cut.windows)
    column = {name: own[:, place] for place, name in enumerate(_OWN)}
    around = _around(np.stack([column[name] for name in _AROUND], axis=1))
    text = _text(cut, column)
    joint = _joint(column, {name: around[:, place] for place, name in enumerate(_AROUND)}, text[:, 0])
    return np.concatenate([own, around, text, joint], axis=1).astype(np.float32)


def _own(windows: tuple[str, ...]) -> Floats:
    """Return what each window has by itself, and whether it stands in a quotation that began before."""
    found = np.zeros((len(windows), len(_OWN)), dtype=np.float32)
    is_open = False
    for place, window in enumerate(windows):
        lower = window.lower()
        found[place, : len(_PATTERNS)] = [pattern.search(lower) is not None for pattern in _PATTERNS.values()]
        marks = sum(map(window.count, _QUOTES))
        foreign = sum(not each.isascii() for each in window) / max(1, len(window))
        found[place, len(_PATTERNS) :] = (
            _ORDERS.search(lower) is not None,
            _NAMED.search(window) is not None,
            min(1.0, marks / 2),
            is_open,
            min(1.0, 10 * foreign),
        )
        is_open ^= marks % 2 == 1
    return found


def _around(own: Floats) -> Floats:
    """Return the share of the other windows of the text that have each cue; 0 where there are none."""
    others = max(1, len(own) - 1)
    return np.asarray((own.sum(axis=0, keepdims=True) - own) / others)


def _text(cut: Cut, column: dict[str, Floats]) -> Floats:
    """Return what holds of a text as a whole: how it opens, and what occurs anywhere in it."""
    opening = _OPENINGS.search(cut.windows[0].lower()) is not None
    told = (
        float(opening),
        float(column["quoted"].mean()),
        float(column["attack_talk"].max()),
        float(column["example"].max()),
        float(column["prompt_code"].max()),
        float((column["reported"] * column["quoted"]).max()),
    )
    return np.tile(np.array(told, dtype=np.float32), (len(cut.windows), 1))


def _joint(own: dict[str, Floats], around: dict[str, Floats], opening: Floats) -> Floats:
    """Return what says more together than each for itself."""
    addressed = _any(own, _ADDRESSED)
    asked = _any(own, _ASKED)
    elsewhere = np.minimum(1.0, 3 * (around["model"] + around["your_work"] + around["machine"] / 2))
    told = np.maximum.reduce(
        [own["attack_talk"], own["example"], own["reported"], np.minimum(1.0, 2 * around["attack_talk"])]
    )
    return np.stack(
        [
            addressed,
            addressed * asked,
            addressed * asked * (1 - elsewhere),
            addressed * own["hide"],
            own["user"] * asked,
            own["user"] * own["hide"],
            addressed * told,
            addressed * np.minimum(1.0, own["attack_talk"] + 2 * around["attack_talk"]),
            addressed * opening,
            addressed * np.maximum(own["quoted"], own["in_quotation"]),
            asked * own["named"] * (1 - addressed),
            own["machine"] * own["duty"],
            own["machine"] * asked,
            own["summary"] * own["omit"],
            own["rules"] * own["lifted"],
            own["your_work"] * own["reveal"],
            own["send"] * own["link"],
            own["user"] * own["secret"],
            own["you"] * own["earlier"],
            own["whatever"] * own["say"],
        ],
        axis=1,
    ).astype(np.float32)


def _any(own: dict[str, Floats], names: tuple[str, ...]) -> Floats:
    return np.asarray(np.maximum.reduce([own[name] for name in names]))
