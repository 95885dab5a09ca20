// Memories: the list, one memory with its chain of reasons and its history, and the review, by mouse,
// by key, without a script, by two people at once, and with text that wants to be more than text.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, serve, visit } from "./rig.mjs";

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

const named = async (words) => {
  const { items } = await server.ask("GET", "/v1/memories?limit=500");
  const found = items.find((memory) => memory.content.includes(words));
  assert.ok(found, `there is a memory with ${words}`);
  return found;
};
const shown = (id) => server.ask("GET", `/v1/memories/${id}`);
const history = async (id) => (await server.ask("GET", `/v1/memories/${id}/history`)).items;
const candidate = async (content, more) => (await server.ask("POST", "/v1/memories", { content, ...more })).memory;
const refused = (status) => (text) => text.includes(String(status));

/** Opens a page of the server and waits until its script has run. */
async function open(page, path) {
  await page.goto(server.url + path);
  await live(page);
}

/** The statement that the review shows. */
const statement = (page) => page.locator("#statement").textContent();

/** Runs an action that loads another page, and waits until its script has run. */
async function loading(page, action) {
  const loaded = page.waitForEvent("load");
  await action();
  await loaded;
  await live(page);
}

test("the overview leads with what is believed, and links to it", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, "/");
    const first = await page.locator("main h2").first().textContent();
    assert.equal(first, "What is believed");
    const count = async (name) => {
      const term = page.locator(".beliefs dl.metrics > div", { has: page.locator("dt", { hasText: name }) });
      return Number(await term.locator("dd a").textContent());
    };
    const { items } = await server.ask("GET", "/v1/memories?limit=500");
    const active = items.filter((memory) => memory.status === "active");
    assert.equal(await count("Believed"), active.filter((memory) => !memory.suspended_by).length);
    assert.equal(await count("Waiting for review"), items.filter((memory) => memory.status === "candidate").length);
    assert.equal(await count("Contradicted"), active.filter((memory) => memory.suspended_by).length);
    assert.ok((await page.locator(".beliefs .rows a.name").count()) >= 3, "the newest are listed");
    await page.locator(".beliefs dl.metrics a", { hasText: /^1$/ }).first().click();
    await page.waitForURL(/status=contradicted/);
    assert.equal(await page.locator(".rows a.name").count(), 1);
  });
});

test("the list is filtered by status, kind, project, subject, tag and words", async () => {
  await visit(browser, {}, async (page) => {
    const rows = () => page.locator(".rows a.name").allTextContents();
    await open(page, "/memories");
    const all = await rows();
    assert.ok(all.length > 10);
    await page.locator("select[name=status]").selectOption("superseded");
    await page.waitForURL(/status=superseded/);
    assert.ok((await rows()).includes("Mira runs in the morning, before breakfast."));
    for (const [query, only] of [
      ["kind=adaptation&project=sluice", ["Every limit in the code gets a test at the limit plus one."]],
      ["subject=bathroom+walls&status=active", ["The bathroom walls get white tiles, 10 x 10."]],
      ["text=COFFEE", ["Mira drinks no coffee after 14:00."]],
      ["tag=demo&text=invoice", []],
      ["tag=no-such-tag", []],
    ]) {
      await open(page, `/memories?${query}`);
      assert.deepEqual(await rows(), only, query);
    }
    assert.match(await page.locator(".empty").textContent(), /No memories match these filters/);
    await open(page, "/memories?kind=nonsense");
    assert.match(await page.locator(".notice").textContent(), /kind/);
    await open(page, "/memories?text=coffee");
    await page.locator(".rows a.name").click();
    await page.waitForURL(/\/memories\/mem_/);
  });
});

