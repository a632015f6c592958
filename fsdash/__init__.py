"""Frozen-state value iteration for Markov decision processes with a fast and a slow state.

fsdash.core.model        FastSlowMDP, the tables that a model is made of
fsdash.domains      the paper's three domains: make("inventory").build()
fsdash.core.operators    H, H̃, F and their policy versions
fsdash.algorithms   VI, FSVI, modified policy iteration, FSAVI, and the sampled E-VI, E-FSVI,
                    E-QI, slow-agnostic E-VI: generators of snapshots
fsdash.sampling     sampled operators
fsdash.core.evaluation   exact policy values, U*, regret
fsdash.theory       bounds, costs, the best T under a budget
fsdash.theory.measured   the constants of a model
fsdash.cli.main          the command line
"""

from fsdash.version import __version__

__all__ = ["__version__"]
