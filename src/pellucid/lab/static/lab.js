// The player: which trace, which step, what the reader may change. Algorithms stay in Python; this
// script asks for traces (from the server) or finds them in the page (a file), and shows frames.

const $ = (id) => document.getElementById(id);
const lab = JSON.parse($("lab").textContent);
const SERVED = lab.mode === "server";
const SPEEDS = [0.5, 1, 2, 4];
const token = SERVED ? takeToken() : "";
const state = {
  preset: 0, params: {}, seed: lab.seed ?? 0, data: null,  // what was asked for
  trace: null, step: 0, boxes: new Map(), wide: new Set(), timer: null,  // what is shown
  coarse: null, axes: null,  // the one frame that follows a finger, the axes that stay meanwhile
  pinned: null,  // a run to compare with
  guided: false, scene: 0, question: 0, asIs: false,  // the story; whether the preset is untouched
  running: false, again: null,
};

// ---------------------------------------------------------------- traces

function presetParams(i) {
  const defaults = Object.fromEntries(lab.page.controls.map((c) => [c.name, c.default]));
  return { ...defaults, ...(lab.page.presets[i]?.params ?? {}) };
}

/** Another preset: its settings, its data, its trace. */
function choose(i, step = 0) {
  state.preset = i;
  state.data = null;
  state.question = 0;
  state.asIs = true;
  forgetRows();
  if (lab.page) state.params = presetParams(i);
  showSettings();
  showPresets();
  return renew(step);
}

/** Get the trace of what is set now; `step` is where to look then ("keep": the same place). */
function renew(step = "keep") {
  if (SERVED) return run(step);
  const found = lab.traces.find((t) => t.preset === state.preset) ?? lab.traces[0];
  if (found) setTrace(found.trace, step, state.data);
  return Promise.resolve();
}

async function run(step) {
  if (state.running) { state.again = step; return; }  // the last wish is run when this one is done
  state.running = true;
  document.body.classList.toggle("busy", step !== "coarse");
  try {
    const { page, preset, params, seed, data } = { page: lab.page.name, ...state };
    const asked = { page, preset, params, seed, data };
    if (step === "coarse") asked.frame = state.step === lastStep() ? -1 : state.step;
    const trace = await post("/run", JSON.stringify(asked));
    say("");
    if (step === "coarse") follow(trace, data);
    else setTrace(trace, step, data);
  } catch (error) {
    say(error.message);
    stale(true);
    if (step !== "coarse" && state.coarse) {  // no whole run comes: back to the last one
      state.coarse = null;
      showFrame();
    }
  } finally {
    state.running = false;
    document.body.classList.remove("busy");
  }
  if (state.again !== null) {
    const next = state.again;
    state.again = null;
    await run(next);
  }
}

/** Whether formula and numbers are those of other rows or settings than the ones to be seen. */
function stale(on) {
  document.body.classList.toggle("stale", on);
}

/** The one frame that a finger is waiting for; the whole run comes when it lets go. */
function follow(trace, data) {
  if (data === state.data) state.draft = null;
  stale(false);
  state.coarse = trace;
  showFrame();
}

/** Ask the server; what it refuses comes back as one sentence. */
async function post(path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", body,
      headers: { "Content-Type": type, "X-Pellucid-Token": token } });
  } catch {
    throw new Error("The lab does not answer; is it still running?");
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok || found.error) {
    throw new Error(found.error ?? `The lab answered with status ${answer.status}.`);
  }
  return found;
}

function say(sentence) {
  $("error").textContent = sentence;
  $("error").hidden = !sentence;
}

/** Show a trace; `data` are the rows that it was asked for. */
function setTrace(trace, step, data) {
  const atEnd = state.trace !== null && state.step === state.trace.frames.length - 1;
  const last = trace.frames.length - 1;
  state.trace = trace;
  state.coarse = null;
  stale(state.again === null && data !== state.data);
  // unless the reader is already elsewhere
  if (state.again === null && data === state.data) state.draft = null;
  keepHeldOut(data, trace.data);
  state.boxes = boxesOf(trace);
  state.wide = wideOf(trace);
  state.drawn = drawsCurves(trace);
  if (step === "keep") state.step = atEnd ? last : Math.min(state.step, last);
  else if (step === "end") state.step = last;
  else state.step = Math.max(0, Math.min(step < 0 ? last + 1 + step : step, last));
  for (const id of ["formula", "numbers"]) $(id).style.minHeight = "";
  pause();
  showSettings();
  showWords();
  showFrame();
  showQuestion();
  tool.refill?.(false);
}

