"use strict";
// Make elements of the page. Text from results only ever enters the page as text, never as markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function html(name, attributes, ...children) {
  return fillElement(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fillElement(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// options: [[value, text], ...]
function fillSelect(select, options, selected) {
  select.replaceChildren(...options.map(([value, text]) => html("option", { value, text })));
  if (selected !== undefined && options.some(([value]) => String(value) === String(selected))) select.value = selected;
}

// Show either the plot or the table of a section. `shown` is "chart" or "table".
function switchView(chart, table, buttons, shown) {
  chart.hidden = shown !== "chart";
  table.hidden = shown !== "table";
  for (const [name, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(name === shown));
}
