"""Where a person lives: street addresses and postal codes, in the forms of several countries.

A recogniser of names does not know streets, and no maintained, permissive library finds addresses in running text
(libpostal reads one that has been cut out). So: a street by its form, then what follows it of flat, place and code.
"""

from typing import Final

import regex
from presidio_analyzer import EntityRecognizer

from services.common.adapters.presidio.rules import RuleRecognizer, always

_CAP: Final = r"\p{Lu}[\p{L}'-]{0,24}\.?"
_NUMBER: Final = r"(?:No\.?[ ]?)?\d{1,5}(?:[ ]?[A-Za-z]\b)?(?:[-/]\d{1,4})?"
_KIND: Final = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Squares?|Place|Pl|Terrace|Way|Close|"
    r"Crescent|Gardens|Row|Parkway|Pkwy|Highway|Hwy|Mews|Hill|Walk|Grove|Alley|Circle|Cir|Trail|Plaza|Quay|Wharf|Park)"
)
_COMPOUND: Final = (
    r"\p{Lu}[\p{L}-]{1,24}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|gatan|gata|vägen|väg|veien|vegen|vej|"
    r"gade|stræde|katu|kuja|tie|polku|stien|laan|straat|gracht|plein|dreef)"
)
_APART: Final = (
    r"(?:Rue|Avenue|Boulevard|Chemin|Quai|Via|Viale|Piazza|Corso|Largo|Vicolo|Calle|C/|Avenida|Av\.?|Paseo|Ronda|Rua|"
    r"Travessa|Praça|Estrada|ul\.|Ul\.|Ulica|Rruga|Strada|Str\.|Bulevar|Ctra\.|Cañadilla|Calçada)"
)
_BEHIND: Final = r"(?:utca|útja|u\.|tér|tere|körút|str|Str\.|ulica|caddesi|sokak)"
_JOIN: Final = (
    r"(?:(?:de|del|della|delle|dei|di|do|da|dos|das|la|le|les|du|des|el|los|las|y|e|en|of|the|af|van|von|der)[ ]|"
    r"d'|l'|dell')"
)
_UNIT: Final = r"(?:Suite|Ste\.?|Apt\.?|Apartment|Unit|Flat|Floor|Rm\.?|Room)[ ]?#?\d{1,5}[A-Za-z]?"
_GAP: Final = r"(?:,?[ ]{1,4}|[ ]?,?\n{1,2}[ ,]{0,8})"
_STREET: Final = (
    rf"(?:(?:{_NUMBER},?[ ]){{1,2}}(?:{_CAP}[ ]){{1,4}}{_KIND}\b\.?|"
    rf"(?:\d{{2,6}}[ ])?{_COMPOUND}[ ]{_NUMBER}|"
    rf"(?:{_NUMBER},?[ ]){{0,2}}{_APART}[ ]{_JOIN}{{0,3}}{_CAP}(?:[ ]{_JOIN}{{0,2}}{_CAP}){{0,3}}(?:,?[ ]{_NUMBER})?|"
    rf"(?:\d{{2,6}}[ ])?(?:\d{{1,4}}[ ])?{_CAP}(?:[ ]\p{{L}}{{2,20}}){{0,2}}[ ]{_BEHIND}[ ]?{_NUMBER}\.?|"
    rf"\d{{2,6}}[ ](?:{_CAP}[ ]){{1,3}}\d{{1,4}}(?!\d)(?={_GAP}{_UNIT})|"
    r"(?:\d{2,6}[ ])?P\.?[ ]?O\.?[ ]Box[ ]\d{1,6})"
)
_POSTCODE: Final = (
    r"(?:[A-Z]{2}[ ]\d{5}(?:-\d{4})?|(?:[A-Z]{1,2}-)?\d{4,5}(?:-\d{3,4})?|\d{3}[ ]\d{2}|\d{4}[ ]?[A-Z]{2}|"
    r"[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}|[A-Z]\d[A-Z][ ]?\d[A-Z]\d)"
)
_TOWN: Final = r"(?:St\.[ ])?\p{Lu}[\p{L}'-]{0,24}"
_PLACE: Final = rf"{_TOWN}(?:[ -](?:\p{{Ll}}{{2,4}}[ -])?{_TOWN}){{0,3}}"
_ADDRESS: Final = regex.compile(
    rf"(?<![\w.-])(?:{_UNIT}{_GAP})?{_STREET}(?:{_GAP}{_UNIT})?"
    rf"(?:(?:{_GAP}{_PLACE}){{0,3}}{_GAP}{_POSTCODE}(?:{_GAP}{_PLACE})?(?![\w-]))?(?!\w)"
)
_MILITARY: Final = regex.compile(
    r"(?<!\w)(?:(?:PSC|CMR|Unit)[ ]\d{1,5},?[ ]Box[ ]\d{1,5}|US[A-Z]{1,4}[ ]\p{L}{2,25})"
    r"\s{1,2}[ADF]PO[ ]A[AEP][ ]\d{5}(?!\d)",
    regex.IGNORECASE,
)
_LOOSE: Final = rf"(?:{_NUMBER}[ ])?{_CAP}(?:[ ]\p{{L}}{{1,20}}){{0,3}}[ ]{_NUMBER}"
_LABELLED: Final = regex.compile(
    rf"(?<!\w)(?i:address|lives[ ](?:at|on)|living[ ]at|resides[ ](?:at|on)|residing[ ]at|anschrift)"
    rf"(?:[ ]is)?[: ]{{1,3}}(?<data>{_LOOSE})(?!\w)"
)
_UNIT_ALONE: Final = regex.compile(r"(?<!\w)(?:Suite|Apt\.?|Apartment|Flat)[ ]#?\d{1,5}[A-Za-z]?(?!\w)")
_UK: Final = regex.compile(
    r"(?<![\w-])(?:[A-PR-UWYZ]\d[A-HJKPSTUW\d]?|[A-PR-UWYZ][A-HK-Y]\d[ABEHMNPRVWXY\d]?)"
    r"[ ]\d[ABD-HJLNP-UW-Z]{2}(?![\w-])"
)
_ZIP: Final = regex.compile(
    rf"(?<!\w)(?i:zip(?:[ -]?code)?|postal[ ]code|postcode|post[ ]code|plz)[ ]?(?i:is|:)?[ ]{{0,2}}"
    rf"(?<data>{_POSTCODE}|\d{{3}})(?![\w-])"
)
_NO_TOWN: Final = (
    r"(?:Table|Section|Article|Version|Windows|Room|Form|Figure|Chapter|Page|Item|Annex|Appendix|Order|Invoice|Case|"
    r"Claim|Policy|Model|Series|Part|Rule|Note|Line|Zone|Unit|Standard|Regulation|Directive|Decision|Building|Ticket)"
)
_IN_TOWN: Final = regex.compile(
    rf"(?<!\w)(?:[Ii]n|[Aa]t|to|[Ff]rom|[Nn]ear|of)[ ](?!{_NO_TOWN}\b){_PLACE}[ ]"
    r"(?<data>\d{4}-\d{3}|\d{3}[ ]\d{2}|\d{5}|\d{4}[ ][A-Z]{2})"
    r"(?=\s*+(?:\Z|[,;:!?)]|\.(?!\d)|(?:in|on|at|to|and|or|but|for|from|with|by|is|was|who|where|while|as|because)\b))"
)
"""A code of a form that no year has, behind a place, and nothing behind it that it could count: "15000 people"."""
_US: Final = regex.compile(
    r"(?<=\p{Lu}[\p{L}'-]{1,24},?[ ])(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|"
    r"O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])[ ](?<data>\d{5}(?:-\d{4})?)(?![\w-])"
)
_ZIP_HINTS: Final = ("zip", "postal", "post code", "postcode", "plz")
_LABELS: Final = ("address", "lives", "living", "resid", "anschrift")


def recognizers() -> list[EntityRecognizer]:
    """Return the recognisers of this module."""
    return [
        RuleRecognizer("STREET_ADDRESS", (_ADDRESS,), always(0.8)),
        RuleRecognizer("STREET_ADDRESS", (_MILITARY,), always(0.8), ("apo", "fpo", "dpo")),
        RuleRecognizer("STREET_ADDRESS", (_LABELLED,), always(0.8), _LABELS),
        RuleRecognizer("STREET_ADDRESS", (_UNIT_ALONE,), always(0.6), ("suite", "apt", "apartment", "flat")),
        RuleRecognizer("ZIP_CODE", (_ZIP,), always(0.75), _ZIP_HINTS),
        RuleRecognizer("ZIP_CODE", (_UK, _IN_TOWN, _US), always(0.6)),
    ]