// ---------------------------------------------------------------- steps

const lastStep = () => (state.trace ? state.trace.frames.length - 1 : 0);

function go(step) {
  if (!state.trace) return;
  state.step = Math.max(0, Math.min(step, lastStep()));
  if (state.step === lastStep()) pause();
  showFrame();
}

function play() {
  if (!state.trace || lastStep() === 0) return;
  if (state.step === lastStep()) state.step = 0;
  const whole = Math.max(180, Math.min(900, 15000 / lastStep()));
  state.timer = setInterval(() => go(state.step + 1), whole / Number($("speed").value));
  $("play").textContent = "Pause";
  showFrame();
}

function pause() {
  clearInterval(state.timer);
  state.timer = null;
  $("play").textContent = "Play";
}

const toggle = () => (state.timer === null ? play() : pause());

function onKey(event) {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const radio = at.matches("input[type=radio]") && !/^( |Arrow.*)$/.test(event.key);
  if (!radio && event.key !== "Escape" && at.matches("input, select, textarea")) return;
  if (scrolls(at, event.key)) return;
  if (storyKey(event.key)) { event.preventDefault(); return; }
  const moves = { ArrowLeft: () => go(state.step - 1), ArrowRight: () => go(state.step + 1),
    Home: () => go(0), End: () => go(lastStep()) };
  const move = event.key === " " && !at.matches("button, summary, a") ? toggle : moves[event.key];
  if (!move) return;
  event.preventDefault();
  if (event.key !== " ") pause();
  move();
}

/** Whether a key moves a box that is wider or higher than what it shows. */
function scrolls(box, key) {
  if (!box.matches(".scroll, #panels")) return false;
  return key.startsWith("Arrow") ? box.scrollWidth > box.clientWidth
    : box.scrollHeight > box.clientHeight;
}

// ---------------------------------------------------------------- a frame

