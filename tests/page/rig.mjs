// Starts and stops the server under test and Chromium; an error in the browser fails the test.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const BINARY = process.env.ONEIRO_BIN ?? join(ROOT, "target/debug/oneiro");
const CHROMIUM = process.env.ONEIRO_CHROMIUM ?? "/usr/bin/chromium";
const SCREENSHOTS = process.env.ONEIRO_SCREENSHOTS ?? join(ROOT, "target/page-screenshots");

/** Milliseconds after which a step counts as hung. */
export const TIMEOUT_MS = 30_000;

/** A new home folder, and a function that starts the binary in it. */
function home() {
  const folder = mkdtempSync(join(tmpdir(), "oneiro-page-"));
  const env = { PATH: process.env.PATH, HOME: folder, NO_COLOR: "1" };
  const start = (args) => spawn(BINARY, args, { env, cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return { folder, start };
}

async function ended(child) {
  return child.exitCode ?? (await new Promise((done) => child.once("exit", done)));
}

/** A server on a free port of loopback, with requests to its API. */
export async function serve(...args) {
  const { folder, start } = home();
  const child = start(["serve", "--listen", "127.0.0.1:0", "--json", ...args]);
  const failed = new Promise((_, fail) => child.once("error", fail));
  const lines = createInterface({ input: child.stdout });
  const first = new Promise((done) => lines.once("line", done));
  const gone = ended(child).then((code) => Promise.reject(new Error(`the server ended with ${code}`)));
  gone.catch(() => {});
  const { url } = JSON.parse(await Promise.race([first, failed, gone]));

  const ask = async (method, path, body, headers) => {
    const answer = await fetch(url + path, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
  const run = async (...args) => {
    const child = start(args);
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    assert.equal(await ended(child), 0, `oneiro ${args.join(" ")}`);
    return out;
  };
  const stop = async () => {
    child.kill("SIGTERM");
    assert.equal(await ended(child), 0, "the server stops cleanly");
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, ask, run, stop };
}

/** Headless Chromium without background connections. */
export function browse() {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Collects errors and warnings of the browser, violations of the content policy among them. */
function collectErrors(page, allowed = () => false) {
  const errors = [];
  const note = (text) => allowed(text) || errors.push(`${page.url()}: ${text}`);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) note(`${message.text()} ${message.location().url ?? ""}`);
  });
  page.on("pageerror", (error) => note(error.stack ?? error.message));
  page.on("requestfailed", (request) => {
    const failure = request.failure()?.errorText ?? "";
    // Typing on, or leaving the page, aborts a request.
    if (failure !== "net::ERR_ABORTED") note(`${request.url()} failed: ${failure}`);
  });
  return errors;
}

/** Opens a page for one test, and asserts that the browser reports no errors. */
export async function visit(browser, options, work) {
  const { allowed, ...rest } = options;
  const context = await browser.newContext(rest);
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const errors = collectErrors(page, allowed);
  try {
    await work(page, context);
    assert.deepEqual(errors, [], "the browser reported errors");
  } finally {
    await context.close();
  }
}

/** Saves a screenshot for people to look at, and returns its path. */
export async function picture(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const path = join(SCREENSHOTS, `${name}.png`);
  await page.screenshot({ path });
  return path;
}

/** Waits until the page receives events; then its script has run. */
export const live = (page) => page.waitForSelector("#live[data-state=on]", { timeout: TIMEOUT_MS });

/** How far a page can be scrolled sideways, in pixels. */
export const overhang = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
