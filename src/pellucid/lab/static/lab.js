// The player: which trace, which step, what the reader may change. Algorithms stay in Python; this
// script asks for traces (from the server) or finds them in the page (a file), and shows frames.

const $ = (id) => document.getElementById(id);
const lab = JSON.parse($("lab").textContent);
const SERVED = lab.mode === "server";
const SPEEDS = [0.5, 1, 2, 4];
const state = {
  preset: 0, params: {}, seed: lab.seed ?? 0, data: null,  // what was asked for
  trace: null, step: 0, boxes: new Map(), wide: new Set(), timer: null,  // what is shown
  question: 0, answered: false, done: new Set(),  // which is asked, which were answered
  running: false, again: null, lastRun: Infinity,
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
  forgetRows();
  askAgain();
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
  document.body.classList.add("busy");
  const begun = performance.now();
  try {
    const { page, preset, params, seed, data } = { page: lab.page.name, ...state };
    const trace = await post("/run", JSON.stringify({ page, preset, params, seed, data }));
    state.lastRun = performance.now() - begun;
    say("");
    setTrace(trace, step, data);
  } catch (error) {
    say(error.message);
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

/** Ask the server; what it refuses comes back as one sentence. */
async function post(path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", body,
      headers: { "Content-Type": type, "X-Pellucid-Token": lab.token } });
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
  // unless the reader is already elsewhere
  if (state.again === null && data === state.data) state.draft = null;
  keepHeldOut(data, trace.data);
  state.boxes = boxesOf(trace);
  state.wide = wideOf(trace);
  if (step === "keep") state.step = atEnd ? last : Math.min(state.step, last);
  else state.step = step === "end" ? last : Math.max(0, Math.min(step, last));
  for (const id of ["formula", "numbers"]) $(id).style.minHeight = "";
  pause();
  showSettings();
  showWords();
  showFrame();
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
  if (at.matches("input, select, textarea") || scrolls(at, event.key)) return;
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
  if (!box.matches(".scroll")) return false;
  return key.startsWith("Arrow") ? box.scrollWidth > box.clientWidth
    : box.scrollHeight > box.clientHeight;
}

// ---------------------------------------------------------------- a frame

