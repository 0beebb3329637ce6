// The sections of the page, each drawn into a box of its own.

const TRUST = { good: "The model predicts left-out trials well", rough: "A rough model", guess: "A guess: the model hardly predicts left-out trials" };
const trusted = (trust) => (trust ? `${TRUST[trust.word]} (R² = ${trust.r2.toFixed(2)}).` : "");
const why = (text) => el("p", { class: "why", text: `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}` });
const note = (...parts) => el("p", { class: "note" }, ...parts);

function meter(share, most = 1) {
  const inner = el("span");
  inner.style.width = `${Math.max(0.5, (100 * share) / (most || 1))}%`;
  return el("span", { class: "meter", "aria-hidden": "true" }, inner);
}

// -- the top ---------------------------------------------------------------------------------------------

function headline(box) {
  const kind = HEAD.maximize ? "largest" : "smallest";
  const big = el("p", { class: "value", title: String(HEAD.value), text: fmt(HEAD.value, 6) });
  const by = HEAD.byModel ? "Best by the model's mean, since values are noisy; this is what was observed there." : `The ${kind} value is best.`;
  const other = HEAD.byModel && HEAD.single !== HEAD.value ? ` The ${kind} single value is ${fmt(HEAD.single, 6)}, of trial ${HEAD.singleNumber}.` : "";
  const finished = HEAD.complete + HEAD.failed;
  const tiles = [["complete", HEAD.complete.toLocaleString("en")], ["failed", HEAD.failed.toLocaleString("en"), HEAD.failed ? "bad" : ""]];
  if (HEAD.running) tiles.push(["running", HEAD.running.toLocaleString("en"), "live"]);
  if (HEAD.earlier) tiles.push(["of them from an earlier run", HEAD.earlier.toLocaleString("en")]);
  tiles.push(["parameters", DATA.dim >= 1e7 ? fmt(DATA.dim, 3) : DATA.dim.toLocaleString("en")]);
  if (HEAD.objective) tiles.push(["spent on the objective", duration(HEAD.objective)]);
  if (HEAD.own) tiles.push(["spent by hidim", duration(HEAD.own)]);
  tiles.push(["method", HEAD.chosen]);
  box.append(
    el("div", { class: "hero" },
      el("div", {}, el("h2", { class: "over", text: "Best value" }), big,
        el("p", { class: "sub", text: `Trial ${HEAD.number} of ${count(finished + HEAD.running, "trial")}. ${by}${other} ${pace()}` })),
      el("dl", { class: "tiles" }, ...tiles.map(([name, text, mark]) => el("div", { class: mark || "" }, el("dt", { text: name }), el("dd", {}, bdi(text)))))));
}
function pace() {
  const order = COMPLETE.filter((i) => TRIALS.rank[i] !== null).sort((a, b) => TRIALS.rank[a] - TRIALS.rank[b]);
  if (order.length < 8 || order.length < HEAD.complete) return "";
  let best = Infinity, last = 0;
  order.forEach((i, k) => { if (SIGN * TRIALS.value[i] < best) { best = SIGN * TRIALS.value[i]; last = k; } });
  const since = order.length - 1 - last;
  return since ? `No better value in the last ${count(since, "trial")}.` : "The very last trial is the best.";
}

// -- the best configuration ------------------------------------------------------------------------------

function configuration(box) {
  const text = el("pre", { tabindex: "0", id: "config", "aria-label": "The best configuration" });
  const show = (tab) => { text.textContent = DATA.config[tab]; };
  const said = el("span", { class: "legend", role: "status" });
  const copy = el("button", { type: "button", id: "copy", text: "Copy", click: async () => {
    said.textContent = (await copied(text)) ? "Copied." : "Selected: press Ctrl+C.";
  } });
  const tab = STATE.tab === "python" ? "python" : "json";
  box.append(el("div", { class: "bar" }, choices("Form", [["json", "JSON"], ["python", "Python"]], tab, (key) => { keep({ tab: key }); show(key); }), said, copy), text);
  DATA.config.notes.forEach((each) => box.append(note(each)));
  show(tab);
}
async function copied(node) {
  const picked = document.createRange();
  picked.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(picked);
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    try { return document.execCommand("copy"); } catch { return false; } // files have no clipboard in some browsers
  }
}

// The name of a parameter, and under which option it exists.
const named = (p) => el("span", { class: "name" }, bdi(p.leaf || p.name), p.under ? el("span", { class: "soft" }, " ", bdi(p.under)) : null);

// -- parameters ------------------------------------------------------------------------------------------

const FIRST = 12, MOST_LISTED = 1000;

