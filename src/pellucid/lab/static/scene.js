// The scene of a frame: planes with axes and tables, drawn from panels and marks (see scene.py).
// Text only ever becomes a text node; coordinates become attributes.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
const GROUPS = 8;
const UNIT = [  // the shape of each group around (0, 0), about as large as a circle of radius 1
  "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
  "M-.9-.9H.9V.9H-.9z",
  "M0-1.15L1.05.8H-1.05z",
  "M0-1.25L1.05 0L0 1.25L-1.05 0z",
  "M0 1.15L1.05-.8H-1.05z",
  "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4z",
  "M-1-.55L-.55-1L0-.45L.55-1L1-.55L.45 0L1 .55L.55 1L0 .45L-.55 1L-1 .55L-.45 0z",
  "M0-1.3L.35-.42L1.25-.4L.55.17L.78 1.05L0 .54L-.78 1.05L-.55.17L-1.25-.4L-.35-.42z",
];

/** An element of HTML with properties and children (strings become text). */
function html(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** An element of SVG; `style` entries go through the CSSOM, which the policy allows. */
function svg(tag, attributes = {}, style = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  for (const [key, value] of Object.entries(style)) element.style.setProperty(key, value);
  element.append(...children);
  return element;
}

/** What this browser keeps between visits, where it lets us. */
function recall(name) {
  try { return localStorage.getItem(`pellucid-lab-${name}`); } catch { return null; }
}

function keep(name, value) {
  try { localStorage.setItem(`pellucid-lab-${name}`, value); } catch { /* then not */ }
}

/** The token of the printed address: kept for this server alone, and taken out of the address. */
function takeToken() {
  const hash = new URLSearchParams(location.hash.slice(1)), given = hash.get("token");
  if (given === null) return recall("token") ?? "";
  keep("token", given);
  hash.delete("token");
  history.replaceState(null, "", `${location.pathname}${hash.size ? `#${hash}` : ""}`);
  return given;
}

/** A number for reading: four digits, a true minus sign. */
function show(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return `(${value.map((v) => show(v, digits)).join(", ")})`;
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e7) text = String(value);
  else if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [head, tail] = value.toExponential(digits - 2).split("e");
    text = `${Number(head)}e${Number(tail)}`;
  } else text = String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

const isGroup = (colour) => Number.isInteger(colour) && colour >= 0;

/** The CSS colour of a mark's colour: a group, null (ink), or a word. */
function paint(colour) {
  if (isGroup(colour)) return `var(--g${colour % GROUPS})`;
  const words = { quiet: "var(--quiet)", accent: "var(--accent)", warn: "var(--bad)" };
  return words[colour] ?? "var(--ink)";
}

/** Red, green, blue of a CSS variable of the theme that is on now. */
function rgb(variable) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(variable).trim().slice(1);
  const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((i) => parseInt(full.slice(i, i + 2), 16));
}

const each = (value, i) => (Array.isArray(value) ? value[i] : value);
const numeric = (value) => typeof value === "number" && Number.isFinite(value);

// ---------------------------------------------------------------- axes

/** The smallest box around all coordinates of these marks, with some air. */
function boxOf(marks, logX, logY) {
  const xs = [], ys = [];
  const add = (list, values, log) => {
    for (const v of [values].flat()) if (numeric(v) && (!log || v > 0)) list.push(v);
  };
  for (const m of marks) {
    if (m.mark === "regions" || m.mark === "heat") {
      add(xs, m.box.slice(0, 2), logX);
      add(ys, m.box.slice(2), logY);
    } else if (m.mark === "segments") {
      add(xs, [m.x0, m.x1].flat(), logX);
      add(ys, [m.y0, m.y1].flat(), logY);
    } else if (m.mark === "bars") {
      const half = m.width / 2;
      add(xs, [m.x].flat().flatMap((x) => [x - half, x + half]), logX);
      add(ys, [m.height, m.base].flat(), logY);
    } else if (m.mark === "circles") {
      [m.x].flat().forEach((x, i) => {
        const r = each(m.r, i), y = each(m.y, i);
        add(xs, [x - r, x + r], logX);
        add(ys, [y - r, y + r], logY);
      });
    } else {
      add(xs, m.x, logX);
      add(ys, m.y, logY);
    }
  }
  return [...spread(xs, logX), ...spread(ys, logY)];
}

