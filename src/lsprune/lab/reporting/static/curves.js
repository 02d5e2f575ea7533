// The main plot: which panel, metric and lines are shown, and the same as a table.

const HUES = 12; // as many as page.css has
const SHAPE_OF = ["circle", "up", "diamond", "square", "down"];
const PAPER_METHODS = { random: "random", "lsp-p": "lsp-p", "lsp-t": "lsp-t", basic: "basic", any: "any method" };

function lookOf(method) {
  if (method.name === "random") return { css: "h-random", shape: "cross" };
  if (method.name === "local-random") return { css: "h-local", shape: "square" };
  const hue = method.place % HUES, round = Math.floor(method.place / HUES); // a colour used again has another marker
  const shape = SHAPE_OF[(hue + round + (method.group === "ours" ? 0 : 2)) % SHAPE_OF.length];
  return { css: `h${hue}`, shape, line: method.group === "ours" ? "" : "dashed" };
}

function paperLook(name) {
  const css = { random: "h-random", "lsp-p": "h0", "lsp-t": "h1" }[name] || "h-ink";
  const shape = { random: "square", "lsp-p": "circle", "lsp-t": "up", basic: "diamond" }[name] || "circle";
  return { css, shape, line: "dotted", hollow: true };
}

class Curves {
  constructor(data) {
    this.panels = data.panels;
    this.panel = data.panels[0];
    this.legend = new Legend(byId("legend"), () => this.draw());
    this.after = [];
  }

  start() {
    const studies = [...new Set(this.panels.map((panel) => panel.study))];
    fill(byId("study"), studies.map((name) => [name, name]));
    byId("study").addEventListener("change", () => this.pick(this.find(byId("study").value, this.panel.dataset, this.panel.target)));
    byId("dataset").addEventListener("change", () => this.pick(this.find(this.panel.study, byId("dataset").value, this.panel.target)));
    byId("target").addEventListener("change", () => this.pick(this.panels[Number(byId("target").value)]));
    for (const name of ["metric", "paper", "log"]) byId(name).addEventListener("change", () => this.draw());
    byId("side").addEventListener("change", () => this.listed());
    byId("view-chart").addEventListener("click", () => this.view("chart"));
    byId("view-table").addEventListener("click", () => this.view("table"));
    byId("csv").addEventListener("click", () => download(`${this.fileName()}.csv`, csvText(this.rows())));
    for (const button of document.querySelectorAll("[data-panel]")) {
      button.addEventListener("click", () => {
        this.pick(this.panels[Number(button.dataset.panel)]);
        byId("controls").scrollIntoView();
        byId("dataset").focus({ preventScroll: true });
      });
    }
    this.pick(this.panels.reduce((best, panel) => (panel.methods.length > best.methods.length ? panel : best)));
  }

  find(study, dataset, target) {
    const there = this.panels.filter((panel) => panel.study === study);
    const same = there.filter((panel) => panel.dataset === dataset);
    return same.find((panel) => panel.target === target) || same[0] || there[0];
  }

  pick(panel) {
    this.panel = panel;
    byId("study").value = panel.study;
    const there = this.panels.filter((one) => one.study === panel.study);
    fill(byId("dataset"), [...new Set(there.map((one) => one.dataset))].map((name) => [name, name]), panel.dataset);
    const targets = there.filter((one) => one.dataset === panel.dataset);
    fill(byId("target"), targets.map((one) => [this.panels.indexOf(one), one.target || "none"]), this.panels.indexOf(panel));
    byId("target-label").hidden = targets.length < 2 && !panel.target;
    fill(byId("metric"), panel.metrics.map((metric) => [metric.id, metric.name]), byId("metric").value || "test");
    const sides = [...new Set(panel.methods.map((method) => method.side).filter(Boolean))];
    const names = { in: "in: what a node hears", out: "out: whom it tells" };
    fill(byId("side"), [["", "both"], ...sides.map((side) => [side, names[side]])], byId("side").value);
    byId("side-label").hidden = sides.length < 2;
    this.listed();
  }

  methods() {
    const side = byId("side").value;
    return this.panel.methods.filter((method) => !side || !method.side || method.side === side);
  }

  listed() {
    const panel = this.panel, groups = { chance: "Chance", ours: "LSP", other: "Others" };
    const known = this.methods();
    const entries = panel.levels.map((level) => ({
      id: `level:${level.id}`, name: level.name, kind: "level", group: "References", on: true,
      look: { css: "h-ink", line: `level level-${level.id}` },
    }));
    for (const group of Object.keys(groups)) {
      for (const method of known.filter((one) => one.group === group)) {
        entries.push({
          id: `method:${method.name}`, name: method.name + (method.fresh ? " (anew each epoch)" : ""), kind: "method",
          group: groups[group], on: panel.shown.includes(method.name), look: lookOf(method),
        });
      }
    }
    for (const name of Object.keys(panel.paper ? panel.paper.metric : {})) {
      entries.push({ id: `paper:${name}`, name: `${PAPER_METHODS[name]}, paper`, kind: "paper", group: "The paper’s points", on: true, look: paperLook(name) });
    }
    this.legend.show(entries);
    this.draw();
  }

  field() {
    return byId("metric").value;
  }

