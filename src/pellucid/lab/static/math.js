// Formulas as mathematics: the text of a frame ("w = Sxy / Sxx = 2.62 / 2.86", "c_3 ← mean of its
// 14 rows") becomes MathML for what is mathematics and plain words for the rest. Nothing is
// computed and no character is dropped but those that only say how to set it: _ ^ and the
// brackets around what stands above or below a line.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const RELATIONS = new Set([..."=←→⇒≈≤≥<>∝≠∈"]);
const SIGNS = new Set([..."+−·×±*"]);
const SUBS = "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₙ", PLAIN_SUBS = "0123456789ijkn";
const SUPS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿᵀ⁺", PLAIN_SUPS = "0123456789−nT+";
const CLOSE = { "(": ")", "[": "]", "{": "}" };
const ACCENTS = { "\u0302": "ˆ", "\u0304": "‾", "\u0303": "˜" };
const NAMES = new Set(["argmin", "argmax", "max", "min", "exp", "log", "ln", "tanh", "sign", "Sxy",
  "Sxx", "Gain", "Bin", "Beta", "tr", "Var"]);

const TOKEN = new RegExp([
  "(?<space>\\s+)", "(?<number>\\d+(?:\\.\\d+)?(?:e[−+-]?\\d+)?|½)",
  "(?<word>[A-Za-z][A-Za-z’]+(?:-[A-Za-z]+)*)",
  "(?<letter>[A-Za-zα-ωΑ-Ωℓ∇ϕ](?:[\\u0302-\\u0304])?)",
  `(?<sub>[${SUBS}]+)`, `(?<sup>[${SUPS}]+)`, "(?<prime>[′'″]+)", "(?<other>.)",
].join("|"), "gu");

const made = (tag, ...children) => {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
};

function tokens(text) {
  const parts = text.replace(/[À-ɏ]/g, (letter) => letter.normalize("NFD"));
  return [...parts.matchAll(TOKEN)].map(({ groups, 0: all }) => {
    const [kind] = Object.entries(groups).find(([, value]) => value !== undefined);
    return { kind, text: all };
  });
}

/** Whether a word is set as mathematics: a function, a script, or one with a script at it. */
const isName = (list, i) => NAMES.has(list[i].text) || ["_", "^"].includes(list[i - 1]?.text)
  || (["_", "^"].includes(list[i + 1]?.text) && list[i].text.length < 9);

/** Lines of a formula, each a list of words and of runs of tokens that belong together. */
function linesOf(text) {
  const list = tokens(text), lines = [[]];
  let run = [], depth = 0;
  const end = () => {
    const from = run.findIndex((t) => t.kind !== "space");
    if (from >= 0) {
      const to = run.findLastIndex((t) => t.kind !== "space");
      words(run.slice(0, from));
      lines.at(-1).push({ run: run.slice(from, to + 1) });
      words(run.slice(to + 1));
    } else words(run);
    run = [];
  };
  const words = (some) => {
    const said = some.map((t) => t.text).join("").normalize("NFC");
    if (!said) return;
    const last = lines.at(-1).at(-1);
    if (typeof last === "string") lines.at(-1)[lines.at(-1).length - 1] += said;
    else lines.at(-1).push(said);
  };
  list.forEach((token, i) => {
    const { kind, text: sign } = token;
    if (CLOSE[sign]) depth += 1;
    if (Object.values(CLOSE).includes(sign)) depth = Math.max(0, depth - 1);
    if (sign === ";" && depth === 0) {
      end();
      lines.push([]);
    } else if (kind === "word" && depth === 0 && !isName(list, i)) {
      end();
      words([token]);
    } else if (kind === "sup" && depth === 0 && !run.length && afterWord(lines.at(-1).at(-1))) {
      words([token]);
    } else if (",:.…?".includes(sign) && depth === 0) {
      end();
      words([token]);
    } else if (kind === "letter" && sign === "a" && depth === 0 && prose(list, i)) {
      end();
      words([token]);
    } else if (isLong(run) && "+−".includes(sign) && (depth === 0 || loose(list, i))) {
      end();  // a line may break before it, and before a relation
      run = [{ ...token, infix: true }];
    } else if (depth === 0 && RELATIONS.has(sign)) {
      end();
      run = [token];
    } else if (sign === "," && depth > 0 && lengthOf(run) > 18 && loose(list, i)) {
      run.push(token);  // and behind a comma of a long list
      end();
    } else run.push(token);
  });
  end();
  return lines.filter((line) => line.length);
}

