"""A network for handwritten digits, tuned by Optuna with pruning; hidim is the one line with the sampler.

pip install 'hidim[optuna,sklearn]'
python examples/optuna_digits.py            # --sampler tpe, as it was before
"""

from __future__ import annotations

import argparse

import numpy as np
import optuna
from optuna.trial import TrialState
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import hidim

EPOCHS, BATCH = 15, 64
X_TRAIN, X_VALID, Y_TRAIN, Y_VALID = train_test_split(*load_digits(return_X_y=True), random_state=0)


def network(trial: optuna.Trial) -> MLPClassifier:
    layers = [trial.suggest_int(f"n_units_l{i}", 4, 128) for i in range(trial.suggest_int("n_layers", 1, 3))]
    solver = trial.suggest_categorical("optimizer", ["adam", "sgd"])
    return MLPClassifier(
        hidden_layer_sizes=layers,
        solver=solver,
        learning_rate_init=trial.suggest_float("lr", 1e-5, 1e-1, log=True),
        alpha=trial.suggest_float("weight_decay", 1e-7, 1e-1, log=True),
        momentum=trial.suggest_float("momentum", 0.0, 0.99) if solver == "sgd" else 0.9,
        random_state=0,
    )


def objective(trial: optuna.Trial) -> float:
    model, rng, accuracy = network(trial), np.random.default_rng(0), 0.0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(X_TRAIN))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            model.partial_fit(X_TRAIN[batch], Y_TRAIN[batch], classes=range(10))
        accuracy = float(model.score(X_VALID, Y_VALID))
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return accuracy


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sampler", choices=["hidim", "tpe"], default="hidim")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    samplers = {"hidim": hidim.OptunaSampler, "tpe": optuna.samplers.TPESampler}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=samplers[options.sampler](seed=options.seed))
    study.optimize(objective, n_trials=options.trials)
    states = [trial.state for trial in study.trials]
    pruned, complete = states.count(TrialState.PRUNED), states.count(TrialState.COMPLETE)
    print(f"{complete} trials complete, {pruned} pruned; best accuracy {study.best_value:.4f}")
    for name, value in study.best_params.items():
        print(f"    {name}: {value}")


if __name__ == "__main__":
    main()
