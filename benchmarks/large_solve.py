"""One exact solve with 10⁷ state-action pairs, on one thread and on two; prints JSON.

It runs in a process of its own, because the package `benchmarks` limits Numba to one thread and
Numba reads the limit when it is imported. Both solves take turns; the fastest of each counts.
"""

from __future__ import annotations

import json
import os

ROUNDS = 3
SHAPE, N_NEXT = (100, 10_000, 10), 4


def main() -> None:
    os.environ["NUMBA_NUM_THREADS"] = "2"
    from benchmarks.checks import fastest
    from benchmarks.external_models import random_model
    from fsdash.algorithms import mpi, run_until
    from fsdash.core.threads import one_thread

    model = random_model(SHAPE, N_NEXT).build()

    def solve() -> None:
        run_until(mpi(model), tolerance=1e-3)

    one, two = fastest([one_thread()(solve), solve], ROUNDS)
    print(
        json.dumps(
            {
                "pairs": f"{model.n_pairs:,}",
                "probabilities": f"{len(model.rows.target_N):,}",
                "one thread, s": round(one, 3),
                "two threads, s": round(two, 3),
            }
        )
    )


if __name__ == "__main__":
    main()