const lengthOf = (run) => run.reduce((all, { text }) => all + text.length, 0);
const afterWord = (part) => typeof part === "string" && /[a-z]$/.test(part);

/** Whether a sum has become so long that a line may break in it, outside of |…|. */
const isLong = (run) => lengthOf(run) > 16 && run.at(-1).kind === "space"
  && run.filter(({ text }) => text === "|").length % 2 === 0 && !opens(run);
/** Whether what comes next begins something: a sign there is that of a number. */
const opens = (run) => {
  const before = run.findLast((token) => token.kind !== "space");
  return !before || (before.kind === "other" && !")]}|…".includes(before.text));
};

/** Whether a line may break inside the one bracket around a place: no fraction, root, script or
 * matrix is made of it. */
function loose(list, i) {
  const seek = (from, by, away, back) => {
    let depth = 0;
    for (let k = from; list[k] && list[k].text !== ";"; k += by) {
      if (away(list[k].text)) depth += 1;
      else if (back(list[k].text)) { depth -= 1; if (depth < 0) return k; }
    }
    return -1;
  };
  const left = (sign) => Boolean(CLOSE[sign]), right = (sign) => ")]}".includes(sign);
  const open = seek(i - 1, -1, right, left), close = seek(i + 1, 1, left, right);
  if (open < 0 || close < 0 || seek(open - 1, -1, right, left) >= 0) return false;
  const before = list.slice(0, open).findLast(({ kind }) => kind !== "space")?.text;
  const after = list.slice(close + 1).find(({ kind }) => kind !== "space")?.text;
  return !["/", "√", "^", "_"].includes(before) && !["/", "^"].includes(after)
    && !["sup", "prime"].includes(list[close + 1]?.kind);
}

/** Whether a lone "a" stands between words. */
function prose(list, i) {
  const said = (t) => t?.kind === "word" && !NAMES.has(t.text);
  return list[i + 1]?.kind === "space" && (said(list[i - 2]) || said(list[i + 2]));
}

// ---------------------------------------------------------------- runs

/** MathML of a run; `mark(node, symbol, sub, prime)` may dress a letter or a word. */
function setRun(run, mark) {
  const reader = { run, at: 0, mark };
  const math = made("math");
  math.setAttribute("displaystyle", "true");
  while (reader.at < run.length) math.append(...sequence(reader, null));
  return math;
}

const peek = (reader, far = 0) => reader.run[reader.at + far];

/** Items up to a closing sign, with fractions made. */
function sequence(reader, closing) {
  const items = [];
  while (reader.at < reader.run.length) {
    const token = peek(reader);
    if (token.text === closing && (closing !== "|" || peek(reader, -1)?.kind !== "space")) break;
    if (token.kind === "space") { reader.at += 1; if (items.length) items.at(-1).wide = true; }
    else items.push(item(reader));
  }
  const set = reader.flat ? items : fractions(items);
  return set.flatMap(({ node, atom, wide }, i) => {
    const thin = made("mspace");
    thin.setAttribute("width", "0.22em");
    return atom && wide && set[i + 1]?.atom ? [node, thin] : [node];  // factors stay apart
  });
}

