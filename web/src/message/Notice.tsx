import { memo, type ReactNode } from "react";
import { Icon, type IconName } from "./icons";
import { Line } from "./Line";
import { clean } from "./text";

/** A status line that is no answer. */
export const Notice = memo(function Notice({ level, text }: { level: string; text: string }): ReactNode {
  const [look, icon, word] = lookOf(level);
  return (
    <div className={`notice notice-${look}`}>
      <Icon name={icon} label={word} />
      <span dir="auto"><Line text={text} /></span>
    </div>
  );
});

function lookOf(level: string): [string, IconName, string] {
  if (/^err|fatal|crit/i.test(level)) return ["error", "error", "Error:"];
  if (/^warn/i.test(level)) return ["warning", "warning", "Warning:"];
  return ["info", "info", "Note:"];
}

const hints: Record<string, string> = {
  agent_missing: "The agent's program is not installed on the server's machine. agentstream agents says how to install it.",
  agent_start_failed: "The agent's program did not start. agentstream doctor looks for the reason.",
  auth_required: "The agent wants to be signed in: run it once in a terminal on the server's machine and sign in there.",
  agent_exited: "The agent's process ended in the middle of the turn. What it did until then stands above; try again to start it anew.",
  agent_protocol: "The agent said something that its protocol does not allow. Try again; if it stays so, the agent's version may not fit.",
  agent_error: "The agent reported this itself. Try again, or ask it differently.",
  timeout: "Nothing came in time. Try again, or raise the timeout in the configuration.",
  run_lost: "The server ended while this ran. What was said until then is kept; try again to go on.",
  server_stopping: "The server was stopped while this ran. What was said until then is kept; try again to go on.",
  storage: "The server could not write its log. Look at the free space on its disk.",
  internal: "This is a fault of the server. Its log says more.",
};

/** Why a run ended in failure, and what helps. */
export const ErrorPart = memo(function ErrorPart({ code, message }: { code: string; message: string }): ReactNode {
  const hint = Object.hasOwn(hints, code) ? hints[code] : undefined;
  return (
    <div role="group" className="error" aria-label="Error">
      <div className="error-head">
        <Icon name="error" />
        <span dir="auto">{clean(message) || "The run failed"}</span>
      </div>
      {hint && <p>{hint}</p>}
      <code className="soft">{clean(code)}</code>
    </div>
  );
});
