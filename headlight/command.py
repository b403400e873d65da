"""The command `headlight`: what the package offers in Python, from a shell.

headlight serve                                   the page
headlight show "The cat sat." --out cat.svg       a figure: .html, .svg, .pdf or .png
headlight trace "The cat sat." -o cat.safetensors tensors
headlight export "The cat sat." --as svg,csv      all files of a figure
headlight site --into public                      a page whose model runs in it
headlight models                                  what can be opened
headlight doctor                                  what is installed, and what is missing

Each imports what it needs when it runs, since PyTorch takes seconds. `--json` makes the output one
JSON document. Without a command it serves, and `headlight shares` is `python -m app shares`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem, get_completion_class

from app import __version__
from app.settings import Settings

if TYPE_CHECKING:
    from model.adapters.requests.adapter_interface import Adapter

BAD_INPUT = 2
COMPLETED = "_HEADLIGHT_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
PASSED_ON = {"ignore_unknown_options": True, "help_option_names": []}

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
F = Callable[..., Any]


def shipped_models(_: object, __: object, incomplete: str) -> list[CompletionItem]:
    """Return the models that complete what was typed."""
    bundles = {**Settings().bundles, **Settings().zoo_bundles}
    return [CompletionItem(name) for name in bundles if name.startswith(incomplete)]


def with_model(command: F) -> F:
    """Add a sentence and the options that choose a model, which is opened."""
    options = (
        click.argument("sentence"),
        click.option(
            "--model",
            "-m",
            default="en-zh",
            show_default=True,
            shell_complete=shipped_models,
            help="A model that ships with Headlight, a bundle's folder, hf: and a folder, or "
            "hf:owner/name[@revision] of a hub.",
        ),
        click.option("--device", help="cpu, cuda, mps or auto (CUDA if there is one)."),
        click.option("--dtype", help="float32, bfloat16, float16 or auto (the model's own)."),
        click.option("--download", is_flag=True, default=None, help="Allow a download from a hub."),
    )

    @wraps(command)
    def run(
        model: str, device: str | None, dtype: str | None, download: bool | None, **others: Any
    ) -> Any:
        from headlight import public_names

        adapter = public_names.load(model, device, dtype=dtype, download=download)
        return command(model=adapter, **others)

    decorated: F = run
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def layers_from_0(_: object, __: object, text: str | None) -> list[int] | None:
    """Return the layers of a list that counts from 1, as on the page."""
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise click.BadParameter("must be numbers from 1 with commas between them, such as 1,12")
    return [int(number) - 1 for number in text.split(",")]


def with_place(command: F) -> F:
    """Add the options that choose what a figure has, and what it opens on."""
    options = (
        click.option("--layers", callback=layers_from_0, help="Layers to keep, from 1: 1,12."),
        click.option("--block", help="encoder, decoder or cross."),
        click.option("--layer", type=click.IntRange(1), help="From 1, as on the page."),
        click.option("--head", type=click.IntRange(1), help="From 1."),
        click.option("--lang", default="en", show_default=True, help="Language of the figure."),
        click.option("--theme", type=click.Choice(["light", "dark"]), help="Of HTML."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def reported(command: F) -> F:
    """Print what is wrong with an input in one line, or in JSON, and exit with status 2."""

    @wraps(command)
    def run(**options: Any) -> Any:
        try:
            return command(**options)
        except (ValueError, TypeError, LookupError, RuntimeError, OSError) as error:
            _fail(error, as_document=bool(options.get("as_json")))

    return run


def _fail(error: Exception, *, as_document: bool) -> NoReturn:
    document = {"error": type(error).__name__, "detail": str(error)}
    field = getattr(error, "field", None)
    document |= {"field": field} if field else {}
    click.echo(json.dumps(document) if as_document else f"headlight: {error}", err=True)
    sys.exit(BAD_INPUT)


def _place(layer: int | None, head: int | None, **options: Any) -> dict[str, Any]:
    """Return a place as Python counts, from 0."""
    counted = {"layer": layer and layer - 1, "head": head and head - 1}
    return counted | options


@click.group(invoke_without_command=True)
@click.version_option(__version__, prog_name="headlight")
@click.pass_context
def headlight(context: click.Context) -> None:
    """See what every attention head of a Transformer sees. Without a command: serve the page."""
    if context.invoked_subcommand is None:
        context.invoke(serve)


@headlight.command()
@click.option("--host", help="Address to listen on (HEADLIGHT_HOST).")
@click.option("--port", help="Port to listen on (HEADLIGHT_PORT).")
@click.option("--models", help="id=path,…, or ids (HEADLIGHT_MODELS).")
@click.option("--device", help="auto, cpu or cuda (HEADLIGHT_DEVICE).")
@click.option("--download", is_flag=True, default=None, help="Allow downloads from a hub.")
@click.option("--data-dir", help="Folder of shares and caches (HEADLIGHT_DATA_DIR).")
@click.option("--json", "as_json", is_flag=True, help="Log one JSON object per line.")
def serve(as_json: bool = False, **options: str | bool | None) -> None:
    """Serve the page until stopped. Every setting is a variable HEADLIGHT_… as well."""
    from app.command import main as run_app

    settings = {**options, "log": "json" if as_json else None}
    for name, value in settings.items():
        if value is not None:
            os.environ[f"HEADLIGHT_{name.upper()}"] = str(
                value
            )  # the models' processes read it too
    sys.exit(run_app([]))


@headlight.command(context_settings=PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def shares(arguments: Sequence[str]) -> None:
    """Export, import or prune the shares of a server's database."""
    from app.command import main as run_app

    sys.exit(run_app(["shares", *arguments]))


