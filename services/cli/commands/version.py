"""``groundtrail version``: what this is, exactly."""

import platform
from importlib.metadata import version as installed_version

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.model_repository import open_repository
from services.common.settings import Settings
from services.common.taxonomy import PROTOCOL_VERSION


async def version(settings: Settings, output: Output) -> Exit:
    """Say the product's, the protocols' and the models' versions."""
    models = {model.name: model.version for model in open_repository(settings.inference).models}
    value = {
        "groundtrail": installed_version("groundtrail"),
        "crp": PROTOCOL_VERSION,
        "ercp": "ercp-1.0",
        "python": platform.python_version(),
        "grpc": installed_version("grpcio"),
        "onnxruntime": installed_version("onnxruntime"),
        "models": models,
    }
    output.table("Groundtrail", ("what", "version"), [(k, str(v)) for k, v in value.items() if k != "models"])
    output.table("Models", ("model", "version"), list(models.items()))
    output.result(value)
    return Exit.OK
