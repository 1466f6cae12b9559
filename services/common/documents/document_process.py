"""``python -m services.common.documents.document_process``: reads and cuts documents, for ``WorkerDocumentReader``."""

import importlib
from collections.abc import Iterator, Mapping

from services.common.adapters.tokens.counter import open_counter_of
from services.common.documents.cutting import CuttingLimits, read_and_cut
from services.common.documents.wire import write_parts
from services.common.settings.inference import TokenizerSettings
from services.common.workers.child import Handler, serve
from services.common.workers.frames import Json


def build(configuration: Json) -> Mapping[str, Handler]:
    """Open the tokenizer and load the parsers of PDF, HTML and text: no document pays for them out of its time."""
    importlib.import_module("services.common.documents.reading")
    limits = CuttingLimits(*configuration["limits"])
    tokenizers = [TokenizerSettings.model_validate(one) for one in configuration["tokenizers"]]
    counts = open_counter_of(configuration["model"], tokenizers, configuration["approximate_margin_ratio"])

    def count(text: str) -> int:
        return counts([text])[0]

    count("")  # opens the tables

    def cut(arguments: Json, content: bytes) -> Iterator[Json]:
        media_type, name = arguments
        yield from write_parts(read_and_cut(content, media_type, name, limits, count))

    return {"cut": cut}


if __name__ == "__main__":
    serve(build)
