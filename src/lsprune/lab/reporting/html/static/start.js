// Read the data, start every section, and switch between light and dark colours.

function startTheme() {
  const root = document.documentElement, button = byId("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const update = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; update(); });
  system.addEventListener("change", update);
  update();
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  startTheme();
  if (data.comparisons.length) {
    new Curves(data, (comparison) => { showTradeOff(comparison); showPaperFigures(comparison, data.paperMethods); }).start();
  }
  new Consistency(data).start();
  new Sizes(data).start();
  new Neighbourhood(data).start();
}

start();
