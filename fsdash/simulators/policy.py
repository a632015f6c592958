"""Policies for simulators that need no simulator: Q values on a lattice, in a file.

    Q(x, y, a) = Σ_c weight_c(y) φ(x)ᵀθ(y_c, a)

The policy takes the feasible action with the largest Q. y_c are the corners of the lattice cell
around y, φ the features of x. A file is a NumPy archive (`.npz`, read without pickle) with the
arrays and a JSON text: names, ranges, actions, a hash of the simulator's source, the value and the
gap.
"""

from __future__ import annotations

import itertools
import json
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fsdash.core.display import Lines, Summary
from fsdash.core.kernels import jit
from fsdash.errors import InputError
from fsdash.simulators.simulator import Points, Spec, nearest_points

FORMAT = "fsdash-simulator-policy"
MAX_TABLE = 256
"""Slow states up to which every one gets a feature of its own."""
LONE_NODES = 10
"""Nodes of a single slow coordinate."""


def corners(points: Sequence[Points], y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lattice points around each row of y and their weights, both of shape (n, corners)."""
    index, weight = np.zeros((len(y), 1), np.int64), np.ones((len(y), 1))
    for j, p in enumerate(points):
        n = len(p.values)
        if p.exact:
            index = index * n + nearest_points(p.values, y[:, j])[:, None]
            continue
        place = np.clip((y[:, j] - p.low) / (p.high - p.low) * (n - 1), 0, n - 1)
        # A rounding error must not turn a lattice point into two corners.
        place = np.where(np.abs(place - np.round(place)) < 1e-9, np.round(place), place)
        low = np.minimum(place.astype(np.int64), n - 2)
        share = (place - low)[:, None]
        low = index * n + low[:, None]
        index = np.concatenate([low, low + 1], axis=1)
        weight = np.concatenate([weight * (1 - share), weight * share], axis=1)
    return index, weight


class Features:
    """φ(x): indicators of the slow states if there are few, otherwise Chebyshev polynomials.

    The polynomials have a total degree of at most 3, or 6 for a single slow coordinate. A
    coordinate with k values has at most the degree k − 1.
    """

    def __init__(self, slow: Sequence[Points], powers_FD: np.ndarray | None) -> None:
        self.slow, self.powers_FD = list(slow), powers_FD

    @classmethod
    def of(cls, slow: Mapping[str, Points]) -> Features:
        points = list(slow.values())
        if all(p.exact for p in points) and _combinations(points) <= MAX_TABLE:
            return cls(points, None)
        degree = 6 if len(points) == 1 else 3
        most = [min(degree, len(p.values) - 1) if p.exact else degree for p in points]
        powers = itertools.product(*(range(k + 1) for k in most))
        return cls(points, np.array([p for p in powers if sum(p) <= degree]))

    def __len__(self) -> int:
        return _combinations(self.slow) if self.powers_FD is None else len(self.powers_FD)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """φ of each row, shape (n, F)."""
        if self.powers_FD is None:
            index, _ = corners(self.slow, x)
            return (index == np.arange(len(self))).astype(float)
        phi = np.ones((len(x), len(self.powers_FD)))
        for j, p in enumerate(self.slow):
            z = np.clip(2 * (x[:, j] - p.low) / max(p.high - p.low, 1e-300) - 1, -1, 1)
            phi *= np.polynomial.chebyshev.chebvander(z, int(self.powers_FD[:, j].max()))[
                :, self.powers_FD[:, j]
            ]
        return phi

    def nodes(
        self,
        rng: np.random.Generator,
        count: int | None,
        visited: Callable[[np.random.Generator, int], np.ndarray],
    ) -> np.ndarray:
        """Slow states where values are computed: all, Chebyshev nodes, or half visited, half box.

        `visited(rng, n)` returns n states of simulated paths.
        """
        if self.powers_FD is None:
            return np.array(list(itertools.product(*(p.values for p in self.slow))))
        if len(self.slow) == 1:
            n, p = max(count or LONE_NODES, len(self)), self.slow[0]
            place = -np.cos((np.arange(n) + 0.5) / n * np.pi) / np.cos(np.pi / (2 * n))
            return (p.low + (place + 1) / 2 * (p.high - p.low))[:, None]
        n = max(count or 40, 2 * len(self))
        box = [
            rng.choice(p.values, n // 2) if p.exact else rng.uniform(p.low, p.high, n // 2)
            for p in self.slow
        ]
        x = np.concatenate([np.column_stack(box), visited(rng, n - n // 2)])
        ends = list(itertools.product(*((p.low, p.high) for p in self.slow)))
        if len(ends) <= n // 4:
            x[: len(ends)] = ends
        return x


def _combinations(points: Sequence[Points]) -> int:
    return int(np.prod([len(p.values) for p in points], dtype=np.int64))


class LatticePolicy(Summary):
    """A policy for a simulator that needs no simulator.

    Call it with a state (a mapping of coordinates to numbers or arrays, or rows of slow and then
    fast coordinates); it returns the action or an array of actions. `act(x, y)` returns indices.
    """

    def __init__(
        self,
        spec: Spec | Mapping[str, Any],
        features: Features,
        points: Sequence[Points],
        theta_LFA: np.ndarray,
        feasible_LA: np.ndarray,
        name: str,
    ) -> None:
        self.features, self.points, self.name = features, list(points), name
        self.theta_LFA, self.feasible_LA = theta_LFA, feasible_LA
        if isinstance(spec, Spec):
            spec = {
                "slow": spec.slow_names,
                "fast": spec.fast_names,
                "actions": [_plain(action) for action in spec.actions],
                "simulator": spec.name,
            }
        self.about: dict[str, Any] = dict(spec)
        """Names, actions and what is known about the policy: value, gap, hash of the simulator."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The coordinates, slow ones first, in the order of a state given as a row."""
        return (*self.about["slow"], *self.about["fast"])

    @property
    def actions(self) -> list[Any]:
        return self.about["actions"]

    def act(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The indices of the actions in n states, from x (n, slow) and y (n, fast)."""
        index, weight = corners(self.points, y)
        out = np.empty(len(y), np.int64)
        greedy_rows(self.features(x), index, weight, self.theta_LFA, self.feasible_LA, out)
        return out

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, state: Any) -> Any:
        """The action in a state, or the actions in an array of states."""
        if isinstance(state, Mapping):
            missing = [name for name in self.variables if name not in state]
            if missing or len(state) != len(self.variables):
                raise InputError(f"state: give exactly the coordinates {', '.join(self.variables)}")
            columns = np.broadcast_arrays(*(state[name] for name in self.variables))
            scalar, shape = columns[0].ndim == 0, columns[0].shape
            rows = np.column_stack([np.ravel(c) for c in columns])
        else:
            rows = np.asarray(state)
            scalar, shape = rows.ndim == 1, rows.shape[:-1]
            rows = rows.reshape(-1, rows.shape[-1]) if rows.ndim else rows.reshape(1, 1)
        if rows.dtype.kind not in "biuf" or rows.shape[1] != len(self.variables):
            raise InputError(f"state: give numbers for {', '.join(self.variables)}")
        rows = rows.astype(float)
        if not np.isfinite(rows).all():
            raise InputError("state: has a value that is not finite; give numbers")
        self._warn_outside(rows)
        k = len(self.about["slow"])
        acts = self.act(rows[:, :k], rows[:, k:])
        return self.actions[acts[0]] if scalar else np.array(self.actions)[acts].reshape(shape)

    def _warn_outside(self, rows: np.ndarray) -> None:
        for j, p in enumerate([*self.features.slow, *self.points]):
            wrong = p.misses(rows[:, j])
            if wrong.any():
                warnings.warn(
                    f"{self.variables[j]} = {rows[wrong.argmax(), j]:g} is outside the range for "
                    f"which the policy was computed ({p.low:g} to {p.high:g}); the nearest "
                    "values are used",
                    stacklevel=3,
                )

    def save(self, path: str | Path) -> None:
        """Write the policy to a file with the ending .npz; `fsdash.load_policy` reads it."""
        path = Path(path)
        if path.suffix != ".npz":
            raise InputError(f"{path.name}: this policy is saved as .npz; use that ending")
        axes: dict[str, Any] = {
            f"{kind}_{j}": p.values
            for kind, points in (("slow", self.features.slow), ("fast", self.points))
            for j, p in enumerate(points)
        }
        exact = [[p.exact for p in points] for points in (self.features.slow, self.points)]
        about = {"format": FORMAT, "version": 1, "name": self.name, "exact": exact, **self.about}
        powers = self.features.powers_FD
        np.savez_compressed(
            path,
            about=np.array(json.dumps(about)),
            theta_LFA=self.theta_LFA,
            feasible_LA=self.feasible_LA,
            powers_FD=np.empty((0, 0), int) if powers is None else powers,
            **axes,
        )

    @classmethod
    def load(cls, path: str | Path) -> LatticePolicy:
        """Read a policy that `save` wrote; the simulator is not needed."""
        damaged = InputError(f"{Path(path).name}: not a saved policy of a simulator, or damaged")
        try:
            with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = dict(file)
            about = json.loads(str(arrays["about"]))
            if about.pop("format") != FORMAT or about.pop("version") != 1:
                raise damaged
            exact_slow, exact_fast = about.pop("exact")
            slow = [Points(arrays[f"slow_{j}"], bool(e)) for j, e in enumerate(exact_slow)]
            fast = [Points(arrays[f"fast_{j}"], bool(e)) for j, e in enumerate(exact_fast)]
            powers = arrays["powers_FD"] if arrays["powers_FD"].size else None
            features = Features(slow, powers)
            theta, feasible = arrays["theta_LFA"], arrays["feasible_LA"]
            sizes = (_combinations(fast), len(features), len(about["actions"]))
            if theta.shape != sizes or feasible.shape != (sizes[0], sizes[2]):
                raise damaged
            return cls(about, features, fast, theta, feasible, about.pop("name"))
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file") from None
        except InputError:
            raise
        except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile):
            raise damaged from None

    def _summary(self) -> tuple[str, Lines]:
        shown = {k: v for k, v in self.about.items() if k in ("simulator", "value", "gap")}
        return f"Policy, {self.name}", [
            ("state", ", ".join(self.variables)),
            ("actions", ", ".join(str(action) for action in self.actions[:8])),
            ("lattice points", len(self.theta_LFA)),
            *shown.items(),
        ]


def _plain(action: Any) -> Any:
    """An action as JSON can write it."""
    action = action.item() if isinstance(action, np.generic) else action
    return action if isinstance(action, int | float | str) else str(action)


@jit
def greedy_rows(phi_NF, corner_NC, weight_NC, theta_LFA, feasible_LA, out_N):
    """The feasible action with the largest Q in each row; the first one of several.

    An action counts as feasible where it is so at every corner with weight, or at none of them.
    """
    N, C = corner_NC.shape
    F, A = theta_LFA.shape[1:]
    q_A, barred_A = np.empty(A), np.empty(A)
    for i in range(N):
        q_A[:] = 0.0
        barred_A[:] = 0.0
        for c in range(C):
            w, y = weight_NC[i, c], corner_NC[i, c]
            if w == 0.0:
                continue
            for a in range(A):
                if not feasible_LA[y, a]:
                    barred_A[a] += w
            for f in range(F):
                wf = w * phi_NF[i, f]
                for a in range(A):
                    q_A[a] += wf * theta_LFA[y, f, a]
        least = barred_A.min()
        best = -np.inf
        for a in range(A):
            if barred_A[a] <= least + 1e-12 and q_A[a] > best:
                best = q_A[a]
                out_N[i] = a
