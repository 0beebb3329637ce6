// Parallel coordinates: a line for every trial, an axis for every parameter that matters.

const MOST_LINES = 400, MOST_AXES = 8;

function parallel(box) {
  const width = box.clientWidth || 800;
  const fitting = Math.max(2, Math.min(MOST_AXES, Math.floor(width / 105)));
  const params = PARAMS.filter((p) => p.column !== undefined && !(p.kind === "choice" && p.labels.length < 2)).slice(0, fitting);
  if (!params.length || COMPLETE.length < 2) {
    box.append(el("p", { class: "why", text: "There are too few trials or parameters for it." }));
    return;
  }
  const ranked = [...COMPLETE].sort((a, b) => SIGN * (TRIALS.value[a] - TRIALS.value[b]));
  const half = Math.floor(MOST_LINES / 2);
  const kept = ranked.length <= MOST_LINES ? ranked : [...ranked.slice(0, half),
    ...Array.from({ length: half }, (_, k) => ranked[half + Math.floor((k * (ranked.length - half)) / half)])];
  const brushes = new Map(); // axis -> [from, to] on the screen
  const told = el("p", { class: "legend", "aria-live": "polite" });
  let top = [1, 0.5, 0.1].includes(Number(STATE.top)) ? Number(STATE.top) : 1;
  const clear = el("button", { type: "button", class: "plain", text: "Clear ranges", hidden: true, click: () => { brushes.clear(); drawn.again(true); } });
  const shares = [["1", "all"], ["0.5", "best half"], ["0.1", "best tenth"]];
  box.append(el("div", { class: "bar" }, told, clear, choices("Trials shown", shares, String(top), (share) => {
    top = Number(share); keep({ top }); drawn.again(true);
  })));
  const values = kept.map((i) => TRIALS.value[i]);
  const near = reach(values);
  const label = `Parallel coordinates of ${count(kept.length, "trial")} along ${params.map((p) => p.name).join(", ")}; best trials are dark`;
  const drawn = chart(box, 380, label, ({ root, width: w, height }) => {
    const first = 44, bottom = height - 26, left = 46, right = w - 46;
    const step = (right - left) / params.length;
    const axes = params.map((p, k) => ({
      name: p.name, x: left + k * step, of: (i) => at(p, i), param: p,
      scale: p.kind === "choice" ? scaleOf("labels", 0, p.labels.length - 1, bottom, first)
        : scaleOf(p.log ? "log" : "linear", p.low, p.high, bottom, first, 5),
    }));
    const [lo, hi] = [Math.min(...values), Math.max(...values)];
    const log = wantsLog(values), far = (v) => !log && near.most > 0 && Math.abs(v - near.best) > near.most;
    const sane = values.filter((v) => !far(v));
    const scale = log ? scaleOf("log", lo, hi, bottom, first) : scaleOf("linear", Math.min(...sane), Math.max(...sane), bottom, first, 5);
    axes.push({ name: "value", x: right, of: (i) => TRIALS.value[i], scale, value: true });
    const place = (axis, i) => {
      const v = axis.of(i);
      return v === null ? null : Math.max(first, Math.min(bottom, axis.scale.to_(v)));
    };
    const lines = kept.map((i, rank) => ({ i, share: (rank + 0.5) / kept.length, at: axes.map((axis) => place(axis, i)) }));
    const passes = (line) => line.share <= top && [...brushes].every(([k, [a, b]]) => line.at[k] !== null && line.at[k] >= a && line.at[k] <= b);
    const within = lines.filter(passes), without = lines.filter((line) => !passes(line));
    let alone = []; // points between two gaps
    const path = (line) => {
      let d = "", before = null;
      line.at.forEach((y, k) => {
        if (y === null) { before = null; return; }
        const after = k + 1 < axes.length && line.at[k + 1] !== null;
        if (before !== null) d += `L${axes[k].x} ${y.toFixed(1)}`;
        else if (after) d += `M${axes[k].x} ${y.toFixed(1)}`;
        else alone.push([axes[k].x, y]);
        before = y;
      });
      return d;
    };
    if (brushes.size || top < 1) root.append(svg("path", { d: without.map(path).join(""), class: "way out" }));
    const strong = Math.min(1, Math.max(0.4, 90 / within.length));
    for (let level = 4; level >= 0; level--) {
      const some = within.filter((line) => Math.min(4, Math.floor(5 * line.share ** 0.7)) === level);
      alone = [];
      const group = svg("g", { class: `q${level}`, opacity: strong * [0.95, 0.8, 0.75, 0.6, 0.45][level] });
      group.append(svg("path", { d: some.map(path).join(""), class: "way" }), svg("path", { d: dots(alone), class: "way spot" }));
      root.append(group);
    }
    const lead = lines.find((line) => line.i === BEST);
    if (lead) root.append(svg("path", { d: path(lead), class: "way lead" }));
    const glow = svg("path", { class: "way glow" });
    root.append(glow);
    axes.forEach((axis, k) => {
      root.append(svg("line", { x1: axis.x, x2: axis.x, y1: first, y2: bottom, class: "axis" }));
      const most = Math.max(6, Math.floor((step - 8) / 7)), short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
      const head = textAt(axis.x, 14, short(axis.param?.leaf || axis.name), "title");
      head.append(svg("title", { text: axis.name }));
      root.append(head);
      if (axis.param?.under) root.append(textAt(axis.x, 29, short(axis.param.under)));
      if (axis.scale.kind === "labels") {
        const every = Math.ceil(axis.param.labels.length / 12);
        axis.param.labels.forEach((text, v) => {
          if (v % every) return;
          root.append(textAt(axis.x + 6, axis.scale.to_(v) + 4, text.length > 9 ? `${text.slice(0, 8)}…` : text, "halo", "start"));
        });
      } else {
        const texts = tickTexts(axis.scale.ticks);
        axis.scale.ticks.forEach((v, j) => root.append(textAt(axis.x + (axis.value ? 6 : -6), axis.scale.to_(v) + 4, texts[j], "halo", axis.value ? "start" : "end")));
      }
      if (brushes.has(k)) {
        const [a, b] = brushes.get(k);
        root.append(svg("rect", { x: axis.x - 7, width: 14, y: a, height: b - a, class: "brush" }));
      }
    });
    clear.hidden = !brushes.size;
    const all = kept.length < COMPLETE.length ? ` (the best ${half} of ${COMPLETE.length.toLocaleString("en")}, and an even selection of the others)` : "";
    told.textContent = `${within.length} of ${count(kept.length, "trial")}${all}. Drag along an axis to keep a range.`;
    interact(root, { axes, lines: within, path, glow, first, bottom, brushes, again: () => drawn.again(true) });
  });
}

