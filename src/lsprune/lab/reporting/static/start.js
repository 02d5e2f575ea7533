// The beginning: read the data, make the views, switch between the light and the dark look.

function startTheme() {
  const root = document.documentElement, button = byId("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const tell = () => button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; tell(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  startTheme();
  if (data.panels.length) {
    const curves = new Curves(data);
    let last = null; // the views below need a new drawing only for another panel
    curves.after.push((panel) => { if (panel !== last) { last = panel; showTrade(panel); showSides(panel); } });
    curves.start();
  }
  new Consistency(data).start();
  new Variance(data).start();
  new Neighbourhood(data).start();
}

start();
