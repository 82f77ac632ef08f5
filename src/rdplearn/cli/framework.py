"""What all commands have in common: groups of options, and faults told in one line.

A command is a function whose parameters are options of its own and groups of options, which are dataclasses. `command`
spreads the groups out for Typer, each where it stands, and hands them to the function as objects.
"""

from __future__ import annotations

import errno
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

STREAM_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
SEEN_ENOUGH = 128 + 13  # what a shell says of a program that SIGPIPE has ended


@dataclass(frozen=True)
class TalkOptions:
    """How much is said; every command has these."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no warnings.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the program an error came from.")] = False

    @property
    def shows_progress(self) -> bool:
        """Progress is for people: not for files, pipes and logs."""
        return not self.quiet and sys.stderr.isatty()

    def tell(self, facts: Mapping[str, Any], print_facts: Callable[[Mapping[str, Any]], None]) -> None:
        """Print what was found, as JSON or in words; a fact that is None is left out."""
        known = {name: fact for name, fact in facts.items() if fact is not None}
        if self.as_json:
            typer.echo(json.dumps(known, default=str))
        else:
            print_facts(known)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function that takes `talk: TalkOptions` and perhaps further groups of options."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        parameter.name: parameter.annotation for parameter in parameters if is_dataclass(parameter.annotation)
    }
    spread = [
        option
        for parameter in parameters
        for option in (_options_of(parameter.annotation) if parameter.name in groups else [parameter])
    ]

    def run(**values: Any) -> None:
        collected = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        with faults_in_one_line(collected["talk"]):
            function(**values, **collected)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in spread]
    )
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )


@contextmanager
def faults_in_one_line(talk: TalkOptions) -> Iterator[None]:
    """Tell faults and warnings on stderr, a line each; a fault ends the program with exit code 1."""
    try:
        with warnings_in_one_line(talk):
            yield
    except BrokenPipeError:  # whoever read the result has seen enough
        _give_up_stdout()
        raise typer.Exit(SEEN_ENOUGH) from None
    except typer.BadParameter as fault:
        fault.message = in_one_line(fault.message)
        raise
    except (typer.Exit, typer.Abort):
        raise
    except Exception as fault:
        if talk.debug:
            raise
        told = in_one_line(str(fault))
        if isinstance(fault, OSError) and fault.errno in STREAM_FAULTS and fault.filename is None:
            # files of ours say so themselves
            told = f"standard output cannot be written: {fault.strerror}. Make room, or send it elsewhere."
        elif not isinstance(fault, ValueError | OSError | TypeError | ImportError):
            told = (
                f"this should not have happened ({type(fault).__name__}: {told}). Run again with --debug to see where."
            )
        _let_go_of_stdout()
        typer.echo(f"rdplearn: {told}", err=True)
        raise typer.Exit(1) from None


def in_one_line(text: str) -> str:
    """A message on one line, without characters that steer the terminal: it may quote a file from anywhere."""
    from rdplearn.table.wording import printable

    return printable(" ".join(text.split()))


def _let_go_of_stdout() -> None:
    """Print what is left to print; if that fails, it goes nowhere, or the end of the program would be a fault too."""
    try:
        sys.stdout.flush()
    except OSError:
        _give_up_stdout()


def _give_up_stdout() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def warnings_in_one_line(talk: TalkOptions) -> Iterator[None]:
    """Tell each warning once, or not at all."""
    told: set[str] = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_one_line(str(message))
        if text not in told:
            told.add(text)
            typer.echo(f"rdplearn: warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not talk.quiet:
            warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield
