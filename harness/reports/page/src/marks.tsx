/** Small pictures inside rows: places on a line, as shares of its width, so that any width fits. */

import type { ComponentChildren } from "preact";
import type { Metric } from "./data";
import { fixed } from "./text";

export type Scale = (value: number) => number;

/** A function from values to places in percent; `flip` puts large values on the left. */
export function scale([low, high]: number[], flip = false): Scale {
  const share = (value: number) => (Math.min(Math.max(value, low), high) - low) / (high - low || 1);
  return (value) => 2 + 96 * (flip ? 1 - share(value) : share(value));
}

/** The smallest and largest finite number. */
export function span(...lists: Iterable<number>[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists)
    for (const value of list) {
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
  return low <= high ? [low, high] : [0, 1];
}

/** The ends of an axis for values and intervals: from 0, within the metric's natural range. */
export function extent(metric: Metric, ...lists: Iterable<number>[]): [number, number] {
  const [least, most] = span([0], ...lists);
  const [low, high] = [metric.low === 0 ? 0 : least, metric.high > 0 ? Math.min(metric.high, most) : most];
  return [low, high > low ? high : low + 1];
}

/** The metric's natural range if that is at most 1 wide, as all rows and metrics can share it. */
export function rangeOf(metric: Metric, ...lists: Iterable<number>[]): [number, number] {
  return metric.high - metric.low <= 1 ? [metric.low, metric.high] : extent(metric, ...lists);
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

/** A line across the row at a value. */
export function Across({ at, value, kind }: { at: Scale; value: number; kind: string }) {
  return isNaN(value) ? null : <line class={kind} x1={percent(at(value))} x2={percent(at(value))} y1="-6" y2="30" />;
}

/** A line between two values. */
export function Between({ at, from, to, kind }: { at: Scale; from: number; to: number; kind: string }) {
  return <line class={`between ${kind}`} x1={percent(at(from))} x2={percent(at(to))} y1="11" y2="11" />;
}

/** Numbers below or above a picture, on the places of a scale. */
export function Axis({ at, ticks }: { at: Scale; ticks: number[] }) {
  return <div class="places" aria-hidden="true">{ticks.map((tick) => <span key={tick} style={{ left: percent(at(tick)) }}>{tickText(tick, ticks)}</span>)}</div>;
}

/** At most `most` round numbers from `low` to `high`: 3 to 6 of 6. */
export function ticksOf([low, high]: number[], most = 6): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low || 1) / most));
  for (const step of [1, 2, 4, 5, 10, 20].map((one) => one * power)) {
    const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
    if (last - first < most) return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  }
  return [low];
}

/** A tick with as many digits as the distance of ticks needs. */
export function tickText(tick: number, ticks: number[]): string {
  return tick === 0 ? "0" : fixed(tick, Math.max(0, Math.ceil(-Math.log10(ticks[1] - ticks[0] || 1) - 1e-9)));
}

/** Round numbers on a logarithmic axis, whose ends are exponents of 10. */
export function powersOf([low, high]: number[]): number[] {
  const decades = Array.from({ length: Math.floor(high) - Math.floor(low) + 1 }, (_, i) => 10 ** (Math.floor(low) + i));
  const [fine, coarse, whole] = [[1, 2, 5], [1, 3], [1]].map((steps) => decades.flatMap((one) => steps.map((step) => step * one)).filter((tick) => tick >= 10 ** low && tick <= 10 ** high));
  return [fine, coarse].find((ticks) => ticks.length <= 6) ?? whole;
}

/** The ends of an axis for differences, with 0 in the middle. */
export function mirrored(differences: number[]): [number, number] {
  const most = Math.max(...span(differences.map(Math.abs)), 1e-12);
  return [-most, most];
}
