"""Benchmarks: fsdash beside other libraries. `make bench`, or `python -m benchmarks.solve`.

Everything but `benchmarks.large_solve` runs on one thread, ours and the peers'. The limits must
stand before NumPy is first imported, hence here.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
