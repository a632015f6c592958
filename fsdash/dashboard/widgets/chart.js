// A Plotly figure that keeps its DOM node: new data is drawn by Plotly.react.
//
// Streamlit calls the default export again whenever data or theme change. Plotly itself is loaded
// once for all charts of all pages. The visitor's zoom and hidden series survive new data.

// Distances in pixels for a mouse and for a finger: of a click from the marker that it selects, of
// a press from the handle that it grabs, and of a release from its press for it to count as a click.
const MOUSE = { near: 16, grip: 10, still: 4 };
const FINGER = { near: 24, grip: 22, still: 10 };
const reach = (event) => (event.pointerType === "touch" || event.touches ? FINGER : MOUSE);
const AROUND = 90; // pixels: legend and axis titles above and below a plot of square cells
const NARROW = 480; // pixels: below this width fonts are smaller and the legend has its own room
const LEGEND_ROW = 32; // pixels: the part of a legend that a figure's height allows for
const POINTS_TIMEOUT = 80; // milliseconds from a click until Plotly has named its points

const TOUCH = window.matchMedia("(hover: none)");

// `fsdash dashboard` loads Plotly with a script element in the page's head (see server.py). Under
// `streamlit run` there is none, and the first chart loads it from `url`.
function loadPlotly(url) {
  window.fsdashPlotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    let script = document.getElementById("fsdash-plotly");
    if (!script) {
      script = document.createElement("script");
      script.src = url;
      document.head.appendChild(script);
    }
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("Plotly could not be loaded.")));
  });
  return window.fsdashPlotly;
}

function makeNode(parent) {
  const node = document.createElement("div");
  node.className = "fs-chart";
  node.setAttribute("role", "figure");
  parent.appendChild(node);
  return node;
}

const axisNames = (layout) => Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));

// Ranges that the visitor chose are kept; the rest comes from the new figure. An axis without a range
// gets one from the data, because Plotly would keep the range of the previous figure.
function withHeldRanges(layout, held) {
  const result = { ...layout };
  for (const name of axisNames(layout)) {
    if (!layout[name].range) result[name] = { autorange: true, ...layout[name] };
  }
  for (const [name, range] of Object.entries(held)) {
    if (result[name]) result[name] = { ...result[name], range: [...range], autorange: false };
  }
  return result;
}

function holdRanges(node) {
  node.on("plotly_relayout", (change) => {
    for (const name of axisNames(node._fullLayout)) {
      const moved = Object.keys(change).some((part) => part.startsWith(`${name}.range`));
      if (moved && !node.fsReset) node.fsHeld[name] = [...node._fullLayout[name].range];
    }
  });
  node.on("plotly_doubleclick", () => showWhole(node));
}

function showWhole(node) {
  const change = {};
  for (const name of axisNames(node._fullLayout)) {
    const range = node.fsFigure.layout[name]?.range;
    if (range) change[`${name}.range`] = [...range];
    else change[`${name}.autorange`] = true;
  }
  node.fsHeld = {};
  node.fsReset = true;
  return window.Plotly.relayout(node, change).then(() => {
    node.fsReset = false;
  });
}

function download(node, format) {
  const style = getComputedStyle(node);
  const background = style.getPropertyValue("--st-background-color").trim() || "white";
  const layout = { ...node.layout, paper_bgcolor: background };
  const { width, height } = node._fullLayout;
  const options = { format, filename: node.fsFile, width, height, scale: format === "png" ? 3 : 1 };
  return window.Plotly.downloadImage({ data: node.data, layout }, options);
}

const ICONS = {
  // 24×24 icons: an image, a pen, four corners.
  png: "M4 4h16v16H4zM6 6v9l4-4 3 3 3-4 2 3V6z",
  svg: "M3 17.2V21h3.8L18 9.9 14.1 6zM20.7 7.2a1 1 0 0 0 0-1.4l-2.5-2.5a1 1 0 0 0-1.4 0L15 5l4 4z",
  whole: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};
const icon = (name) => ({ width: 24, height: 24, path: ICONS[name] });

const button = (name, title, click) => ({ name, title, icon: icon(name), click });

// One object for all charts: Plotly would rebuild the figure if it got another one.
const CONFIGURATION = {
  displaylogo: false,
  responsive: false,
  doubleClick: false,
  modeBarButtons: [
    [
      button("png", "Download PNG", (node) => download(node, "png")),
      button("svg", "Download SVG", (node) => download(node, "svg")),
    ],
    ["zoom2d", "pan2d", button("whole", "Show the whole figure", showWhole)],
  ],
};

