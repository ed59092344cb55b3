import { useId, useState, type ReactNode } from "react";
import { Icon } from "./icons";

type Props = {
  className: string;
  /** Read out as the name of the button, with what the head shows. */
  head: ReactNode;
  /** Whether it is open as long as nobody has chosen. */
  open: boolean;
  /** Nothing to unfold: the head is no button. */
  empty?: boolean;
  /** Made only while it is open. */
  children: () => ReactNode;
  /** Stands below the head whether open or not. */
  always?: ReactNode;
};

/** A line that unfolds. What the reader chose stays, whatever happens to the content. */
export function Fold({ className, head, open, empty = false, children, always }: Props): ReactNode {
  const [chosen, choose] = useState<boolean | null>(null);
  const id = useId();
  const shown = !empty && (chosen ?? open);
  return (
    <div className={`fold ${className}${shown ? " fold-open" : ""}`}>
      {empty ? (
        <div className="fold-head">{head}</div>
      ) : (
        <button type="button" className="fold-head" aria-expanded={shown} aria-controls={shown ? id : undefined} onClick={() => choose(!shown)}>
          {head}
          <Icon name="chevron" />
        </button>
      )}
      {always}
      {shown && <div id={id} className="fold-body">{children()}</div>}
    </div>
  );
}