function spread(values, log) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return log ? [0.1, 10] : [0, 1];
  if (log) {
    const air = high > low ? (high / low) ** 0.05 : 2;
    return [low / air, high * air];
  }
  const air = high > low ? 0.06 * (high - low) : Math.max(Math.abs(low), 1) * 0.5;
  return [low - air, high + air];
}

/** Round places between low and high, about `count` of them. */
function ticks(low, high, count, log) {
  if (log) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    if (to - from >= 1) {
      const by = Math.max(1, Math.ceil((to - from + 1) / count));
      return range(from, to, by).map((k) => Number(`1e${k}`));
    }
  }
  const power = 10 ** Math.floor(Math.log10((high - low) / Math.max(count, 1)));
  const at = (step) => range(Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9), 1)
    .map((k) => Number((k * step).toPrecision(12)));
  const enough = Math.max(2, Math.round(0.8 * count));  // the roundest step that gives this many
  const step = [10, 5, 2, 1, 0.5].find((m) => at(m * power).length >= enough) ?? 0.2;
  return at(step * power);
}

function range(from, to, by) {
  const all = [];
  for (let k = from; k <= to && all.length < 200; k += by) all.push(k);
  return all;
}

/** From data units to pixels and back, along one axis. */
function axis(low, high, from, to, log) {
  const f = log ? (v) => Math.log10(Math.max(v, 1e-300)) : (v) => v;
  const a = f(low), b = f(high);
  const scale = (v) => from + ((f(v) - a) / (b - a)) * (to - from);
  scale.invert = (p) => {
    const v = a + ((p - from) / (to - from)) * (b - a);
    return log ? 10 ** v : v;
  };
  return scale;
}

/** Scales and room of a plane of this size: pixels for labels, the rest for the box. */
function planeOf(panel, marks, box, width, height) {
  const [left, right, bottom, top] = box;
  const area = { x: 12, y: panel.y ? 26 : 8 }, few = (room) => Math.max(2, Math.min(8, room));
  area.height = height - area.y - (panel.x ? 38 : 24);
  let ticksY = panel.bare ? [] : ticks(bottom, top, few(area.height / 50), panel.log_y);
  if (panel.y === "class") ticksY = ticksY.filter(Number.isInteger);  // there is no class ½
  area.x += 6.8 * Math.max(...ticksY.map((v) => show(v).length), 0);
  area.width = width - area.x - 12;
  if (panel.equal) {  // a unit is as long on both axes
    const unit = Math.max((right - left) / area.width, (top - bottom) / area.height);
    const [w, h] = [(right - left) / unit, (top - bottom) / unit];
    Object.assign(area, { x: area.x + (area.width - w) / 2, width: w, y: area.y, height: h });
  }
  let ticksX = panel.bare ? [] : ticks(left, right, few(area.width / 70), panel.log_x);
  if (wholeX(marks) || panel.x === "class") {
    const whole = ticksX.filter(Number.isInteger);
    if (whole.length > 1) ticksX = whole;
  }
  const x = axis(left, right, area.x, area.x + area.width, panel.log_x);
  const y = axis(bottom, top, area.y + area.height, area.y, panel.log_y);
  return { x, y, area, ticksX, ticksY, width };
}

/** Whether the marks stand at whole numbers only, as steps, degrees and components do. */
function wholeX(marks) {
  const upright = marks.filter((m) => ["points", "line", "bars"].includes(m.mark));
  return upright.length > 0 && upright.every((m) => [m.x].flat().every((v) => v === null
    || Number.isInteger(v)));
}

const labelOf = (m) => (typeof m.label === "string" ? m.label : "");

/** What a panel draws and a formula may name: marks, nodes and edges of a graph, columns. */
function thingsOf(panel) {
  if (panel.kind === "table") return panel.columns.map((label) => ({ mark: "column", label }));
  if (panel.kind === "plane") {
    return panel.marks.filter((m) => labelOf(m) && m.mark !== "text" && isThere(m));
  }
  const nodes = panel.nodes.map((node) => ({ ...node, mark: "node", label: nameOf(node),
    colour: node.lit ? "accent" : node.colour ?? undefined }));
  const edges = panel.edges.map((edge) => ({ ...edge, mark: "edge", label: edge.name ?? "",
    colour: edge.lit ? "accent" : edge.colour ?? "quiet" }));
  return [...nodes, ...edges].filter((thing) => thing.label);
}

