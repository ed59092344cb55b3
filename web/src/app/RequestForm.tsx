import { useId, type FormEvent, type ReactNode } from "react";

type Property = { type?: string; title?: string; description?: string; enum?: unknown[]; oneOf?: { const: unknown; title?: string }[]; default?: unknown; minLength?: number; maxLength?: number; minimum?: number; maximum?: number; format?: string };
type Props = { schema: Record<string, unknown>; busy: boolean; onSend: (content: Record<string, unknown>) => void; onRefuse: () => void };

/** A field for each simple property of a JSON Schema; the browser says what is missing. */
export function RequestForm({ schema, busy, onSend, onRefuse }: Props): ReactNode {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Property>);
  const required = new Set((schema.required ?? []) as string[]);
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const content: Record<string, unknown> = {};
    for (const [key, p] of properties) {
      const value = String(form.get(key) ?? "");
      if (p.type === "boolean") content[key] = form.has(key);
      else if (value === "") continue;
      else content[key] = p.type === "number" || p.type === "integer" ? Number(value) : value;
    }
    onSend(content);
  };
  return (
    <form className="request-form" onSubmit={submit}>
      {properties.map(([key, p]) => <Field key={key} name={key} property={p} required={required.has(key)} />)}
      <div className="approval-options">
        <button type="submit" className="button button-main" disabled={busy}>Send answer</button>
        <button type="button" className="button" disabled={busy} onClick={onRefuse}>Refuse</button>
      </div>
    </form>
  );
}

function Field({ name, property: p, required }: { name: string; property: Property; required: boolean }): ReactNode {
  const id = useId();
  const label = p.title || name;
  const choices = p.oneOf?.map((o) => ({ value: String(o.const), title: o.title ?? String(o.const) })) ?? p.enum?.map((v) => ({ value: String(v), title: String(v) }));
  const hint = p.description ? <small id={id + "-hint"} dir="auto">{p.description}</small> : null;
  const common = { id, name, ...(p.description ? { "aria-describedby": id + "-hint" } : {}) };
  if (p.type === "boolean") {
    return (
      <div className="field field-check">
        <input type="checkbox" {...common} defaultChecked={p.default === true} />
        <label htmlFor={id} dir="auto">{label}</label>
        {hint}
      </div>
    );
  }
  const initial = p.default === undefined ? undefined : String(p.default);
  return (
    <div className="field">
      <label htmlFor={id} dir="auto">{label}{required && <span className="soft"> (needed)</span>}</label>
      {choices ? (
        <select {...common} required={required} defaultValue={initial ?? ""}>
          <option value="">–</option>
          {choices.map((c) => <option key={c.value} value={c.value}>{c.title}</option>)}
        </select>
      ) : (
        <input {...common} dir="auto" required={required} defaultValue={initial}
          type={p.type === "number" || p.type === "integer" ? "number" : p.format === "email" ? "email" : "text"}
          {...(p.type === "number" ? { step: "any" } : {})} minLength={p.minLength} maxLength={p.maxLength} min={p.minimum} max={p.maximum} />
      )}
      {hint}
    </div>
  );
}
