// What a running simulation must do under the hands of a user.
import { readFileSync } from "node:fs";
import { changedPixels, check, keepPixels, openPage, pause, placeOf, serve, until, visibleRow } from "./harness.mjs";

const time = (page) => page.evaluate("phyxel.renderer.moment.time");
const isRunning = (page) => page.evaluate("phyxel.player.isPlaying");

async function setRunning(page, wanted) {
  if ((await isRunning(page)) !== wanted) {
    await page.click("#play");
    await until(async () => (await isRunning(page)) === wanted, wanted ? "running" : "a pause");
  }
  if (!wanted) await pause(400);
}

export const liveTests = [
  ["live: runs and is drawn", async (page, shots) => {
    check(await page.isVisible("#live-section"), "no controls of a live run");
    await setRunning(page, true);
    const start = await time(page);
    await keepPixels(page, "start");
    await until(async () => (await time(page)) > start + 0.1, "time going on");
    await keepPixels(page, "later");
    check((await changedPixels(page, "start", "later")) > 300, "nothing moves");
    await page.screenshot({ path: `${shots}/live.png` });
  }],
  ["live: pauses and steps", async (page) => {
    await setRunning(page, false);
    const stopped = await time(page);
    await pause(500);
    check((await time(page)) === stopped, "it goes on after the pause");
    await page.click("#forward");
    await until(async () => (await time(page)) > stopped, "a step");
    const stepped = await time(page);
    await pause(400);
    check((await time(page)) === stepped && stepped - stopped < 0.05, `one step went from ${stopped} to ${stepped}`);
  }],
  ["live: a slider changes the material at once", async (page) => {
    const slider = page.locator('#parameters input[data-key="block/youngs_modulus"]');
    const before = await slider.inputValue();
    await slider.evaluate((input) => { input.value = "520"; input.dispatchEvent(new Event("input", { bubbles: true })); });
    // what the server says, not what the page hopes
    await until(() => page.evaluate(() => globalThis.phyxel.lastState?.parameters?.some((parameter) =>
      parameter.body === "block" && parameter.key === "youngs_modulus" && Math.abs(parameter.value / 60e3 - 1) > 0.05)), "the new modulus");
    check((await slider.inputValue()) !== before, "the slider fell back");
  }],
  ["live: gravity can be switched off", async (page) => {
    await page.locator("#live-gravity").click();
    await until(() => page.evaluate(() => globalThis.phyxel.lastState?.gravity?.every((x) => x === 0)), "no gravity");
    await page.locator("#live-gravity").click();
    await until(() => page.evaluate(() => globalThis.phyxel.lastState?.gravity?.[1] < -9), "gravity");
  }],
  ["live: colours by a column while it runs", async (page, shots) => {
    await setRunning(page, true);
    const column = await page.evaluate("phyxel.info.columns[0].name");
    await page.selectOption("#color-by", column);
    await until(() => page.evaluate((column) => phyxel.renderer.column === column, column), "the column");
    await page.screenshot({ path: `${shots}/live-column.png` });
    const now = await time(page);
    await until(async () => (await time(page)) > now, "time going on with another column");
    await page.selectOption("#color-by", "");
  }],
  ["live: a particle follows the pointer", async (page, shots) => {
    await setRunning(page, false);
    const row = await visibleRow(page), [x, y] = await placeOf(page, row);
    const height = () => page.evaluate((row) => phyxel.renderer.moment.position(row)[1], row);
    const before = await height();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 60, { steps: 3 });
    await page.mouse.move(x, y - 160, { steps: 4 });
    await setRunningByKey(page, true);
    await until(async () => (await height()) > before + 0.05, "the particle coming along");
    check((await page.evaluate("document.getElementById('spring').style.visibility")) === "visible", "no line to the pointer");
    await page.screenshot({ path: `${shots}/live-drag.png` });
    await page.mouse.up();
    const top = await height();
    await until(async () => (await height()) < top - 0.03, "falling after it was let go");
  }],
  ["live: what was done is saved as a scene", async (page) => {
    await setRunning(page, false);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#live-save")]);
    const scene = readFileSync(await download.path(), "utf8");
    check(/\.toml$/.test(download.suggestedFilename()), download.suggestedFilename());
    check(scene.includes("[[events]]") && /youngs_modulus/.test(scene) && /Two bodies/.test(scene), scene);
    page.savedScene = scene;
  }],
  ["live: starts over", async (page) => {
    await page.click("#live-reset");
    await until(async () => (await time(page)) < 0.02, "the beginning");
  }],
  ["live: nothing was complained about", async (page) => {
    check(page.complaints.length === 0, page.complaints.join("; "));
  }],
];

async function setRunningByKey(page, wanted) {
  if ((await isRunning(page)) !== wanted) {
    await page.keyboard.press("Space");
    await until(async () => (await isRunning(page)) === wanted, wanted ? "running" : "a pause");
  }
}

// The server goes away and comes back.
export async function reconnectTest(browser, program, folder) {
  let server = await serve(program, [folder, "--port", "0"]);
  const page = await openPage(browser, server.url);
  try {
    await server.stop();
    await until(async () => /connection is lost/.test(await page.textContent("#messages")), "word of the lost connection");
    server = await serve(program, [folder, "--port", server.port]);
    await until(async () => !/connection is lost/.test(await page.textContent("#messages")), "the connection again");
    await page.locator("#frame").fill("7");
    await until(async () => (await page.evaluate("phyxel.renderer.moment.frame")) === 7, "a frame after the reconnection");
    check(page.complaints.length === 0, page.complaints.join("; "));
  } finally {
    await page.context().close();
    await server.stop();
  }
}
