"""What every reader asks of a text."""


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Say whether there is a letter or figure in a text."""
    return any(character.isalnum() for character in text)


def language_code(tag: str | None) -> str:
    """Return the ISO 639-1 code of a language tag; empty where it has none."""
    code = (tag or "").replace("_", "-").split("-")[0].strip().lower()
    return code if len(code) == 2 and code.isalpha() else ""  # noqa: PLR2004 - so long is a code
