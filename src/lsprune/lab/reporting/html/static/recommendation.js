// What to keep on the dataset that is shown, and why.

function showRecommendation({ recommendation }) {
  const { kind, badge, text, verdict, reasons, method } = recommendation;
  const at = method ? text.indexOf(method) : -1;
  const words = at < 0 ? [text] : [text.slice(0, at), term(method), text.slice(at + method.length)];
  byId("recommendation").className = `recommendation ${kind}`;
  byId("recommendation").replaceChildren(
    html("p", { class: "advice" }, html("span", { class: `badge ${kind}`, text: badge }), html("strong", {}, ...words)),
    ...(verdict === text ? [] : [html("p", { text: `${verdict[0].toUpperCase()}${verdict.slice(1)}.` })]),
    ...(reasons.length ? [html("details", {}, html("summary", { text: "Why" }), ...reasons.map((reason) => html("p", { text: reason })))] : []));
}