/** Whether a mark has a place to be drawn at. */
const isThere = (m) => [m.x ?? m.x0 ?? m.y ?? m.box].flat().some(numeric);

/** The name of a node: the first line of what stands in it. */
const nameOf = (node) => String(node.label ?? "").split("\n")[0];

let planes = 0;  // each has a name for its clipping

/** Draw a plane into `root` (an svg element); returns the scales for the mouse. */
function drawPlane(root, panel, marks, box, width, height) {
  const plane = planeOf(panel, marks, box, width, height), { area } = plane;
  const end = area.y + area.height + (panel.x ? 38 : 24);
  if (!root.id) root.id = `plane-${planes += 1}`;
  root.setAttribute("viewBox", `0 0 ${width} ${end}`);
  root.setAttribute("width", width);
  root.setAttribute("height", end);
  const clip = (name, air) => svg("clipPath", { id: `${root.id}-${name}` }, {},
    svg("rect", { x: area.x - air, y: area.y - air, width: area.width + 2 * air,
      height: area.height + 2 * air }));
  const layer = (m) => svg("g", { class: "marks", "data-label": labelOf(m),
    "clip-path": `url(#${root.id}-${m.mark === "points" ? "wide" : "exact"})` }, {},
  ...(MARKS[m.mark]?.(m, plane) ?? []));
  const isUnder = (m) => ["regions", "heat", "area"].includes(m.mark);
  root.replaceChildren(svg("defs", {}, {}, clip("exact", 0), clip("wide", 7)),
    ...drawAxes(panel, plane), ...marks.filter(isUnder).map(layer),
    ...(panel.bare ? [] : [svg("path", { class: "frame",
      d: `M${area.x} ${area.y}v${area.height}h${area.width}` })]),
    ...marks.filter((m) => !isUnder(m)).map(layer));
  return plane;
}

function drawAxes(panel, { x, y, area, ticksX, ticksY, width }) {
  const floor = area.y + area.height, right = area.x + area.width, made = [];
  for (const v of ticksX) {
    made.push(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: area.y, y2: floor }));
    const at = Math.min(x(v), width - 3.8 * show(v).length);  // the last one stays inside
    made.push(svg("text", { x: at, y: floor + 16, "text-anchor": "middle" }, {}, show(v)));
  }
  for (const v of ticksY) {
    made.push(svg("line", { class: "grid", x1: area.x, x2: right, y1: y(v), y2: y(v) }));
    made.push(svg("text", { x: area.x - 6, y: y(v) + 4, "text-anchor": "end" }, {}, show(v)));
  }
  const middle = { x: area.x + area.width / 2, y: floor + 33, "text-anchor": "middle" };
  if (panel.x) made.push(svg("text", middle, {}, panel.x));
  if (panel.y) made.push(svg("text", { x: Math.max(4, area.x - 24), y: 13 }, {}, panel.y));
  return made;
}

// ---------------------------------------------------------------- panels of a frame

/** The panels of a frame: those of the run, with this step's marks on top. */
function panelsOf(trace, frame) {
  const panels = new Map((trace.data?.panels ?? []).map((panel) => [panel.name, panel]));
  for (const now of frame.state?.panels ?? []) {
    const base = panels.get(now.name);
    if (base?.kind === "plane" && now.kind === "plane") {
      const given = Object.entries(now).filter(([, v]) => v !== "" && v !== null && v !== false);
      panels.set(now.name, { ...base, ...Object.fromEntries(given),
        marks: [...base.marks, ...now.marks] });
    } else panels.set(now.name, now);
  }
  return [...panels.values()];
}

/** Boxes of panels that name none: all frames together, so that axes stay where they are. */
function boxesOf(trace) {
  const marks = new Map(), logs = new Map();
  const add = (panel) => {
    if (panel.kind !== "plane") return;
    marks.set(panel.name, [...(marks.get(panel.name) ?? []), ...panel.marks]);
    const old = logs.get(panel.name) ?? [false, false];
    logs.set(panel.name, [old[0] || panel.log_x, old[1] || panel.log_y]);
  };
  (trace.data?.panels ?? []).forEach(add);
  trace.frames.forEach((frame) => (frame.state?.panels ?? []).forEach(add));
  return new Map([...marks].map(([name, all]) => [name, boxOf(all, ...logs.get(name))]));
}

