// How much of what two samples of a class keep is the same, against the share of edges kept, and the same as a table.

const OVERLAP_COLUMNS = ["line", "edges kept", "overlap", "low", "high", "runs"];

class Consistency {
  section = "consistency";

  names = ["consistency-dataset", "consistency-view", "consistency-line", "consistency-only"];

  constructor(data) {
    this.sets = data.consistency;
    this.groups = data.groups;
    this.legend = new Legend(byId("consistency-legend"), () => this.draw());
  }

  start() {
    fillSelect(byId("consistency-dataset"), datasetOptions(this.sets));
    byId("consistency-sets").hidden = this.sets.length < 2;
    byId("consistency-dataset").addEventListener("change", () => this.select());
    for (const name of ["chart", "table"]) byId(`consistency-view-${name}`).addEventListener("click", () => this.switchTo(name));
    byId("consistency-csv").addEventListener("click", () => (
      download(`${fileName([this.set.study, this.set.dataset])}.csv`, csvText(this.rows(), OVERLAP_COLUMNS))));
    this.select();
    rememberSelects(["consistency-dataset"]);
  }

  state() {
    const view = byId("consistency-chart").hidden ? "table" : "";
    return { ...selectStates(["consistency-dataset"]), "consistency-view": view, ...this.legend.state("consistency-") };
  }

  restore(parameters) {
    restoreSelect("consistency-dataset", parameters);
    this.select();
    this.switchTo(parameters.get("consistency-view") === "table" ? "table" : "chart");
    this.legend.restore(parameters, "consistency-");
  }

  select() {
    this.set = chosenSet(this.sets, byId("consistency-dataset").value);
    const entries = Object.entries(this.groups).flatMap(([group, label]) => (
      this.set.methods.filter((method) => method.group === group).map((method) => methodEntry(method, label, true))));
    this.legend.show(entries);
    this.draw();
  }

  visibleMethods() {
    return this.set.methods.filter((method) => this.legend.isVisible(`method:${method.name}`));
  }

  draw() {
    const { dataset, metric } = this.set;
    const series = this.visibleMethods().map((method) => (
      { name: method.name, style: method.style, points: method.points.map((point) => estimatePoint(point.share, point.test, point.k)) }));
    const x = { label: "Share of edges kept", share: true };
    drawChart(byId("consistency-chart"), { title: `${dataset}, ${metric}`, x, y: { label: metric }, series });
    const rows = this.rows();
    byId("consistency-note").textContent = `${plural(rows.length, "row")}: the lines that are switched on.`;
    showTable(byId("consistency-table"), rows, OVERLAP_COLUMNS);
  }

  rows() {
    return this.visibleMethods().flatMap((method) => method.points.map((point) => [method.name, point.share, ...point.test]));
  }

  switchTo(shown) {
    const buttons = { chart: byId("consistency-view-chart"), table: byId("consistency-view-table") };
    switchView(byId("consistency-chart"), byId("consistency-table-view"), buttons, shown);
  }
}
