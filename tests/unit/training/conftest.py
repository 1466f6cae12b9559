import random

import pytest

from training.contrasts.change import Scene, applied

PREMISE = (
    "The firm had 412 staff in 2004 and 96 in 1998. It sold 1,500 cars. "
    "Anna Berg met Paul Novak at Orion Bank near Lake Vessel."
)


@pytest.fixture
def scene():
    names = {
        "person": ["Carl Foster", "Ruth Meyer"],
        "place": ["Lake Arden", "New Haven"],
        "organisation": ["Delta Bank"],
        "single": ["Zorg"],
        "acronym": ["NATO"],
        "title": ["Blue Harvest"],
    }
    return Scene(PREMISE, names, [", which was closed in the spring", " because the bridge had collapsed"])


@pytest.fixture
def changes_of(scene):
    """Every change that a generator proposes: the new text, what stands in it at the spans, and `back`."""

    def run(find, text, *, keeps):
        found = []
        for change in find(text, scene, random.Random(1)):
            assert change.keeps is keeps
            new, spans = applied(text, change)
            found.append((new, [new[start:end] for start, end in spans], change.back))
        return found

    return run
