import { defineConfig } from "vitest/config";

// AGUI=v0 runs the same tests on the client that most applications still embed.
export default defineConfig({
  resolve: { alias: process.env.AGUI === "v0" ? { "@ag-ui/client": new URL("./node_modules/agui-client-v0", import.meta.url).pathname } : {} },
  test: { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
