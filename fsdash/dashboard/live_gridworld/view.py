"""The Live gridworld: three exact methods plan on one clock of work while the map changes.

Each step of the race is one run of a fragment on the server: some sweeps, and the exact evaluation
of each new policy. There is no queue and no worker. A change of the map is a change of the URL's
parameter `map`, whichever way it is made; the next run of the fragment hands it to the race."""

from __future__ import annotations

from html import escape

import streamlit as st

from fsdash.dashboard.live_gridworld import text
from fsdash.dashboard.live_gridworld.edits import (
    DOMAIN,
    Cell,
    Edits,
    flip_ring,
    move_delivery,
    read_edits,
    task_delivered_at,
    toggle_wall,
    write_edits,
)
from fsdash.dashboard.live_gridworld.state import (
    Race,
    Racer,
    idle_cells,
    python_code,
    race_table,
)
from fsdash.dashboard.shell import (
    add_style,
    open_page,
    popover,
    segments,
    tools,
    what_to_notice,
)
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.theme import themed
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, whole_number
from fsdash.errors import InputError
from fsdash.figures.domains.gridworld_race import race_curves, race_map
from fsdash.figures.learning import method_colour

_MAPS = '.st-key-maps [data-testid="stHorizontalBlock"]'
STYLE = f"""<style>
[data-testid="stMainBlockContainer"] {{padding: 3.6rem 2.5rem 4rem;}}
[data-testid="stMainBlockContainer"] h1 {{font-size: 1.7rem; line-height: 1.3;
  padding: 0 0 0.3rem;}}
.st-key-race {{gap: 0.6rem;}}
.st-key-race [data-testid="stMarkdownContainer"] p {{max-width: none;}}
.st-key-maps [data-testid="stColumn"] {{min-width: 0;}}
.st-key-maps [data-testid="stVerticalBlock"] {{gap: 0.2rem;}}
.st-key-maps [data-testid="stMarkdownContainer"] {{margin-bottom: 0;}}
.st-key-reading [data-testid="stMarkdownContainer"] {{margin-bottom: 0;}}
.st-key-maps {{container: maps / inline-size;}}
.fs-head {{display: grid; grid-template-columns: 1fr auto; line-height: 1.3;
  align-items: baseline;}}
.fs-head b {{font-size: 1.02rem;}}
.fs-head strong {{font-size: 1.35rem; line-height: 1.2; font-variant-numeric: tabular-nums;}}
.fs-head small {{font-size: 0.85rem; grid-column: span 2; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis;}}
@container maps (max-width: 860px) {{
  .fs-head small {{white-space: normal; min-height: 2lh;}}
}}
@container maps (max-width: 560px) {{
  .fs-head small {{white-space: nowrap; min-height: 1lh;}}
  {_MAPS} {{flex-wrap: nowrap; overflow-x: auto; scroll-snap-type: x mandatory;
    padding-bottom: 0.3rem;}}
  {_MAPS} > [data-testid="stColumn"]
    {{flex: 0 0 min(86%, 323px); min-width: min(86%, 323px); scroll-snap-align: center;}}
}}
.st-key-playback {{row-gap: 0.4rem;}}
.st-key-reading p {{min-height: 3em; margin: 0;}}
@media (max-width: 640px) {{
  [data-testid="stMainBlockContainer"] {{padding: 3.6rem 1rem 4rem;}}
  [data-testid="stMainBlockContainer"] h1 {{font-size: 1.3rem;}}
  .st-key-playback button {{padding: 0.2rem 0.7rem;}}
  .st-key-reading p {{min-height: 6em;}}
}}
</style>"""


def map_head(title: str, status: str, share: float, colour: str) -> str:
    """The name, the state and the share of a method, as HTML of a fixed height."""
    mark = f'<span style="color:{colour}">■</span>'
    return (
        f'<div class="fs-head"><b>{mark} {escape(title)}</b><strong>{share:.1%}</strong>'
        f"<small>{escape(status)}</small></div>"
    )


