// Summaries and windows: the tree, the original messages, and the window for a budget.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, overhang, picture, serve, visit } from "./rig.mjs";

/** Bytes that a page and everything it needs may take on the wire. */
const PAGE_BYTES_MAX = 150_000;

let server, browser, session;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
  const { items } = await server.ask("GET", "/v1/sessions?all=true&limit=100");
  for (const one of items) {
    const { items: summaries } = await server.ask("GET", `/v1/sessions/${one.id}/summaries`);
    if (summaries.length) session = { ...one, summaries };
  }
  assert.ok(session, "the demonstration has summaries");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const at = (path, id = session.id) => `${server.url}/sessions/${id}${path}`;
const countLine = (page) => page.locator("#window-count").textContent();

test("a conversation links to its summaries and its window", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(at(""));
    await live(page);
    for (const name of ["Summaries", "Window", "Conversation"]) {
      await page.getByRole("navigation", { name: "Session" }).getByRole("link", { name }).click();
      await page.waitForLoadState();
      const here = page.locator(".session-nav a[aria-current=page]");
      assert.equal(await here.textContent(), name);
    }
  });
});

test("the tree shows every summary, and a summary links to all its messages", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(at("/summaries"));
    await live(page);
    const bars = page.locator(".tree a");
    assert.equal(await bars.count(), session.summaries.length);
    assert.equal(await page.locator(".tree a.now").count(), session.summaries.filter((node) => node.in_context).length);
    assert.ok(await bars.first().isVisible());
    await page.getByText("as a list").click();
    assert.equal(await page.locator("#nodes li").count(), session.summaries.length);

    // By keyboard, into the first leaf.
    const leaf = session.summaries.find((node) => node.depth === 0);
    await page.locator(`.tree a[href$="${leaf.id}"]`).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(at(`/summaries/${leaf.id}`));
    assert.match(await page.locator("h1").textContent(), new RegExp(`${leaf.message_count} messages`));
    const first = page.locator(`#m${leaf.first_message}`);
    assert.ok(await first.isVisible(), "the first message under it");
    await picture(page, "summary");

    // To the last of them, page by page.
    const seen = new Set();
    for (;;) {
      for (const id of await page.locator(".exact [id^=m]").evaluateAll((all) => all.map((one) => one.id))) seen.add(id);
      const more = page.getByRole("link", { name: "More messages" });
      if (!(await more.count())) break;
      await more.click();
      await page.waitForLoadState();
    }
    assert.equal(seen.size, leaf.message_count);
    // And from one of them into the conversation.
    await page.locator(".exact article header a").last().click();
    await page.waitForURL(/\?at=\d+#m\d+$/);
    assert.ok(await page.locator(".turn.found").isVisible());
  });
});

test("a summary links to its parents and children", async () => {
  const above = session.summaries.find((node) => node.children.length);
  await visit(browser, {}, async (page) => {
    await page.goto(at(`/summaries/${above.id}`));
    await live(page);
    const below = page.locator("section[aria-labelledby=below] a.name");
    assert.equal(await below.count(), above.children.length);
    await picture(page, "summary-condensed");
    await below.first().click();
    await page.waitForURL(new RegExp(above.children[0]));
    await page.locator("section[aria-labelledby=above] a.name").click();
    await page.waitForURL(new RegExp(above.id));
  });
});

test("the slider updates the window without a reload and creates no summaries", async () => {
  await visit(browser, { viewport: { width: 1280, height: 1400 } }, async (page) => {
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.goto(at("/window"));
    await live(page);
    const range = page.getByRole("slider", { name: "Budget" });
    assert.match(await countLine(page), /of 100,000 tokens/);
    await range.focus();
    await page.keyboard.press("Home");
    await page.waitForFunction(() => document.querySelector("#window-count").textContent.includes("of 1,000 tokens"));
    const small = await countLine(page);
    assert.equal(await page.getByLabel("Tokens", { exact: true }).inputValue(), "1000");
    assert.match(page.url(), /\?budget=1000$/);
    await picture(page, "window-small");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelector("#window-count").textContent.includes("of 4,000 tokens"));
    assert.notEqual((await countLine(page)).split(" included")[0], small.split(" included")[0]);
    await page.getByLabel("Tokens", { exact: true }).fill("20000");
    await page.waitForFunction(() => document.querySelector("#window-count").textContent.includes("of 20,000 tokens"));
    assert.equal(await range.inputValue(), "4", "the slider follows");
    assert.equal(loads, 1, "without a reload");
    await page.getByLabel("Tokens", { exact: true }).fill("0");
    await page.locator("#window .notice").waitFor();
    await picture(page, "window-refused");
  });
  const after = await server.ask("GET", `/v1/sessions/${session.id}/summaries`);
  assert.deepEqual(after.items.map((node) => node.id), session.summaries.map((node) => node.id), "a preview creates none");
});

