"""Reckoning slips: where a text's own numbers, dates and units do not add up (ADR 0204).

No source is needed to see that 14 + 9 + 6 is not 31, that 1 April 2027 is no Monday, or that 34 kg are not 3,400 g.
Each rule knows one form of words and leaves every other one alone: a slip that is told is one. Linear in the text.
"""

from services.common.reading.reckoning.lines import Line, Slip
from services.common.reading.reckoning.slips import slips, slips_of
from services.common.reading.reckoning.stretches import Stretch, stretches

__all__ = ["Line", "Slip", "Stretch", "slips", "slips_of", "stretches"]