test("a memory leads from its statement over its quote down to the message", async () => {
  await visit(browser, {}, async (page) => {
    const memory = await named("in the evening, around");
    await open(page, `/memories/${memory.id}`);
    assert.equal(await page.locator("h1").textContent(), memory.content);
    const text = await page.locator("#view").textContent();
    for (const words of ["agent: an agent stated it", "Mira runs in the morning, before breakfast.", "initial 0.70 + uses 0.02 = confidence 0.72", "used 1"]) assert.ok(text.includes(words), words);
    const chain = page.locator(".chain");
    // Drawn: each link is below and to the right of what rests on it.
    const boxes = await Promise.all(
      [".node.believed", ".links > li > .node", ".node.source"].map((node) => chain.locator(node).first().boundingBox()),
    );
    assert.ok(boxes[0].y < boxes[1].y && boxes[1].y < boxes[2].y);
    assert.ok(boxes[0].x < boxes[1].x && boxes[1].x < boxes[2].x);
    assert.equal(await chain.locator("mark").textContent(), "from now on evenings, forget the mornings");
    assert.ok((await chain.locator(".neighbour").count()) >= 1, "what was said around it");
    const [{ message_id }] = memory.citations;
    const replaced = page.locator(".facts-list div", { hasText: "Supersedes" }).getByRole("link");
    await loading(page, () => replaced.click());
    const successor = page.locator(".facts-list div", { hasText: "Superseded by" }).getByRole("link");
    assert.equal(await successor.textContent(), memory.content);
    await loading(page, () => successor.click());
    await chain.getByRole("link", { name: "Open the conversation" }).click();
    await page.waitForURL(new RegExp(`/sessions/demo-run-evening\\?at=${message_id}#m${message_id}`));
    assert.match(await page.locator(`#m${message_id}`).textContent(), /forget the mornings/);
  });
});

test("a contradiction shows both sides, is settled, and the decision can be undone", async () => {
  await visit(browser, {}, async (page) => {
    const [short, long] = [await named("is 2 hours"), await named("is 3 hours")];
    await open(page, `/memories/${short.id}`);
    const sides = page.locator(".sides > div");
    assert.match(await sides.nth(0).textContent(), /2 hours\..*90 minutes at most/s);
    assert.match(await sides.nth(1).textContent(), /3 hours\..*offshore has no reception/s);
    await loading(page, () => page.getByRole("button", { name: "Keep the other" }).click());
    assert.deepEqual([(await shown(short.id)).status, (await shown(short.id)).superseded_by], ["superseded", long.id]);
    assert.equal(await page.locator(".sides").count(), 0);
    await loading(page, () => page.locator(".decided").getByRole("button", { name: "Undo" }).click());
    assert.deepEqual([(await shown(short.id)).status, (await shown(short.id)).suspended_by], ["active", long.id]);
    const [last] = (await history(short.id)).slice(-1);
    assert.deepEqual([last.kind, last.actor.kind, last.actor.surface], ["memory.undo", "person", "page"]);
  });
});

test("the history shows every change, undoes one and redoes it", async () => {
  await visit(browser, {}, async (page) => {
    const { id } = await named("editor is Helix");
    await open(page, `/memories/${id}`);
    const steps = page.locator(".history > li .what strong");
    assert.deepEqual(await steps.allTextContents(), ["Created", "Forgotten", "Undone"]);
    const forgotten = page.locator(".history > li").nth(1);
    assert.match(await forgotten.textContent(), /undone.*I try another one\..*status.*active.*invalid/s);
    assert.equal(await forgotten.locator("button").count(), 0, "it is undone already");
    await loading(page, () => page.getByRole("button", { name: "Forget" }).click());
    assert.equal((await shown(id)).status, "invalid");
    await loading(page, () => page.locator(".history > li").last().getByRole("button", { name: "Undo" }).click());
    assert.equal((await shown(id)).status, "active");
    assert.equal(await steps.count(), 5);
    await loading(page, () => page.locator(".history > li").last().getByRole("button", { name: "Redo" }).click());
    assert.equal((await shown(id)).status, "invalid");
    await loading(page, () => page.locator(".history > li").last().getByRole("button", { name: "Redo" }).click());
    assert.equal((await shown(id)).status, "active");
  });
});

test("an undo that is no longer possible says why and leads back", async () => {
  await visit(browser, { allowed: refused(409) }, async (page) => {
    const { id } = await candidate("The kettle is red", { kind: "knowledge" });
    await open(page, `/memories/${id}`);
    await loading(page, () => page.getByRole("button", { name: "Promote" }).click());
    await loading(page, () => page.getByRole("button", { name: "Forget" }).click());
    const promoted = page.locator(".history > li").nth(1);
    await promoted.getByRole("button", { name: "Undo" }).click();
    await page.waitForSelector("[data-view=problem]");
    assert.match(await page.locator(".notice").textContent(), /cannot be undone.*memory\.forget/s);
    await page.getByRole("link", { name: "Back" }).click();
    await page.waitForURL(`${server.url}/memories/${id}`);
  });
});

