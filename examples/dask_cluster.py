"""hidim over a Dask cluster: its client is an executor like any other.

pip install 'hidim[dask]'
python examples/dask_cluster.py
"""

from __future__ import annotations

import time

from distributed import Client, LocalCluster

from hidim import Choice, Float, Space, minimize

SPACE = Space(
    x=Float(-5, 10),
    y=Float(0, 15),
    solver=Choice("plain", damped=Space(damping=Float(0.01, 1, log=True))),
)


def objective(params: dict) -> float:
    time.sleep(0.05)  # an evaluation that takes its time
    x, y = params["x"], params["y"]
    value = (y - 0.13 * x**2 + 1.6 * x - 6) ** 2 + 9.6 * (1 - x / 10)
    return value + (params["damping"] - 0.1) ** 2 if params["solver"] == "damped" else value + 0.5


def main() -> None:
    # Client("scheduler:8786") reaches a cluster of many machines in the same way.
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        result = minimize(
            objective, SPACE, n_trials=40, executor=client.get_executor(), workers=4, seed=0, progress=False
        )
    print(
        f"{len(result.history)} trials on 4 workers, best {result.best.value:.4g} at {dict(result.best.params)}"
    )


if __name__ == "__main__":
    main()