test("a window updates when a message is appended", async () => {
  const path = "/v1/sessions/growing/messages";
  await server.ask("POST", `${path}?create=true`, { role: "user", content: "how long is this?" });
  await visit(browser, {}, async (page) => {
    await page.goto(at("/window?budget=4000", "growing"));
    await live(page);
    assert.match(await countLine(page), /1 message included, 0 summarised, 0 left out/);
    await server.ask("POST", path, { role: "assistant", content: "two messages, by now" });
    await page.waitForFunction(() => document.querySelector("#window-count").textContent.includes("2 messages included"));
    assert.match(await page.locator(".scroller").textContent(), /two messages, by now/);
  });
});

test("the slider works without JavaScript", async () => {
  await visit(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(at("/window"));
    assert.match(await countLine(page), /of 100,000 tokens/);
    await page.getByRole("slider", { name: "Budget" }).fill("1");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/step=1/);
    assert.match(await countLine(page), /of 2,000 tokens/);
    assert.equal(await page.getByRole("slider", { name: "Budget" }).inputValue(), "1");
    await page.getByLabel("Tokens", { exact: true }).fill("30000");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/budget=30000/);
    assert.match(await countLine(page), /of 30,000 tokens/);
    await page.goto(at("/window?budget=plenty"));
    assert.match(await page.locator(".notice").textContent(), /"plenty" is not a number of tokens/);
    assert.ok(await page.getByRole("slider", { name: "Budget" }).isVisible());
  });
});

test("a pinned message is marked", async () => {
  const { messages } = await server.ask("GET", `/v1/sessions/${session.id}?limit=1`);
  await server.ask("PUT", `/v1/sessions/${session.id}/pins/${messages[0].id}`);
  await visit(browser, {}, async (page) => {
    await page.goto(at(`?at=${messages[0].id}`));
    await live(page);
    assert.equal(await page.locator(`#m${messages[0].id} .badge.pinned`).textContent(), "pinned");
  });
});

test("pages of two thousand messages and their summaries are small", async (t) => {
  const word = (n) => ["ferry", "tile", "lease", "bucket", "passport", "invoice", "knee"][n % 7];
  const messages = Array.from({ length: 2_000 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `On day ${n} we decided that the ${word(n)} in src/part_${n}.rs costs ${n * 17} euros. `.repeat(4),
    at: new Date(Date.UTC(2026, 0, 1) + n * 600_000).toISOString(),
  }));
  for (let n = 0; n < messages.length; n += 500) {
    await server.ask("POST", "/v1/sessions/endless/messages?create=true", messages.slice(n, n + 500));
  }
  await server.ask("POST", "/v1/sessions/endless/compact", { until: 30_000 });
  const { items } = await server.ask("GET", "/v1/sessions/endless/summaries");
  assert.ok(items.length > 10, `${items.length} summaries`);
  for (const path of ["", "/summaries", "/summaries?along=order", `/summaries/${items[0].id}`, "/window?budget=1000000"]) {
    await visit(browser, { viewport: { width: 390, height: 780 } }, async (page, context) => {
      const wire = await context.newCDPSession(page);
      await wire.send("Network.enable");
      let bytes = 0;
      wire.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
      await page.goto(at(path, "endless"));
      await live(page);
      t.diagnostic(`${path || "conversation"}: ${(bytes / 1000).toFixed(1)} kB`);
      assert.ok(bytes > 1000 && bytes <= PAGE_BYTES_MAX, `${path} takes ${bytes} bytes`);
      const { length } = await page.content();
      assert.ok(length < PAGE_BYTES_MAX, `${path} has ${length} characters`);
      assert.equal(await overhang(page), 0, `${path} can be scrolled sideways`);
    });
  }
  await visit(browser, { viewport: { width: 1280, height: 900 } }, async (page) => {
    await page.goto(at("/summaries", "endless"));
    await live(page);
    await picture(page, "summaries-endless");
  });
});
