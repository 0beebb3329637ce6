// Values in the order of finishing, and values along one parameter.

// Values that are out of proportion to the others: those further from the best than ten times nearly all.
function reach(values) {
  const best = SIGN * Math.min(...values.map((v) => SIGN * v));
  const far = values.map((v) => Math.abs(v / 2 - best / 2)).sort((a, b) => a - b);
  return { best, most: 20 * quantile(far, 0.9) };
}
const wantsLog = (values) => Math.min(...values) > 0 && Math.max(...values) > 100 * Math.min(...values);

function convergence(box) {
  const order = COMPLETE.filter((i) => TRIALS.rank[i] !== null).sort((a, b) => TRIALS.rank[a] - TRIALS.rank[b]);
  const failed = TRIALS.number.map((_, i) => i).filter((i) => TRIALS.state[i] === 1 && TRIALS.rank[i] !== null);
  const values = order.map((i) => TRIALS.value[i]), { best, most } = reach(values);
  const off = most > 0 ? order.filter((i) => Math.abs(TRIALS.value[i] - best) > most) : [];
  const scales = [["linear", "linear"]];
  if (off.length) scales.unshift(["near", "near the best"]);
  if (Math.min(...values) > 0 && Math.max(...values) > Math.min(...values)) scales.push(["log", "log"]);
  let kind = scales.some(([key]) => key === STATE.scale) ? STATE.scale : wantsLog(values) ? "log" : scales[0][0];
  const last = Math.max(...TRIALS.rank.filter((r) => r !== null)) + 1;
  const bar = el("div", { class: "bar" });
  const legend = el("p", { class: "legend" });
  bar.append(legend);
  if (scales.length > 1)
    bar.append(choices("Scale of values", scales, kind, (key) => { kind = key; keep({ scale: key }); drawn.again(true); }));
  box.append(bar);
  const label = `Convergence: the best value is ${fmt(HEAD.value)} after ${count(last, "finished trial")}; arrow keys go from trial to trial`;
  const drawn = chart(box, 320, label, ({ root, width, height }) => {
    const hidden = kind === "near" ? new Set(off) : new Set();
    const seen = order.filter((i) => !hidden.has(i)).map((i) => TRIALS.value[i]);
    let lo = Math.min(...seen), hi = Math.max(...seen);
    const bottom = height - 44, top = 12;
    const pad = kind === "log" ? 0 : (hi / 2 - lo / 2) * 0.1;
    [lo, hi] = [Math.max(lo - pad, -1.79e308), Math.min(hi + pad, 1.79e308)];
    if (kind === "log") { const by = (hi / lo) ** 0.04; if (isFinite(by)) [lo, hi] = [lo / by || lo, Math.min(hi * by, 1.79e308)]; }
    const y = scaleOf(kind === "log" ? "log" : "linear", lo, hi, bottom - (failed.length ? 14 : 0), top);
    const left = rightmost(y.ticks), right = width - 10;
    const x = scaleOf("linear", last > 20 ? 0 : 0.5, last + Math.max(0.5, last * 0.01), left, right, width > 600 ? 10 : 5);
    x.ticks = x.ticks.filter((v) => Number.isInteger(v));
    axisY(root, y, left, right);
    axisX(root, x, bottom, []);
    root.append(textAt((left + right) / 2, height - 4, "trials, in the order of finishing", "title"));
    const edge = SIGN > 0 ? top - 4 : bottom + 2;
    const points = order.map((i) => [x.to_(TRIALS.rank[i] + 1), hidden.has(i) ? edge : y.to_(TRIALS.value[i]), i]);
    const plain = points.filter(([, , i]) => !hidden.has(i));
    root.append(svg("path", { d: dots(plain), class: order.length > 600 ? "dot small" : "dot" }));
    for (const [px] of points.filter(([, , i]) => hidden.has(i)))
      root.append(svg("path", { d: `M${px - 4} ${edge + (SIGN > 0 ? 6 : -6)}h8l-4 ${SIGN > 0 ? -6 : 6}z`, class: "off" }));
    const steps = [];
    let sofar = Infinity;
    for (const [px, , i] of points) {
      const loss = SIGN * TRIALS.value[i];
      if (loss < sofar) {
        if (steps.length) steps.push([px, steps.at(-1)[1]]);
        sofar = loss;
        steps.push([px, hidden.has(i) ? edge : y.to_(TRIALS.value[i])]);
      }
    }
    steps.push([x.to_(last), steps.at(-1)[1]]);
    root.append(svg("path", { d: polyline(steps), class: "line" }));
    const crosses = failed.map((i) => [x.to_(TRIALS.rank[i] + 1), bottom - 6, i]);
    root.append(svg("path", { d: crosses.map(([a, b]) => `M${a - 3} ${b - 3}l6 6m0 -6l-6 6`).join(""), class: "cross" }));
    const mark = points.find(([, , i]) => i === BEST);
    if (mark) root.append(svg("circle", { cx: mark[0], cy: mark[1], r: 5, class: "best" }));
    hover(root, [...points, ...crosses].sort((a, b) => a[0] - b[0]), (i) => trialLines(i));
    legend.replaceChildren(
      key("dot", "value"), key("line", "best so far"), key("best", HEAD.byModel ? "best by the model's mean" : "best"),
      ...(failed.length ? [key("cross", `${failed.length} failed`)] : []),
      ...(hidden.size ? [key("off", `${hidden.size} off the scale`)] : []));
  });
}

