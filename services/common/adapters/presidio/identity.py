"""Identity numbers: Presidio's recognisers where it has one, ours where it has none (SPEC-005 §13.2).

A run of digits alone is seldom an identity number, whatever its check digits say: one in ten random numbers passes most
of them. So a number without letters or grouping of its own needs a word near it that names the document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex
from presidio_analyzer import EntityRecognizer, Pattern, RecognizerResult
from presidio_analyzer import predefined_recognizers as presidio

from services.common.adapters.presidio import checksums
from services.common.adapters.presidio.nearby import around, hints, phrase
from services.common.adapters.presidio.rules import Check, RuleRecognizer

_PASSPORT: Final = ("passport", "travel document")
_LICENCE: Final = (
    "driver license", "driver licence", "driver's license", "driver's licence", "drivers license", "drivers licence",
    "driving license", "driving licence", "licence number", "license number", "dl number", "permit number",
)  # fmt: skip
_SSN: Final = ("ssn", "ssns", "social security", "social security number", "social security no")


@dataclass(frozen=True, slots=True)
class Known:
    """A recogniser of Presidio's with the words that speak for it; ``needed``: nothing counts without one."""

    recognizer: EntityRecognizer
    words: tuple[str, ...]
    needed: bool = True


def known() -> list[Known]:
    """Return Presidio's recognisers of identity numbers."""
    return [
        Known(presidio.UsSsnRecognizer(), _SSN, needed=False),
        Known(presidio.UsItinRecognizer(), ("itin", "individual taxpayer", "tax id", "taxpayer id")),
        Known(presidio.UsMbiRecognizer(), ("medicare", "mbi", "beneficiary")),
        Known(presidio.UsPassportRecognizer(), _PASSPORT),
        Known(presidio.UsLicenseRecognizer(), _LICENCE),
        Known(presidio.UkNinoRecognizer(), ("national insurance", "ni number", "nino"), needed=False),
        Known(presidio.NhsRecognizer(), ("nhs", "nhs number", "national health service")),
        Known(presidio.UkPassportRecognizer(), _PASSPORT),
        Known(presidio.EsNifRecognizer(supported_language="en"), ("dni", "nif", "documento nacional")),
        Known(presidio.EsNieRecognizer(supported_language="en"), ("nie", "extranjero")),
        Known(
            presidio.ItFiscalCodeRecognizer(supported_language="en"),
            ("codice fiscale", "fiscal code", "cf"),
            needed=False,
        ),
        Known(presidio.PlPeselRecognizer(supported_language="en"), ("pesel",)),
        Known(
            presidio.FiPersonalIdentityCodeRecognizer(supported_language="en"), ("hetu", "henkilötunnus"), needed=False
        ),
        Known(presidio.AuTfnRecognizer(), ("tfn", "tax file number")),
        Known(presidio.AuMedicareRecognizer(), ("medicare",)),
        Known(presidio.InAadhaarRecognizer(), ("aadhaar", "uidai")),
        Known(IndianPan(), ("pan", "permanent account number")),
        Known(presidio.SgFinRecognizer(), ("fin", "nric"), needed=True),
        Known(
            presidio.KrRrnRecognizer(supported_language="en"), ("rrn", "resident registration number", "주민등록번호")
        ),
        Known(presidio.ThTninRecognizer(supported_language="en"), ("tnin", "thai id", "thai national id")),
        Known(presidio.NgNinRecognizer(), ("nin", "national identification number")),
    ]


_WEAK_PAN: Final = "PAN (Low)"
_PAN_FORM: Final = r"\b([\w@#$%^?~-]{10})\b"
_LAST_LETTER: Final = regex.compile(r"(?r)[a-zA-Z]", regex.IGNORECASE)
_LAST_DIGITS: Final = regex.compile(r"(?r)[0-9]{4}")


class IndianPan(presidio.InPanRecognizer):
    """Presidio's, in linear time.

    Its weakest pattern asks at every word for a letter and four digits anywhere behind it, which is the same as to ask
    whether the word begins before the last of them.
    """

    def __init__(self) -> None:
        patterns = [
            Pattern(one.name, _PAN_FORM if one.name == _WEAK_PAN else one.regex, one.score) for one in self.PATTERNS
        ]
        super().__init__(patterns=patterns)
        self._weak = next(one.score for one in patterns if one.name == _WEAK_PAN)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: Any = None, regex_flags: int | None = None
    ) -> list[RecognizerResult]:
        """Return the numbers."""
        letter, digits = _LAST_LETTER.search(text), _LAST_DIGITS.search(text)
        last = min(letter.start(), digits.start()) if letter is not None and digits is not None else -1
        found: list[RecognizerResult] = super().analyze(text, entities, nlp_artifacts, regex_flags)
        return [one for one in found if one.score > self._weak or one.start <= last]


@dataclass(frozen=True, slots=True)
class _Number:
    """An identity number of ours; without ``words`` its form and check digits speak for themselves."""

    type: str
    pattern: str
    check: checksums.Check
    words: tuple[str, ...] = ()


