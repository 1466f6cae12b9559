import json

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from services.common.grounding.combiner import ENCODER_FEATURES
from services.common.grounding.signals import SIGNALS
from tests.fakes.tiny_encoders import TinyEncoder, write_repository
from training.combiner_data import Table, tabulate
from training.rows import CheckedText


def row(number, claim="red no", context=("green",), fold="fit"):
    return CheckedText(f"{number}", "plain", "claim", context, claim, False, fold)


@pytest.fixture
def read(tmp_path):
    repository = write_repository(tmp_path / "models", TinyEncoder("grounding", "grounding", max_tokens=96))
    cache = tmp_path / "outputs.jsonl"

    def tabulated(*rows):
        with Progress(console=Console(quiet=True)) as progress:
            return tabulate(rows, repository, "grounding", cache, progress)

    return tabulated, cache


def test_rows_have_signals_encoder_outputs_and_doubts(read):
    tabulated, _ = read
    table = tabulated(row(1), row(2, context=("red yes",)))
    assert table.signals.shape == (2, len(SIGNALS))
    assert table.encoder is not None
    assert table.encoder.shape == (2, len(ENCODER_FEATURES))
    assert table.encoder[:, 0].tolist() == [0.0, 4.0]
    assert [start for start, _, _ in table.doubts[0]] == [0, 4]
    assert table.doubts[0][1][2] == pytest.approx(0.982, abs=1e-3)


def test_what_was_read_is_not_read_again_and_a_torn_line_is(read):
    tabulated, cache = read
    first = tabulated(row(1), row(2, "blue"))
    lines = cache.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    forged = [json.loads(line) | {"encoder": [7.0, 7.0, 0.0, 0.0]} for line in lines]
    cache.write_text(json.dumps(forged[0]) + "\n" + json.dumps(forged[1])[:30], encoding="utf-8")
    again = tabulated(row(1), row(2, "blue"))
    assert again.encoder is not None
    assert again.encoder[0].tolist() == [7.0, 7.0, 0.0, 0.0]
    assert first.encoder is not None
    assert again.encoder[1].tolist() == first.encoder[1].tolist()


def test_a_row_without_a_passage_to_read_is_named(read):
    tabulated, _ = read
    with pytest.raises(ValueError, match="row 5 has no passage"):
        tabulated(row(5, context=("",)))


def test_folds_and_contexts():
    rows = (row(1, context=("a",)), row(2, context=("b",), fold="report"), row(3, context=("a",)))
    table = Table(rows, np.zeros((3, 1)), None, ())
    assert [one.id for one in table.fold("fit").rows] == ["1", "3"]
    assert table.contexts.tolist() == [0, 1, 0]