SMALLEST_T, START_T, LARGEST_T = 2, 10, 24
SPEEDS = (0.5, 1.0, 2.0, 5.0)
SECONDS = 0.6
"""Between two steps while the race is played."""
MAP_HEIGHT, CURVES_HEIGHT = 345, 195
URL = UrlState(
    "live-gridworld",
    {
        "T": UrlParameter(START_T, whole_number(SMALLEST_T, LARGEST_T)),
        "map": UrlParameter(Edits(), read_edits, write_edits),
        "w": controls.value_parameter(0, text.SIGNALS),
        "speed": controls.value_parameter(0.5, SPEEDS),
        "tool": controls.value_parameter(text.WALL, text.TOOLS),
    },
)
_RACE, _PLAYING, _PICKED, _PROBLEM, _COLUMN, _ROW = (
    f"live-{name}" for name in ("race", "playing", "picked", "problem", "column", "row")
)


def show() -> None:
    """Draw the page."""
    open_page(
        "Live gridworld",
        URL,
        text.TITLE,
        "Three exact methods plan with the same amount of work; change the map while they do.",
    )
    add_style(STYLE)
    ticking = is_playing()
    st.fragment(draw_race, run_every=SECONDS if ticking else None)(ticking)
    what_to_notice(text.NOTICE)


def draw_race(ticking: bool) -> None:
    """One step of the race if it is played, and everything that follows it."""
    race = next_race(ticking)
    with st.container(key="race"):
        with st.container(key="maps"):
            columns = st.columns(len(race.racers), gap="medium")
        for column, racer in zip(columns, race.racers.values(), strict=True):
            with column:
                draw_map(race, racer)
        draw_controls(race)
        with st.container(key="reading"):
            st.markdown(text.describe_race(race))
        curves = curves_of(race)
        chart(curves, "shares", alt_text=text.describe_curves(race), height=CURVES_HEIGHT)
    with tools("live_gridworld", URL, ("T", "gamma")):
        export("live-gridworld", curves, lambda: race_table(race), python_code(race))
    URL.write()
    if is_playing() != ticking:  # only a full rerun starts or stops the fragment's timer
        st.rerun()


# --------------------------------------------------------------------------------------- the race


def is_playing() -> bool:
    """Whether the race is playing."""
    return st.session_state.get(_PLAYING, False)


def next_race(ticking: bool) -> Race:
    """The visitor's race: with the changes of the URL, or one step later."""
    T, edits = URL.get("T"), URL.get("map")
    race = st.session_state.get(_RACE)
    if race is None or race.T != T:
        race = st.session_state[_RACE] = Race.start(T, edits)
    elif race.edits != edits:
        # A race that stopped because nothing changed any more goes on.
        st.session_state[_PLAYING] = is_playing() or race.settled
        race.change(edits, text.name_change(race.edits, edits))
    elif ticking and is_playing():
        race.advance(URL.get("speed"))
        st.session_state[_PLAYING] = not race.settled
    return race


def toggle_play() -> None:
    """Play or pause."""
    st.session_state[_PLAYING], st.session_state[_PROBLEM] = not is_playing(), None
    st.session_state[_RACE].resume()


def step() -> None:
    """Pause, and make one step."""
    st.session_state[_PLAYING], st.session_state[_PROBLEM] = False, None
    st.session_state[_RACE].advance(URL.get("speed"))


def restart() -> None:
    """Start again on the present map."""
    del st.session_state[_RACE]


def change_cell(cell: Cell) -> None:
    """What a click on a cell does with the chosen tool."""
    st.session_state[_PROBLEM] = None
    edits, picked = URL.get("map"), st.session_state.get(_PICKED)
    try:
        if URL.get("tool") == text.WALL:
            URL.put("map", toggle_wall(edits, cell))
        elif picked is None:
            st.session_state[_PICKED] = task = task_delivered_at(edits, cell)
            st.session_state[_PROBLEM] = None if task else text.no_delivery(*cell)
        else:
            URL.put("map", move_delivery(edits, picked, cell))
            st.session_state[_PICKED] = None
    except InputError as problem:
        st.session_state[_PROBLEM] = str(problem)


def put_map(edits: Edits) -> None:
    """Continue on another map."""
    URL.put("map", edits)


def forget_pick() -> None:
    """After another tool was chosen."""
    st.session_state[_PICKED] = st.session_state[_PROBLEM] = None


# -------------------------------------------------------------------------------------- the drawing