function key(kind, text) {
  const marks = { dot: svg("path", { d: "M7 6h0", class: "dot" }), line: svg("path", { d: "M0 6h14", class: "line" }),
    best: svg("circle", { cx: 7, cy: 6, r: 5, class: "best" }), cross: svg("path", { d: "M4 3l6 6m0 -6l-6 6", class: "cross" }),
    off: svg("path", { d: "M3 9h8l-4 -6z", class: "off" }), band: svg("rect", { x: 0, y: 1, width: 14, height: 10, class: "band" }) };
  return el("span", { class: "key" }, svg("svg", { width: 14, height: 12, "aria-hidden": "true", class: "chart" }, marks[kind]), text);
}

// The values that a chart of a curve has to show: all of the curve, of its band what is near, and good trials.
function domain(what) {
  const cut = what.slice, real = (list) => (list || []).filter((v) => v !== null);
  const values = what.points.map(([, v]) => v).sort((a, b) => SIGN * (a - b));
  const good = what.zero ? [0] : [values[0], quantile(values, cut ? 0.6 : 0.9)];
  const core = [...(cut ? real(cut.mid) : []), ...good.filter((v) => v !== undefined && !Number.isNaN(v))];
  let lo = Math.min(...core), hi = Math.max(...core);
  const log = lo > 0 && hi > 100 * lo && !what.zero;
  if (log) return { lo: lo / (hi / lo) ** 0.05 || lo, hi, log };
  const more = 0.5 * (hi - lo) || 0.05 * Math.abs(hi) || 1;
  if (cut) [lo, hi] = [Math.max(lo - more, Math.min(lo, ...real(cut.low))), Math.min(hi + more, Math.max(hi, ...real(cut.high)))];
  const pad = 0.06 * (hi - lo);
  return isFinite(pad) ? { lo: lo - pad, hi: hi + pad, log } : { lo: Math.max(lo, -1.79e308), hi: Math.min(hi, 1.79e308), log };
}
// One for several charts, so that heights compare.
function common(all) {
  const each = all.map(domain), lows = each.map((d) => d.lo), log = each.some((d) => d.log) && Math.min(...lows) > 0;
  return { lo: Math.min(...lows), hi: Math.max(...each.map((d) => d.hi)), log };
}

