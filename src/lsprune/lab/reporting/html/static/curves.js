// The main plot: the metric against the share of edges kept, relative times below it, and the same as a table.

const SIDE_LABELS = { in: "in-neighbours", out: "out-neighbours" };
const LEVEL_STYLE = (role) => ({ css: "h-ink", line: `level level-${role}` });

class Curves {
  section = "comparison";

  names = ["study", "dataset", "target", "metric", "side", "paper", "log", "view", "line", "only"];

  constructor(data, onSelect) {
    this.comparisons = data.comparisons;
    this.first = data.comparisons[data.first];
    this.groups = data.groups;
    this.paperMethods = data.paperMethods;
    this.onSelect = onSelect; // called when another comparison is shown
    this.legend = new Legend(byId("legend"), () => this.draw());
  }

  start() {
    const studies = [...new Set(this.comparisons.map((comparison) => comparison.study))];
    fillSelect(byId("study"), studies.map((name) => [name, name]));
    const current = () => this.comparison;
    byId("study").addEventListener("change", () => this.select(this.find(byId("study").value, current().dataset, current().target)));
    byId("dataset").addEventListener("change", () => this.select(this.find(current().study, byId("dataset").value, current().target)));
    byId("target").addEventListener("change", () => this.select(this.comparisons[Number(byId("target").value)]));
    for (const id of ["metric", "paper", "log"]) byId(id).addEventListener("change", () => this.draw());
    byId("side").addEventListener("change", () => this.updateLegend());
    for (const name of ["chart", "table"]) byId(`view-${name}`).addEventListener("click", () => this.switchTo(name));
    byId("csv").addEventListener("click", () => {
      const { study, dataset, target } = this.comparison;
      download(`${fileName([study, dataset, target, this.field()])}.csv`, csvText(this.rows()));
    });
    this.select(this.first);
  }

  // The view in the address

  state() {
    const { study, dataset, target } = this.comparison;
    const inStudy = this.comparisons.filter((other) => other.study === study);
    const alike = inStudy.filter((other) => other.dataset === dataset);
    return {
      study, dataset: inStudy.length > 1 ? dataset : "", target: alike.length > 1 ? target : "",
      metric: byId("metric").selectedIndex ? this.field() : "", side: byId("side").value,
      paper: byId("paper").checked ? "" : "no", log: byId("log").checked ? "" : "no",
      view: byId("plots").hidden ? "table" : "", ...this.legend.state(""),
    };
  }

  restore(parameters) {
    const get = (name) => parameters.get(name);
    const known = get("study") ? this.find(get("study"), get("dataset"), get("target")) : null;
    for (const id of ["paper", "log"]) byId(id).checked = get(id) !== "no";
    this.switchTo(get("view") === "table" ? "table" : "chart");
    this.select(known || this.first, { metric: get("metric") || "", side: get("side") || "" });
    this.legend.restore(parameters, "");
  }

  // The comparison of this study that is closest to a dataset and target.
  find(study, dataset, target) {
    const inStudy = this.comparisons.filter((comparison) => comparison.study === study);
    const onDataset = inStudy.filter((comparison) => comparison.dataset === dataset);
    return onDataset.find((comparison) => comparison.target === target) || onDataset[0] || inStudy[0];
  }

  // Show a comparison; the metric and the side stay, if it has them and no others are given.
  select(comparison, { metric = byId("metric").value, side = byId("side").value } = {}) {
    this.comparison = comparison;
    byId("comparison-title").textContent = nameOf(comparison);
    byId("study").value = comparison.study;
    const inStudy = this.comparisons.filter((other) => other.study === comparison.study);
    fillSelect(byId("dataset"), [...new Set(inStudy.map((other) => other.dataset))].map((name) => [name, name]), comparison.dataset);
    const targets = inStudy.filter((other) => other.dataset === comparison.dataset);
    const number = (other) => this.comparisons.indexOf(other);
    fillSelect(byId("target"), targets.map((other) => [number(other), other.target || "none"]), number(comparison));
    byId("target-label").hidden = targets.length < 2 && !comparison.target;
    fillSelect(byId("metric"), comparison.metrics.map(({ id, name }) => [id, name]), metric || "test");
    const sides = [...new Set(comparison.methods.map((method) => method.side).filter(Boolean))];
    fillSelect(byId("side"), [["", "both"], ...sides.map((name) => [name, SIDE_LABELS[name]])], side);
    byId("side-label").hidden = sides.length < 2;
    byId("paper-label").hidden = !comparison.paper;
    byId("paper-note").hidden = !comparison.paper;
    this.updateLegend();
    this.onSelect(comparison);
  }

  updateLegend() {
    const { references, drawn, paper } = this.comparison;
    const entries = references.map(({ role, name }) => (
      { id: `level:${role}`, name, kind: "level", group: "References", on: true, style: LEVEL_STYLE(role), about: this.aboutRole(role) }));
    for (const [group, label] of Object.entries(this.groups)) {
      for (const method of this.methods().filter((other) => other.group === group)) {
        const entry = methodEntry(method, label, drawn.includes(method.name));
        entries.push({ ...entry, name: method.name + (method.everyEpoch ? " (redrawn every epoch)" : "") });
      }
    }
    for (const name of Object.keys(paper ? paper.metric : {})) {
      const style = { ...this.paperMethods[name].style, hollow: true };
      entries.push({ id: `paper:${name}`, name: this.paperLabel(name), kind: "paper", group: "The paper’s points", on: true, style });
    }
    this.legend.show(entries);
    this.draw();
  }

  field() {
    return byId("metric").value;
  }

