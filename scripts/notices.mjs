// Writes THIRD-PARTY-NOTICES.txt: the licence texts of all crates that are linked into the program, on any platform of
// deny.toml. Also checks that their licences are allowed there.
//   node scripts/notices.mjs            writes the file
//   node scripts/notices.mjs --check    tells whether the file is up to date
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(root, "THIRD-PARTY-NOTICES.txt");
// sources in other languages that crates bring along, with licences of their own
const INNER = { "zstd-sys": ["zstd/LICENSE"] };

const rules = readFileSync(join(root, "deny.toml"), "utf8");
const list = (key) => [...rules.match(new RegExp(`^${key} = \\[([^\\]]*)\\]`, "m"))[1].matchAll(/"([^"]+)"/g)].map((m) => m[1]);
const allowed = list("allow");
const platforms = list("targets").flatMap((target) => ["--filter-platform", target]);

const metadata = JSON.parse(
  execFileSync("cargo", ["metadata", "--format-version", "1", "--locked", ...platforms], { cwd: root, maxBuffer: 1 << 28 }),
);
const packages = new Map(metadata.packages.map((p) => [p.id, p]));
const nodes = new Map(metadata.resolve.nodes.map((n) => [n.id, n]));

// crates that the program needs at run time; what only builds or tests it is not part of it
function linked() {
  const waiting = metadata.packages.filter((p) => p.name === "phyxel-cli").map((p) => p.id);
  const found = new Set();
  while (waiting.length > 0) {
    const id = waiting.pop();
    if (found.has(id)) continue;
    found.add(id);
    const isProcMacro = packages.get(id).targets.some((target) => target.kind.includes("proc-macro"));
    const needed = nodes.get(id).deps.filter((dep) => dep.dep_kinds.some((kind) => kind.kind === null));
    if (!isProcMacro) waiting.push(...needed.map((dep) => dep.pkg));
  }
  const external = [...found].map((id) => packages.get(id)).filter((p) => p.source !== null);
  return external.sort((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1));
}

// the licences of a crate that apply, as lists: one of each list; an exception to Apache-2.0 only permits more
const choices = (p) =>
  (p.license ?? "").replace(/[()]/g, "").replace(/ WITH [\w-]+/g, "").split(" AND ").map((part) => part.split(/ OR |\//));
const chosen = (p) => choices(p).map((list) => allowed.find((licence) => list.includes(licence)));

function texts(p) {
  const folder = dirname(p.manifest_path);
  const all = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|unlicense|notice)/i.test(name)).sort();
  // where each licence has a file, the others that may be chosen instead are left out
  const words = { MIT: /mit/i, "Apache-2.0": /apache/i, "Unicode-3.0": /unicode/i, Zlib: /zlib/i };
  const own = all.filter((name) => /^notice/i.test(name) || chosen(p).some((licence) => words[licence]?.test(name)));
  const names = own.length > 0 ? own : all;
  return [...names, ...(INNER[p.name] ?? [])]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8").replaceAll("\r\n", "\n").replace(/[ \t]+$/gm, "").trim());
}

// the MIT licence of a crate whose package has no text of it
function withoutText(p) {
  if (!chosen(p).includes("MIT")) throw new Error(`${p.name} ${p.version} has no text of its licence, ${p.license}`);
  const authors = p.authors.join(", ") || `the authors of ${p.name}`;
  return readFileSync(join(root, "LICENSE-MIT"), "utf8").replace(/^Copyright.*$/m, `Copyright (c) ${authors}`).trim();
}

function notices() {
  const crates = linked();
  const refused = crates.filter((p) => chosen(p).includes(undefined)).map((p) => `${p.name} ${p.version}: ${p.license}`);
  if (refused.length > 0) throw new Error(`licences that deny.toml does not allow:\n${refused.join("\n")}`);
  const byText = new Map();
  for (const p of crates) {
    const own = texts(p);
    const found = own.length > 0 ? own : [withoutText(p)];
    for (const text of found) byText.set(text, [...(byText.get(text) ?? []), `${p.name} ${p.version}`]);
  }
  const line = "=".repeat(100);
  const head = `Notices of the software that the program phyxel contains\n\nWritten by: node scripts/notices.mjs\n\n`;
  const table = crates.map((p) => `${p.name} ${p.version}: ${chosen(p).join(" and ")}`).join("\n");
  const parts = [...byText].map(([text, names]) => `${line}\n${names.join(", ")}\n${line}\n\n${text}\n`);
  return `${head}${table}\n\n${parts.join("\n")}`;
}

const text = notices();
if (process.argv.includes("--check")) {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(`${basename(file)} is out of date: run node scripts/notices.mjs`);
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
}
