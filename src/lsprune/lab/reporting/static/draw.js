"use strict";
// Small helpers: elements, numbers in words, scales and ticks. Text only ever enters the page as text.

const SVG = "http://www.w3.org/2000/svg";

function grow(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function html(name, attributes, ...children) {
  return grow(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return grow(document.createElementNS(SVG, name), attributes, children);
}

function byId(name) {
  return document.getElementById(name);
}

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => html("option", { value, text })));
  if (chosen !== undefined && options.some(([value]) => String(value) === String(chosen))) select.value = chosen;
}

// Numbers

function perCent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function digits(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size === 0) return "0";
  return size >= 1e5 || size < 1e-4 ? value.toExponential(3) : size >= 100 ? value.toPrecision(6) : value.toFixed(4);
}

function between(spread) {
  const [mean, low, high, runs] = spread;
  if (low === null) return [digits(mean), runs === 1 ? "one run, no interval" : ""];
  return [`${digits(mean)} [${digits(low)}, ${digits(high)}]`, `${runs} runs, 95 % interval`];
}

// Scales: a function from a value to pixels

const SHARES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1];

function scale(domain, range, log) {
  const to = log ? Math.log : Number;
  const [low, high] = domain.map(to);
  return (value) => range[0] + ((to(value) - low) / (high - low || 1)) * (range[1] - range[0]);
}

function widened(values, log, part) {
  const fine = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (!fine.length) return log ? [0.01, 1] : [0, 1];
  let low = Math.min(...fine), high = Math.max(...fine);
  if (log) {
    const by = Math.max((high / low) ** part, 1.05);
    return [low / by, high * by];
  }
  const by = (high - low || Math.abs(high) || 1) * part;
  return [low - by, high + by];
}

function ticks(domain, count) {
  const raw = (domain[1] - domain[0]) / Math.max(count, 1);
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((by) => by * unit).find((one) => one >= raw * 0.75);
  const found = [];
  for (let at = Math.ceil(domain[0] / step - 1e-9); at * step <= domain[1] + step * 1e-9; at += 1) found.push(at * step);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + (Math.abs(step / unit - 2.5) < 1e-6 && step < 1 ? 1 : 0);
  return found.map((value) => ({ value, text: Math.abs(value) >= 1e5 ? value.toExponential(0) : value.toFixed(places) }));
}

function logTicks(domain, count) {
  const first = Math.ceil(Math.log10(domain[0])), last = Math.floor(Math.log10(domain[1]));
  if (last - first < 1) return ticks(domain, count).filter((tick) => tick.value > 0);
  const found = [];
  for (let power = first; power <= last; power += 1) {
    const value = 10 ** power;
    found.push({ value, text: value >= 1e4 || value < 1e-3 ? value.toExponential(0).replace("+", "") : String(value) });
  }
  return found;
}

function shareTicks(domain, log, width) {
  const there = log ? SHARES : [0, 0.2, 0.4, 0.6, 0.8, 1];
  const at = scale(domain, [0, width], log);
  let last = -Infinity;
  const found = [];
  for (const value of there.filter((one) => one >= domain[0] && one <= domain[1]).reverse()) {
    if (Math.abs(at(value) - last) < 42) continue;
    last = at(value);
    found.push({ value, text: perCent(value) });
  }
  return found.length > 1 ? found : [domain[0], domain[1]].map((value) => ({ value, text: perCent(value) }));
}

// Markers: paths around (0, 0)

const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (r) => `M0 ${-1.25 * r}L${1.2 * r} ${r}H${-1.2 * r}z`,
  diamond: (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0z`,
  down: (r) => `M0 ${1.25 * r}L${1.2 * r} ${-r}H${-1.2 * r}z`,
  cross: (r) => `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`,
};

function marker(shape, size, kind) {
  const crossed = shape === "cross" ? " crossed" : "";
  return svg("path", { d: SHAPES[shape](size), class: `point${crossed}${kind ? ` ${kind}` : ""}` });
}
