/** Small pictures inside rows: places on a line, as shares of its width, so that any width fits. */

import type { ComponentChildren } from "preact";

/** A function from values to places in percent; `flip` puts large values on the left. */
export function scale(low: number, high: number, flip = false): (value: number) => number {
  const share = (value: number) => (Math.min(Math.max(value, low), high) - low) / (high - low || 1);
  return (value) => 2 + 96 * (flip ? 1 - share(value) : share(value));
}

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

/** A line of a row: `label` says what it shows. */
export function Line({ label, children, tall = 22 }: { label: string; children: ComponentChildren; tall?: number }) {
  return <svg class="line" width="100%" height={tall} {...(label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true })}>{children}</svg>;
}

/** All values as short ticks, drawn as one path, and long ones for some. */
export function Ticks({ at, values, long = [] }: { at: (value: number) => number; values: Iterable<number>; long?: number[] }) {
  const places = new Set<number>();
  for (const value of values) if (!isNaN(value)) places.add(Math.round(at(value) * 10));
  return (
    <svg width="100%" height="22" viewBox="0 0 1000 22" preserveAspectRatio="none">
      <path class="rail" d="M20 11H980" />
      <path class="ticks" d={[...places].map((x) => `M${x} 6v10`).join("")} />
      <path class="median" d={long.map((value) => `M${(at(value) * 10).toFixed(1)} 2v18`).join("")} />
    </svg>
  );
}

/** A value and its interval, coloured by `kind`: a, b, same, over, under. */
export function Dot({ at, value, low = NaN, high = NaN, kind, square = false }: {
  at: (value: number) => number; value: number; low?: number; high?: number; kind: string; square?: boolean;
}) {
  if (isNaN(value)) return null;
  return (
    <g class={`dot ${kind}`}>
      {!isNaN(low + high) && <line class="interval" x1={percent(at(low))} x2={percent(at(high))} y1="11" y2="11" />}
      {square ? <svg x={percent(at(value))} y="7" overflow="visible"><rect x="-4" width="8" height="8" rx="1.5" /></svg> : <circle cx={percent(at(value))} cy="11" r="4" />}
    </g>
  );
}

/** The place of zero, or of another reference. */
export function Zero({ at, value = 0 }: { at: (value: number) => number; value?: number }) {
  return <line class="zero" x1={percent(at(value))} x2={percent(at(value))} y1="0" y2="100%" />;
}

/** A bar from zero to a value. */
export function Bar({ at, value, kind }: { at: (value: number) => number; value: number; kind: string }) {
  const [from, to] = [at(0), at(value)].sort((a, b) => a - b);
  return <rect class={`bar ${kind}`} x={percent(from)} width={percent(to - from)} y="5" height="12" />;
}

/** The values of two systems for one query. */
export function Dumbbell({ at, a, b, better }: { at: (value: number) => number; a: number; b: number; better: string }) {
  return (
    <>
      <line class="rail" x1="2%" x2="98%" y1="11" y2="11" />
      <line class={`between ${better}`} x1={percent(at(a))} x2={percent(at(b))} y1="11" y2="11" />
      <Dot at={at} value={b} kind="b" square />
      <Dot at={at} value={a} kind="a" />
    </>
  );
}
