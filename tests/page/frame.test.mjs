// What holds for every page: accessible in both themes, no wider than a phone, small.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { browse, live, overhang, picture, serve, visit } from "./rig.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Bytes that a page and everything it needs may take on the wire. */
const PAGE_BYTES_MAX = 150_000;

let server, browser, empty, pages;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
  const { items } = await server.ask("GET", "/v1/sessions?all=true&limit=100");
  const longest = items.reduce((one, other) => (one.message_count > other.message_count ? one : other));
  const branch = items.find((session) => session.lineage === "branch");
  const { messages } = await server.ask("GET", `/v1/sessions/${longest.id}?limit=1`);
  const of = async (session) => [session, (await server.ask("GET", `/v1/sessions/${session.id}/summaries`)).items];
  const [condensed, summaries] = (await Promise.all(items.map(of))).find(([, summaries]) => summaries.length);
  // An erasure leaves a job, so that the list of jobs is not empty.
  await server.ask("POST", "/v1/sessions/to-erase/messages?create=true", { role: "user", content: "erase this" });
  await server.ask("POST", "/v1/erasures", { session: "to-erase" });
  const { items: memories } = await server.ask("GET", "/v1/memories?limit=500");
  const contradicted = memories.find((memory) => memory.suspended_by);
  empty = await serve();
  pages = {
    overview: `${server.url}/`,
    search: `${server.url}/search`,
    "search-found": `${server.url}/search?q=what+did+we+say+about+the+flat&explain=1`,
    "search-nothing": `${server.url}/search?q=%22xyzzy+plugh%22`,
    memories: `${server.url}/memories`,
    "memories-none": `${server.url}/memories?tag=nothing`,
    memory: `${server.url}/memories/${contradicted.id}`,
    review: `${server.url}/review`,
    "review-end": `${server.url}/review?cursor=0.0`,
    "no-memories": `${empty.url}/memories`,
    "no-review": `${empty.url}/review`,
    sessions: `${server.url}/sessions`,
    conversation: `${server.url}/sessions/${longest.id}`,
    branch: `${server.url}/sessions/${branch.id}?hidden=1`,
    summaries: `${server.url}/sessions/${condensed.id}/summaries`,
    "no-summaries": `${server.url}/sessions/${branch.id}/summaries`,
    summary: `${server.url}/sessions/${condensed.id}/summaries/${summaries[0].id}`,
    window: `${server.url}/sessions/${condensed.id}/window?budget=2000`,
    "window-refused": `${server.url}/sessions/${condensed.id}/window?budget=0`,
    message: `${server.url}/messages/${messages[0].id}`,
    jobs: `${server.url}/jobs`,
    "no-jobs": `${empty.url}/jobs`,
    missing: `${server.url}/sessions/not-there`,
    welcome: `${empty.url}/`,
    "no-sessions": `${empty.url}/sessions`,
    login: `${server.url}/login`,
  };
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await empty?.stop();
});

const missing = (text) => text.includes("404") && text.includes("/sessions/not-there");

/** Opens a page; those that hear of changes are awaited until they do. */
async function open(page, name) {
  await page.goto(pages[name]);
  await page.waitForLoadState();
  if (!["missing", "login"].includes(name)) await live(page);
}

const finding = (name, one) =>
  [`${name}: ${one.impact} ${one.id}: ${one.help}`, ...one.nodes.slice(0, 3).map((node) => node.html)].join("\n  ");

for (const colorScheme of ["light", "dark"]) {
  test(`every page is accessible, ${colorScheme}`, async (t) => {
    const options = { colorScheme, viewport: { width: 1280, height: 900 }, allowed: missing };
    await visit(browser, options, async (page) => {
      for (const name of Object.keys(pages)) {
        await open(page, name);
        assert.equal(await overhang(page), 0, `${name} can be scrolled sideways`);
        await picture(page, `${name}-${colorScheme}`);
        // What is folded must be accessible as well.
        await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate(() => window.axe.run());
        assert.ok(passes.length > 5, `${name} was looked at`);
        const bad = violations.filter((one) => ["serious", "critical"].includes(one.impact));
        for (const one of violations) if (!bad.includes(one)) t.diagnostic(finding(name, one));
        assert.deepEqual(bad.map((one) => finding(name, one)), []);
      }
    });
  });

  test(`every page fits a phone, ${colorScheme}`, async () => {
    for (const width of [390, 320]) {
      const options = { colorScheme, viewport: { width, height: 780 }, hasTouch: true, isMobile: true, allowed: missing };
      await visit(browser, options, async (page) => {
        for (const name of Object.keys(pages)) {
          await open(page, name);
          assert.equal(await overhang(page), 0, `${name} at ${width} pixels can be scrolled sideways`);
          if (width === 390) await picture(page, `phone-${name}-${colorScheme}`);
        }
      });
    }
  });
}