test("a memory is edited, confirmed and replaced", async () => {
  await visit(browser, {}, async (page) => {
    const { id } = await named("Umsatzsteuer-Nummern");
    await open(page, `/memories/${id}`);
    await page.locator("details.edit summary").first().click();
    const editor = page.locator(".editor").first();
    await editor.locator("textarea").fill("Zeile eins\nZeile zwei 🦀");
    await editor.locator("input[name=tags]").fill("steuer, demo ,");
    await editor.locator("input[name=project]").fill("");
    await loading(page, () => editor.getByRole("button", { name: "Save" }).click());
    const edited = await shown(id);
    assert.deepEqual([edited.content, edited.tags, edited.project], ["Zeile eins\nZeile zwei 🦀", ["steuer", "demo"], null]);
    await loading(page, () => page.getByRole("button", { name: "Confirm" }).click());
    assert.ok((await shown(id)).confirmed_at);
    await page.getByText("Replace by a new statement").click();
    const replace = page.locator(".editor").nth(1);
    await replace.locator("textarea").fill("Rechnungen sind PDF");
    await loading(page, () => replace.getByRole("button", { name: "Replace" }).click());
    const replaced = await shown(id);
    assert.equal(replaced.status, "superseded");
    assert.equal((await shown(replaced.superseded_by)).content, "Rechnungen sind PDF");
  });
});

test("candidates are reviewed by key alone", async () => {
  await visit(browser, {}, async (page) => {
    const [quiet, hook, licence, goal] = await Promise.all(
      ["14:00 and 16:00.", "metrics hook", "licence of Azulejos", "marathon is 1:55"].map(named),
    );
    const press = (key) => loading(page, () => page.keyboard.press(key));
    await open(page, "/review");
    assert.equal(await statement(page), quiet.content, "the newest comes first");
    assert.match(await page.locator("[aria-labelledby=evidence]").textContent(), /But no noise between 2 and 4\./);
    assert.match(await page.locator("[aria-labelledby=known]").textContent(), /Dona Fernanda sleeps.*No hammering in that window/s);
    const [left, right] = await Promise.all(["evidence", "known"].map((id) => page.locator(`[aria-labelledby=${id}]`).boundingBox()));
    assert.ok(Math.abs(left.y - right.y) < 2 && left.x + left.width <= right.x, "side by side");

    await page.keyboard.press("m");
    assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), "Merge into this");
    await press("Enter");
    assert.equal((await shown(quiet.id)).status, "superseded");
    assert.match(await page.locator(".decided").textContent(), /Merged/);

    assert.equal(await statement(page), hook.content);
    assert.ok(!(await page.locator("#why .chain").isVisible()));
    await page.keyboard.press("w");
    assert.ok(await page.locator("#why .chain").isVisible());
    await page.keyboard.press("w");
    assert.ok(!(await page.locator("#why .chain").isVisible()));
    await page.keyboard.press("e");
    await page.waitForFunction(() => document.activeElement.name === "content");
    await page.keyboard.type("Perhaps: ");
    await page.keyboard.press("Escape");
    assert.ok(!(await page.locator("#edit textarea").isVisible()), "Escape closes it");
    await page.keyboard.press("e");
    await page.locator("#edit textarea").fill("The metrics hook may be published once Katrin agrees in writing.");
    await page.keyboard.press("Tab");
    await loading(page, () => page.locator("#edit").getByRole("button", { name: "Save" }).press("Enter"));
    assert.equal(await statement(page), "The metrics hook may be published once Katrin agrees in writing.", "it is still to decide");

    await press("s");
    assert.equal(await statement(page), licence.content, "skipped");
    await press("p");
    assert.equal((await shown(licence.id)).status, "active");

    assert.equal(await statement(page), goal.content);
    assert.match(await page.locator("[aria-labelledby=known]").textContent(), /is 1:58.*contradicts/s);
    await press("r");
    assert.equal((await shown(goal.id)).status, "invalid");
    assert.match(await page.locator(".empty").textContent(), /You have seen every candidate/);

    await loading(page, () => page.locator(".decided").getByRole("button", { name: "Undo" }).click());
    assert.equal((await shown(goal.id)).status, "candidate");
    const actors = (await history(licence.id)).map((operation) => operation.actor.kind);
    assert.deepEqual(actors, ["agent", "person"]);
    await open(page, "/review");
    assert.match(await statement(page), /^The metrics hook/, "what was skipped is still there");
  });
});