function parameters(box, changed) {
  const list = el("ol", { class: "shares" }), detail = el("div", { class: "detail" });
  const told = el("p", { class: "legend", "aria-live": "polite" });
  const search = el("input", { type: "search", id: "search-params", placeholder: "Find a parameter…", "aria-label": "Find a parameter", value: STATE.find,
    input: (event) => { keep({ find: event.target.value }); show(); } });
  const all = el("button", { type: "button", class: "plain", id: "show-all", click: () => { keep({ all: !STATE.all }); show(); } });
  if (DATA.importance.why) box.append(why(`Which parameters matter is not known: ${DATA.importance.why}`));
  else box.append(note(`The share of the variation for which each parameter is responsible, over the whole space. ${trusted(DATA.importance.trust)}`));
  box.append(el("div", { class: "pair" }, el("div", {}, el("div", { class: "bar" }, search, told), list, all), detail));
  const most = Math.max(...PARAMS.map((p) => p.share || 0));
  let selected = Math.max(0, PARAMS.findIndex((p) => p.name === STATE.param));

  function pick(k) {
    selected = k;
    keep({ param: PARAMS[k].name });
    for (const each of list.querySelectorAll("button")) each.setAttribute("aria-pressed", String(Number(each.dataset.k) === k));
    one(detail, PARAMS[k]);
    changed();
  }
  function show() {
    const wanted = STATE.find.trim().toLowerCase();
    const found = PARAMS.map((_, k) => k).filter((k) => !wanted || PARAMS[k].name.toLowerCase().includes(wanted));
    const open = STATE.all || wanted ? MOST_LISTED : FIRST;
    list.replaceChildren(...found.slice(0, open).map((k) => {
      const p = PARAMS[k];
      return el("li", {}, el("button", { type: "button", "data-k": k, "aria-pressed": String(k === selected), title: p.name, click: () => pick(k) },
        named(p), p.share === undefined ? el("span", { class: "soft", text: p.kind }) : meter(p.share, most),
        el("span", { class: "figure", text: p.share === undefined ? "" : percent(p.share) })));
    }));
    told.textContent = wanted ? `${found.length} found` : count(PARAMS.length, "parameter");
    if (found.length > MOST_LISTED && open === MOST_LISTED) told.textContent += `, ${MOST_LISTED} listed`;
    all.hidden = Boolean(wanted) || PARAMS.length <= FIRST;
    all.textContent = STATE.all ? `Show the first ${FIRST}` : `Show all ${PARAMS.length.toLocaleString("en")}`;
  }
  show();
  one(detail, PARAMS[selected]);
}
function one(box, p) {
  const facts = [range(p)];
  if (p.best !== undefined) facts.push(p.best === null ? "inactive in the best trial" : `best trial: ${shown(p, p.best)}`);
  if (p.share !== undefined) facts.push(`share ${percent(p.share)}`);
  box.replaceChildren(el("h3", {}, named(p)), el("p", { class: "legend" }, bdi(facts.join(" · "))));
  const what = along(p);
  if (p.kind === "vector") box.append(why("Its coordinates are too many to be shown singly"));
  else if (!p.slice && !what.points.length) box.append(why(p.column === undefined ? "This page has no room for its values in the trials" : "No complete trial has a value of it"));
  else {
    curve(box, 300, what);
    box.append(el("p", { class: "legend" }, ...(p.slice ? [key("line", "expected"), key("band", "95 % interval")] : []), key("dot", "trials"), key("best", "best")));
    box.append(note(p.slice ? "The curve is what the model expects along this parameter while all others stay as in the best trial; the dots are trials, which differ in the others, too."
      : p.best === null ? "There is no curve: the parameter is inactive at the best point."
        : DATA.slicesWhy ? "There is no curve without a model." : "Curves of the model are drawn for the most important parameters; these are the trials alone."));
  }
}

function slices(box) {
  if (DATA.slicesWhy) { box.append(why(DATA.slicesWhy)); return; }
  const drawn = PARAMS.filter((p) => p.slice), notable = drawn.filter((p) => p.share === undefined || p.share >= 0.005);
  const cuts = drawn.slice(0, Math.max(3, Math.min(6, notable.length)));
  box.append(note("What the model expects along one parameter, all others as in the best trial, with the central 95 % interval. All have one scale. Dots are trials, which differ in the other parameters, too: mistrust a curve where there are none."));
  const grid = el("div", { class: "grid-of" });
  box.append(grid);
  const shared = common(cuts.map(along));
  for (const p of cuts) {
    const cell = el("div", {}, el("h3", {}, named(p), p.share === undefined ? null : el("span", { class: "soft", text: ` ${percent(p.share)}` })));
    grid.append(cell);
    curve(cell, 200, { ...along(p), domain: shared });
  }
}

// -- the tree --------------------------------------------------------------------------------------------