  aboutRole(role) {
    return { unpruned: "The whole graph: no edge is removed.", basic: "The plain variant of the model, on the whole graph." }[role]
      || "No edges at all: shows whether topology matters.";
  }

  paperLabel(name) {
    return `${this.paperMethods[name].label}, paper`;
  }

  // What is switched on

  methods() {
    const side = byId("side").value;
    return this.comparison.methods.filter((method) => !side || !method.side || method.side === side);
  }

  visibleMethods() {
    return this.methods().filter((method) => this.legend.isVisible(`method:${method.name}`));
  }

  visibleReferences() {
    return this.comparison.references.filter((reference) => this.legend.isVisible(`level:${reference.role}`));
  }

  visiblePaper() {
    const { paper } = this.comparison;
    if (!paper || !byId("paper").checked) return [];
    return Object.entries(paper.metric).filter(([name]) => this.legend.isVisible(`paper:${name}`));
  }

  // Plots

  draw() {
    const field = this.field(), log = byId("log").checked, { dataset, target, metrics } = this.comparison;
    const { name, axis: label } = metrics.find((metric) => metric.id === field);
    const methods = this.visibleMethods().map((method) => (
      { name: method.name, style: method.style, points: method.points.map((point) => this.point(point, field)) }));
    const series = [...methods, ...this.visiblePaper().map(([name, points]) => this.paperLine(name, points))];
    const levels = this.visibleReferences().map(({ name, role, [field]: estimate }) => {
      const [y, low, high] = estimate;
      return { name, role, y, low, high, details: estimateText(estimate) };
    });
    const x = { label: "Share of edges kept", share: true, log, domain: shareDomain(series, log) };
    drawChart(byId("main-chart"), { title: [dataset, target, name].filter(Boolean).join(", "), x, y: { label }, series, levels });
    this.drawTimes(x);
    this.showPaperNote(field);
    const rows = this.rows();
    byId("table-note").textContent = `${plural(rows.length, "row")}: the lines that are switched on. Times are relative to the unpruned graph.`;
    showTable(byId("table"), rows);
    showGlossary(byId("glossary"), this.visibleMethods().map((method) => method.name));
  }

  // A point of a method, with how it compares with the unpruned graph.
  point(point, field) {
    const place = estimatePoint(point.share, point[field], point.k), { references, higherIsBetter } = this.comparison;
    const unpruned = references.find((reference) => reference.role === "unpruned");
    if (!unpruned) return place;
    return { ...place, details: [...place.details, differenceText(place.y, unpruned[field][0], higherIsBetter)] };
  }

  paperLine(name, points) {
    return { name: this.paperLabel(name), style: { ...this.paperMethods[name].style, hollow: true }, points: points.map(paperPoint) };
  }

  drawTimes(x) {
    const { methods, paper, timingProblem } = this.comparison;
    const anyTime = methods.some((method) => method.points.some((point) => point.trainingTime !== null));
    byId("times-note").hidden = anyTime;
    const reason = timingProblem || (methods.length ? "no run with a pruned graph compares" : "no pruned graph was run yet");
    byId("times-note").textContent = `No relative times of our runs: ${reason}.`;
    const showPaper = paper && byId("paper").checked && !this.legend.isolated;
    const paperTimes = showPaper ? Object.entries(paper.time).map(([name, points]) => this.paperLine(name, points)) : [];
    this.drawTime(byId("train-chart"), "trainingTime", "Training time / unpruned (below 1 is faster)", x, []);
    this.drawTime(byId("test-chart"), "testTime", anyTime ? "Test time / unpruned (below 1 is faster)" : "Test time / unpruned, in the paper (below 1 is faster)", x, paperTimes);
  }

  drawTime(holder, field, label, x, paperTimes) {
    const methods = this.visibleMethods().map((method) => ({
      name: method.name, style: { ...method.style, small: true },
      points: method.points.filter((point) => point[field] !== null).map((point) => (
        { x: point.share, y: point[field], details: [shareText(point.share), `${digits(point[field])} of the unpruned time`] })),
    }));
    const series = [...methods.filter((line) => line.points.length), ...paperTimes];
    if (!series.some((line) => line.points.some((point) => !x.log || point.x > 0))) { clearChart(holder); return; }
    const level = { name: "unpruned", role: "unpruned", y: 1, low: null, high: null, details: ["1, by definition"] };
    drawChart(holder, { title: `${this.comparison.dataset}, ${label}`, height: 215, x, y: { label }, series, levels: [level] });
  }

  showPaperNote(field) {
    const offersBest = this.comparison.metrics.some((metric) => metric.id === "test_max");
    const how = field === "test_max" || !offersBest ? "" : " The paper reports the best test value of all epochs; choose the metric “best epoch by test” to compare.";
    byId("paper-note").textContent = byId("paper").checked ? `Hollow points are the paper’s own.${how}` : "";
  }

  // The table

  rows() {
    const field = this.field(), noTimes = [null, null, null];
    const references = this.visibleReferences().map((reference) => (
      [reference.name, reference.role === "no-edges" ? 0 : 1, ...reference[field], ...noTimes]));
    const methods = this.visibleMethods().flatMap((method) => method.points.map((point) => (
      [method.name, point.share, ...point[field], point.trainingTime, point.testTime, point.pruningSeconds])));
    const paper = this.visiblePaper().flatMap(([name, points]) => points.map(([share, value]) => (
      [this.paperLabel(name), share, value, null, null, null, ...noTimes])));
    return [...references, ...methods, ...paper];
  }

  switchTo(shown) {
    switchView(byId("plots"), byId("table-view"), { chart: byId("view-chart"), table: byId("view-table") }, shown);
  }
}
