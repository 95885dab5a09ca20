// What decisions about memories need beyond forms: a key for each, and that a form is sent once.

const $ = (query, root = document) => root.querySelector(query);
const $$ = (query, root = document) => [...root.querySelectorAll(query)];

/** Does what the button or link with this key does; false if there is none. */
function decide(key) {
  const one = $(`[data-key="${CSS.escape(key)}"]`);
  if (!one) return false;
  const place = one.matches("a[href^='#']") && $(one.hash);
  if (!place) one.click();
  else if (key === "m") {
    // Merging needs a target: the key goes from one to the next, Enter merges.
    const targets = $$("form[action$='/merge'] button");
    targets[(targets.indexOf(document.activeElement) + 1) % targets.length]?.focus();
  } else {
    place.open = !place.open;
    const field = place.open ? $("textarea", place) ?? $("summary", place) : one;
    field.focus();
    place.scrollIntoView({ block: "nearest" });
  }
  return true;
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  const editor = event.target.closest("details.edit");
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && editor) {
    editor.open = false;
    $("summary", editor).focus();
  } else if (!typing && decide(event.key)) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const opener = event.target.closest("a[data-key][href^='#']");
  if (opener) {
    event.preventDefault();
    decide(opener.dataset.key);
  }
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.act")) return;
  if (document.documentElement.dataset.sent) event.preventDefault();
  document.documentElement.dataset.sent = "1";
});
addEventListener("pageshow", () => delete document.documentElement.dataset.sent);