// ---------------------------------------------------------------- marks

function drawPoints(m, { x, y }) {
  const made = [];
  m.x.forEach((value, i) => {
    if (!numeric(value) || !numeric(m.y[i])) return;
    const size = 4.2 * (each(m.size, i) ?? 1);
    const group = each(m.group, i), faint = each(m.faint, i);
    const at = `translate(${x(value).toFixed(2)} ${y(m.y[i]).toFixed(2)})`;
    const shape = svg("path", { d: UNIT[isGroup(group) ? group % GROUPS : 0],
      transform: `${at} scale(${size})`, "vector-effect": "non-scaling-stroke" });
    const colour = paint(group);
    shape.style.fill = faint ? "var(--card)" : colour;
    shape.style.stroke = faint ? colour : "var(--card)";
    shape.style.strokeWidth = faint ? "1.4px" : "1px";
    if (faint) shape.style.opacity = 0.75;
    if (m.data) { shape.classList.add("row"); shape.dataset.row = i; }
    made.push(shape);
    if (each(m.ring, i)) {
      made.push(svg("circle", { r: size + 4, transform: at },
        { fill: "none", stroke: "var(--ink)", "stroke-width": "1.6px" }));
    }
  });
  return made;
}

function stroked(m) {
  return { fill: "none", stroke: paint(m.colour), "stroke-width": `${m.width ?? 1.5}px`,
    "stroke-linejoin": "round", "stroke-linecap": "round",
    "stroke-dasharray": m.dashed ? "5 4" : "none", opacity: m.pale ? 0.4 : 1 };
}

function pathOf(xs, ys, { x, y }) {
  let d = "", pen = "M";
  xs.forEach((value, i) => {
    if (!numeric(value) || !numeric(ys[i])) { pen = "M"; return; }
    d += `${pen}${clip(x(value))} ${clip(y(ys[i]))}`;
    pen = "L";
  });
  return d;
}

// far outside the panel is far enough: browsers lose digits beyond that
const clip = (v) => Math.max(-1e5, Math.min(1e5, v)).toFixed(2);

function drawLine(m, place) {
  return [svg("path", { d: pathOf(m.x, m.y, place) }, stroked(m))];
}

function drawArea(m, place) {
  return [svg("path", { d: `${pathOf(m.x, m.y, place)}z` },
    { fill: paint(m.colour), opacity: m.opacity ?? 0.15 })];
}

function drawSegments(m, { x, y }) {
  const made = [];
  const n = Math.max(...[m.x0, m.y0, m.x1, m.y1].map((v) => (Array.isArray(v) ? v.length : 1)));
  for (let i = 0; i < n; i += 1) {
    const ends = [x(each(m.x0, i)), y(each(m.y0, i)), x(each(m.x1, i)), y(each(m.y1, i))];
    if (!ends.every(numeric)) continue;
    const [x1, y1, x2, y2] = ends.map((v) => Number(clip(v)));
    const style = { ...stroked({ ...m, colour: each(m.colour, i) }) };
    made.push(svg("path", { d: `M${x1} ${y1}L${x2} ${y2}` }, style));
    if (m.arrow) made.push(arrowHead(x1, y1, x2, y2, style.stroke, 4 + 1.6 * (m.width ?? 1)));
  }
  return made;
}

function arrowHead(x1, y1, x2, y2, colour, size) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const s = Math.min(size, length);  // a short arrow has a small head
  const [ux, uy] = length > 0 ? [(x2 - x1) / length, (y2 - y1) / length] : [0, 0];
  const [bx, by] = [x2 - s * ux, y2 - s * uy], half = 0.5 * s;
  return svg("path", { d: `M${x2} ${y2}L${bx - half * uy} ${by + half * ux}L${bx + half * uy} ${
    by - half * ux}z` }, { fill: colour });
}

function drawCircles(m, { x, y }) {
  const n = [m.x].flat().length;
  return range(0, n - 1, 1).map((i) => {
    const cx = each(m.x, i), cy = each(m.y, i), r = each(m.r, i), colour = each(m.colour, i);
    return svg("ellipse", { cx: x(cx), cy: y(cy), rx: Math.abs(x(cx + r) - x(cx)),
      ry: Math.abs(y(cy + r) - y(cy)) },
    { ...stroked({ ...m, colour }), fill: m.fill ? paint(colour) : "none",
      "fill-opacity": 0.18 });
  });
}

