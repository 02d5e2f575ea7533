// Two samples of one class, and what each method keeps around a chosen node.

const SIZE = 220, EDGE_OF = 16, RADIUS = 8;

class Neighbourhood {
  constructor(data) {
    this.data = data.neighbourhood;
  }

  start() {
    const { common, k } = this.data;
    const degree = (node) => this.data.samples[0].edges.filter(([, target]) => target === node).length;
    const first = [...common].sort((a, b) => degree(b) - degree(a))[0];
    fill(byId("hood-node"), common.map((node) => [node, `node ${node}`]), first);
    fill(byId("hood-k"), k.map((one) => [one, `at most ${one}`]), 2);
    for (const name of ["node", "k"]) byId(`hood-${name}`).addEventListener("change", () => this.draw());
    const sample = (css, text) => html("span", {}, svg("svg", { viewBox: "0 0 32 12", "aria-hidden": "true" }, svg("line", { class: css, x1: 1, x2: 31, y1: 6, y2: 6 })), text);
    byId("hood-key").replaceChildren(sample("kept", "kept"), sample("gone", "removed"), html("span", { text: "arrows point at the chosen node, which hears its neighbours" }));
    this.draw();
  }

  draw() {
    const node = Number(byId("hood-node").value), at = this.data.k.indexOf(Number(byId("hood-k").value));
    byId("hood-rows").replaceChildren(...this.data.methods.map((method) => this.row(method, method.k[at], node)));
    const looks = [{ css: "h1", shape: "diamond" }, { css: "h0", shape: "circle" }, { css: "h-local", shape: "square", line: "dashed" }];
    const { k } = this.data;
    const series = this.data.methods.map((method, i) => ({
      name: method.name, look: looks[i],
      points: method.k.map((one, j) => ({ x: k[j], y: one.whole, said: [`k = ${k[j]}`, `overlap ${digits(one.whole)}`] })),
    }));
    const x = { label: "Most edges that a node keeps (k)", domain: [k[0] - 0.3, k[k.length - 1] + 0.3], ticks: k.map((value) => ({ value, text: String(value) })) };
    showKey(byId("chart-key"), series);
    chart(byId("hood-chart"), { title: "overlap over all nodes", height: 260, x, y: { label: `Overlap of kept edges, pairs of ${this.data.fitted} samples`, domain: [0, 1.02] }, series });
  }

  row(method, found, node) {
    const [both, either] = found.overlap[node];
    const words = either ? `${perCent(both / either)}` : "none kept";
    const text = html("div", {}, html("h3", { text: method.name }), html("p", { class: "quiet", text: method.about }),
      html("p", { class: "big", text: words }),
      html("p", { text: either ? `overlap around node ${node}: ${both} of ${either} kept edges are kept in both samples` : `around node ${node}` }),
      html("p", { class: "quiet", text: `all nodes, pairs of ${this.data.fitted} samples: ${found.whole === null ? "none" : perCent(found.whole)}` }));
    return html("div", { class: "hood", "data-method": method.name }, text, ...this.data.samples.map((sample, i) => (
      html("figure", {}, this.picture(sample, found.kept[i], node, `${method.name}, sample ${"AB"[i]}`), this.caption(sample, found.kept[i], node, i)))));
  }

  caption(sample, kept, node, which) {
    const mine = sample.edges.map((edge, i) => [edge, kept[i] === "1"]).filter(([edge]) => edge[1] === node);
    const from = mine.filter(([, stays]) => stays).map(([edge]) => edge[0]).sort((a, b) => a - b);
    return html("figcaption", { text: `Sample ${"AB"[which]}: keeps ${from.length} of ${mine.length}, from ${from.join(", ") || "none"}` });
  }

  place(node) {
    return this.data.places[node].map((part) => EDGE_OF + part * (SIZE - 2 * EDGE_OF));
  }

  picture(sample, kept, node, name) {
    const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": name });
    const faint = [], strong = [], near = new Set();
    sample.edges.forEach(([source, target], i) => {
      if (target !== node) {
        const [a, b] = [this.place(source), this.place(target)];
        faint.push(svg("line", { class: "edge", x1: a[0], y1: a[1], x2: b[0], y2: b[1] }));
        return;
      }
      const stays = kept[i] === "1";
      if (stays) near.add(source);
      strong.push(this.arrow(source, target, stays));
    });
    const circles = sample.nodes.map((one) => this.node(one, one === node, near.has(one)));
    picture.append(...faint, ...strong, ...circles);
    return picture;
  }

  arrow(source, target, stays) {
    const a = this.place(source), b = this.place(target);
    const far = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, ux = (b[0] - a[0]) / far, uy = (b[1] - a[1]) / far;
    const tip = [b[0] - ux * (RADIUS + 1), b[1] - uy * (RADIUS + 1)], size = stays ? 7 : 5;
    const back = [tip[0] - ux * size, tip[1] - uy * size];
    const corners = [tip, [back[0] - (uy * size) / 2, back[1] + (ux * size) / 2], [back[0] + (uy * size) / 2, back[1] - (ux * size) / 2]];
    return svg("g", { "data-source": source, "data-kept": stays ? "yes" : "no" },
      svg("line", { class: stays ? "kept" : "gone", x1: a[0], y1: a[1], x2: back[0], y2: back[1] }),
      svg("polygon", { class: stays ? "head-kept" : "head-gone", points: corners.map((corner) => corner.join(",")).join(" ") }));
  }

  node(one, picked, near) {
    const [x, y] = this.place(one);
    const pick = () => {
      if (!this.data.common.includes(one)) return;
      byId("hood-node").value = one;
      this.draw();
    };
    return svg("g", { class: `node${picked ? " picked" : near ? " near" : ""}`, "data-node": one, onclick: pick },
      svg("circle", { cx: x, cy: y, r: RADIUS }), svg("text", { x, y, text: String(one) }));
  }
}