test("every page is small", async (t) => {
  for (const name of Object.keys(pages)) {
    // A new context has nothing in its cache.
    await visit(browser, { allowed: missing }, async (page, context) => {
      const wire = await context.newCDPSession(page);
      await wire.send("Network.enable");
      let bytes = 0;
      wire.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
      await open(page, name);
      // The time of the first paint depends on the machine: reported, not asserted.
      const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
      t.diagnostic(`${name}: ${(bytes / 1000).toFixed(1)} kB, first paint ${(await paint.jsonValue()).toFixed(0)} ms`);
      assert.ok(bytes > 1000, "it was counted");
      assert.ok(bytes <= PAGE_BYTES_MAX, `${name} takes ${bytes} bytes`);
    });
  }
});

test("the overview shows totals, projects and plots", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, "overview");
    const drawn = await page.locator("main svg:visible").evaluateAll((plots) =>
      plots.map((plot) => plot.querySelectorAll("rect, path, polyline, circle").length),
    );
    assert.ok(drawn.length >= 2 && drawn.every((shapes) => shapes > 0), `growth and latency: ${drawn}`);
    const stats = await server.ask("GET", "/v1/stats");
    const shown = async (name) => {
      const term = page.locator("dl.metrics > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) });
      return (await term.locator("dd").evaluate((dd) => dd.firstChild.textContent)).replaceAll(",", "");
    };
    assert.equal(await shown("Messages"), String(stats.messages));
    assert.equal(await shown("Sessions"), String(stats.sessions));
    assert.equal(await shown("Projects"), String(stats.projects.length));
    assert.match(await shown("Time span"), /^\d+ days?$/);
    const [largest] = stats.projects;
    await page.locator("section[aria-labelledby=project] a", { hasText: largest.name }).click();
    await page.waitForURL(`${server.url}/sessions?project=${largest.name}`);
    assert.ok((await page.locator(".rows a.name").count()) > 0);
  });
});

test("the list of jobs shows state, attempts, next run and last error", async () => {
  await visit(browser, {}, async (page) => {
    await open(page, "overview");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
    await page.waitForURL(pages.jobs);
    assert.deepEqual(await page.locator("table th[scope=col]").allTextContents(), ["Job", "State", "Attempts", "Next run", "Last error"]);
    // Jobs go on while the page is read: one of several looks shows what the API says before and after it.
    const shown = async () => {
      const cells = (rows) => rows.map((one) => [...one.cells].map((cell) => cell.textContent.trim()));
      return (await page.locator("tbody tr").evaluateAll(cells)).map((row) => [row[0].split(" ").at(-1), row[1], row[2], row[4]]);
    };
    const known = async () => (await server.ask("GET", "/v1/jobs")).items.map((job) => [job.kind, job.state, String(job.attempts), job.last_error ?? "none"]);
    let missing = [["no look was taken"]];
    for (let look = 0; look < 20 && missing.length > 0; look += 1) {
      await page.reload();
      const rows = (await shown()).map((row) => row.join("|"));
      const jobs = (await known()).map((job) => job.join("|"));
      assert.ok(jobs.length > 0, "there are jobs");
      missing = jobs.filter((job) => !rows.includes(job));
    }
    assert.deepEqual(missing, [], "the page shows every job of the API");
  });
});

test("a chosen theme is kept on the next page", async () => {
  await visit(browser, { colorScheme: "light" }, async (page) => {
    await open(page, "overview");
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await shade();
    const button = page.locator("#theme");
    while ((await button.textContent()) !== "Dark") await button.click();
    const dark = await shade();
    assert.notEqual(dark, light);
    await open(page, "sessions");
    assert.equal(await shade(), dark, "on the next page too");
    while ((await button.textContent()) !== "Auto") await button.click();
    assert.equal(await shade(), light);
  });
});