function tree(box) {
  const { rows, left, trust, unknown, why: missing } = DATA.tree;
  if (missing) { box.append(why(missing)); return; }
  box.append(note(trust ? `Every option that has parameters of its own: its trials, its best value, and the best value that a model finds attainable there, with its 95 % interval. ${trusted(trust)}`
    : `Trials and best values of every option that has parameters of its own. What can be attained is not known: ${unknown}.`));
  const ends = rows.flatMap((r) => (r.expected ? r.expected.slice(1) : []).concat(r.best === undefined ? [] : [r.best])).filter((v) => v !== null);
  const [lo, hi] = [Math.min(...ends), Math.max(...ends)], most = Math.max(1, ...rows.map((r) => r.complete));
  const expects = rows.some((r) => r.expected);
  const scale = lo > 0 && hi > 100 * lo ? "log" : "linear";
  const head = ["Branch", "Trials", "Failed", "Best value", ...(expects ? ["Attainable (95 %)", ""] : [])];
  const body = rows.map((r) => {
    const name = el("span", { class: "branch" }, ...(r.depth ? [el("span", { class: "soft" }, bdi(`${r.fork} `)), bdi(r.label, "name")] : [el("span", { class: "name", text: "all" })]),
      r.leads && r.depth && r.fork !== "shared" ? el("span", { class: "pill", text: "best" }) : null,
      r.names.length && r.fork !== "shared" ? el("span", { class: "soft own" }, bdi(r.names.join(", "))) : null);
    name.style.paddingLeft = `${1.4 * r.depth}em`;
    const cells = [el("th", { scope: "row" }, name),
      el("td", { class: "number" }, meter(r.complete, most), el("span", { class: "figure", text: String(r.complete) })),
      el("td", { class: "number", text: r.failed ? String(r.failed) : "–" }),
      el("td", { class: "number", title: r.trial === undefined ? "" : `trial ${r.trial}`, text: fmt(r.best, 5) })];
    if (expects) cells.push(el("td", { class: "interval" }, r.expected ? interval(r, scale, lo, hi) : null), el("td", { class: "number soft", text: r.expected ? r.attainable : "too few trials" }));
    return el("tr", { class: r.leads ? "leads" : "" }, ...cells);
  });
  box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Branches" },
    el("table", { class: "tree" }, el("thead", {}, el("tr", {}, ...head.map((text, k) => el("th", { scope: "col", class: k && k !== 4 ? "number" : "", text })))), el("tbody", {}, ...body))));
  if (expects) box.append(el("p", { class: "legend" }, key("band", "95 % interval"), key("line", "expected"), key("best", "best value seen")));
  if (left) box.append(note(`Not shown: ${count(left, "more branch")}.`.replace("branchs", "branches")));
}
function interval(r, kind, lo, hi) {
  const x = scaleOf(kind, lo, hi, 8, 152), root = svg("svg", { width: 160, height: 18, class: "chart", viewBox: "0 0 160 18", "aria-hidden": "true" });
  const to = (v) => Math.max(2, Math.min(158, x.to_(kind === "log" ? Math.max(v, lo) : v)));
  const [value, low, high] = r.expected;
  root.append(svg("rect", { x: to(low), width: Math.max(2, to(high) - to(low)), y: 4, height: 10, rx: 3, class: "band" }),
    svg("path", { d: `M${to(value)} 3v12`, class: "line" }));
  if (r.best !== undefined) root.append(svg("circle", { cx: to(r.best), cy: 9, r: 4, class: "best" }));
  return root;
}

// -- what adds up, what interacts, what an embedding shows ------------------------------------------------

