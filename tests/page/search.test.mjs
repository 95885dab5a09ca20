// Search: results as one types, marked, in context, explained, and by keyboard.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, picture, serve, visit } from "./rig.mjs";

let server, browser;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("results come as one types, with what was met marked", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search`);
    await live(page);
    await page.locator("#q").pressSequentially("birthday", { delay: 20 });
    await page.locator("#results .hit").first().waitFor();
    assert.match(page.url(), /[?&]q=birthday$/, "the address can be sent to somebody");
    await page.locator("#q").pressSequentially(" cake");
    await page.waitForURL(/[?&]q=birthday\+cake$/);
    const marks = await page.locator("#results mark").allTextContents();
    assert.ok(marks.length > 0 && marks.some((mark) => /birthday/i.test(mark)), marks.join());
    assert.match(await page.locator("#count").textContent(), /\d+ hits? in .+/);
    await picture(page, "search-light");
    // The same without the script's help.
    const typed = await page.locator("#results .hit h2").allTextContents();
    await page.reload();
    assert.deepEqual(await page.locator("#results .hit h2").allTextContents(), typed);
  });
});

test("a word that is only begun finds what begins so", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search`);
    await live(page);
    await page.locator("#q").pressSequentially("birthd", { delay: 20 });
    await page.locator("#results .hit mark").first().waitFor();
    const marks = await page.locator("#results mark").allTextContents();
    assert.ok(marks.some((mark) => /birthday/i.test(mark)), marks.join());
  });
});

test("a hit unfolds what stood around it, and why it ranked there", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=ferry+to+the+island`);
    await live(page);
    const context = page.locator("#results .hit details.context").first();
    assert.ok(!(await context.locator("ol").isVisible()), "folded at first");
    await context.locator("summary").click();
    assert.ok(await context.locator("ol .here").isVisible());
    assert.ok((await context.locator("ol li").count()) > 1);

    assert.equal(await page.locator("details.trace").count(), 0);
    await page.getByLabel("Explain").check();
    const trace = page.locator("#results details.trace").first();
    await trace.locator("summary").click();
    assert.ok((await trace.locator("tbody tr").count()) > 0);
    const parts = (await trace.locator("td.figure").allTextContents()).map(Number);
    const whole = Number((await trace.locator("caption").textContent()).match(/-?\d+\.\d+/)[0]);
    const sum = parts.reduce((sum, part) => sum + part, 0);
    assert.ok(Math.abs(sum - whole) < 0.06, `${parts} are not ${whole}`);
    assert.ok(await context.locator("ol").isVisible(), "what was open stays open");
    await picture(page, "search-explained");
  });
});

test("everything is reached by keyboard", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=flat`);
    await live(page);
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
    const hits = await page.locator("#results .hit h2").allTextContents();
    assert.ok(hits.length > 2);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("j");
    assert.equal(await focused(), hits[0]);
    await page.keyboard.press("j");
    assert.equal(await focused(), hits[1]);
    await page.keyboard.press("k");
    assert.equal(await focused(), hits[0]);
    await page.keyboard.press("/");
    assert.equal(await focused(), "q");
    await page.keyboard.type("kitchen");
    await page.waitForURL(/q=kitchen/);
    await page.keyboard.press("ArrowDown");
    const href = await page.evaluate(() => document.activeElement.getAttribute("href"));
    assert.match(href, /^\/sessions\//);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\//);
    assert.ok(page.url().endsWith(href));
    const found = page.locator(".turn.found, [id].found").first();
    await found.waitFor();
    const box = await found.boundingBox();
    const { height } = page.viewportSize();
    assert.ok(box.y >= -1 && box.y < height, `the message is at ${box.y}, below ${height}`);
    // The way back, and out of the field.
    await page.goBack();
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#q").inputValue(), "");
  });
});

test("what finds nothing and what cannot be asked is told", async () => {
  const refused = (text) => text.includes("422");
  await visit(browser, { allowed: refused }, async (page) => {
    await page.goto(`${server.url}/search`);
    await live(page);
    await page.locator("#q").fill("\"xyzzy plugh nothing\"");
    await page.locator("#results .empty").waitFor();
    await page.locator("#q").fill("since:never");
    await page.locator("#count", { hasText: "cannot be taken" }).waitFor();
    await page.locator("#q").fill("flat");
    await page.locator("#results .hit").first().waitFor();
  });
});

test("filters and further pages", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=the`);
    await live(page);
    const first = await page.locator("#results .hit h2 a").first().getAttribute("href");
    await page.getByRole("link", { name: "More hits" }).click();
    await page.waitForURL(/cursor=/);
    assert.notEqual(await page.locator("#results .hit h2 a").first().getAttribute("href"), first);
    await page.goto(`${server.url}/search?q=flat`);
    await live(page);
    await page.getByLabel("Speaker").selectOption("user");
    await page.waitForURL(/role=user/);
    const source = await page.getByLabel("Source").locator("option").allTextContents();
    assert.ok(source.includes("telegram"), source.join());
  });
});
