// What the tests share: a browser without a graphics card, pages that watch their errors, pixels.
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const FLAGS = [
  "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
];
const PATIENCE = 60_000;

export const launch = (executablePath, extra = []) => chromium.launch({ executablePath, args: [...FLAGS, ...extra] });
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Failure extends Error {}
export function check(condition, message) {
  if (!condition) throw new Failure(message);
}

// Waits until something is true; the page's own rules forbid what Playwright's waitForFunction does.
export async function until(condition, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await condition();
    if (value) return value;
    check(Date.now() < end, `waited in vain: ${what}`);
    await pause(25);
  }
}

// A page that must not complain.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 960, height: 640 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("console", (message) => {
    // losing the connection is what one test is about
    if (message.type() === "error" && !/WebSocket connection/.test(message.text())) page.complaints.push(message.text());
  });
  const start = Date.now();
  await page.goto(url);
  await until(() => page.evaluate("(globalThis.phyxel?.renderer.nSamples ?? 0) > 0"), "the first picture");
  page.firstPicture = Date.now() - start;
  return page;
}

// Draws the picture to its end and keeps its pixels in the page under a name.
export async function keepPixels(page, name) {
  await page.evaluate((name) => {
    const { renderer, camera } = globalThis.phyxel, { gl } = renderer;
    renderer.invalidateView();
    for (let k = 0; k < 2; k++) renderer.draw(camera, false);
    const pixels = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
    gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    (globalThis.kept ??= {})[name] = pixels;
  }, name);
}

// How many pixels differ clearly between two kept pictures.
export const changedPixels = (page, a, b) => page.evaluate(([a, b]) => {
  const [first, second] = [globalThis.kept[a], globalThis.kept[b]];
  let n = 0;
  for (let k = 0; k < first.length; k += 4) {
    if (Math.abs(first[k] - second[k]) + Math.abs(first[k + 1] - second[k + 1]) + Math.abs(first[k + 2] - second[k + 2]) > 40) n += 1;
  }
  return n;
}, [a, b]);

// How many pixels of a kept picture have a strong colour, by hue in degrees.
export const colouredPixels = (page, name, from, to) => page.evaluate(([name, from, to]) => {
  const pixels = globalThis.kept[name];
  let n = 0;
  for (let k = 0; k < pixels.length; k += 4) {
    const [r, g, b] = pixels.subarray(k, k + 3), high = Math.max(r, g, b), low = Math.min(r, g, b), span = high - low;
    if (span < 0.25 * high || high < 30) continue;
    const turn = high === r ? (g - b) / span : high === g ? 2 + (b - r) / span : 4 + (r - g) / span;
    const hue = (60 * turn + 360) % 360;
    if (hue >= from && hue <= to) n += 1;
  }
  return n;
}, [name, from, to]);

// Where a particle is on the page. [CSS pixels]
export const placeOf = (page, row) => page.evaluate((row) => {
  const { camera, renderer, canvas } = globalThis.phyxel;
  return camera.onScreen(renderer.moment.position(row), canvas.clientWidth, canvas.clientHeight);
}, row);

// The row of a particle that is in front of all others, near the middle of a body.
export const visibleRow = (page) => page.evaluate(() => {
  const { camera, renderer, canvas } = globalThis.phyxel, { clientWidth: width, clientHeight: height } = canvas;
  const n = renderer.moment.nParticles;
  for (let k = 0; k < n; k++) {
    const row = (k * 37 + 11) % n, [x, y] = camera.onScreen(renderer.moment.position(row), width, height);
    if (document.elementFromPoint(x, y) === canvas && renderer.pick(camera, x, y) === row) return row;
  }
  return -1;
});

// Starts `phyxel view`; gives its address and how to end it.
export async function serve(program, args) {
  const child = spawn(program, ["view", ...args, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  let words = "";
  child.stderr.on("data", (data) => { words += data; });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    new Promise((resolve) => lines.once("line", resolve)),
    new Promise((resolve) => child.once("exit", () => resolve(null))),
    pause(PATIENCE).then(() => null),
  ]);
  const url = line?.match(/https?:\/\/\S+/)?.[0];
  check(url, `phyxel view did not print its address: ${line ?? ""} ${words}`);
  return {
    url,
    port: new URL(url).port,
    stop: () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGKILL"); }),
  };
}
