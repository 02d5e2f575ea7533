// Two samples of one class, and what each method keeps around a selected node.

const PICTURE_SIZE = 220, PICTURE_MARGIN = 16, NODE_RADIUS = 8;

const HOOD_SELECTS = ["hood-node", "hood-k"];

class Neighbourhood {
  section = "neighbourhood";

  names = HOOD_SELECTS;

  constructor(data) {
    this.data = data.neighbourhood;
  }

  start() {
    const { common, k, samples } = this.data;
    const degree = (node) => samples[0].edges.filter(([, target]) => target === node).length;
    const first = [...common].sort((a, b) => degree(b) - degree(a))[0];
    fillSelect(byId("hood-node"), common.map((node) => [node, `node ${node}`]), first);
    fillSelect(byId("hood-k"), k.map((limit) => [limit, `at most ${limit}`]), 2);
    for (const name of ["node", "k"]) byId(`hood-${name}`).addEventListener("change", () => this.draw());
    const line = (css) => svg("svg", { viewBox: "0 0 32 12", "aria-hidden": "true" }, svg("line", { class: css, x1: 1, x2: 31, y1: 6, y2: 6 }));
    byId("hood-key").replaceChildren(
      html("span", {}, line("kept"), "kept"), html("span", {}, line("removed"), "removed"),
      html("span", { text: "arrows point from in-neighbours to the selected node" }));
    rememberSelects(HOOD_SELECTS);
    this.draw();
  }

  state() {
    return selectStates(HOOD_SELECTS);
  }

  restore(parameters) {
    for (const id of HOOD_SELECTS) restoreSelect(id, parameters);
    this.draw();
  }

  draw() {
    const { k, methods, numSamples } = this.data;
    const node = Number(byId("hood-node").value), index = k.indexOf(Number(byId("hood-k").value));
    byId("hood-rows").replaceChildren(...methods.map((method) => this.row(method, method.byK[index], node)));
    const series = methods.map((method) => ({
      name: method.name, style: method.style,
      points: method.byK.map(({ overall }, i) => ({ x: k[i], y: overall, details: [`k = ${k[i]}`, `overlap ${digits(overall)}`] })),
    }));
    const domain = [k[0] - 0.3, k[k.length - 1] + 0.3];
    const x = { label: "Most edges that a node keeps (k)", domain, ticks: k.map((value) => ({ value, text: String(value) })) };
    const y = { label: `Overlap of kept edges, pairs of ${numSamples} samples`, domain: [0, 1.02] };
    showKey(byId("hood-chart-key"), series);
    drawChart(byId("hood-chart"), { title: "overlap over all nodes", height: 260, x, y, series });
  }

  row(method, kept, node) {
    const [both, either] = kept.overlap[node];
    const overlap = either ? `overlap around node ${node}: ${both} of ${either} kept edges are kept in both samples` : `around node ${node}`;
    const overall = `all nodes, pairs of ${this.data.numSamples} samples: ${kept.overall === null ? "none" : perCent(kept.overall)}`;
    const text = html("div", {}, html("h3", { text: method.name }), html("p", { class: "quiet", text: method.about }),
      html("p", { class: "big", text: either ? perCent(both / either) : "none kept" }), html("p", { text: overlap }),
      html("p", { class: "quiet", text: overall }));
    const figures = this.data.samples.map((sample, i) => html("figure", {},
      this.picture(sample, kept.mask[i], node, `${method.name}, sample ${"AB"[i]}`), this.caption(sample, kept.mask[i], node, "AB"[i])));
    return html("div", { class: "hood", "data-method": method.name }, text, ...figures);
  }

  caption(sample, mask, node, letter) {
    const owned = sample.edges.map(([source, target], i) => ({ source, target, kept: mask[i] === "1" })).filter(({ target }) => target === node);
    const sources = owned.filter(({ kept }) => kept).map(({ source }) => source).sort((a, b) => a - b);
    return html("figcaption", { text: `Sample ${letter}: keeps ${sources.length} of ${owned.length}, from ${sources.join(", ") || "none"}` });
  }

  position(node) {
    return this.data.positions[node].map((part) => PICTURE_MARGIN + part * (PICTURE_SIZE - 2 * PICTURE_MARGIN));
  }

  picture(sample, mask, node, name) {
    const picture = svg("svg", { viewBox: `0 0 ${PICTURE_SIZE} ${PICTURE_SIZE}`, role: "img", "aria-label": name });
    const otherEdges = [], ownEdges = [], keptNeighbours = new Set();
    sample.edges.forEach(([source, target], i) => {
      if (target !== node) {
        const [a, b] = [this.position(source), this.position(target)];
        otherEdges.push(svg("line", { class: "edge", x1: a[0], y1: a[1], x2: b[0], y2: b[1] }));
        return;
      }
      const isKept = mask[i] === "1";
      if (isKept) keptNeighbours.add(source);
      ownEdges.push(this.arrow(source, target, isKept));
    });
    const nodes = sample.nodes.map((other) => this.node(other, other === node, keptNeighbours.has(other)));
    picture.append(...otherEdges, ...ownEdges, ...nodes);
    return picture;
  }

  arrow(source, target, isKept) {
    const a = this.position(source), b = this.position(target);
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, ux = (b[0] - a[0]) / length, uy = (b[1] - a[1]) / length;
    const tip = [b[0] - ux * (NODE_RADIUS + 1), b[1] - uy * (NODE_RADIUS + 1)], size = isKept ? 7 : 5;
    const back = [tip[0] - ux * size, tip[1] - uy * size];
    const corners = [tip, [back[0] - (uy * size) / 2, back[1] + (ux * size) / 2], [back[0] + (uy * size) / 2, back[1] - (ux * size) / 2]];
    const css = isKept ? "kept" : "removed";
    return svg("g", { "data-source": source, "data-kept": isKept ? "yes" : "no" },
      svg("line", { class: css, x1: a[0], y1: a[1], x2: back[0], y2: back[1] }),
      svg("polygon", { class: `head-${css}`, points: corners.map((corner) => corner.join(",")).join(" ") }));
  }

  node(node, isSelected, isKept) {
    const [x, y] = this.position(node);
    const select = () => {
      if (!this.data.common.includes(node)) return; // the other sample does not have it
      byId("hood-node").value = node;
      this.draw();
    };
    return svg("g", { class: `node${isSelected ? " selected" : isKept ? " kept-neighbour" : ""}`, "data-node": node, onclick: select },
      svg("circle", { cx: x, cy: y, r: NODE_RADIUS }), svg("text", { x, y, text: String(node) }));
  }
}