function drawBars(m, { x, y }) {
  const half = (m.width ?? 0.8) / 2;
  return [m.x].flat().flatMap((at, i) => {
    const height = each(m.height, i);
    if (!numeric(height)) return [];
    const [a, b] = [y(m.base ?? 0), y(height)];
    return [svg("rect", { x: x(at - half), width: Math.max(x(at + half) - x(at - half), 1),
      y: Math.min(a, b), height: Math.max(Math.abs(a - b), 0.5) },
    { fill: paint(each(m.colour, i)), opacity: 0.85 })];
  });
}

function drawText(m, { x, y, area }) {
  const all = [m.x].flat().map((at, i) => ({ words: String(each(m.label, i)), px: x(at),
    py: y(each(m.y, i)) }));
  const size = fitting(all), letter = 6.6 * size, placed = [];
  return all.map(({ words, px: at, py }, i) => {
    const lines = words.split("\n"), room = letter * Math.max(...lines.map((l) => l.length));
    const anchor = m.anchor ?? "middle";
    let px = at;
    const before = { start: 0, middle: 0.5, end: 1 }[anchor] ?? 0.5;  // pull it into the panel
    if (px >= area.x && px <= area.x + area.width) {
      px = Math.max(area.x + 2 + before * room, px);
      px = Math.min(area.x + area.width - 2 - (1 - before) * room, px);
    }
    const hit = (far) => placed.some(([a, b, w]) => Math.abs(a - px) < (w + room) / 2
      && Math.abs(b - py - far) < 11);
    const far = size < 1 ? 0 : [0, -12, 12, -24, 24].find((shift) => !hit(shift)) ?? 0;
    placed.push([px, py + far, room]);
    const node = svg("text", { class: "said", "text-anchor": anchor },
      { ...(m.colour === null || m.colour === undefined ? {} : { fill: paint(each(m.colour, i)) }),
        ...(size < 1 ? { "font-size": `${12 * size}px` } : {}) });
    lines.forEach((line, k) => node.append(svg("tspan", { x: px,
      y: py + far + 4 * size + 14 * (k - (lines.length - 1) / 2) }, {}, line)));
    return node;
  });
}

/** How much smaller words must be so that those on one level do not touch. */
function fitting(all) {
  const levels = Map.groupBy ? Map.groupBy(all, ({ py }) => Math.round(py)) : new Map();
  let size = 1;
  for (const level of levels.values()) {
    const sorted = [...level].sort((a, b) => a.px - b.px);
    sorted.slice(1).forEach((b, k) => {
      const a = sorted[k], gap = b.px - a.px;
      const needed = 3.3 * (a.words.length + b.words.length) + 4;
      if (gap > 12 && needed > gap) size = Math.min(size, gap / needed);
    });
  }
  return Math.max(size, 0.66);
}

function drawRule(m, { x, y, area }) {
  const upright = m.x !== null && m.x !== undefined;
  const at = upright ? x(m.x) : y(m.y);
  if (!numeric(at)) return [];
  const d = upright ? `M${at} ${area.y}v${area.height}` : `M${area.x} ${at}h${area.width}`;
  return [svg("path", { d }, stroked({ width: 1.3, ...m }))];
}

// ---------------------------------------------------------------- grids as small pictures

const pictures = new Map();  // a hundred frames of regions are painted once each

const drawRegions = (m, place) => [picture(m, place, paintRegions)];
const drawHeat = (m, place) => [picture(m, place, paintHeat)];

/** How many pixels a cell has on each side, and the colour at a place between cells. */
function paintRegions(m, levels) {
  const colours = range(0, GROUPS - 1, 1).map((k) => rgb(`--g${k}`));
  const smooth = m.rows * m.columns >= 400 && !boxy(levels, m);
  const find = smooth ? voter(levels, m) : (r, c) => cell(levels, m, r, c);
  return [smooth ? 5 : 1, (r, c) => [...colours[find(r, c) % GROUPS], 52]];
}

