// Graphs: boxes or circles with lines of text, arrows between them, words on the arrows.

const LINE = 15, LETTER = 6.7;
const FAR = 0.78;  // of the way along an edge: the last place for its words

/** Draw a graph into `root`, at least `width` wide, wider if its boxes would overlap. */
function drawGraph(root, panel, width, height) {
  const nodes = panel.nodes.map((node) => ({ ...node, ...nodeSize(node) }));
  const { place, size } = layout(nodes, panel.edges, width, height);
  nodes.forEach((node) => { [node.px, node.py] = place(node); });
  const scale = Math.max(Math.min(1, width / size[0]), 0.62);  // smaller letters before scrolling
  root.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
  root.setAttribute("width", size[0] * scale);
  root.setAttribute("height", size[1] * scale);
  const pairs = new Set(panel.edges.map((e) => `${e.source}>${e.target}`));
  const taken = nodes.map((n) => [n.px, n.py, n.w, n.h]);
  const edges = panel.edges.map((edge) => drawEdge(edge, nodes[edge.source], nodes[edge.target],
    pairs.has(`${edge.target}>${edge.source}`), taken));
  const focused = document.activeElement?.dataset?.node;
  root.replaceChildren(
    ...edges.map((made, i) => svg("g", { class: "marks", ...named(panel.edges[i].name) }, {},
      ...made.lines)),
    svg("g", { class: "marks" }, {}, ...edges.flatMap((made) => made.words).map(paperUnder)),
    ...nodes.map((node) => touched(svg("g", { class: "marks", ...named(nameOf(node)) }, {},
      ...drawNode(node)), node)),
    svg("g", { class: "marks" }, {}, ...edges.flatMap((made) => made.words)));
  root.setAttribute("role", root.querySelector(".node") ? "group" : "img");  // buttons are inside
  if (focused) [...root.children].find((g) => g.dataset.node === focused)?.focus();
}

const named = (label) => (label ? { "data-label": label } : {});

/** A line does not run through the words that stand on it. */
function paperUnder(words) {
  const [x, y] = ["x", "y"].map((name) => Number(words.getAttribute(name)));
  const w = LETTER * words.textContent.length;
  return svg("rect", { x: x - w / 2, y: y - 11, width: w, height: 15 }, { fill: "var(--card)" });
}

/** A node whose evidence can be set: by a click, by Enter or space. */
function touched(group, node) {
  const name = nameOf(node);
  const turn = typeof turnEvidence === "function" ? turnEvidence(name) : null;
  if (!turn) return group;
  group.classList.add("node");
  group.dataset.node = name;
  group.setAttribute("tabindex", "0");
  group.setAttribute("role", "button");
  const said = String(node.label).replace("\n", " ");  // a name begins with the words on the node
  group.setAttribute("aria-label", `${said}; evidence: ${turn.now}`);
  group.addEventListener("click", turn.act);
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); turn.act(); }
  });
  return group;
}

/** Pixels that a graph needs from left to right. */
const graphWidth = (panel) => layout(panel.nodes.map((node) => ({ ...node, ...nodeSize(node) })),
  panel.edges, 10, 300).size[0];

function nodeSize(node) {
  const lines = String(node.label ?? "").split("\n");
  const widest = Math.max(...lines.map((line) => line.length), 1) * LETTER;
  if (!node.round) return { lines, w: widest + 14, h: LINE * lines.length + 9 };
  const r = Math.max(13, Math.hypot(widest, LINE * lines.length) / 2 + 4);
  return { lines, w: 2 * r, h: 2 * r, r };
}