function showFrame() {
  const { step } = state, trace = state.coarse ?? state.trace, last = lastStep();
  const frame = state.coarse ? trace.frames[0] : trace.frames[step];
  const focused = document.activeElement;
  $("slider").max = last;
  $("slider").value = step;
  $("slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
  $("place").textContent = `${step} / ${last}`;
  $("back").disabled = step === 0;
  $("play").disabled = last === 0;
  $("step").disabled = step === last;
  if (focused?.matches("#back, #step, #play") && focused.disabled) $("slider").focus();
  const panels = panelsOf(trace, frame);
  const rows = Object.entries(frame.numbers ?? {});
  $("numbers").tBodies[0].replaceChildren(...rows.map(([name, value]) => html("tr", {},
    html("th", { scope: "row" }, name), html("td", { className: "num" }, show(value, 5)))));
  showFormula(frame, panels);
  showSource(frame);
  for (const id of ["formula", "numbers"]) steady($(id));
  showPanels(panels);
  if (!state.coarse) showCurve();
  showVerdict();
  if (state.timer === null && !state.coarse) {
    const numbers = rows.map(([name, value]) => `${name} ${show(value, 5)}`).join(", ");
    $("live").textContent = `Step ${step} of ${last}. ${frame.formula}. ${numbers}.`;
  }
}

/** The formula, its letters in the colour of their marks, and a key of those marks. */
function showFormula(frame, panels) {
  const host = $("formula"), used = new Map(), things = panels.flatMap(thingsOf);
  host.dataset.text = frame.formula;
  const dress = (node, symbol, sub, prime) => {
    const { name, found } = meantBy(symbol, sub, prime, things);
    if (!found.length) return node;
    const labels = [...new Set(found.map(labelOf))], said = labels.join(", ");
    if (!used.has(said)) used.set(said, { names: new Set(), labels, mark: found[0] });
    used.get(said).names.add(name);
    const colour = colourOf(found, sub, frame.formula.includes(`${symbol}₀`) ? 0 : 1);
    const isWord = node.nodeType === Node.TEXT_NODE;
    const dressed = isWord ? html("span", {}, node) : made("mrow", node);
    dressed.classList.add("symbol");
    dressed.dataset.label = labels.join("\n");
    const where = isWord ? "textDecorationColor" : "color";  // coloured words would be pale
    if (colour !== undefined) dressed.style[where] = paint(colour);
    light(dressed, labels);
    return dressed;
  };
  const lines = setFormula(frame.formula, dress);
  const key = [...used].map(([said, { names, labels, mark }]) => {
    const others = [...names].filter((name) => name !== said);
    const item = html("button", { type: "button", className: "key" },
      ...others.flatMap((name, i) => [i ? ", " : "", setRun(tokens(name))]), swatch(mark), said);
    light(item, labels);
    return item;
  });
  host.replaceChildren(...lines, html("div", { className: "keys", hidden: !key.length }, ...key));
  fitted(host);
}

/** On a phone a formula has a largest height: letters shrink a little, then the key of its symbols
 * goes, before a part is hidden. */
function fitted(host) {
  for (const size of ["", "14px", "13px", "12px"]) {
    host.style.fontSize = size;
    if (host.scrollHeight <= host.clientHeight + 1) return;
  }
  host.lastChild.hidden = true;
}

/** What a symbol or a word stands for, and its name: what is labelled so (a column of a table never
 * is, of words only a node of a graph), else what the page says: a label, or how labels begin. */
function meantBy(symbol, sub, prime, things) {
  const below = [...sub].map((c) => SUBS[PLAIN_SUBS.indexOf(c)] ?? "").join("");
  const names = [`${symbol}${prime}`, `${symbol}${below}`, `${symbol}${sub}`, symbol];
  const isWord = /^[A-Za-z]{2}/.test(symbol);
  const free = things.filter((m) => m.mark === "node" || !(isWord || m.mark === "column"));
  for (const name of names) {
    const found = free.filter((m) => m.label === name);
    if (found.length) return { name, found };
  }
  const told = lab.page?.symbols ?? {}, key = names.find((one) => told[one]);
  const found = [told[key] ?? []].flat().flatMap((label) => {
    const same = things.filter((m) => m.label === label);
    return same.length ? same : things.filter((m) => m.label.startsWith(label));
  });
  return { name: key === `${symbol}${sub}` ? `${symbol}${below}` : key, found };
}

/** The colour of what is meant; where there are several, that of the number below the symbol, which
 * counts from `first`. */
function colourOf(found, sub, first) {
  const colours = found.flatMap((m) => (m.mark === "points" ? m.group : m.colour));
  if (colours.every((c) => c === colours[0])) return colours[0];
  return /^\d+$/.test(sub) ? colours[Number(sub) - first] : undefined;
}

/** Who points at an element lights up what has these labels, and the symbols that mean it. */
function light(element, labels) {
  const on = (lit) => () => {
    document.body.classList.toggle("lighting", lit);
    for (const thing of document.querySelectorAll("[data-label]")) {
      const its = thing.dataset.label.split("\n");
      thing.classList.toggle("lit", lit && its.some((label) => labels.includes(label)));
    }
  };
  for (const name of ["pointerenter", "focus"]) element.addEventListener(name, on(true));
  for (const name of ["pointerleave", "blur"]) element.addEventListener(name, on(false));
}

/** The textbook's lines; those that this step runs are lit. */
function showSource(frame) {
  const { source } = lab.page ?? {}, host = $("source");
  host.hidden = !source;
  if (!source) return;
  const list = host.querySelector("ol");
  if (!list.children.length) {
    host.querySelector("summary").textContent = `The line that runs: textbook/${source.file}`;
    list.append(...source.text.split("\n").map((line) =>
      html("li", {}, html("code", {}, line || " "))));
  }
  const rule = source.lines.find(([begins]) => frame.formula.includes(begins));
  let first = null;
  [...list.children].forEach((item) => {
    const lit = Boolean(rule) && rule[1].some((part) => item.textContent.includes(part));
    item.classList.toggle("lit", lit);
    if (lit) { item.setAttribute("aria-current", "step"); first ??= item; }
    else item.removeAttribute("aria-current");
  });
  if (first) list.scrollTop = first.offsetTop - list.clientHeight / 3;
}

/** A box that has grown stays large, so that what is below does not jump. */
function steady(element) {
  const height = element.offsetHeight;
  if (height > (parseFloat(element.style.minHeight) || 0)) element.style.minHeight = `${height}px`;
}

/** Names of graphs that need the whole width in some frame. */
function wideOf(trace) {
  const all = [trace.data, ...trace.frames.map((frame) => frame.state)];
  const graphs = all.flatMap((part) => part?.panels ?? []).filter((p) => p.kind === "graph");
  return new Set(graphs.filter((p) => graphWidth(p) > 440).map((p) => p.name));
}

function showPanels(own) {
  const host = $("panels"), panels = compared(own);
  const beside = panels.filter((panel) => !state.wide.has(panel.name)).length;
  host.className = ["", "", "two", "three"][Math.min(beside, 3)];
  const names = panels.map((panel) => `${panel.kind} ${panel.name}`);
  const there = [...host.children].map((figure) => figure.dataset.name);
  if (names.join("\n") !== there.join("\n")) host.replaceChildren(...panels.map(makePanel));
  panels.forEach((panel, i) => {
    const wide = state.wide.has(panel.name);
    host.children[i].classList.toggle("wide", wide);
    fillPanel(host.children[i], panel, wide ? 1 : i, wide ? 1 : beside);
  });
  reachable(host);
}

/** On a phone the panels are a strip that scrolls: by key too. */
function reachable(strip) {
  const given = { tabindex: "0", role: "region", "aria-label": "Pictures" };
  const wider = strip.scrollWidth > strip.clientWidth;
  for (const [name, value] of Object.entries(given)) {
    if (wider) strip.setAttribute(name, value); else strip.removeAttribute(name);
  }
}

/** With a run to compare: the main panel of both, on one timeline. */
function compared(own) {
  const { pinned } = state;
  if (!pinned) return own;
  const frame = pinned.trace.frames[Math.min(state.step, pinned.trace.frames.length - 1)];
  const other = panelsOf(pinned.trace, frame)
    .find((panel) => panel.name === own[0].name && panel.kind === own[0].kind);
  if (!other) return own;
  const said = (words, objective) => `${words}: ${show(objective)}`;
  const now = (state.coarse ?? state.trace).frames[state.coarse ? 0 : state.step].objective;
  return [{ ...own[0], title: said("Now", now) }, { ...other, name: `${other.name} (pinned)`,
    box: other.box ?? boxesOf(pinned.trace).get(other.name),
    title: said(`Compared: ${pinned.name}`, frame.objective), marks: other.marks.map((m) =>
      ({ ...m, data: false })) }];
}

function makePanel(panel) {
  const inside = html("div", { className: "scroll" },
    ...(panel.kind === "table" ? [] : [svg("svg", { role: "img" })]));
  if (panel.kind !== "plane") {  // may scroll: by key too
    inside.tabIndex = 0;
    inside.setAttribute("role", "region");
  }
  const figure = html("figure", { className: "panel" }, html("h2"), inside);
  figure.dataset.name = `${panel.kind} ${panel.name}`;
  if (panel.kind === "plane") {
    figure.append(html("ul", { className: "legend" }));
    listen(inside.firstChild, figure);
  }
  return figure;
}

function fillPanel(figure, panel, i, n) {
  const heading = figure.querySelector("h2"), inside = figure.querySelector(".scroll");
  heading.textContent = panel.title;
  heading.hidden = !panel.title;
  const width = Math.max(figure.clientWidth - 27, 200);
  if (panel.kind === "table") { fillTable(inside, panel); return; }
  const root = inside.firstChild;
  const box = panel.kind === "plane"
    ? state.axes?.get(panel.name) ?? panel.box ?? state.boxes.get(panel.name) : null;
  let height = panelHeight(width, i, n);
  if (panel.equal && i === 0) {  // no taller than its units need
    const needed = 64 + ((width - 44) * (box[3] - box[2])) / (box[1] - box[0]);
    height = Math.min(height, Math.max(200, needed));
  }
  root.setAttribute("aria-label", panel.alt || panel.title || panel.name);
  if (panel.kind === "graph") {
    inside.setAttribute("aria-label", panel.title || panel.name);
    drawGraph(root, panel, width, height);
    return;
  }
  const marks = withDraft(panel);
  figure.scales = drawPlane(root, panel, marks, box, width, height);
  figure.panel = panel;
  figure.shown = box;
  const legend = legendOf(marks);
  for (const item of legend.querySelectorAll("[data-label]")) light(item, [item.dataset.label]);
  figure.querySelector(".legend").replaceWith(legend);
  markTool(root, panel);
}

/** A table a little too wide gets smaller letters; its lit row is scrolled into view. */
function fillTable(inside, panel) {
  const { scrollTop } = inside, table = drawTable(panel);
  inside.setAttribute("aria-label", panel.alt || panel.title || "table");
  inside.replaceChildren(table);
  const share = inside.clientWidth / table.offsetWidth;
  if (share < 1) table.style.fontSize = `${Math.max(0.88 * share, 0.72)}rem`;
  inside.scrollTop = scrollTop;
  const lit = table.querySelector("tbody .lit");
  const bottom = (element) => element.getBoundingClientRect().bottom;
  if (lit && bottom(lit) > bottom(inside)) inside.scrollTop += bottom(lit) - bottom(inside) + 8;
}

/** The first panel is large; beside it one of the same height, or two of half of it. */
function panelHeight(width, i, n) {
  const stacked = window.innerWidth <= 704;
  if (stacked) return Math.min(Math.max(0.8 * width, 230), 460);
  if (n === 1) return Math.min(0.66 * width, 560);
  if (n === 2) return Math.min(Math.max(0.5 * ($("panels").clientWidth - 60), 300), 460);
  const whole = Math.min(Math.max(0.62 * $("panels").clientWidth, 380), 560);
  return i === 0 ? whole : (whole - 98) / 2;
}

/** The objective up to this step; what is to come is pale. */
function showCurve() {
  const host = $("curve"), { frames } = state.trace;
  const steps = frames.map((f) => f.step);
  const x = steps.every((v, i) => i === 0 || v > steps[i - 1]) ? steps : frames.map((_, i) => i);
  const train = frames.map((f) => f.objective), held = frames.map((f) => f.held_out);
  const all = [...train, ...held].filter(numeric), both = held.some(numeric);
  host.hidden = frames.length < 2 || all.length < 2 || state.drawn;
  if (host.hidden) return;
  if (!host.firstChild) {
    host.append(html("h2"), svg("svg", { role: "img" }), html("ul"));
    host.children[1].addEventListener("click", jump);
  }
  const low = Math.min(...all), high = Math.max(...all), log = low > 0 && high > 50 * low;
  const [ours, others] = state.trace.data?.curves ?? ["training rows", "held-out rows"];
  const marks = curveMarks(x, train, "accent", both ? ours : "", false);
  if (both) marks.push(...curveMarks(x, held, 1, others, true));
  const box = boxOf([{ mark: "points", x, y: all }], false, log);
  const air = 0.015 * (x.at(-1) - x[0]);
  [box[0], box[1]] = [x[0] - air, x.at(-1) + air];
  const name = `${state.trace.objective}${log ? " (log scale)" : ""}`;
  host.children[0].textContent = name;
  host.children[1].setAttribute("aria-label", `${name} by step, now ${show(train[state.step])}`);
  host.scales = drawPlane(host.children[1], { name: "objective", x: "step", y: "", log_y: log },
    marks, box, Math.max(host.clientWidth - 27, 200), 170);
  host.scales.steps = x;
  host.children[2].replaceWith(legendOf(marks));
  host.children[2].hidden = !both;
}

/** Whether a panel draws the curves of the objective already: they are not shown twice. */
function drawsCurves(trace) {
  const { frames } = trace, last = frames.at(-1);
  const lines = panelsOf(trace, last).flatMap((panel) => panel.marks ?? [])
    .filter((m) => m.mark === "line" && m.y.length > 1);
  const close = (a, b) => numeric(a) && numeric(b) && Math.abs(a - b) <= 1e-4 * (1 + Math.abs(b));
  const isDrawn = (values) => lines.some(({ y }) => y.length <= values.length
    && y.length >= values.length - 1 && y.every((v, i) => close(v, values.at(i - y.length))));
  const series = ["objective", "held_out"].map((key) => frames.map((f) => f[key]));
  return series.every((values) => !values.some(numeric) || isDrawn(values))
    && series[0].some(numeric);
}

function curveMarks(x, values, colour, label, dashed) {
  const { step } = state, part = (keep) => values.map((v, i) => (keep(i) ? v : null));
  return [
    ...(state.guided ? [] : [{ mark: "line", x, y: part((i) => i >= step), width: 1.6,
      colour: "quiet", pale: true, dashed }]),  // a story does not tell the end first
    { mark: "line", x, y: part((i) => i <= step), width: 2, colour, dashed, label },
    { mark: "points", x: [x[step]], y: [values[step]], group: colour },
  ];
}

function jump(event) {
  const { x, steps } = $("curve").scales;
  const at = x.invert(event.clientX - event.currentTarget.getBoundingClientRect().left);
  const far = steps.map((s) => Math.abs(s - at));
  pause();
  go(far.indexOf(Math.min(...far)));
}

// ---------------------------------------------------------------- words

/** The verdict at the end of a run. */
function showVerdict() {
  if (!state.trace) return;
  $("verdict").textContent = state.trace.verdict;
  $("verdict").hidden = !state.trace.verdict || state.step < lastStep() || Boolean(state.coarse);
}

/** Which preset is set, and what it says. */
function showPresets() {
  const preset = lab.page?.presets[state.preset];
  document.body.classList.toggle("broken-run", Boolean(preset?.broken));
  $("presets").querySelector(".words").textContent = preset?.words ?? "";
  [...$("presets").querySelectorAll("button")].forEach((button, i) =>
    button.setAttribute("aria-pressed", String(i === state.preset)));
}

function showWords() {
  const { trace } = state;
  if (!lab.page) {
    $("title").textContent = trace.algorithm;
    $("summary").textContent = trace.title;
  }
  showPresets();
  $("code").hidden = $("copy-python").hidden = !trace.code;
  $("code").querySelector("pre").textContent = trace.code;
  const card = Object.entries(trace.card ?? {}).filter(([, v]) => v && Object.keys(v).length);
  $("card").hidden = card.length === 0;
  $("card").querySelector("dl").replaceChildren(...card.flatMap(([name, value]) => [
    html("dt", {}, name[0].toUpperCase() + name.slice(1)),
    ...described(value).map((line) => html("dd", {}, line))]));
}

function described(value) {
  if (Array.isArray(value)) return value.map((v) => show(v));
  if (typeof value !== "object") return [show(value)];
  return [Object.entries(value).map(([k, v]) => `${k} = ${show(v)}`).join(", ")];
}

// ---------------------------------------------------------------- settings

function shown(control) {
  return Object.entries(control.only ?? {}).every(([name, values]) =>
    values.includes(state.params[name]));
}

/** Settings to change (server), or the settings as they are and how to change them (file). */
function showSettings() {
  const host = $("controls");
  if (!lab.page) return;
  host.hidden = SERVED && lab.page.controls.length === 0;
  const controls = lab.page.controls.filter((c) => shown(c)
    && (c.kind !== "choice" || c.options.length > 1));
  if (!SERVED) {
    const rows = controls.map((c) => html("tr", {}, html("th", { scope: "row" }, c.label),
      html("td", { className: "num" }, show(state.params[c.name]))));
    host.replaceChildren(html("table", { id: "settings" }, html("tbody", {}, ...rows)),
      html("p", { className: "quiet" }, "Run ", html("code", {}, `pellucid lab ${lab.page.name}`),
        " to change the data and the settings."));
    return;
  }
  const names = controls.map((c) => c.name).join();
  if (host.dataset.names === names) { host.update.forEach((update) => update()); return; }
  host.dataset.names = names;
  host.update = [];
  const { id } = document.activeElement;
  host.replaceChildren(...controls.map((c) => makeControl(c, host.update)));
  [...host.querySelectorAll("input, select")].find((made) => id && made.id === id)?.focus();
}

function change(control, value) {
  state.params[control.name] = value;
  state.asIs = false;
  pause();
  showSettings();
  renew(control.kind === "choice" ? 0 : "keep");
}

function makeControl(control, updates) {
  const id = `set-${control.name}`, now = () => state.params[control.name];
  const label = html("label", { htmlFor: id }, control.label);
  if (control.kind === "switch") {
    const box = html("input", { type: "checkbox", id });
    box.addEventListener("change", () => change(control, box.checked));
    updates.push(() => { box.checked = now(); });
    updates.at(-1)();
    return html("div", { className: "control" }, label, box);
  }
  if (control.kind === "cells") {
    const line = html("input", { type: "text", id, spellcheck: false, maxLength: 80 });
    line.addEventListener("change", () => change(control, line.value.trim()));
    updates.push(() => { line.value = now() || state.trace?.data.cells || ""; });
    updates.at(-1)();
    return html("div", { className: "control wide" }, label, line);
  }
  if (control.kind === "choice") {
    const list = html("select", { id }, ...control.options.map((option, i) =>
      html("option", { value: String(i) }, show(option))));
    list.addEventListener("change", () => change(control, control.options[Number(list.value)]));
    updates.push(() => { list.value = String(control.options.indexOf(now())); });
    updates.at(-1)();
    return html("div", { className: "control wide" }, label, list);
  }
  const scale = sliderScale(control), output = html("output", { htmlFor: id });
  const slider = html("input", { type: "range", id, min: String(scale.low), max: String(scale.high),
    step: String(scale.step) });
  const tell = (value) => {
    output.textContent = show(value);
    slider.setAttribute("aria-valuetext", show(value));
  };
  slider.addEventListener("input", () => tell(scale.value(Number(slider.value))));
  slider.addEventListener("change", () => change(control, scale.value(Number(slider.value))));
  updates.push(() => { slider.value = String(scale.place(now())); tell(now()); });
  updates.at(-1)();
  return html("div", { className: "control" }, label, output, slider);
}

/** Places of a slider and the values they stand for; by factors where `log`. */
function sliderScale({ kind, low, high, step, log }) {
  const whole = kind === "integer";
  const inside = (v) => Math.max(low ?? -Infinity, Math.min(high ?? Infinity, v));
  if (log && low > 0) {
    return { low: Math.log10(low), high: Math.log10(high), step: "any",
      place: (v) => Math.log10(v),
      value: (p) => inside(whole ? Math.round(10 ** p) : Number((10 ** p).toPrecision(3))) };
  }
  const by = step ?? (whole ? 1 : ((high ?? 1) - (low ?? 0)) / 200);
  return { low: low ?? 0, high: high ?? 1, step: by, place: (v) => v,
    value: (p) => inside(whole ? Math.round(p) : Number(p.toPrecision(10))) };
}

// ---------------------------------------------------------------- copies and links

async function copy(text, what, more = "") {
  try {
    await navigator.clipboard.writeText(text);
    $("fallback").hidden = true;
    $("copied").textContent = `${what} copied.${more}`;
  } catch {  // not allowed to: the reader copies the selected text
    $("fallback").value = text;
    $("fallback").hidden = false;
    $("fallback").select();
    $("copied").textContent = "Press Ctrl+C to copy.";
  }
}

/** What is shown, as a link without server, port or token: the same page in any copy of the lab. */
function link() {
  const hash = new URLSearchParams();
  if (state.guided) hash.set("story", state.scene + 1);
  else {
    if (lab.page) hash.set("preset", lab.page.presets[state.preset].id);
    hash.set("step", state.step);
    if (state.seed) hash.set("seed", state.seed);
    const preset = lab.page ? presetParams(state.preset) : {};
    const changed = Object.entries(state.params).filter(([k, v]) => preset[k] !== v);
    if (changed.length) hash.set("params", JSON.stringify(Object.fromEntries(changed)));
    if (state.data) hash.set("data", JSON.stringify(state.data));
  }
  return `${lab.page ? `${lab.page.name}.html` : location.pathname.split("/").at(-1)}#${hash}`;
}

/** Where this copy of the lab can be found by others, or nothing: a server of one's own cannot. */
const base = () => (location.protocol === "file:" || SERVED ? ""
  : new URL(".", location.href).href);

function copyLink() {
  copy(`${base()}${link()}`, "Link", base() ? ""
    : ' Open it with: pellucid lab "…", or put it behind the address of an exported gallery.');
}

function copyFrame() {
  copy(`<iframe src="${base()}${link()}&embed=1" width="820" height="640" title="${
    lab.page?.title ?? "Pellucid"}"></iframe>`, "Frame");
}

/** What a link asks for, or nothing: every part is checked, none is trusted. */
function readLink() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const whole = (name, most) => {
    const text = hash.get(name);
    return text !== null && /^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : null;
  };
  const step = hash.get("step") === "end" ? "end" : whole("step", 1e6) ?? 0;
  const found = (lab.page?.presets ?? []).findIndex(({ id }) => id === hash.get("preset"));
  const story = whole("story", stories().length);
  const asked = { step, preset: Math.max(found, 0), seed: whole("seed", 2 ** 32 - 1), odd: [] };
  const odd = (name, words) => asked.odd.push(`${words} "${(hash.get(name) ?? "").slice(0, 40)}"`);
  if (hash.has("preset") && found < 0 && lab.page) odd("preset", "the preset");
  if (hash.has("story") && !story && stories().length) odd("story", "the scene");
  if (hash.has("seed") && asked.seed === null) odd("seed", "the seed");
  const free = ["preset", "step", "params", "data"].some((key) => hash.has(key));
  asked.story = story ?? (free ? 0 : 1);
  if (!SERVED) {
    if (hash.has("params") || hash.has("data")) {
      say(`This link has data or settings of its own, which a file cannot compute. pellucid lab "${
        lab.page?.name}${location.hash}" can; here is its preset.`);
    }
    return asked;
  }
  const params = parsed(hash.get("params"));
  asked.params = {};
  for (const control of lab.page.controls) {
    const value = params?.[control.name];
    if (allowed(control, value)) asked.params[control.name] = value;
  }
  asked.data = checkedRows(parsed(hash.get("data")));
  const names = Object.keys(params ?? {}).filter((name) => !(name in asked.params));
  if (names.length) asked.odd.push(`the setting ${names[0].slice(0, 40)}`);
  else if (hash.has("params") && !params) odd("params", "the settings");
  if (hash.has("data") && !asked.data) asked.odd.push("its rows");
  return asked;
}

