"""What the name of a column says about its numbers: codes, identifiers and years are no quantities.

Examples
--------
>>> says_code("ZIPCODE"), says_code("brewery_id"), says_code("price"), says_year("yr_built")
(True, True, False, True)
"""

from __future__ import annotations

import re

CODE = re.compile(
    r"(?i:(^|[\W_])(id|uuid|guid|code|sku|isbn|ean|upc|iban|ssn|fips|plz|zip|phone|telephone|tel|fax)($|[\W_]))"
    r"|(?i:code$|postal|postleitzahl|phone|fips)|[a-z]I[dD]$"
    r"|(?i:(account|case|child|client|country|county|cust|customer|district|employee|event|family|firm|game|household"
    r"|item|member|movie|order|patient|person|player|product|record|school|site|state|station|store|student|subj|subject"
    r"|team|town|track|trip|unit|user)id$)"
)
# Places and sorts of things, at the end of a name: their numbers stand in a list that is kept elsewhere.
LISTED = re.compile(
    r"(?i:(^|[\W_])(state|county|country|region|district|province|municipality|ward|precinct|type|kind|category|cause"
    r"|method|status|gender|sex|race|ethnicity|religion|nationality|language|industry|occupation|borough|neighbou?rhood"
    r"|drg|icd|cpt|ndc|naics|sic|mcc)_?$|^st$)"
)
COUNTED = re.compile(
    r"(?i:(^|[\W_])(per|by|of|in|n|num|number|count|total|sum|avg|average|mean|rate|share|pct|age)[\W_])"
)
# "fire_num" numbers the fires, but "kids_num" may count kids: large numbers tell.
NUMBERING = re.compile(r"(?i:[\W_](num|no|nr|number)$)")
FEWEST_NUMBERED = 1000
IDENTIFIER = re.compile(r"(?i:^unnamed|(^|[\W_])(key|index)$|(id|num|no|nr|number)$)")
INSIDE_A_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])")  # where a word begins in "policePrecinct"
DURATION = re.compile(r"(?i:(^|[\W_])(dur|duration|elapsed|run_?time|lap_?time|pace|length|dauer)($|[\W_]))")
YEAR = re.compile(r"(?i:(^|[^a-z])(years?|yrs?|jahr|annee|anno)($|[^a-z]))|[a-z]Year|(?i:^year|year$)")


def says_code(name: str, largest: float = FEWEST_NUMBERED) -> bool:
    """Whether numbers called so are codes, which have no order."""
    return bool(CODE.search(name)) or (largest >= FEWEST_NUMBERED and bool(NUMBERING.search(name)))


def says_listed(name: str) -> bool:
    """Whether numbers called so, if they repeat themselves, stand for places or sorts of things.

    Examples
    --------
    >>> names = ("county", "fire_cause", "policePrecinct", "county_population", "stores_per_county", "casesByState")
    >>> [name for name in names if says_listed(name)]
    ['county', 'fire_cause', 'policePrecinct']
    """
    words = INSIDE_A_NAME.sub("_", name)
    return bool(LISTED.search(words)) and not COUNTED.search(words)


def says_identifier(name: str) -> bool:
    """Whether numbers called so, if all are different, tell rows apart and nothing else."""
    return bool(IDENTIFIER.search(name)) or says_code(name)


def says_year(name: str) -> bool:
    """Whether numbers called so are years."""
    return bool(YEAR.search(name))


def says_duration(name: str) -> bool:
    """Whether what could be times of day, such as 1:02:33, are durations.

    Examples
    --------
    >>> [name for name in ("lapTime", "run time", "pickup_time", "Duration") if says_duration(name)]
    ['lapTime', 'run time', 'Duration']
    """
    return bool(DURATION.search(INSIDE_A_NAME.sub("_", name).replace(" ", "_")))
