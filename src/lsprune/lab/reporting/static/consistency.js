// Whether two samples of a class keep the same edges: the overlap against the share, and the same as a table.

const OVERLAP_COLUMNS = ["line", "edges kept", "overlap", "low", "high", "runs"];

class Consistency {
  constructor(data) {
    this.sets = data.consistency;
    this.legend = new Legend(byId("consistency-legend"), () => this.draw());
  }

  start() {
    if (!this.sets.length) { byId("consistency").hidden = true; return; }
    fill(byId("consistency-dataset"), this.sets.map((one, i) => [i, this.called(one)]));
    byId("consistency-sets").hidden = this.sets.length < 2;
    byId("consistency-dataset").addEventListener("change", () => this.pick());
    for (const name of ["chart", "table"]) byId(`consistency-view-${name}`).addEventListener("click", () => this.view(name));
    byId("consistency-csv").addEventListener("click", () => (
      download(`${plainName([this.set.study, this.set.dataset])}.csv`, csvText(this.rows(), OVERLAP_COLUMNS))));
    this.pick();
  }

  called(one) {
    const again = this.sets.filter((other) => other.dataset === one.dataset).length > 1;
    return one.dataset + (again ? ` (${one.study})` : "");
  }

  pick() {
    this.set = this.sets[Number(byId("consistency-dataset").value)];
    const groups = { chance: "Chance", ours: "LSP", other: "Others" };
    this.legend.show(Object.keys(groups).flatMap((group) => this.set.methods.filter((one) => one.group === group).map((method) => (
      { id: `method:${method.name}`, name: method.name, kind: "method", group: groups[group], on: true, look: lookOf(method) }))));
    this.draw();
  }

  seen() {
    const on = new Set(this.legend.entries.filter((entry) => this.legend.visible(entry)).map((entry) => entry.id));
    return this.set.methods.filter((method) => on.has(`method:${method.name}`));
  }

  draw() {
    const series = this.seen().map((method) => ({
      name: method.name, look: lookOf(method), points: method.points.map((point) => {
        const [y, low, high] = point.test;
        const said = [`${perCent(point.share)} of edges kept${point.k ? `, k = ${point.k}` : ""}`, ...between(point.test)];
        return { x: point.share, y, low, high, said };
      }),
    }));
    const x = { label: "Share of edges kept", share: true }, label = this.set.metric;
    chart(byId("consistency-chart"), { title: `${this.set.dataset}, ${label}`, x, y: { label }, series });
    const rows = this.rows();
    byId("consistency-note").textContent = `${rows.length} rows: the lines that are switched on.`;
    showTable(byId("consistency-table"), rows, OVERLAP_COLUMNS);
  }

  rows() {
    return this.seen().flatMap((method) => method.points.map((point) => [method.name, point.share, ...point.test]));
  }

  view(which) {
    byId("consistency-chart").hidden = which !== "chart";
    byId("consistency-table-view").hidden = which !== "table";
    for (const name of ["chart", "table"]) byId(`consistency-view-${name}`).setAttribute("aria-pressed", String(name === which));
  }
}
