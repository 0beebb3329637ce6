"""BAxUS: an embedding that grows, for unknown numbers of directions that matter (Papenmeier et al. 2022).

Bins of parameters are searched as `default` searches parameters. They double when the search stalls. There
are no trust regions, as the paper has them.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.frame import Growing
from hidim.methods.default import DEFAULT
from hidim.methods.recipe import Recipe

BAXUS: Recipe = replace(DEFAULT, name="baxus", frame=Growing())
