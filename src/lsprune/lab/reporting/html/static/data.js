// The data of the page, with tables as lists of objects and shared parts in their places; one line about each method.

function expand(value, { fields, same }) {
  const resolved = (packed) => (packed?.same !== undefined ? same[packed.same] : packed);
  const part = (reference) => {
    const packed = resolved(reference);
    if (Array.isArray(packed)) return packed.map(part);
    if (packed === null || typeof packed !== "object") return packed;
    const { columns, rows } = packed;
    if (columns !== undefined && rows) {
      const object = (row) => Object.fromEntries(fields[columns].map((name, i) => [name, part(row[i])]));
      return resolved(rows).map((row) => object(resolved(row)));
    }
    return Object.fromEntries(Object.entries(packed).map(([name, one]) => [name, part(one)]));
  };
  return part(value);
}

// The dataset of a comparison, and its target if there is one.
function nameOf({ dataset, target }) {
  return [dataset, target].filter(Boolean).join(", ");
}

const aboutMethods = new Map(); // the line about each method, by its name

function readData() {
  const { data: packed, ...written } = JSON.parse(byId("data").textContent);
  const data = expand(packed, written);
  for (const [name, line] of data.about) aboutMethods.set(name, line);
  return data;
}