function showFrame() {
  const { trace, step } = state, frame = trace.frames[step], last = lastStep();
  const focused = document.activeElement;
  $("slider").max = last;
  $("slider").value = step;
  $("slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
  $("place").textContent = `${step} / ${last}`;
  $("back").disabled = step === 0;
  $("play").disabled = last === 0;
  $("step").disabled = step === last;
  if (focused?.matches("#back, #step, #play") && focused.disabled) $("slider").focus();
  $("formula").textContent = frame.formula;
  const rows = Object.entries(frame.numbers ?? {});
  $("numbers").tBodies[0].replaceChildren(...rows.map(([name, value]) => html("tr", {},
    html("th", { scope: "row" }, name), html("td", { className: "num" }, show(value, 5)))));
  for (const id of ["formula", "numbers"]) steady($(id));
  showPanels(frame);
  showCurve();
  showVerdict();
  if (state.timer === null) {
    const numbers = rows.map(([name, value]) => `${name} ${show(value, 5)}`).join(", ");
    $("live").textContent = `Step ${step} of ${last}. ${frame.formula}. ${numbers}.`;
  }
}

/** A box that has grown stays large, so that what is below does not jump. */
function steady(element) {
  const height = element.offsetHeight;
  if (height > (parseFloat(element.style.minHeight) || 0)) element.style.minHeight = `${height}px`;
}

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

/** Names of graphs that need the whole width in some frame. */
function wideOf(trace) {
  const all = [trace.data, ...trace.frames.map((frame) => frame.state)];
  const graphs = all.flatMap((part) => part?.panels ?? []).filter((p) => p.kind === "graph");
  return new Set(graphs.filter((p) => graphWidth(p) > 440).map((p) => p.name));
}

function showPanels(frame) {
  const host = $("panels"), panels = panelsOf(state.trace, frame);
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
  const box = panel.kind === "plane" ? panel.box ?? state.boxes.get(panel.name) : null;
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
  figure.querySelector(".legend").replaceWith(legendOf(marks));
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
  host.hidden = frames.length < 2 || all.length < 2;
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

function curveMarks(x, values, colour, label, dashed) {
  const { step } = state, part = (keep) => values.map((v, i) => (keep(i) ? v : null));
  return [
    { mark: "line", x, y: part((i) => i >= step), width: 1.6, colour: "quiet", pale: true, dashed },
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

/** The verdict comes after the answer, or at the end where nothing is left to ask. */
function showVerdict() {
  if (!state.trace) return;
  const atEnd = state.step === lastStep() && lastStep() > 0, { verdict } = state.trace;
  const asked = state.done.size < (lab.page?.questions.length ?? 0);
  $("verdict").textContent = verdict;
  $("verdict").hidden = !verdict || !(state.answered || (atEnd && !asked));
  $("later").hidden = !verdict || !atEnd || !$("verdict").hidden;
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

/** Another run to guess about: the next question that was not answered, the same if all were. */
function askAgain() {
  state.answered = false;
  const open = (lab.page?.questions ?? []).findIndex((_, i) => !state.done.has(i));
  if (open >= 0) state.question = open;
  showQuestion();
  showVerdict();
}

/** One question at a time; the answer and its reason after one was chosen or asked for. */
function showQuestion() {
  const question = lab.page?.questions[state.question];
  if (!question) { $("asked").replaceChildren(); return; }
  const why = html("p");
  why.setAttribute("role", "status");
  const next = html("button", { type: "button", id: "next-question", hidden: true },
    "Next question");
  const reveal = html("button", { type: "button", id: "show-answer" }, "Show the answer");
  const options = question.options.map((option, i) => html("label", {},
    html("input", { type: "radio", name: "answer", value: String(i) }), html("span", {}, option)));
  const set = html("fieldset", { id: "question" }, html("legend", {}, question.text), ...options,
    why, next, reveal);
  const tell = (chosen, word) => {
    options.forEach((label, i) => {
      label.classList.toggle("right", i === question.answer);
      label.classList.toggle("wrong", chosen !== null && i === chosen && i !== question.answer);
    });
    why.textContent = `${word}. ${question.why}`;
    next.hidden = state.question + 1 >= lab.page.questions.length;
    reveal.hidden = true;
    state.answered = true;
    state.done.add(state.question);
    showVerdict();
  };
  set.addEventListener("change", (event) => {
    const chosen = Number(event.target.value);
    tell(chosen, chosen === question.answer ? "Right" : "Not quite");
  });
  reveal.addEventListener("click", () => {
    tell(null, `The answer: ${question.options[question.answer].replace(/\.$/, "")}`);
    (next.hidden ? $("slider") : next).focus();  // the button itself is gone
  });
  next.addEventListener("click", () => {
    state.question += 1;
    state.answered = false;
    showQuestion();
    showVerdict();
    $("asked").querySelector("input").focus();
  });
  $("asked").replaceChildren(set);
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
  const controls = lab.page.controls.filter(shown);
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

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    $("fallback").hidden = true;
    $("copied").textContent = `${what} copied.`;
  } catch {  // not allowed to: the reader copies the selected text
    $("fallback").value = text;
    $("fallback").hidden = false;
    $("fallback").select();
    $("copied").textContent = "Press Ctrl+C to copy.";
  }
}

function link() {
  const hash = new URLSearchParams({ step: state.step });
  if (lab.page) hash.set("page", lab.page.name);
  if (lab.page || lab.traces.length > 1) hash.set("preset", state.preset);
  if (SERVED) {
    hash.set("seed", state.seed);
    hash.set("params", JSON.stringify(state.params));
    if (state.data) hash.set("data", JSON.stringify(state.data));
  }
  return `${location.href.split("#")[0]}#${hash}`;
}

/** What a link asks for, or nothing: every part is checked, none is trusted. */
function readLink() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const whole = (name, most) => {
    const text = hash.get(name);
    return text !== null && /^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : null;
  };
  const step = hash.get("step") === "end" ? "end" : whole("step", 1e6) ?? 0;
  const preset = whole("preset", (lab.page?.presets.length ?? 1) - 1) ?? 0;
  const asked = { step, preset, seed: whole("seed", 2 ** 32 - 1), page: hash.get("page") };
  if (!SERVED || (asked.page !== null && asked.page !== lab.page.name)) return asked;
  const params = parsed(hash.get("params"));
  asked.params = {};
  for (const control of lab.page.controls) {
    const value = params?.[control.name];
    if (allowed(control, value)) asked.params[control.name] = value;
  }
  asked.data = checkedRows(parsed(hash.get("data")));
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
  if (control.kind === "switch") return typeof value === "boolean";
  if (control.kind === "choice") return control.options.includes(value);
  return numeric(value) && value >= (control.low ?? -Infinity)
    && value <= (control.high ?? Infinity);
}

/** Show what the address asks for; a promise that the trace has come. */
function restore() {
  const asked = readLink();
  if (SERVED && asked.page && asked.page !== lab.page.name
    && lab.pages.some((page) => page.name === asked.page)) {
    openPage(asked.page, location.hash);
    return new Promise(() => {});  // another page comes
  }
  state.seed = asked.seed ?? state.seed;
  if (!SERVED || !(asked.data || Object.keys(asked.params ?? {}).length)) {
    return choose(asked.preset, asked.step);
  }
  state.preset = asked.preset;
  state.params = { ...presetParams(asked.preset), ...asked.params };
  state.data = asked.data;
  forgetRows();
  askAgain();
  showSettings();
  showPresets();
  return renew(asked.step);
}

function openPage(name, hash = state.seed ? `#seed=${state.seed}` : "") {
  location.assign(`?${new URLSearchParams({ page: name, token: lab.token })}${hash}`);
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
  $("copy-link").addEventListener("click", () => copy(link(), "Link"));
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
function offerTable() {
  if (!lab.table || !SERVED) return;
  const hash = new URLSearchParams(location.hash.slice(1));
  offer(lab.table, !hash.has("preset") && state.data === null);
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
  showQuestion();
  if (!SERVED) return;
  const list = $("pages").querySelector("select");
  list.append(...lab.pages.map(({ name, title }) => html("option", { value: name,
    selected: name === lab.page.name }, title)));
  list.addEventListener("change", () => openPage(list.value));
  $("pages").hidden = false;
  makeTools();
}

start();
