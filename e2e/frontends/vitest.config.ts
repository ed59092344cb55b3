import { defineConfig } from "vitest/config";
import { resolve } from "./resolve.js";

export default defineConfig({
  resolve,
  // A machine that is shared may starve one; both failures are printed.
  test: { retry: 1, testTimeout: 120_000, hookTimeout: 60_000, fileParallelism: false, include: ["test/**/*.test.{ts,tsx}"] },
});