function paintHeat(m, levels) {
  const [low, high] = [rgb("--g0"), rgb(m.diverging ? "--g1" : "--accent")];  // as the classes
  return [1, (r, c) => {
    const share = cell(levels, m, r, c) / (DIGITS.length - 1);
    if (!m.diverging) return [...high, 8 + 160 * share];
    return [...(share < 0.5 ? low : high), 290 * Math.abs(share - 0.5)];
  }];
}

/** Whether the borders are those of boxes, as a tree draws them: most corners have long sides. */
function boxy(levels, m) {
  let corners = 0, sharp = 0;
  const at = (r, c) => cell(levels, m, r, c);
  for (let r = 0; r + 1 < m.rows; r += 1) {
    for (let c = 0; c + 1 < m.columns; c += 1) {
      const four = [[r, c], [r, c + 1], [r + 1, c], [r + 1, c + 1]];
      const odd = four.filter((p) => four.filter((q) => at(...q) === at(...p)).length === 1);
      if (odd.length !== 1) continue;
      const [[i, j]] = odd, up = i === r ? -1 : 1, side = j === c ? -1 : 1;
      corners += 1;
      sharp += [1, 2].every((k) => at(i + k * up, c) !== at(i + k * up, c + 1)
        && at(r, j + k * side) !== at(r + 1, j + k * side));
    }
  }
  return sharp > 0.5 * corners;
}

function cell(levels, m, r, c) {
  const clamp = (v, n) => Math.max(0, Math.min(n - 1, Math.floor(v)));
  return levels[clamp(r, m.rows) * m.columns + clamp(c, m.columns)];
}

/** A function that names the group with most weight around a place, so that borders are smooth. */
function voter(levels, m) {
  const at = (r, c) => cell(levels, m, r, c), reach = [-2, -1, 0, 1, 2];
  const inside = levels.map((level, k) => {  // nothing to weigh where all around is the same
    const r = Math.floor(k / m.columns), c = k % m.columns;
    return reach.every((i) => reach.every((j) => at(r + i, c + j) === level));
  });
  return (r, c) => {
    const r0 = Math.floor(r), c0 = Math.floor(c);
    if (inside[r0 * m.columns + c0]) return at(r, c);
    const weights = new Array(DIGITS.length).fill(0);
    for (const i of reach) {
      for (const j of reach) {
        const far = (r0 + i + 0.5 - r) ** 2 + (c0 + j + 0.5 - c) ** 2;
        weights[at(r0 + i, c0 + j)] += Math.exp(-far / 1.6);
      }
    }
    return weights.indexOf(Math.max(...weights));
  };
}

