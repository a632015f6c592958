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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
