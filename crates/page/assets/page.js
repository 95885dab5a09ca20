// What the page does beyond links and forms: results as you type, long texts opened in place, keys,
// the theme, and live updates. Everything it shows is also a page of the server.

const $ = (query, root = document) => root.querySelector(query);
const $$ = (query, root = document) => [...root.querySelectorAll(query)];
const root = document.documentElement;
const view = () => $("#view")?.dataset.view;

/** The content of another page, as a document. */
async function fetched(url, signal) {
  const answer = await fetch(url, { headers: { "Oneiro-Fragment": "1" }, signal, cache: "no-store" });
  if (answer.status === 401) location.reload();
  const type = answer.headers.get("content-type") ?? "";
  if (!type.includes("html")) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Puts what a fragment has under a selector in place of what is here. */
function swap(selector, from) {
  const [here, there] = [$(selector), $(selector, from)];
  if (!here || !there) return;
  const open = new Set($$("details[open]", here).map(keyOf));
  here.replaceChildren(...there.childNodes);
  for (const one of $$("details", here)) if (open.has(keyOf(one))) one.open = true;
}

/** Identifies a fold across reloads by its class and its item. */
function keyOf(fold) {
  const item = fold.closest("[id], li");
  return `${fold.className}|${item?.id || $("a", item ?? fold)?.getAttribute("href")}`;
}

// The theme: as the system says, light, dark.
const themes = ["system", "light", "dark"];
const themeButton = $("#theme");
function showTheme() {
  const theme = root.dataset.theme ?? "system";
  const name = { system: "Auto", light: "Light", dark: "Dark" }[theme];
  themeButton.textContent = name;
  themeButton.setAttribute("aria-label", `Theme: ${name}`);
}
themeButton?.addEventListener("click", () => {
  const next = themes[(themes.indexOf(root.dataset.theme ?? "system") + 1) % themes.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem("oneiro-theme");
    else localStorage.setItem("oneiro-theme", next);
  } catch {}
  showTheme();
});
if (themeButton) showTheme();

// Copying, and opening what was cut.
document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const words = copy.textContent;
    try {
      await navigator.clipboard.writeText(copy.dataset.copy);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Copy failed";
    }
    setTimeout(() => (copy.textContent = words), 1500);
    return;
  }
  const more = event.target.closest("a[data-expand]");
  if (more && !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    const part = more.closest("[data-part]");
    more.setAttribute("aria-busy", "true");
    try {
      const whole = $(`[data-part="${part.dataset.part}"]`, await fetched(more.href));
      if (!whole) throw new Error("no such part");
      part.replaceWith(whole);
      whole.tabIndex = -1;
      whole.focus({ preventScroll: true });
    } catch {
      location.assign(more.href);
    }
  }
});

// Results as you type.
const form = $("#search");
let asking;
let timer;
async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim()) asked.set(name, value);
  const url = asked.size ? `/search?${asked}` : "/search";
  try {
    const page = await fetched(url, mine.signal);
    if (mine.signal.aborted) return;
    swap("#results", page);
    $("#count").textContent = $("#count", page)?.textContent ?? "";
    const language = $(".language");
    const asks = $(".language", page);
    if (language && asks && language.className !== asks.className) language.replaceWith(asks);
    history.replaceState(null, "", url);
    document.title = asked.get("q") ? `${asked.get("q").slice(0, 60)} · Oneiro` : "Search · Oneiro";
    choose(-1);
  } catch (error) {
    if (error.name !== "AbortError") $("#count").textContent = "The server is not responding.";
  }
}
const soon = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(ask, wait);
};
form?.addEventListener("input", (event) => soon(event.target.id === "q" ? 110 : 250));
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  ask();
});
// Filters of lists hold as soon as they are chosen.
$("form[data-submit]")?.addEventListener("change", (event) => {
  if (event.target.matches("select, [type=checkbox]")) event.currentTarget.requestSubmit();
});

// The window for another budget, as the slider moves.
const slider = $("#budget");
let assembling;
let settling;
async function assemble() {
  assembling?.abort();
  const mine = (assembling = new AbortController());
  const url = `${location.pathname}?budget=${encodeURIComponent(slider.elements.budget.value)}`;
  try {
    const page = await fetched(url, mine.signal);
    if (mine.signal.aborted) return;
    swap("#window", page);
    $("#window-count").textContent = $("#window-count", page)?.textContent ?? "";
    history.replaceState(null, "", url);
  } catch (error) {
    if (error.name !== "AbortError") $("#window-count").textContent = "The server is not responding.";
  }
}
slider?.addEventListener("input", (event) => {
  const { step, budget } = slider.elements;
  const steps = slider.dataset.steps.split(",").map(Number);
  const far = (one) => Math.abs(Math.log(one / Math.max(1, budget.value)));
  if (event.target === step) budget.value = steps[step.value];
  else step.value = steps.indexOf(steps.reduce((one, other) => (far(other) < far(one) ? other : one)));
  step.setAttribute("aria-valuetext", `${Number(budget.value).toLocaleString("en")} tokens`);
  clearTimeout(settling);
  settling = setTimeout(assemble, event.target === step ? 60 : 250);
});
slider?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(settling);
  assemble();
});

// On a phone, filters that are not set are closed.
if (matchMedia("(max-width: 44rem)").matches) $(".fold:not([data-set])")?.removeAttribute("open");

