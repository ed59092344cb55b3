import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/message.css";
import "./styles/app.css";
import { createRoot } from "react-dom/client";
import { App, start } from "./app/App";
import { showTheme } from "./store/local";

showTheme();
start();
createRoot(document.getElementById("root")!).render(<App />);
