"""Command lines with mistakes: one line that says what to do, and exit code 2."""

from contextlib import suppress

import pytest

from fsdash.cli.main import main

BAD = {
    "bounds --gamma 1": "gamma = 1",
    "bounds --gamma 1.5": "gamma = 1.5",
    "bounds --gamma x": "--gamma",
    "bounds --alpha -0.1": "alpha",
    "bounds --n-slow 0": "n_slow",
    "bounds -T 0": "T = 0",
    "bounds -T 5:2": "write 2:5",
    "bounds -T 1:2:3": "1:32",
    "bounds -T six": "6, 1:32 or 3,6,12",
    "bounds -k -1": "k",
    "bounds -T 1:9999999": "100,000 values",
    "bounds -T 1:100000 -k 1:100": "10,000,000 records",
    "bounds -k 1:1000000": "lists more than 100,000 values",
    "bounds -k 1:1000 -T 1:1000": "records are too many",
    f"bounds -T {'1:1000000,' * 400}1": "lists more than 100,000 values",
    "run inventory --algorithm e-fsvi -T 1:1000000": "1,000,000 runs are too many",
    "advise --sweeps=--": "--sweeps=--: gives no value",
    "solve inventory --tolerance=--": "gives no value",
    "solve inventory -T--": "gives no value",
    "run inventory --algorithm=--": "gives no value",
    "dashboard --port=--": "gives no value",
    f"run inventory --algorithm vi --out {'x' * 300}.csv": "cannot be written",
    f"reproduce theory --out {'x' * 300}": "cannot be written",
    f"dashboard --data {'x' * 300}": "cannot be created",
    "dashboard --data ~nobody-here/x": "cannot be created",
    "dashboard --data a\0b": "null character",
    "run inventory --algorithm vi --out a\0b.csv": "null character",
    "bounds --l-u auto": "γ·L_f < 1",
    "bounds --l-u much": "auto",
    "bounds --preset nice": "three-regimes",
    "bounds --format xml": "table",
    "bounds --bound corrected": "repaired",
    "advise --sweeps 4 --l-frozen 2": "--bound repaired",
    "advise --sweeps 4 --eta 2": "--eta belongs to the repaired bound",
    "bounds --eta 2": "l_frozen is missing",
    "bounds --bound repaired --l-frozen 0.5": "l_frozen = 0.5 is below 1",
    "advise --sweeps 4 --bound repaired --l-frozen -1": "l_frozen = -1",
    "bounds --d-y nan": "d_y",
    "advise": "--budget",
    "advise --sweeps 1 --budget 2": "not allowed with",
    "advise --sweeps 0.5": "cheapest",
    "advise --sweeps nan": "budget",
    "advise --sweeps -3": "--sweeps -3 is negative",
    "constants": "domain",
    "constants shop": "inventory, gridworld, pricing",
    "constants inventory --seconds -1": "seconds = -1",
    "constants inventory --coupling best": "wasserstein",
    "constants inventory --set y_max": "NAME=VALUE",
    "constants inventory --set z=1": "no parameter 'z'",
    "constants inventory --set preset=large": "no parameter 'preset'",
    "constants inventory --set name=x": "no parameter 'name'",
    "constants inventory --set y_max=100000000": "100,000,001 fast states",
    "solve inventory --set K=1e308": "units",
    "constants inventory --preset giant": "default",
    "solve inventory --method magic": "fsvi",
    "solve inventory --iterations -1": "iterations = -1",
    "solve inventory --tolerance 0": "tolerance = 0",
    "solve inventory --iterations 3 --tolerance 1": "not allowed with",
    "solve inventory --method fsvi -T 0": "T = 0",
    "solve inventory -T 2.5": "-T",
    "solve inventory --set gamma=1": "gamma",
    "frontier inventory --methods sarsa": "choose from fsvi, rolling, mpi, vi",
    "frontier inventory -T 0": "T = 0",
    "frontier inventory --tolerance -1": "tolerance = -1",
    "plan inventory --sweeps 1 --seconds 1": "not allowed with",
    "plan inventory --seconds 0": "seconds = 0",
    "plan inventory --gap 0": "gap = 0",
    "plan inventory --gap much": "a share such as 0.01 or 1%",
    "plan inventory --sweeps 1 --sampled --seed -1": "seed = -1",
    "plan inventory --policy plan.txt": "ends in .csv",
    "": "COMMAND",
    "fly": "invalid choice",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_gives_one_line_and_exit_code_2(fsdash, line):
    code, out, err = fsdash(line)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith("fsdash")
    assert BAD[line] in err and "Traceback" not in err


@pytest.mark.parametrize("unknown", ["a\nb", "--set=a\nb", "--x\r\ny"])
def test_a_line_break_in_an_argument_gives_one_line(capsys, unknown):
    with suppress(SystemExit):
        main(["solve", "inventory", unknown])
    assert len(capsys.readouterr().err.splitlines()) == 1
