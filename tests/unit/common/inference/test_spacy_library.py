"""spaCy is imported without its command line, which is there for whoever asks for it."""

import subprocess
import sys

PROGRAM = """
import sys
from services.common.adapters.spacy.library import import_spacy
spacy = import_spacy()
assert import_spacy() is spacy is sys.modules["spacy"]
assert spacy.blank("en")("Two words")[1].text == "words"
print(sorted({"spacy.cli", "spacy.cli.info", "weasel", "httpx", "typer"} & set(sys.modules)))
print(spacy.info(silent=True)["spacy_version"] == spacy.__version__)
from spacy.cli import download
print(download.__module__, sys.modules["spacy.cli"].__file__ is not None)
"""


def test_its_commands_are_left_out_until_they_are_asked_for():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True", "spacy.cli.download True"]
