// Scales, axes, and charts that fit their boxes.

function ticksOf(lo, hi, most) {
  const span = hi - lo;
  if (!(span > 0) || !isFinite(span)) return lo === hi ? [lo] : [lo, hi];
  let step = 10 ** Math.floor(Math.log10(span / most));
  if (!(step > 0)) return [lo, hi];
  for (const factor of [1, 2, 5, 10]) if (span / (factor * step) <= most) { step *= factor; break; }
  const ticks = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step && ticks.length < 20; k++)
    ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}
function logTicks(lo, hi, most) {
  const first = Math.ceil(Math.log10(lo) - 1e-9), last = Math.floor(Math.log10(hi) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most)), ticks = [];
  for (let e = first; e <= last; e += every) ticks.push(10 ** e);
  if (ticks.length > 1) return ticks;
  const fine = [];
  for (let e = first - 1; e <= last + 1; e++)
    for (const m of [1, 2, 5]) { const v = m * 10 ** e; if (v >= lo * 0.999 && v <= hi * 1.001) fine.push(v); }
  return fine.length > 1 ? fine : ticksOf(lo, hi, most);
}

// Where values stand between two places on the screen: kinds are "linear", "log" and "labels".
function scaleOf(kind, lo, hi, from, to, most = 5) {
  if (kind === "labels") {
    const step = (to - from) / (hi - lo + 1);
    return { kind, lo, hi, from, to, ticks: [], to_: (v) => from + (v - lo + 0.5) * step };
  }
  if (lo === hi) {
    const by = kind === "log" ? 0 : Math.abs(lo) * 0.05 || 1;
    [lo, hi] = kind === "log" ? [lo / 2, hi * 2] : [lo - by, hi + by];
  }
  const log = kind === "log", [a, b] = log ? [Math.log10(lo), Math.log10(hi)] : [lo, hi];
  const half = isFinite(b - a) ? 1 : 0.5, width = half * b - half * a;
  const to_ = (v) => from + ((half * (log ? Math.log10(v) : v) - half * a) / width) * (to - from);
  const ticks = log ? logTicks(lo, hi, most) : ticksOf(lo, hi, most);
  return { kind, lo, hi, from, to, ticks, to_ };
}
function tickTexts(ticks) {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 0;
  const digits = (v) => (step && v && isFinite(step)
    ? Math.min(8, Math.max(2, 1 + Math.floor(Math.log10(Math.abs(v))) - Math.floor(Math.log10(step)))) : 4);
  return ticks.map((v) => fmt(v, digits(v)));
}

// A drawing that is made anew whenever its box gets another width.
const REDRAW = [];
function chart(box, height, label, draw) {
  const root = svg("svg", { class: "chart", height, role: "img", "aria-label": label });
  box.append(root);
  let width = 0;
  const again = (force) => {
    const now = Math.max(Math.floor(box.clientWidth), 160);
    if (now === width && !force) return;
    width = now;
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.replaceChildren();
    draw({ root, width, height });
  };
  REDRAW.push(again);
  again();
  return { root, again };
}
let pending = 0;
window.addEventListener("resize", () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => REDRAW.forEach((again) => again(false)));
});

const textAt = (x, y, text, kind = "", anchor = "middle") => svg("text", { x, y, class: kind, "text-anchor": anchor, text });

function axisY(root, y, left, right) {
  const texts = tickTexts(y.ticks);
  y.ticks.forEach((v, i) => {
    const place = y.to_(v);
    root.append(svg("line", { x1: left, x2: right, y1: place, y2: place, class: "grid" }));
    root.append(textAt(left - 8, place + 4, texts[i], "", "end"));
  });
}
function axisX(root, x, bottom, labels) {
  if (x.kind === "labels") {
    const room = Math.abs(x.to - x.from) / (x.hi - x.lo + 1), every = Math.max(1, Math.ceil(28 / room));
    labels.forEach((label, i) => {
      if (i % every) return;
      const most = Math.max(2, Math.floor((room * every) / 6.6));
      const text = textAt(x.to_(i), bottom + 17, label.length > most ? `${label.slice(0, most - 1)}…` : label);
      text.append(svg("title", { text: label }));
      root.append(text);
    });
    return;
  }
  const texts = tickTexts(x.ticks);
  x.ticks.forEach((v, i) => {
    const place = x.to_(v);
    root.append(svg("line", { x1: place, x2: place, y1: bottom, y2: bottom + 4, class: "tick" }));
    const near = place < x.from + 12 ? "start" : place > x.to - 12 ? "end" : "middle";
    root.append(textAt(place, bottom + 17, texts[i], "", near));
  });
}
const rightmost = (ticks) => 14 + 6.4 * Math.max(2, ...tickTexts(ticks).map((text) => text.length));

// Many dots as one path.
const dots = (places) => places.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");
const polyline = (places) => places.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
let clips = 0;
function clipped(root, x, y, w, h) {
  const id = `clip${clips++}`;
  root.append(svg("clipPath", { id }, svg("rect", { x, y, width: w, height: h })));
  const group = svg("g", { "clip-path": `url(#${id})` });
  root.append(group);
  return group;
}

// Points [x, y, key] of a chart can be met by pointer, or by the arrows of the keyboard; the latter in order.
function hover(root, points, lines) {
  const ring = svg("circle", { r: 6, class: "ring", visibility: "hidden" });
  root.append(ring);
  let place = -1;
  const meet = (i) => {
    place = i;
    const [x, y, key] = points[i];
    fill(ring, { cx: x, cy: y, visibility: "visible" }, []);
    const box = root.getBoundingClientRect(), by = box.width / root.viewBox.baseVal.width || 1;
    tip(box.left + x * by, box.top + y * by, lines(key));
  };
  const leave = () => { ring.setAttribute("visibility", "hidden"); hideTip(); };
  root.onpointermove = (event) => {
    const box = root.getBoundingClientRect(), by = root.viewBox.baseVal.width / box.width || 1;
    const x = (event.clientX - box.left) * by, y = (event.clientY - box.top) * by;
    let nearest = -1, least = 900;
    points.forEach(([a, b], i) => {
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < least) { least = far; nearest = i; }
    });
    if (nearest >= 0) meet(nearest); else leave();
  };
  root.onpointerleave = leave;
  root.setAttribute("tabindex", "0");
  root.onblur = leave;
  root.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -points.length, End: points.length }[event.key];
    if (!step || !points.length) return;
    event.preventDefault();
    meet(Math.max(0, Math.min(points.length - 1, place < 0 && step === 1 ? 0 : place + step)));
  };
}
