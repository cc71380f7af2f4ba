// A guided story: one picture, one question at a time, each bound to a preset and a frame. What is
// asked is shown by the frames that follow; free play is one key away.

const stories = () => lab.page?.story ?? [];
const FLOW = 420;  // milliseconds of a frame when an answer is shown

/** Words with the numbers of a frame in them: {J per row}, {3: J per row}, {J}, {held out}. */
function told(text, trace, frame) {
  return text.replace(/\{(?:(-?\d+): )?([^{}]+)\}/g, (_, at, name) => {
    const given = at === undefined ? frame : Number(at);
    const k = given < 0 ? trace.frames.length + given : given;
    const { numbers, objective, held_out } = trace.frames[k] ?? {};
    const found = { ...numbers, J: objective, "held out": held_out }[name];
    return found === undefined ? "–" : show(found, 3);
  });
}

const frameAt = (k) => (k < 0 ? lastStep() + 1 + k : Math.min(k, lastStep()));

function setMode(guided) {
  state.guided = guided && stories().length > 0;
  document.body.classList.toggle("guided", state.guided);
  $("mode-story").setAttribute("aria-pressed", String(state.guided));
  $("mode-free").setAttribute("aria-pressed", String(!state.guided));
  $("story").hidden = !state.guided;
  showQuestion();
  if (state.trace) showFrame();
}

/** Step k of the story: its preset at its frame, its words, its question. */
async function tell(k, focus = false) {
  const scene = stories()[k];
  if (!scene) return;
  pause();
  state.scene = k;
  setMode(true);
  const same = state.trace && state.preset === scene.preset && !state.data && state.asIs
    && state.seed === 0;
  state.seed = 0;  // what a story says was checked on these rows
  if (same) go(frameAt(scene.at));
  else await choose(scene.preset, scene.at);
  state.asIs = true;
  showScene(focus);
  mark("story", k + 1);
}

/** The address of what is shown, so that it can be passed on. */
function mark(name, value) {
  const hash = new URLSearchParams(location.hash.slice(1));
  for (const key of ["story", "preset", "step", "params", "data", "page"]) hash.delete(key);
  hash.set(name, value);
  history.replaceState(null, "", `#${hash}`);
}

function showScene(focus) {
  if (!state.trace) return;
  const scene = stories()[state.scene], all = stories().length;
  const heading = html("h2", { tabIndex: -1 }, `${scene.kind} `,
    html("small", { className: "quiet" }, `${state.scene + 1} of ${all}`));
  const button = (words, act, more = {}) => {
    const element = html("button", { type: "button", ...more }, words);
    element.addEventListener("click", act);
    return element;
  };
  const last = state.scene + 1 === all;
  const bar = html("div", { className: "bar" },
    button("Back", () => tell(state.scene - 1, true), { id: "story-back", disabled: !state.scene }),
    last ? button("Free play", () => setMode(false), { id: "story-next" })
      : button("Next", () => tell(state.scene + 1, true), { id: "story-next" }));
  const set = asked(scene.question, state.trace, frameAt(scene.at), frameAt(scene.to), () => {
    reveal(frameAt(scene.to));
    $("story").classList.add("told");
  });
  $("story").classList.remove("told");
  $("story").replaceChildren(heading, html("p", { className: "say" },
    told(scene.say, state.trace, frameAt(scene.at))), set, bar);
  if (focus) heading.focus({ preventScroll: true });
}

/** Play from here to the frame that answers. */
function reveal(to) {
  pause();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (still || to <= state.step) { go(to); return; }
  const by = Math.max(1, Math.ceil((to - state.step) / 12));
  state.timer = setInterval(() => {
    const next = Math.min(to, state.step + by);
    state.step = next;
    showFrame();
    if (next >= to) { pause(); showFrame(); }
  }, FLOW);
}

/** A question: options, then the answer with its reason; numbers from the frames around it. */
function asked(question, trace, at, to, then) {
  const why = html("p", { className: "why" });
  why.setAttribute("role", "status");
  const show_ = html("button", { type: "button", className: "reveal" }, "Show me");
  const options = question.options.map((option, i) => html("label", {},
    html("input", { type: "radio", name: "answer", value: String(i) }),
    html("span", {}, told(option, trace, at))));
  const set = html("fieldset", { id: "question" }, html("legend", {},
    told(question.text, trace, at)), ...options, show_, why);
  const answer = (chosen) => {
    options.forEach((label, i) => {
      label.classList.toggle("right", i === question.answer);
      label.classList.toggle("wrong", chosen === i && i !== question.answer);
    });
    const word = chosen === null ? "" : chosen === question.answer ? "Right. " : "Not quite. ";
    why.textContent = word + told(question.why, trace, to);
    show_.hidden = true;
    then();
  };
  set.addEventListener("change", (event) => answer(Number(event.target.value)));
  show_.addEventListener("click", () => {
    answer(null);
    const next = document.getElementById("story-next") ?? $("slider");
    next.focus({ preventScroll: true });  // the answer is played by the picture
  });
  return set;
}

/** In free play: the questions about this preset, one at a time. */
function showQuestion() {
  const mine = stories().filter((scene) => scene.preset === state.preset);
  const scene = mine[state.question % Math.max(mine.length, 1)];
  if (!scene || !state.trace || state.guided) { $("asked").replaceChildren(); return; }
  const set = asked(scene.question, state.trace, frameAt(scene.at), frameAt(scene.to),
    () => reveal(frameAt(scene.to)));
  if (mine.length > 1) {
    const next = html("button", { type: "button", id: "next-question" }, "Another question");
    next.addEventListener("click", () => { state.question += 1; showQuestion(); });
    set.append(next);
  }
  $("asked").replaceChildren(set);
}

function storyKey(key) {
  if (key === "Escape" && state.guided) { setMode(false); return true; }
  if (key === "g" && !state.guided && stories().length) { tell(state.scene, true); return true; }
  if (!state.guided) return false;
  if (key === "n" || key === "PageDown") { tell(state.scene + 1, true); return true; }
  if (key === "p" || key === "PageUp") { tell(state.scene - 1, true); return true; }
  const option = $("story").querySelector(`input[value="${Number(key) - 1}"]`);
  if (/^[1-9]$/.test(key) && option) { option.click(); return true; }
  return false;
}
