// The rows of a page, in the reader's hands: move, draw, erase, load, undo. What changes is sent to
// Python; until its answer comes the points are shown where the reader put them.

const MOST_ROWS = 400, MOST_FILE = 20e6, NEAR = 16;  // pixels
const TOOLS = ["move", "draw", "erase"];
const SLIP = 3;  // pixels that a click may move
const HELD_OUT = 0.3;  // share of the rows that are drawn after Clear, where a page holds some out
const tool = { name: "move", group: 0, drag: null, from: null, fresh: false, past: [],
  refill: null, handle: null };

function makeTools() {
  const host = $("tools"), button = (words, act, more = {}) => {
    const made = html("button", { type: "button", ...more }, words);
    made.addEventListener("click", act);
    return made;
  };
  const note = html("span", { id: "rows-note", className: "quiet", role: "status" });
  const sample = button("New sample", newSample, { id: "new-sample" });
  host.hidden = false;
  if (lab.page.kind === "none") {
    host.append(html("span", { className: "quiet" }, "Data"), sample, note);
    return;
  }
  const modes = TOOLS.map((name) => button(
    name[0].toUpperCase() + name.slice(1), () => useTool(name), { id: `tool-${name}` }));
  const group = html("select", { ariaLabel: "Class of new points" },
    ...range(0, 3, 1).map((k) => html("option", { value: String(k) }, `class ${k}`)));
  group.addEventListener("change", () => { tool.group = Number(group.value); useTool("draw"); });
  const file = html("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", hidden: true });
  file.addEventListener("change", () => {
    if (file.files[0]) loadFile(file.files[0]);
    file.value = "";
  });
  host.append(html("span", { className: "quiet" }, "Data"), ...modes,
    ...(lab.page.kind === "classes" ? [group] : []),
    button("Undo", undo, { id: "undo" }),
    button("Clear", clear, { id: "clear" }), sample,
    button("Load CSV", () => file.click()), file, html("span", { id: "columns" }), rowsAsText(),
    note);
  useTool("move");
}

function clear() {
  const data = rows();
  edit({ ...data, X: [], y: data.y && [], held_out: data.held_out && [] });
  tool.fresh = true;  // all rows are drawn from here
}

function newSample() {
  state.seed = (state.seed + 1) % 2 ** 32;
  state.data = null;
  forgetRows();
  $("rows-note").textContent = `Seed ${state.seed}.`;
  renew("keep");
}

function useTool(name) {
  tool.name = name;
  for (const mode of TOOLS) {
    $(`tool-${mode}`).setAttribute("aria-pressed", String(mode === name));
  }
  if (state.trace) showFrame();
}

/** The rows now: the reader's, or those of the trace. */
function rows() {
  if (state.data) return state.data;
  const { X = [], y = null, names = [] } = state.trace?.data ?? {};
  const held_out = state.trace?.data?.held_out ?? null;
  return { X, y: lab.page.kind === "points" ? null : y, names, held_out };
}

/** Rows of which Python held some out: these stay held out, whatever is done to the others. */
function keepHeldOut(data, found) {
  const mask = found?.held_out;
  if (data && Array.isArray(mask) && mask.length === data.X.length) data.held_out ??= mask;
}

function forgetRows() {
  tool.past = [];
  tool.fresh = false;
  tool.drag = null;
  state.draft = null;
  state.axes = null;
  if ($("rows-note")) $("rows-note").textContent = "";
}

/** New rows: keep the old ones for undo, show the new, and ask for their trace. */
function edit(data, { remember = true, send = true, note = "", axes = true } = {}) {
  if (data.X.length > MOST_ROWS) { say(`A page holds at most ${MOST_ROWS} rows.`); return; }
  if (remember) tool.past = [...tool.past.slice(-49), state.data];
  state.data = data;
  state.draft = data;
  state.asIs = false;
  if (axes) holdAxes(); else state.axes = null;
  say("");
  const enough = data.X.length >= 2 && (lab.page.kind !== "classes" || new Set(data.y).size >= 2);
  const wanted = lab.page.kind === "classes" ? "points of at least two classes" : "two points";
  $("rows-note").textContent = [note, enough ? "" : `Draw ${wanted}.`].filter(Boolean).join(" ");
  tool.refill(true);
  if (state.trace) showFrame();
  if (!enough) stale(true);
  if (enough && send) renew(send === "coarse" ? "coarse" : "keep");
}

/** Axes stay where they are while the reader draws. */
function holdAxes() {
  if (state.axes) return;
  const figures = [...$("panels").children].filter((f) => f.panel && isData(f.panel));
  state.axes = new Map(figures.map((figure) => [figure.panel.name, figure.shown]));
}

