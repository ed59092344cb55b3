// Every component in every state, to be looked at: `npm run dev`, then /gallery.html?theme=dark
// or ?stream, which adds some text each frame to a megabyte of it.
import { createRoot } from "react-dom/client";
import { Gallery } from "./gallery/Gallery";
import { Stream } from "./gallery/Stream";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/message.css";
import "./gallery/gallery.css";

const theme = new URLSearchParams(location.search).get("theme");
if (theme) document.documentElement.dataset.theme = theme;
const streams = new URLSearchParams(location.search).has("stream");
createRoot(document.getElementById("root")!).render(streams ? <Stream /> : <Gallery />);
