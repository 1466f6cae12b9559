"""``Witness`` over HTTP/1.1: ``POST <prefix>/add-checkpoint`` of C2SP tlog-witness, to a judged address."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import httpx

from services.common.adapters.http.guarded import Answer, ForbiddenAddressError, GuardedHost, HostTraits, named
from services.common.cosignature import WitnessKey
from services.common.ports.witness import WitnessAnswer, WitnessStatus
from services.common.settings.checkpoints import CheckpointSettings, WitnessSettings
from services.common.submission import SIZE_MEDIA_TYPE, read_size

_SHOWN: Final = 200
_CONFLICTS: Final = {
    HTTPStatus.CONFLICT: "it knows another root of this size",
    HTTPStatus.UNPROCESSABLE_ENTITY: "the log does not go on from the head that it knows",
}


class HttpWitness:
    """One witness.

    Args:
        witness: its key and its submission prefix.
        settings: which addresses it may have, and how long it may take.
    """

    def __init__(self, witness: WitnessSettings, settings: CheckpointSettings) -> None:
        self._key = witness.parsed_key
        self._timeout_s = settings.timeout_s
        private = witness.host in {host.lower() for host in settings.private_hosts}
        self._host = GuardedHost(witness.url, HostTraits(private, settings.ca_file, settings.timeout_s))
        self._path = f"{self._host.path.rstrip('/')}/add-checkpoint"

    @property
    def key(self) -> WitnessKey:
        """Its public key."""
        return self._key

    async def add_checkpoint(self, body: bytes) -> WitnessAnswer:
        """Submit once."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return _read(await self._host.post(self._path, _headers, body))
        except TimeoutError:
            return WitnessAnswer(WitnessStatus.UNREACHABLE, problem=f"no answer within {self._timeout_s} s")
        except ForbiddenAddressError as error:
            return WitnessAnswer(WitnessStatus.FORBIDDEN, problem=str(error))
        except httpx.HTTPError as error:
            return WitnessAnswer(WitnessStatus.UNREACHABLE, problem=named(error))
        except OSError as error:
            return WitnessAnswer(WitnessStatus.UNREACHABLE, problem=error.strerror or type(error).__name__)

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._host.close()


async def _headers() -> Mapping[str, str]:
    return {"Content-Type": "text/plain; charset=utf-8"}


def _read(answer: Answer) -> WitnessAnswer:
    status = answer.response.status_code
    if status == HTTPStatus.OK:
        return WitnessAnswer(WitnessStatus.COSIGNED, answer.body.decode("utf-8", "replace"))
    kind = answer.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if status == HTTPStatus.CONFLICT and kind == SIZE_MEDIA_TYPE:
        size = read_size(answer.body)
        if size is not None:
            return WitnessAnswer(WitnessStatus.OTHER_SIZE, size=size, problem=f"it knows size {size}")
    if status in _CONFLICTS:
        return WitnessAnswer(WitnessStatus.CONFLICT, problem=f"HTTP {status}: {_CONFLICTS[HTTPStatus(status)]}")
    told = answer.body[:_SHOWN].decode("utf-8", "replace").strip()
    return WitnessAnswer(WitnessStatus.REFUSED, problem=f"HTTP {status}: {told}" if told else f"HTTP {status}")
