// What a method does, beside its name: elements with `data-about` show it when they are pointed at or have the focus.

const ABOUT_GAP = 6; // pixels

function startAbouts() {
  const bubble = byId("about");
  let owner = null;
  const hide = () => {
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
    bubble.hidden = true;
  };
  const show = (element) => {
    if (element === owner) return;
    hide();
    owner = element;
    owner.setAttribute("aria-describedby", bubble.id);
    bubble.textContent = element.dataset.about;
    bubble.hidden = false;
    const box = element.getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - bubble.offsetWidth - ABOUT_GAP);
    const fitsBelow = box.bottom + ABOUT_GAP + bubble.offsetHeight <= innerHeight;
    bubble.style.left = `${Math.max(ABOUT_GAP, left)}px`;
    bubble.style.top = `${fitsBelow ? box.bottom + ABOUT_GAP : box.top - ABOUT_GAP - bubble.offsetHeight}px`;
  };
  const update = (event) => {
    const element = event.target.closest("[data-about]");
    if (element) show(element);
    else hide();
  };
  document.addEventListener("pointerover", update);
  document.addEventListener("focusin", update);
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", hide, { passive: true });
}

// A name of a method within text, with what it does.
function term(name) {
  return html("span", { class: "term", tabindex: 0, "data-about": aboutMethods.get(name), text: name });
}

// A list of methods with what they do.
function showGlossary(holder, names) {
  holder.replaceChildren(...names.map((name) => (
    html("div", {}, html("dt", { text: name }), html("dd", { text: aboutMethods.get(name) || "" })))));
}
