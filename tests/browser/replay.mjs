// What every recorded result must do, in a file as well as over a server.
import { readFileSync } from "node:fs";
import { changedPixels, check, colouredPixels, keepPixels, openPage, pause, placeOf, until, visibleRow } from "./harness.mjs";

const TERRACOTTA = [5, 35], TEAL = [180, 205];
const frame = (page) => page.evaluate("phyxel.renderer.moment.frame");
const text = (page, selector) => page.textContent(selector);

export const replayTests = (source) => [
  [`${source}: draws bodies in their colours on a quiet background`, async (page, shots) => {
    await keepPixels(page, "first");
    const block = await colouredPixels(page, "first", ...TERRACOTTA), ball = await colouredPixels(page, "first", ...TEAL);
    check(block > 2000 && ball > 1000, `${block} pixels of the block, ${ball} of the ball`);
    const all = await page.evaluate("kept.first.length / 4");
    check(block + ball < 0.5 * all, "the background is gone");
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-first.png` });
  }],
  [`${source}: scrubs`, async (page) => {
    await page.locator("#frame").fill("12");
    await until(async () => (await frame(page)) === 12, "frame 12");
    await keepPixels(page, "twelve");
    const changed = await changedPixels(page, "first", "twelve");
    check(changed > 2000, `${changed} pixels differ between two frames`);
    check((await text(page, "#clock")).startsWith("0.400 s"), await text(page, "#clock"));
  }],
  [`${source}: plays, pauses and steps by keys`, async (page) => {
    await page.keyboard.press("Home");
    await until(async () => (await frame(page)) === 0, "frame 0");
    await page.locator("#view").focus();
    await page.keyboard.press("Space");
    await until(async () => (await frame(page)) >= 3, "playing");
    await page.keyboard.press("Space");
    const stopped = await frame(page);
    await pause(300);
    check((await frame(page)) === stopped, "it goes on after the pause");
    await page.keyboard.press("ArrowRight");
    await until(async () => (await frame(page)) === stopped + 1, "a step forward");
    await page.keyboard.press("ArrowLeft");
    await until(async () => (await frame(page)) === stopped, "a step back");
    await page.keyboard.press("End");
    await until(async () => (await frame(page)) === 24, "the last frame");
    await page.locator("#frame").fill("12");
    await until(async () => (await frame(page)) === 12, "frame 12");
  }],
  [`${source}: colours by a column, with a colour bar, a range and a logarithm`, async (page, shots) => {
    check(!(await page.isVisible("#colorbar")), "a colour bar without a column");
    await page.selectOption("#color-by", "stress");
    await until(() => page.evaluate("phyxel.renderer.column === 'stress'"), "the column");
    check(await page.isVisible("#colorbar"), "no colour bar");
    await keepPixels(page, "stress");
    check((await changedPixels(page, "twelve", "stress")) > 2000, "the colours did not change");
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-stress.png` });
    const automatic = await page.inputValue("#color-high");
    await page.fill("#color-high", "1");
    await page.press("#color-high", "Tab");
    await keepPixels(page, "narrow");
    check((await changedPixels(page, "stress", "narrow")) > 1000, "a range of the user's own changes nothing");
    check((await page.getAttribute("#color-auto", "aria-pressed")) === "false", "the range is still automatic");
    await page.fill("#color-high", "-5");
    await page.press("#color-high", "Tab");
    check(/two numbers/.test(await text(page, "#messages")), "a range that is none is accepted");
    await page.click("#color-auto");
    await page.click("#color-log");
    await keepPixels(page, "log");
    check((await changedPixels(page, "stress", "log")) > 500, "the logarithm changes nothing");
    await page.click("#color-log");
    check((await page.inputValue("#color-high")) === automatic, "the automatic range did not come back");
    await page.selectOption("#color-by", "");
    await until(() => page.evaluate("phyxel.renderer.column === null"), "colours of bodies");
  }],
  [`${source}: a click shows the numbers of a particle`, async (page, shots) => {
    const row = await visibleRow(page);
    check(row >= 0, "no particle can be picked");
    const [x, y] = await placeOf(page, row);
    await page.mouse.click(x, y);
    await until(() => page.isVisible("#particle-section"), "the numbers");
    check((await page.evaluate("phyxel.chosen")) === row, "another particle was picked");
    const shown = (await text(page, "#particle-values")).replace(/\u2212/g, "-");
    const position = await page.evaluate((row) => phyxel.renderer.moment.position(row), row);
    const numbers = shown.match(/position(-?[\d.e-]+), (-?[\d.e-]+), (-?[\d.e-]+)/)?.slice(1).map(Number);
    check(numbers && numbers.every((value, k) => Math.abs(value - position[k]) < 0.01 * Math.abs(position[k]) + 1e-4), `${shown} at ${position}`);
    check(/velocity.*m\/s/.test(shown) && /stress.*Pa/.test(shown), shown);
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-particle.png` });
    await page.keyboard.press("ArrowRight");
    await until(async () => (await text(page, "#particle-values")).replace(/\u2212/g, "-") !== shown, "numbers of the next frame");
    await page.keyboard.press("Escape");
    check(!(await page.isVisible("#particle-section")), "the numbers stay");
  }],
  [`${source}: hides a body`, async (page) => {
    await page.locator("#bodies button", { hasText: "ball" }).click();
    await keepPixels(page, "hidden");
    const ball = await colouredPixels(page, "hidden", ...TEAL), block = await colouredPixels(page, "hidden", ...TERRACOTTA);
    check(ball < 50 && block > 2000, `${ball} pixels of a hidden ball, ${block} of the block`);
    await page.locator("#bodies button", { hasText: "ball" }).click();
  }],
  [`${source}: shows particles, surfaces or both`, async (page, shots) => {
    const choose = async (what) => {
      await page.locator("#geometry button", { hasText: what }).click();
      await keepPixels(page, what);
    };
    await choose("Surface");
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-surface.png` });
    await choose("Particles");
    const changed = await changedPixels(page, "Surface", "Particles");
    check(changed > 500, `${changed} pixels differ between surface and particles`);
    for (const what of ["Surface", "Particles"]) {
      const ball = await colouredPixels(page, what, ...TEAL);
      check(ball > 1000, `${what}: ${ball} pixels of the ball`);
    }
    await choose("Both");
    check((await changedPixels(page, "Surface", "Both")) < changed, "the surface is not over the particles");
    await choose("Surface");
  }],
  [`${source}: turns, moves and zooms with the mouse`, async (page) => {
    await keepPixels(page, "before");
    const eye = () => page.evaluate("phyxel.camera.eye.join()");
    for (const [name, button] of [["turn", "left"], ["move", "right"]]) {
      const start = await eye();
      await page.mouse.move(150, 200);
      await page.mouse.down({ button });
      await page.mouse.move(230, 260, { steps: 4 });
      await page.mouse.up({ button });
      check((await eye()) !== start, `${name}: the eye did not move`);
    }
    const far = await page.evaluate("phyxel.camera.distance");
    await page.mouse.wheel(0, -400);
    await until(async () => (await page.evaluate("phyxel.camera.distance")) < 0.8 * far, "zooming in");
    await keepPixels(page, "after");
    check((await changedPixels(page, "before", "after")) > 5000, "the picture did not change");
    await page.keyboard.press("f");
  }],
  [`${source}: plots the ledger and seeks in it`, async (page) => {
    const n = await page.locator("#charts canvas").count();
    check(n >= 1, "no chart");
    await page.locator("#ledger-choice summary").click();
    await page.locator("#ledger-columns label", { hasText: "max speed" }).click();
    check((await page.locator("#charts canvas").count()) === n + 1, "no chart of its own for another unit");
    const ink = await page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const canvas = document.querySelector("#charts canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return pixels.filter((value, k) => k % 4 === 3 && value > 60).length;
    });
    check(ink > 200, `a chart with ${ink} pixels of ink`);
    const chart = page.locator("#charts canvas").first();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    await page.mouse.click(box.x + box.width - 4, box.y + 60);
    await until(async () => (await frame(page)) === 24, "the last frame, by a click at the end of the chart");
    await page.locator("#ledger-choice summary").click();
  }],
  [`${source}: saves a picture`, async (page) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#screenshot")]);
    const bytes = readFileSync(await download.path());
    check(bytes.subarray(1, 4).toString() === "PNG" && bytes.readUInt32BE(16) === 960, "this is no picture of the page");
    check(/^two-bodies-\d+\.png$/.test(download.suggestedFilename()), download.suggestedFilename());
  }],
  [`${source}: nothing was complained about`, async (page) => {
    check(page.complaints.length === 0, page.complaints.join("; "));
  }],
];

