"""From a history to a belief: models, their hyperparameters, noise, failures."""
