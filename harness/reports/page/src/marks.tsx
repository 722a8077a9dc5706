/** Small pictures inside rows: places on a line, as shares of its width, so that any width fits. */

import type { ComponentChildren } from "preact";
import type { Metric, Numbers } from "./data";
import { fixed } from "./text";

export type Scale = (value: number) => number;

/** A function from values to places in percent; `flip` puts large values on the left. */
export function scale(low: number, high: number, flip = false): Scale {
  const share = (value: number) => (Math.min(Math.max(value, low), high) - low) / (high - low || 1);
  return (value) => 2 + 96 * (flip ? 1 - share(value) : share(value));
}

/** The smallest and largest number. */
export function span(...lists: Iterable<number>[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists)
    for (const value of list) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  return low <= high ? [low, high] : [0, 1];
}

const percent = (place: number) => `${place.toFixed(2)}%`;

/** A line of a row: `label` says what it shows, if no cell does. */
export function Line({ label, children }: { label: string; children: ComponentChildren }) {
  return <svg class="line" width="100%" height="22" {...(label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true })}>{children}</svg>;
}

/** All values as short ticks, drawn as one path, and a long one. */
export function Ticks({ at, values, long }: { at: Scale; values: Iterable<number>; long: number }) {
  const places = new Set<number>();
  for (const value of values) if (!isNaN(value)) places.add(Math.round(at(value) * 10));
  return (
    <svg width="100%" height="22" viewBox="0 0 1000 22" preserveAspectRatio="none">
      <path class="rail" d="M20 11H980" />
      <path class="ticks" d={[...places].map((x) => `M${x} 6v10`).join("")} />
      {!isNaN(long) && <path class="median" d={`M${(at(long) * 10).toFixed(1)} 2v18`} />}
    </svg>
  );
}

/** A value and its interval, coloured by `kind` as in keys. */
export function Dot({ at, value, low = NaN, high = NaN, kind }: { at: Scale; value: number; low?: number; high?: number; kind: string }) {
  if (isNaN(value)) return null;
  return (
    <g class={`dot ${kind}`}>
      {!isNaN(low + high) && <line class="interval" x1={percent(at(low))} x2={percent(at(high))} y1="11" y2="11" />}
      {kind === "b" ? <svg x={percent(at(value))} y="7" overflow="visible"><rect x="-4" width="8" height="8" rx="1.5" /></svg> : <circle cx={percent(at(value))} cy="11" r="4" />}
    </g>
  );
}

export function Zero({ at }: { at: Scale }) {
  return <line class="zero" x1={percent(at(0))} x2={percent(at(0))} y1="0" y2="100%" />;
}

/** A line between two values. */
export function Between({ at, from, to, kind }: { at: Scale; from: number; to: number; kind: string }) {
  return <line class={`between ${kind}`} x1={percent(at(from))} x2={percent(at(to))} y1="11" y2="11" />;
}

/** Numbers below or above a picture, at places in percent. As HTML, their contrast can be computed. */
export function Axis({ places }: { places: [number, string][] }) {
  return <div class="places" aria-hidden="true">{places.map(([place, text]) => <span key={text} style={{ left: percent(place) }}>{text}</span>)}</div>;
}

/** The ends of an axis for values and intervals: from 0, within the metric's natural range. */
export function extent(metric: Metric, values: Numbers, low: Numbers, high: Numbers): [number, number] {
  const [least, most] = span([0], numbers(values), numbers(low), numbers(high));
  return [metric.low === 0 ? 0 : least, metric.high > 0 ? Math.min(metric.high, most) : most];
}

export function numbers(values: Numbers): number[] {
  return [...values].filter((value) => isFinite(value));
}

/** About `n` round numbers from `low` to `high`. */
export function ticksOf(low: number, high: number, n: number): number[] {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999)!;
  return Array.from({ length: n + 2 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step).filter((tick) => tick <= high + step * 1e-9);
}

/** Ticks with as many digits as their distance needs. */
export function tickText(tick: number, step: number): string {
  return tick === 0 ? "0" : fixed(tick, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}