test("a key that is held or pressed twice decides once", async () => {
  await visit(browser, {}, async (page) => {
    const first = await candidate("The first of two to decide");
    const second = await candidate("The second of two to decide");
    await open(page, "/review?text=two+to+decide");
    assert.equal(await statement(page), second.content);
    await loading(page, () =>
      page.evaluate(() => {
        for (const repeat of [false, true, false]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "p", repeat, bubbles: true }));
      }),
    );
    assert.match(await page.locator(".decided").textContent(), /Promoted/);
    assert.deepEqual([(await shown(second.id)).status, (await shown(first.id)).status], ["active", "candidate"]);
    // Letters in a field are text.
    await page.keyboard.press("e");
    await page.waitForFunction(() => document.activeElement.name === "content");
    await page.keyboard.type("prs");
    assert.equal((await shown(first.id)).status, "candidate");
  });
});

test("of two reviewers of one candidate, the second sees that it is decided and goes on", async () => {
  const other = await candidate("Nobody decides this one of the pair");
  const both = await candidate("Both decide this one of the pair");
  await visit(browser, {}, async (mine) => {
    await visit(browser, {}, async (theirs) => {
      for (const page of [mine, theirs]) {
        await open(page, "/review?text=one+of+the+pair");
        assert.equal(await statement(page), both.content);
      }
      await loading(theirs, () => theirs.getByRole("button", { name: /^Promote/ }).click());
      await loading(mine, () => mine.keyboard.press("r"));
      const notice = await mine.locator(".decided").textContent();
      assert.match(notice, /Somebody else decided first: Both decide this one of the pair is now active\. Promoted by a person on this page/);
      assert.equal(await statement(mine), other.content, "the review goes on");
      assert.equal((await shown(both.id)).status, "active", "the first decision stands");
      assert.equal((await history(both.id)).length, 2);
      // An edit and a merge of what somebody else has changed are not applied either.
      await mine.goto(`${server.url}/review?text=one+of+the+pair`);
      await live(mine);
      await server.ask("PATCH", `/v1/memories/${other.id}`, { content: "Somebody else edited this one of the pair" });
      await mine.keyboard.press("e");
      await loading(mine, () => mine.locator("#edit").getByRole("button", { name: "Save" }).click());
      assert.match(await mine.locator(".decided").textContent(), /Somebody else decided first/);
      assert.match((await shown(other.id)).content, /^Somebody else edited/);
    });
  });
});

test("the list shows a new memory, and open pages tell that somebody else changed theirs", async () => {
  const { id } = await candidate("Watched by two pages");
  await visit(browser, {}, async (page, context) => {
    const [list, review] = [await context.newPage(), await context.newPage()];
    await open(list, "/memories?text=watched");
    await open(review, "/review?text=watched");
    await open(page, `/memories/${id}`);
    await candidate("Watched as it arrives");
    await list.bringToFront();
    await list.locator(".rows a.name", { hasText: "as it arrives" }).waitFor();
    await page.bringToFront();
    await live(page);
    await server.ask("POST", `/v1/memories/${id}/reject`, {});
    await loading(page, () => page.getByRole("button", { name: "Somebody else changed this memory" }).click());
    assert.match(await page.locator(".head").textContent(), /invalid/);
  });
});

