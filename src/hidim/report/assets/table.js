// The table of trials: sorted by any column, searched, a page at a time.

const ROWS = 20, COLUMNS = 6;

function trialColumns() {
  const given = (name) => (i) => TRIALS[name][i];
  const columns = [
    { key: "number", name: "Trial", of: given("number"), text: (v) => String(v) },
    { key: "value", name: "Value", of: given("value"), text: (v) => fmt(v, 6) },
    { key: "state", name: "State", of: given("state"), text: (v) => STATES[v] },
  ];
  if (TRIALS.variance) columns.push({ key: "variance", name: "Variance", of: given("variance"), text: (v) => fmt(v, 3) });
  if (TRIALS.seconds) columns.push({ key: "seconds", name: "Time", of: given("seconds"), text: duration });
  const chosen = PARAMS.filter((p) => p.column !== undefined).slice(0, COLUMNS);
  const selected = PARAMS.find((p) => p.name === STATE.param);
  if (selected && selected.column !== undefined && !chosen.includes(selected)) chosen.push(selected);
  for (const p of chosen)
    columns.push({ key: `p${p.column}`, name: p.name, param: p, of: (i) => at(p, i), text: (v) => shown(p, v) });
  return columns;
}

function trialTable(box) {
  const search = el("input", { type: "search", id: "search-trials", placeholder: "Search trials…", "aria-label": "Search trials", value: STATE.q,
    input: (event) => { keep({ q: event.target.value, page: 0 }); show(); } });
  const status = el("p", { class: "legend", "aria-live": "polite" });
  const head = el("tr"), body = el("tbody");
  const table = el("table", { id: "trial-table" }, el("thead", {}, head), body);
  const turn = (by) => () => { keep({ page: STATE.page + by }); show(); };
  const before = el("button", { type: "button", id: "page-before", class: "plain", text: "← Previous", click: turn(-1) });
  const after = el("button", { type: "button", id: "page-after", class: "plain", text: "Next →", click: turn(1) });
  const where = el("span", { class: "legend" });
  box.append(el("div", { class: "bar" }, status, search), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Trials" }, table),
    el("div", { class: "bar pages" }, before, where, after));
  const opened = new Set();
  const texts = new Map();
  const text = (i, columns) => {
    if (!texts.has(i)) {
      const words = columns.map((c) => c.text(c.of(i)));
      for (const p of PARAMS) if (p.kind === "choice" && p.column !== undefined) words.push(shown(p, at(p, i)));
      if (TRIALS.reason && TRIALS.reason[i] !== null) words.push(TRIALS.reasons[TRIALS.reason[i]]);
      if (TRIALS.earlier && TRIALS.earlier[i]) words.push("earlier");
      texts.set(i, words.join("\n").toLowerCase());
    }
    return texts.get(i);
  };

  function sorted(columns, rows) {
    const falling = STATE.sort.startsWith("-"), name = STATE.sort.replace(/^-/, "");
    const column = columns.find((c) => c.key === name || c.name === name) || columns[1];
    const sign = STATE.sort ? (falling ? -1 : 1) : SIGN; // at first the best on top
    const decorated = rows.map((i) => [column.of(i), i]);
    decorated.sort(([a, i], [b, j]) => (a === null || b === null ? (a === null) - (b === null) : sign * (a < b ? -1 : a > b ? 1 : 0)) || i - j);
    return [column, sign, decorated.map(([, i]) => i)];
  }
  function header(columns, by, sign) {
    head.replaceChildren(...columns.map((c) => {
      const on = c === by;
      return el("th", { scope: "col", "aria-sort": on ? (sign > 0 ? "ascending" : "descending") : "none", class: c.key === "state" || c.param?.kind === "choice" ? "" : "number" },
        el("button", { type: "button", id: `sort-${c.key}`, title: `Sort by ${c.name}`, click: () => {
          keep({ sort: `${on && sign > 0 ? "-" : ""}${c.key}`, page: 0 });
          show();
          document.getElementById(`sort-${c.key}`).focus();
        } }, bdi(c.param?.leaf || c.name, "name"), el("span", { class: "arrow", "aria-hidden": "true", text: on ? (sign > 0 ? "▲" : "▼") : "" })));
    }));
  }
  function row(i, columns) {
    const more = el("button", { type: "button", class: "open", "aria-expanded": String(opened.has(i)), "aria-label": `All parameters of trial ${TRIALS.number[i]}`,
      text: String(TRIALS.number[i]), click: () => { if (!opened.delete(i)) opened.add(i); show(); } });
    const cells = columns.map((c) => {
      if (c.key === "number") return el("td", { class: "number" }, more);
      const value = c.of(i);
      if (c.key === "state") return el("td", {}, el("span", { class: `state s${value}`, text: STATES[value] + (TRIALS.earlier && TRIALS.earlier[i] ? ", earlier" : "") }));
      return el("td", { class: c.param && c.param.kind === "choice" ? "word" : "number" }, bdi(c.text(value)));
    });
    const line = el("tr", { class: i === BEST ? "leads" : "" }, ...cells);
    if (!opened.has(i)) return [line];
    const all = el("dl", { class: "all" });
    if (TRIALS.reason && TRIALS.reason[i] !== null) all.append(el("div", {}, el("dt", { text: "reason" }), el("dd", {}, bdi(TRIALS.reasons[TRIALS.reason[i]]))));
    for (const p of PARAMS) {
      const value = at(p, i);
      if (value !== null) all.append(el("div", {}, el("dt", {}, bdi(p.name)), el("dd", {}, bdi(shown(p, value)))));
    }
    return [line, el("tr", {}, el("td", { colspan: columns.length }, all))];
  }
  function show() {
    const columns = trialColumns(), wanted = STATE.q.trim().toLowerCase();
    const rows = TRIALS.number.map((_, i) => i).filter((i) => !wanted || text(i, columns).includes(wanted));
    const [by, sign, order] = sorted(columns, rows);
    const pages = Math.max(1, Math.ceil(order.length / ROWS));
    STATE.page = Math.max(0, Math.min(pages - 1, STATE.page));
    header(columns, by, sign);
    body.replaceChildren(...order.slice(STATE.page * ROWS, (STATE.page + 1) * ROWS).flatMap((i) => row(i, columns)));
    status.textContent = wanted ? `${order.length} of ${count(TRIALS.number.length, "trial")} match` : count(TRIALS.number.length, "trial");
    where.textContent = `Page ${STATE.page + 1} of ${pages}`;
    before.disabled = STATE.page === 0;
    after.disabled = STATE.page === pages - 1;
  }
  show();
  return () => { texts.clear(); show(); };
}