// Keys.
let chosen = -1;
const stops = () => $$("a[data-hit], .rows a.name");
function choose(next) {
  const all = stops();
  chosen = Math.max(-1, Math.min(next, all.length - 1));
  for (const one of $$(".chosen")) one.classList.remove("chosen");
  const one = all[chosen];
  if (!one) return;
  one.closest("li").classList.add("chosen");
  one.focus({ preventScroll: true });
  one.closest("li").scrollIntoView({ block: "nearest" });
}
document.addEventListener("focusin", (event) => {
  const at = stops().indexOf(event.target);
  if (at >= 0) chosen = at;
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = $("#q") ?? $("form input[type=search]");
  const typing = event.target.matches("input, select, textarea, [contenteditable]");
  const inField = event.target === field;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    if (field) field.select();
    else location.assign("/search");
  } else if (event.key === "Escape" && inField) {
    field.value = "";
    if (form) soon(0);
  } else if (event.key === "Escape" && !typing && field && chosen >= 0) {
    choose(-1);
    field.focus();
  } else if (event.key === "ArrowDown" && (inField || (!typing && chosen >= 0)) && stops().length) {
    event.preventDefault();
    choose(inField ? 0 : chosen + 1);
  } else if (event.key === "ArrowUp" && !typing && chosen >= 0) {
    event.preventDefault();
    if (chosen === 0 && field) {
      choose(-1);
      field.focus();
    } else choose(chosen - 1);
  } else if (event.key === "j" && !typing && stops().length) choose(chosen + 1);
  else if (event.key === "k" && !typing && chosen > 0) choose(chosen - 1);
});

// Live updates: one stream of events while the page is visible.
const light = $("#live");
let stream;
let refresh;
function showConnection(state) {
  light.dataset.state = state;
  $(".word", light).textContent = state === "on" ? "live" : "";
}
function connect() {
  if (stream || !light || ["login", "problem"].includes(view())) return;
  stream = new EventSource("/v1/events");
  stream.onopen = () => showConnection("on");
  stream.onerror = () => showConnection("off");
  for (const name of ["appended", "created", "changed", "ended", "rewound", "restored", "compacted", "deleted", "dream"]) {
    stream.addEventListener(name, (event) => {
      light.classList.remove("pulse");
      void light.offsetWidth;
      light.classList.add("pulse");
      let data = {};
      try {
        data = JSON.parse(event.data);
      } catch {}
      onEvent(name, data);
    });
  }
}
function disconnect() {
  stream?.close();
  stream = undefined;
}
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", connect);
if (!document.hidden) connect();

function onEvent(name, event) {
  const here = $("#view")?.dataset;
  const lists = ["overview", "jobs"].includes(here?.view) || ((here?.view === "sessions" || (here?.view === "memories" && event.subject?.kind === "memory") || (here?.view === "notes" && event.subject?.kind === "note")) && !location.search.includes("cursor"));
  if (event.subject?.kind === "memory" && event.subject.id === here?.memory && !root.dataset.sent)
    return offer("Somebody else changed this memory", () => location.reload());
  if (event.subject?.kind === "note" && event.subject.id === here?.note && !root.dataset.sent)
    return offer("Somebody else changed this note", () => location.reload());
  const own = event.session_id === here?.session;
  const mine = own && here?.view === "session";
  const sized = own && here?.view === "window";
  if (!lists && !mine && !sized) return;
  clearTimeout(refresh);
  refresh = setTimeout(() => (mine ? addNewMessages(name) : sized ? assemble() : reloadList()), mine ? 150 : 1500);
}

/** Reloads a list, unless the focus is in it. */
async function reloadList() {
  const list = $("[data-refresh]");
  if (!list || list.contains(document.activeElement)) return;
  try {
    const page = await fetched(location.href);
    if (!list.contains(document.activeElement)) swap(`#${list.id}`, page);
  } catch {}
}

/** Adds new messages without moving the reader. */
async function addNewMessages(name) {
  const here = $("#view");
  const turns = $("#turns");
  if (!("end" in here.dataset)) return offer("There are new messages", () => location.assign(location.pathname));
  if (name === "rewound" || name === "restored") return offer("The conversation has changed", () => location.reload());
  const atEnd = innerHeight + scrollY > document.body.scrollHeight - 240;
  let page;
  try {
    page = await fetched(location.href);
  } catch {
    return;
  }
  const last = Number(here.dataset.last);
  let added = 0;
  for (const one of [...($("#turns", page)?.children ?? [])]) {
    const old = one.id && document.getElementById(one.id);
    if (old && old.parentElement === turns) {
      // A step that was waiting for its result, or a rewind since.
      if (old.outerHTML !== one.outerHTML && !$("[data-part]:focus", old) && $$("[id]", one).length > $$("[id]", old).length) old.replaceWith(one);
    } else if (Number(one.id.slice(1)) > last) {
      one.classList.add("fresh");
      turns.append(one);
      if (one.matches("article")) added += 1;
    }
  }
  here.dataset.last = $("#view", page)?.dataset.last ?? last;
  if (!("end" in ($("#view", page)?.dataset ?? {}))) delete here.dataset.end;
  if (!added) return;
  if (atEnd) scrollTo({ top: document.body.scrollHeight, behavior: "smooth" });
  else offer(added === 1 ? "1 new message" : `${added} new messages`, () => $(".fresh")?.scrollIntoView({ block: "start" }));
}
function offer(words, then) {
  $(".pill")?.remove();
  const pill = document.createElement("button");
  pill.type = "button";
  pill.className = "pill";
  pill.textContent = words;
  pill.addEventListener("click", () => {
    pill.remove();
    then();
  });
  $("#view").append(pill);
  $(".word", light).textContent = words;
}

// Opens the folds around the message that the address names.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  $("details.result", target)?.setAttribute("open", "");
  target.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", reveal);
reveal();
