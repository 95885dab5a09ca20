// Packs with what was in and what was left out, and what was learnt beside the message it was learnt from.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, overhang, picture, serve, visit } from "./rig.mjs";

let server, browser;
const LINE = "The staging database of the garden runs on port 5433";
const PROMPT = "On which port does the staging database of the garden run?";

before(async () => {
  server = await serve();
  browser = await browse();
  await server.ask("POST", "/v1/sessions", { id: "heard", source: "telegram" });
  await server.ask("POST", "/v1/sessions/heard/messages", [
    { role: "user", content: LINE },
    { role: "assistant", content: "Noted." },
  ]);
  await server.ask("POST", "/v1/memories", { content: LINE, quote: LINE, kind: "knowledge" });
  for (let count = 0; count < 9; count++)
    await server.ask("POST", "/v1/packs", { prompt: PROMPT, project: "garden", session: "asking", client: "telegram" });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("the overview tells what memory gave, and leads to the packs", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(server.url);
    await live(page);
    const value = async (name) => {
      const term = page.locator("section.beliefs dl.metrics > div", { has: page.locator("dt", { hasText: name }) });
      return (await term.locator("dd").textContent()).trim();
    };
    assert.match(await value("Lines"), /in 8 packs, 1 empty/);
    assert.match(await value("Muted"), /^1/);
    await page.getByText("Muted memories").click();
    assert.match(await page.locator("details.muted li").textContent(), /port 5433.* in garden/s);
    await page.getByRole("link", { name: "All packs" }).click();
    await page.waitForURL(/\/packs$/);
    assert.equal(await page.locator(".rows a.name").count(), 9);
  });
});

test("a pack shows its lines, and what was left out and why", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/packs?session=asking`);
    await live(page);
    assert.equal(await page.locator(".rows a.name").first().textContent(), "Nothing was relevant");
    await page.locator(".rows a.name").last().click();
    await page.waitForURL(/\/packs\/pck_/);
    assert.match(await page.locator("#view").textContent(), /port 5433/);
    await picture(page, "pack");
    await page.locator("table.items a", { hasText: "why" }).click();
    await page.waitForURL(/\/memories\/mem_.*#why/);
    assert.match(await page.locator("#view").textContent(), /Muted in garden/);
    await page.goto(`${server.url}/packs`);
    await page.locator(".rows a.name").first().click();
    await page.waitForURL(/\/packs\/pck_/);
    const row = page.locator("tr[data-reason=muted]");
    assert.match(await row.textContent(), /port 5433.*muted/s);
  });
  await visit(browser, { viewport: { width: 360, height: 740 } }, async (page) => {
    await page.goto(`${server.url}/packs`);
    await page.locator(".rows a.name").last().click();
    await page.waitForURL(/\/packs\/pck_/);
    assert.equal(await overhang(page), 0);
  });
});

test("what was learnt stands beside its message, with its status and why", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/sessions/heard`);
    await live(page);
    const learnt = page.locator("article.turn section.learnt");
    assert.equal(await learnt.count(), 1);
    assert.match(await learnt.textContent(), /active.*port 5433/s);
    await picture(page, "learnt");
    await learnt.getByRole("link", { name: "why" }).click();
    await page.waitForURL(/\/memories\/mem_.*#why/);
  });
});
