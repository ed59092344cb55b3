import type { ReactNode } from "react";

export default function Diagram({ fallback }: { code: string; fallback: ReactNode }): ReactNode {
  return fallback;
}
