"""The page Your model: from a file to a saved model, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from fsdash.dashboard.service import open_store, saved_models, show_store_error
from fsdash.dashboard.shell import add_style, open_page, tools
from fsdash.dashboard.visitors import visitor_id
from fsdash.dashboard.your_model import text
from fsdash.dashboard.your_model.new_model import draw_new_model
from fsdash.dashboard.your_model.saved_model import MESSAGE, draw_saved_model
from fsdash.dashboard.your_model.url import URL, open_new, write_url
from fsdash.errors import InputError
from fsdash.formatting import as_sentence, escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store

# A table that is wider than a narrow screen scrolls by itself, not with the page. The table of data
# errors has one block per error there.
STYLE = """<style>
.st-key-model-format table {display: block; overflow-x: auto;}
@media (max-width: 640px) {
  .st-key-model-faults :is(table, tbody, tr, td) {display: block; border: none;}
  .st-key-model-faults thead {display: none;}
  .st-key-model-faults tr {padding: 0.4rem 0; border-bottom: 1px solid rgba(128, 128, 128, 0.4);}
  .st-key-model-faults td {padding: 0.1rem 0; text-align: left !important;}
  .st-key-model-faults td:empty {display: none;}
  .st-key-model-faults td:first-child:not(:empty)::before {content: "ROW ";}
}
</style>""".replace("ROW", text.FAULT_COLUMNS["row"])


def show() -> None:
    """Draw the page."""
    open_page(
        "Your model",
        URL,
        "Bring your own model",
        "Upload a table of transitions, check its columns and save: you get the optimal policy as "
        "a file, without code, and the model appears on the other pages.",
    )
    add_style(STYLE)
    store = open_store()
    try:
        _draw(store, visitor_id())
        _draw_list(store)
    except StoreError as problem:
        show_store_error(problem)
    tools("your_model", URL, ("T", "gamma"))


def _draw(store: Store, visitor: str) -> None:
    """The saved model in the URL, or the steps to a new one."""
    saved = None
    if (name := URL.get("model")) is not None:
        try:
            saved = store.models.get(name)
        except InputError as problem:
            st.warning(as_sentence(problem))
            URL.put("model", None)
    if saved is not None:
        draw_saved_model(store, saved, visitor)
    else:
        if message := st.session_state.pop(MESSAGE, None):
            st.success(message)
        draw_new_model(store)
    write_url()


def _draw_list(store: Store) -> None:
    """The models that this visitor may use."""
    st.header("Saved models", anchor=False)
    models = saved_models(store)
    if not models:
        st.caption("Nothing is saved yet. A saved model appears here and on the other pages.")
    for saved in models:
        with st.container(
            horizontal=True, gap="small", vertical_alignment="center", key=f"entry-{saved.hash}"
        ):
            st.button(
                escape_markdown(saved.name),
                icon=":material/table_chart:",
                type="tertiary",
                key=f"open-{saved.hash}",
                disabled=URL.get("model") == saved.domain,
                on_click=open_new,
                kwargs={"model": saved.domain},
            )
            st.caption(
                f"{saved.n_slow:,} × {saved.n_fast:,} states, "
                f"{text.plural(saved.n_actions, 'action')}, γ = {saved.gamma:g}",
                width="content",
            )
