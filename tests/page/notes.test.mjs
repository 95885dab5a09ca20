// Notes: the list, one note as it reads, as it is written and with who wrote each line, editing with and
// without a script, a conflict of two people, revisions with their differences, undo and restore.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, overhang, picture, serve, visit } from "./rig.mjs";

let server, browser;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const EVIL = `</textarea></title><script>window.pwned = 1</script>"'><img src=x onerror="window.pwned = 2">--></style>`;

const path = (name) => `/notes/${encodeURIComponent(name)}`;
const note = (name) => server.ask("GET", `/v1${path(name)}`);
const write = (name, content) => server.ask("PUT", `/v1${path(name)}`, { content });

async function open(page, address) {
  await page.goto(server.url + address);
  await live(page);
}

/** Runs an action that loads another page, and waits until its script has run. */
async function loading(page, action) {
  const loaded = page.waitForEvent("load");
  await action();
  await loaded;
  await live(page);
}

const revisionCount = (page) => page.locator("ol.revisions > li").count();

test("the list shows how full notes are, and leads to the notes of the demo", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, "/");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Notes" }).click();
    await page.waitForURL(/\/notes$/);
    assert.equal(await page.locator("nav a[aria-current=page]").textContent(), "Notes");
    const names = await page.locator(".rows a.name").allTextContents();
    assert.deepEqual(names.slice(0, 3), ["DREAMS.md", "MEMORY.md", "USER.md"]);
    assert.match(names[3], /^memory\/\d{4}-\d\d-\d\d\.md$/);
    assert.match(await page.locator(".rows .gauge").first().textContent(), /% full: \d+ of 2,200 characters/);
    assert.equal(await page.locator(".rows meter").count(), 2, "only notes with a budget have a gauge");
    assert.ok((await revisionCount(page)) >= 5, "the latest changes are listed");
    await picture(page, "notes");
    await page.getByRole("link", { name: names[3] }).first().click();
    await page.waitForURL(/\/notes\/memory%2F/);
    assert.match(await page.locator(".rendered").textContent(), /Tiler came/);
  });
});

test("a note is rendered, shown as source, and with the author and age of each line", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, path("MEMORY.md"));
    assert.ok((await page.locator(".rendered li").count()) >= 3);
    assert.equal(await page.locator(".rendered .heading").first().textContent(), "Memory");
    await picture(page, "note");
    await page.getByRole("link", { name: "Source" }).click();
    await page.waitForURL(/view=source/);
    assert.equal(await page.locator("pre.source").textContent(), (await note("MEMORY.md")).content);
    await page.getByRole("link", { name: "Lines and authors" }).click();
    await page.waitForURL(/view=blame/);
    const row = page.locator("table.blame tbody tr", { hasText: "white tiles" });
    assert.match(await row.textContent(), /3 days.*agent, claude-code/s);
    const heading = page.locator("table.blame tbody tr", { hasText: "## Flat" });
    assert.match(await heading.textContent(), /22 days.*person, page/s);
    await picture(page, "note-blame");
    await row.locator("a").click();
    await page.waitForURL(/\/revisions\/rev_/);
    assert.match(await page.locator("h1").textContent(), /White tiles instead of sea green/);
  });
});

test("a revision shows its difference in colour", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, path("MEMORY.md"));
    await page.locator("ol.revisions a", { hasText: "Running moved to the evening" }).click();
    await page.waitForURL(/\/revisions\/rev_/);
    assert.deepEqual(await page.locator("pre.diff ins").allTextContents(), ["+- Mira runs in the evening, around 19:00."]);
    assert.deepEqual(await page.locator("pre.diff del").allTextContents(), ["-- Mira runs in the morning, before breakfast."]);
    const colour = (selector) => page.locator(selector).first().evaluate((one) => getComputedStyle(one).color);
    assert.notEqual(await colour("pre.diff ins"), await colour("pre.diff del"));
    await picture(page, "revision");
  });
});

test("a person edits a note, and undoes the edit from the notice", async () => {
  await write("edited.md", "- the heron nests\n- the otter sleeps\n");
  await visit(browser, {}, async (page) => {
    await open(page, path("edited.md"));
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.waitForURL(/\/edit$/);
    await live(page);
    const field = page.locator("textarea[name=content]");
    assert.equal(await field.inputValue(), "- the heron nests\n- the otter sleeps\n", "as it is written");
    await field.fill("- the heron nests\n- the otter swims\n");
    await page.getByLabel("What you changed").fill("It is awake");
    await picture(page, "note-editor");
    await loading(page, () => page.getByRole("button", { name: "Save" }).click());
    assert.match(await page.locator(".decided").textContent(), /Saved:.*It is awake/s);
    assert.equal((await note("edited.md")).content, "- the heron nests\n- the otter swims\n");
    assert.match(await page.locator("ol.revisions li").first().textContent(), /It is awake.*person/s);
    await loading(page, () => page.locator(".decided").getByRole("button", { name: "Undo" }).click());
    assert.match((await note("edited.md")).content, /otter sleeps/);
  });
});

