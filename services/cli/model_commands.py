"""``groundtrail models``: what it is called and takes; the commands are in ``commands/models.py`` (ADR 0120)."""

from enum import StrEnum, unique
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import models
else:
    models = Later("services.cli.commands.models")

model_app = typer.Typer(
    no_args_is_help=True, help="The models that judge: those delivered, and encoders of your own (docs/models.md)."
)


@unique
class RoleWord(StrEnum):
    """What ``models add --as`` takes."""

    ENTAILMENT = "entailment"
    GROUNDING = "grounding"
    SPANS = "spans"


@unique
class OrderWord(StrEnum):
    """What ``models add --order`` takes."""

    PREMISE_FIRST = "premise-first"
    HYPOTHESIS_FIRST = "hypothesis-first"


@unique
class ReadoutWord(StrEnum):
    """What ``models add --readout`` takes."""

    PAIR = "pair"
    FIRST_TOKEN = "first-token"  # noqa: S105 - a word of the command line
    TOKENS = "tokens"


ModelName = Annotated[str, typer.Option(metavar="NAME", help="The model; none = the grounding model that is active.")]
PairsFile = Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines: premise, hypothesis, label.")]


@model_app.command("list")
def list_models(*, as_json: AsJson = False) -> None:
    """List all models: role, name, architecture, digest, whether calibrated, whether active."""
    run(models.list_models, as_json=as_json)


@model_app.command("add")
def add_model(  # noqa: PLR0913, PLR0917 - the options of a command
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="As a hub gives it; it is only read.")],
    role: Annotated[RoleWord, typer.Option("--as", help="What it is to judge.")],
    name: Annotated[str, typer.Option(help="Its name; none = the folder's.")] = "",
    labels: Annotated[
        str | None,
        typer.Option(help="Label=place for each logit, such as supported=1,unsupported=0; none = config.json."),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(help="Text with {premise} and {hypothesis} and special tokens; none = the tokenizer's."),
    ] = None,
    order: Annotated[
        OrderWord, typer.Option(help="Which text the tokenizer is given first.")
    ] = OrderWord.PREMISE_FIRST,
    readout: Annotated[ReadoutWord | None, typer.Option(help="Where the logits stand; none = by the graph.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=64, help="Longest input; none = as the folder says.")] = None,
    premise_tokens: Annotated[
        int,
        typer.Option(min=32, max=8_000, help="Tokens of the passages that are read at once, for grounding and spans."),
    ] = 160,
    max_windows: Annotated[int, typer.Option(min=1, max=32, help="Such windows read for a claim.")] = 3,
    weights: Annotated[
        str | None, typer.Option(metavar="PATH", help="Graph or safetensors below FOLDER, where there are several.")
    ] = None,
    architecture: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Of safetensors; none = config.json.")
    ] = None,
    weights_prefix: Annotated[str, typer.Option(help="What the tensors' names begin with beyond the class's.")] = "",
    licence: Annotated[str | None, typer.Option(help="Of the weights; none = unknown, do not ship.")] = None,
    origin: Annotated[str, typer.Option(help="The model, and who made it.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Make a model of a folder with config.json, tokenizer.json and an ONNX graph or safetensors."""
    wish = models.wish(
        role=role.value,
        name=name,
        labels=labels,
        template=template,
        hypothesis_first=order is OrderWord.HYPOTHESIS_FIRST,
        readout=None if readout is None else readout.value,
        max_tokens=max_tokens,
        premise_tokens=premise_tokens,
        max_windows=max_windows,
        weights=weights,
        architecture=architecture,
        weights_prefix=weights_prefix,
        licence=licence,
        origin=origin,
    )
    run(partial(models.add, folder=folder, wish=wish), as_json=as_json)


@model_app.command("check")
def check_models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The model; none = all.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Verify files and digests and, of your own, tokens, golden answers and speed."""
    if name is not None and not name.strip():
        raise typer.BadParameter("must not be empty; leave it out to check all", param_hint="NAME")
    run(partial(models.check, name=name or ""), as_json=as_json)


@model_app.command("evaluate")
def evaluate_model(file: PairsFile, model: ModelName = "", *, as_json: AsJson = False) -> None:
    """Measure a model on pairs: balanced accuracy, AUROC, calibration, and what the claims alone give away."""
    run(partial(models.evaluate, file=file, name=model), as_json=as_json)


@model_app.command("calibrate")
def calibrate_model(file: PairsFile, model: ModelName = "", *, as_json: AsJson = False) -> None:
    """Fit a model of your own on pairs, and say how good it is on folds that were held out."""
    run(partial(models.calibrate, file=file, name=model), as_json=as_json)


@model_app.command("remove")
def remove_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of your own.")], *, as_json: AsJson = False
) -> None:
    """Take a model of your own away; one that is active stays until a setting names another."""
    run(partial(models.remove, name=name), as_json=as_json)
