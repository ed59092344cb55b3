// Every component in every state, to be looked at: `npm run dev`, then /gallery.html?theme=dark.
import { createRoot } from "react-dom/client";
import { Gallery } from "./gallery/Gallery";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/message.css";
import "./gallery/gallery.css";

const theme = new URLSearchParams(location.search).get("theme");
if (theme) document.documentElement.dataset.theme = theme;
createRoot(document.getElementById("root")!).render(<Gallery />);