test("the review and the undo work without a script", async () => {
  const { id } = await candidate("Decided without any script");
  await visit(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/review?text=without+any+script`);
    assert.equal(await statement(page), "Decided without any script");
    assert.equal(await page.locator("kbd:visible").count(), 0, "no keys are promised");
    await page.getByRole("link", { name: "Why" }).click();
    await page.locator("#why summary").click();
    assert.ok(await page.locator("#why .chain").isVisible());
    await page.getByRole("button", { name: "Promote" }).click();
    await page.waitForURL(/did=op_/);
    assert.equal((await shown(id)).status, "active");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.waitForURL(/did=op_/);
    assert.equal((await shown(id)).status, "candidate");
  });
});

test("only a form of the page decides as a person", async () => {
  const { id } = await candidate("Nobody but a person promotes this");
  const path = `${server.url}/memories/${id}/promote`;
  const html = await (await fetch(`${server.url}/memories/${id}`)).text();
  const [, token] = html.match(/name="form_token" value="([0-9a-f]+)"/);
  const post = async (headers, fields) => {
    const body = new URLSearchParams(fields);
    return (await fetch(path, { method: "POST", headers, body, redirect: "manual" })).status;
  };
  const own = { Origin: server.url };
  assert.equal(await post({}, { form_token: token }), 403, "a program without an origin");
  assert.equal(await post({ Origin: "http://evil.example" }, { form_token: token }), 403, "another site");
  assert.equal(await post(own, {}), 403, "no token");
  assert.equal(await post(own, { form_token: "0".repeat(64) }), 403, "another token");
  assert.equal(await post({ ...own, "Sec-Fetch-Site": "cross-site" }, { form_token: token }), 403);
  assert.equal(await post({ ...own, Authorization: "Bearer x" }, { form_token: token }), 403);
  assert.equal((await shown(id)).status, "candidate", "nothing was decided");
  assert.equal((await fetch(path)).status, 405, "a link decides nothing");
  // A page of another space cannot decide here.
  await server.ask("POST", "/v1/sessions", { id: "there" }, { "Oneiro-Space": "elsewhere" });
  await server.ask("POST", "/v1/memories", { content: "of elsewhere" }, { "Oneiro-Space": "elsewhere" });
  const elsewhere = { Cookie: `oneiro_space_${new URL(server.url).port}=elsewhere` };
  const there = await (await fetch(`${server.url}/review`, { headers: elsewhere })).text();
  assert.match(there, /of elsewhere/);
  const [, foreign] = there.match(/name="form_token" value="([0-9a-f]+)"/);
  assert.notEqual(foreign, token);
  assert.equal(await post(own, { form_token: foreign }), 403, "the token of another space");
  assert.equal((await shown(id)).status, "candidate");
});

test("text of memories is shown as text in every place, and edited without loss", async () => {
  const fields = { subject: EVIL, tags: [EVIL.slice(0, 50), "a tag, with a comma"], project: EVIL, reason: EVIL };
  const first = await candidate(`${EVIL} first`, { ...fields, quote: EVIL });
  const { id } = await candidate(`${EVIL} second`, { ...fields, quote: EVIL });
  await server.ask("POST", "/v1/sessions/evil/messages?create=true", { role: "user", content: `I say ${EVIL}` });
  const said = await candidate(`${EVIL} said`, { ...fields, quote: EVIL, session: "evil" });
  await visit(browser, {}, async (page) => {
    const assertHarmless = async () => {
      assert.equal(await page.evaluate(() => window.pwned), undefined, page.url());
      assert.equal(await page.locator("main img, main script, main style").count(), 0, page.url());
      assert.ok((await page.locator("main").textContent()).includes(EVIL), `${page.url()} shows it as it stands`);
    };
    const paths = [`/memories?subject=${encodeURIComponent(EVIL)}`, `/review?subject=${encodeURIComponent(EVIL)}`];
    for (const path of [...paths, ...[first.id, id, said.id].map((id) => `/memories/${id}`), "/"]) {
      await open(page, path);
      await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
      await assertHarmless();
    }
    await open(page, `/memories/${id}`);
    await page.locator("details.edit summary").first().click();
    assert.equal(await page.locator(".editor textarea").first().inputValue(), `${EVIL} second`);
    await loading(page, () => page.locator(".editor").first().getByRole("button", { name: "Save" }).click());
    await assertHarmless();
    const after = await shown(id);
    assert.deepEqual([after.content, after.subject, after.project, after.tags], [`${EVIL} second`, EVIL, EVIL, fields.tags]);
    await open(page, `/review?subject=${encodeURIComponent(EVIL)}`);
    await loading(page, () => page.keyboard.press("p"));
    await assertHarmless();
  });
});

test("an address that somebody made up shows nothing that did not happen", async () => {
  await visit(browser, {}, async (page) => {
    for (const query of ["did=op_nothing", "did=%3Cb%3E", "by_others=mem_nothing", "cursor=7.7&did=", "by_others="]) {
      await open(page, `/review?${query}`);
      assert.equal(await page.locator(".decided").count(), 0, query);
    }
  });
});
