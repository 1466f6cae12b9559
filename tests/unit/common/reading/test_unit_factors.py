"""What one of each unit is in base units: as pint says, digit for digit, and no unit is missing."""

from decimal import Decimal

import pint
import pytest

from services.common.reading import units
from services.common.reading.unit_factors import IN_BASE_UNITS
from services.common.reading.units import in_base_units


@pytest.fixture(scope="module")
def registry():
    return pint.UnitRegistry(non_int_type=Decimal)


def test_every_unit_has_pints_factor(registry):
    assert set(IN_BASE_UNITS) == set(units._WORDS.values())
    for name, (factor, unit) in IN_BASE_UNITS.items():
        base = registry.Quantity(Decimal(1), name).to_base_units()
        assert (str(factor), unit) == (str(Decimal(base.magnitude)), f"{base.units:D}"), name


@pytest.mark.parametrize("number", ["98.6", "-40", "0", "32", "451", "100.04", "-459.67"])
def test_degrees_fahrenheit_are_pints(registry, number):
    celsius = registry.Quantity(Decimal(number), "degF").to("degC").magnitude
    found = in_base_units(Decimal(number), "\u00b0F")
    assert (str(found[0]), found[1]) == (str(Decimal(celsius).quantize(Decimal("0.0001"))), "\u00b0c")
