// Numbers as text, scales, ticks and markers.

function perCent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function digits(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size === 0) return "0";
  return size >= 1e5 || size < 1e-4 ? value.toExponential(3) : size >= 100 ? value.toPrecision(6) : value.toFixed(4);
}

function plural(number, noun) {
  return `${number} ${noun}${Number(number) === 1 ? "" : "s"}`;
}

// estimate: [mean, low, high, runs], as in all data of the page
function estimateText([mean, low, high, runs]) {
  if (low === null) return [digits(mean), runs === 1 ? "one run, no interval" : ""];
  return [`${digits(mean)} [${digits(low)}, ${digits(high)}]`, `${runs} runs, 95 % interval`];
}

function shareText(share, k) {
  return `${perCent(share)} of edges kept${k ? `, k = ${k}` : ""}`;
}

// How a mean compares with that of the unpruned graph, in words that hold for scores and for errors.
function differenceText(value, unpruned, higherIsBetter) {
  const gap = value - unpruned;
  if (Math.abs(gap) < 5e-5) return "the same as the unpruned mean";
  const words = gap > 0 ? "above" : "below", better = gap > 0 === higherIsBetter ? "better" : "worse";
  return `${digits(Math.abs(gap))} ${words} the unpruned mean (${better})`;
}

// Points of a plot

function estimatePoint(share, estimate, k) {
  const [y, low, high] = estimate;
  return { x: share, y, low, high, details: [shareText(share, k), ...estimateText(estimate)] };
}

function paperPoint([share, value]) {
  return { x: share, y: value, details: [shareText(share), `${digits(value)} in the paper`] };
}

// Scales: functions from a value to pixels

const TICK_SHARES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1];
const MIN_TICK_GAP = 42; // pixels

function scale(domain, range, log) {
  const transform = log ? Math.log : Number;
  const [low, high] = domain.map(transform);
  return (value) => range[0] + ((transform(value) - low) / (high - low || 1)) * (range[1] - range[0]);
}

// The range of values, with a margin on both sides.
function paddedDomain(values, log, margin) {
  const valid = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (!valid.length) return log ? [0.01, 1] : [0, 1];
  const low = Math.min(...valid), high = Math.max(...valid);
  if (log) {
    const factor = Math.max((high / low) ** margin, 1.05);
    return [low / factor, high * factor];
  }
  const padding = (high - low || Math.abs(high) || 1) * margin;
  return [low - padding, high + padding];
}

function shareDomain(series, log) {
  const shares = series.flatMap((line) => line.points.map((point) => point.x)).filter((share) => !log || share > 0);
  if (!shares.length) return log ? [0.05, 1] : [0, 1];
  const [low, high] = paddedDomain(shares, log, log ? 0.03 : 0.04);
  return log ? [low, high] : [Math.max(low, -0.03), Math.min(high, 1.05)];
}

function heights(series, levels = []) {
  const values = (point) => [point.y, point.low, point.high].filter((value) => value !== null && value !== undefined);
  return [...series.flatMap((line) => line.points.flatMap(values)), ...levels.flatMap(values)];
}

function linearTicks(domain, count) {
  const smallest = (domain[1] - domain[0]) / Math.max(count, 1);
  const unit = 10 ** Math.floor(Math.log10(smallest));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((size) => size >= smallest * 0.75);
  const values = [];
  for (let i = Math.ceil(domain[0] / step - 1e-9); i * step <= domain[1] + step * 1e-9; i += 1) values.push(i * step);
  const isQuarter = Math.abs(step / unit - 2.5) < 1e-6 && step < 1;
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + (isQuarter ? 1 : 0);
  return values.map((value) => ({ value, text: Math.abs(value) >= 1e5 ? value.toExponential(0) : value.toFixed(places) }));
}

function logTicks(domain, count) {
  const first = Math.ceil(Math.log10(domain[0])), last = Math.floor(Math.log10(domain[1]));
  if (last - first < 1) return linearTicks(domain, count).filter((tick) => tick.value > 0);
  const marks = [];
  for (let power = first; power <= last; power += 1) {
    const value = 10 ** power;
    marks.push({ value, text: value >= 1e4 || value < 1e-3 ? value.toExponential(0).replace("+", "") : String(value) });
  }
  return marks;
}

function shareTicks(domain, log, width) {
  const position = scale(domain, [0, width], log);
  const candidates = (log ? TICK_SHARES : [0, 0.2, 0.4, 0.6, 0.8, 1]).filter((share) => share >= domain[0] && share <= domain[1]);
  let last = Infinity;
  const shares = [];
  for (const share of candidates.reverse()) {
    if (last - position(share) < MIN_TICK_GAP) continue;
    last = position(share);
    shares.push(share);
  }
  return (shares.length > 1 ? shares : domain).map((value) => ({ value, text: perCent(value) }));
}

// Markers: paths around (0, 0)

// A regular polygon with a corner on top; a star, if its inner corners have a radius of their own.
function polygonPath(corners, radius, inner) {
  const radii = inner ? [radius, inner] : [radius], count = corners * radii.length;
  const points = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2, size = radii[i % radii.length];
    return `${(size * Math.cos(angle)).toFixed(2)} ${(size * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}z`;
}

const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (r) => `M0 ${-1.25 * r}L${1.2 * r} ${r}H${-1.2 * r}z`,
  diamond: (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0z`,
  down: (r) => `M0 ${1.25 * r}L${1.2 * r} ${-r}H${-1.2 * r}z`,
  left: (r) => `M${-1.25 * r} 0L${r} ${-1.2 * r}V${1.2 * r}z`,
  right: (r) => `M${1.25 * r} 0L${-r} ${-1.2 * r}V${1.2 * r}z`,
  pentagon: (r) => polygonPath(5, 1.25 * r),
  hexagon: (r) => polygonPath(6, 1.25 * r),
  star: (r) => polygonPath(5, 1.5 * r, 0.65 * r),
  plus: (r) => {
    const a = 0.45 * r, b = 1.25 * r - a;
    return `M${-a} ${-1.25 * r}h${2 * a}v${b}h${b}v${2 * a}h${-b}v${b}h${-2 * a}v${-b}h${-b}v${-2 * a}h${b}z`;
  },
  cross: (r) => `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`,
};

function marker(shape, radius, kind) {
  const crossed = shape === "cross" ? " crossed" : "";
  return svg("path", { d: SHAPES[shape](radius), class: `point${crossed}${kind ? ` ${kind}` : ""}` });
}
