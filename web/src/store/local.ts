import { Signal } from "./signal";

/** localStorage that may be full, off or of a stranger: what cannot be kept is not. */
export function keep(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem("agentstream." + key);
    else localStorage.setItem("agentstream." + key, value);
  } catch {
    // A page without storage works, it forgets.
  }
}

export function kept(key: string): string {
  try {
    return localStorage.getItem("agentstream." + key) ?? "";
  } catch {
    return "";
  }
}

export const draftOf = (thread: string) => kept("draft." + (thread || "new"));
export const keepDraft = (thread: string, text: string) => keep("draft." + (thread || "new"), text);

export type Theme = "system" | "light" | "dark";
export const theme = new Signal<Theme>((kept("theme") as Theme) || "system");

export function setTheme(next: Theme): void {
  keep("theme", next === "system" ? "" : next);
  theme.set(next);
  showTheme();
}

export function showTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** Scroll positions live as long as the tab. */
/** The turn at the top of the view and how far from the edge it stands, in pixels. */
export type Place = { bottom: boolean; turn: string; top: number };
export function placeOf(thread: string): Place | undefined {
  writePlaces();
  try {
    return JSON.parse(sessionStorage.getItem("agentstream.place." + thread) ?? "") as Place;
  } catch {
    return undefined;
  }
}

const places = new Map<string, Place>();

/** Keeps a place; it is written down when scrolling rests or the page goes. */
export function keepPlace(thread: string, place: Place): void {
  if (places.size === 0) setTimeout(writePlaces, 300);
  places.set(thread, place);
}

function writePlaces(): void {
  for (const [thread, place] of places) {
    try {
      sessionStorage.setItem("agentstream.place." + thread, JSON.stringify(place));
    } catch {
      // As above.
    }
  }
  places.clear();
}

if (typeof window !== "undefined") window.addEventListener("pagehide", writePlaces);
