"""The slider over the steps of a run, and playing them."""

from math import ceil

import streamlit as st

from fsdash.dashboard.inspector import text
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.inspector.url import PREFIX, URL

_PLAYING, _AT_END, _SHOWN, _RESTART = (
    PREFIX + name for name in ("playing", "at-end", "shown", "restart")
)
MAX_FRAMES = 30
"""Policies shown when a run is played from its first to its last step."""


def is_playing() -> bool:
    return st.session_state.get(_PLAYING, False)


def stop_at_end() -> None:
    """Stop playing when the last step is shown; call it after everything is drawn."""
    if st.session_state.pop(_AT_END, False):
        st.session_state[_PLAYING] = False
        st.rerun()


def choose_step(history: PolicyHistory) -> int:
    """Draw the Play button, the slider and a description of the step; return the step."""
    step = _next_step(history)
    if len(history.steps) > 1:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="playback"):
            playing = is_playing()
            label, icon = ("Pause", "pause") if playing else ("Play", "play_arrow")
            pressed = st.button(label, icon=f":material/{icon}:", key="play", width=104)
            URL.put("step", step)
            step = st.select_slider(
                "Step of the run", history.steps, key=URL.key("step"), label_visibility="collapsed"
            )
        if pressed:
            st.session_state[_PLAYING] = not playing
            if step == history.steps[-1]:
                st.session_state[_RESTART] = True
            st.rerun()
    st.session_state[_SHOWN] = (history.name, step, history.steps[-1])
    st.markdown(text.describe_step(history.row(step), history.spec.T))
    return step


def _next_step(history: PolicyHistory) -> int:
    """The step to show: the selected one, or the next one while playing.

    A visitor at the last step stays at the last step when the run grows or another is chosen.
    """
    name, step, last = st.session_state.get(_SHOWN, ("", None, None))
    asked = URL.get("step")
    wanted = history.steps[-1] if asked is None else asked
    if st.session_state.pop(_RESTART, False):
        return history.steps[0]
    if step == wanted == last:
        wanted = history.steps[-1]
    elif is_playing() and (name, step) == (history.name, wanted):
        stride = ceil(len(history.steps) / MAX_FRAMES)
        later = [available for available in history.steps if available > step]
        wanted = later[stride - 1] if len(later) >= stride else history.steps[-1]
    if is_playing() and wanted == history.steps[-1]:
        st.session_state[_AT_END] = True
    return history.nearest(wanted)
