const here = (path) => new URL(path, import.meta.url).pathname;

/** The client is taken from its sources, and finds its peers here, as an application's would. */
export const resolve = {
  alias: {
    "@agentstream/client": here("../../clients/typescript/src/index.ts"),
    "@ag-ui/client": here("node_modules/@ag-ui/client"),
    rxjs: here("node_modules/rxjs"),
    "assistant-ui-core": here("node_modules/@assistant-ui/react-ag-ui/dist/runtime/AgUiThreadRuntimeCore.js"), // which it does not export
  },
  dedupe: ["react", "react-dom"],
};
