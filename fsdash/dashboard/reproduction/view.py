"""The Reproduction page: the paper's figures computed again, and each claim with its verdict."""

import json

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.curves.paper_figure import paper_figure
from fsdash.dashboard.navigation import PAGES, is_available
from fsdash.dashboard.reproduction import state, text
from fsdash.dashboard.reproduction.text import ALL_PARTS, PARTS, THEORY, VERDICTS
from fsdash.dashboard.shell import (
    add_style,
    open_page,
    popover,
    tools,
    what_to_notice,
)
from fsdash.dashboard.widgets.chart import chart, export
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    list_of,
    one_of,
)
from fsdash.errors import InputError
from fsdash.figures.budgets import budgets_figure
from fsdash.figures.samples import samples_figure
from fsdash.reproduce import archive, theory_figures
from fsdash.reproduce.robustness import NEAR_OPTIMAL_CLAIM
from fsdash.reproduce.robustness import SHARES as SHARES_OF_T
from fsdash.reproduce.settings import Setting

LAB = PAGES["run_lab"]
SHOWN = ("final", "best")
"""The shares in the table of samples."""
SHARES = (75, 90, 95)
"""Per cent of the optimum in the table of work."""
BEYOND_CLAIMS = {"stationary": "greedy", "exact": "mpi"}
"""By the kind of figure: a word in the names of the claims about it."""
BUDGET_CLAIMS = ("rolling", "thawed", "recommendation", "certificates")
"""The last words in the names of the claims about methods at budgets."""
VERDICT_OF_WORD = {label.word: verdict for verdict, label in VERDICTS.items()}
SETTINGS = {
    "count": ("Evaluations per upper-level sample", text.COUNT_OPTIONS, text.COUNT_HELP),
    "ties": ("Ties", text.TIES_OPTIONS, text.TIES_HELP),
    "budget": ("Budget", text.BUDGET_OPTIONS, text.BUDGET_HELP),
}
"""By parameter of the URL: label, options with their values, and help."""
URL = UrlState(
    "reproduction",
    {
        "part": UrlParameter(ALL_PARTS, one_of((ALL_PARTS, *PARTS.values()))),
        "verdict": UrlParameter(
            list(VERDICT_OF_WORD), list_of(one_of(VERDICT_OF_WORD)), comma_separated
        ),
        **{
            name: UrlParameter(next(iter(options)), one_of(options))
            for name, (_, options, _) in SETTINGS.items()
        },
        "claim": UrlParameter("", one_of(state.claim_names())),
        "budgets": UrlParameter("inventory", one_of(archive.DOMAINS)),
        **{
            f"figure-{part}": UrlParameter(next(iter(names)), one_of(names))
            for part in PARTS
            if (names := state.figure_names(part))
        },
    },
)


# A figure beside its claims would be too narrow for its labels on a tablet.
STYLE = """<style>
.st-key-filters {row-gap: 1rem;}
@media (max-width: 900px) {[data-testid="stColumn"]:has(.fs-chart) {min-width: 100%;}}
</style>"""


def show() -> None:
    """Draw the page."""
    open_page("Reproduction", URL, "Do the paper's claims hold?", text.INTRODUCTION)
    add_style(STYLE)
    counts = st.container()
    linked = URL.get("claim")
    parts, verdicts, setting = _choose_filters() if not linked else _linked_filters()
    claims, findings = state.claims(setting), state.findings(setting)
    with counts:
        _draw_counts(claims[~claims["beyond"]])
    for domain in state.missing_domains():
        if domain in parts:
            st.info(text.missing(domain), icon=":material/info:")
    shown = claims[claims["part"].isin(parts) & claims["verdict"].isin(verdicts)]
    if linked:
        shown = shown[shown["name"] == linked]
    of_paper = shown[~shown["beyond"]]
    if not linked:
        _draw_table(of_paper)
    archived = [part for part in parts if part in archive.archived_domains()]
    for part in parts:
        if (part == THEORY or part in archived) and (len(of_paper) or not linked):
            _draw_part(part, of_paper[of_paper["part"] == part], findings, setting)
    if archived and (shown["beyond"].any() or not linked):
        _draw_beyond(shown[shown["beyond"]], findings, archived, setting)
    st.space("small")
    what_to_notice(text.NOTICE)
    with tools("reproduction", URL).popover(
        "How a claim is judged", icon=":material/gavel:", key="rules"
    ):
        st.markdown(text.RULES)
    _draw_downloads(claims, findings)
    URL.write()


