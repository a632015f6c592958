"""The kernels once more with Numba's check of every index, which a release build does not make.

An index outside an array reads other memory without an error, unless NUMBA_BOUNDSCHECK is set. The
kernels are compiled anew for it, into a folder of their own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/core/test_kernels.py",
    "tests/core/test_operators.py::test_named_operators_use_their_dynamics",
    "tests/core/test_policy_chain.py::test_values_outside_the_core_match_a_closed_form",
    "tests/core/test_evaluation.py::test_start_values_may_be_integers",
    "tests/core/test_blocks.py::test_blocks_match_a_calculation_by_hand",
    "tests/core/test_blocks.py::test_rows_keep_the_luck_of_the_fast_state",
    "tests/core/test_rows.py::test_every_algorithm_takes_feasible_actions_on_a_padded_model",
    "tests/core/test_rows.py::test_paths_follow_the_rows",
    "tests/sampling/test_row_steps.py::test_common_random_numbers_are_shared_by_the_actions_of_a_state",
    "tests/sampling/test_sweeps.py::test_a_list_of_states_is_sampled_in_its_order",
    "tests/theory/test_measured.py::test_infeasible_actions_and_padding_do_not_count",
)
"""Small models that together call the kernels of `core`, `sampling` and `theory`."""


@pytest.mark.long
@pytest.mark.processes
def test_no_kernel_reads_or_writes_outside_an_array(tmp_path):
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # `test_an_index_outside_an_array_is_found` is skipped unless indices are checked.
    assert "skipped" not in done.stdout
    assert any(tmp_path.rglob("*.nbc"))
