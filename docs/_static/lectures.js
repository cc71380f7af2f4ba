// The page of lectures and words: keep the rows that have every word of the field. "Lecture 7: " is no word.
const field = document.getElementById("lecture");
const said = document.querySelector(".lectures [role=status]");
const rows = [...document.querySelectorAll(".bd-article tbody tr")];
const plain = (text) => text.toLowerCase().normalize("NFD").replace(/[^a-z0-9]+/g, " ");

function show() {
  const text = field.value.replace(/^\s*(lecture|week|unit|chapter)?\s*\d+\s*[:.)-]?/i, "");
  const small = new Set(["a", "an", "and", "for", "in", "of", "the", "to", "with"]);
  const words = plain(text).split(" ").filter((word) => word && !small.has(word));
  const stems = words.map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
  let found = 0;
  for (const row of rows) {
    const inside = ` ${plain(row.innerText)}`;
    row.hidden = !stems.every((stem) => inside.includes(` ${stem}`));
    found += !row.hidden;
  }
  for (const table of document.querySelectorAll(".bd-article table")) {
    table.closest("section").hidden = !table.querySelector("tbody tr:not([hidden])");
  }
  said.textContent = words.length ? `${found} of ${rows.length} lines` : "";
}

field.addEventListener("input", show);
field.value = new URLSearchParams(location.search).get("q") || "";
show();
