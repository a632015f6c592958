"""The Policy inspector: what a policy does, state by state, and where it differs from the best."""

import streamlit as st

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.store import Store
from fsdash.ui.frame import open_page
from fsdash.ui.inspector_link import PARAMETERS, read_address
from fsdash.ui.inspector_pick import Pick, is_live, open_store, pick
from fsdash.ui.inspector_show import PLAYING, draw_workbench
from fsdash.ui.lesson import exercises, what_to_notice
from fsdash.ui.service import show_store_trouble

# Seconds between two steps while playing, and between two looks at a run that is under way.
TICK, LIVE = 1.0, 2.0

# On a narrow screen places without a widget take no room.
STYLE = """<style>
@media (max-width: 640px) {
  .st-key-choices [data-testid="stColumn"]:not(:has([data-testid="stElementContainer"]))
    {display: none;}
}
</style>"""

NOTICE = (
    "A frozen-state policy is **periodic**: $\\mu$ acts first, then $\\pi_1, \\dots, "
    "\\pi_{T-1}$, then $\\mu$ again. Put two phases side by side: the last ones care ever less "
    "about what comes later, because they were planned as if nothing did.",
    "**Regret is not blame.** A state can lose much although its own action is optimal, because of "
    "what happens afterwards. *Difference to the optimum* shows the two apart.",
    "A policy can differ from the optimal one in many states and lose almost nothing: where no one "
    "goes (see *Visits*), or where several actions are as good.",
)
READING = """
| | |
|---|---|
| $\\mu,\\ \\pi_1, \\dots, \\pi_{T-1}$ | the upper policy and the lower ones, each for one period of a cycle |
| $U^\\pi(s)$ | the exact worth of the policy from state $s$ on, under the true model |
| $U^*(s)$ | the same for the optimal policy |
| regret | $U^*(s) - U^\\pi(s)$, never below 0 |
| $Q(s, a)$ | take $a$ once in $s$; afterwards follow the optimal policy, or this one |
| own value | what the algorithm itself believed ($V$ or $J$), which can be far off |

**Click** any cell or point to see its state. **Play** steps through the run. Everything you choose
is in the address: copy it to share the view.
"""  # noqa: E501
EXERCISES = [
    (
        "Solve the inventory with FSVI, T = 12, and put phase $\\pi_{11}$ beside $\\mu$. Who "
        "orders less, and why?",
        "The last lower policy, $\\pi_{11}$, orders almost nothing: it was planned as if the world "
        "ended after its period, so stock that is left over is worth nothing to it. $\\mu$ looks "
        "far ahead and orders for many periods at once, since every order has a fixed cost.",
    ),
    (
        "On the gridworld, compare FSVI with T = 3 to the optimal policy. Where does T = 3 fail?",
        "In three periods an agent that plans only to the end of its block rarely reaches a "
        "delivery. Far from everything all moves look alike to the lower level, so two of three "
        "periods are wasted; only $\\mu$ has the long view. The regret is large almost everywhere.",
    ),
    (
        "Go back to step 0 of any run. Is its policy worth nothing?",
        "Not always. It is greedy for values that are all 0, so it takes the largest reward at "
        "once. On pricing that alone earns most of the optimum; on the inventory it never orders, "
        "because an order costs now and pays later.",
    ),
]


def draw(store: Store, picked: Pick) -> None:
    try:
        draw_workbench(store, picked)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
    except StoreError as trouble:
        show_store_trouble(trouble)


def draw_page() -> None:
    store = open_store()
    picked = pick(store)
    every = TICK if st.session_state.get(PLAYING) else LIVE if is_live(store, picked) else None
    st.fragment(draw, run_every=every)(store, picked)


open_page("Policy inspector", parameters=PARAMETERS)
read_address()
st.html(STYLE)
st.title("What does the policy do?", anchor=False)
st.markdown(
    "Every policy that a run had on its way, state by state: what it does, what it is worth, and "
    "where it loses against the best. Choose a run, move the slider, click a state."
)
try:
    draw_page()
except InputError as problem:
    st.info(str(problem), icon=":material/info:")
except StoreError as trouble:
    show_store_trouble(trouble)
left, right = st.columns([5, 4], gap="large")
with left:
    exercises(EXERCISES)
with right:
    what_to_notice(NOTICE)
    with st.expander("How to read this page", icon=":material/menu_book:", key="reading"):
        st.markdown(READING)