function item(reader) {
  const token = peek(reader), { kind, text } = token;
  reader.at += 1;
  if (kind === "number") return scripted(reader, numberOf(text), "");
  if (kind === "letter" || kind === "word") {
    const node = kind === "word" ? made("mi", text) : letterOf(text);
    if (kind === "letter" && peek(reader)?.kind === "word" && !NAMES.has(peek(reader).text)
      && /[α-ω]/.test(text)) {  // λmax
      reader.at += 1;
      return scripted(reader, made("msub", node, made("mtext", peek(reader, -1).text)), text);
    }
    return scripted(reader, node, text.normalize("NFC"));
  }
  if (CLOSE[text]) return scripted(reader, group(reader, text, CLOSE[text]), "");
  if (text === "|" && peek(reader) && peek(reader).kind !== "space") {
    return scripted(reader, group(reader, "|", "|"), "");
  }
  if (text === "√") {
    const { flat } = reader;
    reader.flat = true;  // few fonts have a root as high as a fraction: it would end too early
    const { node } = item(reader);
    reader.flat = flat;
    return { node: made("msqrt", ...bare(node)), atom: true };
  }
  if (text === "Σ" || text === "∫" || text === "∏") {
    return { ...scripted(reader, made("mo", text), text), atom: true };
  }
  const node = made("mo", text);
  if (token.infix) node.setAttribute("form", "infix");
  else if ("−+".includes(text) && leads(reader)) {
    for (const side of ["lspace", "rspace"]) node.setAttribute(side, "0");
  }
  if (kind === "prime" || kind === "sup" || kind === "sub") node.setAttribute("lspace", "0");
  return { node, sign: text };
}

/** Whether a sign stands before its first number, as in (−1, 2). */
const leads = (reader) => opens(reader.run.slice(0, reader.at - 1));

function numberOf(text) {
  const [head, tail] = text.split("e");
  if (tail === undefined) return made("mn", text);
  const power = String(Number(tail.replace("−", "-"))).replace("-", "−");
  return made("mrow", made("mn", head), made("mo", "·"), made("msup", made("mn", "10"),
    made("mn", power)));
}

function letterOf(text) {
  const accent = ACCENTS[text[1]];
  if (!accent) return made("mi", text);
  const over = made("mo", accent);
  over.setAttribute("stretchy", "false");
  const whole = made("mover", made("mi", text[0]), over);
  whole.setAttribute("accent", "true");
  return whole;
}

/** What stands between two signs, with them; rows of brackets become a matrix. */
function group(reader, open, close) {
  const rows = open === "[" ? matrixAt(reader) : null;
  if (rows) return made("mrow", made("mo", "["), rows, made("mo", "]"));
  const inside = sequence(reader, close);
  const there = peek(reader)?.text === close;
  if (there) reader.at += 1;
  const fence = (sign) => {
    const node = made("mo", sign);
    node.setAttribute("stretchy", open === "|" ? "false" : "true");
    node.setAttribute("lspace", "0");
    node.setAttribute("rspace", "0");
    return node;
  };
  const whole = made("mrow", fence(open), ...inside, ...(there ? [fence(close)] : []));
  whole.fenced = open === "(" && there;
  return whole;
}

/** [(a, b), (c, d)] as a table, or null. */
function matrixAt(reader) {
  const text = [];
  let far = 0;
  for (; peek(reader, far) && peek(reader, far).text !== "]"; far += 1) {
    text.push(peek(reader, far).text);
  }
  const found = text.join("").match(/^\([^()]*\)(, \([^()]*\))+$/);
  if (!found) return null;
  reader.at += far + 1;
  return made("mtable", ...found[0].slice(1, -1).split("), (").map((row) =>
    made("mtr", ...row.split(", ").map((cell) => made("mtd", made("mn", cell))))));
}

