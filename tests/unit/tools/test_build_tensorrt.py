"""TensorRT plans are built whole or not at all; a program on PATH stands in for trtexec."""

import importlib.util
import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from services.common.model_repository import ModelRepository
from services.common.model_repository.config import parse_model_config

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "model_repository"

_specification = importlib.util.spec_from_file_location("build_tensorrt", ROOT / "deploy/triton/build_tensorrt.py")
build_tensorrt = importlib.util.module_from_spec(_specification)
sys.modules["build_tensorrt"] = build_tensorrt
_specification.loader.exec_module(build_tensorrt)

WRITES_A_PLAN = """
options = dict(a.lstrip("-").split("=", 1) for a in sys.argv[1:] if "=" in a)
assert pathlib.Path(options["onnx"]).stat().st_size > 0
pathlib.Path(options["saveEngine"]).write_bytes(b"plan")
pathlib.Path(os.environ["ASKED"]).write_text(json.dumps(sys.argv[1:]))
"""
FAILS = "print('[E] no CUDA device'); sys.exit(3)"
WRITES_NOTHING = "pass"


@pytest.fixture
def trtexec(tmp_path, monkeypatch):
    """Return a function that puts a program named trtexec on PATH; ``asked`` holds its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    asked = tmp_path / "asked.json"
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ASKED", str(asked))

    def put(program: str) -> Path:
        path = folder / "trtexec"
        path.write_text(f"#!{sys.executable}\nimport json, os, pathlib, sys\n{program}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return asked

    return put


@pytest.fixture
def quick(monkeypatch):
    """Unfolding is tested on its own."""
    monkeypatch.setattr(build_tensorrt, "unfold", lambda _source, target: target.write_bytes(b"onnx"))


def test_without_trtexec_it_says_where_to_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert build_tensorrt.main([str(tmp_path / "out")]) == 1
    assert "trtexec is not on PATH" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("option", "variant"), [([], "tensorrt-fp32"), (["--fp16"], "tensorrt-fp16")])
def test_a_second_repository_is_written(trtexec, quick, tmp_path, option, variant):
    asked = trtexec(WRITES_A_PLAN)
    out = tmp_path / "out"
    assert build_tensorrt.main([str(out), "--model", "embedder", *option]) == 0
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == [
        "embedder/1/model.plan",
        "embedder/PROVENANCE.json",
        "embedder/config.pbtxt",
    ]
    arguments = json.loads(asked.read_text(encoding="utf-8"))
    assert arguments[2:5] == [
        "--minShapes=input_ids:1x1,attention_mask:1x1",
        "--optShapes=input_ids:8x128,attention_mask:8x128",
        "--maxShapes=input_ids:64x512,attention_mask:64x512",
    ]
    assert ("--fp16" in arguments) == bool(option)
    text = (out / "embedder/config.pbtxt").read_text(encoding="utf-8")
    assert 'platform: "tensorrt_plan"' in text
    assert f'string_value: "{variant}"' in text
    assert "onnxruntime" not in text
    ours = ModelRepository.open(MODELS).config("embedder")
    theirs = parse_model_config(text)
    assert (theirs.inputs, theirs.outputs, theirs.max_batch_size) == (ours.inputs, ours.outputs, ours.max_batch_size)
    provenance = json.loads((out / "embedder/PROVENANCE.json").read_text(encoding="utf-8"))
    assert provenance["model"] == ModelRepository.open(MODELS).entry("embedder").fingerprint


@pytest.mark.parametrize(
    ("program", "told"),
    [(FAILS, "status 3:\n[E] no CUDA device"), (WRITES_NOTHING, "reported success and wrote no plan")],
    ids=["fails", "writes-nothing"],
)
def test_nothing_half_built_is_left(trtexec, quick, tmp_path, capsys, program, told):
    trtexec(program)
    out = tmp_path / "out"
    assert build_tensorrt.main([str(out), "--model", "embedder"]) == 1
    assert told in capsys.readouterr().err
    assert list(out.iterdir()) == []


def test_what_is_there_is_not_overwritten(trtexec, quick, tmp_path, capsys):
    trtexec(WRITES_A_PLAN)
    (tmp_path / "out/embedder").mkdir(parents=True)
    assert build_tensorrt.main([str(tmp_path / "out"), "--model", "embedder"]) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_named(trtexec, tmp_path, capsys):
    trtexec(WRITES_A_PLAN)
    assert build_tensorrt.main([str(tmp_path / "out"), "--model", "nobody"]) == 1
    assert "holds no model nobody" in capsys.readouterr().err


def test_weights_stored_in_int8_are_unfolded_and_nothing_else_changes(tmp_path):
    source, target = MODELS / "embedder/1/model.onnx", tmp_path / "model.onnx"

    def stored_types(path):
        return {tensor.data_type for tensor in onnx.load(path).graph.initializer}

    def outputs(path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        ids = np.array([[101, 2300, 4053, 102], [101, 2442, 102, 0]])
        return session.run(None, {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64)})[0]

    assert onnx.TensorProto.INT8 in stored_types(source)
    build_tensorrt.unfold(source, target)
    assert onnx.TensorProto.INT8 not in stored_types(target)
    np.testing.assert_allclose(outputs(target), outputs(source), atol=1e-6)
