"""Recompute the stored constants and regrets of the domains, in about ten seconds."""

from collections.abc import Iterator
from dataclasses import asdict

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import Optimum, optimum, regret
from fsdash.core.model import FastSlowMDP
from fsdash.domains import DOMAINS, make
from fsdash.formatting import as_csv
from fsdash.theory.measured import measure
from fsdash.theory.measured_domains import FOLDER, HORIZONS


def constants_row(name: str, model: FastSlowMDP, best: Optimum) -> dict:
    """One row of constants.csv."""
    constants = measure(model, best.U_XY, seconds=None).constants(model.gamma)
    sizes = {"n_slow": model.n_slow, "n_fast": model.n_fast, "n_actions": model.n_actions}
    return {"domain": name, **sizes, **asdict(constants)}


def regret_rows(name: str, model: FastSlowMDP, best: Optimum) -> Iterator[dict]:
    """The rows of regret.csv for one domain."""
    for T in HORIZONS:
        found = regret(model, run_until(fsvi(model, T), tolerance=1e-3).policy_PXY, best=best)
        # Digits beyond the certificate would differ between machines.
        rounded = {n: round(getattr(found, n), 3) for n in ("max_regret", "mean_regret")}
        yield {"domain": name, "T": T, **rounded}


def main() -> None:
    """Write both CSV files."""
    constants: list[dict] = []
    regrets: list[dict] = []
    for name in DOMAINS:
        model = make(name).build()
        best = optimum(model)
        constants.append(constants_row(name, model, best))
        regrets += regret_rows(name, model, best)
    for name, rows in (("constants", constants), ("regret", regrets)):
        (FOLDER / f"{name}.csv").write_text(as_csv(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
