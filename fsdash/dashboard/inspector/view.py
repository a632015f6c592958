"""The Policy inspector: what a policy does, state by state, and where it differs from the best."""

import streamlit as st

from fsdash.dashboard.inspector.address import PARAMETERS, read_address
from fsdash.dashboard.inspector.pick import Pick, is_live, open_store, pick
from fsdash.dashboard.inspector.show import PLAYING, draw_workbench
from fsdash.dashboard.service import show_store_trouble
from fsdash.dashboard.shell import add_style, open_page
from fsdash.dashboard.widgets.lesson import exercises, what_to_notice
from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store

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
        "The last lower policies, $\\pi_{10}$ and $\\pi_{11}$, order nothing at all: they were "
        "planned as if the world ended with the block, so what is left in stock then is worth "
        "nothing to them. $\\mu$ sees past the block and orders for many periods at once, since "
        "every order has a fixed cost.",
    ),
    (
        "On the gridworld, compare FSVI with T = 3 to the optimal policy. Where does T = 3 fail?",
        "Everywhere: it is worth 41% of the optimum, and about half of all actions are worse than "
        "the optimal ones, in each of its phases. A plan that ends after three periods rarely "
        "reaches a delivery, so to the lower level most moves look alike; only $\\mu$ has the long "
        "view, and it acts in one period of three.",
    ),
    (
        "Solve pricing, then the inventory, and go back to step 0. Is that policy worth nothing?",
        "It takes the largest reward at once, as if nothing came after. On pricing that alone "
        "earns 81% of the optimum. On the inventory it earns 3%: an order costs now and pays "
        "later, so it never orders.",
    ),
]


def draw(store: Store, picked: Pick, live: bool) -> None:
    """The fragment: what a run that is under way cannot show yet is told, and tried again."""
    try:
        draw_workbench(store, picked)
        over = live and not is_live(store, picked)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
        return
    except StoreError as trouble:
        show_store_trouble(trouble)
        return
    if over:  # a whole run of the page ends the ticking
        st.rerun()


def draw_page() -> None:
    store = open_store()
    picked = pick(store)
    live = is_live(store, picked)
    every = TICK if st.session_state.get(PLAYING) else LIVE if live else None
    st.fragment(draw, run_every=every)(store, picked, live)


def show() -> None:
    """Draw the page."""
    open_page("Policy inspector", parameters=PARAMETERS)
    read_address()
    add_style(STYLE)
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
