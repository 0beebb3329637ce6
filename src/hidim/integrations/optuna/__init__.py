"""hidim inside Optuna (`pip install 'hidim[optuna]'`): one line of an existing study changes.

    study = optuna.create_study(sampler=hidim.OptunaSampler())

Objective, storage, pruners, dashboard and workers stay. All that a method remembers lies in the storage, with
the trials: any number of processes that share one are one study.
"""

from hidim._optional import require

require("optuna", extra="optuna")  # first, because the imports below would not say what to install

from hidim.integrations.optuna.moving import from_study, to_study  # noqa: E402  (after `require`)
from hidim.integrations.optuna.sampler import OptunaSampler  # noqa: E402  (after `require`)

__all__ = ["OptunaSampler", "from_study", "to_study"]
