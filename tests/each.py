"""A table of cases in one test: what ``pytest.mark.parametrize`` makes hundreds of tests of.

To make a test of its own out of a case takes every process of a run a millisecond, and the one that runs it four more.
``each`` calls the function for case after case within one test; what fails says which case it was. It is for functions
that take nothing but their case: a fixture would be shared, and a mark belongs to the test, not to a case.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def each(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Callable[[Any], object] | Iterable[object] | None = None
) -> Callable[[Callable[..., Any]], Callable[[], Any]]:
    """Have a function called for every case, with the arguments that ``pytest.mark.parametrize`` takes.

    Args:
        names: of the function's arguments, all of them.
        cases: a value for one name, a tuple for several, or a ``pytest.param`` without marks.
        ids: what a case is called in a failure: a function of its values, or one name for each; else its values.

    Raises:
        TypeError: the function takes something else, or a case has marks.
        ValueError: there is no case, or not one name for each.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = _rows(named, list(cases), ids)

    def decorate(function: Callable[..., Any]) -> Callable[[], Any]:
        if sorted(inspect.signature(function).parameters) != sorted(named):
            msg = f"{function.__name__} takes more or less than {named}: use pytest.mark.parametrize"
            raise TypeError(msg)
        if inspect.iscoroutinefunction(function):

            async def run_async() -> None:
                for title, values in rows:
                    try:
                        await function(**values)
                    except BaseException as error:
                        error.add_note(f"in case {title}")
                        raise

            return _named(run_async, function)

        def run() -> None:
            for title, values in rows:
                try:
                    function(**values)
                except BaseException as error:
                    error.add_note(f"in case {title}")
                    raise

        return _named(run, function)

    return decorate


def _rows(named: list[str], cases: list[Any], ids: Any) -> list[tuple[str, dict[str, Any]]]:
    if not cases:
        msg = "there is no case"
        raise ValueError(msg)
    titles = [None] * len(cases) if ids is None or callable(ids) else list(ids)
    rows = []
    for case, given in zip(cases, titles, strict=True):
        title, values = given, case if len(named) > 1 else (case,)
        if hasattr(case, "marks"):  # pytest.param
            if case.marks:
                msg = "a case has marks: use pytest.mark.parametrize"
                raise TypeError(msg)
            title, values = case.id, case.values
        if title is None:
            title = "-".join(str(ids(value)) if callable(ids) else repr(value) for value in values)
        rows.append((str(title), dict(zip(named, values, strict=True))))
    return rows


def _named(run: Callable[[], Any], function: Callable[..., Any]) -> Callable[[], Any]:
    """Return ``run`` under the function's name, without its arguments, which pytest would take for fixtures."""
    functools.update_wrapper(run, function)
    del run.__wrapped__  # type: ignore[attr-defined]
    return run
