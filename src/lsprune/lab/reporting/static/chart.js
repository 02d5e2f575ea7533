// One plot: lines with bands, levels across, marks; hover and arrow keys give exact values.
//
// spec = { title, height, x: {label, log, share, domain, ticks}, y: {label, log, domain},
//          series: [{name, look: {css, shape, line, hollow, faint}, points: [{x, y, low, high, said}]}],
//          levels: [{name, look, id, y, low, high, said}], marks: [{x, y, text}] }

const MARGIN = { left: 58, right: 16, top: 30, bottom: 46 };
const REACH = 36; // pixels from a point at which it is still meant

function chart(holder, spec) {
  holder.spec = spec;
  if (!holder.watched) {
    holder.watched = new ResizeObserver(() => {
      if (holder.spec && holder.clientWidth && holder.clientWidth !== holder.drawnAt) paint(holder);
    });
    holder.watched.observe(holder);
  }
  paint(holder);
}

function clearChart(holder) {
  holder.spec = null;
  holder.replaceChildren();
}

function xDomain(series, log) {
  const values = series.flatMap((one) => one.points.map((point) => point.x)).filter((x) => !log || x > 0);
  if (!values.length) return log ? [0.05, 1] : [0, 1];
  const wide = widened(values, log, log ? 0.03 : 0.04);
  return log ? wide : [Math.max(wide[0], -0.03), Math.min(wide[1], 1.05)];
}

function yValues(series, levels) {
  const of = (one) => [one.y, one.low, one.high].filter((value) => value !== null && value !== undefined);
  return [...series.flatMap((one) => one.points.flatMap(of)), ...(levels || []).flatMap(of)];
}

function paint(holder) {
  const spec = holder.spec, width = holder.clientWidth || 320;
  holder.drawnAt = width;
  const height = spec.height || Math.max(270, Math.min(430, width * 0.52));
  const levels = spec.levels || [];
  const across = spec.x.domain || (spec.x.share ? xDomain(spec.series, spec.x.log)
    : widened(spec.series.flatMap((one) => one.points.map((point) => point.x)), spec.x.log, 0.05));
  const up = spec.y.domain || widened(yValues(spec.series, levels), spec.y.log, 0.06);
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const x = scale(across, [inner.left, inner.right], spec.x.log);
  const y = scale(up, [inner.bottom, inner.top], spec.y.log);
  const picture = svg("svg", {
    class: spec.series.length > 12 ? "many" : null, width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "group",
    "aria-label": `Plot: ${spec.title || spec.y.label}. Arrow keys go from point to point.`,
  });
  drawAxes(picture, spec, across, up, x, y, inner);
  const clip = (value) => Math.max(inner.top - 2, Math.min(inner.bottom + 2, value));
  const targets = [];
  for (const level of levels) targets.push(drawLevel(picture, level, y, inner, clip));
  const fits = (point) => (!spec.x.log || point.x > 0) && (!spec.y.log || point.y > 0);
  const drawn = spec.series.map((one) => ({ ...one, points: one.points.filter(fits) }));
  for (const one of drawn) drawBand(picture, one, x, y, clip);
  for (const one of drawn) drawLine(picture, one, x, y);
  for (const one of drawn) targets.push(drawPoints(picture, one, x, y));
  for (const mark of spec.marks || []) drawMark(picture, mark, x(mark.x), y(mark.y), inner);
  const tip = html("div", { class: "tip", hidden: true });
  const said = html("div", { class: "skip", role: "status" });
  holder.replaceChildren(picture, tip, said);
  listen(holder, picture, tip, said, targets.filter((one) => one.points.length));
}

function drawAxes(picture, spec, across, up, x, y, inner) {
  const count = Math.max(3, Math.round((inner.bottom - inner.top) / 48));
  for (const tick of spec.y.log ? logTicks(up, count) : ticks(up, count)) {
    picture.append(
      svg("line", { class: "grid", x1: inner.left, x2: inner.right, y1: y(tick.value), y2: y(tick.value) }),
      svg("text", { x: inner.left - 8, y: y(tick.value) + 4, "text-anchor": "end", text: tick.text }),
    );
  }
  const wide = inner.right - inner.left;
  const marks = spec.x.ticks || (spec.x.share ? shareTicks(across, spec.x.log, wide) : ticks(across, Math.max(2, Math.round(wide / 90))));
  for (const tick of marks) {
    picture.append(
      svg("line", { class: "axis", x1: x(tick.value), x2: x(tick.value), y1: inner.bottom, y2: inner.bottom + 5 }),
      svg("text", { x: x(tick.value), y: inner.bottom + 19, "text-anchor": "middle", text: tick.text }),
    );
  }
  picture.append(
    svg("line", { class: "axis", x1: inner.left, x2: inner.right, y1: inner.bottom, y2: inner.bottom }),
    svg("text", { x: (inner.left + inner.right) / 2, y: inner.bottom + 38, "text-anchor": "middle", text: spec.x.label }),
    svg("text", { x: 0, y: 15, class: "title", text: spec.y.label }),
  );
}

