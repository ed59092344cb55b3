import { defineConfig } from "vite";
import { resolve } from "./resolve.js";

const page = (name: string) => new URL(`pages/${name}/index.html`, import.meta.url).pathname;

export default defineConfig({
  root: "pages", base: "./", resolve, logLevel: "error",
  build: { outDir: "../dist", emptyOutDir: true, chunkSizeWarningLimit: 4000, rollupOptions: { input: [page("assistant-ui"), page("copilotkit")] } },
});