def _choose_setting() -> Setting:
    """The chosen count of evaluations, way to break ties, and share of the budget."""
    keys, look = map(URL.key, SETTINGS), {"icon": ":material/tune:", "help": text.CHOICES_HELP}
    choices = popover(keys, "Choices that the paper leaves open", **look)
    if choices.open:
        with choices:
            _draw_setting()
    return Setting(*(options[URL.get(name)] for name, (_, options, _) in SETTINGS.items()))


def _draw_setting() -> None:
    for name, (label, options, help) in SETTINGS.items():
        st.segmented_control(
            label,
            list(options),
            default=next(iter(options)),
            required=True,
            key=URL.key(name),
            help=help,
        )


def _draw_counts(claims: pd.DataFrame) -> None:
    """The number of claims with each verdict."""
    with st.container(horizontal=True, gap="medium", key="counts"):
        for verdict, n in state.verdict_counts(claims).items():
            label = VERDICTS[verdict]
            st.metric(f":{label.colour}[{label.icon}] {label.word}", n, width="content")


def _linked_filters() -> tuple[list[str], list[str], Setting]:
    """The part of the claim that a link names, instead of the filters."""
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom", key="filters"):
        show_all = lambda: URL.put("claim", "")  # noqa: E731
        st.button("Show all claims", on_click=show_all, icon=":material/list:", key="all-claims")
        setting = _choose_setting()
    if setting != state.ARCHIVED:
        st.info(text.OTHER_SETTING, icon=":material/tune:")
    return [URL.get("claim").partition("-")[0]], list(VERDICTS), setting


def _choose_filters() -> tuple[list[str], list[str], Setting]:
    """The chosen parts of the page, the chosen verdicts, and the setting of the results."""
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom", key="filters"):
        title = st.pills(
            "Part",
            (ALL_PARTS, *PARTS.values()),
            default=ALL_PARTS,
            required=True,
            key=URL.key("part"),
            wrap=True,
        )
        words = st.pills(
            "Verdict",
            list(VERDICT_OF_WORD),
            selection_mode="multi",
            default=list(VERDICT_OF_WORD),
            key=URL.key("verdict"),
            wrap=True,
        )
        setting = _choose_setting()
    if setting != state.ARCHIVED:
        st.info(text.OTHER_SETTING, icon=":material/tune:")
    parts = [part for part in PARTS if title in (ALL_PARTS, None, PARTS[part])]
    return parts, [VERDICT_OF_WORD[word] for word in words or VERDICT_OF_WORD], setting


# ----------------------------------------------------------------------------------- parts, figures


def _draw_part(part: str, claims: pd.DataFrame, findings: pd.DataFrame, setting: Setting) -> None:
    """One part of the paper; a damaged archive affects only its own part."""
    try:
        _draw_figure_and_claims(part, claims, findings, setting)
    except (InputError, OSError, KeyError) as problem:
        st.error(text.unreadable(part, problem))


def _draw_figure_and_claims(
    part: str, claims: pd.DataFrame, findings: pd.DataFrame, setting: Setting
) -> None:
    st.header(PARTS[part], anchor=False, divider="gray")
    names = state.figure_names(part)
    label = st.pills(
        "Figure",
        list(names),
        default=next(iter(names)),
        required=True,
        key=URL.key(f"figure-{part}"),
        label_visibility="collapsed",
        wrap=True,
    )
    name = names[label]
    left, right = st.columns([6, 5], gap="large")
    with left:
        figure, rows = _figure_and_rows(part, name, setting)
        chart(figure, name, alt_text=text.alt_text(part, label), height=440)
        _draw_origin(part)
        with st.container(horizontal=True, gap="small"):
            export(name, figure, rows, state.snippet(part, name, setting))
            if part != THEORY:
                _draw_work(part, setting)
    with right:
        _draw_claims(claims, findings)


def _figure_and_rows(part: str, name: str, setting: Setting) -> tuple[go.Figure, pd.DataFrame]:
    """A figure, and the table that it is drawn from."""
    if part == THEORY:
        _, figure = _theory_figures()[name]
        return figure, theory_figures.tables()[state.theory_table(name)]
    return paper_figure(part, name, setting), archive.archived_rows(part)


@st.cache_data(max_entries=2, show_spinner=False)
def _theory_figures() -> dict[str, tuple[str, go.Figure]]:
    return theory_figures.figures()


