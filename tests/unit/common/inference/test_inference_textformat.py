"""The protobuf text format reader and what config.pbtxt may say."""

import pytest

from services.common.model_repository.config import ModelConfigError, TensorSpec, parse_model_config
from services.common.model_repository.textformat import TextFormatError, parse_text_format

CONFIG = """
name: "m"  # a comment { with ] marks
backend: 'onnxruntime'
max_batch_size: 64
input [ { name: "input_ids" data_type: TYPE_INT64 dims: [ -1 ] } ]
output { name: "embedding", data_type: TYPE_FP32; dims: 384 }
dynamic_batching { preferred_batch_size: [ 32, 8 ] max_queue_delay_microseconds: 2000 }
instance_group [ { count: 2, kind: KIND_AUTO }, { count: 1 } ]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a: 1", {"a": [1]}),
        ("a: -1 b: 0x1F c: 1.5f d: 2e3", {"a": [-1], "b": [31], "c": [1.5], "d": [2000.0]}),
        ("a: 1 a: 2", {"a": [1, 2]}),
        ("a: [1, 2]", {"a": [1, 2]}),
        ("a: []", {"a": []}),
        ("a { b: 1 } a: < b: 2 >", {"a": [{"b": [1]}, {"b": [2]}]}),
        ("a [ { b: 1 }, { b: 2 } ]", {"a": [{"b": [1]}, {"b": [2]}]}),
        ("a: true, b: false; c: KIND_GPU", {"a": [True], "b": [False], "c": ["KIND_GPU"]}),
        (r'a: "x\"y\n" "z"', {"a": ['x"y\nz']}),
        ("a: '# no comment' # comment\nb: 2", {"a": ["# no comment"], "b": [2]}),
    ],
    ids=["empty", "scalar", "numbers", "repeated", "list", "empty list", "messages", "list of messages", "words",
         "strings", "comments"],
)  # fmt: skip
def test_reads(text, expected):
    assert parse_text_format(text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a 1", 1),
        ("a: {", 1),
        ("a: 1\nb: }", 2),
        ("a: [1 2]", 1),
        ("\n\n: 1", 3),
        ('a: "open', 1),
        (r'a: "\q"', 1),
        ("a: 1 }", 1),
        ("a:", 1),
    ],
    ids=["no colon", "open brace", "no value", "no comma", "no name", "open string", "escape", "stray brace", "end"],
)
def test_refuses_with_the_line(text, line):
    with pytest.raises(TextFormatError, match=f"^line {line}:"):
        parse_text_format(text)


def test_config():
    config = parse_model_config(CONFIG)
    assert (config.name, config.backend, config.max_batch_size) == ("m", "onnxruntime", 64)
    assert config.inputs == (TensorSpec("input_ids", "int64", (-1, -1)),)
    assert config.outputs == (TensorSpec("embedding", "float32", (-1, 384)),)
    assert config.preferred_batch_sizes == (8, 32)
    assert config.max_queue_delay_us == 2000
    assert config.instance_count == 3


def test_config_without_batching():
    config = parse_model_config(CONFIG.replace("size: 64", "size: 0").replace("preferred_batch_size: [ 32, 8 ]", ""))
    assert config.inputs == (TensorSpec("input_ids", "int64", (-1,)),)
    assert config.preferred_batch_sizes == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name: "m"', "", "name must be given once"),
        ("max_batch_size", "max_batchsize", "unknown field max_batchsize"),
        ("size: 64", "size: -1", "max_batch_size must be at least 0"),
        ("size: 64", 'size: "64"', "max_batch_size must be an integer"),
        ("size: 64", "size: 16", r"preferred_batch_size \[8, 32\] must lie between 1 and max_batch_size 16"),
        ("TYPE_FP32", "TYPE_FP33", "output data_type TYPE_FP33 is not one of"),
        ("instance_group [ { count: 2, kind: KIND_AUTO }, { count: 1 } ]", "instance_group: 3", "must be a message"),
        ("output {", "input {", "output is missing"),
        ("dynamic_batching {", "dynamic_batching { } dynamic_batching {", "dynamic_batching is given twice"),
        ("input [", "input ( [", "line 5: unexpected character"),
    ],
)
def test_config_refuses(old, new, message):
    assert old in CONFIG
    with pytest.raises(ModelConfigError, match=message):
        parse_model_config(CONFIG.replace(old, new))
