// Tests of the viewer in a real browser.
//   node run.mjs --phyxel ../../target/release/phyxel [--screenshots DIR] [--browser /usr/bin/chromium] [--only WORD]
//   node run.mjs --measure RESULT     how long the first picture of a result takes, instead of the tests
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { check, launch, openPage, serve, until } from "./harness.mjs";
import { liveTests, reconnectTest } from "./live.mjs";
import { phoneTest, replayTests } from "./replay.mjs";

const { values: options } = parseArgs({ options: {
  phyxel: { type: "string", default: "../../target/release/phyxel" },
  screenshots: { type: "string" },
  browser: { type: "string", default: "/usr/bin/chromium" },
  only: { type: "string", default: "" },
  measure: { type: "string" },
} });
const here = dirname(fileURLToPath(import.meta.url));
const work = mkdtempSync(join(tmpdir(), "phyxel-browser-"));
const shots = resolve(options.screenshots ?? join(work, "screenshots"));
mkdirSync(shots, { recursive: true });
const program = resolve(options.phyxel), scene = join(here, "two_bodies.toml"), result = join(work, "result"), file = join(work, "two.html");

let nFailed = 0;
async function attempt(name, test) {
  if (!name.includes(options.only)) return;
  const start = Date.now();
  try {
    await test();
    console.log(`ok      ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    nFailed += 1;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}

// Tests one after the other on the same page.
async function suite(browser, url, tests) {
  if (!tests.some(([name]) => name.includes(options.only))) return;
  const page = await openPage(browser, url);
  console.log(`        first picture after ${page.firstPicture} ms`);
  for (const [name, test] of tests) await attempt(name, () => test(page, shots));
  await page.context().close();
}

if (options.measure) {
  const server = await serve(program, [resolve(options.measure), "--port", "0"]);
  for (let k = 0; k < 5; k++) {
    const browser = await launch(options.browser);
    const page = await openPage(browser, server.url, { viewport: { width: 1280, height: 800 } });
    console.log(`${await page.evaluate("phyxel.renderer.moment.nParticles")} particles: first picture after ${page.firstPicture} ms`);
    await browser.close();
  }
  await server.stop();
  rmSync(work, { recursive: true, force: true });
  process.exit(0);
}

execFileSync(program, ["run", scene, "-o", result, "-q"], { stdio: "inherit" });
execFileSync(program, ["export", result, "--format", "html", "--geometry", "both", "-o", file, "-q"], { stdio: "inherit" });
let browser = await launch(options.browser);
try {
  const address = pathToFileURL(file).href;
  await suite(browser, address, replayTests("file"));
  await attempt("file: fits a phone", () => phoneTest(browser, address, shots, "file"));

  const server = await serve(program, [result, "--port", "0"]);
  try {
    await suite(browser, server.url, replayTests("server"));
    await attempt("server: fits a phone", () => phoneTest(browser, server.url, shots, "server"));
  } finally {
    await server.stop();
  }
  await attempt("server: the connection is lost and found again", () => reconnectTest(browser, program, result));

  const live = await serve(program, [scene, "--port", "0"]);
  try {
    await suite(browser, live.url, liveTests);
  } finally {
    await live.stop();
  }

  await browser.close();
  browser = await launch(options.browser, ["--disable-3d-apis"]);
  await attempt("file: says so where there is no WebGL2", async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(address);
    await until(async () => /needs WebGL2/.test(await page.textContent("#cover-text")), "a sentence about WebGL2");
    check(await page.isVisible("#cover"), "the sentence is hidden");
  });
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
console.log(nFailed === 0 ? "All browser tests passed." : `${nFailed} browser tests failed.`);
process.exit(nFailed === 0 ? 0 : 1);