// The plot area under the pointer: its two axes and the position in pixels; null outside all plots.
function placeOf(node, event) {
  const box = node.getBoundingClientRect();
  const left = event.clientX - box.left;
  const top = event.clientY - box.top;
  for (const plot of Object.values(node._fullLayout._plots ?? {})) {
    const { xaxis, yaxis } = plot;
    const px = left - xaxis._offset;
    const py = top - yaxis._offset;
    if (px >= 0 && px <= xaxis._length && py >= 0 && py <= yaxis._length)
      return { xaxis, yaxis, px, py };
  }
  return null;
}

function isHit(node, point, place) {
  const type = point.data.type ?? "scatter";
  if (type === "heatmap") {
    const edges = node.calcdata[point.curveNumber][0];
    const [row, column] = point.pointNumber;
    const { xaxis, yaxis } = point;
    return isBetween(xaxis, edges.x, column, place.px) && isBetween(yaxis, edges.y, row, place.py);
  }
  if (!/^scatter/.test(type)) return true;
  const dx = point.xaxis.d2p(point.x) - place.px;
  const dy = point.yaxis.d2p(point.y) - place.py;
  return Math.hypot(dx, dy) <= place.near;
}

function isBetween(axis, edges, index, pixel) {
  const [one, other] = [axis.c2p(edges[index]), axis.c2p(edges[index + 1])];
  return pixel >= Math.min(one, other) - 1 && pixel <= Math.max(one, other) + 1;
}

// A click is a press and a release at the same place. The browser's own click event is not used:
// Plotly suppresses it for a finger, and repeats it without a position where there is no mouse.
// Plotly names the clicked points on the release, but only for the first of two quick clicks, and for
// 50 ms after a drawing they are those under the last position of the pointer. So points that are
// elsewhere are not taken; a little later Plotly knows which ones are under the pointer, if any.
function reportClicks(node) {
  let clicked = null;
  const send = (points) => {
    const place = clicked;
    clicked = null;
    if (!place) return; // reported already, or the end of a zoom or a drag
    clearTimeout(place.timeout);
    node.fsSend(clickEvent(points.find((point) => isHit(node, point, place)), place));
  };
  const press = (pressed) => {
    if (!node.fsData.clickable || !pressed.isPrimary || pressed.button) return;
    if (pressed.target.closest(".modebar, .legend")) return;
    const listening = new AbortController();
    // Plotly covers the page while a button is pressed, so the release may be outside the node.
    const listen = (name, handle) =>
      window.addEventListener(name, handle, { capture: true, signal: listening.signal });
    listen("pointercancel", () => listening.abort()); // the page scrolls
    listen("pointerup", (event) => {
      listening.abort();
      const { near, still } = reach(event);
      const moved = Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      const place = placeOf(node, event);
      if (!place || moved > still) return;
      const timeout = setTimeout(() => send(node._hoverdata ?? []), POINTS_TIMEOUT);
      clicked = { ...place, near, timeout };
    });
  };
  node.addEventListener("pointerdown", press, true);
  node.on("plotly_click", ({ points }) => {
    if (clicked && points.some((point) => isHit(node, point, clicked))) send(points);
  });
  // The browser would repeat a tap as a click of a mouse, and Plotly take both for a double click.
  node.addEventListener("touchend", (event) => {
    if (event.cancelable && event.target.closest(".draglayer")) event.preventDefault();
  });
}

function clickEvent(point, place) {
  if (!point) {
    const [x, y] = [place.xaxis.p2d(place.px), place.yaxis.p2d(place.py)];
    return { x, y, customdata: null, trace: null };
  }
  const { x, y, customdata = null } = point;
  // Plotly decodes arrays of numbers to typed arrays, which Streamlit would send as objects.
  const carried = ArrayBuffer.isView(customdata) ? [...customdata] : customdata;
  return { x, y, customdata: carried, trace: point.data.name ?? null };
}

// A vertical line named "handle" can be moved to the left and right.
function handleUnder(node, event) {
  if (!node.fsData.draggable) return null;
  const place = placeOf(node, event);
  const index = (node.layout.shapes ?? []).findIndex((shape) => shape.name === "handle");
  if (!place || index < 0) return null;
  const at = place.xaxis.d2p(node.layout.shapes[index].x0);
  return Math.abs(at - place.px) <= reach(event).grip ? { index, ...place } : null;
}

