// The data of the page: tables become lists of objects again; one line about each method.

function expand(value) {
  if (Array.isArray(value)) return value.map(expand);
  if (value === null || typeof value !== "object") return value;
  const { columns, rows } = value;
  if (columns && rows) return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, expand(row[i])])));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expand(one)]));
}

// The dataset of a comparison, and its target if there is one.
function nameOf({ dataset, target }) {
  return [dataset, target].filter(Boolean).join(", ");
}

const aboutMethods = new Map(); // the line about each method, by its name

function readData() {
  const data = expand(JSON.parse(byId("data").textContent));
  for (const [name, line] of data.about) aboutMethods.set(name, line);
  return data;
}
