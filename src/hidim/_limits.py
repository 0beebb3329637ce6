"""How large is too large: sizes up to which things are done in one way, and beyond which in another or not.

Columns are those of the unit cube of a space, coordinates those of one vector.
"""

from __future__ import annotations

#: Columns up to which points, and the table of all columns, are written down.
COLUMNS_WRITTEN_DOWN = 10_000_000

#: Columns up to which a kernel can look at all of them through an embedding.
COLUMNS_LIFTED = 100_000

#: Columns up to which methods with a model search without an embedding; a suggestion takes 2 GB there.
COLUMNS_OF_CUBE = 100_000

#: Columns up to which there is a zonotope: every image needs all of Q, and a batch of them is written down.
COLUMNS_OF_ZONOTOPE = 10_000

#: Columns up to which `auto` searches without an embedding.
COLUMNS_WITHOUT_EMBEDDING = 5_000

#: Columns up to which insight has a model of the values.
COLUMNS_OF_INSIGHT = 5_000

#: Columns up to which methods with an embedding compare configurations, and not the points they stand for.
COLUMNS_COMPARED = 2_000

#: Coordinates up to which there are vectors: places beyond cannot be told apart as floats.
COORDINATES_AT_ALL = 2**53

#: Choices within options of choices up to which a space is built; walks through the tree are recursive.
CHOICES_NESTED = 64

#: Coordinates up to which a vector is handed to objectives as a plain array.
COORDINATES_HANDED_OUT = 1_000_000

#: Coordinates up to which each may have bounds of its own.
COORDINATES_BOUNDED_SINGLY = 1_000_000

#: Coordinates up to which a vector is kept as a plain array, and not by what it was made from.
COORDINATES_KEPT = 1_000

#: Coordinates up to which each has a column of its own in a DataFrame.
COORDINATES_TABULATED = 1_000

#: Values up to which an integer can be compared like a label.
VALUES_AS_LABELS = 1_000