/** Pixels for the nodes' own units, so that no two boxes that stand level touch. */
function layout(nodes, edges, width, most) {
  const xs = nodes.map((n) => n.x), ys = nodes.map((n) => n.y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const padX = Math.max(...nodes.map((n) => n.w), 20) / 2 + 6;
  const padY = Math.max(...nodes.map((n) => n.h), 20) / 2 + 16;
  const levels = new Set(ys).size;
  const height = Math.min(most, 2 * padY + (levels - 1) * (2 * padY + 30));
  let sx = right > left ? Math.max(width - 2 * padX, 40) / (right - left) : 1;
  let sy = top > bottom ? Math.max(height - 2 * padY, 40) / (top - bottom) : 1;
  nodes.forEach((a, i) => nodes.slice(0, i).forEach((b) => {
    const dx = Math.abs(a.x - b.x), dy = Math.abs(a.y - b.y);
    const needX = (a.w + b.w) / 2 + 8, needY = (a.h + b.h) / 2 + 18;
    if (dx * sx >= needX || dy * sy >= needY) return;
    if (dx > 0 && (dy === 0 || needX / (dx * sx) <= needY / (dy * sy))) sx = needX / dx;
    else if (dy > 0) sy = needY / dy;
  }));
  edges.forEach((a, i) => edges.slice(0, i).forEach((b) => {  // and beside each other
    const dx = Math.abs(nodes[a.target].x - nodes[b.target].x);
    const level = nodes[a.target].y === nodes[b.target].y;
    if (!a.label || !b.label || !level || dx === 0) return;
    const need = (LETTER * (String(a.label).length + String(b.label).length)) / 2 + 6;
    sx = Math.max(sx, need / (FAR * dx));
  }));
  for (const { source, target, label } of edges) {  // room for words between two levels
    const [a, b] = [nodes[source], nodes[target]], dy = Math.abs(a.y - b.y);
    const over = Math.abs(a.x - b.x) * sx < (a.w + b.w) / 2;
    if (label && over && dy > 0) sy = Math.max(sy, Math.min((a.h + b.h) / 2 + 26, 150) / dy);
  }
  const w = right > left ? sx * (right - left) + 2 * padX : width;
  const h = top > bottom ? sy * (top - bottom) + 2 * padY : Math.min(height, 2 * padY + 40);
  const place = (n) => [
    right > left ? padX + sx * (n.x - left) : w / 2,
    top > bottom ? padY + sy * (top - n.y) : h / 2,
  ];
  return { place, size: [Math.max(w, width), h] };
}

function drawNode(node) {
  const colour = node.colour === undefined || node.colour === null ? "var(--quiet)"
    : paint(node.colour);
  const edge = node.lit ? { stroke: "var(--accent)", "stroke-width": "2.5px" }
    : { stroke: colour, "stroke-width": "1.3px" };
  const outline = (style) => (node.round
    ? svg("circle", { cx: node.px, cy: node.py, r: node.r }, style)
    : svg("rect", { x: node.px - node.w / 2, y: node.py - node.h / 2, width: node.w, height: node.h,
      rx: 6 }, style));
  const made = [outline({ fill: "var(--card)", ...edge })];
  const tint = isGroup(node.colour) ? paint(node.colour) : "var(--accent)";
  const shade = node.shade ?? (node.lit ? 0.12 : isGroup(node.colour) ? 0.1 : 0);
  if (shade > 0) made.push(outline({ fill: tint, "fill-opacity": 0.75 * Math.min(shade, 1) }));
  const dark = shade > 0.7 ? { fill: "var(--card)" } : { fill: "var(--ink)" };
  const text = svg("text", { "text-anchor": "middle" }, dark);
  node.lines.forEach((line, k) => text.append(
    ...(k ? [svg("tspan", { "font-size": 0 }, {}, " ")] : []),  // for those who hear the words
    svg("tspan", { x: node.px, y: node.py + 4 + LINE * (k - (node.lines.length - 1) / 2) }, {},
      line)));
  return [...made, text];
}

/** Where the way from a node's middle towards (x, y) leaves its outline. */
function border(node, x, y) {
  const dx = x - node.px, dy = y - node.py, far = Math.hypot(dx, dy) || 1;
  if (node.round) return [node.px + (node.r * dx) / far, node.py + (node.r * dy) / far];
  const t = Math.min(dx ? node.w / 2 / Math.abs(dx) : Infinity,
    dy ? node.h / 2 / Math.abs(dy) : Infinity);
  return numeric(t) ? [node.px + t * dx, node.py + t * dy] : [node.px, node.py];
}

function drawEdge(edge, from, to, both, taken) {
  const colour = edge.lit ? "var(--accent)" : paint(edge.colour ?? "quiet");
  const style = { fill: "none", stroke: colour, "stroke-width": edge.lit ? "2.6px" : "1.3px",
    "stroke-dasharray": edge.dashed ? "5 4" : "none" };
  const size = edge.lit ? 10 : 8, arrow = edge.arrow ?? true;
  const words = (x, y) => (edge.label === undefined || edge.label === null || edge.label === "" ? []
    : [svg("text", { class: "said", x, y: y + 4, "text-anchor": "middle" },
      edge.lit ? { fill: "var(--accent)" } : { fill: "var(--quiet)" }, show(edge.label))]);
  if (from === to) {  // a loop above the node
    const x = from.px, y = from.py - from.h / 2;
    const d = `M${x - 9} ${y}C${x - 26} ${y - 34} ${x + 26} ${y - 34} ${x + 9} ${y}`;
    const head = arrow ? [arrowHead(x + 16, y - 16, x + 9, y, colour, size)] : [];
    return { lines: [svg("path", { d }, style), ...head], words: words(x, y - 32) };
  }
  const mx = (from.px + to.px) / 2, my = (from.py + to.py) / 2;
  const bend = both ? 0.14 : 0;  // two arrows between the same nodes lie side by side
  const cx = mx - 2 * bend * (to.py - from.py), cy = my + 2 * bend * (to.px - from.px);
  const [x1, y1] = border(from, cx, cy), [x2, y2] = border(to, cx, cy);
  const lines = [svg("path", { d: both ? `M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`
    : `M${x1} ${y1}L${x2} ${y2}` }, style)];
  if (arrow) lines.push(arrowHead(both ? cx : x1, both ? cy : y1, x2, y2, colour, size));
  const along = both ? () => [(cx + mx) / 2, (cy + my) / 2]
    : (t) => [x1 + t * (x2 - x1), y1 + t * (y2 - y1)];
  return { lines, words: words(...freePlace(along, show(edge.label).length, taken)) };
}

/** The place along an edge, near its middle, where its words cover least of boxes and words. */
function freePlace(along, letters, taken) {
  const w = LETTER * letters + 4, h = 15;
  const covered = ([x, y]) => taken.reduce((sum, [a, b, c, d]) => sum
    + Math.max(0, (w + c) / 2 - Math.abs(x - a)) * Math.max(0, (h + d) / 2 - Math.abs(y - b)), 0);
  const places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, FAR, 0.15, 0.85].map(along);
  const best = places.reduce((one, other) => (covered(other) < covered(one) ? other : one));
  taken.push([...best, w, h]);
  return best;
}
