import { ResumableHttpAgent } from "@agentstream/client";
import { CopilotKitCoreReact } from "@copilotkit/react-core/v2/context";
import { createRoot } from "react-dom/client";
import "../page.css";
import { where } from "../where.js";
import { App } from "./app.js";

const { base, headers, threadId } = where();
const core = new CopilotKitCoreReact({ agents__unsafe_dev_only: { demo: new ResumableHttpAgent({ url: `${base}/agui/demo`, headers }) } } as never);
createRoot(document.querySelector("main")!).render(<App core={core} threadId={threadId} />);
