"""What names a thing among its kind: "version 5.1", "zone B", "step 3" (ADR 0095)."""

import re
from typing import Final

LABELLED: Final = re.compile(
    r"\b(?:version|release|edition|model|class|level|group|plan|section|article|paragraph|zone|type|category|tier|stage"
    r"|phase|step|item|number|chapter|annex|appendix|rule|year|season|quarter|week|day|block|building|room|floor|line"
    r"|route|tariff|grade|size|series|format|gate|platform|unit|module|lot|batch|district|region|area|table|option"
    r"|scenario|case|part|volume|schedule|form|window)\s+(?P<label>[A-Z]?\d[\w.-]*|[A-Z]\b)",
    re.IGNORECASE,
)
