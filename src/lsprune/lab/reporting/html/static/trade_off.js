// The metric against the cost of training.

function showTradeOff(comparison) {
  const { recommendation, tradeOff } = comparison;
  const inSeconds = tradeOff.cost === "seconds";
  const longest = Math.max(0, ...comparison.methods.flatMap((method) => method.points.map((point) => point.epochSeconds || 0)));
  const unit = longest < 0.1 ? { short: "ms", name: "Milliseconds", factor: 1000 } : { short: "s", name: "Seconds", factor: 1 };
  const costOf = (point) => (!inSeconds ? point.share : point.epochSeconds === null ? null : point.epochSeconds * unit.factor);
  const epochText = (seconds) => (inSeconds ? `${digits(seconds * unit.factor)} ${unit.short} per epoch` : "");
  const details = (point) => [shareText(point.share), ...estimateText(point.test), epochText(point.epochSeconds)];
  const series = comparison.methods.filter((method) => !method.everyEpoch).map((method) => ({
    name: method.name, style: { ...method.style, line: "none", faint: true, small: true },
    points: method.points.filter((point) => costOf(point) !== null).map((point) => (
      { x: costOf(point), y: point.test[0], details: details(point) })),
  })).filter((line) => line.points.length);
  const isEmpty = !series.length;
  byId("trade-chart").hidden = isEmpty;
  const horizontal = inSeconds ? `median ${unit.name.toLowerCase()} of a training epoch`
    : `the share of edges, because times do not compare (${comparison.timingProblem})`;
  byId("trade-note").textContent = isEmpty ? "No pruned graph was run here yet."
    : `The line joins the points that no other point beats in both metric and cost, the unpruned graph included. Horizontal axis: ${horizontal}. The line is chosen by test values, so it is a little optimistic.`;
  if (isEmpty) { clearChart(byId("trade-chart")); return; }
  const unpruned = comparison.references.find((reference) => reference.role === "unpruned");
  const front = tradeOff.front.map((point) => frontPoint(comparison, point, inSeconds ? unit.factor : 1, details, unpruned, epochText));
  const frontLine = { name: "front", style: { css: "h-ink", shape: "diamond" }, points: front };
  const best = comparison.methods.find((method) => method.name === recommendation.method);
  const advised = best && recommendation.found ? best.points.find((point) => point.share === recommendation.share) : null;
  const marks = advised && costOf(advised) !== null ? [{ x: costOf(advised), y: advised.test[0], text: "recommended" }] : [];
  const levels = unpruned ? [{
    name: "unpruned", role: "unpruned", y: unpruned.test[0], low: unpruned.test[1], high: unpruned.test[2], details: estimateText(unpruned.test),
  }] : [];
  const x = inSeconds ? { label: `${unit.name} of a training epoch` } : { label: "Share of edges kept", share: true, log: true };
  drawChart(byId("trade-chart"), {
    title: `${comparison.dataset}, trade-off`, x, y: { label: comparison.metrics[0].axis }, series: [...series, frontLine], marks, levels,
  });
}

// A point of the front, in the style of its method; the unpruned graph has none.
function frontPoint(comparison, point, factor, details, unpruned, epochText) {
  const method = comparison.methods.find((other) => other.name === point.method);
  const place = { x: point.cost * factor, y: point.metric };
  if (!method) {
    const lines = ["the whole graph", ...estimateText(unpruned.test), epochText(point.cost)];
    return { ...place, name: "unpruned", css: "h-ink", shape: "diamond", details: lines };
  }
  const source = method.points.find((other) => other.share === point.share);
  return { ...place, name: method.name, css: method.style.css, shape: method.style.shape, details: details(source) };
}