// A curve with its band along one parameter or direction, and the trials there.
// what: {name, kind, log, labels, low, high, slice: {grid, mid, low, high, at}, points: [[x, value, trial]], best,
//        zero: whether it is of changes, domain: of the values}
function curve(box, height, what) {
  const cut = what.slice, labels = what.labels;
  const label = `${what.name}: ${cut ? "expected value with its 95 % interval, and " : ""}${count(what.points.length, "trial")}`;
  return chart(box, height, label, ({ root, width }) => {
    const bottom = height - (what.title ? 38 : 24), top = 10, right = width - 8;
    const { lo, hi, log } = what.domain || domain(what);
    const y = scaleOf(log ? "log" : "linear", lo, hi, bottom, top, 4);
    const left = rightmost(y.ticks);
    let x;
    if (labels) x = scaleOf("labels", 0, labels.length - 1, left, right);
    else {
      const ends = cut && cut.grid ? [cut.grid[0], cut.grid.at(-1)] : [what.low, what.high];
      x = scaleOf(what.log ? "log" : "linear", ends[0], ends[1], left, right, width > 420 ? 6 : 4);
      if (what.kind === "int") x.ticks = x.ticks.filter((v) => Number.isInteger(v));
    }
    axisY(root, y, left, right);
    axisX(root, x, bottom, labels);
    const inside = clipped(root, left - 6, top - 4, right - left + 12, bottom - top + 8);
    const clampY = (v, other) => (v === null || (log && v <= 0) ? other : Math.max(top - 20, Math.min(bottom + 20, y.to_(v))));
    if (what.zero) inside.append(svg("line", { x1: left, x2: right, y1: y.to_(0), y2: y.to_(0), class: "zero" }));
    if (cut && labels) {
      cut.mid.forEach((v, i) => {
        if (v === null) return;
        const px = x.to_(i), wide = Math.min(18, (right - left) / labels.length / 3);
        const a = clampY(cut.high[i], top - 20), b = clampY(cut.low[i], bottom + 20);
        inside.append(svg("rect", { x: px - wide, width: 2 * wide, y: Math.min(a, b), height: Math.abs(a - b), class: "band" }));
        inside.append(svg("path", { d: `M${px - wide} ${clampY(v)}h${2 * wide}`, class: "line" }));
      });
    } else if (cut) {
      const there = cut.grid.map((g, i) => [x.to_(g), i]).filter(([, i]) => cut.mid[i] !== null);
      const upper = there.map(([px, i]) => [px, clampY(cut.high[i], top - 20)]);
      const lower = there.map(([px, i]) => [px, clampY(cut.low[i], bottom + 20)]).reverse();
      inside.append(svg("path", { d: `${polyline([...upper, ...lower])}z`, class: "band" }));
      inside.append(svg("path", { d: polyline(there.map(([px, i]) => [px, clampY(cut.mid[i])])), class: "line" }));
    }
    const points = what.points.filter(([, v]) => v >= lo && v <= hi)
      .map(([a, v, i]) => [x.to_(a) + (labels ? ((i * 37) % 21) - 10 : 0), y.to_(v), i]);
    inside.append(svg("path", { d: dots(points), class: points.length > 600 ? "dot tiny" : "dot small" }));
    const rug = what.points.slice(0, 2000).map(([a]) => `M${(x.to_(a)).toFixed(1)} ${bottom}v4`);
    if (!labels && rug.length < 600) root.append(svg("path", { d: rug.join(""), class: "rug" }));
    if (what.best && what.best[0] !== null)
      inside.append(svg("circle", { cx: x.to_(what.best[0]), cy: clampY(what.best[1], bottom), r: 5, class: "best" }));
    root.append(textAt((left + right) / 2, height - 3, what.title || "", "title"));
    hover(root, points.sort((a, b) => a[0] - b[0]), what.lines || ((i) => [...trialLines(i, 2), ...own(what, i)]));
  });
}
function own(what, i) {
  const param = what.param;
  return param && at(param, i) !== null ? [[param.name, shown(param, at(param, i))]] : [];
}
function along(param) {
  const points = param.column === undefined ? []
    : COMPLETE.map((i) => [at(param, i), TRIALS.value[i], i]).filter(([x]) => x !== null);
  return { ...param, param, points, best: [param.best === undefined ? null : param.best, HEAD.value] };
}
