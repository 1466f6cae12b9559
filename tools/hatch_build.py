"""Keeps the checkout from being built into a wheel that would install a top-level ``services`` (ADR 0138)."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Refusal(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while a wheel is built
    """Lets editable installs through and refuses every other wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Refuse; ``version`` is "editable" or "standard"."""
        if version != "editable":
            raise RuntimeError(
                "this checkout is installed in place (pip install -e .); `python -m tools.build_wheels` builds the "
                "wheels groundtrail, groundtrail-server and groundtrail-models"
            )
