import gzip
import json

import pytest

from training.rows import CheckedText, NliRow, RowError, read_grounding, read_more, read_nli

NLI = {"premise": "A dog runs.", "hypothesis": "It moves.", "label": "entailment", "origin": "snli", "licence": "clear"}
GROUNDING = {
    "id": "wice-1",
    "dataset": "wice",
    "kind": "claim",
    "context": ["One.", "Two."],
    "claim": "Both.",
    "supported": True,
    "fold": "fit",
}


def write(folder, name, lines):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (0, True)),
        ({"label": "neutral"}, (1, True)),
        ({"label": "contradiction"}, (2, True)),
        ({"label": "not_contradiction"}, (-1, True)),
        ({"licence": "unclear"}, (0, False)),
        ({"licence": None}, (0, True)),
        ({"licence": None, "origin": "lingnli"}, (0, False)),
        ({"licence": "clear", "origin": "healthver"}, (0, False)),
    ],
    ids=str,
)
def test_labels_and_licences_of_inference_rows(tmp_path, change, expected):
    write(tmp_path, "nli/train.jsonl.gz", [json.dumps(NLI | change)])
    origin = change.get("origin", "snli")
    assert read_nli(tmp_path, "train") == [NliRow("A dog runs.", "It moves.", expected[0], origin, expected[1])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"premise": 1}', "line 2: label must be a string, found None"),
        ("nonsense", "line 2: not JSON"),
        ("[1]", "line 2: not a JSON object"),
        (json.dumps(NLI | {"label": "maybe"}), "line 2: label must be one of contradiction, entailment, neutral"),
        (json.dumps(NLI | {"premise": 1}), "line 2: premise must be a string, found 1"),
        (json.dumps(NLI | {"licence": "mine"}), "line 2: licence must be one of clear, unclear"),
    ],
    ids=["missing", "not-json", "no-object", "label", "premise", "licence"],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    write(
        tmp_path,
        "nli/dev.jsonl.gz",
        [json.dumps({**NLI, "premise": "x"}), line.replace('{"premise": 1}', json.dumps({"origin": "snli"}))],
    )
    with pytest.raises(RowError, match=message) as error:
        read_nli(tmp_path, "dev")
    assert "dev.jsonl.gz" in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RowError, match=r"train\.jsonl\.gz is not there"):
        read_nli(tmp_path, "train")


def test_a_file_that_is_cut_off_is_named(tmp_path):
    path = write(tmp_path, "nli/train.jsonl.gz", [json.dumps(NLI)] * 50)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(RowError, match="not gzip-compressed UTF-8"):
        read_nli(tmp_path, "train")


def test_grounding_rows_with_and_without_query(tmp_path):
    lines = [json.dumps(GROUNDING), json.dumps(GROUNDING | {"query": "Who?", "detail": "x", "supported": False})]
    write(tmp_path, "grounding/dev.jsonl.gz", lines)
    plain = CheckedText("wice-1", "wice", "claim", ("One.", "Two."), "Both.", supported=True, fold="fit")
    asked = CheckedText("wice-1", "wice", "claim", ("One.", "Two."), "Both.", False, "fit", "Who?", "x")
    assert read_grounding(tmp_path) == [plain, asked]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": "One."}, "context must be a list of strings"),
        ({"context": [1]}, "context must be a list of strings"),
        ({"supported": 1}, "supported must be true or false, found 1"),
        ({"fold": "test"}, "fold must be one of calibrate, fit, report, found 'test'"),
        ({"query": 3}, "query must be a string, found 3"),
    ],
    ids=["context", "passage", "supported", "fold", "query"],
)
def test_a_bad_grounding_row_is_refused(tmp_path, change, message):
    write(tmp_path, "grounding/dev.jsonl.gz", [json.dumps(GROUNDING | change)])
    with pytest.raises(RowError, match=message):
        read_grounding(tmp_path)


MORE = GROUNDING | {"licence": "clear", "label": "human"}


def test_rows_with_spans_licence_and_writer(tmp_path):
    lines = [
        json.dumps(MORE | {"spans": [{"start": 0, "end": 4, "type": "x"}], "supported": False}),
        json.dumps(MORE | {"licence": "unclear", "label": "synthetic"}),
    ]
    write(tmp_path, "grounding/more.jsonl.gz", lines)
    marked, plain = read_more(tmp_path)
    assert (marked.spans, marked.clear, marked.synthetic) == (((0, 4),), True, False)
    assert (plain.spans, plain.clear, plain.synthetic) == (None, False, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spans": [{"start": 0, "end": 6}]}, r"spans must lie within the claim, \[0, 5\)"),
        ({"spans": [{"start": 2, "end": 2}]}, "spans must lie within"),
        ({"spans": [{"begin": 0}]}, "spans must be a list of objects with start and end"),
        ({"spans": 3}, "spans must be a list"),
        ({"licence": None}, "licence must be a string"),
        ({"label": "nobody"}, "label must be one of human, synthetic"),
    ],
    ids=["beyond", "empty", "fields", "no-list", "licence", "label"],
)
def test_a_bad_marked_row_is_named(tmp_path, change, message):
    write(tmp_path, "grounding/more.jsonl.gz", [json.dumps(MORE | change)])
    with pytest.raises(RowError, match=message):
        read_more(tmp_path)
