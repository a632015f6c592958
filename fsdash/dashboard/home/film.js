// The film of the shop: season and stock week by week, and the plans made with the season frozen.
//
// Python computes all scenes, one for each n. The slider and the film run in the browser alone; the
// n that was chosen last is sent to Python, which writes it into the address.

const SVG = "http://www.w3.org/2000/svg";
const WEEK = 450; // milliseconds
const SEASON = { top: 30, height: 56 };
const STOCK = { top: 116, height: 150 };
const LEFT = 8;
const HEIGHT = 304;
const FADED = 6; // earlier plans that stay visible

function html(tag, name, text = "") {
  const node = document.createElement(tag);
  node.className = name;
  node.textContent = text;
  return node;
}

function mark(name, attributes, text = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return node;
}

function makeNode(parent) {
  const node = html("div", "fs-film");
  const parts = {
    picture: mark("svg", { role: "img" }),
    row: html("div", "fs-row"),
    numbers: html("div", "fs-numbers"),
    sentence: html("p", "fs-sentence"),
    draws: html("p", "fs-draws"),
  };
  const label = html("label", "fs-slider");
  parts.words = html("span", "fs-words");
  parts.slider = html("input", "");
  parts.slider.type = "range";
  parts.slider.min = 1;
  label.append(parts.words, parts.slider);
  parts.play = html("button", "fs-play");
  parts.row.append(label, parts.play);
  for (const [name, title] of [["work", "of the work"], ["lost", "of the money lost"]]) {
    const box = html("div", "fs-number");
    parts[name] = html("strong", `fs-${name}`);
    box.append(parts[name], html("span", "", title));
    parts.numbers.append(box);
  }
  parts.sentence.setAttribute("aria-live", "polite");
  const beside = html("div", "fs-beside");
  beside.append(parts.numbers, parts.sentence, parts.draws);
  const figure = html("div", "fs-figure");
  figure.append(parts.picture, parts.row);
  node.append(figure, beside);
  node.fsParts = parts;
  node.fsPlaying = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  node.fsWeek = node.fsPlaying ? 0 : 12;
  parts.slider.addEventListener("input", () => choose(node, Number(parts.slider.value)));
  parts.slider.addEventListener("change", () => node.fsSend(node.fsN));
  parts.play.addEventListener("click", () => {
    node.fsPlaying = !node.fsPlaying;
    show(node);
  });
  const ticking = setInterval(() => {
    if (!node.isConnected) return clearInterval(ticking);
    if (!node.fsPlaying || document.hidden) return;
    node.fsWeek = (node.fsWeek + 1) % scene(node).stock.length;
    draw(node);
  }, WEEK);
  new ResizeObserver(() => draw(node)).observe(figure);
  parent.appendChild(node);
  return node;
}

const scene = (node) => node.fsData.scenes[node.fsN - 1];

function choose(node, n) {
  node.fsN = n;
  show(node);
}

function show(node) {
  const { fsParts: parts, fsData: data, fsN: n } = node;
  const { work, lost, sentence, draws } = scene(node);
  parts.slider.max = data.scenes.length;
  parts.slider.value = n;
  parts.words.textContent = `Plan as if the season stayed for n = ${n} ${n === 1 ? "week" : "weeks"}`;
  parts.play.textContent = node.fsPlaying ? "Pause" : "Play";
  parts.work.textContent = work;
  parts.lost.textContent = lost;
  parts.sentence.textContent = sentence;
  parts.draws.textContent = draws;
  parts.picture.setAttribute("aria-label", `The shop over ${scene(node).stock.length} weeks. ${sentence}`);
  draw(node);
}

// A saw-tooth: an order lifts the stock at once, then demand lowers it until the next week.
function sawtooth(weeks, from, x, y) {
  return weeks.flatMap(([stock, order], t) => {
    const at = x(from + t);
    return order ? [[at, y(stock)], [at, y(stock + order)]] : [[at, y(stock)]];
  });
}

const path = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");

function draw(node) {
  const { fsParts: parts, fsData: data, fsWeek: now } = node;
  const width = parts.picture.parentElement.clientWidth;
  if (!width || !data) return;
  const { colours, demand, capacity } = data;
  const { season, stock, order, plans } = scene(node);
  const weeks = stock.length + 2;
  const x = (week) => LEFT + (week * (width - 2 * LEFT)) / weeks;
  const highest = demand[demand.length - 1];
  const seasonY = (index) => SEASON.top + SEASON.height * (1 - demand[index] / highest);
  const stockY = (units) => STOCK.top + STOCK.height * (1 - units / (1.5 * capacity));
  const line = (points, colour, more = {}) =>
    mark("path", { d: path(points), fill: "none", stroke: colour, "stroke-width": 2.5, ...more });
  const words = (at, y, text, colour, more = {}) =>
    mark("text", { x: at, y, fill: colour, "font-size": 14, "font-weight": 600, ...more }, text);
  const drawn = [
    mark("rect", { x: x(now), y: 22, width: Math.max(0, Math.min(x(now + plans[now].length - 1), width - LEFT) - x(now)),
      height: HEIGHT - 56, fill: colours.slow, opacity: 0.08, rx: 4 }),
    words(LEFT, 16, "season: units asked for each week", colours.slow),
    words(LEFT, STOCK.top - 8, "stock", colours.fast),
  ];
  const within = (points) => points.filter(([at]) => at <= width - LEFT + 0.5);
  for (let made = Math.max(0, now - FADED); made <= now; made++) {
    const latest = made === now;
    const opacity = latest ? 1 : 0.12 + (0.25 * (made - now + FADED)) / FADED;
    const dash = { "stroke-dasharray": "5 4", opacity, "stroke-width": latest ? 2 : 1.5 };
    drawn.push(line(within(sawtooth(plans[made], made, x, stockY)), colours.ink, dash));
    if (latest) {
      const end = Math.min(x(made + plans[made].length - 1), width - LEFT);
      drawn.push(line([[x(made), seasonY(season[made])], [end, seasonY(season[made])]], colours.ink, dash));
    }
  }
  const steps = season.slice(0, now + 1).flatMap((index, t) => [[x(t), seasonY(index)], [x(Math.min(t + 1, now)), seasonY(index)]]);
  const real = stock.slice(0, now + 1).map((units, t) => [units, order[t]]);
  drawn.push(line(steps, colours.slow), line(sawtooth(real, 0, x, stockY), colours.fast));
  for (let t = 0; t <= now; t++)
    if (order[t]) {
      const [at, y] = [x(t), stockY(0) + 5];
      drawn.push(mark("path", { d: `M${at} ${y}l5 8h-10z`, fill: colours.fast }));
    }
  drawn.push(
    words(LEFT, HEIGHT - 6, "▲ order    - - plan with the season frozen", colours.ink, { "font-weight": 400, "font-size": 13 }),
    words(width - LEFT, HEIGHT - 6, `week ${now + 1}`, colours.ink, { "text-anchor": "end", "font-weight": 400, "font-size": 13 }),
  );
  parts.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  parts.picture.setAttribute("height", HEIGHT);
  parts.picture.replaceChildren(...drawn);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector(".fs-film") ?? makeNode(parentElement);
  const first = !node.fsData;
  node.fsData = data;
  node.fsSend = (n) => setTriggerValue("n", n);
  // Python's n wins on the first drawing and when a link or the browser's history changes it.
  if (first || data.n !== node.fsAsked) node.fsN = data.n;
  node.fsAsked = data.n;
  show(node);
}
