"""The operators of the upper level in the paper's form, as references for tests."""

from fsdash.core.operators import H_policy, follow_all, lower_kernel, upper_bellman


def F(model, J1_XY, lower, V_XY):
    """The upper-level operator for lower-level values J₁ and policy (π₁, …, π_{T−1})."""
    return upper_bellman(model, J1_XY, follow_all(model, lower), V_XY)[0]


def F_policy(model, J1_XY, lower, mu_XY, V_XY):
    """One upper-level step of the policy μ: E[R̃(s₀, μ, J₁) + γᵀ V(s_T)]."""
    kernel_XY = lower_kernel(model, follow_all(model, lower), V_XY)
    return H_policy(model, mu_XY, J1_XY + model.gamma ** len(lower) * kernel_XY)
