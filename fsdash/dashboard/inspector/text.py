"""All wording of the Policy inspector. Pure text, no Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.formatting import number, time_ago
from fsdash.runs import measures
from fsdash.runs.records import Experiment, Run

# ----------------------------------------------------------------------------- choosing the policy

CHANGE_HELP = "Choose a saved run, or solve a domain exactly on this page."
SAVED_RUN, SOLVE_NOW = "A saved run", "An exact solution"
SOURCE_HELP = (
    "Saved runs come from the Run lab. An exact algorithm is solved on this page within seconds."
)
REPLICATION_HELP = "Replication 0 stores many policies, the others only their last one."
ALGORITHM_LABELS = {
    "fsvi": "FSVI: freeze for T periods",
    "rolling": "Rolling freeze: replan every period",
    "mpi": "MPI: the true optimum",
    "vi": "Base VI",
}

NO_RUNS = f"There are no saved runs yet. Start one in the Run lab, or choose “{SOLVE_NOW}”."


def unavailable(label: str, asked: object, shown: str) -> str:
    """The notice for a value in a link that is not among the options."""
    return f"{label}: the link asks for {asked}, which is not available. {shown} is shown instead."


def broken_link(problem: Exception) -> str:
    return f"The experiment in the link cannot be opened: {problem}."


def too_large(label: str, entries: int, decisions: int) -> str:
    """Why a policy is not shown: it would take too much of the server's memory."""
    return (
        f"{label}: its model has a table of {entries:,} entries and its policy {decisions:,} "
        "decisions, more than this page shows. Export it under *Stored runs* in the Run lab and "
        "inspect it in Python"
    )


def no_policy(label: str, replication: int, status: str, active: bool) -> str:
    """Why a replication has no policy to show."""
    why = "it has not stored its first policy yet" if active else "it stored no policy"
    return f"{label}, replication {replication}: {why} (status: {status})"


def experiment_label(experiment: Experiment, now: float) -> str:
    """Name, status and age, because several experiments may have the same name."""
    status = STATUS_BADGES[experiment.status].word
    return f"{experiment.name or experiment.id} · {status}, {time_ago(experiment.created, now)}"


def run_label(run: Run) -> str:
    """Domain, algorithm and status; works for specifications that can no longer be read."""
    T = f", T={run.T}" if run.T is not None else ""
    try:
        name = run.spec.label
    except InputError:
        name = f"{run.algorithm}{T}"
    return f"{domain_label(run.domain)} · {name} · {STATUS_BADGES[run.status].word}"


# ---------------------------------------------------------------------------------- steps of a run

LEVELS = {"lower": "lower level", "upper": "upper level"}
POLICY_KINDS = {
    "stationary": "stationary policy, greedy for the frozen J",
    "cyclic": "cycle of lower policies only",
    "rolling": "the newest lower policy in every period",
}


def describe_step(row: Mapping, T: int | None = None) -> str:
    """Level, iteration, work and value (share of the optimum or regret) at one recorded row."""
    level, i = row["phase"], int(row["iteration"])
    if level == "lower" and T:
        where = f"backward induction: step {i} of {T - 1}"
    elif level == "rolling":
        where = f"rolling freeze, horizon {i} of {T}"
    else:
        where = f"{LEVELS[level]}, iteration {i}" if level in LEVELS else f"iteration {i}"
    if level == "lower":
        where += f" ({POLICY_KINDS[row['policy_kind']]})"
    place = f"{where[0].upper()}{where[1:]} · {number(row['evaluations'])} evaluations"
    return f"{place} · {_worth(row)}"


def _worth(row: Mapping) -> str:
    """The share of the optimum, or the mean regret where that has no meaning."""
    share, regret = row[measures.SHARE], row[measures.REGRET]
    if not isnan(share):
        return f"**{share:.1%}** of the optimum"
    if isnan(regret):
        return f"largest regret **{number(row['max_regret'])}**"
    relative = row[measures.RELATIVE]
    initial = "" if isnan(relative) else f", {relative:.1%} of the initial policy's"
    return f"mean regret **{number(regret)}**{initial}"


def policy_title(label: str, step: int) -> str:
    return f"{label}, step {step}"


# ----------------------------------------------------------------------------------------- metrics

SUBOPTIMAL_HELP = (
    "Share of states whose action is worse than the best action, "
    "assuming that all later actions are optimal."
)


def suboptimal_label(phase: str | None) -> str:
    """The metric's label; `phase` names the phase of a periodic policy."""
    return f"Suboptimal in {phase}" if phase else "Suboptimal actions"


# ------------------------------------------------------------------------------ figures and states

VALUE_NAMES = {"max": "value", "min": "cost"}
"""What a policy is worth, by the sense of the model."""
ESTIMATE = "algorithm's estimate"


def fact_rows(sense: str) -> dict[str, str]:
    """The rows of a state's table: the label by the name in `state_table`."""
    return {"action": "action", "value": VALUE_NAMES[sense], "regret": "regret"}


def phase_columns(sense: str) -> dict[str, str]:
    value = VALUE_NAMES[sense].capitalize()
    return {"phase": "Phase", "action": "Action", "value": value, "regret": "Regret"}


Q_HELP = "The length of a bar is the loss of that action compared with the best one."
OPTIMAL_AFTERWARDS, OWN_AFTERWARDS = "optimal policy", "policy itself"
Q_TABLE = "Q-values of this state, one step of look-ahead under each policy's own values"


