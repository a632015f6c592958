"""The state of a page in its URL: the one mechanism that all pages use.

A page declares its parameters once, opens with them, and writes them after its widgets:

    URL = UrlState("reward-error", {"T": UrlParameter(12, whole_number(1, 150))})

    open_page("Reward error", URL)              # reads the URL, reports what it cannot use
    st.slider("T", 1, 150, 12, key=URL.key("T"))
    URL.write()                                 # one step in the browser's history at most

Why not Streamlit's `bind="query-params"`: it writes the labels of options, which change with the
wording; it silently drops values that it cannot use, and values that are not an option yet;
it takes one history step for each widget; and it hands values on to the next page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.formatting import number_text, shorten
from fsdash.runs.errors import StoreError

ECHO_SECONDS = 5.0
"""How long a rerun may still arrive with a URL that the page has replaced since."""
UNUSABLE = (
    "Some values in the link cannot be used and are left out. Defaults are shown where the link "
    "gives no other value."
)
UNKNOWN = "this page has no such parameter"
MAX_LINK = 8_000
"""Characters of a link's parameters: browsers and proxies accept about as many."""
TOO_LONG = (
    f"the link has more than {MAX_LINK:,} characters: copy it again, or start from the page itself"
)
MAX_REPORTED = 20
"""Unusable values that are listed; a link can have thousands."""

SHARED = ("tour", "exercise")
"""Parameters that belong to no page. They stay in the URL when a page writes its own."""

Texts = dict[str, str]
"""The query of a URL: the text of each parameter. Repeated parameters are joined by commas."""
_HISTORY = "fsdash-url-history"
_SWITCH = "fsdash-page-switch"


# ---------------------------------------------------------------------------- reading a parameter


@dataclass(frozen=True)
class Reader:
    """Turns the text of a parameter into its value, and knows what a usable text looks like.

    `parse` raises ValueError for an unusable text. `remedy` completes a report about it: "give a
    number from 0 to 1". An `InputError` brings its own remedy. `options` are all values that it
    can return, if they can be listed.
    """

    parse: Callable[[str], Any]
    remedy: str = ""
    options: tuple = ()

    def __call__(self, text: str) -> Any:
        return self.parse(text)

    def usable(self, name: str, text: str) -> tuple[list, list[str]]:
        """The value as a list of one, or an empty list and the report of what is wrong."""
        try:
            return [self.parse(text)], []
        except InputError as problem:
            return [], [f"{quote(name, text)}: {problem}"]
        except (ValueError, OverflowError):
            return [], [quote(name, text) + (f": {self.remedy}" if self.remedy else "")]


@dataclass(frozen=True)
class ListReader(Reader):
    """Reads a list separated by commas. Of a partly usable list the usable items count."""

    item: Reader = field(kw_only=True)
    most: int = field(kw_only=True)

    def usable(self, name: str, text: str) -> tuple[list, list[str]]:
        items, problems = [], []
        for part in text.split(","):
            value, problem = self.item.usable(name, part)
            items += [one for one in value if one not in items]
            problems += problem
        if extra := items[self.most :]:
            quoted = ", ".join(quote(name, str(value)) for value in extra)
            problems.append(f"{quoted}: give at most {self.most} values")
        return [items[: self.most]] if items else [], problems


def number_in(low: float, high: float, *, hint: str = "") -> Reader:
    """Reads a number from `low` to `high`; `hint` is added to the remedy."""

    def parse(text: str) -> float:
        value = float(text)
        if not (isfinite(value) and low <= value <= high):
            raise ValueError(text)
        return value

    return Reader(parse, f"give a number from {low:.10g} to {high:.10g}{hint}")


def whole_number(low: int, high: int | None = None) -> Reader:
    """Reads a whole number from `low` to `high`, in any spelling: 30, 30.0, 3e1."""

    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"-?\d{1,30}", text.strip()) else float(text)
        above = high is not None and value > high
        if not isfinite(value) or value != int(value) or value < low or above:
            raise ValueError(text)
        return int(value)

    limits = f"from {low} to {high}" if high is not None else f"of at least {low}"
    return Reader(parse, f"give a whole number {limits}")


def one_of(options: Iterable) -> Reader:
    """Reads one of the options; numbers in any spelling, all else as it is written."""
    options = tuple(options)
    numeric = all(isinstance(option, Real) for option in options)
    by_text = {float(option) if numeric else str(option): option for option in options}

    def parse(text: str) -> Any:
        value = float(text) if numeric else text
        if value not in by_text:
            raise ValueError(text)
        return by_text[value]

    remedy = f"give one of {', '.join(number_text(option) for option in options)}"
    return Reader(parse, remedy, options)


