import { defineConfig } from "vitest/config";
import { resolve } from "./resolve.js";

export default defineConfig({
  resolve,
  test: { testTimeout: 120_000, hookTimeout: 60_000, fileParallelism: false, include: ["test/**/*.test.{ts,tsx}"] },
});
