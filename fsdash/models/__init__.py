"""Models of your own: builders, files, policies, data errors, and which variables are slow.

==============  ================================================================================
builders        `from_transitions`, `from_arrays`, `from_quantecon`, `from_gymnasium`,
                `from_functions`, `from_markov_chain`; back: `to_quantecon`
files           `model.save(path)`, `load(path)`
policies        `Policy`, `model.policy(…)`, `load_policy`
slow variables  `suggest_slow`, `resplit`; `rank_splits` in `fsdash.choice.splits`
data errors     `check_transitions`, `guess_columns`, `DataFaults`
==============  ================================================================================

A model has three forms: a frame of transitions, a `Table` (fsdash.models.table), and the
`FastSlowMDP` that `assemble` makes of the table. A complete model is stored as an `.npz` archive.
"""
