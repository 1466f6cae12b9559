"""What of the response headers goes as gRPC metadata."""

import pytest
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.gateway.doors.grpc.convert import MAX_METADATA_BYTES, header_metadata


def response(*sizes):
    headers = [dispatch_pb2.CrpHeader(name=f"CRP-{place}", value="v" * size) for place, size in enumerate(sizes)]
    return pb.DispatchResponse(headers=headers)


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        pytest.param((1, 2, 3), ["crp-0", "crp-1", "crp-2"], id="all fit"),
        pytest.param((MAX_METADATA_BYTES - 37,), ["crp-0"], id="just fits"),
        pytest.param((MAX_METADATA_BYTES - 36,), [], id="one too long"),
        pytest.param((10, 4096, 20, 4000, 30), ["crp-0", "crp-2", "crp-3", "crp-4"], id="the longest goes"),
        pytest.param((10, 30_000, 20, 7_150), ["crp-0", "crp-2"], id="several go"),
    ],
)
def test_the_longest_are_left_out_so_that_clients_take_the_rest(sizes, kept):
    made = header_metadata(response(*sizes).headers)
    assert [name for name, _ in made] == kept
    assert sum(len(name) + len(value) + 32 for name, value in made) <= MAX_METADATA_BYTES
