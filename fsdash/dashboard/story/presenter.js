// The bar of presenter mode: back, next, the section, a clock. It listens to the keys of a presenter.
//
// Python owns the section, which is in the address. This file asks for another one and shows the one
// it asked for last until Python has answered, so that fast key presses count. A presentation and
// its speaker notes in the same browser follow each other by a BroadcastChannel.

const START = "fsdash-story-start"; // in localStorage: when the talk began, shared by both windows
const LONGEST = 4 * 3600 * 1000; // milliseconds: a clock that is older belongs to another talk

const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const KEYBOARD_WIDGETS = "input, textarea, select, [role=slider], [role=radio], [contenteditable]";
const MOUSE_CONTROLS = "input[type=range], [role=slider], [role=radio], button";
const PRESSED_BY_SPACE = "button, a, summary, [role=button]";

function element(tag, name, text = "") {
  const node = document.createElement(tag);
  node.className = name;
  node.textContent = text;
  return node;
}

function makeNode(parent) {
  const node = element("nav", "fs-presenter");
  const parts = {
    back: element("button", "fs-back"),
    place: element("span", "fs-place"),
    next: element("button", "fs-next"),
    clock: element("span", "fs-clock"),
    restart: element("button", "fs-restart"),
    leave: element("button", "fs-leave"),
  };
  parts.clock.setAttribute("role", "timer");
  parts.place.setAttribute("aria-live", "polite");
  node.append(...Object.values(parts));
  node.fsParts = parts;
  parent.appendChild(node);
  const ending = new AbortController();
  const whileShown = (handle) => (event) => (node.isConnected ? handle(event) : ending.abort());
  const listen = (target, name, handle, capture = false) =>
    target.addEventListener(name, whileShown(handle), { signal: ending.signal, capture });
  listen(parts.back, "click", () => go(node, node.fsSection - 1));
  listen(parts.next, "click", () => go(node, node.fsSection + 1));
  listen(parts.leave, "click", () => node.fsSend({ leave: true }));
  listen(parts.restart, "click", () => localStorage.setItem(START, Date.now()));
  listen(document, "keydown", (event) => press(node, event), true); // before a slider takes the key
  listen(document, "pointerup", releaseKeys);
  listen(window, "resize", () => reportHeight(node));
  node.fsChannel = new BroadcastChannel("fsdash-story");
  listen(node.fsChannel, "message", (event) => follow(node, event.data));
  const ticking = setInterval(() => (node.isConnected ? tick(node) : clearInterval(ticking)), 1000);
  return node;
}

function go(node, section) {
  if (section < 1 || section > node.fsData.count || section === node.fsSection) return;
  node.fsChannel.postMessage(section);
  follow(node, section);
}

function follow(node, section) {
  if (section === node.fsSection) return;
  node.fsWanted = section;
  show(node, section);
  node.fsSend({ section });
}

// A control that was moved with the mouse gives the keys back to the presentation.
function releaseKeys() {
  const control = document.activeElement?.closest(MOUSE_CONTROLS);
  if (control) setTimeout(() => control.blur());
}

function press(node, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const busy = event.target.closest?.(KEYBOARD_WIDGETS);
  if (event.key === "Escape") {
    if (document.querySelector("[data-testid=stPopoverBody]")) return; // closes the answer
    if (busy) busy.blur();
    else node.fsSend({ leave: true });
    return;
  }
  const paging = event.key.startsWith("Page");
  const end = { Home: 1, End: node.fsData.count }[event.key];
  if (!(event.key in STEPS || end) || (busy && !paging)) return;
  if (event.key === " " && event.target.closest?.(PRESSED_BY_SPACE)) return;
  event.preventDefault();
  event.stopPropagation();
  go(node, end ?? node.fsSection + (event.shiftKey ? -1 : STEPS[event.key]));
}

function show(node, section) {
  const { parts, data } = { parts: node.fsParts, data: node.fsData };
  node.fsSection = section;
  parts.place.textContent = data.words.place.replace("#", section).replace("#", data.count);
  parts.back.disabled = section === 1;
  parts.next.disabled = section === data.count;
  tick(node);
}

const minutes = (ms) => {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

function tick(node) {
  let start = Number(localStorage.getItem(START));
  if (!start || Date.now() - start > LONGEST) {
    start = Date.now();
    localStorage.setItem(START, start);
  }
  const until = node.fsData.until[node.fsSection - 1] * 60000;
  const past = Date.now() - start;
  node.fsParts.clock.textContent = `${minutes(past)} / ${minutes(until)}`;
  node.fsParts.clock.classList.toggle("fs-late", past > until);
}

function reportHeight(node) {
  if (node.fsHeight === window.innerHeight) return;
  node.fsHeight = window.innerHeight;
  node.fsSetHeight(node.fsHeight);
}

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const node = parentElement.querySelector(".fs-presenter") ?? makeNode(parentElement);
  const { words } = data;
  node.fsData = data;
  node.fsSend = (event) => setTriggerValue("event", event);
  node.fsSetHeight = (height) => setStateValue("height", height);
  node.setAttribute("aria-label", words.bar);
  for (const name of ["back", "next", "restart", "leave"]) node.fsParts[name].textContent = words[name];
  node.fsParts.clock.setAttribute("aria-label", words.clock);
  node.fsParts.clock.title = words.clock;
  if (node.fsWanted === data.section) node.fsWanted = undefined;
  show(node, node.fsWanted ?? data.section);
  if (data.fits) reportHeight(node);
}
