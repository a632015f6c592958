// A table whose rows can be sorted and selected, with small curves and links in its cells.
//
// Python sends columns and rows in the order to show. This file draws them and reports what the
// visitor wants: another order or another selection. Links lead to other pages.

const SVG = "http://www.w3.org/2000/svg";
const CURVE = { width: 92, height: 26, margin: 2 };

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

// The mean curve in the unit square, below a dashed line at the optimum.
function drawCurve({ line, colour, alt_text }) {
  const { width, height, margin } = CURVE;
  const svg = document.createElementNS(SVG, "svg");
  const at = ([x, y]) =>
    `${margin + x * (width - 2 * margin)},${margin + (1 - y) * (height - 2 * margin)}`;
  const add = (points, style) => {
    const part = document.createElementNS(SVG, "polyline");
    part.setAttribute("points", points.map(at).join(" "));
    part.setAttribute("style", `fill: none; ${style}`);
    svg.append(part);
  };
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", alt_text);
  add([[0, 1], [1, 1]], "stroke: currentColor; opacity: 0.35; stroke-dasharray: 3 3;");
  if (line.length) add(line, `stroke: ${colour}; stroke-width: 2;`);
  return svg;
}

// Streamlit follows the browser's history: this opens another page without loading it anew, and one
// step back returns. (`st.switch_page` would add the new query to the old page's history first.)
function follow(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
  event.preventDefault();
  window.history.pushState(null, "", event.currentTarget.href);
  window.dispatchEvent(new PopStateEvent("popstate", { state: null }));
}

function drawLinks(links, row) {
  return links.map(({ text, href }) =>
    make("a", { href, onclick: follow, "data-focus": `${row.id}/${text}` }, text),
  );
}

function drawCell(column, row) {
  const cell = row.cells[column.name] ?? {};
  const parts = [];
  if (cell.line) parts.push(drawCurve(cell));
  else if (cell.links) parts.push(...drawLinks(cell.links, row));
  else {
    if (cell.swatch) parts.push(make("span", { class: "fs-swatch", style: `background:${cell.swatch}` }));
    parts.push(make("span", { class: cell.badge ? `fs-badge fs-${cell.badge}` : null }, cell.text ?? ""));
    if (cell.mark) parts.push(make("span", { class: "fs-mark" }, cell.mark));
    if (cell.note) parts.push(make("small", {}, cell.note));
  }
  const attributes = { class: `fs-${column.style}`, "data-head": column.title };
  return make("td", { ...attributes, title: cell.help }, ...parts);
}

function drawHeading(column, sort, node) {
  const title = column.title;
  const attributes = { scope: "col", class: `fs-${column.style}` };
  if (!column.sortable) return make("th", { ...attributes, title: column.help }, title);
  const sorted = sort.name === column.name;
  const order = !sorted ? "none" : sort.descending ? "descending" : "ascending";
  const arrow = !sorted ? "" : sort.descending ? " ↓" : " ↑";
  const button = make("button", {
    type: "button",
    title: column.help,
    "data-focus": `sort/${column.name}`,
    onclick: () => node.fsSend({ sort: column.name }),
  }, title + arrow);
  return make("th", { ...attributes, "aria-sort": order }, button);
}

function drawBox(node, attributes, change) {
  return make("td", { class: "fs-select" }, make("input", { type: "checkbox", ...attributes, onchange: change }));
}

function report(node) {
  for (const row of node.querySelectorAll("tbody tr")) {
    const chosen = node.fsSelected.has(row.dataset.row);
    row.classList.toggle("fs-chosen", chosen);
    row.querySelector("input").checked = chosen;
  }
  node.fsSend({ selected: [...node.fsSelected] });
}

function drawRow(row, columns, node) {
  const select = (event) => {
    node.fsSelected[event.target.checked ? "add" : "delete"](row.id);
    report(node);
  };
  const chosen = node.fsSelected.has(row.id);
  const box = { "aria-label": row.label, checked: chosen, "data-focus": `${row.id}/box` };
  const cells = columns.map((column) => drawCell(column, row));
  const drawn = make("tr", {
    "data-row": row.id,
    class: chosen ? "fs-chosen" : null,
    onclick: (event) => {
      if (!event.target.closest("a, button, input")) drawn.querySelector("input").click();
    },
  }, drawBox(node, box, select), ...cells);
  return drawn;
}

function drawTable(data, node) {
  const all = data.rows.map((row) => row.id);
  const selectAll = (event) => {
    node.fsSelected = new Set(event.target.checked ? all : []);
    report(node);
  };
  const every = all.length > 0 && all.every((id) => node.fsSelected.has(id));
  const box = { "aria-label": data.select_all, checked: every, "data-focus": "all" };
  const head = make("tr", {}, drawBox(node, box, selectAll));
  head.append(...data.columns.map((column) => drawHeading(column, data.sort, node)));
  const rows = data.rows.map((row) => drawRow(row, data.columns, node));
  const table = make("table", { "aria-label": data.label });
  table.append(make("thead", {}, head), make("tbody", {}, ...rows));
  return table;
}

export default function ({ data, parentElement, setTriggerValue }) {
  let node = parentElement.querySelector(".fs-data-table");
  if (!node) parentElement.append((node = make("div", { class: "fs-data-table", tabindex: 0 })));
  node.fsSend = (event) => setTriggerValue("event", event);
  const content = JSON.stringify(data);
  if (node.fsContent === content) return;
  node.fsContent = content;
  node.fsSelected = new Set(data.selected);
  const focus = document.activeElement?.dataset?.focus;
  const { scrollLeft, scrollTop } = node;
  node.replaceChildren(drawTable(data, node));
  node.scrollTo(scrollLeft, scrollTop);
  if (focus) node.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}
