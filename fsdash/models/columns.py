"""The role of each column in a table of transitions, guessed or as the options say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

import pandas as pd

from fsdash.errors import InputError
from fsdash.formatting import shorten
from fsdash.models.faults import Faults
from fsdash.models.size import MAX_COLUMNS

Names = str | Sequence[str] | None
"""One name, several, or none given."""
PREFIXES = ("next_", "next.", "next ", "next-", "next", "new_", "to_")
SUFFIXES = ("_next", ".next", " next", "'", "′", "_prime", "p")
REPLACED = (("from", "to"), ("current", "next"), ("old", "new"), ("source", "target"))
"""Words in the name of a state variable, and what the column of its next value has instead."""
ACTION_NAMES = ("action", "a", "act", "decision", "control", "u")
PROBABILITY_NAMES = ("p", "prob", "probability", "pr", "transition_probability", "weight")
REWARD_NAMES = ("reward", "r", "rewards", "profit", "payoff", "utility", "value")
COST_NAMES = ("cost", "costs", "loss", "penalty")
INITIAL_NAMES = ("initial", "initial_probability", "p0")
TERMINAL_NAMES = ("done", "terminated")
"""As in Gymnasium: true where a transition ends the process."""
TRUTH = {"true": True, "1": True, "1.0": True, "yes": True} | {
    "false": False,
    "0": False,
    "0.0": False,
    "no": False,
}
"""How true and false are written in a table."""
NO_GAMMA = (
    "gamma: a table does not say it; give a discount factor such as gamma=0.97, or "
    'gamma=discount_factor(0.08, "week") for 8% a year'
)


def guess_columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Guess from their names which columns hold the state, the action and so on.

    State variables are the columns that occur twice: as they are and with `next_` in front, or in
    another usual form (`new_stock`, `stock_next`, `s'`, `from` and `to`, `idstatefrom` and
    `idstateto`). Capitals, spaces around a name and a unit in brackets do not matter. A column
    `done` or `terminated` that holds true and false marks terminal next states.
    If one column is left, it is taken for the action, the reward or the probability, in this
    order, if that was not found.

    Parameters
    ----------
    frame : pd.DataFrame
        A table of transitions.

    Returns
    -------
    dict
        Arguments of `from_transitions`: `next_prefix` (the column of the next value by state
        variable), `action`, `probability` (None: every transition is certain), `reward`, `sense`
        ("min" if the column of the reward holds costs), `initial` and `terminal`. What was not
        found is left out.

    Examples
    --------
    >>> import pandas as pd
    >>> import fsdash
    >>> guess = fsdash.models.guess_columns(pd.DataFrame(columns=["s", "a", "s'", "p", "cost"]))
    >>> guess["next_prefix"], guess["action"], guess["probability"], guess["reward"], guess["sense"]
    ({'s': "s'"}, 'a', 'p', 'cost', 'min')
    """
    names = [str(name) for name in frame.columns]
    used = set()
    for wanted in (ACTION_NAMES, PROBABILITY_NAMES, (*REWARD_NAMES, *COST_NAMES), INITIAL_NAMES):
        used.add(_first(names, wanted))
    candidates = [name for name in names if name not in used]
    pairs = _next_columns(candidates) or _next_columns(names)
    rest = [name for name in names if name not in pairs and name not in pairs.values()]
    roles = {
        "action": _first(rest, ACTION_NAMES),
        "reward": _first(rest, REWARD_NAMES) or _first(rest, COST_NAMES),
        "initial": _first(rest, INITIAL_NAMES),
        "terminal": _first(rest, TERMINAL_NAMES),
        "probability": _first(rest, PROBABILITY_NAMES),
    }
    if roles["terminal"] is not None and not _is_truth(frame[roles["terminal"]]):
        roles["terminal"] = None
    left = [name for name in rest if name not in roles.values()]
    missing = [role for role in ("action", "reward", "probability") if roles[role] is None]
    if len(left) == 1 and missing and (missing != ["probability"] or _is_share(frame[left[0]])):
        roles[missing[0]] = left[0]
    options: dict[str, Any] = {
        "probability": roles.pop("probability"),
        "sense": "min" if _is_cost(roles["reward"]) else "max",
    }
    if pairs:
        options["next_prefix"] = pairs
    return options | {role: name for role, name in roles.items() if name is not None}


def _first(names: Iterable[str], wanted: Iterable[str]) -> str | None:
    """The name that matches the earliest of the wanted ones; `idaction` and `action_id` count."""
    by_lower = {_simple(name): name for name in names}
    without_id = {low.removeprefix("id").removesuffix("id").strip("_- "): low for low in by_lower}
    for name in wanted:
        if (low := name if name in by_lower else without_id.get(name)) is not None:
            return by_lower[low]
    return None


def _simple(name: str) -> str:
    """A name in lower case, without a unit in brackets, with _ between words."""
    name = re.sub(r"\s*(\([^()]*\)|\[[^\[\]]*\])\s*$", "", name.lower().strip()) or name
    return re.sub(r"[\s._-]+", "_", name)


def _is_cost(name: str | None) -> bool:
    """Whether the words of a name say that the column holds costs."""
    words = set(re.split(r"[\W_]+", (name or "").lower()))
    gains = {"reward", "rewards", "profit", "payoff", "utility"}
    return not words.isdisjoint(COST_NAMES) and words.isdisjoint(gains)