_TAX_ID_WORDS: Final = (
    "steuer-id", "steuer id", "steuerid", "idnr", "steuer-idnr", "steuer-identifikationsnummer",
    "steueridentifikationsnummer", "steuerliche identifikationsnummer", "tax id", "tax identification number", "tin",
)  # fmt: skip
_REGISTER_WORDS: Final = (
    "rijksregisternummer", "national register number", "numéro national", "registre national", "nrn", "insz",
)  # fmt: skip
_NIR: Final = (
    r"(?<![\w.-])[12378][ ]?\d\d[ ]?(?:0[1-9]|1[0-2]|[2-9]\d)[ ]?(?:\d\d|2[ABab])[ ]?\d{3}[ ]?\d{3}[ ]?\d\d(?![\w-])"
)
_NINE: Final = r"(?<![\w.-])\d{3}[ .-]?\d{3}[ .-]?\d{3}(?![\w-])"
_NUMBERS: Final = (
    _Number(
        "DE_TAX_ID",
        r"(?<![\d.-])[1-9]\d[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}(?![\d-])",
        checksums.german_tax_id,
        _TAX_ID_WORDS,
    ),
    _Number("FR_NIR", _NIR, checksums.french_nir),
    _Number("NL_BSN", _NINE, checksums.dutch_bsn, ("bsn", "burgerservicenummer")),
    _Number(
        "BE_NRN",
        r"(?<![\w.-])\d\d[.]?[0-5]\d[.]?\d\d[ -]?\d{3}[. ]?\d\d(?![\w-])",
        checksums.belgian_nrn,
        _REGISTER_WORDS,
    ),
    _Number("CH_AHV", r"(?<![\w.-])756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d(?![\w-])", checksums.swiss_ahv),
    _Number("IE_PPS", r"(?<![\w.-])\d{7}[A-W][A-IW]?(?![\w-])", checksums.irish_pps, ("pps", "ppsn", "pps number")),
    _Number("CA_SIN", _NINE, checksums.luhn, ("sin", "social insurance")),
    _Number(
        "SE_PERSONNUMMER",
        r"(?<![\w.-])(?:19|20)?\d{6}[-+]?\d{4}(?![\w-])",
        checksums.swedish_personal_number,
        ("personnummer", "personal identity number", "samordningsnummer"),
    ),
)

_CODE: Final = r"(?<data>(?=[A-Z0-9./-]{0,20}\d{2})[A-Z0-9](?:[./-]?[A-Z0-9]){3,19})(?![\w-])"
_LINK: Final = r"(?:\s?(?:number|no\b\.?|nr\b\.?|num\b\.?|id\b|code|#))?\s{0,3}(?:is|was|are|:|=|#|\()?\s{0,3}(?:of\s)?"


def _labelled(words: str) -> regex.Pattern[str]:
    """Return a pattern for a code right after the words that name it, e.g. "passport no. C01X00T47"."""
    return regex.compile(rf"(?<!\w)(?:{words}){_LINK}{_CODE}", regex.IGNORECASE)


_NATIONAL: Final = (
    r"national\s(?:id(?:entity)?|identification)(?:\scard)?|identity\scard|id\scard|personalausweis(?:nummer)?|"
    r"tax(?:payer)?\s(?:id|identification)|steuer-?id|carte\sd'identité|social\ssecurity|personal\sidentity"
)
_STAFF: Final = (
    r"(?:employee|staff|personnel|payroll|worker|badge)[\s-](?:id|number|no\b\.?|nr\b\.?|code|#)|"
    r"personalnummer|mitarbeiternummer|matricule|(?:emp|employee)\s?id"
)
_LABELLED: Final = (
    ("PASSPORT", r"passport|reisepass(?:nummer)?|pasaporte|travel\sdocument"),
    ("DRIVER_LICENSE", r"driv(?:ing|er'?s?)[\s-]licen[cs]e|führerschein(?:nummer)?"),
    ("NATIONAL_ID", _NATIONAL),
    ("EMPLOYEE_ID", _STAFF),
)
_STEMS: Final = {
    "PASSPORT": ("passport", "reisepass", "pasaporte", "travel"),
    "DRIVER_LICENSE": ("driv", "führerschein"),
    "NATIONAL_ID": ("national", "identi", "id card", "id\tcard", "personalausweis", "tax", "steuer", "social"),
    "EMPLOYEE_ID": (
        "employee", "staff", "personnel", "payroll", "worker", "badge", "personalnummer", "mitarbeiter", "matricule",
        "emp", "eid",
    ),
}  # fmt: skip
_LABELLED_CONFIDENCE: Final = 0.8
_EMPLOYEE_CODE: Final = regex.compile(r"(?<![\w-])(?:EMP|EID|STAFF)[-_#]?\d{3,8}(?![\w-])")


def ours() -> list[EntityRecognizer]:
    """Return our recognisers of identity numbers."""
    found: list[EntityRecognizer] = [
        RuleRecognizer(one.type, (regex.compile(one.pattern),), _checked(one), hints(one.words)) for one in _NUMBERS
    ]
    for entity, words in _LABELLED:
        patterns: Sequence[regex.Pattern[str]] = (_labelled(words),)
        if entity == "EMPLOYEE_ID":
            patterns = (*patterns, _EMPLOYEE_CODE)
        found.append(RuleRecognizer(entity, patterns, _plain, _STEMS[entity]))
    return found


def _plain(_text: str, _start: int, _end: int, _artifacts: Any) -> float:
    return _LABELLED_CONFIDENCE


def _checked(number: _Number) -> Check:
    words = phrase(number.words) if number.words else None

    def check(text: str, start: int, end: int, _artifacts: Any) -> float | None:
        named = words is None or words.search(around(text, start, end)) is not None
        return 1.0 if named and number.check(text[start:end]) else None

    return check
