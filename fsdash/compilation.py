"""Compiling the numerical kernels once, with progress, before they are needed.

Numba compiles a kernel when it is first called and keeps the result in a cache: next to the source
where that folder is writable, otherwise in the user's cache folder (see `fsdash.core.kernels`). All
kernels together take from 20 seconds to a minute. The commands that compute, `fsdash dashboard` and
`make` call `ensure_compiled`, which says so on stderr; `fsdash compile` does nothing else.

A small file in the cache holds a fingerprint of the sources, of Numba and of the processor. Numba
compares only a kernel's own source file with its cached result, although kernels call each other
across files. So whenever the fingerprint changes, all kernels are compiled again.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsdash.core.model import FastSlowMDP

MESSAGE = "Compiling the numerical kernels (once per installation)"
STAMP = "fsdash-compiled.txt"
KERNEL_DOMAINS = ("inventory", "gridworld", "pricing")
KERNEL_ALGORITHMS = ("e-vi", "e-fsvi", "e-qi", "slow-agnostic", "lin-fsfvi")
"""Together they call every kernel of sampling and regression."""


def ensure_compiled() -> None:
    """Compile all kernels unless that has been done, reporting progress on stderr."""
    if not is_compiled():
        compile_kernels()


def is_compiled() -> bool:
    """Whether the cache holds all kernels of this version."""
    try:
        return _stamp().read_text(encoding="utf-8") == _fingerprint()
    except OSError:
        return False


def compile_kernels() -> None:
    """Empty the cache and compile all kernels, reporting progress on stderr."""
    _clear_cache()
    steps = _steps()
    for number, (name, step) in enumerate(steps, 1):
        _report(f"{MESSAGE}: {number} of {len(steps)}, {name} …", last=False)
        step()
    _report(f"{MESSAGE}: done", last=True)
    _stamp().write_text(_fingerprint(), encoding="utf-8")


def _clear_cache() -> None:
    for folder in {Path(kernel.stats.cache_path) for kernel in _kernels()}:
        for file in folder.glob("*.nb[ic]"):
            file.unlink(missing_ok=True)


def _report(text: str, last: bool) -> None:
    """One line per step; on a terminal each line replaces the one before."""
    if sys.stderr.isatty():
        print(f"\r{text:<100}", end="\n" if last else "", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def _steps() -> list[tuple[str, Callable[[], None]]]:
    """Small computations that together call every kernel, with a name for each."""
    steps: list[tuple[str, Callable[[], None]]] = [
        ("exact solutions", _solve),
        ("constants of a model", _measure),
        ("paths and visits", _simulate),
        ("simulators", _plan),
    ]
    return steps + [(name, partial(_run, name)) for name in KERNEL_ALGORITHMS]


def _solve() -> None:
    import numpy as np
    from scipy.sparse import csr_array

    from fsdash.algorithms import fsvi, run_until
    from fsdash.algorithms.optimum import regret
    from fsdash.choice.plan import plan
    from fsdash.core.greedy import OwnRows
    from fsdash.domains import make
    from fsdash.models.arrays import from_arrays

    for model in (make("inventory").build(), _model_in_factors(), _model_in_rows()):
        regret(model, run_until(fsvi(model, 6), iterations=1).policy_PXY)
        plan(model, sweeps=30)
    # The steps that only a large model takes; the second one changes U a lot.
    steps = OwnRows(model, model.rows)
    for U_XY in (np.zeros(model.real_XY.shape), model.reward_XYA.max(axis=2)):
        steps.greedy(U_XY)
        steps.sweeps(U_XY, 1, 0.0)
    # Arrays that need no sorting, with each type of index.
    for index in (np.int32, np.int64):
        parts = (np.ones(2), np.array([0, 1], index), np.arange(3, dtype=index))
        from_arrays(csr_array(parts), np.zeros(2), gamma=0.9, s_indices=[0, 1], a_indices=[0, 0])


def _model_in_rows() -> FastSlowMDP:
    """The inventory with its law as sparse rows."""
    from fsdash.core.model import FastSlowMDP
    from fsdash.core.rows import to_rows
    from fsdash.domains import make

    model = make("inventory").build()
    return FastSlowMDP(reward_XYA=model.reward_XYA, rows=to_rows(model), gamma=model.gamma)


def _model_in_factors() -> FastSlowMDP:
    """A chain of two variables, of which one is slow, with noise."""
    from fsdash.models.markov_chain import from_markov_chain

    chain = [{"slow": i // 2, "other": i % 2} for i in range(4)]
    P_XX, fast_next = [[0.25] * 4] * 4, [[[0, 1], [1, 0]]] * 2
    options = {"gamma": 0.9, "slow_values": chain, "slow": "slow", "noise": [0.5, 0.5]}
    return from_markov_chain(P_XX, fast_next, 0.0, **options)


def _simulate() -> None:
    import numpy as np

    from fsdash.core.blocks import frozen_blocks
    from fsdash.core.simulate import simulate, visits
    from fsdash.domains import make
    from fsdash.sampling import NextStates

    for model in (make("inventory").build(), _model_in_factors(), _model_in_rows()):
        policy = np.zeros((model.n_slow, model.n_fast), int)
        simulate(model, policy, rng=np.random.default_rng(0), steps=2)
        frozen_blocks(model, policy, rng=np.random.default_rng(0), blocks=1, T=2)
        visits(model, policy, tolerance=1.0)
        NextStates(model).draw(np.zeros(1, np.int64), np.zeros(1))


def _plan() -> None:
    from fsdash.simulators.battery import Battery
    from fsdash.simulators.plan import plan_simulator

    plan_simulator(Battery(), calls=4e6)


def _measure() -> None:
    from fsdash.domains import make
    from fsdash.theory.measured import measure

    measure(make("inventory").build())


def _run(algorithm: str) -> None:
    import numpy as np

    from fsdash.algorithms.registry import get_algorithm
    from fsdash.runs.runner import run_all
    from fsdash.runs.spec import RunSpec

    method = get_algorithm(algorithm)
    one_sample = {name: 1 for name in ("M", "M_u") if name in method.parameters}
    T = 2 if method.freezes else None
    parameters = {name: p.default for name, p in method.all_parameters.items()} | one_sample
    for model in (_model_in_rows(), _model_in_factors()):
        snapshots = method.start(model, np.random.default_rng(0), T, parameters)
        for _ in range(4):
            next(snapshots)
    run_all(
        [
            RunSpec(domain, algorithm, T=T, parameters=one_sample, iterations=1, replications=1)
            for domain in KERNEL_DOMAINS
        ]
    )


def _kernels() -> list:
    """Every function of fsdash whose compiled form Numba keeps in a cache."""
    from numba.core.dispatcher import Dispatcher

    _import_kernel_modules()
    found = {
        id(value): value
        for name, module in sorted(sys.modules.items())
        if name.startswith("fsdash.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and value.stats.cache_path is not None
    }
    return list(found.values())


def _import_kernel_modules() -> None:
    import fsdash.algorithms.optimum
    import fsdash.core.blocks
    import fsdash.core.simulate
    import fsdash.runs.runner
    import fsdash.simulators.dual
    import fsdash.theory.measured  # noqa: F401


def _stamp() -> Path:
    from fsdash.core import kernels

    return Path(kernels.bellman.stats.cache_path) / STAMP


def _fingerprint() -> str:
    import llvmlite.binding
    import numba

    parts = [sys.version, numba.__version__, llvmlite.binding.get_host_cpu_name()]
    parts += _sources()
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _sources() -> Iterator[str]:
    """Name, size and date of each file with kernels, the parts that Numba's cache compares."""
    files = {Path(inspect.getfile(kernel.py_func)) for kernel in _kernels()}
    for file in sorted(files):
        status = file.stat()
        yield f"{file.name} {status.st_size} {status.st_mtime_ns}"
