"""Anderson acceleration of an affine fixed-point iteration U ← B U.

With g_k = B U_k and r_k = g_k − U_k, the next iterate combines the last few:

    U_{k+1} = g_k − Σ_j θ_j (g_{j+1} − g_j),    θ minimises ‖r_k − Σ_j θ_j (r_{j+1} − r_j)‖.

When a policy cycles through states, the error of its values rotates and hardly shrinks. A few
residuals span these rotations, so their best combination nearly removes them. U_k need not come
from this iteration: an iterate that was corrected in between works as well. A step costs about
4·DEPTH operations per state.
"""

import numpy as np

from fsdash.core.kernels import jit

DEPTH = 7
"""Number of differences of iterates that are combined into the next one."""
RIDGE = 1e-13
"""Keeps the equations for θ solvable where differences are nearly equal; their diagonal is 1."""


@jit
def new_history(size):
    """Allocate the arrays in which `accelerate` stores the iteration between two calls."""
    images_IS, residuals_IS = np.empty((DEPTH, size)), np.empty((DEPTH, size))
    return images_IS, residuals_IS, np.zeros((DEPTH, DEPTH)), np.empty((2, size))


@jit
def accelerate(k, history, residual_S, U_S):
    """Turn U = g_k into U_{k+1}, in place, given r_k, and store both in the history.

    The history holds the differences of the last images and residuals, the scalar products of the
    residual differences, and the previous image and residual.
    """
    images_IS, residuals_IS, normal_II, last_2S = history
    D, S = images_IS.shape
    new, known = (k - 1) % D, min(k, D)
    if known:
        for s in range(S):
            images_IS[new, s] = U_S[s] - last_2S[0, s]
            residuals_IS[new, s] = residual_S[s] - last_2S[1, s]
    last_2S[0, :], last_2S[1, :] = U_S, residual_S
    right_I = np.empty(known)
    for i in range(known):
        normal_II[i, new] = normal_II[new, i] = dot(residuals_IS[i], residuals_IS[new])
        right_I[i] = dot(residuals_IS[i], residual_S)
    theta_I = least_squares(normal_II[:known, :known], right_I)
    for i in range(known):
        theta, image_S = theta_I[i], images_IS[i]
        for s in range(S):
            U_S[s] -= theta * image_S[s]


@jit
def dot(a_S, b_S):
    """Compute Σ a·b as four partial sums, so that additions need not wait for each other."""
    S = a_S.size
    p = q = r = t = 0.0
    for s in range(0, S - 3, 4):
        p += a_S[s] * b_S[s]
        q += a_S[s + 1] * b_S[s + 1]
        r += a_S[s + 2] * b_S[s + 2]
        t += a_S[s + 3] * b_S[s + 3]
    for s in range(S - S % 4, S):
        p += a_S[s] * b_S[s]
    return (p + q) + (r + t)


@jit
def least_squares(normal_II, right_I):
    """Solve the normal equations for θ by Cholesky, scaled to a diagonal of 1 + `RIDGE`."""
    n = right_I.size
    scale_I, L_II, theta_I = np.zeros(n), np.zeros((n, n)), np.empty(n)
    for i in range(n):
        if normal_II[i, i] > 0:
            scale_I[i] = 1 / np.sqrt(normal_II[i, i])
    for i in range(n):
        for j in range(i + 1):
            left = normal_II[i, j] * scale_I[i] * scale_I[j] if j < i else 1 + RIDGE
            for m in range(j):
                left -= L_II[i, m] * L_II[j, m]
            L_II[i, j] = left / L_II[j, j] if j < i else np.sqrt(max(left, RIDGE))
    for i in range(n):
        theta_I[i] = right_I[i] * scale_I[i]
        for m in range(i):
            theta_I[i] -= L_II[i, m] * theta_I[m]
        theta_I[i] /= L_II[i, i]
    for i in range(n - 1, -1, -1):
        for m in range(i + 1, n):
            theta_I[i] -= L_II[m, i] * theta_I[m]
        theta_I[i] /= L_II[i, i]
    return theta_I * scale_I
