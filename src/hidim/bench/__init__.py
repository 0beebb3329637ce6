"""The benchmark behind `hidim bench`: the papers' functions, peers under one interface, sweeps and tables.

functions, conditional   formulas and the tree problem
discrete                 labels only
base, problems           the one interface, and problems by name
naming                   methods of hidim with settings in their names
peers                    Optuna, BoTorch, pycma, SMAC and hidim's own methods behind ask/tell
runner                   methods × problems × seeds in processes, JSON-lines results
report, curves, tables   what a results file says
latency                  the time of one suggestion
commands                 the command line
"""