def domain_name(text: str) -> str:
    """Reads the name of a registered domain or of a saved model."""
    try:
        exists = text in DOMAINS
    except StoreError as problem:
        raise InputError(str(problem)) from None
    if not exists:
        raise InputError(f"give one of {', '.join(DOMAINS)}, or a model on the page Your model")
    return text


def list_of(read: Callable[[str], Any], most: int = 1000) -> ListReader:
    """Reads at most `most` values separated by commas; a value given twice counts once."""
    item = as_reader(read)

    def parse(text: str) -> list:
        values = list(dict.fromkeys(item(part) for part in text.split(",")))
        if len(values) > most:
            raise ValueError(text)
        return values

    return ListReader(parse, item.remedy, item=item, most=most)


def short_text(text: str) -> str:
    """Reads a text of at most 100 characters without a null character."""
    if len(text) > 100 or "\0" in text:
        raise ValueError(text)
    return text


def experiment_id(text: str) -> str:
    """Reads the id of an experiment."""
    if not re.fullmatch(r"[a-z0-9]{4,40}", text):
        raise InputError("this is not the id of an experiment; choose one under Stored runs")
    return text


def run_reference(text: str) -> str:
    """Reads the id of an experiment, or of one of its runs: `k3v9xq2mpd` or `k3v9xq2mpd.2`."""
    if not re.fullmatch(r"[a-z0-9]{4,40}(\.\d{1,3})?", text):
        raise InputError("this is not the id of an experiment or a run; select one in the table")
    return text


def as_reader(read: Callable[[str], Any]) -> Reader:
    """The function as a reader without a remedy, unless it is one."""
    return read if isinstance(read, Reader) else Reader(read)


def quote(name: str, text: str) -> str:
    """A parameter as the link has it, as Markdown; long texts are cut."""
    return f"`{_printable(name)}={_printable(text)}`"


def _printable(text: str) -> str:
    return shorten("".join(c for c in text if c.isprintable() and c != "`"))


# ----------------------------------------------------------------------------------- declarations


def comma_separated(values: Sequence) -> str:
    """The text that `list_of` reads."""
    return ",".join(map(number_text, values))


@dataclass(frozen=True)
class UrlParameter:
    """One parameter of a URL: its default, and how its text is read and written.

    `read(write(value)) == value` holds for every value the page can have. A parameter that is at
    its default, None or empty is left out of the URL.
    """

    default: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str] = number_text


def switch(default: bool) -> UrlParameter:
    """A parameter that is on (1) or off (0)."""
    read = one_of(("0", "1"))
    on_or_off = replace(read, parse=lambda text: read(text) == "1", options=(False, True))
    return UrlParameter(default, on_or_off, lambda on: str(int(on)))


def labelled(default: str, labels: Mapping[str, str]) -> UrlParameter:
    """A parameter whose widget holds labels, while the URL holds their short names."""
    names = {label: name for name, label in labels.items()}
    read = one_of(labels)
    label = replace(read, parse=lambda text: labels[read(text)], options=tuple(names))
    return UrlParameter(labels[default], label, names.get)


