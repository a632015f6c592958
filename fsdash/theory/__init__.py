"""The paper's theory as functions: regret bounds, costs, and the choice of T for a budget.

    here                                      in the paper
    ----------------------------------------  ------------------------------------------------
    Constants, Sizes                          γ, α, d_Y, L = (L_r, L_f, L_U), r_max; |X|, |Y|, |A|
    reward_error                              Proposition "Reward Approximation Error", ε_r
    lemma_regret, transition_distance         Section "A General Lemma", d(α, d_Y, T)
    fsvi_bound, iteration_term               the theorem of Section "Regret of FSVI"
    vi_bound                                 the proposition of Section "Regret of Base VI"
    trivial_bound                             r_max/(1-γ), the largest possible value
    value_lipschitz_bound                     Appendix "Bounds on L_U in Terms of L_r and L_f"
    fsavi_bound                              the regret of FSAVI: a proven bound, or as stated
    repaired_bound                           the regret of FSVI without an unstated condition
    rolling_bound                             the regret of rolling freeze; not in the paper
    vi_cost, fsvi_cost, lower_level_cost      Section "Computational Cost of FSVI"
    k_max, k_max_vi, advise, regimes          Section "Regret versus Computational Cost ..."
    best_T                                    the same for many budgets at once
    PRESETS, preset                           figures of "Interpreting the Regret Analysis"

`bounds_table` has all bounds and costs on a grid of T and k. To add a bound, write its function in
a module of its own and add a column to the table; the command line follows.
"""

from fsdash.theory.bounds import (
    FsviRegret,
    LemmaRegret,
    RewardError,
    fsvi_bound,
    iteration_term,
    lemma_regret,
    reward_error,
    transition_distance,
    trivial_bound,
    value_lipschitz_bound,
    vi_bound,
)
from fsdash.theory.budget import Advice, BoundedRun, Regime, advise, regimes
from fsdash.theory.fsavi import FsaviRegret, fsavi_bound
from fsdash.theory.parameters import (
    Constants,
    Sizes,
    fsvi_cost,
    k_max,
    k_max_vi,
    lower_level_cost,
    vi_cost,
)
from fsdash.theory.presets import DEFAULT_PRESET, PRESETS, Preset, preset
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.rolling import RollingRegret, rolling_bound
from fsdash.theory.sensitivity import best_T
from fsdash.theory.table import bounds_table

__all__ = [
    "DEFAULT_PRESET",
    "PRESETS",
    "Advice",
    "BoundedRun",
    "Constants",
    "FsaviRegret",
    "FsviRegret",
    "LemmaRegret",
    "Preset",
    "Regime",
    "RewardError",
    "RollingRegret",
    "Sizes",
    "advise",
    "best_T",
    "bounds_table",
    "fsavi_bound",
    "fsvi_bound",
    "fsvi_cost",
    "iteration_term",
    "k_max",
    "k_max_vi",
    "lemma_regret",
    "lower_level_cost",
    "preset",
    "regimes",
    "repaired_bound",
    "reward_error",
    "rolling_bound",
    "transition_distance",
    "trivial_bound",
    "value_lipschitz_bound",
    "vi_bound",
    "vi_cost",
]
