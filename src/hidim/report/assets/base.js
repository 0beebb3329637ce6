"use strict";
// Elements, numbers, the state of the view. Texts go into the page as text only.

const STARTED = performance.now();
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function trouble(what) {
  const root = document.documentElement, box = document.getElementById("trouble");
  root.dataset.errors = `${root.dataset.errors ? root.dataset.errors + "; " : ""}${what}`;
  box.hidden = false;
  box.textContent = `A part of this page could not be drawn: ${root.dataset.errors}`;
}
window.addEventListener("error", (event) => trouble(event.message));
window.addEventListener("unhandledrejection", (event) => trouble(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => trouble(`refused: ${event.violatedDirective}`));

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const bdi = (text, kind) => el("bdi", { class: kind, text });

// -- numbers ---------------------------------------------------------------------------------------------

function fmt(value, digits = 5) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (value === 0 || (Number.isInteger(value) && size < 1e7)) return String(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${Number(mantissa)}e${Number(exponent)}`;
  }
  return String(Number(value.toPrecision(digits)));
}
const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
function duration(s) {
  if (s === null || s === undefined) return "–";
  if (s < 1e-3) return `${fmt(1e6 * s, 2)} µs`;
  if (s < 1) return `${fmt(1e3 * s, 2)} ms`;
  if (s < 120) return `${fmt(s, 3)} s`;
  if (s < 7200) return `${fmt(s / 60, 3)} min`;
  return s < 172800 ? `${fmt(s / 3600, 3)} h` : `${fmt(s / 86400, 3)} days`;
}
function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : NaN;
}

// -- parameters and trials -------------------------------------------------------------------------------

const PARAMS = DATA.params, TRIALS = DATA.trials, HEAD = DATA.head;
const SIGN = HEAD.maximize ? -1 : 1;
const STATES = ["complete", "failed", "running"];
const COMPLETE = TRIALS.number.map((_, i) => i).filter((i) => TRIALS.state[i] === 0);
const BEST = TRIALS.number.indexOf(HEAD.number);

function shown(param, value, digits = 5) {
  if (value === null || value === undefined) return "–";
  return param.kind === "choice" ? param.labels[value] : fmt(value, digits);
}
function at(param, trial) {
  return param.column === undefined ? null : TRIALS.columns[param.column][trial];
}
function range(param) {
  if (param.kind === "choice") return count(param.labels.length, "option");
  const text = `${fmt(param.low)} to ${fmt(param.high)}${param.log ? ", log" : ""}`;
  return param.kind === "vector" ? `${param.dim.toLocaleString("en")} coordinates, ${text}` : text;
}
function trialLines(i, most = 6) {
  const lines = [[`Trial ${TRIALS.number[i]}`, STATES[TRIALS.state[i]]]];
  if (TRIALS.value[i] !== null) lines.push(["value", fmt(TRIALS.value[i], 6)]);
  if (TRIALS.reason && TRIALS.reason[i] !== null) lines.push(["reason", TRIALS.reasons[TRIALS.reason[i]]]);
  for (const param of PARAMS) {
    if (lines.length > most) break;
    const value = at(param, i);
    if (value !== null) lines.push([param.name, shown(param, value, 4)]);
  }
  return lines;
}

// -- the state of the view, kept while the page is refreshed ---------------------------------------------

const STATE = { theme: "", sort: "", q: "", page: 0, find: "", param: "", all: false, scale: "", top: 1, tab: "json" };
const KEY = `hidim report ${location.pathname}`;
function recall() {
  try {
    Object.assign(STATE, JSON.parse(sessionStorage.getItem(KEY) || "{}"));
  } catch { /* a browser that keeps nothing */ }
  if (location.hash.includes("=")) {
    for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
      if (name in STATE) STATE[name] = typeof STATE[name] === "number" ? Number(value) : value;
  }
}
function keep(changes) {
  Object.assign(STATE, changes);
  const active = document.activeElement;
  const focus = active && active.id ? active.id : "";
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...STATE, scroll: window.scrollY, focus }));
  } catch { /* as above */ }
}

// -- the tip ---------------------------------------------------------------------------------------------

function tip(x, y, lines) {
  const box = document.getElementById("tip");
  box.replaceChildren(...lines.map(([name, value], i) =>
    el("div", { class: i ? "" : "first" }, bdi(name), el("span", {}, bdi(value)))));
  box.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = box;
  box.style.left = `${Math.max(4, x + w + 20 > innerWidth ? x - w - 12 : x + 14)}px`;
  box.style.top = `${Math.max(4, Math.min(y - h / 2, innerHeight - h - 4))}px`;
}
const hideTip = () => { document.getElementById("tip").hidden = true; };
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
document.addEventListener("scroll", hideTip, { passive: true });

function choices(name, options, chosen, pick) {
  const group = el("div", { class: "choices", role: "group", "aria-label": name });
  for (const [key, text] of options)
    group.append(el("button", {
      type: "button", text, id: `${name.replaceAll(" ", "-")}-${key}`, "aria-pressed": String(key === chosen),
      click: (event) => {
        for (const each of group.children) each.setAttribute("aria-pressed", String(each === event.target));
        pick(key);
      },
    }));
  return group;
}