function barList(rows) {
  const most = Math.max(...rows.map(([, share]) => share), 1e-9);
  return el("ol", { class: "shares still" }, ...rows.map(([text, share]) =>
    el("li", {}, el("span", { class: "row", title: text }, bdi(text, "name"), meter(share, most), el("span", { class: "figure", text: percent(share) })))));
}
function together(box) {
  const known = DATA.interactions;
  if (known.why) { box.append(why(known.why)); return; }
  box.append(el("p", { class: "lead-in" }, el("strong", { text: percent(known.additive) }), " of the variation adds up over single parameters."));
  box.append(note(`${trusted(known.trust)} What is due to two parameters together is a share of the variation of the plain values.`));
  if (known.pairs.length) box.append(el("h3", { text: "Pairs that interact" }), barList(known.pairs.map((pair) => [pair.names.join(" × "), pair.share])));
  else box.append(note("No pair of the ten strongest parameters interacts notably."));
  if (known.idle.length) {
    const rest = known.idleCount - known.idle.length;
    box.append(el("details", {}, el("summary", { text: `${count(known.idleCount, "parameter")} with next to no effect over the whole space` }),
      el("p", { class: "names" }, bdi(known.idle.join(", ") + (rest ? ` and ${rest} more` : "")))));
  }
}
function components(box) {
  const known = DATA.components;
  if (known.why) { box.append(why(known.why)); return; }
  box.append(note(`The objective as a sum over the groups that the method has learnt, by their shares of the variation. ${trusted(known.trust)}`), barList(known.groups.slice(0, 20).map((g) => [g.title, g.share])));
  const drawn = known.groups.filter((g, k) => g.share >= 0.005 || !k).flatMap((g) => g.effects).slice(0, 9);
  box.append(el("h3", { text: "Change of the value, away from the best" }));
  const grid = el("div", { class: "grid-of" });
  box.append(grid);
  const changes = drawn.map((e) => ({ ...e, slice: e, points: [], zero: true, best: [e.at, 0], lines: () => [] })), shared = common(changes);
  for (const e of changes) {
    const cell = el("div", {}, el("h3", {}, bdi(e.name, "name")));
    grid.append(cell);
    curve(cell, 190, { ...e, domain: shared });
  }
}
function embedding(box) {
  const known = DATA.embedding;
  box.append(note("The method searched through an embedding: few coordinates y, from which all parameters are computed."));
  const rows = known.all.map((e) => el("tr", {}, el("th", { scope: "row" }, bdi(e.name)), el("td", { class: "number", text: e.dims.join(" → ") }), el("td", { class: "number", text: String(e.trials) }), el("td", { class: "number", text: fmt(e.best) })));
  box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Embeddings" }, el("table", {}, el("thead", {}, el("tr", {}, ...["Embedding", "Coordinates", "Trials", "Best value"].map((text, k) => el("th", { scope: "col", class: k ? "number" : "", text })))), el("tbody", {}, ...rows))));
  if (!known.y) return;
  const more = known.dim > known.y.length ? ` … ${known.dim} in all` : "";
  box.append(el("details", {}, el("summary", { text: `y of the best trial, in ${known.name}` }), el("p", { class: "names", text: known.y.map((v) => fmt(v, 6)).join(", ") + more })));
  if (!known.coordinates.length) return;
  box.append(el("h3", { text: "Values along the coordinates that seem to matter most" }));
  const grid = el("div", { class: "grid-of" });
  box.append(grid);
  for (const c of known.coordinates) {
    const cell = el("div", {}, el("h3", {}, bdi(c.name, "name")));
    grid.append(cell);
    const points = c.x.map((x, k) => [x, c.value[k], k]);
    curve(cell, 190, { name: c.name, points, low: Math.min(...c.x), high: Math.max(...c.x), best: [c.at, HEAD.value],
      lines: (k) => [[`Trial ${c.number[k]}`, ""], ["value", fmt(c.value[k], 6)], [c.name, fmt(c.x[k])]] });
  }
}

// -- failures, words, how it was run ---------------------------------------------------------------------

function failures(box) {
  const most = Math.max(...DATA.failures.map((f) => f.count));
  for (const each of DATA.failures) {
    const rest = each.count - each.numbers.length;
    box.append(el("div", { class: "failure" }, el("div", { class: "bar" }, el("span", { class: "figure", text: count(each.count, "trial") }), meter(each.count, most)),
      el("pre", { class: "reason", tabindex: each.reason.length > 600 ? "0" : null }, bdi(each.reason)),
      note(`${each.differ ? "One of several that differ in details. " : ""}${each.count === 1 ? "Trial" : "Trials"} ${each.numbers.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`)));
  }
}
// Words come in lines: those that are indented are rows of a list, whose cells are two spaces apart.
function words(box) {
  const lines = DATA.words.replace(/\n {4}/g, " ").split("\n");
  let rows = null;
  for (const line of lines) {
    if (!line.trim()) { rows = null; continue; }
    if (!line.startsWith("  ")) {
      rows = null;
      const warns = line.startsWith("! ");
      box.append(el("p", { class: warns ? "said warns" : line.endsWith(":") ? "said above" : "said" }, bdi(warns ? line.slice(2) : line)));
      continue;
    }
    if (!rows) { rows = el("ul", { class: "said" }); box.append(rows); }
    const [first, ...rest] = line.trim().split(/ {2,}|: (?=\S+ \S+ \()/);
    rows.append(el("li", {}, el("span", { class: "name" }, bdi(first)), rest.length ? el("span", {}, bdi(rest.join(" · "))) : null));
  }
}
function how(box) {
  box.append(el("dl", { class: "how" }, ...DATA.run.map(([name, text]) => el("div", {}, el("dt", { text: name }), el("dd", {}, name === "Command" ? el("code", {}, bdi(text)) : bdi(text))))),
    el("details", {}, el("summary", { text: "The space" }), el("pre", {}, bdi(DATA.space))));
}
