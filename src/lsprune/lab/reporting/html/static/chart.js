// One plot: lines with bands, horizontal levels, marks. Hovering, touching or arrow keys show exact values.
//
// spec = { title, height, x: {label, log, share, domain, ticks}, y: {label, log, domain},
//          series: [{name, style: {css, shape, line, hollow, faint, small, radius}, points: [{x, y, low, high, details}]}],
//          levels: [{name, role, y, low, high, details}], marks: [{x, y, text}] }
// `details` are the lines of text in the tooltip.

const MARGIN = { left: 58, right: 16, top: 30, bottom: 46 };
const TITLE_HEIGHT = 17, TITLE_LETTER = 7.5; // pixels
const HOVER_RADIUS = 36; // pixels
const CLOSE_RADIUS = 12; // a point this close is preferred to a level
const LEVEL_RADIUS = 8;
const MANY_SERIES = 12; // from here on bands are fainter

function drawChart(holder, spec) {
  holder.spec = spec;
  if (!holder.observer) {
    holder.observer = new ResizeObserver(() => {
      if (holder.spec && holder.clientWidth && holder.clientWidth !== holder.drawnWidth) paint(holder);
    });
    holder.observer.observe(holder);
  }
  paint(holder);
}

function clearChart(holder) {
  holder.spec = null;
  holder.replaceChildren();
}

function paint(holder) {
  const spec = holder.spec, levels = spec.levels || [], width = holder.clientWidth || 320;
  holder.drawnWidth = width;
  const height = spec.height || Math.max(270, Math.min(430, width * 0.52));
  const titles = titleLines(spec.y.label, width);
  const top = MARGIN.top + (titles.length - 1) * TITLE_HEIGHT;
  const plot = { left: MARGIN.left, right: width - MARGIN.right, top, bottom: height - MARGIN.bottom };
  const xValues = () => spec.series.flatMap((line) => line.points.map((point) => point.x));
  const xDomain = spec.x.domain || (spec.x.share ? shareDomain(spec.series, spec.x.log) : paddedDomain(xValues(), spec.x.log, 0.05));
  const yDomain = spec.y.domain || paddedDomain(heights(spec.series, levels), spec.y.log, 0.06);
  const x = scale(xDomain, [plot.left, plot.right], spec.x.log), y = scale(yDomain, [plot.bottom, plot.top], spec.y.log);
  const clip = (value) => Math.max(plot.top - 2, Math.min(plot.bottom + 2, y(value)));
  const picture = svg("svg", {
    class: spec.series.length > MANY_SERIES ? "many" : null, width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0,
    role: "group", "aria-label": `Plot: ${spec.title || spec.y.label}. Arrow keys move between points.`,
  });
  drawYAxis(picture, spec.y, yDomain, y, plot, titles);
  drawXAxis(picture, spec.x, xDomain, x, plot);
  const canShow = (point) => (!spec.x.log || point.x > 0) && (!spec.y.log || point.y > 0);
  const series = spec.series.map((line) => ({ ...line, points: line.points.filter(canShow) }));
  const targets = levels.map((level) => drawLevel(picture, level, y, clip, plot));
  for (const line of series) drawBand(picture, line, x, clip);
  for (const line of series) drawLine(picture, line, x, y);
  for (const line of series) targets.push(drawPoints(picture, line, x, y));
  for (const mark of spec.marks || []) drawMark(picture, mark, x(mark.x), y(mark.y), plot);
  const tooltip = html("div", { class: "tooltip", hidden: true });
  const announcement = html("div", { class: "skip", role: "status" }); // read aloud by screen readers
  holder.replaceChildren(picture, tooltip, announcement);
  addInteraction(holder, picture, tooltip, announcement, targets.filter((target) => target.places.length));
}

// A title that is wider than the plot is broken before its bracket.
function titleLines(label, width) {
  const at = label.lastIndexOf(" (");
  return at > 0 && label.length * TITLE_LETTER > width ? [label.slice(0, at), label.slice(at + 1)] : [label];
}

function drawYAxis(picture, axis, domain, y, plot, titles) {
  const count = Math.max(3, Math.round((plot.bottom - plot.top) / 48));
  for (const tick of axis.log ? logTicks(domain, count) : linearTicks(domain, count)) {
    picture.append(
      svg("line", { class: "grid", x1: plot.left, x2: plot.right, y1: y(tick.value), y2: y(tick.value) }),
      svg("text", { x: plot.left - 8, y: y(tick.value) + 4, "text-anchor": "end", text: tick.text }),
    );
  }
  picture.append(...titles.map((text, i) => svg("text", { x: 0, y: 15 + i * TITLE_HEIGHT, class: "title", text })));
}

function drawXAxis(picture, axis, domain, x, plot) {
  const width = plot.right - plot.left;
  const usual = () => (axis.share ? shareTicks(domain, axis.log, width) : linearTicks(domain, Math.max(2, Math.round(width / 90))));
  for (const tick of axis.ticks || usual()) {
    picture.append(
      svg("line", { class: "axis", x1: x(tick.value), x2: x(tick.value), y1: plot.bottom, y2: plot.bottom + 5 }),
      svg("text", { x: x(tick.value), y: plot.bottom + 19, "text-anchor": "middle", text: tick.text }),
    );
  }
  picture.append(
    svg("line", { class: "axis", x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom }),
    svg("text", { x: (plot.left + plot.right) / 2, y: plot.bottom + 38, "text-anchor": "middle", text: axis.label }),
  );
}

