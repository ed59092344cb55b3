import { useEffect, useState, type ReactNode } from "react";
import { signedOut } from "../store/connection";
import { follow } from "../store/feed";
import { refreshRequests } from "../store/requests";
import { useSignal } from "../store/signal";
import { refreshAgents, threads } from "../store/threads";
import { startWaking } from "../store/wake";
import { current, startRouting } from "./current";
import { HelpDialog } from "./dialogs";
import { startKeys } from "./keys";
import { NewThread } from "./NewThread";
import { startNotifying } from "./notify";
import { drawer } from "./Shell";
import { Sidebar } from "./Sidebar";
import { SignIn } from "./SignIn";
import { ThreadView } from "./ThreadView";
import { Toast } from "./toast";

/** Begins what the page does whatever it shows. Once, before the first render. */
export function start(): void {
  startWaking();
  startRouting();
  void threads.refresh();
  void refreshAgents();
  void refreshRequests();
  startNotifying();
  follow(() => {
    void refreshRequests();
    void threads.refresh();
    void current.value?.sync();
  });
}

export function App(): ReactNode {
  const open = useSignal(current);
  const out = useSignal(signedOut);
  const wide = !useSignal(drawer);
  const [help, setHelp] = useState(false);
  useEffect(() => startKeys(() => setHelp(true)), []);
  useEffect(() => {
    if (wide) return;
    const close = (e: KeyboardEvent) => {
      if (e.key === "Escape") drawer.set(false);
    };
    addEventListener("keydown", close);
    document.querySelector<HTMLElement>(".sidebar .drawer-only")?.focus();
    return () => removeEventListener("keydown", close);
  }, [wide]);
  if (out) return <SignIn />;
  return (
    <div className={"app" + (wide ? "" : " drawer-open")}>
      <a className="skip" href="#main" onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>(".composer textarea")?.focus(); }}>Skip to the message field</a>
      <Sidebar onClose={() => drawer.set(false)} onHelp={() => setHelp(true)} />
      {!wide && <div className="shade" onClick={() => drawer.set(false)} />}
      <main id="main" inert={!wide}>{open ? <ThreadView key={open.id} open={open} /> : <NewThread />}</main>
      <Toast />
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}