def every_phase(who: str | None) -> str:
    """The heading of the table of a state in every phase of a periodic policy."""
    return f"**This state in every phase{f' of {who}' if who else ''}**"


def q_alt_text(taken: Mapping[str, str]) -> str:
    """`taken` holds the action of each policy by its name."""
    takes = " ".join(f"{who.capitalize()} takes {action}." for who, action in taken.items())
    return f"Q-values of every action in this state. {takes}"


# ------------------------------------------------------------------------------------------ blocks

BLOCK_GAP_HELP = (
    "Planned minus earned rewards of the block, discounted. Both use the same noise, so the gap is "
    "caused by the slow state, which moved although the plan assumed that it would stay."
)
EXPECTED_GAP_HELP = (
    "The mean of the gap over all noise, given the second state of the block, computed exactly. It "
    "is the reward error of this policy from there on."
)
BLOCK_LOSS_HELP = (
    "What the block's actions lose compared with the best actions, discounted, if all later "
    "actions are optimal. A plan can be wrong about its rewards and still choose good actions."
)


def block_gap(block: int) -> str:
    return f"Gap of block {block}"


def signed(value: float) -> str:
    """A number with its sign."""
    return f"+{number(value)}" if value > 0 else number(value).replace("-", "−")


# ------------------------------------------------------------------------------------- comparisons

COMPARE_HELP = "A second policy for the same problem, drawn on the same scales."
COMPARISONS = {
    "": "none",
    "optimum": "the optimal policy",
    "phase": "another phase of this policy",
    "step": "another step of this run",
    "run": "another saved run",
    "fsvi": "exact FSVI",
}
OPTIMAL_POLICY = "Optimal policy"
NO_OTHER_RUN = "There is no other saved run of the same problem."


def unreadable_run(problem: Exception) -> str:
    return f"That run cannot be shown: {problem}"


GAIN = {"max": "Gain of B", "min": "Cost saved by B"}
REAL_HELP = (
    "Share of the states in which the actions differ and one of them is certainly better: their "
    "Q-values differ by more than the certified error."
)
TIME_HELP = "Share of A's discounted time, in this phase, that it spends in those states."
GAIN_HELP = (
    "Mean of U of B minus U of A over the initial distribution, computed exactly under the true "
    "model."
)
JUDGES = {"optimal": "the optimal values", "first": "the values of A"}
NEXT_HELP = (
    "The states in which one action is better, ordered by how much better it is times how often A "
    "is there."
)


def ties_help(judge: str) -> str:
    return (
        "Share of the states in which the actions differ but have the same Q-value within the "
        f"certified error, judged by {JUDGES[judge]}."
    )


def rank_of(rank: int, n: int) -> str:
    return f"Number {rank:,} of {n:,} real disagreements"


def no_disagreement(judge: str) -> str:
    return f"No action is better than the other in any state, judged by {JUDGES[judge]}."


# ------------------------------------------------------------------------------------------ export


def table_labels(name: str) -> tuple[str, str]:
    """The labels of the buttons that download a table."""
    return f"{name}, CSV", f"{name}, JSON"


# ------------------------------------------------------------------------------------------ lesson

STATIONARY = "**stationary**: in each state it takes the same action in every period."


def notices(who: str, phases: Sequence[str]) -> tuple[str, ...]:
    """What to notice about a policy with these phases; `who` is "policy", or A or B of two."""
    subject = "The policy" if who == "policy" else f"Policy {who}"
    return (
        f"{subject} is {_periodic(phases) if len(phases) > 1 else STATIONARY}",
        "**High regret need not mean a bad action here.** A state can have high regret although "
        "its own action is optimal, because of later actions. *Against the optimum* shows the "
        "loss of the action alone and the regret.",
        "A policy can differ from the optimal one in many states and lose almost nothing: in "
        "states that it rarely visits (see *Visits*), or where several actions are equally good.",
    )


def _periodic(phases: Sequence[str]) -> str:
    first, *later = phases
    then = later[0] if len(later) == 1 else f"{later[0]} to {later[-1]}"
    return (
        f"**periodic**: {first} acts first, then {then}, then {first} again. Compare two phases: "
        "the last ones give little weight to later rewards, because the lower level is planned as "
        "if nothing came after the block."
    )


READING = f"""
| | |
|---|---|
| $\\mu,\\ \\pi_1, \\dots, \\pi_{{T-1}}$ | the upper and the lower policies; each acts in one period of the cycle |
| $U^\\pi(s)$ | exact value of the policy from state $s$, under the true model |
| $U^*(s)$ | the same for the optimal policy |
| regret | $U^*(s) - U^\\pi(s)$, at least 0 |
| $Q(s, a)$ | value of taking $a$ once in $s$ and then following the optimal policy, or this policy |
| tie | A and B take different actions whose Q-values are the same within the certified error |
| gain of B | $U^B(s) - U^A(s)$ |
| gap | reward that the frozen plan expected, minus the reward earned on the same noise |
| {ESTIMATE} | the value ($V$ or $J$) that the algorithm computed, which can be far from $U^\\pi$ |

**Click** a cell or a point to inspect its state. **Play** steps through the run. **Compare with** adds
a second policy: A is blue, B is orange. The URL holds everything you choose: copy it to share this
view.
"""  # noqa: E501