function picture(m, { x, y }, painter) {
  const key = `${m.mark}${m.rows}x${m.columns}${m.diverging}${rgb("--paper")}${m.cells}`;
  if (!pictures.has(key)) {
    if (pictures.size > 400) pictures.clear();
    const [times, pixel] = painter(m, [...m.cells].map((c) => DIGITS.indexOf(c)));
    const rows = m.rows * times, columns = m.columns * times;
    const canvas = html("canvas", { width: columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    for (let i = 0; i < rows; i += 1) {  // row 0 of the cells is at the bottom
      for (let j = 0; j < columns; j += 1) {
        image.data.set(pixel((rows - i - 0.5) / times, (j + 0.5) / times), 4 * (i * columns + j));
      }
    }
    context.putImageData(image, 0, 0);
    pictures.set(key, canvas.toDataURL());
  }
  const [left, right, bottom, top] = m.box;
  return svg("image", { href: pictures.get(key), x: x(left), y: y(top), width: x(right) - x(left),
    height: y(bottom) - y(top), preserveAspectRatio: "none" },
  { "image-rendering": m.mark === "heat" && m.rows * m.columns >= 900 ? "auto" : "pixelated" });
}

const MARKS = { points: drawPoints, line: drawLine, segments: drawSegments, area: drawArea,
  circles: drawCircles, bars: drawBars, text: drawText, rule: drawRule, regions: drawRegions,
  heat: drawHeat };

// ---------------------------------------------------------------- legend and tables

/** What the marks' labels mean, below the panel where no data lie. */
function legendOf(marks) {
  const list = html("ul", { className: "legend" }), seen = new Set();
  for (const m of marks) {
    if (m.mark === "heat") {
      const ramp = html("span", { className: "ramp" });
      const ends = m.diverging ? ["var(--g0)", "transparent", "var(--g1)"]
        : ["transparent", "var(--accent)"];
      ramp.style.background = `linear-gradient(90deg, ${ends.join(", ")})`;
      const item = html("li", {}, ...(labelOf(m) ? [html("span", {}, m.label)] : []),
        show(m.low, 3), ramp, show(m.high, 3));
      if (labelOf(m)) item.dataset.label = m.label;
      list.append(item);
      continue;
    }
    if (!m.label || m.mark === "text" || seen.has(m.label)) continue;
    if (m.mark === "points" && [m.x].flat().length === 0) continue;  // nothing of it is there yet
    seen.add(m.label);
    const item = html("li", {}, swatch(m), m.label);
    item.dataset.label = m.label;
    list.append(item);
  }
  return list;
}

function swatch(m) {
  const root = svg("svg", { width: 22, height: 14, "aria-hidden": "true" });
  const at = { x: (v) => v, y: (v) => v, area: { x: 0, y: 0, width: 22, height: 14 } };
  const colour = Array.isArray(m.colour) ? m.colour[0] : m.colour;
  if (m.mark === "points") {
    const groups = [...new Set([m.group].flat())].slice(0, 3).sort();
    const faint = Array.isArray(m.faint) ? m.faint.every(Boolean) : m.faint;
    const ring = Array.isArray(m.ring) ? m.ring.every(Boolean) : m.ring;
    const gap = ring ? 17 : 13;
    root.setAttribute("width", 9 + gap * groups.length);
    root.append(...drawPoints({ x: groups.map((_, k) => 11 + gap * k), y: groups.map(() => 7),
      group: groups, faint, ring, size: ring ? 0.6 : 1 }, at));
  } else if (m.mark === "node" || m.mark === "column") {
    const colour = paint(m.colour ?? "quiet"), wide = m.mark === "node" ? 18 : 9;
    root.append(svg("rect", { x: 11 - wide / 2, y: 1.5, width: wide, height: 11,
      rx: m.mark === "node" ? 3 + 3 * Boolean(m.round) : 0 },
    { fill: m.mark === "node" ? "var(--card)" : "var(--accent-soft)", stroke: colour }));
  } else if (m.mark === "heat" || m.mark === "regions") {
    const pair = m.mark === "heat" && !m.diverging ? ["accent", "accent"] : [0, 1];
    root.append(...pair.map((colour, i) => svg("rect", { x: 3 + 8 * i, y: 2, width: 8, height: 10 },
      { fill: paint(colour), opacity: pair[0] === pair[1] ? 0.2 + 0.4 * i : 0.35 })));
  } else if (m.mark === "area" || m.mark === "bars") {
    root.append(svg("rect", { x: 3, y: 2, width: 16, height: 10, rx: 2 },
      { fill: paint(colour), opacity: m.opacity ? Math.max(m.opacity, 0.25) : 0.85 }));
  } else if (m.mark === "circles") {
    root.append(svg("circle", { cx: 11, cy: 7, r: 5.5 }, stroked({ ...m, colour })));
  } else {
    root.append(...drawSegments({ ...m, colour, x0: 1, y0: 7, x1: 21, y1: 7,
      width: Math.min(m.width ?? 1.5, 3) }, at));
  }
  return root;
}

function drawTable(panel) {
  const lit = new Set(panel.lit.map(([i, j]) => `${i},${j}`)), litRows = new Set(panel.lit_rows);
  const isNumber = panel.columns.map((_, j) => panel.rows.some((r) => typeof r[j] === "number"));
  const cellOf = (tag, value, j) => html(tag, { className: isNumber[j] ? "num"
    : String(value).length > 24 ? "long" : "" }, show(value));
  const head = html("tr", {}, ...panel.columns.map((name, j) => cellOf("th", name, j)));
  const body = panel.rows.map((row, i) => {
    const line = html("tr", {}, ...row.map((value, j) => {
      const made = cellOf("td", value, j);
      made.classList.toggle("lit", lit.has(`${i},${j}`));
      return made;
    }));
    line.classList.toggle("lit", litRows.has(i));
    return line;
  });
  const columns = panel.columns.map((name) => html("col", { "data-label": name }));
  return html("table", {}, html("colgroup", {}, ...columns), html("thead", {}, head),
    html("tbody", {}, ...body));
}
