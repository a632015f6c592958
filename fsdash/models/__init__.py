"""Models of your own: builders, files, policies, data errors, and which variables are slow.

==============  ================================================================================
builders        `from_transitions`, `from_arrays`, `from_quantecon`, `from_gymnasium`,
                `from_functions`, `from_markov_chain`; back: `to_quantecon`
files           `save(model, path)`, `load(path)`, `content_hash(model)`
policies        `Policy`, `load_policy`
slow variables  `suggest_slow`, `resplit`; `rank_splits` in `fsdash.choice.splits`
data errors     `check_transitions`, `guess_columns`, `DataFaults`
==============  ================================================================================

A model has three forms: a frame of transitions, a `Table` (fsdash.models.table), and the
`FastSlowMDP` that `assemble` makes of the table. A complete model is stored as an `.npz` archive.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
