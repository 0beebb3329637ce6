"""hidim within Ray Tune, by way of its OptunaSearch.

    pip install 'hidim[ray]'
    python examples/ray_tune.py

Tune wants the space in advance. Given as a function, it may be conditional: which parameters exist under
which choices is found in the trials, as in any study.
"""

from __future__ import annotations

import optuna
from ray import tune
from ray.tune.search import ConcurrencyLimiter
from ray.tune.search.optuna import OptunaSearch

import hidim


def space(trial: optuna.Trial) -> None:
    """What varies; Tune hands the values to the objective as its config."""
    trial.suggest_float("rate", 1e-4, 1, log=True)
    if trial.suggest_categorical("optimizer", ["sgd", "adam"]) == "sgd":
        trial.suggest_float("momentum", 0, 0.99)


def objective(config: dict) -> dict:
    loss = (config["rate"] - 0.03) ** 2
    return {"loss": loss + (config["momentum"] - 0.9) ** 2 if config["optimizer"] == "sgd" else loss + 0.1}


def main() -> None:
    search = OptunaSearch(space, metric="loss", mode="min", sampler=hidim.OptunaSampler(seed=0))
    tuner = tune.Tuner(
        objective,
        tune_config=tune.TuneConfig(search_alg=ConcurrencyLimiter(search, max_concurrent=2), num_samples=30),
        run_config=tune.RunConfig(verbose=0),
    )
    best = tuner.fit().get_best_result("loss", "min")
    print(f"30 trials, best {best.metrics['loss']:.4g} at {best.config}")


if __name__ == "__main__":
    main()
