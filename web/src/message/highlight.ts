// Colours for code, loaded when there is code to colour: the engine once, each grammar
// when its language comes up.
import type { LanguageFn } from "highlight.js";
import type { createLowlight } from "lowlight";

type Engine = ReturnType<typeof createLowlight>;
type Grammar = () => Promise<{ default: LanguageFn }>;

/** A run of code with one look: the class names that the style sheet has colours for. */
export type Run = { text: string; look: string };

const grammars: Record<string, Grammar> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  elixir: () => import("highlight.js/lib/languages/elixir"),
  go: () => import("highlight.js/lib/languages/go"),
  graphql: () => import("highlight.js/lib/languages/graphql"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  nginx: () => import("highlight.js/lib/languages/nginx"),
  php: () => import("highlight.js/lib/languages/php"),
  powershell: () => import("highlight.js/lib/languages/powershell"),
  protobuf: () => import("highlight.js/lib/languages/protobuf"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const aliases: Record<string, string> = {
  sh: "bash", shell: "bash", zsh: "bash", console: "bash", "shell-session": "bash", h: "c", "c++": "cpp", cc: "cpp", hpp: "cpp", cs: "csharp",
  patch: "diff", docker: "dockerfile", ex: "elixir", golang: "go", gql: "graphql", toml: "ini", conf: "ini", js: "javascript", jsx: "javascript",
  mjs: "javascript", cjs: "javascript", jsonc: "json", json5: "json", jsonl: "json", kt: "kotlin", mk: "makefile", make: "makefile", md: "markdown", ps1: "powershell",
  proto: "protobuf", py: "python", rb: "ruby", rs: "rust", ts: "typescript", tsx: "typescript", html: "xml", svg: "xml", vue: "xml", yml: "yaml",
};

/** The language's name as the engine has it, or null if there are no colours for it. */
export function languageOf(name: string): string | null {
  const lower = name.toLowerCase();
  const full = Object.hasOwn(aliases, lower) ? aliases[lower]! : lower;
  return Object.hasOwn(grammars, full) ? full : null;
}

/** The language of a file, by the end of its name. */
export function languageOfPath(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^(?:dockerfile|makefile)$/i.test(name)) return name.toLowerCase();
  return name.includes(".") ? languageOf(name.slice(name.lastIndexOf(".") + 1)) : null;
}

export type Highlighter = (code: string) => Run[];

const loaded = new Map<string, Highlighter>();
let engine: Promise<Engine> | undefined;

/** The highlighter if it is there already. */
export function ready(language: string): Highlighter | undefined {
  return loaded.get(language);
}

/** Loads the highlighter of a language that languageOf gave. Rejects if it cannot be loaded. */
export async function load(language: string): Promise<Highlighter> {
  const there = loaded.get(language);
  if (there) return there;
  engine ??= import("lowlight").then((m) => m.createLowlight());
  const [low, grammar] = await Promise.all([engine, grammars[language]!()]).catch((err: unknown) => {
    engine = undefined; // the next one tries again
    throw err;
  });
  low.register(language, grammar.default);
  const run: Highlighter = (code) => flatten(low.highlight(language, code));
  loaded.set(language, run);
  return run;
}

type Node = { type: string; value?: string; properties?: { className?: unknown }; children?: readonly Node[] };

function flatten(root: unknown): Run[] {
  const out: Run[] = [];
  const walk = (node: Node, look: string) => {
    if (node.type === "text") {
      const last = out[out.length - 1];
      if (last?.look === look) last.text += node.value ?? "";
      else out.push({ text: node.value ?? "", look });
      return;
    }
    const own = node.properties?.className;
    const name = Array.isArray(own) ? own.join(" ") : look;
    for (const child of node.children ?? []) walk(child, name);
  };
  walk(root as Node, "");
  return out;
}
