// Makes one runnable file of a module: node bundle.mjs IN OUT, with the packages
// that e2e/frontends has, as an application's build would.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "../frontends/resolve.js";

const home = new URL("../frontends/", import.meta.url);
const { rolldown } = await import(pathToFileURL(createRequire(home).resolve("rolldown")).href);
const [input, file] = process.argv.slice(2);
const bundle = await rolldown({ input, platform: "node", resolve: { alias: resolve.alias, symlinks: true }, logLevel: "silent" });
await bundle.write({ file, format: "esm", codeSplitting: false });
