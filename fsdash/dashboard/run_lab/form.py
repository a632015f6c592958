"""The lab's left side: what to run. Plans of one click first; all else is made by hand, folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import ALGORITHMS, Parameter, Value
from fsdash.dashboard.run_lab.address import LAB, MOST
from fsdash.dashboard.run_lab.state import (
    BY_HAND,
    PLANS,
    SWEEP_UNIT,
    UNITS,
    USUAL_T,
    Form,
    default_name,
    plan_told,
    sweep_size,
)
from fsdash.dashboard.run_lab.text import duration_told
from fsdash.dashboard.service import Service, as_sentence
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.picture import draw_svg
from fsdash.domains import DOMAINS, Domain, make
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.formatting import duration, round_significant
from fsdash.runs.errors import StoreError
from fsdash.runs.estimate import wall_seconds, worker_seconds
from fsdash.runs.spec import MAX_REPLICATIONS, RunSpec

PROBLEM, STARTED, REPEATS = "lab-problem", "lab-started", "lab-repeats"
LONG = 600
"""Seconds above which one is asked whether that was meant."""
TITLES = {name: plan.title for name, plan in PLANS.items()} | {BY_HAND: "Put together by hand"}


def draw_form(service: Service, me: str) -> None:
    """All of the left side. The button that starts stands above what is folded."""
    top, place, rest = st.container(), st.container(), st.container()
    try:
        name, specs = _again(service, top) if LAB.get("from") else _planned(top, rest)
    except (InputError, StoreError) as problem:
        with place:
            _tell(str(problem))
            st.button("Start", type="primary", key="start", width="stretch", disabled=True)
        return
    with rest, st.expander(f"What will run: {_count(specs)}", key="lab-plan"):
        st.markdown("\n".join(f"- {line}" for line in plan_told(specs)))
        st.button(
            "Adjust by hand",
            icon=":material/tune:",
            type="tertiary",
            key="adjust",
            on_click=adjust,
            args=(specs,),
            help="Open this plan with everything free to change.",
        )
    with place:
        st.button(
            "Start",
            icon=":material/play_arrow:",
            type="primary",
            key="start",
            width="stretch",
            on_click=start,
            args=(service, me, name, specs),
        )
        if problem := st.session_state.pop(PROBLEM, None):
            known = problem == service.manager.trouble  # stands at the head of the page already
            _tell("nothing was started; try again in a moment" if known else problem)
        _draw_duration(service, specs)


def _draw_duration(service: Service, specs: list[RunSpec]) -> None:
    """How long it may take; a warning where that is more than one may have meant."""
    manager = service.manager
    workers, most = manager.workers, manager.limits.seconds
    told = duration_told(wall_seconds(specs, workers), workers)
    longest = max(specs, key=worker_seconds)
    if worker_seconds(longest) > most:
        st.warning(
            f"{told} One run may compute for {duration(most)} here and is then stopped; "
            f"{longest.label} would need about {duration(round_significant(worker_seconds(longest), 1))}. "
            "Give it a smaller budget or fewer replications."
        )
    elif wall_seconds(specs, workers) > LONG:
        st.warning(f"{told} You can leave, pause or stop it at any time.")
    else:
        st.caption(told)


def start(service: Service, me: str, name: str, specs: list[RunSpec]) -> None:
    """Queue the experiment and show it; a refusal is told beside the button."""
    try:
        id = service.manager.submit(me, name, specs)
        LAB.put("experiment", id)
        st.session_state[STARTED] = id
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = str(problem)


def _tell(problem: str) -> None:
    st.error(as_sentence(problem), icon=":material/block:")


def _count(specs: list[RunSpec]) -> str:
    runs, total = len(specs), sum(spec.replications for spec in specs)
    return f"{runs} run{'s' * (runs != 1)}, {total} replication{'s' * (total != 1)}"


# ------------------------------------------------------------------------------------------- plans


def _again(service: Service, top: DeltaGenerator) -> tuple[str, list[RunSpec]]:
    """The experiment that the address wants to be run again."""
    with top, st.container(border=True, key="lab-again"):
        st.button(
            "Choose something else",
            icon=":material/close:",
            type="tertiary",
            key="leave-again",
            on_click=LAB.put,
            args=("from", None),
        )
        experiment = service.store.experiment(LAB.get("from"))
        st.markdown(f"**Again:** {escape_markdown(experiment.name)}")
        st.caption("The same specification, seeds included: the same numbers will come out.")
        specs = [run.spec for run in experiment.runs]
        _draw_domain(specs[0].build_domain())
    return experiment.name, specs


def _planned(top: DeltaGenerator, rest: DeltaGenerator) -> tuple[str, list[RunSpec]]:
    """The name and the runs of the chosen plan, or of one put together by hand."""
    with top:
        chosen = st.selectbox(
            "What to run", list(TITLES), format_func=TITLES.get, key=LAB.key("preset")
        )
        plan = PLANS.get(chosen)
        if plan is not None:
            st.caption(plan.told)
        domain = plan.domain if plan and plan.domain else _read_domain_name()
        choice = {} if plan else _read_choice(domain)
    # All widgets come before what may be refused: one that is not drawn forgets its value.
    with rest:
        picture = st.container()
        own = {} if plan and plan.domain else _read_domain(domain)
        if plan is None:
            choice["parameters"] = _read_methods(choice["algorithms"])
        replications, seed = _read_repeats(plan.replications if plan else 3)
    with picture:
        _draw_domain(make(domain, **own))
    if plan is None:
        form = Form(domain, **choice, replications=replications, seed=seed, domain_parameters=own)
        specs = form.specs()
        return default_name(specs), specs
    where = "" if plan.domain else f"{domain.capitalize()}: "
    return f"{where}{plan.title}", plan.build(domain, own, replications, seed)


def _read_domain_name() -> str:
    return st.segmented_control(
        "Domain",
        list(DOMAINS),
        default="inventory",
        required=True,
        wrap=True,
        format_func=str.capitalize,
        key=LAB.key("domain"),
    )


def _draw_domain(domain: Domain) -> None:
    svg = domain_svg(domain, is_dark())
    draw_svg(svg, svg, describe_domain(domain))
    st.caption(describe_domain(domain))


def adjust(specs: list[RunSpec]) -> None:
    """Fill the form with a plan; where its runs differ in their budget, with the first one's."""
    first = specs[0]
    unit, size = first.budget
    if unit == "evaluations":
        unit, size = SWEEP_UNIT, round(size / sweep_size(first.build_domain()), 3)
    LAB.put("preset", BY_HAND)
    LAB.put("from", None)
    LAB.put("domain", first.domain)
    LAB.put("algorithms", list(dict.fromkeys(spec.algorithm for spec in specs)))
    LAB.put("T", ", ".join(str(T) for T in sorted({s.T for s in specs if s.T is not None})))
    LAB.put("unit", unit)
    LAB.put("budget", float(size))
    LAB.put("replications", max(spec.replications for spec in specs))
    LAB.put("seed", first.seed)
    for name, value in first.domain_parameters:
        LAB.put(f"{first.domain}.{name}", value)
    for spec in reversed(specs):
        for name, value in spec.parameters:
            LAB.put(f"{spec.algorithm}.{name}", value)