@headlight.command()
@reported
@click.option("--into", required=True, help="Folder to write.")
@click.option("--model", "-m", default="en-zh", show_default=True, help="A bundle, or its name.")
@as_json
def site(into: str, model: str, as_json: bool) -> None:
    """Write a page whose model runs in it, for any static host (docs/site.md)."""
    from pathlib import Path

    from app.site import write_site

    files = [str(file) for file in write_site(model, Path(into))]
    _print_files(files, as_json)


@headlight.command()
@reported
@with_model
@with_place
@click.option("--out", "-o", required=True, help="File: .html, .svg, .pdf or .png.")
@as_json
def show(sentence: str, model: Adapter, out: str, as_json: bool, **place: Any) -> None:
    """Draw what a model attends to in SENTENCE."""
    from headlight import public_names

    figure = public_names.show(model, sentence, **_place(**place))
    path = figure.save(out)
    _print_files([str(path)], as_json)


@headlight.command()
@reported
@with_model
@click.option("--select", "-s", multiple=True, help="Pattern of tensor names; may be repeated.")
@click.option("--target", help="Score this text instead of writing one.")
@click.option("--decode", help="greedy, beam or sample.")
@click.option("--out", "-o", help="File: .safetensors, .json, .npz or .csv.")
@as_json
def trace(
    sentence: str,
    model: Adapter,
    select: tuple[str, ...],
    out: str | None,
    as_json: bool,
    **given_options: str | None,
) -> None:
    """Run SENTENCE and write its tensors; without a file, list them (with --json: print them)."""
    from headlight import public_names

    options: dict[str, Any] = {
        name: value for name, value in given_options.items() if value is not None
    }
    options |= {"select": select} if select else {}
    result = model.trace(sentence, **options)
    if out:
        _print_files([str(public_names.save(result, out))], as_json)
    elif as_json:
        click.echo(public_names.as_json(result))
    else:
        click.echo(repr(result))
        for name in result:
            click.echo(f"{name}  {result[name]!r}")


@headlight.command()
@reported
@with_model
@with_place
@click.option("--as", "forms", default="html,svg,csv", show_default=True, help="Endings of files.")
@click.option("--out", "-o", "folder", default=".", show_default=True, help="Folder.")
@as_json
def export(
    sentence: str, model: Adapter, forms: str, folder: str, as_json: bool, **place: Any
) -> None:
    """Write all files of a figure: html, svg, pdf, png, csv, npz, json, safetensors."""
    from headlight import public_names

    endings = [form.strip() for form in forms.split(",")]
    paths = public_names.export(model, sentence, folder=folder, forms=endings, **_place(**place))
    _print_files(list(map(str, paths)), as_json)


@headlight.command()
@click.argument("name", required=False, shell_complete=shipped_models)
@as_json
@reported
def models(name: str | None, as_json: bool) -> None:
    """List the models that a server would have, or open NAME and describe it."""
    if name is None:
        settings = Settings()
        bundles = {**settings.bundles, **settings.zoo_bundles}
        click.echo(
            json.dumps(bundles, indent=2)
            if as_json
            else "\n".join(f"{id_:24}{path}" for id_, path in bundles.items())
        )
        return
    from headlight import public_names

    description = public_names.describe(public_names.load(name))
    if as_json:
        click.echo(json.dumps(description, ensure_ascii=False, indent=2))
        return
    for key, value in description.items():
        if isinstance(value, str | int) and key != "card":
            click.echo(f"{key:16}{value}")
    for attention in description["attentions"]:
        click.echo(f"{attention['place']:24}{attention['heads']} heads, {attention['mask']}")


@headlight.command()
@as_json
@reported
def doctor(as_json: bool) -> None:
    """Say what is installed and what is missing; the exit status is 1 if something is wrong."""
    from headlight.doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        signs = {"ok": "✓", "note": "·", "problem": "✗"}
        for finding in findings:
            click.echo(f"{signs[finding.level]} {finding.subject:14}{finding.detail}")
    sys.exit(any(finding.level == "problem" for finding in findings))


@headlight.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what completes this command in a SHELL: eval "$(headlight completion bash)"."""
    complete = get_completion_class(shell)
    assert complete is not None  # one of `SHELLS`
    click.echo(complete(headlight, {}, "headlight", COMPLETED).source())


def _print_files(paths: Sequence[str], as_json: bool) -> None:
    click.echo(json.dumps({"files": paths}) if as_json else "\n".join(paths))


def main() -> None:
    """Run the command line."""
    headlight(prog_name="headlight", complete_var=COMPLETED)