test("an edit beside another is merged, and one of the same line shows both texts", async () => {
  await write("shared.md", "- one\n- two\n- three\n- four\n");
  const conflicts = (text) => text.includes("409");
  await visit(browser, { allowed: conflicts }, async (page) => {
    await open(page, `${path("shared.md")}/edit`);
    await write("shared.md", "- ONE\n- two\n- three\n- four\n");
    await page.locator("textarea").fill("- one\n- two\n- three\n- FOUR\n");
    await loading(page, () => page.getByRole("button", { name: "Save" }).click());
    assert.match(await page.locator(".decided").textContent(), /changes that others made meanwhile/);
    assert.equal((await note("shared.md")).content, "- ONE\n- two\n- three\n- FOUR\n");

    await open(page, `${path("shared.md")}/edit`);
    await write("shared.md", "- ONE\n- theirs\n- three\n- FOUR\n");
    await page.locator("textarea").fill("- ONE\n- mine\n- three\n- FOUR\n");
    await loading(page, () => page.getByRole("button", { name: "Save" }).click());
    assert.match(await page.locator(".notice[role=alert]").textContent(), /Somebody else changed this note in the same place/);
    assert.match(await page.locator("pre.source").textContent(), /theirs/);
    assert.match(await page.locator("textarea").inputValue(), /mine/);
    await picture(page, "note-conflict");
    await loading(page, () => page.getByRole("button", { name: "Save" }).click());
    assert.equal((await note("shared.md")).content, "- ONE\n- mine\n- three\n- FOUR\n");
  });
});

test("what is over the budget is not saved, and not lost", async () => {
  await visit(browser, { allowed: (text) => text.includes("413") }, async (page) => {
    await open(page, `${path("USER.md")}/edit`);
    const long = `# Mira\n\n- ${"far too long ".repeat(200)}\n`;
    await page.locator("textarea").fill(long);
    await loading(page, () => page.getByRole("button", { name: "Save" }).click());
    assert.match(await page.locator(".notice[role=alert]").textContent(), /Not saved.*of 1,375 characters/s);
    assert.equal(await page.locator("textarea").inputValue(), long);
  });
});

test("one change is undone, and a note is restored to a revision", async () => {
  for (const text of ["- one\n", "- one\n- two\n", "- one\n- two\n- three\n"]) await write("steps.md", text);
  await visit(browser, {}, async (page) => {
    await open(page, path("steps.md"));
    const rows = page.locator("ol.revisions > li");
    assert.equal(await rows.count(), 3);
    await loading(page, () => rows.nth(1).getByRole("button", { name: "Undo this change" }).click());
    assert.equal((await note("steps.md")).content, "- one\n- three\n", "what came later stays");
    assert.match(await rows.nth(2).textContent(), /undone/);
    await loading(page, () => rows.last().getByRole("button", { name: "Restore the note to this" }).click());
    assert.equal((await note("steps.md")).content, "- one\n");
    assert.equal(await rows.count(), 5, "a restore is a revision");
  });
});

test("a deleted note is restored from its revisions", async () => {
  await write("gone.md", "- still here\n");
  await visit(browser, {}, async (page) => {
    await open(page, path("gone.md"));
    await loading(page, () => page.getByRole("button", { name: "Delete" }).click());
    assert.match(await page.locator("#view").textContent(), /This note is deleted/);
    await loading(page, () => page.locator("ol.revisions > li").last().getByRole("button", { name: "Restore the note to this" }).click());
    assert.equal((await note("gone.md")).content, "- still here\n");
  });
});

test("notes are created and edited without JavaScript", async () => {
  await visit(browser, { javaScriptEnabled: false, allowed: (text) => text.includes("422") || text.includes("400") }, async (page) => {
    await page.goto(`${server.url}/notes`);
    await page.getByRole("link", { name: "New note" }).click();
    await page.getByLabel(/^Name/).fill("../outside.md");
    await page.locator("textarea").fill("- kept while the name is wrong\n");
    await page.getByRole("button", { name: "Save" }).click();
    assert.match(await page.locator(".notice[role=alert]").textContent(), /Not saved/);
    await page.getByLabel(/^Name/).fill("plans/garden.md");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(/\/notes\?changed=/);
    assert.equal((await note("plans/garden.md")).content, "- kept while the name is wrong\n");
    await page.goto(server.url + path("plans/garden.md"));
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.locator("textarea").fill("- changed without a script\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(/changed=/);
    assert.match(await page.locator(".rendered").textContent(), /changed without a script/);
  });
});

test("text of a note stays text, and a form of another site changes nothing", async () => {
  await write("evil.md", `- ${EVIL}\n`);
  await visit(browser, {}, async (page) => {
    for (const address of [path("evil.md"), `${path("evil.md")}?view=source`, `${path("evil.md")}?view=blame`, `${path("evil.md")}/edit`]) {
      await open(page, address);
      assert.equal(await page.evaluate(() => window.pwned), undefined, address);
    }
    assert.equal(await page.locator("textarea").inputValue(), `- ${EVIL}\n`);
  });
  const body = new URLSearchParams({ content: "taken over", form_token: "guessed" });
  const answer = await fetch(`${server.url}${path("evil.md")}/edit`, {
    method: "POST",
    body,
    headers: { Origin: server.url },
    redirect: "manual",
  });
  assert.equal(answer.status, 403);
  assert.match((await note("evil.md")).content, /script/);
});

test("pages of notes fit on a phone", async () => {
  await visit(browser, { viewport: { width: 360, height: 740 } }, async (page) => {
    for (const address of ["/notes", path("MEMORY.md"), `${path("MEMORY.md")}?view=blame`, `${path("MEMORY.md")}/edit`]) {
      await open(page, address);
      assert.equal(await overhang(page), 0, address);
    }
    await picture(page, "note-phone");
    await open(page, path("MEMORY.md"));
    await page.locator("ol.revisions a").first().click();
    await page.waitForURL(/\/revisions\//);
    assert.equal(await overhang(page), 0);
  });
});
