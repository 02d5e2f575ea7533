// A small picture of each study: the lines of its largest dataset.

const THUMBNAIL = { width: 200, height: 66, margin: 5 };

function drawThumbnails(data) {
  for (const holder of document.querySelectorAll(".thumbnail")) {
    const study = holder.closest("[data-card]").dataset.card;
    const comparison = holder.dataset.thumbnail ? data.comparisons[Number(holder.dataset.thumbnail)] : null;
    const overlaps = data.consistency.find((set) => set.study === study), sizes = data.sizes.find((set) => set.study === study);
    if (comparison) holder.append(comparisonThumbnail(comparison));
    else if (overlaps) holder.append(thumbnail(overlaps.methods.map(methodLine), null, true));
    else if (sizes) holder.append(sizesThumbnail(sizes, data.sizeMethods));
  }
}

function comparisonThumbnail(comparison) {
  const drawn = comparison.methods.filter((method) => comparison.drawn.includes(method.name));
  const unpruned = comparison.references.find((reference) => reference.role === "unpruned");
  return thumbnail(drawn.map(methodLine), unpruned ? unpruned.test[0] : null, true);
}

function sizesThumbnail(set, first) {
  const shown = set.methods.filter(({ name }) => first.includes(name));
  const hops = set.hops[Math.min(1, set.hops.length - 1)];
  const line = ({ style, lines }) => ({ style, points: lines[hops].map(([share, variance]) => [share, Math.log(variance)]) });
  return thumbnail((shown.length ? shown : set.methods).map(line), null, false);
}

function methodLine({ style, points }) {
  return { style, points: points.map((point) => [point.share, point.test[0]]) };
}

// lines: [{style, points: [[share, value], ...]}]
function thumbnail(lines, level, log) {
  const { width, height, margin } = THUMBNAIL;
  const isShown = ([share, value]) => (!log || share > 0) && Number.isFinite(value);
  const shown = lines.map((line) => ({ ...line, points: line.points.filter(isShown) }));
  const points = shown.flatMap((line) => line.points), values = points.map(([, value]) => value);
  const x = scale(paddedDomain(points.map(([share]) => share), log, 0), [margin, width - margin], log);
  const y = scale(paddedDomain(level === null ? values : [...values, level], false, 0), [height - margin, margin], false);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  if (level !== null) picture.append(svg("line", { class: "line level h-ink", x1: 0, x2: width, y1: y(level), y2: y(level) }));
  for (const { style, points: places } of shown) {
    const corners = places.map(([share, value]) => `${x(share).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    if (places.length > 1) picture.append(svg("polyline", { class: `line ${style.line || ""} ${style.css}`, points: corners }));
    else if (places.length) picture.append(svg("g", { class: style.css, transform: `translate(${corners})` }, marker(style.shape, 3)));
  }
  return picture;
}
