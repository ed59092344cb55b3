import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The client is taken from its sources; its own dependencies come from here, so that there is one of each.
const here = (path: string) => new URL(path, import.meta.url).pathname;

// AGENTSTREAM_URL is the address that a running server printed, for `npm run dev`.
const server = process.env.AGENTSTREAM_URL ?? "http://127.0.0.1:7117";

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: { "@agentstream/client": here("../clients/typescript/src/index.ts") },
    dedupe: ["@ag-ui/client", "rxjs", "react", "react-dom"],
  },
  build: {
    outDir: "node_modules/.page", // scripts/pack.mjs takes it from there into dist
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
  },
  server: {
    fs: { allow: [here("."), here("../clients/typescript/src")] },
    proxy: Object.fromEntries(["/v1", "/agui", "/healthz"].map((path) => [path, { target: server, changeOrigin: true, headers: bearer() }])),
  },
  test: { environment: "jsdom", include: ["test/**/*.test.{ts,tsx}"], testTimeout: 60_000, hookTimeout: 60_000 },
});

function bearer(): Record<string, string> {
  const token = process.env.AGENTSTREAM_TOKEN;
  return { Origin: server, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}