// A target has a name and the places on the screen that can be pointed at.

function drawLevel(picture, level, y, clip, plot) {
  const at = y(level.y);
  if (level.low !== null && level.low !== undefined) {
    const top = clip(level.high), height = Math.max(clip(level.low) - top, 0);
    picture.append(svg("rect", { class: "band h-ink", x: plot.left, y: top, width: plot.right - plot.left, height }));
  }
  picture.append(svg("line", {
    class: `line level level-${level.role} h-ink`, x1: plot.left, x2: plot.right, y1: at, y2: at, "data-line": level.name,
  }));
  return { name: level.name, isLevel: true, places: [{ px: plot.right - 30, py: at, point: level }] };
}

function drawBand(picture, line, x, clip) {
  const points = line.points.filter((point) => point.low !== null && point.low !== undefined);
  if (points.length < 2 || line.style.line === "none") return;
  const upper = points.map((point) => `${x(point.x)},${clip(point.high)}`);
  const lower = points.map((point) => `${x(point.x)},${clip(point.low)}`).reverse();
  picture.append(svg("polygon", { class: `band ${line.style.css}`, points: [...upper, ...lower].join(" ") }));
}

function drawLine(picture, line, x, y) {
  if (line.style.line === "none" || line.points.length < 2) return;
  const points = line.points.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  picture.append(svg("polyline", { class: `line ${line.style.line || ""} ${line.style.css}`, points, "data-line": line.name }));
}

function drawPoints(picture, line, x, y) {
  const { css, shape, hollow, faint, small, radius } = line.style;
  const places = line.points.map((point, index) => {
    const px = x(point.x), py = y(point.y);
    picture.append(svg("g", { class: point.css || css, transform: `translate(${px} ${py})`, "data-series": line.name, "data-index": index },
      marker(point.shape || shape, radius || (small ? 3 : 4.2), hollow ? "hollow" : faint ? "faint" : "")));
    return { px, py, point };
  });
  return { name: line.name, isLevel: false, places };
}

function drawMark(picture, mark, px, py, plot) {
  const onLeft = px > (plot.left + plot.right) / 2; // the side of the text
  picture.append(
    svg("circle", { class: "recommended", cx: px, cy: py, r: 11 }),
    svg("text", { class: "mark", x: px + (onLeft ? -16 : 16), y: py - 14, "text-anchor": onLeft ? "end" : "start", text: mark.text }),
  );
}

function addInteraction(holder, picture, tooltip, announcement, targets) {
  const ring = svg("circle", { class: "ring", r: 8, visibility: "hidden" });
  picture.append(ring);
  let row = 0, column = 0; // the target and its place that arrow keys have reached
  const hide = () => { tooltip.hidden = true; ring.setAttribute("visibility", "hidden"); };
  const show = (target, { px, py, point }) => {
    const lines = point.details.filter(Boolean).map((text) => html("span", { text }));
    tooltip.replaceChildren(html("strong", { text: point.name || target.name }), ...lines);
    tooltip.hidden = false;
    const fitsRight = px + 14 + tooltip.offsetWidth <= holder.clientWidth;
    const left = fitsRight ? px + 14 : px - 14 - tooltip.offsetWidth;
    tooltip.style.left = `${Math.max(0, Math.min(left, holder.clientWidth - tooltip.offsetWidth))}px`;
    tooltip.style.top = `${Math.max(0, py - tooltip.offsetHeight - 8)}px`;
    ring.setAttribute("cx", px);
    ring.setAttribute("cy", py);
    ring.setAttribute("visibility", target.isLevel ? "hidden" : "visible");
  };
  const onPointer = (event) => {
    const box = picture.getBoundingClientRect();
    const hit = nearest(targets, event.clientX - box.left, event.clientY - box.top);
    if (hit) show(...hit);
    else hide();
  };
  const goToPoint = () => {
    if (!targets.length) return;
    row = (row + targets.length) % targets.length;
    column = Math.max(0, Math.min(column, targets[row].places.length - 1));
    show(targets[row], targets[row].places[column]);
    announcement.textContent = tooltip.innerText;
  };
  picture.addEventListener("pointermove", onPointer);
  picture.addEventListener("pointerdown", onPointer); // a touched point stays until the next touch
  picture.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  picture.addEventListener("blur", hide);
  picture.addEventListener("focus", () => { if (picture.matches(":focus-visible")) goToPoint(); });
  picture.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (event.key === "Escape") { hide(); return; }
    if (!moves[event.key]) return;
    event.preventDefault();
    row += moves[event.key][0];
    column += moves[event.key][1];
    goToPoint();
  });
}

// The nearest point within reach, or the nearest level: [target, place], or null.
function nearest(targets, px, py) {
  let best = null, distance = HOVER_RADIUS;
  for (const target of targets.filter(({ isLevel }) => !isLevel)) {
    for (const place of target.places) {
      const gap = Math.hypot(place.px - px, place.py - py);
      if (gap < distance) { distance = gap; best = [target, place]; }
    }
  }
  if (distance < CLOSE_RADIUS) return best;
  for (const target of targets.filter(({ isLevel }) => isLevel)) {
    const gap = Math.abs(target.places[0].py - py);
    if (gap < LEVEL_RADIUS && gap < distance) { distance = gap; best = [target, { ...target.places[0], px }]; }
  }
  return best;
}
