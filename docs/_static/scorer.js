// What a search shows first: titles that have its words, then pages that explain, logs last.
const FOLDERS = { algorithms: 6, course: 4, start: 4 };
const LOGS = /^(changes|results|benchmarks|scikit-learn-names|what-exists)/;

var Scorer = {
  score: ([page, title, , , score]) => {
    const query = new URLSearchParams(location.search).get("q") || "";
    const words = query.toLowerCase().split(/\W+/).filter(Boolean);
    const found = words.filter((word) => title.toLowerCase().includes(word)).length;
    const folder = FOLDERS[page.split("/")[0]] || 0;
    return score + folder + (10 * found) / (words.length || 1) - (LOGS.test(page) ? 20 : 0);
  },
  objNameMatch: 11, // the rest is what Sphinx has
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
