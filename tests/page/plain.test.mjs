// The page without JavaScript: forms and links do everything.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, picture, serve, visit } from "./rig.mjs";

let server, browser;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("search and conversations work without JavaScript", async () => {
  await visit(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/search`);
    await page.locator("#q").fill("flat");
    await page.locator("form#search button[type=submit]").click();
    await page.waitForURL(/\/search\?.*q=flat/);
    const hits = page.locator("#results .hit");
    assert.ok((await hits.count()) > 0);
    assert.equal(await page.locator(".scripted:visible").count(), 0, "no button without an effect");
    await picture(page, "no-script-search");
    await page.locator("#results .group h2 a").first().click();
    await page.waitForURL(/\/sessions\//);
    assert.ok((await page.locator("article.turn").count()) > 0);
    const fold = page.locator("details:not([open])").first();
    if (await fold.count()) {
      await fold.locator("summary").first().click();
      assert.ok(await page.locator("details[open]").count());
    }
  });
});

test("a long tool result opens on its own page", async () => {
  const lines = Array.from({ length: 200 }, (_, n) => `row ${n}`);
  const { ids } = await server.ask("POST", "/v1/sessions/rows/messages?create=true", [
    { role: "user", content: "rows, please" },
    { role: "tool", tool_call_id: "c", content: lines.join("\n") },
  ]);
  await visit(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/sessions/rows`);
    const more = page.locator("a[data-expand]").first();
    await page.locator("details.result summary").first().click();
    await more.click();
    await page.waitForURL(`${server.url}/messages/${ids[1]}`);
    assert.match(await page.locator("main").textContent(), /row 199/);
  });
});

test("filters and navigation work without JavaScript", async () => {
  await visit(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/sessions`);
    await page.getByLabel("Project").selectOption("sluice");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/project=sluice/);
    assert.ok((await page.locator(".rows a.name").count()) > 0);
    for (const name of ["Overview", "Search", "Sessions", "Jobs"]) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
      await page.waitForLoadState();
      assert.equal(await page.locator("nav a[aria-current=page]").textContent(), name);
    }
  });
});
