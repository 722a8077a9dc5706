/** Numbers, links and small elements that several views share. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Board, Metric, Sentence } from "./data";
import type { State } from "./state";
import { format } from "./state";
import type { Context } from "./view";

export function fixed(value: number, digits: number): string {
  if (value === undefined || isNaN(value)) return "–";
  if (!isFinite(value)) return value > 0 ? "∞" : `−∞`;
  const text = Math.abs(value).toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
  return (value < 0 && /[1-9]/.test(text) ? "−" : "") + text;
}

export function signed(value: number, digits: number): string {
  return value > 0 && Number(value.toFixed(digits)) !== 0 ? `+${fixed(value, digits)}` : fixed(value, digits);
}

export function probability(p: number): string {
  return isNaN(p) ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** Ranks from `low` to `high`. */
export function ranks(low: number, high: number): string {
  return isNaN(low) ? "" : low === high ? String(low) : `${low}–${high}`;
}

export function interval(low: number, high: number, digits: number): string {
  return isNaN(low + high) ? "" : `${fixed(low, digits)} to ${fixed(high, digits)}`;
}

export function plural(n: number, word: string, words = `${word}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? word : words}`;
}

/** A number at the end of an axis, without zeros that say nothing. */
export function short(value: number): string {
  return isFinite(value) ? fixed(value, 2).replace(/\.?0+$/, "") : fixed(value, 2);
}

/** What a rounded number shows on hover. */
export function everyDigit(value: number): string {
  return isNaN(value) ? "no value" : String(value);
}

/** A number with the table's digits; every digit on hover. */
export function Value({ value, digits, sign = false }: { value: number; digits: number; sign?: boolean }) {
  return <span class="v" title={everyDigit(value)}>{(sign ? signed : fixed)(value, digits)}</span>;
}

/** The name of a metric; what it measures on hover. */
export function MetricName({ metric }: { metric: Metric }) {
  const lower = metric.direction < 0 ? "lower is better" : "";
  return (
    <span title={[metric.explanation, lower && "Lower is better."].filter(Boolean).join(" ")}>
      {metric.label}{lower && <small class="muted"> {lower}</small>}
    </span>
  );
}

