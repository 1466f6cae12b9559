"""What every reader asks of a text."""


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Say whether there is a letter or figure in a text."""
    return any(character.isalnum() for character in text)
