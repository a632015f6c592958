"""The paper's numerical section and theory figures, recomputed and judged claim by claim.

    experiments      the paper's experiments as lists of runs
    settings         count, ties and budget: choices that can decide a verdict
    curves           learning curves, and the numbers that claims are about
    claims           the paper's claims with their quotations, and this project's own findings
    judging          how a claim is judged
    theory_figures   the theory figures and their tables
    figure_files     figures as HTML, PNG and SVG files
    samples          Base E-VI with more samples and with common random numbers
    budgets          methods beyond the paper at fixed budgets, and certificates
    report           a folder with data, figures and claims
    archive          the results of one full reproduction, in `results`
    timings          the speed of the archived runs, for time estimates

`fsdash reproduce` writes a report into a folder; `python -m fsdash.reproduce` recomputes the
archive.
"""

import lazy_loader

from fsdash.errors import require

require("plotly", extra="dashboard")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