# ----------------------------------------------------------------------------------------- by hand


def _read_choice(domain: str) -> dict:
    """Algorithms, T and the budget."""
    algorithms = st.multiselect(
        "Algorithms",
        list(ALGORITHMS),
        ["e-fsvi", "e-vi"],
        lambda name: ALGORITHMS[name].title,
        key=LAB.key("algorithms"),
        placeholder="Choose at least one",
        help="\n".join(f"- **{m.title}**: {m.description}" for m in ALGORITHMS.values()),
    )
    T = ""
    if any(ALGORITHMS[name].freezes for name in algorithms):
        T = st.text_input(
            "Periods frozen T",
            USUAL_T,
            key=LAB.key("T"),
            placeholder="such as 6",
            help="One run for each T of an algorithm that freezes: 6, or 3, 6, 12, or 2:6 for all "
            "from 2 to 6.",
        )
    size, unit = st.columns([2, 3], gap="small", vertical_alignment="bottom")
    return {
        "algorithms": algorithms,
        "T": T or "",
        "size": size.number_input(
            "Budget",
            0.0,
            None,
            6.0,
            1.0,
            "%.6g",
            key=LAB.key("budget"),
            help="Work for each replication. A *sweep* is one of Base E-VI, |S||A|M evaluations "
            f"of the value function with M = 50: here {sweep_size(make(domain)):,}, with the "
            "domain's usual parameters. *Own iterations* are the algorithm's, *seconds* those of "
            "its computing.",
        )
        or 0.0,
        "unit": unit.selectbox(
            "Unit",
            list(UNITS),
            format_func=UNITS.get,
            key=LAB.key("unit"),
            label_visibility="collapsed",
        ),
    }


