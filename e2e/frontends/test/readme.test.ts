import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

const here = new URL("../", import.meta.url).pathname;
const readme = readFileSync(new URL("../../../clients/typescript/README.md", import.meta.url), "utf8");
const given = "declare const token: string, threadId: string;\n";

test("what the client's README shows compiles against the libraries it names", () => {
  const snippets = [...readme.matchAll(/^```tsx?\n(.*?)^```/gms)].map((m, i) => ({ name: `${here}snippet${i}.tsx`, text: given + m[1] }));
  expect(snippets.length).toBeGreaterThan(4);
  const config = ts.readConfigFile(`${here}tsconfig.json`, ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, here);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  const find = (name: string) => snippets.find((s) => s.name === name);
  host.getSourceFile = (name, ...more) => {
    const snippet = find(name);
    return snippet ? ts.createSourceFile(name, snippet.text, ...(more as [ts.ScriptTarget])) : getSourceFile.call(host, name, ...more);
  };
  host.fileExists = (name) => find(name) !== undefined || fileExists.call(host, name);
  const program = ts.createProgram({ rootNames: snippets.map((s) => s.name), options: { ...options, noUnusedLocals: false }, host });
  const faults = ts.getPreEmitDiagnostics(program).map((d) => {
    const at = d.file && d.start !== undefined ? ts.getLineAndCharacterOfPosition(d.file, d.start).line : 0;
    return `${d.file?.fileName.slice(here.length)}:${at}: ${ts.flattenDiagnosticMessageText(d.messageText, " ")}`;
  });
  expect(faults).toEqual([]);
});
