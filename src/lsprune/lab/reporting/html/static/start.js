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
  const data = readData();
  startTheme();
  startAbouts();
  const showComparison = (comparison) => {
    showRecommendation(comparison);
    showTradeOff(comparison);
    showPaperFigures(comparison, data);
  };
  const parts = [];
  if (data.comparisons.length) parts.push(new Curves(data, showComparison));
  if (data.consistency.length) parts.push(new Consistency(data));
  if (data.sizes.length) parts.push(new Sizes(data));
  parts.push(new Neighbourhood(data));
  for (const part of parts) part.start();
  drawThumbnails(data);
  new View(parts).start();
}

start();