/** A base with what stands below and above it. */
function scripted(reader, base, symbol) {
  let low = null, high = null, sub = "", prime = "";
  for (;;) {
    const token = peek(reader);
    if (!token) break;
    if (token.kind === "number" && !low && !high && /^[A-Za-z]$/.test(symbol)) {  // x1
      sub = token.text;
      low = made("mn", sub);
      reader.at += 1;
    } else if (token.kind === "sub" && !low) {
      sub = [...token.text].map((c) => PLAIN_SUBS[SUBS.indexOf(c)]).join("");
      low = made(/^\d+$/.test(sub) ? "mn" : "mi", sub);
      reader.at += 1;
    } else if (token.kind === "sup" && !high) {
      high = made("mn", [...token.text].map((c) => PLAIN_SUPS[SUPS.indexOf(c)]).join(""));
      reader.at += 1;
    } else if (token.kind === "prime" && !high) {
      prime = token.text.replaceAll("'", "′");
      high = made("mo", prime);
      reader.at += 1;
    } else if ((token.text === "_" && !low) || (token.text === "^" && !high)) {
      reader.at += 1;
      const next = peek(reader);
      if (!next) break;
      const { node } = next.text === "_" ? { node: made("mo", "_") } : scriptOf(reader);
      if (token.text === "_") { low = node; sub = next.text; } else high = node;
    } else break;
  }
  const dressed = symbol && reader.mark ? reader.mark(base, symbol, sub, prime) : base;
  let node = dressed;
  if (low && high) node = made("msubsup", dressed, low, high);
  else if (low) node = made("msub", dressed, low);
  else if (high) node = made("msup", dressed, high);
  return { node, atom: true, fenced: !low && !high && base.fenced };
}

/** One token, or what its brackets hold. */
function scriptOf(reader) {
  const token = peek(reader);
  if (CLOSE[token.text]) {
    reader.at += 1;
    return { node: made("mrow", ...bare(group(reader, token.text, CLOSE[token.text]), true)) };
  }
  reader.at += 1;
  if (token.kind === "number") return { node: made("mn", token.text) };
  if (/^[i-n]{2,3}$/.test(token.text)) {  // several indices, not a word
    return { node: made("mrow", ...[...token.text].map((letter) => made("mi", letter))) };
  }
  return { node: made("mi", token.text) };
}

/** The inside of a bracket, where a line or a root does its work. */
function bare(node, fenced = node.fenced) {
  return fenced ? [...node.childNodes].slice(1, -1) : [node];
}

/** a / b: with spaces all factors before the stroke are above it, without only the nearest. */
function fractions(items) {
  for (;;) {
    const at = items.findIndex(({ sign }) => sign === "/");
    if (at <= 0 || at === items.length - 1 || !items[at - 1].atom || !items[at + 1].atom) {
      if (at < 0) return items;
      items[at].sign = "÷ was set as it stands";
      continue;
    }
    let from = at - 1;
    const loose = items[at - 1].wide;
    while (loose && from > 0 && (items[from - 1].atom || items[from - 1].sign === "·")) from -= 1;
    const applied = (k) => items[k].fenced && items[k - 1]?.atom && !items[k - 1].wide;
    while (applied(from)) from -= 1;
    let to = at + 1;
    while (!items[to].wide && items[to + 1]?.fenced) to += 1;  // what a function is applied to
    const inside = (some) => made("mrow", ...(some.length === 1
      ? bare(some[0].node, some[0].fenced) : some.map(({ node }) => node)));
    const whole = made("mfrac", inside(items.slice(from, at)), inside(items.slice(at + 1, to + 1)));
    items.splice(from, to + 1 - from, { node: whole, atom: true, wide: items[to].wide });
  }
}

/** A formula as lines of words and mathematics. */
function setFormula(text, mark) {
  const words = (said) => (mark ? said.split(/([A-Za-z][A-Za-z’]+(?:-[A-Za-z]+)*)/).map((word) =>
    mark(document.createTextNode(word), word, "", "")) : [said]);
  return linesOf(text).map((line) => html("div", { className: "eq" },
    ...line.flatMap((part) => (typeof part === "string" ? words(part)
      : [setRun(part.run, mark)]))));
}
