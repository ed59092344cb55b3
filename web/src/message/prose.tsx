// One block of Markdown as React elements. Nothing of an agent's text becomes HTML: tags
// stand there as they were typed, links lead to the web or nowhere, and a picture is
// fetched from nobody else.
import { Lexer, type Token, type Tokens } from "marked";
import { createElement, Fragment, type ReactNode } from "react";
import type { Definitions } from "./blocks";
import { CodeBlock } from "./Code";
import { Icon } from "./icons";
import { safeImage, safeLink } from "./links";
import { ImageView } from "./MediaView";
import { clean } from "./text";

/** Longer blocks are shown as they are: parsing them each frame would be felt. */
const LONGEST = 100_000;
const DEEPEST = 24;

type At = { depth: number; top: number };
const below = (at: At): At => ({ ...at, depth: at.depth + 1 });

/**
 * The elements of one block of Markdown. definitions are those of reference links, top
 * is how deep the text's first heading is. Never throws.
 */
export function prose(text: string, definitions: Definitions, top = 1): ReactNode {
  if (text.length > LONGEST) return <p className="md-plain">{clean(text)}</p>;
  try {
    const lexer = new Lexer({ gfm: true });
    for (const [label, d] of Object.entries(definitions)) lexer.tokens.links[label] = { href: d.href, title: d.title };
    return blocks(lexer.lex(text), { depth: 0, top });
  } catch {
    return <p className="md-plain">{clean(text)}</p>;
  }
}

function blocks(tokens: readonly Token[], at: At): ReactNode[] {
  return tokens.map((t, i) => <Fragment key={i}>{block(t, at)}</Fragment>);
}

function block(token: Token, at: At): ReactNode {
  if (at.depth > DEEPEST) return clean(token.raw);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const t = token as Tokens.Heading;
      // Whatever an agent begins with, its headings follow the page's without a gap.
      return createElement(t.depth <= at.top ? "h2" : "h3", { className: `md-h md-h${t.depth}`, dir: "auto" }, inline(t.tokens, at));
    }
    case "paragraph":
      // Inside a list or a quote the whole has one direction.
      return <p dir={at.depth === 0 ? "auto" : undefined}>{inline((token as Tokens.Paragraph).tokens, at)}</p>;
    case "code": {
      const t = token as Tokens.Code;
      return <CodeBlock code={t.text} lang={t.lang?.split(/\s/)[0] ?? ""} open={false} />;
    }
    case "blockquote":
      return <blockquote dir={at.depth === 0 ? "auto" : undefined}>{blocks((token as Tokens.Blockquote).tokens, below(at))}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token as Tokens.List, at);
    case "table":
      return table(token as Tokens.Table, at);
    case "html":
      return <p className="md-plain">{clean(token.raw.trimEnd())}</p>;
    case "text": {
      const t = token as Tokens.Text;
      return t.tokens ? inline(t.tokens, at) : decode(t.text);
    }
    default:
      return clean(token.raw);
  }
}

function list(token: Tokens.List, at: At): ReactNode {
  const items = token.items.map((item, i) => {
    const body = item.tokens.filter((t) => t.type !== "checkbox").map((t, k) => {
      const tight = t.type === "paragraph" && !token.loose;
      return <Fragment key={k}>{tight ? inline((t as Tokens.Paragraph).tokens, at) : block(t, below(at))}</Fragment>;
    });
    if (!item.task) return <li key={i}>{body}</li>;
    return (
      <li key={i} className="md-task">
        <Icon name={item.checked ? "box-checked" : "box"} label={item.checked ? "done:" : "to do:"} />
        <div>{body}</div>
      </li>
    );
  });
  const tasks = token.items.every((i) => i.task) ? "md-tasks" : undefined;
  const dir = at.depth === 0 ? "auto" : undefined;
  if (token.ordered) return <ol dir={dir} start={token.start === "" ? 1 : token.start} className={tasks}>{items}</ol>;
  return <ul dir={dir} className={tasks}>{items}</ul>;
}

function table(token: Tokens.Table, at: At): ReactNode {
  const align = (i: number) => (token.align[i] ? { textAlign: token.align[i]! } : undefined);
  return (
    <div className="md-table" tabIndex={0} role="group" aria-label="Table">
      <table dir="auto">
        <thead>
          <tr>{token.header.map((c, i) => <th key={i} scope="col" style={align(i)}>{inline(c.tokens, at)}</th>)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, r) => (
            <tr key={r}>{row.map((c, i) => <td key={i} style={align(i)}>{inline(c.tokens, at)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined, at: At): ReactNode {
  return tokens?.map((t, i) => <Fragment key={i}>{span(t, below(at))}</Fragment>);
}

function span(token: Token, at: At): ReactNode {
  if (at.depth > DEEPEST) return clean(token.raw);
  switch (token.type) {
    case "text": {
      const t = token as Tokens.Text;
      return t.tokens ? inline(t.tokens, at) : decode(t.text);
    }
    case "escape":
      return clean((token as Tokens.Escape).text);
    case "strong":
      return <strong>{inline((token as Tokens.Strong).tokens, at)}</strong>;
    case "em":
      return <em>{inline((token as Tokens.Em).tokens, at)}</em>;
    case "del":
      return <del>{inline((token as Tokens.Del).tokens, at)}</del>;
    case "codespan":
      return <code className="md-code">{clean((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link": {
      const t = token as Tokens.Link;
      return link(t.href, inline(t.tokens, at));
    }
    case "image":
      return image(token as Tokens.Image);
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : clean(token.raw);
    default:
      return clean(token.raw);
  }
}

function link(href: string, children: ReactNode): ReactNode {
  const url = safeLink(decode(href));
  if (!url) return <span className="md-path" title={decode(href)}>{children}</span>;
  return <a href={url} target="_blank" rel="noopener noreferrer">{children}</a>;
}

function image(t: Tokens.Image): ReactNode {
  const src = safeImage(decode(t.href));
  if (src) return <ImageView src={src} name={clean(t.text) || "a picture"} />;
  const url = safeLink(decode(t.href));
  const name = clean(t.text) || decode(t.href);
  return url ? link(t.href, <><Icon name="image" />{name}</>) : name;
}

// Character references are part of Markdown. The browser knows all names; what is
// parsed is one reference, and read as text.
function decode(text: string): string {
  if (!text.includes("&")) return clean(text);
  return clean(text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (ref) => {
    return new DOMParser().parseFromString(ref, "text/html").documentElement.textContent ?? ref;
  }));
}