function interact(root, view) {
  let from = null;
  const spot = (event) => {
    const box = root.getBoundingClientRect(), by = root.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * by, (event.clientY - box.top) * by];
  };
  const clampY = (y) => Math.max(view.first, Math.min(view.bottom, y));
  root.onpointerdown = (event) => {
    const [x, y] = spot(event), k = view.axes.findIndex((axis) => Math.abs(axis.x - x) < 12);
    if (k < 0 || event.pointerType === "touch") return;
    from = { k, y: clampY(y) };
    root.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  root.onpointerup = (event) => {
    if (!from) return;
    const y = clampY(spot(event)[1]), { k } = from;
    if (Math.abs(y - from.y) < 4) view.brushes.delete(k);
    else view.brushes.set(k, [Math.min(y, from.y), Math.max(y, from.y)]);
    from = null;
    view.again();
  };
  const highlight = (line, x, y) => {
    view.glow.setAttribute("d", view.path(line));
    tip(x, y, [...trialLines(line.i, 1), ...view.axes.slice(0, -1).filter((axis) => axis.of(line.i) !== null)
      .map((axis) => [axis.name, shown(axis.param, axis.of(line.i), 4)])]);
  };
  const leave = () => { view.glow.setAttribute("d", ""); hideTip(); };
  root.onpointermove = (event) => {
    if (from) return;
    const [x, y] = spot(event);
    const k = Math.max(0, Math.min(view.axes.length - 2, view.axes.findIndex((axis) => axis.x > x) - 1));
    const share = (x - view.axes[k].x) / (view.axes[k + 1].x - view.axes[k].x);
    let nearest = null, least = 14;
    for (const line of view.lines) {
      const a = line.at[k], b = line.at[k + 1];
      if (a === null || b === null) continue;
      const far = Math.abs(a + share * (b - a) - y);
      if (far < least) { least = far; nearest = line; }
    }
    if (nearest) highlight(nearest, event.clientX, event.clientY); else leave();
  };
  root.onpointerleave = leave;
  root.onblur = leave;
  root.setAttribute("tabindex", "0");
  let place = -1;
  root.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !view.lines.length) return;
    event.preventDefault();
    place = Math.max(0, Math.min(view.lines.length - 1, place + step));
    const box = root.getBoundingClientRect();
    highlight(view.lines[place], box.left + box.width / 2, box.top + 60);
  };
}