// Labels and marks that belong to the handle's old position fade while it is dragged. The next
// drawing has them at the new position; if the position did not change, none comes.
function fade(node, faded) {
  const labels = (node.layout.annotations ?? []).flatMap((label, i) =>
    label.name === "handle" ? [i] : [],
  );
  const marks = node.data.flatMap((trace, i) => (trace.meta === "handle" ? [i] : []));
  const change = Object.fromEntries(labels.map((i) => [`annotations[${i}].opacity`, faded ? 0 : 1]));
  if (labels.length) window.Plotly.relayout(node, change);
  if (marks.length) window.Plotly.restyle(node, { opacity: faded ? 0.2 : 1 }, marks);
}

function unfadeUnlessDrawn(node) {
  const drawn = node.fsDrawn;
  setTimeout(() => {
    if (node.isConnected && node.fsDrawn === drawn) fade(node, false);
  }, 1500);
}

function reportDrags(node) {
  let grabbed = null;
  let moved = false;
  const at = (event) => {
    // Plotly creates new axes with every drawing, so the grabbed one may no longer exist.
    const axis = node._fullLayout[grabbed.xaxis._name];
    const left = event.clientX - node.getBoundingClientRect().left - axis._offset;
    return axis.p2d(Math.min(Math.max(left, 0), axis._length));
  };
  // In the capture phase, before Plotly treats the press as the start of a zoom.
  const press = (event) => {
    grabbed = handleUnder(node, event);
    if (!grabbed) return;
    event.stopPropagation();
    event.preventDefault();
    if (event.type === "pointerdown") node.setPointerCapture(event.pointerId);
  };
  node.addEventListener("pointerdown", press, true);
  node.addEventListener("mousedown", press, true);
  node.addEventListener("touchstart", press, { capture: true, passive: false });
  node.addEventListener("pointermove", (event) => {
    if (grabbed) {
      const x = at(event);
      if (!moved) fade(node, true);
      moved = true;
      const { index } = grabbed;
      window.Plotly.relayout(node, { [`shapes[${index}].x0`]: x, [`shapes[${index}].x1`]: x });
    } else node.classList.toggle("fs-grip", Boolean(handleUnder(node, event)));
  });
  const release = (event) => {
    if (!grabbed) return;
    const x = at(event);
    grabbed = null;
    if (moved) {
      node.fsSend({ x, y: null, customdata: null, trace: "handle" });
      unfadeUnlessDrawn(node);
    }
    moved = false;
  };
  node.addEventListener("pointerup", release);
  node.addEventListener("pointercancel", release);
}

// Sets the height and returns it. A plot of square cells is no taller than its width allows.
function takeHeight(node) {
  const square = Boolean(node.fsFigure.layout.yaxis?.scaleanchor);
  node.classList.toggle("fs-square", square);
  node.classList.toggle("fs-tall", Boolean(node.fsLegend));
  const most = square && node.clientWidth ? node.clientWidth + AROUND : Infinity;
  const height = Math.min(node.fsData.height, most) + (node.fsLegend ?? 0) - (node.fsSpare ?? 0);
  node.style.height = `${height}px`;
  return height;
}

const isNarrow = (node) => node.clientWidth > 0 && node.clientWidth < NARROW;

