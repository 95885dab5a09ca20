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

test("a token that may only read shows memories without anything that changes them", async () => {
  const create = async (role) => JSON.parse(await server.run("--space", "demo", "token", "create", "--role", role, "--json")).token;
  const [reader, writer] = [await create("read"), await create("write")];
  const logIn = async (page, token) => {
    await page.goto(`${server.url}/login?next=${encodeURIComponent("/review")}`);
    await page.locator("#token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(`${server.url}/review`);
    await live(page);
  };
  await visit(browser, {}, async (page) => {
    await logIn(page, reader);
    assert.ok(await page.locator("#statement").textContent());
    assert.match(await page.locator(".candidate").textContent(), /may only read/);
    assert.equal(await page.locator("main form").count(), 0);
    await page.locator(".known a").first().click();
    await page.waitForURL(/\/memories\/mem_/);
    assert.equal(await page.locator("main form").count(), 0);
  });
  // A form of one login is refused in another.
  await visit(browser, { allowed: (text) => text.includes("403") }, async (page, context) => {
    await logIn(page, writer);
    await page.locator("input[name=form_token]").evaluateAll((fields) => fields.forEach((field) => (field.value = "0".repeat(64))));
    await page.getByRole("button", { name: /^Reject/ }).click();
    await page.waitForSelector("[data-view=problem]");
    await page.goto(`${server.url}/review`);
    await live(page);
    const before = await page.locator("#statement").textContent();
    await page.getByRole("button", { name: /^Reject/ }).click();
    await page.waitForURL(/did=op_/);
    assert.notEqual(await page.locator("#statement").textContent(), before);
    await context.clearCookies();
    await page.getByRole("button", { name: /^Reject/ }).click();
    await page.waitForURL(/\/login/);
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