def _is_truth(column: pd.Series) -> bool:
    """Whether a column holds only true and false, or 1 and 0."""
    return all(str(value).strip().lower() in TRUTH for value in column.unique())


def _is_share(column: pd.Series) -> bool:
    """Whether a column holds numbers from 0 to 1."""
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number with hundreds of digits
        return False
    return bool(numbers.between(0, 1).all())


def _next_columns(names: list[str]) -> dict[str, str]:
    """The columns with next values by state variable, for the first usual form that occurs."""
    by_lower = {name.lower().strip(): name for name in names}
    forms = [{low: p + low for low in by_lower} for p in PREFIXES]
    forms += [{low: low + s for low in by_lower} for s in SUFFIXES]
    forms += [
        {low: low.replace(*words) for low in by_lower if words[0] in low} for words in REPLACED
    ]
    for form in forms:
        pairs = {by_lower[low]: by_lower[new] for low, new in form.items() if new in by_lower}
        if pairs:
            return pairs
    return {}


def named(names: Names) -> tuple[str, ...] | None:
    """Variables given as one name or several; None stays None."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names)


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of `from_transitions`, also in a JSON document with a table."""

    slow: Names = None
    fast: Names = None
    action: str = "action"
    next_prefix: str | Mapping[str, str] = "next_"
    probability: str | None = "p"
    reward: str = "reward"
    gamma: float | None = None
    terminal: Any = None
    initial: Any = None
    sense: str = "max"
    normalize: bool = False
    name: str = "model"

    def __post_init__(self) -> None:
        """Options may come from a file, so their types are checked."""
        for name in ("slow", "fast"):
            value = getattr(self, name)
            several = isinstance(value, Sequence) and all(isinstance(n, str) for n in value)
            _check_type(name, value, value is None or several, "names of state variables")
        mapping = isinstance(self.next_prefix, Mapping) and all(
            isinstance(text, str) for pair in self.next_prefix.items() for text in pair
        )
        for name, good, wanted in (
            ("action", isinstance(self.action, str), "the name of a column"),
            ("reward", isinstance(self.reward, str), "the name of a column"),
            ("probability", isinstance(self.probability, str | None), "the name of a column"),
            ("next_prefix", isinstance(self.next_prefix, str) or mapping, "text or a mapping"),
            ("normalize", isinstance(self.normalize, bool), "true or false"),
            ("name", isinstance(self.name, str), "text"),
        ):
            _check_type(name, getattr(self, name), good, wanted)


OPTIONS = tuple(option.name for option in fields(ReadOptions))
"""Their names."""


def _check_type(name: str, value: object, good: bool, wanted: str) -> None:
    if not good:
        raise InputError(f"{name} = {shorten(repr(value))}: give {wanted}")


def resolve_columns(
    all_faults: Faults, frame: pd.DataFrame, options: ReadOptions
) -> ReadOptions | None:
    """The options with the column of the next value by state variable; None if one is missing."""
    faults, names = Faults(), [str(name) for name in frame.columns]
    slow, fast, next_prefix = named(options.slow), named(options.fast), options.next_prefix
    if len(names) > MAX_COLUMNS:
        remedy = "keep the columns of states, actions, next states, probabilities and rewards"
        all_faults.add(f"{len(names):,} columns; the limit is {MAX_COLUMNS}", remedy)
        return None
    for name in sorted({name for name in names if names.count(name) > 1}):
        faults.add("two columns have this name", "rename one of them", column=name)
    if isinstance(next_prefix, str):
        pairs = {n: next_prefix + n for n in names if next_prefix and next_prefix + n in names}
    else:
        pairs = {str(name): str(column) for name, column in next_prefix.items()}
    _check_roles(faults, pairs, slow, fast)
    if not pairs and not slow and not fast:
        faults.add(
            f"no state variable: no column occurs also with {next_prefix!r} in front",
            "name the columns of a variable x and of its next value x and next_x, or set "
            "next_prefix",
        )
    roles = [*pairs, *pairs.values(), options.action, options.reward]
    roles += [] if options.probability is None else [options.probability]
    for name in dict.fromkeys(roles):
        if name not in names:
            faults.add("the table has no such column", _nearest(name, names), column=name)
    for name in sorted({name for name in roles if roles.count(name) > 1}):
        faults.add("the column is used twice", "give each role its own column", column=name)
    all_faults.extend(faults)
    return None if faults.has_errors else replace(options, next_prefix=pairs)


def _check_roles(
    faults: Faults,
    pairs: Mapping[str, str],
    slow: tuple[str, ...] | None,
    fast: tuple[str, ...] | None,
) -> None:
    """Every state variable must be slow or fast, and not both."""
    for name in (*(slow or ()), *(fast or ())):
        if name not in pairs:
            remedy = _nearest(name, list(pairs)) if pairs else "see the state variables below"
            faults.add("not a state variable with a column of next values", remedy, column=name)
    for name in set(slow or ()) & set(fast or ()):
        faults.add("both slow and fast", "name it once", column=name)
    if slow is not None and fast is not None:
        for name in pairs:
            if name not in (*slow, *fast):
                remedy = "name it in slow or fast, or remove its columns"
                faults.add("neither slow nor fast", remedy, column=name)


def _nearest(name: str, names: list[str]) -> str:
    """The remedy for an unknown name: the most similar one, or all of them."""
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"choose from {shown}" if names else "the table has no columns"
