// The gallery: a card per method with a small picture that moves, by chapter, with a search.

const $ = (id) => document.getElementById(id);
const lab = JSON.parse($("lab").textContent);
const SERVED = lab.mode === "server";
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const token = SERVED ? takeToken() : "";
const seen = new Set(), waiting = [];  // cards in the window; names whose pictures are to come
let asking = false, tick = 0;

const addressOf = (name, place = "") => `${name}${SERVED ? "" : ".html"}${place}`;

function makeCard({ name, title, shows }) {
  const picture = svg("svg", { "aria-hidden": "true", class: "picture" });
  const card = html("a", { className: "card", href: addressOf(name) },
    html("span", { className: "frame" }, picture), html("b", {}, title),
    html("span", { className: "quiet about" }));
  card.dataset.name = name;
  card.words = `${name} ${title} ${shows.join(" ")}`.toLowerCase();
  return card;
}

/** The picture of a card at one of its frames. */
function drawCard(card) {
  const found = lab.cards[card.dataset.name];
  if (!found) return;
  const frame = STILL.matches ? found.frames.length - 1 : tick % (found.frames.length + 2);
  const now = found.frames[Math.min(frame, found.frames.length - 1)];
  const trace = { data: { panels: found.base }, frames: found.frames.map((panels) =>
    ({ state: { panels } })) };
  const [panel] = panelsOf(trace, { state: { panels: now } });
  const root = card.querySelector("svg"), [width, height] = [236, 150];
  if (!panel) return;
  if (panel.kind === "graph") {
    drawGraph(root, panel, width, height);
    root.removeAttribute("width");
    root.removeAttribute("height");
    return;
  }
  card.box ??= panel.box ?? boxesOf(trace).get(panel.name);
  drawPlane(root, { ...panel, x: "", y: "", bare: true }, panel.marks, card.box, width, height);
}

function show_(card, found) {
  lab.cards[card.dataset.name] = found;
  card.querySelector(".about").textContent = found.words;
  drawCard(card);
}

/** One picture at a time, those in the window first: the server has one worker. */
async function askNext() {
  const card = waiting.find((c) => seen.has(c)) ?? waiting[0];
  if (asking || !card) return;
  asking = true;
  waiting.splice(waiting.indexOf(card), 1);
  try {
    const answer = await fetch("/card", { method: "POST", headers: { "X-Pellucid-Token": token,
      "Content-Type": "application/json" }, body: JSON.stringify({ page: card.dataset.name }) });
    if (answer.ok) show_(card, await answer.json());
    else if (answer.status === 403) { waiting.length = 0; tell((await answer.json()).error); }
  } catch {
    waiting.length = 0;
    tell("The lab does not answer; is it still running?");
  }
  asking = false;
  askNext();
}

const tell = (words) => { $("found").textContent = words; };

/** Cards that hold every word; a link that was copied is opened. */
function search() {
  const text = $("search").value.trim(), link = /^([a-z0-9_]+)(?:\.html)?(#.*)?$/.exec(text);
  if (link?.[2] && document.querySelector(`[data-name="${link[1]}"]`)) {
    location.assign(addressOf(link[1], link[2]));
    return;
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const chapter of $("chapters").children) {
    const cards = [...chapter.querySelectorAll(".card")];
    for (const card of cards) {
      const about = card.querySelector(".about").textContent.toLowerCase();
      card.hidden = !words.every((word) => `${card.words} ${about}`.includes(word));
      count += !card.hidden;
    }
    chapter.hidden = cards.every((card) => card.hidden);
  }
  tell(words.length ? `${count} of ${document.querySelectorAll(".card").length} methods` : "");
}

function start() {
  const watch = new IntersectionObserver((entries) => entries.forEach((entry) =>
    (entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target))));
  $("chapters").append(...lab.chapters.map(({ title, pages }) => {
    const cards = pages.map(makeCard);
    cards.forEach((card) => watch.observe(card));
    return html("section", { ariaLabel: title }, html("h2", {}, title),
      html("div", { className: "cards" }, ...cards));
  }));
  const cards = [...document.querySelectorAll(".card")];
  cards.forEach((card) => {
    const found = lab.cards[card.dataset.name];
    if (found) show_(card, found); else waiting.push(card);
  });
  if (SERVED) askNext();
  setInterval(() => {
    if (STILL.matches || document.hidden) return;
    tick += 1;
    seen.forEach(drawCard);
  }, 650);
  $("begin").href = addressOf("kmeans");
  $("guide").hidden = recall("guided") === "yes";
  $("dismiss").addEventListener("click", () => {
    keep("guided", "yes");
    $("guide").hidden = true;
  });
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    const first = document.querySelector(".card:not([hidden])");
    if (event.key === "Enter" && first) location.assign(first.href);
  });
}

start();
