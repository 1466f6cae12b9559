"""The report hash of a stored body, without writing the whole report anew (ADR 0004).

A stored body is canonical JSON, so leaving top-level members out of its text leaves canonical JSON: the hash over what
remains is ``services.common.provenance.report_hash`` of the parsed body. A body that is not canonical any more gives
another hash, which is what verification is after. A test holds the two together.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.provenance import UNHASHED_REPORT_FIELDS

_DECODER: Final = json.JSONDecoder()
_INTEGRITY: Final = b'"chain_integrity":"CHAIN_INTEGRITY_'
_TIMINGS: Final = '"timings":'


def read_body(body: str) -> tuple[dict[str, Any], str]:
    """Return the parsed body and its report hash, 64 hex digits.

    Raises:
        ValueError: the text is no JSON object in canonical form.
    """
    if body == "{}":
        return {}, sha256_hex(body)
    if body[:1] != "{":
        raise ValueError
    fields: dict[str, Any] = {}
    kept: list[str] = []
    position = 1
    while position < len(body):
        name, colon = _DECODER.raw_decode(body, position)
        if not isinstance(name, str) or body[colon : colon + 1] != ":":
            raise ValueError
        fields[name], end = _DECODER.raw_decode(body, colon + 1)
        if name not in UNHASHED_REPORT_FIELDS:
            kept.append(body[position:end])
        if body[end:] == "}":
            return fields, sha256_hex("{" + ",".join(kept) + "}")
        if body[end : end + 1] != ",":
            raise ValueError
        position = end + 1
    raise ValueError


def cut_report_hash(body: bytes, known: Mapping[str, str]) -> str:
    """Return the report hash without parsing the whole body; empty when it cannot be had that way.

    The unhashed members are found by their names and values, in canonical order, and left out. A hash that comes out
    as the window's says that the rest is the report that was hashed, member for member; any other hash says nothing,
    and ``read_body`` decides.

    Args:
        body: the stored body.
        known: the window's ``hmac`` and ``report_hash``; and what the report must say after them: members of which the
            names come after ``report_hash`` in canonical order.
    """
    integrity = body.find(_INTEGRITY)
    after_integrity = body.find(b'",', integrity + len(_INTEGRITY)) + 2
    hashed = f'"report_hash":"{known["report_hash"]}",'.encode()
    report_hash = body.rfind(hashed, after_integrity)
    own = f'"hmac":"{known["hmac"]}",'.encode()
    hmac = body.rfind(own, after_integrity, max(report_hash, 0))
    if integrity < 0 or hmac < 0 or report_hash < 0:
        return ""
    view = memoryview(body)
    digest = hashlib.sha256(view[:integrity])
    digest.update(view[after_integrity:hmac])
    digest.update(view[hmac + len(own) : report_hash])
    tail = body[report_hash + len(hashed) :].decode()
    for name, value in known.items():
        if name > "report_hash" and f'"{name}":"{value}"' not in tail:
            return ""
    start = tail.find(_TIMINGS)
    if start >= 0:
        end = _DECODER.raw_decode(tail, start + len(_TIMINGS))[1]
        if tail[end : end + 1] != ",":
            return ""
        tail = tail[:start] + tail[end + 1 :]
    digest.update(tail.encode())
    return digest.hexdigest()
