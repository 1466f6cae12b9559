"""Print, as JSON, the facts that the readers of another checkout make of documents.

    PYTHONPATH=CHECKOUT python tools/former_facts.py FILE... > tests/documents/former.json

Run as a file, so that `services` is what PYTHONPATH names: it imports nothing that
an older checkout lacks.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import services
from services.common.adapters.tokens.counter import open_counter_of
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError
from services.common.settings.envelope import EnvelopeSettings

_CHUNKERS: Final = ("services.common.documents.chunking", "services.common.documents.facts.chunking")
"""Where the checkouts have it, older ones first."""
_GIT: Final = shutil.which("git") or "git"


def _chunker() -> Callable[..., Sequence[Any]]:
    """Return what cuts documents into facts in this checkout."""
    found = next(name for name in _CHUNKERS if importlib.util.find_spec(name))
    chunk: Callable[..., Sequence[Any]] = importlib.import_module(found).chunk
    return chunk


def main() -> None:
    """Read the files, print their facts and the commit whose readers made them."""
    counts = open_counter_of(EnvelopeSettings().tokenizer_model, (), 1.0)
    limits = ReadingLimits(max_bytes=64 << 20, max_pages=2_000, max_chars=64_000_000)
    checkout = Path(next(iter(services.__path__))).parent
    head = subprocess.run((_GIT, "-C", str(checkout), "rev-parse", "HEAD"), capture_output=True, text=True, check=True)
    chunk = _chunker()
    documents: dict[str, Any] = {}
    for path in map(Path, sys.argv[1:]):
        try:
            document = read_document(path.read_bytes(), "", path.name, limits)
            facts = [draft.content for draft in chunk(document, lambda text: counts([text])[0])]
            documents[path.name] = {"facts": facts}
        except CrpError as error:
            documents[path.name] = {"refused": str(error)}
    command = "PYTHONPATH=CHECKOUT python tools/former_facts.py " + " ".join(sys.argv[1:])
    print(
        json.dumps(
            {"commit": head.stdout.strip(), "command": command, "documents": documents}, indent=1, ensure_ascii=False
        )
    )


if __name__ == "__main__":
    main()
