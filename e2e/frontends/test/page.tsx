import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, vi } from "vitest";
import { patient } from "./log.js";

// What these libraries ask of a browser and jsdom has not.
globalThis.ResizeObserver ??= class { observe() {} unobserve() {} disconnect() {} } as never;
Element.prototype.scrollTo ??= () => undefined;

/** A tab: a component in a document of its own, looked at and touched as a person does. */
export class Tab {
  private at = document.body.appendChild(document.createElement("main"));
  private root = createRoot(this.at);

  constructor(what: ReactNode) { this.render(what); }

  render(what: ReactNode): void { this.root.render(what); }

  get text(): string { return this.at.textContent ?? ""; }
  all(selector: string): HTMLElement[] { return [...this.at.querySelectorAll<HTMLElement>(selector)]; }
  texts(selector: string): string[] { return this.all(selector).map((e) => e.textContent ?? ""); }

  async shows(text: string): Promise<void> { await vi.waitFor(() => expect(this.text).toContain(text), patient); }
  async hides(text: string): Promise<void> { await vi.waitFor(() => expect(this.text).not.toContain(text), patient); }

  private button(label: string): HTMLButtonElement | undefined {
    return this.all("button").find((b) => b.textContent === label) as HTMLButtonElement | undefined;
  }

  async click(label: string): Promise<void> {
    await vi.waitFor(() => expect(this.button(label)?.disabled).toBe(false), patient);
    this.button(label)!.click();
  }

  async send(text: string): Promise<void> {
    await vi.waitFor(() => expect(this.button("Send"), this.text).toBeDefined(), patient);
    const box = this.at.querySelector("textarea")!;
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")!.set!.call(box, text);
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await this.click("Send");
  }

  close(): void {
    this.root.unmount();
    this.at.remove();
  }
}
