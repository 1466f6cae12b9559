"""OpenAPI documents whose operations are called with generated values, and how much of what can be generated is.

Beside random values schemathesis makes for every operation a call for each bound and each breach of its document:
thousands, while tests are collected, in every process of a run. They are made for a fixed tenth of the operations, and
for all in ``make test-faults`` (tests/tenth.py). Random values are sent to every operation in both.
"""

from typing import Any

import schemathesis
from schemathesis.config import CoveragePhaseConfig, OperationConfig, PhasesConfig
from schemathesis.filters import FilterSet

from tests.tenth import tenth


def called(app: Any, label: str) -> Any:
    """Return the schema of an ASGI application's document, with what is generated for its operations.

    Args:
        app: serves its document at ``/openapi.json``.
        label: names the operations in the last lines of a run.
    """
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    paths = sorted(schema.raw_schema["paths"])
    left_out = set(paths) - set(tenth(label, paths))
    if left_out:
        chosen = FilterSet()
        chosen.include(path=sorted(left_out))
        without = PhasesConfig(coverage=CoveragePhaseConfig(enabled=False))
        schema.config.operations.operations.append(OperationConfig(filter_set=chosen, phases=without))
    return schema
