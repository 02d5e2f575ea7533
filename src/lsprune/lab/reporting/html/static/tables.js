// The numbers of a plot as a table and as CSV. Rows are lists of cells: text, numbers, or null for an empty cell.

const COLUMNS = ["line", "edges kept", "value", "low", "high", "runs", "train time", "test time", "pruning s"];

function showTable(table, rows, columns = COLUMNS) {
  const head = html("tr", {}, ...columns.map((text, i) => html("th", { scope: "col", class: i ? "number" : "", text })));
  const cell = (value, i) => (
    html(i ? "td" : "th", { class: i ? "number" : "", scope: i ? null : "row", text: value === null ? "" : String(value) }));
  const body = rows.map((row) => html("tr", {}, ...row.map(cell)));
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

// A file name of small letters, digits and hyphens.
function fileName(words) {
  return words.filter(Boolean).join("-").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "results";
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = html("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
