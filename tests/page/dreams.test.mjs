// Dreams: a dry run that changes nothing, the same applied, what was decided and why, and its undo.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, overhang, picture, serve, visit } from "./rig.mjs";

let server, browser;
before(async () => {
  server = await serve();
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const DAY_MS = 86_400_000;

/** What a person says, on days before today. */
async function say(session, texts) {
  await server.ask("POST", "/v1/sessions", { id: session });
  const days = texts.length;
  for (const [index, content] of texts.entries()) {
    const at = new Date(Date.now() - (days - index) * DAY_MS).toISOString();
    await server.ask("POST", `/v1/sessions/${session}/messages`, [{ role: "user", content, at }]);
  }
}

async function memoryNote() {
  const notes = (await server.ask("GET", "/v1/notes")).items;
  if (!notes.some((note) => note.name === "MEMORY.md")) return "";
  return (await server.ask("GET", "/v1/notes/MEMORY.md")).content;
}

/** Presses a button that loads another page, and waits until its script has run. */
async function press(page, name) {
  const loaded = page.waitForEvent("load");
  await page.getByRole("button", { name }).click();
  await loaded;
  await live(page);
}

test("a dry run says what a dream would change, applying changes it, and an undo takes it back", async () => {
  await say("home", [
    "I live in Porto.",
    "I live in Porto.",
    "By the way, I live in Porto.",
    "Remember that I live in Porto.",
    "Which trains leave from where I live?",
  ]);
  // A claim that was only stated again in the same words is one prompt; this is a second one.
  await server.ask("POST", "/v1/extract", {});
  await server.ask("POST", "/v1/search", { query: "where I live", kinds: ["memory"], for_session: "home" });
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/dreams`);
    await live(page);
    assert.match(await page.locator("main").textContent(), /does not dream by itself/);
    assert.equal(await page.locator("nav a[aria-current=page]").textContent(), "Dreams");

    await press(page, "Dry run");
    const promoted = page.locator("li[data-decision=promoted]", { hasText: "Porto" });
    assert.equal(await promoted.count(), 1, await page.locator("main").textContent());
    await promoted.locator("summary").click();
    assert.equal(await promoted.locator("meter").count(), 7);
    assert.equal(await overhang(page), 0);
    await picture(page, "dream");
    assert.doesNotMatch(await memoryNote(), /Porto/, "a dry run changes nothing");

    // What waits is on the overview and beside the list, too.
    for (const path of ["/dreams", "/"]) {
      await page.goto(`${server.url}${path}`);
      await live(page);
      assert.match(await page.locator("section.digest").textContent(), /Would keep “I live in Porto\.”/);
    }
    await picture(page, "overview-digest");
    await press(page, "Apply: dream now");
    await page.waitForURL(/\/dreams\/drm_/);
    assert.match(await memoryNote(), /Porto/);

    await press(page, "Undo this dream");
    assert.doesNotMatch(await memoryNote(), /Porto/);
    assert.match(await page.locator(".head .facts").textContent(), /undone/);

    await page.goto(`${server.url}/dreams`);
    await live(page);
    assert.equal(await page.locator("section.digest").count(), 0);
    assert.equal(await page.locator("table.calendar td[data-outcome=processed]").count(), 1);
    assert.equal(await page.locator("ul.rows > li").count(), 2);
    await picture(page, "dreams");
  });
});
