// What a person does on the page, in a real browser without a window: node steps.mjs URL FOLDER
//
// It expects an index `logs` of the page's test. Pictures go into FOLDER. The first thing that is not as it
// should be ends it with exit code 1.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";

import browserOf from "@sparticuz/chromium";
import { chromium } from "playwright-core";

const [server, folder] = process.argv.slice(2);
const PATIENCE = 20000;

/** Waits until a condition holds in the page. */
async function until(page, what, condition, argument) {
  await page.waitForFunction(condition, argument, { timeout: PATIENCE }).catch((error) => {
    throw new Error(`${what}: ${error.message}`);
  });
}

async function post(document) {
  const body = `{"create":{"_index":"logs"}}\n${JSON.stringify(document)}\n`;
  const headers = { "content-type": "application/x-ndjson" };
  const response = await fetch(`${server}/_bulk`, { method: "POST", headers, body });
  assert.equal((await response.json()).errors, false);
}

const summary = () => document.getElementById("summary").textContent;
const says = (text) => document.getElementById("summary").textContent.startsWith(text);

async function search(page) {
  await page.goto(`${server}/`);
  await until(page, "all documents", says, "40 matches");
  assert.equal(new URL(page.url()).searchParams.get("index"), "logs");
  await page.keyboard.type("whale");
  await until(page, "search as you type", says, "20 matches");
  const first = page.locator("#hits li").first();
  assert.equal(await first.locator("em").first().textContent(), "whale");
  assert.ok((await page.locator("#histogram rect").count()) > 1);
  await page.screenshot({ path: `${folder}/search.png` });
}

async function live(page) {
  await post({ "@timestamp": "2026-11-29T10:00:00Z", level: "error", message: "a <b>new</b> whale", n: 99 });
  await page.waitForSelector("#hits li.new", { timeout: PATIENCE });
  const item = page.locator("#hits li").first();
  assert.match(await item.textContent(), /a <b>new<\/b> whale/);
  assert.equal(await item.locator("em").textContent(), "whale");
  assert.ok((await page.evaluate(summary)).startsWith("21 matches"));
  await post({ "@timestamp": "2026-11-29T10:00:00Z", level: "info", message: "no match", n: 100 });
  await page.screenshot({ path: `${folder}/live.png` });
}

async function filters(page) {
  await page.locator("#facets button", { hasText: "error" }).click();
  await until(page, "a value as a filter", says, "11 matches");
  assert.equal(await page.inputValue("#query"), "whale AND level:error");
  await page.locator("#histogram rect").first().click();
  await until(page, "a bar as a filter", () => !document.getElementById("summary").textContent.startsWith("11 "));
  await page.goBack();
  await until(page, "back", says, "11 matches");
}

async function documents(page) {
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#document[open]", { timeout: PATIENCE });
  assert.match(await page.locator("#document pre").textContent(), /"message": "a <b>new<\/b> whale"/);
  const address = page.url();
  await page.keyboard.press("Escape");
  await page.goto(address);
  await page.waitForSelector("#document[open]", { timeout: PATIENCE });
  await page.keyboard.press("Escape");
}

async function heap(page) {
  await page.click("#view");
  await page.waitForSelector("#heap .blocks svg", { timeout: PATIENCE });
  assert.match(await page.locator("#heap .figures").textContent(), /42documents/);
  await page.screenshot({ path: `${folder}/heap.png` });
  await page.click("#view");
}

/** A wrong query is said, and nothing else breaks. */
async function problems(page, errors) {
  await page.fill("#query", "(whale");
  await until(page, "a problem", () => document.getElementById("problem").textContent.includes("expected `)`"));
  await page.fill("#query", "whale");
  await until(page, "no problem", () => document.getElementById("problem").hidden);
  // The browser writes refused requests to its console by itself.
  const others = errors.filter((text) => !text.includes("status of 400"));
  assert.deepEqual(others, []);
}

async function narrow(page) {
  await page.setViewportSize({ width: 390, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false, "a narrow screen scrolls sideways");
  await page.screenshot({ path: `${folder}/narrow.png` });
}

mkdirSync(folder, { recursive: true });
// A process for each page, as people have it, and drawn without a graphics card.
const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({ executablePath: await browserOf.executablePath(), args });
try {
  const errors = [];
  const hosts = new Set();
  for (const colorScheme of ["light", "dark"]) {
    const page = await (await browser.newContext({ colorScheme })).newPage();
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
    if (colorScheme === "light") {
      for (const step of [search, live, filters, documents, heap]) await step(page);
      await problems(page, errors);
    } else {
      await page.goto(`${server}/?index=logs&q=whale`);
      await until(page, "the address", says, "21 matches");
      await page.screenshot({ path: `${folder}/dark.png` });
    }
    await narrow(page);
  }
  assert.deepEqual([...hosts], [new URL(server).host]);
} finally {
  await browser.close();
}
