/** Numbers and small elements that several views share. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Metric } from "./data";

export const MINUS = "−";

export function fixed(value: number, digits: number): string {
  if (value === undefined || isNaN(value)) return "–";
  if (!isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

export function signed(value: number, digits: number): string {
  return value > 0 && Number(value.toFixed(digits)) !== 0 ? `+${fixed(value, digits)}` : fixed(value, digits);
}

export function probability(p: number): string {
  return isNaN(p) ? "–" : p < 0.0001 ? "< .0001" : p.toFixed(4).replace(/^0/, "");
}

/** A number with the table's digits; every digit on hover. */
export function Value({ value, digits, sign = false }: { value: number; digits: number; sign?: boolean }) {
  return <span title={isNaN(value) ? "no value" : String(value)}>{(sign ? signed : fixed)(value, digits)}</span>;
}

export const ARROW: Record<string, string> = { "1": "↑", "-1": "↓", "0": "" };

export function MetricName({ metric }: { metric: Metric }) {
  const words = metric.direction > 0 ? "higher is better" : metric.direction < 0 ? "lower is better" : "";
  return (
    <>
      {metric.label}
      {words && (
        <span class="arrow" title={words}>
          <span aria-hidden="true">{"\u00a0"}{ARROW[metric.direction]}</span>
          <span class="hidden">, {words}</span>
        </span>
      )}
    </>
  );
}

export function Select(props: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, set] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => selectAndCopy(text));
    set(true);
    setTimeout(() => set(false), 1500);
  };
  return (
    <button type="button" class="small" onClick={copy}>
      <span aria-live="polite">{done ? "Copied" : label}</span>
    </button>
  );
}

/** A command and a button that copies it. */
export function Command({ text }: { text: string }) {
  return <><code>{text}</code> <Copy text={text} /></>;
}

/** For pages opened from disk, in browsers that give them no clipboard. */
function selectAndCopy(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function Panel({ title, children, aside }: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
}) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
