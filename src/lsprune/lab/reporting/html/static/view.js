// The view in the address: "#study=cora&metric=val" shows that study and that metric, on load, by a link and by the back
// button. It names the study, and whatever else differs from what the page opens with.

const SAVE_DELAY = 250; // milliseconds after the last of several changes

// parts: objects with `section`, `names` of parameters, `state()` -> {name: text or list of texts} and `restore(parameters)`
class View {
  constructor(parts) {
    this.parts = parts;
  }

  start() {
    this.saved = this.state().toString();
    if (location.hash.includes("=")) this.show(location.hash);
    addEventListener("popstate", () => {
      if (location.hash.includes("=") || location.hash.length < 2) this.restore(location.hash);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']:not(.skip)");
      if (!link) this.save(event.target);
      else if (!(event.ctrlKey || event.metaKey || event.shiftKey)) {
        event.preventDefault();
        this.follow(link.getAttribute("href"));
      }
    });
    document.addEventListener("change", (event) => this.save(event.target));
  }

  // Go where a link of the page leads: to a view, or to a section.
  follow(address) {
    if (address.includes("=")) {
      this.push(this.show(address));
      return;
    }
    this.push(address.slice(1));
    scrollToSection(address.slice(1));
  }

  // Restore a view and scroll to what it is about; return the section that the address names.
  show(address) {
    const parameters = this.restore(address), at = parameters.get("at") || "";
    const part = this.parts.find(({ names }) => names.some((name) => parameters.has(name)));
    scrollToSection(at || (part ? part.section : ""));
    return at;
  }

  restore(address) {
    clearTimeout(this.waiting);
    const parameters = new URLSearchParams(address.slice(1));
    for (const part of this.parts) part.restore(parameters);
    this.saved = this.state().toString();
    return parameters;
  }

  state() {
    const entries = this.parts.flatMap((part) => Object.entries(part.state()));
    return new URLSearchParams(entries.flatMap(([name, value]) => [value].flat().filter(Boolean).map((one) => [name, one])));
  }

  // Keep the view in the address after a change of it.
  save(element) {
    clearTimeout(this.waiting);
    if (this.state().toString() === this.saved) return;
    const part = this.parts.find(({ section }) => byId(section).contains(element));
    this.waiting = setTimeout(() => this.push(part && part !== this.parts[0] ? part.section : ""), SAVE_DELAY);
  }

  push(at) {
    clearTimeout(this.waiting);
    const parameters = this.state();
    this.saved = parameters.toString();
    if (at) parameters.append("at", at);
    if (`#${parameters}` !== location.hash) history.pushState(null, "", `#${parameters}`);
  }
}

function scrollToSection(id) {
  const element = id ? byId(id) : null;
  if (element) element.scrollIntoView();
}

// The selects that show another option than at the start, by their ids.
function selectStates(ids) {
  const selects = ids.map(byId).filter((select) => select.value !== select.dataset.initial);
  return Object.fromEntries(selects.map((select) => [select.id, select.value]));
}

function rememberSelects(ids) {
  for (const select of ids.map(byId)) select.dataset.initial = select.value;
}

function restoreSelect(id, parameters) {
  const select = byId(id), value = parameters.get(id);
  const isKnown = [...select.options].some((option) => option.value === value);
  select.value = isKnown ? value : select.dataset.initial;
}
