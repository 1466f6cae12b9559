"""Encoders of a user's own on a Triton of NVIDIA's: started here, beside the one that GROUNDTRAIL_TEST_TRITON names."""

import asyncio

import numpy as np
import pytest

from services.common.adapters.encoders.golden import read_golden
from services.common.adapters.encoders.opening import EncoderKind, open_backend
from services.common.model_repository import ModelRepository
from services.common.settings.triton import TritonSettings
from tests.fakes.own_encoders import DELIVERED, FIXTURES, settings
from tests.integration.triton_target import triton_target
from tools.real_servers import triton

pytestmark = [pytest.mark.needs_triton, pytest.mark.timeout(300)]


async def test_a_folder_of_own_models_is_served_as_it_is(tmp_path):
    triton_target()  # skips where no Triton is to be had
    from services.common.adapters.own_encoders.adding import add_model
    from services.common.adapters.own_encoders.shelf import Shelf

    shelf = Shelf(tmp_path / "models")
    for fixture in FIXTURES:
        add_model(fixture.source, fixture.wish(), shelf, DELIVERED)
    repository = ModelRepository.open(shelf.root)
    with triton.running(shelf.root) as served:
        connection = TritonSettings(target=served.target, timeout_s=60.0)
        for entry in repository.models:
            golden = read_golden(repository, entry)
            kind: EncoderKind = "entailment" if entry.kind == "entailment" else "grounding"
            items = [case.token_ids for case in golden.cases]
            found = []
            for backend in ("triton", "onnx"):
                chosen = settings(shelf, backend=backend, triton=connection)
                opened = await open_backend(chosen, repository, entry.name, kind)
                try:
                    found.append(await asyncio.wait_for(opened.run(items), 120))
                finally:
                    await opened.close()
            for ours, theirs in zip(*found, strict=True):
                for one, other in zip(ours, theirs, strict=True):
                    np.testing.assert_allclose(one, other, atol=1e-4, rtol=0, err_msg=entry.name)
