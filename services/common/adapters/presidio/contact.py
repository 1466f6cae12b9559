"""How to reach a person: e-mail addresses, telephone numbers, and the address of a device."""

import ipaddress
from typing import Any, Final

import phonenumbers
import regex
import tldextract
from presidio_analyzer import EntityRecognizer
from presidio_analyzer import predefined_recognizers as presidio

from services.common.adapters.presidio.nearby import around, phrase
from services.common.adapters.presidio.rules import RuleRecognizer

_EMAIL: Final = regex.compile(
    r"(?<![\w.+%-])[\w][\w.+%'-]{0,62}+(?<=[\w+-])@(?:[\w](?:[\w-]{0,61}[\w])?\.){1,8}[^\W\d_]{2,24}(?![\w-])"
)
# The snapshot of the public suffix list in the package; without this it would fetch the list at first use.
_DOMAINS: Final = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, fallback_to_snapshot=True)
_RESERVED: Final = ("example", "test", "invalid", "localhost", "local", "internal")

_PHONE: Final = regex.compile(
    r"(?<![\w.,/@#-])(?:\+\s?|00)?\(?\d{1,5}\)?(?:[ .\t/-]{0,2}\(?\d{1,5}\)?){1,7}"
    r"(?:\s?(?:x|ext\.?)\s?\d{1,5})?(?![^\W_]|[.,/-]\d|\s?%|@)"
)
_CALLED: Final = (
    "phone", "phones", "telephone", "tel", "cell", "cellphone", "mobile", "call", "fax", "contact", "ring", "dial",
    "whatsapp", "sms", "text me", "office", "desk", "reach", "phone number", "telefon", "handy", "téléphone",
    "messages to", "message on", "answering at",
)  # fmt: skip
_PHONE_WORDS: Final = phrase(_CALLED)
_NOT_CALLED: Final = (
    "card", "account", "iban", "ssn", "order", "invoice", "isbn", "policy", "case", "ticket", "id", "version", "zip",
    "postcode", "passport", "reference", "serial", "licence", "license",
)  # fmt: skip
_OTHER_NUMBER: Final = phrase(_NOT_CALLED)
_REGIONS: Final = ("US", "GB", "DE", "FR", "IT", "ES", "CH", "AT", "NL", "AU", "IN")
_SHARED: Final = frozenset(
    {
        phonenumbers.PhoneNumberType.TOLL_FREE, phonenumbers.PhoneNumberType.PREMIUM_RATE,
        phonenumbers.PhoneNumberType.SHARED_COST, phonenumbers.PhoneNumberType.UAN,
    }
)  # fmt: skip
_NATIONAL_FORM: Final = regex.compile(r"\(?[2-9]\d\d\)?[ .-][2-9]\d\d[.-]\d{4}|\([2-9]\d\d\)\s?[2-9]\d\d[ -]\d{4}")
_EXTENSION: Final = regex.compile(r"[xe]")
_MIN_DIGITS, _MAX_DIGITS = 7, 15
_VERSION: Final = regex.compile(r"(?:\bv|version|release|build|section|chapter|firmware)[\s:.]{0,3}$", regex.IGNORECASE)


def recognizers() -> list[EntityRecognizer]:
    """Return the recognisers of this module."""
    return [
        RuleRecognizer("EMAIL_ADDRESS", (_EMAIL,), _email, "@"),
        RuleRecognizer("PHONE_NUMBER", (_PHONE,), _phone),
        DeviceAddress(),
    ]


def _email(text: str, start: int, end: int, _artifacts: Any) -> float | None:
    domain = text[start:end].rpartition("@")[2]
    known = _DOMAINS.extract_str(domain).suffix or domain.rpartition(".")[2].lower() in _RESERVED
    return 1.0 if known else 0.6


def _phone(text: str, start: int, end: int, _artifacts: Any) -> float | None:
    found = text[start:end]
    if not _MIN_DIGITS <= sum(char.isdecimal() for char in _EXTENSION.split(found)[0]) <= _MAX_DIGITS:
        return None
    near = around(text, start, end)
    named = _PHONE_WORDS.search(near) is not None
    if not named and _OTHER_NUMBER.search(near):
        return None
    if found.startswith(("+", "00")):
        number = _parsed("+" + found[2:] if found.startswith("00") else found, None)
        if number is not None and phonenumbers.is_valid_number(number):
            return None if phonenumbers.number_type(number) in _SHARED else 0.95
        return 0.7 if named and found.startswith("+") else None
    if not named and not _NATIONAL_FORM.fullmatch(_EXTENSION.split(found)[0].strip()):
        return None
    return _national(found, named=named)


def _national(found: str, *, named: bool) -> float | None:
    numbers = [_parsed(found, region) for region in (_REGIONS if named else _REGIONS[:1])]
    valid = [number for number in numbers if number is not None and phonenumbers.is_valid_number(number)]
    if valid and all(phonenumbers.number_type(number) in _SHARED for number in valid):
        return None
    if valid:
        return 0.85 if named else 0.6
    return 0.6 if named else None


def _parsed(found: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(found, region)
    except phonenumbers.NumberParseException:
        return None


class DeviceAddress(presidio.IpRecognizer):
    """Presidio's IP addresses without those that belong to no device: loopback, unspecified, multicast."""

    def invalidate_result(self, pattern_text: str) -> bool:
        """Say whether an address is no device's."""
        try:
            address = ipaddress.ip_interface(pattern_text).ip
        except ValueError:
            return True
        return address.is_loopback or address.is_unspecified or address.is_multicast

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None, regex_flags: int | None = None) -> Any:
        """Return the addresses; four numbers after "version" are none."""
        found = super().analyze(text, entities, nlp_artifacts, regex_flags)
        return [one for one in found if not _VERSION.search(text[max(0, one.start - 12) : one.start])]
