// The variance of neighbourhood sizes against the share of edges kept, and the paper's figure beside ours.

const HOP_STYLES = [
  ["h0", "circle"], ["h1", "up"], ["h2", "diamond"], ["h3", "square"], ["h4", "down"], ["h5", "left"], ["h-random", "star"],
].map(([css, shape]) => ({ css, shape }));
const PAPER_SIZE_STYLE = { css: "h-ink", shape: "circle", hollow: true, line: "dots" };

const SIZES_SELECTS = ["sizes-dataset", "sizes-hops", "sizes-method"];

class Sizes {
  section = "sizes";

  names = [...SIZES_SELECTS, "sizes-line", "sizes-only"];

  constructor(data) {
    this.sets = data.sizes;
    this.first = data.sizeMethods; // the methods that are shown first
    this.legend = new Legend(byId("sizes-legend"), () => this.draw());
  }

  start() {
    fillSelect(byId("sizes-dataset"), datasetOptions(this.sets));
    byId("sizes-dataset").addEventListener("change", () => this.select());
    for (const name of ["hops", "method"]) byId(`sizes-${name}`).addEventListener("change", () => this.draw());
    this.select();
    rememberSelects(SIZES_SELECTS);
  }

  state() {
    return { ...selectStates(SIZES_SELECTS), ...this.legend.state("sizes-") };
  }

  restore(parameters) {
    restoreSelect("sizes-dataset", parameters);
    this.select();
    for (const id of SIZES_SELECTS) restoreSelect(id, parameters);
    this.legend.restore(parameters, "sizes-");
  }

  select() {
    const set = chosenSet(this.sets, byId("sizes-dataset").value);
    this.set = set;
    fillSelect(byId("sizes-hops"), set.hops.map((hops) => [hops, plural(hops, "hop")]), byId("sizes-hops").value || set.hops[1]);
    fillSelect(byId("sizes-method"), set.methods.map(({ name }) => [name, name]), byId("sizes-method").value || this.first[0]);
    const hasFirst = set.methods.some(({ name }) => this.first.includes(name));
    const entries = set.methods.map((method) => methodEntry(method, "Methods", !hasFirst || this.first.includes(method.name)));
    if (Object.keys(set.unpruned).length) {
      entries.unshift({ id: "level:unpruned", name: "unpruned", kind: "level", group: "References", on: true, style: LEVEL_STYLE("unpruned") });
    }
    if (Object.keys(set.paper).length) {
      entries.push({ id: "paper", name: "method not stated", kind: "paper", group: "The paper’s points", on: true, style: PAPER_SIZE_STYLE });
    }
    this.legend.show(entries);
    this.draw();
  }

  draw() {
    const set = this.set, hops = byId("sizes-hops").value;
    const series = set.methods.filter(({ name }) => this.legend.isVisible(`method:${name}`)).map((method) => (
      { name: method.name, style: method.style, points: this.points(method.lines[hops]) }));
    if (this.legend.isVisible("paper") && set.paper[hops]) {
      series.push({ name: "the paper", style: PAPER_SIZE_STYLE, points: set.paper[hops].map(paperPoint) });
    }
    const levels = [];
    if (this.legend.isVisible("level:unpruned") && set.unpruned[hops]) {
      const [y, low, high] = set.unpruned[hops];
      levels.push({ name: "unpruned", role: "unpruned", y, low, high, details: [digits(y)] });
    }
    drawChart(byId("sizes-chart"), {
      title: `${set.dataset}, variance of neighbourhood sizes`, x: { label: "Share of edges kept", share: true },
      y: { label: `Variance within ${plural(hops, "hop")}`, log: true }, series, levels,
    });
    this.drawPair();
  }

  drawPair() {
    const set = this.set, method = set.methods.find(({ name }) => name === byId("sizes-method").value);
    const line = (hops, i, points) => ({ name: plural(hops, "hop"), style: HOP_STYLES[i % HOP_STYLES.length], points });
    const theirs = set.hops.filter((hops) => set.paper[hops]).map((hops, i) => line(hops, i, set.paper[hops].map(paperPoint)));
    if (!theirs.length || !method) {
      clearChart(byId("sizes-paper"));
      clearChart(byId("sizes-ours"));
      byId("sizes-key").replaceChildren();
      return;
    }
    const ours = set.hops.map((hops, i) => {
      const unpruned = set.unpruned[hops] ? [[1, ...set.unpruned[hops]]] : [];
      return line(hops, i, this.points([...method.lines[hops], ...unpruned]));
    });
    const domain = paddedDomain(heights([...theirs, ...ours]), true, 0.05);
    const x = { label: "Share of edges kept", share: true, domain: shareDomain([...theirs, ...ours], false) };
    showKey(byId("sizes-key"), ours);
    drawChart(byId("sizes-paper"), { title: "the paper", height: 320, x, y: { label: "Paper: variance", log: true, domain }, series: theirs });
    drawChart(byId("sizes-ours"), { title: "ours", height: 320, x, y: { label: `Ours, ${method.name}: variance`, log: true, domain }, series: ours });
  }

  points(rows) {
    return rows.map(([share, ...estimate]) => estimatePoint(share, estimate));
  }
}

// Options for a select of datasets; a dataset of several studies has its study's name.
function datasetOptions(sets) {
  return sets.map((set) => [datasetName(sets, set), datasetName(sets, set)]);
}

function datasetName(sets, set) {
  const isUnique = sets.filter((other) => other.dataset === set.dataset).length === 1;
  return set.dataset + (isUnique ? "" : ` (${set.study})`);
}

function chosenSet(sets, name) {
  return sets.find((set) => datasetName(sets, set) === name) || sets[0];
}