function undo() {
  if (tool.past.length === 0) return;
  const before = tool.past.pop();
  if (!before || before.X.length > rows().X.length + 1) tool.fresh = false;
  if (before) { edit(before, { remember: false }); return; }
  state.data = state.draft = null;
  $("rows-note").textContent = "";
  renew("keep");
}

/** Where row i lies in its panel. */
const placeOf = (data, i) => (lab.page?.kind === "values" ? [data.X[i][0], data.y[i]] : data.X[i]);

function moved(data, i, x, y) {
  const X = data.X.slice(), target = data.y && data.y.slice();
  if (lab.page.kind === "values") { X[i] = [x]; target[i] = y; } else X[i] = [x, y];
  return { ...data, X, y: target };
}

function without(data, i) {
  const rest = (list) => list && list.filter((_, k) => k !== i);
  return { ...data, X: rest(data.X), y: rest(data.y), held_out: rest(data.held_out) };
}

// ---------------------------------------------------------------- in the panel

const isData = (panel) => SERVED && lab.page?.kind !== "none" && panel.kind === "plane"
  && panel.marks.some((m) => m.mark === "points" && m.data);

/** The marks of a panel, with the reader's rows in place of the trace's until Python answers. */
function withDraft(panel) {
  const { draft } = state;
  if (!draft || !isData(panel)) return panel.marks;
  const places = draft.X.map((_, i) => placeOf(draft, i));
  const same = draft.X.length === state.trace.data.X.length;
  return panel.marks.flatMap((m) => {
    if (m.mark === "points" && m.data) {
      return [{ ...m, x: places.map((p) => p[0]), y: places.map((p) => p[1]),
        group: lab.page.kind === "classes" ? draft.y : same ? m.group : null,
        ring: same ? m.ring : null, faint: same ? m.faint : null }];
    }
    return same ? [m] : [];
  });
}

function markTool(root, panel) {
  const on = isData(panel), cells = lab.page?.controls.some((c) => c.kind === "cells");
  root.classList.toggle("handle", Boolean(handleOf(panel)) && !on);
  root.classList.toggle("cells", SERVED && Boolean(cells) && panel.name === "world");
  for (const name of TOOLS) root.classList.toggle(name, on && tool.name === name);
}

// ---------------------------------------------------------------- settings that are touched

/** What a click on a node of a network does: unknown, yes, no, unknown. */
function turnEvidence(name) {
  if (!SERVED || !lab.page) return null;
  const control = lab.page.controls.find((c) => c.name.endsWith(`_${name}`) && shown(c)
    && c.options.includes("unknown"));
  if (!control) return null;
  const now = state.params[control.name], { options } = control;
  return { now, act: () => change(control, options[(options.indexOf(now) + 1) % options.length]) };
}

const CELLS = [".", "#", "+", "-"];  // free, a wall, the exits worth 1 and -1

/** A click on a cell of a grid world builds a wall there, then an exit; the start stays. A picture,
 * which has no start, has only dark cells and light ones. */
function turnCell(figure, x, y) {
  const control = lab.page?.controls.find((c) => c.kind === "cells");
  const rows_ = state.trace?.data.cells?.split("/");
  if (!SERVED || !control || !rows_ || figure.panel?.name !== "world") return;
  const i = rows_.length - Math.round(y), j = Math.round(x) - 1, old = rows_[i]?.[j];
  if (!old || old === "S") return;
  const signs = rows_.some((row) => row.includes("S")) ? CELLS : CELLS.slice(0, 2);
  const next = signs[(signs.indexOf(old) + 1) % signs.length];
  rows_[i] = rows_[i].slice(0, j) + next + rows_[i].slice(j + 1);
  change(control, rows_.join("/"));
}

/** The two settings that a place in this panel stands for, if there are any that are shown. */
function handleOf(panel) {
  const handle = SERVED ? lab.page?.handles.find((h) => h.panel === panel?.name) : null;
  const controls = handle && [handle.x, handle.y].map((name) =>
    lab.page.controls.find((c) => c.name === name && shown(c)));
  return controls?.every(Boolean) ? { ...handle, controls } : null;
}

/** Where a handle is now, in the panel's units. */
function handlePlace({ share, controls }, box) {
  const [a, b] = controls.map((c) => state.params[c.name]);
  if (!share) return [a, b];
  return [box[0] + a * (box[1] - box[0]), box[2] + b * (box[3] - box[2])];
}

