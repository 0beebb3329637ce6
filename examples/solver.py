"""A program to be tuned: HiGHS, a solver of mixed-integer programmes, on a problem of its own.

    hidim init solver.toml -- python examples/solver.py
    hidim tune solver.toml --trials 60 --regex 'work: (\\d+)' -- python examples/solver.py …

Which of 9 depots are opened, and who of 20 customers is served by which, at the least cost. What is printed
as work is the number of iterations that the simplex method took until the optimum was proven: that does not
depend on how busy the machine is. Needs `pip install highspy`.
"""

from __future__ import annotations

import argparse

import highspy
import numpy as np


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve all customers at the least cost.")
    parser.add_argument("--presolve", choices=["on", "off"], default="on", help="simplify the problem first")
    parser.add_argument("--effort", type=float, default=0.05, help="for heuristics [0, 1] (default 0.05)")
    parser.add_argument("--reliable", type=int, default=8, help="branchings before a cost counts (default 8)")
    parser.add_argument("--age", type=int, default=10, help="rounds until a cut is dropped (default 10)")
    parser.add_argument("--pool-age", type=int, default=30, help="the same, in the pool (default 30)")
    parser.add_argument("--restart", choices=["true", "false"], default="true", help="may it begin anew?")
    parser.add_argument("--cuts", choices=["true", "false"], default="true", help="cut planes at all nodes?")
    parser.add_argument("--symmetry", choices=["true", "false"], default="true", help="is it looked for?")
    parser.add_argument("--seed", type=int, default=0, help="of the instance")
    return parser.parse_args()


def instance(seed: int, depots: int = 9, customers: int = 20) -> highspy.Highs:
    """Costs and sizes at random, the same for the same seed."""
    rng = np.random.default_rng(seed)
    where, who = rng.random((depots, 2)), rng.random((customers, 2))
    distance = np.linalg.norm(where[:, None] - who[None], axis=2)
    size, demand = rng.integers(20, 45, depots), rng.integers(3, 12, customers)
    model = highspy.Highs()
    model.silent()
    opened = [model.addBinary(obj=float(1.5 + rng.random())) for _ in range(depots)]
    served = [[model.addBinary(obj=float(d)) for d in row] for row in distance]
    for customer in range(customers):
        model.addConstr(sum(served[depot][customer] for depot in range(depots)) == 1)
    for depot in range(depots):
        load = sum(int(demand[c]) * served[depot][c] for c in range(customers))
        model.addConstr(load <= int(size[depot]) * opened[depot])
    return model


def main() -> None:
    options = arguments()
    model = instance(options.seed)
    settings = {
        "threads": 1,
        "presolve": options.presolve,
        "mip_heuristic_effort": options.effort,
        "mip_pscost_minreliable": options.reliable,
        "mip_lp_age_limit": options.age,
        "mip_pool_age_limit": options.pool_age,
        "mip_allow_restart": options.restart == "true",
        "mip_allow_cut_separation_at_nodes": options.cuts == "true",
        "mip_detect_symmetry": options.symmetry == "true",
        "mip_max_nodes": 3000,
    }
    for name, value in settings.items():
        model.setOptionValue(name, value)
    model.run()
    info = model.getInfo()
    print(f"cost: {info.objective_function_value:.6f}, nodes: {info.mip_node_count}")
    if info.mip_gap > 1e-3:
        raise SystemExit("no proof of optimality within 3000 nodes")
    print(f"work: {info.simplex_iteration_count}")


if __name__ == "__main__":
    main()
