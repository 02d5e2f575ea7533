// The paper's figure and ours, with the same axes.

const PAIR_RADII = { "lsp-p": 5.8, "lsp-t": 3.2 }; // of markers; the usual radius for other methods

function showPaperFigures(comparison, { comparisons, paperMethods }) {
  const paperHolder = byId("paper-chart"), oursHolder = byId("ours-chart");
  if (!comparison.paper) {
    byId("paper-figures-note").replaceChildren("The paper has no figure of this dataset. It has figures of ", ...paperLinks(comparisons), ".");
    clearChart(paperHolder);
    clearChart(oursHolder);
    byId("paper-figures-key").replaceChildren();
    return;
  }
  const field = comparison.metrics.some((metric) => metric.id === "test_max") ? "test_max" : "test";
  const theirs = Object.entries(comparison.paper.metric).map(([name, points]) => ({
    name: paperMethods[name].label, style: pairStyle(name, paperMethods[name].style), points: points.map(paperPoint),
  }));
  const ours = Object.entries(paperMethods).flatMap(([paperName, { style, ours: candidates }]) => {
    const method = candidates.map((name) => comparison.methods.find((other) => other.name === name)).find(Boolean);
    if (!method) return [];
    const points = method.points.map((point) => estimatePoint(point.share, point[field]));
    return [{ name: method.name, style: pairStyle(paperName, style), points }];
  });
  const references = comparison.references.filter((reference) => reference.role !== "no-edges").map((reference) => ({
    name: reference.name, style: { css: "h-ink", shape: reference.role === "basic" ? "diamond" : "down", line: "none" },
    points: [{ ...estimatePoint(1, reference[field]), details: estimateText(reference[field]) }],
  }));
  const all = [...theirs, ...ours, ...references];
  const x = { label: "Share of edges kept", share: true, domain: shareDomain(all, false) };
  const domain = paddedDomain(heights(all), false, 0.06), metric = comparison.metrics[0].axis;
  const names = ours.map((line) => line.name).join(", ") || "no pruned graph was run yet";
  const epoch = field === "test_max" ? ", at the best epoch by test, as the paper reports it" : "";
  byId("paper-figures-note").textContent = `Both plots have the same axes. Ours: ${names}${epoch}.`;
  const shapes = theirs.map((line) => line.style.shape);
  showKey(byId("paper-figures-key"), [...theirs, ...references.filter((line) => !shapes.includes(line.style.shape))]);
  drawChart(paperHolder, { title: "the paper", height: 320, x, y: { label: `Paper: ${metric}`, domain }, series: theirs });
  drawChart(oursHolder, { title: "ours", height: 320, x, y: { label: `Ours: ${metric}`, domain }, series: [...ours, ...references] });
}

// A small marker lies on a large one: where the lines of LSP-P and LSP-T coincide, both are seen.
function pairStyle(name, style) {
  return { ...style, radius: PAIR_RADII[name] };
}

// Links to the datasets that the paper has figures of.
function paperLinks(comparisons) {
  const having = comparisons.filter(({ paper }) => paper);
  const first = having.filter((one, i) => having.findIndex((other) => nameOf(other) === nameOf(one)) === i);
  return first.flatMap((one, i) => {
    const view = new URLSearchParams({ study: one.study, dataset: one.dataset, ...(one.target ? { target: one.target } : {}), at: "paper-figures" });
    return [i ? ", " : "", html("a", { href: `#${view}`, text: nameOf(one) })];
  });
}
