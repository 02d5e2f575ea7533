// The data of the page: tables become lists of objects again; one line about each method.

function expand(value, fields) {
  if (Array.isArray(value)) return value.map((part) => expand(part, fields));
  if (value === null || typeof value !== "object") return value;
  const { columns, rows } = value;
  if (columns !== undefined && rows) {
    return rows.map((row) => Object.fromEntries(fields[columns].map((name, i) => [name, expand(row[i], fields)])));
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, expand(part, fields)]));
}

// The dataset of a comparison, and its target if there is one.
function nameOf({ dataset, target }) {
  return [dataset, target].filter(Boolean).join(", ");
}

const aboutMethods = new Map(); // the line about each method, by its name

function readData() {
  const { fields, data: packed } = JSON.parse(byId("data").textContent);
  const data = expand(packed, fields);
  for (const [name, line] of data.about) aboutMethods.set(name, line);
  return data;
}