def _read_repeats(usual: int) -> tuple[int, int]:
    left, right = st.columns(2, gap="small")
    # The address has the number only where it is not the usual one, which goes with the plan.
    st.session_state[REPEATS] = LAB.get("replications") or usual
    replications = left.number_input(
        "Replications",
        1,
        MAX_REPLICATIONS,
        step=1,
        key=REPEATS,
        on_change=_set_repeats,
        args=(usual,),
        help="Independent repetitions, for the mean and its 95% band. Exact algorithms need one.",
    )
    seed = right.number_input(
        "Seed",
        0,
        MOST,
        0,
        1,
        key=LAB.key("seed"),
        help="The same seed gives the same numbers, on any machine.",
    )
    return replications, seed or 0


def _set_repeats(usual: int) -> None:
    chosen = st.session_state[REPEATS]
    LAB.put("replications", None if chosen == usual else chosen)


def _read_domain(name: str) -> dict[str, Value]:
    """The parameters of the domain, from its own fields."""
    usual, domain = make(name), DOMAINS[name]
    with st.expander("The domain's parameters", key=f"lab-domain-{name}"):
        if len(domain.presets) > 1:
            st.caption("Ready-made")
            with st.container(horizontal=True, gap="small"):
                for preset in domain.presets:
                    st.button(
                        preset.replace("-", " "),
                        key=f"lab-{name}-{preset}",
                        on_click=_fill_domain,
                        args=(name, preset),
                    )
        own = domain.parameters()
        # No limits here: the domain's own error says what to do about a value out of its range.
        parts = {p.name: Parameter(getattr(usual, p.name), p.description, -MOST, MOST) for p in own}
        values = _read_parameters(name, parts, {p.name: p.title for p in own})
    return {n: v for n, v in values.items() if v != getattr(usual, n)}


def _fill_domain(name: str, preset: str) -> None:
    config = make(name, preset)
    for f in fields(config):
        LAB.put(f"{name}.{f.name}", getattr(config, f.name))


def _read_methods(names: list[str]) -> dict[str, dict[str, Value]]:
    """The parameters of each chosen algorithm."""
    if not names:
        return {}
    with st.expander("The algorithms' parameters", key="lab-methods"):
        tabs = st.tabs([ALGORITHMS[name].title for name in names])
        found = {}
        for tab, name in zip(tabs, names, strict=True):
            with tab:
                found[name] = _read_parameters(name, ALGORITHMS[name].all_parameters)
    return found


def _read_parameters(
    owner: str, parameters: dict[str, Parameter], labels: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Value]:
    """Two columns of widgets, each made from what its parameter declares.

    `labels` replaces parameter names by words.
    """
    columns = st.columns(2, gap="small", vertical_alignment="bottom")
    return {
        name: _widget(
            columns[i % 2],
            f"{owner}.{name}",
            labels.get(name) or parameter.label or name,
            parameter,
        )
        for i, (name, parameter) in enumerate(parameters.items())
    }


def _widget(column: DeltaGenerator, key: str, name: str, parameter: Parameter) -> Value:
    told = parameter.help
    made: dict[str, Callable[[], Value]] = {
        "bool": lambda: column.checkbox(name, parameter.default, key=LAB.key(key), help=told),
        "choice": lambda: column.selectbox(
            name,
            parameter.choices,
            parameter.choices.index(parameter.default)
            if parameter.default in parameter.choices
            else 0,
            key=LAB.key(key),
            help=told,
        ),
        "int": lambda: _number(column, key, name, parameter, told, int),
        "float": lambda: _number(column, key, name, parameter, told, float),
    }
    return made[parameter.kind]()


def _number(column, key: str, name: str, parameter: Parameter, told: str | None, kind: type):
    low, high = (kind(min(max(end, -MOST), MOST)) for end in (parameter.low, parameter.high))
    value = column.number_input(
        name,
        low,
        high,
        parameter.default,
        1 if kind is int else None,
        None if kind is int else "%.6g",
        key=LAB.key(key),
        help=told,
        placeholder="automatic" if parameter.optional else None,
    )
    return value if value is not None or parameter.optional else parameter.default


def escape_markdown(text: str) -> str:
    """A name that may hold anything, without its markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-!|<>~$:" else c for c in text)
