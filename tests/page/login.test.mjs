// Where tokens are required: logging in, logging out, and no page before.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, live, picture, serve, visit } from "./rig.mjs";

let server, browser;
before(async () => {
  server = await serve("--demo", "--require-token");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a wrong token is refused, a valid one logs in, and logging out removes the cookie", async () => {
  const made = JSON.parse(await server.run("--space", "demo", "token", "create", "--role", "read", "--json"));
  const refused = (text) => text.includes("401");
  await visit(browser, { allowed: refused }, async (page, context) => {
    await page.goto(`${server.url}/sessions`);
    assert.match(page.url(), /\/login\?next=/, "nothing is shown before");
    assert.equal(await page.locator(".rows").count(), 0);
    await picture(page, "login-light");
    for (const wrong of ["nonsense", `${made.token}x`, made.token.slice(0, -1)]) {
      await page.locator("#token").fill(wrong);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.locator("[role=alert]").waitFor();
      assert.equal((await context.cookies()).length, 0);
    }
    await page.locator("#token").fill(made.token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(`${server.url}/sessions`);
    await live(page);
    assert.ok((await page.locator(".rows a.name").count()) > 0);
    const [cookie] = await context.cookies();
    assert.ok(cookie.httpOnly && ["Strict", "Lax"].includes(cookie.sameSite));
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(/\/login|\/$/);
    assert.equal((await context.cookies()).length, 0);
    await page.goto(`${server.url}/sessions`);
    assert.match(page.url(), /\/login/);
  });
});

test("a revoked token no longer opens a page", async () => {
  const made = JSON.parse(await server.run("--space", "demo", "token", "create", "--role", "read", "--json"));
  const refused = (text) => text.includes("401");
  await visit(browser, { allowed: refused }, async (page) => {
    await page.goto(`${server.url}/login`);
    await page.locator("#token").fill(made.token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(`${server.url}/`);
    await server.run("--space", "demo", "token", "revoke", made.id);
    await page.goto(`${server.url}/sessions`);
    assert.match(page.url(), /\/login/);
  });
});
