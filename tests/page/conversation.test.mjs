// Sessions and conversations: filters, folded calls, long results, rewinds, lineage, pages, and what
// arrives while one reads.

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

const named = (id) => `${server.url}/sessions/${id}`;

/** Sessions of the demonstration that have what a test looks for. */
async function sessions(has) {
  const { items } = await server.ask("GET", "/v1/sessions?all=true&limit=100");
  const found = items.filter(has);
  assert.ok(found.length > 0, "the demonstration has one");
  return found;
}

test("sessions are listed and filtered", async () => {
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/sessions`);
    await live(page);
    const all = await page.locator(".rows a.name").count();
    assert.ok(all > 10);
    await picture(page, "sessions-light");
    await page.getByLabel("Source").selectOption("codex");
    await page.waitForURL(/source=codex/);
    const badges = await page.locator(".rows li .badge:first-child").allTextContents();
    assert.ok(badges.length > 0 && badges.length < all);
    assert.ok(badges.every((badge) => badge === "codex"), badges.join());
    await page.getByLabel("Title or id").fill("no such title anywhere");
    await page.keyboard.press("Enter");
    await page.locator(".empty").waitFor();
    await page.getByRole("link", { name: "Show all sessions" }).click();
    await page.waitForURL(/\/sessions$/);
    assert.equal(await page.locator(".rows a.name").count(), all);
    // By keyboard into one of them.
    await page.keyboard.press("j");
    const title = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/./);
    assert.equal(await page.locator("h1").textContent(), title);
  });
});

test("tool calls and long results are closed, and a long result opens in place", async () => {
  await visit(browser, {}, async (page) => {
    const lines = Array.from({ length: 120 }, (_, n) => `line ${n} of the log`);
    await server.ask("POST", "/v1/sessions/long-result/messages?create=true", [
      { role: "user", content: "show me the log" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "shell", arguments: '{"command":"cat log"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: lines.join("\n") },
      { role: "assistant", content: "There it is." },
    ]);
    await page.goto(named("long-result"));
    await live(page);
    const call = page.locator("details.call").first();
    assert.match(await call.locator("summary").textContent(), /shell.*cat log/);
    assert.ok(!(await call.locator("pre").isVisible()), "folded at first");
    await call.locator("summary").click();
    assert.match(await call.locator("pre").textContent(), /"command": "cat log"/);

    const result = page.locator("details.result").first();
    assert.ok(!(await result.locator("pre").isVisible()), "folded at first");
    await result.locator("summary").first().click();
    assert.ok(!(await result.locator("pre").textContent()).includes("line 119 "));
    await picture(page, "conversation-tool");
    await result.locator("a[data-expand]").click();
    await result.locator("pre", { hasText: "line 119 of the log" }).waitFor();
    assert.equal(page.url(), named("long-result"), "opened in place");
  });
});

test("rewound messages are announced, and shown on request", async () => {
  const [session] = await sessions((session) => session.rewind_count > 0);
  await visit(browser, {}, async (page) => {
    await page.goto(named(session.id));
    await live(page);
    assert.equal(await page.locator(".rewound article").count(), 0, "not unasked");
    const told = page.locator(".rewound").first();
    assert.match(await told.textContent(), /rewound here/);
    await told.getByRole("link", { name: "Show" }).click();
    await page.waitForURL(/hidden=1/);
    const shown = page.locator(".rewound").first();
    assert.match(await shown.locator("summary").first().textContent(), /rewound here/);
    if (!(await shown.locator("article").first().isVisible())) await shown.locator("summary").first().click();
    assert.ok(await shown.locator("article").first().isVisible());
    await picture(page, "conversation-rewound");
  });
});

test("the lineage graph links to relatives", async () => {
  const [branch] = await sessions((session) => session.lineage === "branch");
  await visit(browser, {}, async (page) => {
    await page.goto(named(branch.id));
    await live(page);
    const family = page.locator("details.family");
    assert.ok((await family.locator("svg circle").count()) >= 2);
    assert.ok((await family.locator("svg path").count()) >= 1, "lines between them");
    assert.equal(await family.locator("li[aria-current=true]").count(), 1);
    await picture(page, "conversation-lineage");
    await family.locator(`a[href="/sessions/${branch.parent_id}"]`).click();
    await page.waitForURL(named(branch.parent_id));
  });
});

test("a long session has pages that reach every message, and a hit opens its page", async () => {
  const messages = Array.from({ length: 250 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `saying number ${n} of a long talk`,
  }));
  const { ids } = await server.ask("POST", "/v1/sessions/long-talk/messages?create=true", messages);
  await visit(browser, {}, async (page) => {
    await page.goto(`${server.url}/search?q=%22saying+number+7+of%22`);
    await live(page);
    await page.locator("#results a[data-hit]").first().click();
    await page.waitForURL(/long-talk/);
    assert.ok(await page.locator(`#m${ids[7]}`).isVisible());
    const seen = new Set();
    const read = async () => {
      for (const id of await page.locator("#turns article.turn").evaluateAll((all) => all.map((one) => one.id))) seen.add(id);
    };
    await page.goto(named("long-talk"));
    await read();
    for (const way of ["Earlier messages", "Later messages"]) {
      await page.goto(named("long-talk"));
      while (await page.getByRole("link", { name: way }).count()) {
        await page.getByRole("link", { name: way }).click();
        await page.waitForLoadState();
        await read();
      }
    }
    assert.equal(seen.size, ids.length);
  });
});

test("appended messages appear without a reload", async () => {
  await server.ask("POST", "/v1/sessions/watched/messages?create=true", { role: "user", content: "are you there?" });
  await visit(browser, {}, async (page) => {
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.goto(named("watched"));
    await live(page);
    await server.ask("POST", "/v1/sessions/watched/messages", { role: "assistant", content: "here, since just now" });
    await page.locator("article.turn", { hasText: "here, since just now" }).waitFor();
    assert.equal(loads, 1, "without a reload");
    // From another process too.
    await server.run("--space", "demo", "append", "watched", "--text", "and from the command line");
    await page.locator("article.turn", { hasText: "and from the command line" }).waitFor();
    assert.equal(loads, 1);
  });
});

test("stored text cannot become markup or script", async () => {
  const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> [x](javascript:alert(1))`;
  await server.ask("POST", "/v1/sessions/evil/messages?create=true", { role: "user", content: evil });
  await server.ask("PATCH", "/v1/sessions/evil", { title: "<b>bold</b>" });
  await visit(browser, {}, async (page) => {
    await page.goto(named("evil"));
    await live(page);
    assert.ok(!(await page.title()).includes("owned"));
    assert.equal(await page.locator("#turns img, #turns script, #turns a[href^='javascript:']").count(), 0);
    assert.equal(await page.locator("h1").textContent(), "<b>bold</b>");
    assert.match(await page.locator("#turns").textContent(), /<script>/, "shown as it was written");
  });
});
