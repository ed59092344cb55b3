import { memo, type ReactNode } from "react";
import type { Context } from "../model";
import { count, tokens } from "./text";

/** How full the context window is, and what the thread has cost. */
export const UsageBar = memo(function UsageBar({ context }: { context: Context }): ReactNode {
  const { used, size, cost } = context;
  const part = size ? Math.min(1, used / size) : null;
  const level = part === null ? "" : part >= 0.95 ? " usage-full" : part >= 0.8 ? " usage-high" : "";
  const exact = size ? `${count(used)} of ${count(size)} tokens of the context window` : `${count(used)} tokens in the context window`;
  return (
    <span className={`usage${level}`} title={exact}>
      {part !== null && (
        <span className="usage-track" role="meter" aria-label="Context window" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)} aria-valuetext={exact}>
          <span style={{ inlineSize: `${Math.max(2, part * 100)}%` }} />
        </span>
      )}
      <span>{tokens(used)}{size ? ` / ${tokens(size)}` : " tokens"}</span>
      {cost && <span>{money(cost.amount, cost.currency)}</span>}
    </span>
  );
});

function money(amount: number, currency: string): string {
  const digits = amount > 0 && amount < 0.1 ? 3 : 2;
  try {
    return new Intl.NumberFormat("en-US", { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(amount);
  } catch {
    return `${amount.toFixed(digits)} ${currency}`;
  }
}