/** A text of a column; addresses are links, with `title` if there is one. */
export function ColumnText({ text, title }: { text: string; title?: string }) {
  if (!/^https?:\/\//.test(text)) return <>{title && `${title}: `}<bdi>{text}</bdi></>;
  return <a href={text} rel="noreferrer">{title ?? text.replace(/^https?:\/\/(www\.)?|\/$/g, "")}</a>;
}

/** A link to the current address with changes. */
export function Link({ context, to, children }: { context: Context; to: Partial<State>; children: ComponentChildren }) {
  return <a href={format(context.state, to)}>{children}</a>;
}

/** A system's name, which leads to its view; `system` is its number in the report. */
export function SystemLink({ context, system }: { context: Context; system: number }) {
  const { name, reference } = context.report.systems[system];
  return reference ? <bdi title={name}>{name}</bdi> : <Link context={context} to={{ view: "system", a: name, b: "", qid: "" }}><bdi title={name}>{name}</bdi></Link>;
}

/** A group of queries, and how many they are. */
export function GroupLink({ context, board }: { context: Context; board: Board }) {
  return <><Link context={context} to={{ dataset: board.dataset }}><bdi>{board.groupLabel}</bdi></Link> <span class="muted">({board.qids.length.toLocaleString("en")})</span></>;
}

/** The sentence that opens a view. */
export function Lede({ context, sentence }: { context: Context; sentence: Sentence }) {
  const words = sentence.map((part, i) => {
    if (typeof part === "string") return part;
    if ("bold" in part) return <b key={i}>{part.bold}</b>;
    if ("system" in part) return <SystemLink key={i} context={context} system={part.system} />;
    const title = context.report.texts?.[part.query];
    return <span key={i}><Link context={context} to={{ view: "queries", qid: part.query }}><bdi>{title ?? part.query}</bdi></Link>{title && <> (<bdi>{part.query}</bdi>)</>}</span>;
  });
  return words.length ? <p class="lede">{words}</p> : null;
}

export function Section({ title, note, aside, children, ...rest }: {
  title: ComponentChildren;
  note?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section {...rest}>
      <header><h2>{title}</h2>{note && <p class="muted">{note}</p>}{aside && <div class="end">{aside}</div>}</header>
      {children}
    </section>
  );
}

/** A table of queries: number, title where there is one, and further cells. */
export function QueryTable({ context, queries, first = Infinity, title = "Title", heads, pair = {}, children }: {
  context: Context; queries: number[]; title?: string; heads: ComponentChildren; pair?: Partial<State>; children: (query: number) => ComponentChildren;
  /** How many are shown until the reader wants more. */
  first?: number;
}) {
  const { report: { texts }, board: { qids } } = context;
  const [shown, setShown] = useState(first);
  const width = { width: `max(44px, ${Math.min(10, Math.max(...queries.map((q) => qids[q].length))) + 2}ch)` };
  return (
    <div>
      <table class="list">
        <thead><tr>{texts && <th scope="col" class="number" style={width}>Query</th>}<th scope="col" class="name">{texts || title !== "Title" ? title : "Query"}</th>{heads}</tr></thead>
        <tbody>
          {queries.slice(0, shown).map((q) => (
            <tr key={q}>
              {texts && <td class="number muted"><bdi>{qids[q]}</bdi></td>}
              <th scope="row" class="name"><Link context={context} to={{ view: "queries", qid: qids[q], ...pair }}><bdi title={texts?.[qids[q]] ?? qids[q]}>{texts?.[qids[q]] ?? qids[q]}</bdi></Link></th>
              {children(q)}
            </tr>
          ))}
        </tbody>
      </table>
      {queries.length > shown && <button type="button" class="more" onClick={() => setShown(5 * shown)}>{`Show more of ${queries.length.toLocaleString("en")} queries`}</button>}
    </div>
  );
}

/** Why tiers tell systems apart whose pair has no test. */
export function TierNote({ context: { board } }: { context: Context }) {
  return <>{board.testing?.tiers.replace(/\.$/, ", so they can separate two systems that are “not tested” here.")}</>;
}

/** A mark as pictures draw it, and what it stands for: a, b, same, over, under. */
export function Key({ kind, children }: { kind: string; children: ComponentChildren }) {
  return <span class="key"><span class={`mark ${kind}`} /><span>{children}</span></span>;
}

/** A box next to the pointer. */
export function Tip({ at, children }: { at: [number, number]; children: ComponentChildren }) {
  const [x, y] = at;
  const place = {
    ...(x > innerWidth / 2 ? { right: `${document.documentElement.clientWidth - x + 14}px` } : { left: `${x + 14}px` }),
    ...(y > innerHeight / 2 ? { bottom: `${innerHeight - y + 14}px` } : { top: `${y + 14}px` }),
  };
  return <div class="tip" role="status" style={place}>{children}</div>;
}

export function Select(props: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
  /** The label is for screen readers only. */
  hidden?: boolean;
}) {
  return (
    <label class="field">
      <span class={props.hidden ? "hidden" : ""}>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => <option key={value} value={value} selected={value === props.value}>{text}</option>)}
      </select>
    </label>
  );
}

/** A button that copies. Not the clipboard API: a frame, or a page without TLS, has none. */
export function Copy({ text }: { text: string }) {
  const [done, set] = useState(false);
  const copy = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    set(document.execCommand("copy"));
    area.remove();
    currentTarget.focus();
    setTimeout(() => set(false), 1500);
  };
  return <button type="button" class="small" onClick={copy}><span aria-live="polite">{done ? "Copied" : "Copy"}</span></button>;
}

/** A command and a button that copies it. */
export function Command({ text }: { text: string }) {
  return <span class="command"><code tabIndex={0}>{text}</code><Copy text={text} /></span>;
}
