import { ResumableHttpAgent } from "@agentstream/client";
import { createRoot } from "react-dom/client";
import "../page.css";
import { where } from "../where.js";
import { App } from "./app.js";

const { base, headers, threadId } = where();
createRoot(document.querySelector("main")!).render(<App agent={new ResumableHttpAgent({ url: `${base}/agui/demo`, headers, threadId })} />);