// Fewer ticks where their labels do not fit side by side: Plotly would turn them upright. Of a
// logarithmic axis the whole decades stay.
function fittingTicks(axis, width) {
  const { tickmode, tickvals = [], ticktext = [] } = axis;
  const needed = ticktext.reduce((sum, text) => sum + 8 * String(text).length + 8, 0);
  if (tickmode !== "array" || axis.type !== "log" || needed <= width) return axis;
  const decades = tickvals.map((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
  const whole = decades.filter(Boolean).length > 1;
  const keep = (_, i) => (whole ? decades[i] : i % 2 === 0);
  return { ...axis, tickvals: tickvals.filter(keep), ticktext: ticktext.filter(keep) };
}

// The figure's layout for this screen. A swipe scrolls the page: on a touch screen zoom and pan
// have to be chosen in the toolbar first.
function withScreen(layout, node) {
  const result = { ...layout };
  if (TOUCH.matches) result.dragmode ??= false;
  if (!isNarrow(node)) return result;
  const { legend = {} } = layout;
  result.font = { size: 13, ...layout.font };
  if (layout.xaxis) result.xaxis = fittingTicks(layout.xaxis, node.clientWidth - AROUND);
  if (legend.orientation !== "v")
    result.legend = { font: { size: 12 }, tracegroupgap: 0, maxheight: 600, ...legend };
  return result;
}

// A legend above a narrow plot has many rows: the figure grows by them, the plot does not shrink.
function roomForLegend(node) {
  const { legend } = node._fullLayout;
  const above = isNarrow(node) && legend?.orientation === "h" && legend.y >= 1;
  return above ? Math.max(0, Math.round(legend._height) - LEGEND_ROW) : 0;
}

// The height that a plot of square cells leaves empty because its width is the limit.
function spareHeight(node) {
  const { _size, _plots, xaxis, yaxis } = node._fullLayout;
  if (!yaxis?.scaleanchor || Object.keys(_plots).length !== 1) return 0;
  const lacking = (_size.w - xaxis._length) * (yaxis._length / xaxis._length);
  return Math.max(0, Math.round((node.fsSpare ?? 0) + _size.h - yaxis._length - lacking));
}

// Once for each width and height. In the first pass the labels of the axis may still lie in the empty
// part, so the second one makes room for them again.
async function fitHeight(Plotly, node) {
  if (!node._fullLayout) return;
  const room = roomForLegend(node);
  const fitted = [node.clientWidth, node.fsData.height, room].join();
  if (node.fsFitted === fitted) return;
  node.fsFitted = fitted;
  node.fsLegend = room;
  for (let pass = 0; pass < 2; pass += 1) {
    node.fsSpare = spareHeight(node);
    const height = takeHeight(node);
    if (height === node._fullLayout.height) return;
    await Plotly.relayout(node, { height });
    if (!node._fullLayout) return;
  }
}

const isDisplayed = (node) => node.isConnected && node.clientWidth > 0;

// Plotly refuses to resize a figure that the page has hidden or removed meanwhile.
async function resize(Plotly, node) {
  if (isDisplayed(node)) await Plotly.Plots.resize(node);
}

async function draw(Plotly, node) {
  const { data, layout, frames } = node.fsFigure;
  const held = withHeldRanges(withScreen(layout, node), node.fsHeld);
  const first = !node.fsReady;
  node.fsNarrow = isNarrow(node);
  node.fsWidth = node.clientWidth;
  node.fsDrawn = (node.fsDrawn ?? 0) + 1;
  const shown = { ...held, height: takeHeight(node) };
  await Plotly.react(node, { data, layout: shown, config: CONFIGURATION, frames });
  if (!node._fullLayout) return; // the page has removed the figure meanwhile
  // Plotly measures the width at the first drawing only; the column may have grown since.
  if (Math.abs(node._fullLayout.width - node.clientWidth) > 1) await resize(Plotly, node);
  await fitHeight(Plotly, node);
  if (!first || !node._fullLayout) return;
  node.fsReady = true;
  holdRanges(node);
  reportClicks(node);
  reportDrags(node);
  new ResizeObserver(() => {
    if (!isDisplayed(node)) return;
    const square = node.classList.contains("fs-square") && node.fsWidth !== node.clientWidth;
    if (square || node.fsNarrow !== isNarrow(node)) return enqueueDrawing(node);
    takeHeight(node);
    resize(Plotly, node);
  }).observe(node);
}

// One drawing after another, because Plotly must not be called while it draws.
function enqueueDrawing(node) {
  node.fsDrawing = (node.fsDrawing ?? Promise.resolve())
    .then(() => loadPlotly(node.fsData.plotly))
    .then((Plotly) => draw(Plotly, node));
  node.fsDrawing.catch((problem) => {
    console.error(problem);
    node.textContent = `${problem.message} Reload the page to try again.`;
  });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector(".fs-chart") ?? makeNode(parentElement);
  node.fsHeld ??= {};
  node.fsData = data;
  node.fsFigure = JSON.parse(data.figure);
  node.fsFile = data.file;
  node.fsSend = (event) => setTriggerValue("event", event);
  takeHeight(node);
  node.setAttribute("aria-label", data.alt_text);
  enqueueDrawing(node);
  // Streamlit also calls this when newer data replaced this data; only a removed node is cleared.
  return () => {
    if (node.fsReady && !node.isConnected) window.Plotly.purge(node);
  };
}
