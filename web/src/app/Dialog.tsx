import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./UiIcon";

/** A modal dialog: the browser's own keeps the focus in, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={ref} className="dialog" aria-labelledby={heading} onCancel={(e) => { e.preventDefault(); onClose(); }}
      onPointerDown={(e) => { if (e.target === ref.current) onClose(); }}>
      <div className="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
