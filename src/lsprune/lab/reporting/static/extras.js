// The trade-off with its recommendation, the paper's figure beside ours, and neighbourhood sizes.

function showTrade(panel) {
  const { advice, front } = panel, box = byId("advice");
  box.className = `advice${advice.found ? " found" : ""}`;
  box.replaceChildren(html("strong", { text: advice.text }), ...advice.why.map((text) => html("p", { text })));
  const seconds = front.across === "seconds";
  const longest = Math.max(0, ...panel.methods.flatMap((method) => method.points.map((point) => point.seconds || 0)));
  const [unit, name, factor] = longest < 0.1 ? ["ms", "Milliseconds", 1000] : ["s", "Seconds", 1];
  const took = (value) => (seconds ? `${digits(value * factor)} ${unit} an epoch` : "");
  const cost = (point) => (!seconds ? point.share : point.seconds === null ? null : point.seconds * factor);
  const said = (point) => [`${perCent(point.share)} of edges kept`, ...between(point.test), took(point.seconds)];
  const series = panel.methods.filter((method) => !method.fresh).map((method) => ({
    name: method.name, look: { ...lookOf(method), line: "none", faint: true, small: true },
    points: method.points.filter((point) => cost(point) !== null).map((point) => ({ x: cost(point), y: point.test[0], said: said(point) })),
  })).filter((one) => one.points.length);
  const best = front.points.map((point) => {
    const method = panel.methods.find((one) => one.name === point.method);
    const look = method ? lookOf(method) : { css: "h-ink", shape: "diamond" };
    const source = method ? method.points.find((one) => one.share === point.share) : null;
    const whole = panel.levels.find((level) => level.id === "none");
    const lines = source ? said(source) : ["the whole graph", ...between(whole.test), took(point.x)];
    return { x: seconds ? point.x * factor : point.x, y: point.y, name: method ? point.method : "unpruned", css: look.css, shape: look.shape, said: lines };
  });
  const drawn = series.length > 0;
  byId("trade-chart").hidden = !drawn;
  byId("trade-note").textContent = drawn
    ? `The line joins the points that no other beats in both; unpruned included. Across: ${seconds ? `median ${name.toLowerCase()} of a training epoch` : `the share of edges, for times do not compare (${panel.noTimes})`}. The front is of test values, and so a little lucky.`
    : "Nothing pruned was run here yet, so that there is nothing to trade.";
  if (!drawn) { clearChart(byId("trade-chart")); return; }
  const marks = [];
  const chosen = (panel.methods.find((method) => method.name === advice.method) || { points: [] }).points
    .find((point) => advice.found && point.share === advice.share);
  if (chosen && cost(chosen) !== null) marks.push({ x: cost(chosen), y: chosen.test[0], text: "recommended" });
  const label = panel.metrics[0].name;
  const level = panel.levels.filter((one) => one.id === "none").map((one) => (
    { name: "unpruned", id: "none", look: { css: "h-ink" }, y: one.test[0], low: one.test[1], high: one.test[2], said: between(one.test) }));
  const x = seconds ? { label: `${name} of a training epoch` } : { label: "Share of edges kept", share: true, log: true };
  chart(byId("trade-chart"), {
    title: `${panel.dataset}, trade-off`, x, y: { label },
    series: [...series, { name: "front", look: { css: "h-ink", shape: "diamond", line: "" }, points: best }], marks, levels: level,
  });
}

function showSides(panel) {
  const note = byId("sides-note");
  if (!panel.paper) {
    note.textContent = "The paper has no figure of this dataset.";
    clearChart(byId("paper-chart"));
    clearChart(byId("ours-chart"));
    byId("sides-key").replaceChildren();
    return;
  }
  const field = panel.metrics.some((metric) => metric.id === "test_max") ? "test_max" : "test";
  const like = (name) => [`${name}-published`, name].map((one) => panel.methods.find((method) => method.name === one)).find(Boolean);
  const theirs = Object.entries(panel.paper.metric).map(([name, points]) => ({
    name: PAPER_METHODS[name], look: { ...paperLook(name), hollow: false, line: name === "basic" ? "none" : "" },
    points: points.map(([x, y]) => ({ x, y, said: [`${perCent(x)} of edges kept`, `${digits(y)} in the paper`] })),
  }));
  const ours = ["random", "lsp-p", "lsp-t"].map((name) => [name, like(name)]).filter(([, method]) => method).map(([name, method]) => ({
    name: method.name, look: { ...paperLook(name), hollow: false, line: "" },
    points: method.points.map((point) => {
      const [y, low, high] = point[field];
      return { x: point.share, y, low, high, said: [`${perCent(point.share)} of edges kept`, ...between(point[field])] };
    }),
  }));
  const basic = panel.levels.filter((level) => level.id === "basic" || level.id === "none").map((level) => ({
    name: level.name, look: { css: "h-ink", shape: level.id === "basic" ? "diamond" : "down", line: "none" },
    points: [{ x: 1, y: level[field][0], low: level[field][1], high: level[field][2], said: between(level[field]) }],
  }));
  const all = [...theirs, ...ours, ...basic];
  const x = { label: "Share of edges kept", share: true, domain: xDomain(all, false) };
  const domain = widened(yValues(all), false, 0.06);
  const metric = panel.metrics[0].name;
  const used = ours.map((one) => one.name).join(", ") || "nothing pruned yet";
  note.textContent = `The same axes. Ours: ${used}${field === "test_max" ? ", at the best epoch by test, as the paper reports it" : ""}.`;
  showKey(byId("sides-key"), [...theirs, ...basic.filter((one) => !theirs.some((other) => other.look.shape === one.look.shape))]);
  chart(byId("paper-chart"), { title: "the paper", height: 320, x, y: { label: `Paper: ${metric}`, domain }, series: theirs });
  chart(byId("ours-chart"), { title: "ours", height: 320, x, y: { label: `Ours: ${metric}`, domain }, series: [...ours, ...basic] });
}

