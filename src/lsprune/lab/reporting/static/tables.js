// The list of lines beside a plot, and the numbers of a plot as a table and as CSV.

// A legend keeps its elements while it changes, so that the keyboard's focus stays where it is.
// entries: [{id, name, look, kind, on, group}]; state: {on: Set of ids, isolated: id or null}
class Legend {
  constructor(holder, changed) {
    this.holder = holder;
    this.changed = changed;
    this.entries = [];
    this.state = { on: new Set(), isolated: null };
  }

  show(entries) {
    this.entries = entries;
    this.state = { on: new Set(entries.filter((entry) => entry.on).map((entry) => entry.id)), isolated: null };
    this.rows = new Map();
    const parts = [this.buttons()];
    for (const group of new Set(entries.map((entry) => entry.group))) {
      const here = entries.filter((entry) => entry.group === group);
      parts.push(html("h3", { text: group }), ...here.filter((entry) => entry.on).map((entry) => this.row(entry)));
      const rest = here.filter((entry) => !entry.on).map((entry) => this.row(entry));
      const names = here.some((entry) => entry.on) ? `${rest.length} more` : `${rest.length} listed`;
      if (rest.length) parts.push(html("details", {}, html("summary", { text: names }), ...rest));
    }
    this.holder.replaceChildren(...parts);
    this.update();
  }

  buttons() {
    const set = (text, choose) => html("button", {
      type: "button", class: "small", text,
      onclick: () => {
        for (const folded of this.holder.querySelectorAll("details")) folded.open = text === "All";
        this.state = { on: new Set(this.entries.filter(choose).map((entry) => entry.id)), isolated: null };
        this.update();
        this.changed();
      },
    });
    const some = [set("Chosen few", (entry) => entry.on), set("All", () => true)];
    if (this.entries.some((entry) => entry.kind === "level")) some.push(set("References only", (entry) => entry.kind === "level"));
    return html("div", { class: "all" }, ...some);
  }

  row(entry) {
    const box = html("input", { type: "checkbox", "aria-label": `Show ${entry.name}` });
    const name = html("button", { type: "button", title: "Show this line alone; again to see all", "data-entry": entry.id },
      swatch(entry.look), html("span", { text: entry.name }));
    box.addEventListener("change", () => {
      if (box.checked) this.state.on.add(entry.id);
      else this.state.on.delete(entry.id);
      this.state.isolated = null;
      this.update();
      this.changed();
    });
    name.addEventListener("click", () => {
      this.state.isolated = this.state.isolated === entry.id ? null : entry.id;
      this.update();
      this.changed();
    });
    this.rows.set(entry.id, { box, name });
    return html("div", { class: "row" }, box, name);
  }

  update() {
    for (const entry of this.entries) {
      const { box, name } = this.rows.get(entry.id);
      box.checked = this.state.on.has(entry.id);
      name.setAttribute("aria-pressed", String(this.state.isolated === entry.id));
      name.classList.toggle("off", !this.visible(entry));
    }
  }

  // An isolated line still has the levels that it is compared with beside it.
  visible(entry) {
    const alone = this.entries.find((one) => one.id === this.state.isolated);
    if (!alone) return this.state.on.has(entry.id);
    return entry === alone || (entry.kind === "level" && alone.kind !== "level" && this.state.on.has(entry.id));
  }
}

function swatch(look) {
  const parts = [];
  if (look.line !== "none") parts.push(svg("line", { class: `line ${look.line || ""} ${look.css}`, x1: 1, x2: 29, y1: 8, y2: 8 }));
  if (look.shape) {
    const kind = look.hollow ? "hollow" : "";
    parts.push(svg("g", { class: look.css, transform: "translate(15 8)" }, marker(look.shape, 4, kind)));
  }
  return svg("svg", { viewBox: "0 0 30 16", "aria-hidden": "true" }, ...parts);
}

// The lines of a plot without choices: a swatch and a name each.
function showKey(holder, series) {
  holder.replaceChildren(...series.map((one) => html("span", {}, swatch(one.look), one.name)));
}

// Tables: rows are lists of cells, text or number

const COLUMNS = ["line", "edges kept", "value", "low", "high", "runs", "train time", "test time", "pruning s"];

function showTable(table, rows, columns = COLUMNS) {
  const head = html("tr", {}, ...columns.map((text, i) => html("th", { scope: "col", class: i ? "number" : "", text })));
  const body = rows.map((row) => html("tr", {}, ...row.map((cell, i) => (
    html(i ? "td" : "th", { class: i ? "number" : "", scope: i ? null : "row", text: cell === null ? "" : String(cell) })))));
  table.replaceChildren(html("thead", {}, head), html("tbody", {}, ...body));
}

function csvText(rows, columns = COLUMNS) {
  const cell = (value) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value; // a spreadsheet would run it as a formula
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// A file name of these words: small letters, digits and hyphens.
function plainName(words) {
  return words.filter(Boolean).join("-").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "results";
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