@dataclass(frozen=True)
class UrlState:
    """The parameters of one page. A widget takes `key(name)`; values without one are `put`."""

    page: str
    parameters: Mapping[str, UrlParameter]

    def key(self, name: str) -> str:
        """The key of a parameter's widget in the session state."""
        return f"{self.page}.{name}"

    def get(self, name: str) -> Any:
        """The value of a parameter now."""
        return st.session_state.get(self.key(name), self.parameters[name].default)

    def put(self, name: str, value: Any) -> None:
        """Set a parameter; one that has a widget only before it is drawn, as in a callback."""
        st.session_state[self.key(name)] = value

    def read(self, opened: bool = False) -> bool:
        """Set the parameters from the URL if the visitor opened it or went back to it.

        Returns whether it did. The URLs that the page itself wrote do not count, nor does any URL
        count more than a widget that was changed since the last `write`. `opened` tells that the
        visitor did open this URL, such as a stop of a tour on the same page.
        """
        query, history = _query(), None if opened or is_history_step() else self._history()
        if history is not None and (history.wrote(query) or self._texts() != history.current):
            return False
        values, problems = usable_values(query, self.parameters)
        for name, parameter in self.parameters.items():
            if name in values:
                self.put(name, values[name])
            elif self.key(name) in st.session_state:  # set, not deleted: the browser has to know
                self.put(name, parameter.default)
        # Remembered at once, or a click before the first `write` would be lost: the rerun that it
        # causes would read the same URL again.
        last = st.session_state.get(_HISTORY)
        if last is not None and last.page != self.page:
            st.session_state[_SWITCH] = {"left": last.current, "opened": query | _shared()}
        elif last is not None and not is_history_step():
            # A link to the page in view reaches the server, but leaves the browser's URL as it was.
            st.query_params.from_dict(query | _shared())
        before = self._history() or AddressHistory(self.page, query)
        after = before.then(query, before.current)
        st.session_state[_HISTORY] = replace(after, just_read=True, unusable=tuple(problems))
        return True

    def write(self, **computed: Any) -> None:
        """Bring the URL up to date; `computed` replaces the values of parameters by name."""
        now, query = self._texts(computed), _query()
        history = self._history() or AddressHistory(self.page, now)
        if now != query:
            st.query_params.from_dict(now | _shared())
        if now == query == history.current:
            st.session_state[_HISTORY] = replace(history, just_read=False)
        else:
            st.session_state[_HISTORY] = history.then(now, history.current, query)

    @property
    def just_read(self) -> bool:
        """Whether the values come from a link that was opened with this run."""
        history = self._history()
        return history is not None and history.just_read

    @property
    def unusable(self) -> tuple[str, ...]:
        """What the link had that the page cannot use: `name=value`, with the remedy."""
        history = self._history()
        return () if history is None else history.unusable

    def report_unusable(self) -> None:
        """Show a warning with every unusable value of the link."""
        report_unusable(self.unusable)

    def _history(self) -> AddressHistory | None:
        """The URLs of this visit; None when the page has just been opened."""
        history = st.session_state.get(_HISTORY)
        return history if history is not None and history.page == self.page else None

    def _texts(self, computed: Mapping[str, Any] | None = None) -> Texts:
        values = {name: self.get(name) for name in self.parameters} | dict(computed or {})
        texts = {
            name: self.parameters[name].write(value)
            for name, value in values.items()
            if value is not None and value != self.parameters[name].default
        }
        return {name: text for name, text in texts.items() if text}


def report_unusable(problems: Sequence[str]) -> None:
    """Show a warning with the unusable values of a link, if there are any."""
    if problems:
        shown, more = problems[:MAX_REPORTED], len(problems) - MAX_REPORTED
        lines = [*shown, f"… and {more:,} more"] if more > 0 else shown
        st.warning(f"{UNUSABLE}\n" + "".join(f"\n- {line}" for line in lines))


def usable_values(
    query: Texts, parameters: Mapping[str, UrlParameter]
) -> tuple[dict[str, Any], list[str]]:
    """The values in a URL's query that a page can use, and a report of each that it cannot.

    Of a link that is too long nothing is used: its values may be expensive to read.
    """
    if sum(len(name) + len(text) for name, text in query.items()) > MAX_LINK:
        return {}, [TOO_LONG]
    values, problems = {}, []
    for name, text in query.items():
        if name not in parameters:
            problems.append(f"{quote(name, text)}: {UNKNOWN}")
            continue
        value, problem = as_reader(parameters[name].read).usable(name, text)
        problems += problem
        if value:
            values[name] = value[0]
    return values, problems


# ---------------------------------------------------------------------------------------- history


@dataclass(frozen=True)
class AddressHistory:
    """The URL that a page read or wrote last, and the ones before, each with the time it ended."""

    page: str
    current: Texts
    previous: tuple[tuple[Texts, float], ...] = ()
    just_read: bool = False
    unusable: tuple[str, ...] = ()

    def wrote(self, query: Texts) -> bool:
        """Whether a URL is the page's own: the last one, or the echo of an earlier one.

        A rerun that was requested before the browser knew the last URL arrives with an old one.
        """
        now = time.monotonic()
        return query == self.current or any(
            query == old and now - ended < ECHO_SECONDS for old, ended in self.previous
        )

    def then(self, current: Texts, *ended: Texts) -> AddressHistory:
        """The history after one more URL."""
        now = time.monotonic()
        previous = (*self.previous, *((old, now) for old in ended))
        recent = tuple((old, end) for old, end in previous if now - end < ECHO_SECONDS)
        return AddressHistory(self.page, current, recent, unusable=self.unusable)


def page_switch() -> Mapping[str, Texts]:
    """The last URL of the page that the visitor `left` and the one that was `opened`, if any.

    What a page writes after a link was clicked can replace the parameters of the page that is
    opened. Only the browser knows; the element at the top of every page corrects it (`shell`).
    """
    return st.session_state.get(_SWITCH, {})


def is_history_step() -> bool:
    """Whether the browser's Back or Forward caused this run; its URL then counts."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _query() -> Texts:
    """The parameters in the URL that are the page's own."""
    own = (name for name in st.query_params if name not in SHARED)
    return {name: ",".join(st.query_params.get_all(name)) for name in own}


def _shared() -> Texts:
    return {name: st.query_params[name] for name in SHARED if name in st.query_params}