def _draw_origin(part: str) -> None:
    """How the results were computed, and a link that computes them again."""
    if part == THEORY:
        st.caption(text.THEORY_ORIGIN)
        return
    st.caption(text.origin(archive.about()[part]))
    if is_available(LAB):
        st.page_link(
            LAB.script,
            label="Run this again in the lab",
            icon=":material/experiment:",
            query_params={"preset": f"paper-{part}"},
        )


def _draw_work(domain: str, setting: Setting) -> None:
    """The work that each method needs to reach three shares of the optimum."""
    with st.popover(text.WORK_TITLE, key=f"work-{domain}"):
        work = {f"work_{share}": f"{share}%" for share in SHARES}
        number = st.column_config.NumberColumn
        st.dataframe(
            state.work(domain, setting)[["method", "start", *work, "final"]],
            hide_index=True,
            height="content",
            column_config={
                "method": "Method",
                **{name: number(title, format="%.3g") for name, title in work.items()},
                "start": number("At the start", format="percent"),
                "final": number("At the end", format="percent"),
            },
        )
        st.caption(text.WORK_CAPTION)


# ------------------------------------------------------------------------------------------- claims


def _draw_claims(claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """Each claim in an expander with its rule and its evidence."""
    if claims.empty:
        st.caption("No claim has one of the chosen verdicts.")
    sensitivity, seeds, constants = state.sensitivity(), state.seeds(), state.constants()
    for claim in claims.to_dict("records"):
        name = claim["name"]
        is_linked = name == URL.get("claim")
        with st.expander(text.claim_title(claim), expanded=is_linked, key=f"claim-{name}"):
            if claim["quotation"]:
                st.markdown(text.quotation(claim))
            st.markdown(text.rule(claim))
            if claim["changed"]:
                st.markdown(text.changed(claim))
            st.markdown(text.MEASURED)
            st.markdown(state.findings_markdown(findings, name))
            if claim["remark"]:
                st.markdown(claim["remark"])
            if by_seed := state.seeds_markdown(seeds, name):
                st.markdown("**Does it hold with other seeds?**")
                st.markdown(by_seed)
                st.caption(text.SEEDS_CAPTION)
            if by_costs := state.constants_markdown(constants, name):
                st.markdown("**Does it hold with other costs?**")
                st.markdown(by_costs)
                if name == NEAR_OPTIMAL_CLAIM:
                    _draw_constants(constants[constants["name"] == name])
            if dependence := state.sensitivity_markdown(sensitivity, name):
                st.markdown(text.SENSITIVITY_TITLE)
                st.markdown(dependence)
            st.caption(text.evidence(claim))
            if not is_linked and is_available(PAGES["reproduction"]):
                st.page_link(
                    PAGES["reproduction"].script,
                    label="Link to this claim",
                    icon=":material/link:",
                    query_params={"claim": name},
                )


def _draw_table(claims: pd.DataFrame) -> None:
    """The verdicts on the paper's claims, with those of the first rules and of five seeds."""
    with st.expander("All verdicts in one table", icon=":material/table_rows:", key="verdicts"):
        column, titles = st.column_config, text.TABLE_COLUMNS
        st.dataframe(
            state.verdicts_table(claims, state.seeds()),
            hide_index=True,
            height="content",
            column_config={
                **{name: column.TextColumn(title) for name, title in titles.items()},
                "link": column.LinkColumn(titles["link"], display_text="open"),
                "claim": column.TextColumn(titles["claim"], width=330),
                "first": column.TextColumn(titles["first"], width=120),
                "seeds": column.TextColumn(titles["seeds"], width=110),
            },
        )
        st.caption(text.TABLE_CAPTION)


def _draw_constants(rows: pd.DataFrame) -> None:
    """How close E-FSVI comes to the optimum with each set of costs."""
    percent = st.column_config.NumberColumn
    shares = {name: percent(text.CONSTANTS_COLUMNS[name], format="percent") for name in SHARES_OF_T}
    st.dataframe(
        rows[list(text.CONSTANTS_COLUMNS)],
        hide_index=True,
        height=250,
        column_config={**text.CONSTANTS_COLUMNS, **shares},
    )
    st.caption(text.CONSTANTS_CAPTION)


def _draw_beyond(
    claims: pd.DataFrame, findings: pd.DataFrame, domains: list[str], setting: Setting
) -> None:
    """Findings that are not in the paper, two with a figure of the first suitable domain."""
    st.header("Beyond the paper", anchor=False, divider="gray")
    for column, (kind, summary) in zip(
        st.columns(2, gap="large"), text.BEYOND.items(), strict=True
    ):
        with column:
            st.markdown(summary)
            name = "{}-{}".format
            with_figure = [d for d in domains if name(d, kind) in state.figure_names(d).values()]
            for domain in with_figure[:1]:
                st.caption(PARTS[domain])
                figure = paper_figure(domain, name(domain, kind), setting)
                alt_text = text.alt_text(domain, summary)
                chart(figure, f"beyond-{kind}", alt_text=alt_text, height=460)
            _draw_claims(claims[claims["name"].str.contains(BEYOND_CLAIMS[kind])], findings)
    if (budgets := archive.archived_budgets()) is not None:
        _draw_budgets(*budgets, domains, claims, findings)
    samples = state.samples()
    samples = samples[samples["domain"].isin(domains)]
    if len(samples):
        _draw_samples(samples, claims[claims["name"].str.endswith("-samples")], findings)


def _draw_budgets(
    budgets: pd.DataFrame,
    certificates: pd.DataFrame,
    domains: list[str],
    claims: pd.DataFrame,
    findings: pd.DataFrame,
) -> None:
    """Rolling freeze, thawed sweeps, the recommendation and certificates."""
    st.markdown(text.BUDGETS)
    if URL.get("budgets") not in domains:
        URL.put("budgets", domains[0])
    domain = st.pills(
        "Domain",
        domains,
        default=domains[0],
        required=True,
        format_func=PARTS.get,
        key=URL.key("budgets"),
        label_visibility="collapsed",
    )
    own, certified = (frame[frame["domain"] == domain] for frame in (budgets, certificates))
    left, right = st.columns([6, 5], gap="large")
    with left:
        figure = budgets_figure(own)
        alt_text = text.BUDGETS_ALT.format(domain=PARTS[domain])
        chart(figure, "beyond-budgets", alt_text=alt_text, height=560)
        st.caption(text.BUDGETS_CAPTION.format(n=own["seed"].nunique()))
        with st.popover("Certified and true regret of FSVI", key="certificates"):
            ratio = certified["certificate"] / certified["max_regret"]
            st.dataframe(
                certified.assign(ratio=ratio.round(2))[list(text.CERTIFICATES_COLUMNS)],
                hide_index=True,
                column_config=text.CERTIFICATES_COLUMNS,
            )
    with right:
        _draw_claims(claims[claims["name"].str.endswith(BUDGET_CLAIMS)], findings)


def _draw_samples(samples: pd.DataFrame, claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """Base E-VI with more samples and with common random numbers."""
    st.markdown(text.SAMPLES)
    left, right = st.columns([6, 5], gap="large")
    with left:
        figure = samples_figure(samples)
        chart(figure, "beyond-samples", alt_text=text.SAMPLES_ALT, height=420)
        st.caption(text.SAMPLES_CAPTION)
    with right:
        st.markdown("\n".join(f"- {line}" for line in state.samples_results(samples)))
        percent = st.column_config.NumberColumn
        shares = {name: percent(text.SAMPLES_COLUMNS[name], format="percent") for name in SHOWN}
        st.dataframe(
            samples[list(text.SAMPLES_COLUMNS)],
            hide_index=True,
            height="content",
            column_config={**text.SAMPLES_COLUMNS, **shares},
        )
        _draw_claims(claims, findings)


def _draw_downloads(claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """All tables behind the page."""
    st.header("Download all results", anchor=False)
    files = {
        "Claims, CSV": ("claims.csv", lambda: claims.to_csv(index=False)),
        "Measured values, CSV": ("findings.csv", lambda: findings.to_csv(index=False)),
    }
    if len(sensitivity := state.sensitivity()):
        make_table = lambda: sensitivity.to_csv(index=False)  # noqa: E731
        files["Verdicts by count, ties and budget, CSV"] = ("sensitivity.csv", make_table)
    for label, name, table in (
        ("Verdicts by seed, CSV", "seeds", state.seeds()),
        ("Verdicts by costs, CSV", "constants", state.constants()),
    ):
        if len(table):
            files[label] = (f"{name}.csv", lambda table=table: table.to_csv(index=False))
    domains = archive.archived_domains()
    for domain in domains:
        make = lambda d=domain: archive.archived_rows(d).to_csv(index=False)  # noqa: E731
        files[text.rows_csv(domain)] = (f"{domain}.csv", make)
    if domains:
        files["Origin, JSON"] = ("about.json", lambda: json.dumps(archive.about(), indent=1))
    with st.container(horizontal=True, key="files"):
        for label, (file, make) in files.items():
            st.download_button(label, make, file, key=f"file-{file}", on_click="ignore")
    st.caption(text.DOWNLOADS_CAPTION)
