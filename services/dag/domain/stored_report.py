"""The report hash of a stored body, without writing the whole report anew (architecture decision 4).

A stored body is canonical JSON, so leaving top-level members out of its text leaves canonical JSON: the hash over what
remains is ``services.common.provenance.report_hash`` of the parsed body. A body that is not canonical any more gives
another hash, which is what verification is after. A test holds the two together.
"""

import json
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.provenance import UNHASHED_REPORT_FIELDS

_DECODER: Final = json.JSONDecoder()


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
