/**
 * Calls `work` once in the next animation frame, however often it is asked to. A page
 * in the background gets no frames, so a timer stands behind it.
 */
export class OncePerFrame {
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private work: () => void) {}

  ask(): void {
    if (this.timer !== undefined) return;
    this.frame = requestAnimationFrame(() => this.now());
    this.timer = setTimeout(() => this.now(), 100);
  }

  /** Does what was asked for, at once. */
  now(): void {
    if (this.timer === undefined) return;
    this.stop();
    this.work();
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