function moveHandle({ share, controls }, box, place, how) {
  controls.forEach((control, k) => {
    const span = box[2 * k + 1] - box[2 * k];
    const value = share ? (place[k] - box[2 * k]) / span : place[k];
    const inside = Math.max(control.low, Math.min(control.high, value));
    state.params[control.name] = Number(inside.toPrecision(4));
  });
  state.asIs = false;
  showSettings();
  renew(how);
}

function listen(root, figure) {
  const place = (event) => {
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const inUnits = ([px, py]) => [figure.scales.x.invert(px), figure.scales.y.invert(py)]
    .map((v) => Number(v.toPrecision(6)));
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event), handle = handleOf(figure.panel);
    if (handle) {  // the one mark of a panel of rows, or any place of another panel
      const box = figure.panel.box ?? figure.shown, [x, y] = handlePlace(handle, box);
      const far = apart(at, [figure.scales.x(x), figure.scales.y(y)]);
      if (!isData(figure.panel) || (far < NEAR && tool.name === "move")) {
        event.preventDefault();
        root.setPointerCapture(event.pointerId);
        tool.handle = { ...handle, box };
        moveHandle(tool.handle, box, inUnits(at), "coarse");
        return;
      }
    }
    if (!root.classList.contains(tool.name)) { turnCell(figure, ...inUnits(at)); return; }
    event.preventDefault();
    if (tool.name === "draw") { add(...inUnits(at)); return; }
    const i = nearest(at, figure.scales);
    if (i < 0) return;
    if (tool.name === "erase") { edit(without(rows(), i)); return; }
    root.setPointerCapture(event.pointerId);
    tool.drag = i;
    tool.from = at;  // until the point has left its place
    tool.past = [...tool.past.slice(-49), state.data];
  });
  root.addEventListener("pointermove", (event) => {
    if (tool.handle && event.buttons) {
      moveHandle(tool.handle, tool.handle.box, inUnits(place(event)), "coarse");
    }
    if (tool.drag === null) return;
    if (event.buttons === 0) { drop(); return; }  // let go while no panel was listening
    const at = place(event);
    if (!root.classList.contains("move") || (tool.from && apart(at, tool.from) < SLIP)) return;
    tool.from = null;
    edit(moved(rows(), tool.drag, ...inUnits(at)), { remember: false, send: "coarse" });
  });
  const drop = () => {
    if (tool.handle) { tool.handle = null; renew("keep"); }
    if (tool.drag === null) return;
    tool.drag = null;
    if (tool.from) { tool.past.pop(); return; }  // a click, not a move
    edit(rows(), { remember: false });
  };
  root.addEventListener("pointerup", drop);
  root.addEventListener("pointercancel", drop);
}

const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

function nearest(at, { x, y }) {
  const data = rows();
  let best = -1, least = NEAR;
  data.X.forEach((_, i) => {
    const [a, b] = placeOf(data, i), far = apart([x(a), y(b)], at);
    if (far < least) { least = far; best = i; }
  });
  return best;
}

function add(x, y) {
  const data = rows();
  const { kind } = lab.page;
  const alike = data.X.map((_, i) => i)
    .filter((i) => kind !== "classes" || data.y[i] === tool.group);
  const held = alike.filter((i) => data.held_out?.[i]).length;
  const hold = tool.fresh && held + 1 <= HELD_OUT * (alike.length + 1);
  edit({ ...data, X: [...data.X, kind === "values" ? [x] : [x, y]],
    y: kind === "points" ? null : [...(data.y ?? []), kind === "values" ? y : tool.group],
    held_out: data.held_out && [...data.held_out, hold] });
}

// ---------------------------------------------------------------- as text, from a file

/** Rows that a link or a text holds, if they are what the page takes, else null. */
function checkedRows(given) {
  const kind = lab.page?.kind, width = kind === "values" ? 1 : 2;
  if (!given || kind === "none" || !Array.isArray(given.X)) return null;
  const { X } = given, n = X.length;
  if (n < 2 || n > MOST_ROWS) return null;
  const fits = (row) => Array.isArray(row) && row.length === width && row.every(numeric);
  if (!X.every(fits)) return null;
  const names = Array.isArray(given.names) && given.names.length === width
    ? given.names.map((name) => String(name).slice(0, 40)) : ["x1", "x2"].slice(0, width);
  const { held_out } = given;
  const split = Array.isArray(held_out) && held_out.length === n
    && held_out.every((v) => typeof v === "boolean");
  const more = split ? { held_out } : {};
  if (kind === "points") return { X, y: null, names, ...more };
  if (!Array.isArray(given.y) || given.y.length !== n || !given.y.every(numeric)) return null;
  return { X, y: given.y, names, ...more };
}

