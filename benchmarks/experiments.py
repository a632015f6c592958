"""The paper's experiments as a whole: `python -m benchmarks.experiments [DOMAIN …]`.

Computes every sampled or fitted run of `fsdash reproduce` on a domain with five replications, one
after the other in one process, including the evaluation of policies. Prints the CPU seconds of the
process, the share that was spent on evaluating policies, and the largest memory. Each domain is
measured in a process of its own; kernels are compiled before the clock starts.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from itertools import chain

from benchmarks import report

TARGETS = {"inventory": 15.0, "gridworld": 60.0, "pricing": 480.0}
MEMORY = 1024
"""Megabytes a worker may use."""


def measure(domain: str) -> report.Row:
    """Compute the experiment of a domain in this process."""
    from fsdash.reproduce.experiments import experiment
    from fsdash.runs.runner import run_all

    specs = [run.spec for run in experiment(domain).runs if run.spec.method.sampled]
    quick = [run.spec for run in experiment(domain, quick=True).runs if run.spec.method.sampled]
    run_all([_shortest(spec) for spec in quick])
    start = time.process_time()
    frame, endings = run_all(specs)
    seconds = time.process_time() - start
    evaluation = sum(e.outcome.evaluation_seconds for e in endings)
    algorithm = sum(e.outcome.algorithm_seconds for e in endings)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    met = seconds <= TARGETS[domain] and megabytes <= MEMORY
    return {
        "experiment": domain,
        "runs": len(specs),
        "replications": len(endings),
        "policies": f"{len(frame):,}",
        "CPU, s": f"{seconds:.1f}",
        "target": f"< {TARGETS[domain]:g}",
        "evaluation": f"{100 * evaluation / (algorithm + evaluation):.0f}%",
        "memory, MB": f"{megabytes:.0f}",
        "met": "yes" if met else "no",
    }


def _shortest(spec):
    """One iteration of one replication: enough to compile what the run needs."""
    from dataclasses import replace

    return replace(spec, replications=1, evaluations=None, iterations=1)


def main(domains: list[str]) -> None:
    context = multiprocessing.get_context("spawn")
    rows = []
    for domain in domains or TARGETS:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measure, (domain,)))
        print(" ".join(map(str, chain(*rows[-1].items()))), file=sys.stderr)
    if not domains:
        report.save("experiments", rows)
    print(report.markdown(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