// Neighbourhood sizes

const HOP_LOOKS = ["h0", "h1", "h2", "h3", "h4", "h7", "h8"].map((css, i) => ({ css, shape: SHAPE_OF[i % SHAPE_OF.length] }));
const VARIANCE_FIRST = ["random", "local-random", "lsp-p", "lsp-t"];

class Variance {
  constructor(data) {
    this.sets = data.variance;
    this.legend = new Legend(byId("variance-legend"), () => this.draw());
  }

  start() {
    if (!this.sets.length) { byId("variance").hidden = true; return; }
    fill(byId("variance-dataset"), this.sets.map((one, i) => [i, this.called(one)]));
    byId("variance-dataset").addEventListener("change", () => this.pick());
    for (const name of ["hops", "method"]) byId(`variance-${name}`).addEventListener("change", () => this.draw());
    this.pick();
  }

  called(one) {
    const again = this.sets.filter((other) => other.dataset === one.dataset).length > 1;
    return one.dataset + (again ? ` (${one.study})` : "");
  }

  pick() {
    const set = this.sets[Number(byId("variance-dataset").value)];
    this.set = set;
    fill(byId("variance-hops"), set.hops.map((hop) => [hop, `${hop} hop${hop === 1 ? "" : "s"}`]), byId("variance-hops").value || set.hops[1]);
    fill(byId("variance-method"), set.methods.map((method) => [method.name, method.name]), byId("variance-method").value || "random");
    const few = set.methods.some((method) => VARIANCE_FIRST.includes(method.name));
    const entries = set.methods.map((method) => ({
      id: `method:${method.name}`, name: method.name, kind: "method", group: "Methods", look: this.look(method),
      on: few ? VARIANCE_FIRST.includes(method.name) : true,
    }));
    if (Object.keys(set.whole).length) entries.unshift({ id: "level:none", name: "unpruned", kind: "level", group: "References", on: true, look: { css: "h-ink", line: "level" } });
    if (Object.keys(set.paper).length) entries.push({ id: "paper", name: "method not stated", kind: "paper", group: "The paper’s points", on: true, look: this.paperLook() });
    this.legend.show(entries);
    this.draw();
  }

  look(method) {
    return lookOf({ ...method, group: /^lsp-/.test(method.name) && !/-(paper|published)$/.test(method.name) ? "ours" : "other" });
  }

  paperLook() {
    return { css: "h-ink", shape: "circle", hollow: true, line: "dotted" };
  }

  draw() {
    const set = this.set, hop = byId("variance-hops").value, log = { log: true };
    const on = (id) => { const entry = this.legend.entries.find((one) => one.id === id); return entry && this.legend.visible(entry); };
    const series = set.methods.filter((method) => on(`method:${method.name}`)).map((method) => (
      { name: method.name, look: this.look(method), points: this.points(method.lines[hop]) }));
    if (on("paper") && set.paper[hop]) series.push({ name: "the paper", look: this.paperLook(), points: this.theirs(set.paper[hop]) });
    const [y, low, high] = set.whole[hop] || [];
    const levels = on("level:none") && set.whole[hop] ? [{ name: "unpruned", id: "none", look: { css: "h-ink" }, y, low, high, said: [digits(y)] }] : [];
    const x = { label: "Share of edges kept", share: true };
    chart(byId("variance-chart"), { title: `${set.dataset}, variance of sizes`, x, y: { label: `Variance within ${hop} hop${hop === "1" ? "" : "s"}`, ...log }, series, levels });
    this.pair(x, log);
  }

  pair(x, log) {
    const set = this.set, method = set.methods.find((one) => one.name === byId("variance-method").value);
    const line = (hop, i, points) => ({ name: `${hop} hop${hop === 1 ? "" : "s"}`, look: HOP_LOOKS[i % HOP_LOOKS.length], points });
    const theirs = set.hops.filter((hop) => set.paper[hop]).map((hop, i) => line(hop, i, this.theirs(set.paper[hop])));
    if (!theirs.length || !method) { clearChart(byId("variance-paper")); clearChart(byId("variance-ours")); byId("variance-key").replaceChildren(); return; }
    const ours = set.hops.map((hop, i) => {
      const whole = set.whole[hop] ? [[1, ...set.whole[hop]]] : [];
      return line(hop, i, this.points([...method.lines[hop], ...whole]));
    });
    const domain = widened(yValues([...theirs, ...ours]), true, 0.05);
    const same = { ...x, domain: xDomain([...theirs, ...ours], false) };
    showKey(byId("variance-key"), ours);
    chart(byId("variance-paper"), { title: "the paper", height: 320, x: same, y: { label: "Paper: variance", ...log, domain }, series: theirs });
    chart(byId("variance-ours"), { title: "ours", height: 320, x: same, y: { label: `Ours, ${method.name}: variance`, ...log, domain }, series: ours });
  }

  points(rows) {
    return rows.map(([x, y, low, high, runs]) => ({ x, y, low, high, said: [`${perCent(x)} of edges kept`, ...between([y, low, high, runs])] }));
  }

  theirs(rows) {
    return rows.map(([x, y]) => ({ x, y, said: [`${perCent(x)} of edges kept`, `${digits(y)} in the paper`] }));
  }
}
