// Puts the sections together, and keeps the view while the page is refreshed.

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (STATE.theme ? STATE.theme === "dark" : SYSTEM.matches);
function theme() {
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  const toggle = document.getElementById("theme");
  if (toggle) toggle.textContent = dark() ? "Light" : "Dark";
}

function build() {
  recall();
  theme();
  const main = document.getElementById("main"), top = document.getElementById("top"), nav = el("nav", { "aria-label": "Sections" });
  const toggle = el("button", { type: "button", class: "plain", id: "theme", text: dark() ? "Light" : "Dark", "aria-label": "Switch between light and dark", click: () => {
    keep({ theme: dark() ? "light" : "dark" });
    theme();
  } });
  top.append(el("div", { class: "titles" }, el("h1", {}, bdi(DATA.title || "hidim report")), live(), toggle), nav);
  let again = () => {};
  const sections = [
    ["best", "", "", headline, true],
    ["convergence", "Convergence", "Convergence", convergence, true],
    ["words", "In words", "In words", words, true],
    ["configuration", "Best configuration", "Configuration", configuration, true],
    ["parameters", "What matters", "What matters", (box) => parameters(box, () => again()), PARAMS.length > 0],
    ["slices", "Around the best point", "Slices", slices, PARAMS.some((p) => p.slice)],
    ["branches", "Branches", "Branches", tree, DATA.tree],
    ["parallel", "All together", "All together", parallel, PARAMS.filter((p) => p.column !== undefined).length > 1],
    ["interactions", "What adds up", "Interactions", together, DATA.interactions && !(DATA.importance.why && DATA.interactions.why)],
    ["groups", "Groups", "Groups", components, DATA.components.groups],
    ["embedding", "Embedding", "Embedding", embedding, DATA.embedding],
    ["failures", "Failed trials", "Failures", failures, DATA.failures.length],
    ["trials", "Trials", "Trials", (box) => { again = trialTable(box); }, true],
    ["how", "How it was run", "Run", how, true],
  ];
  for (const [id, title, brief, draw, wanted] of sections) {
    if (!wanted) continue;
    const box = el("section", { id }, title ? el("h2", { text: title }) : null);
    if (id === "words") main.append(el("div", { class: "two" }, box));
    else if (id === "configuration") main.lastChild.append(el("div", { class: "side" }, box));
    else main.append(box);
    if (title) nav.append(el("a", { href: `#${id}`, text: brief }));
    try {
      draw(box);
    } catch (error) {
      trouble(`${title || "the top"}: ${error.message}`);
    }
  }
  const [said, side] = main.querySelector(".two").children; // beside many words there is room
  if (said.offsetTop === side.offsetTop && said.offsetHeight > side.offsetHeight + 400) side.append(document.getElementById("how"));
  const end = document.getElementById("end");
  for (const text of DATA.left) end.append(note(text));
  end.append(note(`Written by hidim. This page holds all of its data and asks nothing of the network.`));
  if (performance.getEntriesByType("navigation")[0]?.type !== "reload") return;
  if (STATE.focus) document.getElementById(STATE.focus)?.focus({ preventScroll: true });
  if (STATE.scroll) requestAnimationFrame(() => window.scrollTo(0, STATE.scroll)); // after the browser's own try
}

function live() {
  if (!DATA.refresh) return null;
  const wait = Math.max(1, DATA.refresh), told = el("span", { class: "live", text: `live, refreshed every ${fmt(wait, 3)} s` });
  let busy = 0;
  for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, () => { busy = performance.now(); });
  const reload = () => {
    if (performance.now() - busy < 2000) { setTimeout(reload, 1000); return; } // not while somebody types
    keep({});
    location.reload();
  };
  setTimeout(reload, 1000 * wait);
  return told;
}

build();
SYSTEM.addEventListener("change", theme);
window.addEventListener("pagehide", () => keep({}));
document.documentElement.dataset.drawn = String(Math.round(performance.now() - STARTED));
document.documentElement.dataset.height = String(document.documentElement.scrollHeight);
document.documentElement.dataset.loaded = String(Math.round(performance.now()));
requestAnimationFrame(() => requestAnimationFrame(() => {
  document.documentElement.dataset.painted = String(Math.round(performance.now()));
}));