def draw_map(race: Race, racer: Racer) -> None:
    """The values and moves of one method, with its share of the optimum."""
    signal, cells_RC = URL.get("w"), idle_cells()
    wrong_RC = race.world.wrong_XY(racer.policy_XY)[signal][cells_RC] & ~race.world.grid.wall.T
    wrong, title = int(wrong_RC.sum()), text.title_of(racer, race.T)
    head = map_head(title, text.status_of(racer, wrong), racer.share, colour_of(race, racer))
    st.markdown(themed(head), unsafe_allow_html=True)
    figure = race_map(
        race.world.grid,
        signal,
        racer.shown.values_XY[signal][cells_RC],
        racer.policy_XY[signal][cells_RC],
        wrong_RC,
        st.session_state.get(_PICKED),
    )
    chart(
        figure,
        f"live-{racer.method}",
        alt_text=text.describe_map(racer, race.T, wrong, signal),
        height=MAP_HEIGHT,
        clickable=True,
        on_event=click_map,
    )


def change_numbered_cell() -> None:
    """Change the cell whose column and row were typed."""
    change_cell((st.session_state[_COLUMN], st.session_state[_ROW]))


def click_map(event: Event) -> None:
    """A click on any of the maps changes the map of all methods."""
    change_cell((round(float(event.x)), round(float(event.y or 0))))


def curves_of(race: Race):
    """The shares of all methods over their work."""
    titles = {text.title_of(racer, race.T): racer for racer in race.racers.values()}
    return race_curves(
        {title: racer.points for title, racer in titles.items()},
        race.sweeps,
        {title: colour_of(race, racer) for title, racer in titles.items()},
        [(change.sweeps, change.name) for change in race.changes],
    )


def colour_of(race: Race, racer: Racer) -> str:
    return method_colour(racer.method, race.T)


def draw_controls(race: Race) -> None:
    """Playback, the changes of the map, and a hint for the chosen tool."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="playback"):
        label, icon = ("Pause", "pause") if is_playing() else ("Play", "play_arrow")
        st.button(
            label,
            icon=f":material/{icon}:",
            key="live-play",
            type="primary",
            on_click=toggle_play,
            width=104,
        )
        st.button("Step", icon=":material/skip_next:", key="live-step", on_click=step)
        st.button(
            "Restart",
            icon=":material/replay:",
            key="live-restart",
            on_click=restart,
            help=text.RESTART_HELP,
        )
        keys = map(URL.key, ("speed", "T", "w"))
        settings = popover(keys, "Settings", icon=":material/tune:")
        if settings.open:
            with settings:
                draw_settings()
        edits = race.edits
        st.button(
            "Flip the rings",
            icon=":material/swap_vert:",
            key="live-flip",
            on_click=put_map,
            args=(flip_ring(edits),),
            help=text.FLIP_HELP,
        )
        segments(
            URL,
            "tool",
            "What a click on a map does",
            text.TOOLS,
            label_visibility="collapsed",
            width="content",
            on_change=forget_pick,
        )
        st.button(
            "Restore",
            icon=":material/undo:",
            key="live-restore",
            on_click=put_map,
            args=(Edits(),),
            disabled=edits == Edits(),
            help="Undo all changes to the map.",
        )
    st.caption(hint(race))


def draw_settings() -> None:
    """Speed, T, the signal of the maps, and a cell to change by keyboard."""
    st.segmented_control(
        "Speed",
        SPEEDS,
        required=True,
        default=URL.parameters["speed"].default,
        format_func=text.speed_label,
        key=URL.key("speed"),
        help=text.SPEED_HELP,
    )
    controls.whole_slider(URL, "T", SMALLEST_T, LARGEST_T)
    segments(URL, "w", "Reward signal of the maps", text.SIGNALS, help=text.SIGNAL_HELP)
    draw_cell_by_number()


def draw_cell_by_number() -> None:
    """The same as a click on a map, for the keyboard."""
    st.markdown(f"**{text.CELL}**", help=text.CELL_HELP)
    last = DOMAIN.size - 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("Column", 0, last, last // 2, key=_COLUMN)
        st.number_input("Row", 0, last, last // 2, key=_ROW)
    st.button("Apply to this cell", key="live-apply", on_click=change_numbered_cell)


def hint(race: Race) -> str:
    """What to do now, or what was wrong with the last click."""
    if problem := st.session_state.get(_PROBLEM):
        return f":material/error: {problem}"
    if race.settled:
        return text.SETTLED
    if URL.get("tool") == text.WALL:
        return text.PAINT_HINT
    return text.pick_hint(st.session_state.get(_PICKED))
