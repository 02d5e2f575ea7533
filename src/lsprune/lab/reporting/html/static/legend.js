// The list of lines beside a plot. Elements are kept while it changes, so that the keyboard's focus stays where it is.

// entries: [{id, name, style, kind, group, on}]; kind is "level", "method" or "paper"
class Legend {
  constructor(holder, onChange) {
    this.holder = holder;
    this.onChange = onChange;
    this.entries = [];
    this.selected = new Set(); // ids
    this.isolated = null; // the id of a line that is shown alone
  }

  show(entries) {
    this.entries = entries;
    this.rows = new Map();
    this.select((entry) => entry.on);
    const parts = [this.presets()];
    for (const group of new Set(entries.map((entry) => entry.group))) {
      const members = entries.filter((entry) => entry.group === group);
      const shown = members.filter((entry) => entry.on), folded = members.filter((entry) => !entry.on);
      parts.push(html("h3", { text: group }), ...shown.map((entry) => this.row(entry)));
      const summary = shown.length ? `${folded.length} more` : plural(folded.length, "line");
      if (folded.length) parts.push(html("details", {}, html("summary", { text: summary }), ...folded.map((entry) => this.row(entry))));
    }
    this.holder.replaceChildren(...parts);
    this.update();
  }

  // What differs from the lines of the start: the names of parameters are `line` and `only` with this prefix.
  state(prefix) {
    const isUsual = this.entries.every((entry) => entry.on === this.selected.has(entry.id));
    const lines = isUsual ? [] : [...this.selected];
    return { [`${prefix}line`]: isUsual || lines.length ? lines : ["none"], [`${prefix}only`]: this.isolated };
  }

  restore(parameters, prefix) {
    const lines = parameters.getAll(`${prefix}line`), only = parameters.get(`${prefix}only`);
    this.select((entry) => (lines.length ? lines.includes(entry.id) : entry.on));
    this.isolated = this.entries.some((entry) => entry.id === only) ? only : null;
    this.change();
    if (!lines.length) return;
    for (const details of this.holder.querySelectorAll("details")) details.open = Boolean(details.querySelector("input:checked"));
  }

  select(isSelected) {
    this.selected = new Set(this.entries.filter(isSelected).map((entry) => entry.id));
    this.isolated = null;
  }

  presets() {
    const button = (text, isSelected) => html("button", {
      type: "button", class: "small", text,
      onclick: () => {
        for (const details of this.holder.querySelectorAll("details")) details.open = text === "All";
        this.select(isSelected);
        this.change();
      },
    });
    const buttons = [button("Default", (entry) => entry.on), button("All", () => true)];
    const isLevel = (entry) => entry.kind === "level";
    if (this.entries.some(isLevel)) buttons.push(button("References only", isLevel));
    return html("div", { class: "presets" }, ...buttons);
  }

  row(entry) {
    const checkbox = html("input", { type: "checkbox", "aria-label": `Show ${entry.name}` });
    const about = `${entry.about || entry.name} Click to show this line alone, and again to show all.`;
    const button = html("button", { type: "button", "data-about": about, "data-entry": entry.id },
      swatch(entry.style), html("span", { text: entry.name }));
    checkbox.addEventListener("change", () => {
      if (checkbox.checked) this.selected.add(entry.id);
      else this.selected.delete(entry.id);
      this.isolated = null;
      this.change();
    });
    button.addEventListener("click", () => {
      this.isolated = this.isolated === entry.id ? null : entry.id;
      this.change();
    });
    this.rows.set(entry.id, { checkbox, button });
    return html("div", { class: "row" }, checkbox, button);
  }

  change() {
    this.update();
    this.onChange();
  }

  update() {
    for (const entry of this.entries) {
      const { checkbox, button } = this.rows.get(entry.id);
      checkbox.checked = this.selected.has(entry.id);
      button.setAttribute("aria-pressed", String(this.isolated === entry.id));
      button.classList.toggle("off", !this.isVisible(entry.id));
    }
  }

  // An isolated line keeps the levels that it is compared with.
  isVisible(id) {
    const entry = this.entries.find((other) => other.id === id);
    const isolated = this.entries.find((other) => other.id === this.isolated);
    if (!entry || !isolated) return Boolean(entry) && this.selected.has(id);
    return entry === isolated || (entry.kind === "level" && isolated.kind !== "level" && this.selected.has(id));
  }
}

function methodEntry(method, group, on) {
  return { id: `method:${method.name}`, name: method.name, style: method.style, kind: "method", group, on, about: aboutMethods.get(method.name) };
}

function swatch(style) {
  const parts = [];
  if (style.line !== "none") parts.push(svg("line", { class: `line ${style.line || ""} ${style.css}`, x1: 1, x2: 43, y1: 8, y2: 8 }));
  if (style.shape) parts.push(svg("g", { class: style.css, transform: "translate(22 8)" }, marker(style.shape, 4, style.hollow ? "hollow" : "")));
  return svg("svg", { viewBox: "0 0 44 16", "aria-hidden": "true" }, ...parts);
}

// The key of a plot whose lines cannot be switched: a swatch and a name each.
function showKey(holder, series) {
  holder.replaceChildren(...series.map((line) => html("span", {}, swatch(line.style), line.name)));
}
