// Search: results while typing, matches, groups, scores, and the keyboard.

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

test("results appear while typing, with matches marked", async () => {
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
    const typed = await page.locator("#results .group h2").allTextContents();
    await page.reload();
    assert.deepEqual(await page.locator("#results .group h2").allTextContents(), typed);
  });
});

test("an unfinished word finds words that begin with it", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search`);
    await live(page);
    await page.locator("#q").pressSequentially("birthd", { delay: 20 });
    // Results of fewer letters may come first.
    await page.locator("#results .hit mark", { hasText: /birthday/i }).first().waitFor();
  });
});

/** What the page shows of a search: sessions, their passages, and the messages of each. */
const shownGroups = (page) =>
  page.locator("#results .group").evaluateAll((groups) =>
    groups.map((group) => ({
      title: group.querySelector("h2").textContent,
      passages: [...group.querySelectorAll(".passage")].map((passage) => ({
        open: passage.querySelector("details.context")?.open,
        lines: [...passage.querySelectorAll(".messages > li")].map((line) => ({
          hit: line.matches(".hit"),
          visible: line.checkVisibility(),
          text: line.querySelector("[dir=auto]").textContent,
        })),
      })),
    })),
  );

test("hits are grouped by session, with the context of the best hit open and no message twice", async () => {
  const said = (n) => ({ role: n % 2 ? "assistant" : "user", content: n === 5 || n === 6 || n === 20 ? `the quagga crossed river ${n}` : `small talk ${n}` });
  await server.ask("POST", "/v1/sessions/quagga-log/messages?create=true", Array.from({ length: 26 }, (_, n) => said(n)));
  await server.ask("PATCH", "/v1/sessions/quagga-log", { title: "Quagga diary" });
  await server.ask("POST", "/v1/sessions/quagga-note/messages?create=true", { role: "user", content: "a quagga is a zebra" });
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=quagga`);
    await live(page);
    const groups = await shownGroups(page);
    assert.deepEqual(groups.map((group) => group.title).sort(), ["Quagga diary", "a quagga is a zebra"]);
    const { passages } = groups.find((group) => group.title === "Quagga diary");
    assert.deepEqual(passages.map((passage) => passage.open), [true, false], "only the best passage is open");
    const all = passages.flatMap((passage) => passage.lines.map((line) => line.text));
    assert.equal(new Set(all).size, all.length, `a message is shown twice: ${all}`);
    const beside = passages.find((passage) => passage.lines.filter((line) => line.hit).length === 2);
    assert.deepEqual(beside.lines.map((line) => line.hit), [false, false, true, true, false, false], "two hits share one context");
    for (const { open, lines } of passages) {
      for (const line of lines) assert.equal(line.visible, open || line.hit, line.text);
    }
    const facts = await page.locator("#results .group", { hasText: "Quagga diary" }).locator("> .facts").textContent();
    assert.match(facts, /^\d+ \w+ \d{4}.*3 hits$/, "a date first");
    await page.locator("#results details.context:not([open]) summary").click();
    assert.ok((await shownGroups(page)).flatMap((group) => group.passages).every((passage) => passage.lines.every((line) => line.visible)));
  });
});

test("a hit explains its score, and contexts that were opened stay open", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=what+did+we+say+about+the+flat`);
    await live(page);
    const folded = page.locator("#results .passage:has(details.context:not([open]))").first();
    const opened = page.locator(`#${await folded.getAttribute("id")} .neighbour`).first();
    await folded.locator("summary").first().click();
    assert.ok(await opened.isVisible());
    assert.equal(await page.locator("details.trace").count(), 0);
    await page.getByLabel("Explain").check();
    const trace = page.locator("#results details.trace").first();
    await trace.locator("summary").click();
    assert.ok((await trace.locator("tbody tr").count()) > 0);
    const parts = (await trace.locator("td.number").allTextContents()).map(Number);
    const total = Number((await trace.locator("caption").textContent()).match(/-?\d+\.\d+/)[0]);
    const sum = parts.reduce((sum, part) => sum + part, 0);
    assert.ok(Math.abs(sum - total) < 0.06, `${parts} do not add up to ${total}`);
    assert.ok(await opened.isVisible(), "opened before the answer came again");
    await picture(page, "search-explained");
  });
});

test("hits and the search field are reached by keyboard", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=flat`);
    await live(page);
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
    const hits = await page.locator("#results a[data-hit]").allTextContents();
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
    await page.keyboard.type("aisle");
    await page.waitForURL(/q=aisle/);
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
    // Back, and Escape clears the field.
    await page.goBack();
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#q").inputValue(), "");
  });
});

test("an empty result and an invalid query are explained", async () => {
  const refused = (text) => text.includes("422");
  await visit(browser, { allowed: refused }, async (page) => {
    await page.goto(`${server.url}/search`);
    await live(page);
    await page.locator("#q").fill("\"xyzzy plugh nothing\"");
    await page.locator("#results .empty").waitFor();
    await page.locator("#q").fill("since:never");
    await page.locator("#count", { hasText: "Invalid query" }).waitFor();
    await page.locator("#q").fill("flat");
    await page.locator("#results .hit").first().waitFor();
  });
});

test("a search can be filtered and has further pages", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=the`);
    await live(page);
    const first = await page.locator("#results .group h2 a").first().getAttribute("href");
    await page.getByRole("link", { name: "More hits" }).click();
    await page.waitForURL(/cursor=/);
    assert.notEqual(await page.locator("#results .group h2 a").first().getAttribute("href"), first);
    await page.goto(`${server.url}/search?q=flat`);
    await live(page);
    await page.getByLabel("Role").selectOption("user");
    await page.waitForURL(/role=user/);
    const source = await page.getByLabel("Source").locator("option").allTextContents();
    assert.ok(source.includes("telegram"), source.join());
  });
});