// A window of the size of a phone, with fingers.
export async function phoneTest(browser, url, shots, source) {
  const page = await openPage(browser, url, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1, colorScheme: "dark" });
  try {
    check(!(await page.isVisible("#panel")), "the settings cover the picture");
    for (const id of ["#play", "#frame", "#clock", "#panel-toggle", "#title"]) {
      const box = await page.locator(id).boundingBox();
      check(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 780, `${id} is outside of the window`);
    }
    check((await page.evaluate("document.documentElement.scrollWidth")) <= 390, "the page is wider than the window");
    await page.locator("#frame").fill("10");
    await until(async () => (await frame(page)) === 10, "frame 10");
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-phone.png` });
    const row = await visibleRow(page), [x, y] = await placeOf(page, row);
    await page.touchscreen.tap(x, y);
    await until(() => page.isVisible("#particle-section"), "the numbers of a tapped particle");
    await until(() => page.evaluate("phyxel.renderer.isFinished"), "a smooth picture");
    await page.screenshot({ path: `${shots}/${source}-phone-particle.png` });
    const before = await page.evaluate("phyxel.camera.distance");
    const fingers = await page.context().newCDPSession(page);
    const touch = (type, points) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    await touch("touchStart", [[150, 200], [240, 200]]);
    await touch("touchMove", [[120, 200], [270, 200]]);
    await touch("touchMove", [[90, 200], [300, 200]]);
    await touch("touchEnd", []);
    await until(async () => (await page.evaluate("phyxel.camera.distance")) < 0.7 * before, "zooming with two fingers");
    check(page.complaints.length === 0, page.complaints.join("; "));
  } finally {
    await page.context().close();
  }
}
