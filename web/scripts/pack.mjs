// Takes what vite built into dist, as the binary embeds it: what compresses well
// stands there compressed only, as NAME.br and NAME.gz. With --check it changes
// nothing and fails where dist is not what was built. Compressors differ between
// versions of Node, so what they hold is compared.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const built = join(root, "node_modules", ".page");
const dist = join(root, "dist");
const check = process.argv.includes("--check");

// firstLoad is the most that may come before the page can be used, in bytes as brotli.
const firstLoad = 400_000;

const files = (dir) =>
  existsSync(dir) ? readdirSync(dir, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => relative(dir, join(f.parentPath, f.name)).replaceAll("\\", "/")).sort() : [];

const brotli = (data) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length } });

// packed maps each file of dist to what it must hold and how that is read.
const packed = new Map();
for (const name of files(built)) {
  const data = readFileSync(join(built, name));
  const small = /\.(js|css|svg|json|wasm)$/.test(name) && name.startsWith("assets/") && data.length > 1024;
  if (!small) packed.set(name, { data, pack: (d) => d, unpack: (d) => d });
  else {
    packed.set(name + ".br", { data, pack: brotli, unpack: brotliDecompressSync });
    packed.set(name + ".gz", { data, pack: (d) => gzipSync(d, { level: 9 }), unpack: gunzipSync });
  }
}
if (!packed.has("index.html")) fail("nothing was built: run vite build first");

const wrong = [];
for (const [name, { data, pack, unpack }] of packed) {
  const path = join(dist, name);
  let same = false;
  try {
    same = unpack(readFileSync(path)).equals(data);
  } catch {}
  if (same) continue;
  wrong.push(name);
  if (!check) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pack(data));
  }
}
for (const name of files(dist)) {
  if (packed.has(name)) continue;
  wrong.push(name);
  if (!check) rmSync(join(dist, name));
}
if (check && wrong.length > 0) fail(`web/dist is not what the sources build; run make web and commit it:\n  ${wrong.join("\n  ")}`);

// What index.html names is loaded at once, with all that it imports statically.
const html = readFileSync(join(built, "index.html"), "utf8");
const wanted = new Set([...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((m) => m[1]));
for (const name of wanted)
  if (name.endsWith(".js")) for (const m of readFileSync(join(built, name), "utf8").matchAll(/\b(?:from|import)\s*"\.\/([^"]+\.js)"/g)) wanted.add("assets/" + m[1]);
let sum = brotli(Buffer.from(html)).length;
for (const name of wanted) {
  const size = existsSync(join(dist, name + ".br")) ? readFileSync(join(dist, name + ".br")).length : readFileSync(join(built, name)).length;
  sum += size;
  console.log(`${String(size).padStart(8)}  ${name}`);
}
console.log(`${String(sum).padStart(8)}  first load, at most ${firstLoad}`);
if (sum > firstLoad) fail("the first load is too large");

function fail(why) {
  console.error(why);
  process.exit(1);
}
