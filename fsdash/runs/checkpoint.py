"""Checkpoints: a replication goes on in another process where it was, with the same numbers.

A checkpoint has everything on which the further rows depend: the values of the algorithm, the state
of the random number generator, the policies that were evaluated last with their values (from which
the next evaluation starts), and the counts and times so far. It is made after a snapshot that the
algorithm can be continued from (`Snapshot.resume`).

As bytes it is a header in JSON and NumPy arrays, compressed, without Python objects that reading
could execute. It is for this version of fsdash only; for any other, and for damaged bytes, `read`
returns None, and the replication is computed again from its seed. So it is if its arrays have more
than `MAX_BYTES`.

Deep algorithms with a warm start, E-Thaw, MPI, FSFVI with stored paths, and algorithms from outside
that do not take `resume` have no checkpoints.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile

import numpy as np

from fsdash.algorithms.snapshot import Resume
from fsdash.version import __version__

MAX_BYTES = 16 * 2**20
"""Bytes of all arrays of a checkpoint."""
COMPRESSION_LEVEL = 1

Evaluated = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By kind of policy: the policy that was evaluated last, and its values."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a replication after a snapshot."""

    resume: Resume
    """The algorithm's values."""
    random: Mapping[str, Any]
    """The state of the random number generator (`random_state`)."""
    evaluated: Evaluated
    counters: Mapping[str, Any]
    """Numbers and texts of the engine."""

    @property
    def seconds(self) -> float:
        """Seconds of the algorithm until then."""
        return float(self.counters["clock"]["algorithm"])

    @property
    def rows(self) -> int:
        """Rows until then."""
        return int(self.counters["schedule"]["rows"])

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        arrays = [*self.resume.values(), *(a for pair in self.evaluated.values() for a in pair)]
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))

    def pack(self) -> bytes:
        """The checkpoint as bytes; empty if it is too large."""
        if self.size > MAX_BYTES:
            return b""
        arrays: dict[str, Any] = {
            f"resume:{k}": v for k, v in self.resume.items() if isinstance(v, np.ndarray)
        }
        numbers = {k: v for k, v in self.resume.items() if not isinstance(v, np.ndarray)}
        for kind, (policy_PXY, values_XY) in self.evaluated.items():
            arrays |= {f"policy:{kind}": policy_PXY, f"values:{kind}": values_XY}
        header = {
            "version": __version__,
            "resume": numbers,
            "random": self.random,
            "kinds": list(self.evaluated),
            "counters": self.counters,
        }
        file = io.BytesIO()
        np.savez(file, header=np.array(json.dumps(header)), **arrays)
        return zlib.compress(file.getvalue(), COMPRESSION_LEVEL)


def read(data: bytes) -> Checkpoint | None:
    """A checkpoint from its bytes; None if it cannot be read or another version wrote it."""
    try:
        with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(str(arrays.pop("header")))
        if header["version"] != __version__:
            return None
        evaluated = {
            kind: (arrays.pop(f"policy:{kind}"), arrays.pop(f"values:{kind}"))
            for kind in header["kinds"]
        }
    except (zlib.error, BadZipFile, ValueError, KeyError, EOFError):
        return None
    values = {name.removeprefix("resume:"): array for name, array in arrays.items()}
    return Checkpoint(header["resume"] | values, header["random"], evaluated, header["counters"])


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator: its numbers, and how many generators were spawned from it."""
    sequence: Any = rng.bit_generator.seed_seq
    return {"state": rng.bit_generator.state, "spawned": sequence.n_children_spawned}


def restored(rng: np.random.Generator, random: Mapping[str, Any]) -> np.random.Generator:
    """A generator in a state that an equally seeded one had."""
    sequence: Any = rng.bit_generator.seed_seq
    seed = np.random.SeedSequence(**sequence.state | {"n_children_spawned": random["spawned"]})
    bits = type(rng.bit_generator)(seed)
    bits.state = random["state"]
    return np.random.Generator(bits)