  seen(id) {
    const entry = this.legend.entries.find((one) => one.id === id);
    return Boolean(entry) && (entry.kind !== "paper" || byId("paper").checked) && this.legend.visible(entry);
  }

  series(field) {
    return this.methods().filter((method) => this.seen(`method:${method.name}`)).map((method) => ({
      name: method.name, look: lookOf(method), points: method.points.map((point) => {
        const [y, low, high] = point[field];
        const said = [`${perCent(point.share)} of edges kept${point.k ? `, k = ${point.k}` : ""}`, ...between(point[field])];
        return { x: point.share, y, low, high, said };
      }),
    }));
  }

  paperSeries(kind) {
    if (!this.panel.paper) return [];
    const lines = Object.entries(this.panel.paper[kind]);
    return lines.filter(([name]) => (kind === "time" ? byId("paper").checked && !this.legend.state.isolated : this.seen(`paper:${name}`)))
      .map(([name, points]) => ({
        name: `${PAPER_METHODS[name]}, paper`, look: paperLook(name),
        points: points.map(([x, y]) => ({ x, y, said: [`${perCent(x)} of edges kept`, `${digits(y)} in the paper`] })),
      }));
  }

  levels(field) {
    return this.panel.levels.filter((level) => this.seen(`level:${level.id}`)).map((level) => {
      const [y, low, high] = level[field];
      return { name: level.name, id: level.id, look: { css: "h-ink" }, y, low, high, said: between(level[field]) };
    });
  }

  draw() {
    const field = this.field(), log = byId("log").checked, panel = this.panel;
    const label = panel.metrics.find((metric) => metric.id === field).name;
    const series = [...this.series(field), ...this.paperSeries("metric")];
    const domain = xDomain(series, log);
    const title = [panel.dataset, panel.target, label].filter(Boolean).join(", ");
    const x = { label: "Share of edges kept", share: true, log, domain };
    chart(byId("main-chart"), { title, x, y: { label }, series, levels: this.levels(field) });
    this.times(x);
    this.notes(field);
    this.table();
    for (const after of this.after) after(panel);
  }

  times(x) {
    const panel = this.panel;
    const note = byId("times-note");
    const any = panel.methods.some((method) => method.points.some((point) => point.train !== null));
    note.hidden = any;
    note.textContent = panel.noTimes ? `No relative times of ours: ${panel.noTimes}.`
      : panel.methods.length ? "No relative times of ours: no run with a pruned graph compares." : "No relative times of ours: nothing pruned was run yet.";
    this.timeChart(byId("train-chart"), "train", "Training time / unpruned", x, []);
    this.timeChart(byId("test-chart"), "apply", any ? "Test time / unpruned" : "Test time / unpruned, in the paper", x, this.paperSeries("time"));
  }

  timeChart(holder, field, label, x, more) {
    const series = this.methods().filter((method) => this.seen(`method:${method.name}`)).map((method) => ({
      name: method.name, look: { ...lookOf(method), small: true },
      points: method.points.filter((point) => point[field] !== null).map((point) => ({
        x: point.share, y: point[field], said: [`${perCent(point.share)} of edges kept`, `${digits(point[field])} of the unpruned time`],
      })),
    })).filter((one) => one.points.length);
    const all = [...series, ...more];
    if (!all.some((one) => one.points.some((point) => !x.log || point.x > 0))) { clearChart(holder); return; }
    const level = { name: "unpruned", id: "none", look: { css: "h-ink" }, y: 1, low: null, high: null, said: ["1, by definition"] };
    const title = `${this.panel.dataset}, ${label}`;
    chart(holder, { title, height: 215, x, y: { label }, series: all, levels: [level] });
  }

  notes(field) {
    const there = this.panel.paper && byId("paper").checked;
    const how = field === "test_max" ? "" : " The paper reports the best test value of all epochs; the metric “best epoch by test” is the like of it.";
    byId("paper-note").textContent = !this.panel.paper ? "The paper has no figure of this."
      : there ? `Hollow points are the paper’s own.${how}` : "";
  }

  rows() {
    const field = this.field(), rows = [];
    for (const level of this.panel.levels.filter((one) => this.seen(`level:${one.id}`))) {
      rows.push([level.name, level.id === "no-edges" ? 0 : 1, ...level[field], null, null, null]);
    }
    for (const method of this.methods().filter((one) => this.seen(`method:${one.name}`))) {
      for (const point of method.points) rows.push([method.name, point.share, ...point[field], point.train, point.apply, point.prune]);
    }
    for (const [name, points] of Object.entries(this.panel.paper ? this.panel.paper.metric : {})) {
      if (!this.seen(`paper:${name}`)) continue;
      for (const [x, y] of points) rows.push([`${PAPER_METHODS[name]}, paper`, x, y, null, null, null, null, null, null]);
    }
    return rows;
  }

  table() {
    const rows = this.rows();
    byId("table-note").textContent = `${rows.length} rows: the lines that are switched on. Times are beside the unpruned graph’s.`;
    showTable(byId("table"), rows);
  }

  view(which) {
    byId("plots").hidden = which !== "chart";
    byId("table-view").hidden = which !== "table";
    for (const name of ["chart", "table"]) byId(`view-${name}`).setAttribute("aria-pressed", String(name === which));
  }

  fileName() {
    return plainName([this.panel.study, this.panel.dataset, this.panel.target, this.field()]);
  }
}
