// The pictures of README.md, taken of the demo. Every run takes them; to write the committed files:
//   ONEIRO_SCREENSHOTS=docs/images node --test tests/page/pictures.test.mjs

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { browse, live, picture, serve, visit } from "./rig.mjs";

/** So that a clone stays small. */
const PICTURE_BYTES_MAX = 200_000;

/** About what a table of three columns shows legibly when it is clicked. */
const VIEWPORT = { width: 1000, height: 720 };

let server, browser;
before(async () => {
  server = await serve("--demo");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The session with the most summaries: its window has something to show. */
async function mostSummarised() {
  const { items } = await server.ask("GET", "/v1/sessions?all=true&limit=100");
  const counted = await Promise.all(
    items.map(async ({ id }) => {
      const { items: summaries } = await server.ask("GET", `/v1/sessions/${id}/summaries`);
      return { id, count: summaries.length };
    }),
  );
  return counted.sort((a, b) => b.count - a.count)[0].id;
}

/** Takes a picture of a page with an element in view, and checks that the file is small. */
async function assertPicture(path, name, shown) {
  await visit(browser, { viewport: VIEWPORT }, async (page) => {
    await page.goto(server.url + path);
    await live(page);
    await page.locator(shown).first().scrollIntoViewIfNeeded();
    const { size } = statSync(await picture(page, name));
    assert.ok(size < PICTURE_BYTES_MAX, `${name}.png has ${size} bytes`);
  });
}

test("a picture of search results", async () => {
  await assertPicture("/search?q=what+did+the+tiler+quote", "search", "#results mark");
});

test("a picture of a conversation with its rewound messages", async () => {
  const { items } = await server.ask("GET", "/v1/sessions?all=true&limit=100");
  const session = items.find(({ rewind_count }) => rewind_count > 0);
  assert.ok(session, "the demo has rewound messages");
  await assertPicture(`/sessions/${encodeURIComponent(session.id)}?hidden=1`, "session", ".rewound");
});

test("a picture of a context window", async () => {
  const id = encodeURIComponent(await mostSummarised());
  await assertPicture(`/sessions/${id}/window?budget=8000`, "context", "#window-count");
});

test("a picture of the review", async () => {
  await assertPicture("/review", "review", "#known");
});

test("a picture of why a memory is believed", async () => {
  const { items } = await server.ask("GET", "/v1/memories?subject=Mira&project=running&status=active");
  await assertPicture(`/memories/${items[0].id}`, "memory", "#why");
});