/** The same without a mouse: one row per line. */
function rowsAsText() {
  const area = html("textarea", { rows: 8, spellcheck: false, ariaLabel: "Rows, one per line" });
  const use = html("button", { type: "button" }, "Use these rows");
  const words = { classes: "x1, x2, class", values: "x, y", points: "x1, x2" }[lab.page.kind];
  const made = html("details", {}, html("summary", {}, "Rows as text"),
    html("p", { className: "quiet" }, `One row per line: ${words}.`), area, use);
  const fill = () => {
    const { X, y } = rows();
    area.value = X.map((row, i) => [...row, ...(y ? [y[i]] : [])].join(", ")).join("\n");
    typed = false;
  };
  let typed = false;
  area.addEventListener("input", () => { typed = true; });
  made.addEventListener("toggle", fill);
  // rows that the reader moves replace what was written; rows that only come back do not
  tool.refill = (edited) => {
    if (made.open && document.activeElement !== area && (edited || !typed)) fill();
  };
  use.addEventListener("click", () => {
    const lines = area.value.split("\n").filter((line) => line.trim());
    const table = lines.map((line) => line.split(/[,;\s]+/).filter(Boolean).map(Number));
    const width = lab.page.kind === "values" ? 1 : 2;
    const data = checkedRows({ X: table.map((row) => row.slice(0, width)),
      y: table.map((row) => row[width]), names: rows().names });
    if (data) { tool.fresh = false; edit(data, { axes: false }); }
    else say(`Every line must hold ${words}; 2 to ${MOST_ROWS} lines.`);
  });
  return made;
}

async function loadFile(file) {
  if (file.size > MOST_FILE) { say("A table may have at most 20 MB."); return; }
  try {
    const table = await post("/table", file, "text/csv");
    say("");
    offer(table, true);
  } catch (error) {
    say(error.message);
  }
}

/** Columns for the places of a page: numbers first; for a class a last column of few values. */
function guess(columns, kind) {
  const few = ({ values }) => {
    const { size } = new Set(values.filter(numeric));
    return size >= 2 && size <= 8;
  };
  const all = columns.map((_, i) => i), worded = (i) => columns[i].levels !== null;
  const target = kind !== "classes" ? -1
    : all.findLast((i) => worded(i) && few(columns[i])) ?? all.findLast((i) => few(columns[i]))
      ?? all.at(-1);
  const inputs = [...all.filter((i) => !worded(i)), ...all.filter(worded)];
  return [...inputs.filter((i) => i !== target).slice(0, 2), target];
}

/** Selects for the columns of a loaded table, and the rows of those that seem right. */
function offer(table, now) {
  if (lab.page.kind === "none") {
    $("rows-note").textContent = "This page has its own data; the table is for the other pages.";
    return;
  }
  const { kind } = lab.page, places = { classes: 3, values: 2, points: 2 }[kind];
  const { columns } = table;
  if (columns.length < places) {
    say(`This page needs a table of ${places} columns, this one has ${columns.length}.`);
    return;
  }
  const words = { classes: ["x1", "x2", "class"], values: ["x", "y"], points: ["x1", "x2"] }[kind];
  const picks = guess(columns, kind);
  const lists = words.map((word, k) => html("select", { ariaLabel: `Column for ${word}` },
    ...columns.map((c, i) => html("option", { value: String(i), selected: i === picks[k] },
      `${word}: ${c.name}`))));
  const use = () => take(table, lists.map((list) => Number(list.value)));
  lists.forEach((list) => list.addEventListener("change", use));
  const again = html("button", { type: "button", id: "use-table" }, "Use table");
  again.addEventListener("click", use);
  $("columns").replaceChildren(...lists, again);
  if (now) use();
}

function take({ columns, total, note }, picks) {
  const chosen = picks.map((i) => columns[i]), { kind } = lab.page;
  let kept = chosen[0].values.map((_, i) => i)
    .filter((i) => chosen.every((c) => numeric(c.values[i])));
  const whole = kept.length;
  if (whole > MOST_ROWS) {
    kept = range(0, MOST_ROWS - 1, 1).map((k) => kept[Math.floor((k * whole) / MOST_ROWS)]);
  }
  const width = kind === "values" ? 1 : 2, inputs = chosen.slice(0, width);
  tool.fresh = false;
  edit({ X: kept.map((i) => inputs.map((c) => c.values[i])),
    y: kind === "points" ? null : kept.map((i) => chosen[width].values[i]),
    names: inputs.map((c) => String(c.name).slice(0, 40)) },
  { note: `${kept.length} of ${total} rows are shown.${note ? ` ${note}.` : ""}`, axes: false });
}
