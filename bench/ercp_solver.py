"""How long the solver of ERCP takes for 10 to 300 constraints: ``python -m bench.ercp_solver``.

The baseline is Z3 in the same process with the same formulas asserted at once: one context, one question, no switches
and no core. What ``check`` adds is a thread, a switch for each constraint and, when they cannot all hold, the smallest
core. Sets are made with a fixed seed: bounds in several units, comparisons of attributes, orders of events; those that
cannot hold have a chain of five among them that closes, and ``circle`` is one circle of all its events, so that every
constraint is needed.
"""

import random
import statistics
import time
from collections.abc import Callable
from typing import Final

from bench.report import Row, show
from services.ercp.domain import predicates as dsl
from services.ercp.domain import solver
from services.ercp.domain.encoding import System

SIZES: Final = (10, 30, 100, 300)
ROUNDS: Final = 7
DEADLINE_MS: Final = 60_000
_SEED: Final = 20_261_122

Named = list[tuple[str, dsl.Predicate]]


def feasible(size: int, chance: random.Random) -> list[str]:
    """Return constraints in text form that some values and times obey: those that they are made from."""
    count = max(3, size // 3)
    length = [chance.randint(1, 1_000) for _ in range(count)]
    found: list[str] = []
    while len(found) < size:
        one, other = chance.sample(range(count), 2)
        low, high = sorted((one, other), key=lambda place: length[place])
        texts = [
            f"Equal(e{one}.length, {length[one]} m)",
            f"GreaterThan(e{one}.length, {length[one] * 100 - 50} cm)",
            f"LessThan(e{one}.length, {length[one]} m, inclusive=true)",
            f"NotEqual(e{one}.length, {length[one] + 1} m)",
        ]
        if length[low] < length[high]:
            texts += [f"LessThan(e{low}.length, e{high}.length)", f"TemporalOrder(event e{low}, event e{high})"]
        found.append(chance.choice(texts))
    return found


def infeasible(size: int, chance: random.Random) -> list[str]:
    """Return the same with five constraints among them that cannot all hold."""
    chain = [f"LessThan(z{place}.length, z{place + 1}.length)" for place in range(3)]
    closing = ["GreaterThan(z0.length, 10 m)", "LessThan(z3.length, 900 cm)"]
    found = feasible(size - 5, chance) + chain + closing
    chance.shuffle(found)
    return found


def circle(size: int, chance: random.Random) -> list[str]:
    """Return orders of events that form one circle, in any order."""
    found = [f"TemporalOrder(event e{place}, event e{(place + 1) % size})" for place in range(size)]
    chance.shuffle(found)
    return found


def parsed(texts: list[str]) -> Named:
    """Return the constraints with an id each."""
    return [(f"c{number}", dsl.parse_text(text)) for number, text in enumerate(texts)]


def bare(named: Named) -> str:
    """Ask Z3 once about the same formulas, and return what it says."""
    import z3

    context = z3.Context()
    system = System(z3, context)
    system.add(named, None)
    asked = z3.Solver(ctx=context)
    asked.add(*system.formulas.values())
    return str(asked.check())


def median_ms(work: Callable[[], object]) -> float:
    """Return the median time of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1_000)
    return statistics.median(times)


def rows() -> list[Row]:
    """Measure every kind and size."""
    found: list[Row] = []
    for make, status in ((feasible, "sat"), (infeasible, "unsat"), (circle, "unsat")):
        for size in SIZES:
            named = parsed(make(size, random.Random(_SEED + size)))  # noqa: S311 - a fixed workload
            answer = solver.check(named, DEADLINE_MS)
            assert answer.status == status == bare(named), (make.__name__, size, answer)
            ours, theirs = median_ms(lambda: solver.check(named, DEADLINE_MS)), median_ms(lambda: bare(named))  # noqa: B023
            name = f"{make.__name__}, {size} constraints"
            found.append(Row(f"{name}: Z3 asked once", theirs, "ms"))
            note = f"core of {len(answer.core)}" if answer.core else ""
            found.append(Row(f"{name}: check", ours, "ms", "Z3 asked once", theirs / ours, note=note))
    return found


def main() -> None:
    """Load what is loaded once, measure, print."""
    solver.warm()
    dsl.warm()
    show(f"Solver of ERCP, median of {ROUNDS} rounds", rows())


if __name__ == "__main__":
    main()