function parsed(text) {
  if (text === null) return null;
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function allowed(control, value) {
  if (control.kind === "cells") return /^[.#+oS/-]{0,80}$/.test(value ?? "!");
  if (control.kind === "switch") return typeof value === "boolean";
  if (control.kind === "choice") return control.options.includes(value);
  return numeric(value) && value >= (control.low ?? -Infinity)
    && value <= (control.high ?? Infinity);
}

/** Show what the address asks for, and say what of it there is not. */
async function restore() {
  const asked = readLink();
  await shownAs(asked);
  if (asked.odd.length && $("error").hidden) {
    const words = asked.odd.join(" and ");
    say(`The link asks for ${words}, which this page does not have; the rest of it is shown.`);
  }
}

/** What a link asks for; a promise that the trace has come. */
function shownAs(asked) {
  document.body.classList.toggle("embed", new URLSearchParams(location.hash.slice(1)).has("embed"));
  state.seed = asked.seed ?? state.seed;
  if (asked.story && stories().length) return tell(asked.story - 1);
  setMode(false);
  if (!SERVED || !(asked.data || Object.keys(asked.params ?? {}).length)) {
    return choose(asked.preset, asked.step);
  }
  state.preset = asked.preset;
  state.params = { ...presetParams(asked.preset), ...asked.params };
  state.data = asked.data;
  state.asIs = false;
  forgetRows();
  showSettings();
  showPresets();
  return renew(asked.step);
}

// ---------------------------------------------------------------- start

function start() {
  $("speed").replaceChildren(...SPEEDS.map((speed) => html("option", { value: String(speed),
    selected: speed === 1 }, `${speed}×`)));
  $("back").addEventListener("click", () => { pause(); go(state.step - 1); });
  $("step").addEventListener("click", () => { pause(); go(state.step + 1); });
  $("play").addEventListener("click", toggle);
  $("speed").addEventListener("change", () => { if (state.timer !== null) { pause(); play(); } });
  $("slider").addEventListener("input", () => { pause(); go(Number($("slider").value)); });
  $("copy-python").addEventListener("click", () => copy(state.trace.code, "Python"));
  $("copy-link").addEventListener("click", copyLink);
  $("copy-embed").addEventListener("click", copyFrame);
  $("pin").addEventListener("click", pin);
  $("mode-story").addEventListener("click", () => tell(state.scene, true));
  $("mode-free").addEventListener("click", () => setMode(false));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", restore);
  new ResizeObserver(redrawn()).observe($("panels"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (state.trace) showFrame();
  });
  if (lab.page) startPage();
  restore().then(offerTable);
}

/** The table that the lab was started with: used at once, unless the link says what to show. */
async function offerTable() {
  if (!lab.table || !SERVED) return;
  const hash = new URLSearchParams(location.hash.slice(1));
  const now = !hash.has("preset") && !hash.has("data");
  const table = await post("/offered", "").catch((error) => { say(error.message); });
  if (!table) return;
  if (now) setMode(false);
  offer(table, now);
}

/** Keep this run beside whatever comes next, or let it go. */
function pin() {
  const preset = lab.page?.presets[state.preset]?.name ?? state.trace.title;
  state.pinned = state.pinned ? null : { trace: state.trace, name: preset };
  $("pin").setAttribute("aria-pressed", String(Boolean(state.pinned)));
  $("pin").textContent = state.pinned ? "Stop comparing" : "Compare with this";
  showFrame();
}

/** Draw again when the panels have another width; their height is our own doing. */
function redrawn() {
  let width = 0;
  return ([{ contentRect }]) => {
    if (contentRect.width !== width && state.trace) showFrame();
    width = contentRect.width;
  };
}

function startPage() {
  $("summary").textContent = lab.page.summary;
  $("presets").hidden = lab.page.presets.length === 0;
  $("presets").querySelector(".buttons").append(...lab.page.presets.map((preset, i) => {
    const { name, broken } = preset;
    const words = broken ? `Break it: ${name.replace(/^break it:? */i, "")}` : name;
    const button = html("button", { type: "button" }, words);
    button.classList.toggle("broken", Boolean(broken));
    button.addEventListener("click", () => choose(i));
    return button;
  }));
  const there = (name) => `${name}${SERVED ? "" : ".html"}`;
  if (!lab.alone) {
    $("crumb").append(html("a", { href: SERVED ? "./" : "index.html" }, "All methods"),
      ` › ${lab.page.chapter}`);
    $("related").hidden = lab.page.related.length === 0;
    $("related").append("Next to it: ", ...lab.page.related.flatMap(({ name, title }, i) =>
      [i ? ", " : "", html("a", { href: there(name) }, title)]));
  }
  $("modes").hidden = stories().length === 0;
  if (SERVED) makeTools();
}

start();