function drawLevel(picture, level, y, inner, clip) {
  const at = y(level.y);
  if (level.low !== null && level.low !== undefined) {
    const top = clip(y(level.high)), high = Math.max(clip(y(level.low)) - top, 0);
    picture.append(svg("rect", { class: `band ${level.look.css}`, x: inner.left, y: top, width: inner.right - inner.left, height: high }));
  }
  picture.append(svg("line", {
    class: `line level level-${level.id} ${level.look.css}`, x1: inner.left, x2: inner.right, y1: at, y2: at, "data-line": level.name,
  }));
  return { name: level.name, across: true, points: [{ px: inner.right - 30, py: at, point: level }] };
}

function drawBand(picture, one, x, y, clip) {
  const there = one.points.filter((point) => point.low !== null && point.low !== undefined);
  if (there.length < 2 || one.look.line === "none") return;
  const top = there.map((point) => `${x(point.x)},${clip(y(point.high))}`);
  const back = there.map((point) => `${x(point.x)},${clip(y(point.low))}`).reverse();
  picture.append(svg("polygon", { class: `band ${one.look.css}`, points: [...top, ...back].join(" ") }));
}

function drawLine(picture, one, x, y) {
  if (one.look.line === "none" || one.points.length < 2) return;
  const path = one.points.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  picture.append(svg("polyline", { class: `line ${one.look.line || ""} ${one.look.css}`, points: path, "data-line": one.name }));
}

function drawPoints(picture, one, x, y) {
  const kind = one.look.hollow ? "hollow" : one.look.faint ? "faint" : "";
  const points = one.points.map((point, index) => {
    const px = x(point.x), py = y(point.y);
    const css = point.css || one.look.css, shape = point.shape || one.look.shape;
    picture.append(svg("g", { class: css, transform: `translate(${px} ${py})`, "data-series": one.name, "data-index": index },
      marker(shape, one.look.small ? 3 : 4.2, kind)));
    return { px, py, point };
  });
  return { name: one.name, points };
}

function drawMark(picture, mark, px, py, inner) {
  const left = px > (inner.left + inner.right) / 2;
  picture.append(
    svg("circle", { class: "chosen", cx: px, cy: py, r: 11 }),
    svg("text", { class: "mark", x: px + (left ? -16 : 16), y: py - 14, "text-anchor": left ? "end" : "start", text: mark.text }),
  );
}

function listen(holder, picture, tip, said, targets) {
  const ring = svg("circle", { class: "ring", r: 8, visibility: "hidden" });
  picture.append(ring);
  let row = 0, column = 0;
  const hide = () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); };
  const show = (target, place) => {
    const { point } = place, name = point.name || target.name;
    tip.replaceChildren(html("strong", { text: name }), ...point.said.filter(Boolean).map((text) => html("span", { text })));
    tip.hidden = false;
    const left = place.px + 14 + tip.offsetWidth > holder.clientWidth ? place.px - 14 - tip.offsetWidth : place.px + 14;
    tip.style.left = `${Math.max(0, Math.min(left, holder.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, place.py - tip.offsetHeight - 8)}px`;
    ring.setAttribute("cx", place.px);
    ring.setAttribute("cy", place.py);
    ring.setAttribute("visibility", target.across ? "hidden" : "visible");
  };
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const found = nearest(targets, event.clientX - box.left, event.clientY - box.top);
    if (found) show(...found);
    else hide();
  };
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerdown", point); // a finger: what it touched stays until the next touch
  picture.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  picture.addEventListener("blur", hide);
  const go = () => {
    if (!targets.length) return;
    row = (row + targets.length) % targets.length;
    column = Math.max(0, Math.min(column, targets[row].points.length - 1));
    show(targets[row], targets[row].points[column]);
    said.textContent = tip.innerText;
  };
  picture.addEventListener("focus", () => { if (picture.matches(":focus-visible")) go(); });
  picture.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (event.key === "Escape") { hide(); return; }
    if (!moves[event.key]) return;
    event.preventDefault();
    row += moves[event.key][0];
    column += moves[event.key][1];
    go();
  });
}

function nearest(targets, px, py) {
  let best = null, far = REACH;
  for (const target of targets.filter((one) => !one.across)) {
    for (const place of target.points) {
      const gap = Math.hypot(place.px - px, place.py - py);
      if (gap < far) { far = gap; best = [target, place]; }
    }
  }
  if (far < 12) return best; // a point on a level is easier to miss than the level
  for (const target of targets.filter((one) => one.across)) {
    const gap = Math.abs(target.points[0].py - py);
    if (gap < 8 && gap < far) { far = gap; best = [target, { ...target.points[0], px }]; }
  }
  return best;
}
