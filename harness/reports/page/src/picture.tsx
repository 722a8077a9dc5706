/** Pictures of all systems: their intervals in order of rank, and quality against a cost. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Context } from "./view";
import type { Axis } from "./data";
import { queryValues, ranked } from "./data";
import type { Reference } from "./leaderboard";
import { Keys, kindOf } from "./leaderboard";
import { extent, span, tickText, ticksOf } from "./marks";
import type { State } from "./state";
import { placeOf, queryTitle, rowValues, systemName } from "./view";
import { Section, Tip, fixed, interval, plural, short } from "./text";

const LEFT = 34;
const BOTTOM = 20;

interface Point {
  row: number;
  x: number;
  y: number;
  /** The ends of its interval, or NaN. */
  low: number;
  high: number;
}

/** Where the keys and the pointer are: the point, and its place on the screen. */
export function usePoints(points: Point[], open: (row: number) => void) {
  const [near, set] = useState<{ i: number; at: [number, number] }>();
  const frame = (event: Event) => (event.currentTarget as Element).getBoundingClientRect();
  const point = near && points[near.i];
  const handlers = {
    onMouseMove: (event: MouseEvent) => {
      const box = frame(event);
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      let i = 0;
      points.forEach((one, k) => {
        const distance = (p: Point) => (p.x - x) ** 2 + (isNaN(p.low) ? (p.y - y) ** 2 : 0);
        if (distance(one) < distance(points[i])) i = k;
      });
      set({ i, at: [event.clientX, event.clientY] });
    },
    onMouseLeave: () => set(undefined),
    onBlur: () => set(undefined),
    onClick: () => point && open(point.row),
    onKeyDown: (event: KeyboardEvent) => {
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -points.length, End: points.length }[event.key];
      if (event.key === "Enter" && point) open(point.row);
      if (!move) return;
      event.preventDefault();
      const i = Math.min(points.length - 1, Math.max(0, (near?.i ?? (move > 0 ? -1 : points.length)) + move));
      const box = frame(event);
      set({ i, at: [box.left + points[i].x, box.top + points[i].y] });
    },
  };
  return { point, at: near?.at ?? [0, 0] as [number, number], handlers };
}

function Readout({ context, row, at, more }: { context: Context; row: number; at: [number, number]; more?: string }) {
  const { board, metric, m, state, level } = context;
  const { low, high } = board.columns[m];
  const value = rowValues(context, m)[row];
  return (
    <Tip at={at}>
      <b><bdi>{systemName(context, row)}</bdi></b><br />
      {metric.label} <b>{fixed(value, metric.digits)}</b>{!state.convention && <>, rank {placeOf(board, m, row, metric.direction)}</>}
      {!state.convention && !isNaN(low[row]) && <><br />{level}% interval {interval(low[row], high[row], 3)}</>}
      {more && <><br />{more}</>}
    </Tip>
  );
}

/** A name at a point, on the side where it fits. */
function Label({ x, y, width, text, strong = false }: { x: number; y: number; width: number; text: string; strong?: boolean }) {
  const left = x > width - 180;
  return <text class={strong ? "strong" : ""} x={left ? x - 6 : x + 6} y={y} text-anchor={left ? "end" : "start"}>{text}</text>;
}

/** All systems from the best on, each with its interval. */
export function Everyone({ context, order, reference, kept }: { context: Context; order: number[]; reference?: Reference; kept: Set<number> }) {
  const { board, metric, m, width, phone, go, state } = context;
  const values = rowValues(context, m);
  const { low, high } = state.convention ? { low: values, high: values } : board.columns[m];
  const all = order.filter((row) => !isNaN(values[row]));
  const [height, top] = [phone ? 160 : 176, 26];
  const [least, most] = extent(metric, values, low, high);
  const y = (value: number) => top + (height - top - BOTTOM) * (1 - (Math.min(most, Math.max(least, value)) - least) / (most - least || 1));
  const step = (width - LEFT - 4) / all.length;
  const x = (place: number) => LEFT + step * (place + 0.5);
  const points = all.map((row, i): Point => ({ row, x: x(i), y: y(values[row]), low: y(isNaN(low[row]) ? values[row] : low[row]), high: y(isNaN(high[row]) ? values[row] : high[row]) }));
  const { point, at, handlers } = usePoints(points, (row) => go({ view: "system", a: systemName(context, row), b: "" }));
  const groups = new Map<string, Point[]>();
  for (const one of points) {
    const kind = `${kindOf(one.row, reference)}${kept.has(one.row) ? "" : " faint"}`;
    groups.set(kind, [...(groups.get(kind) ?? []), one]);
  }
  const marked = points.find((one) => one.row === reference?.row) ?? points[0];
  const middle = points[Math.floor(points.length / 2)];
  const close = Math.ceil(80 / step);
  const place = points.indexOf(middle);
  const clear = Math.max(10, Math.min(...points.slice(Math.max(0, place - close), place + close).map((one) => one.high)) - 8);
  const places = ticksOf(1, all.length, phone ? 3 : 10).filter((tick) => tick > all.length * 0.06 && tick < all.length * 0.94);
  const r = Math.max(1.3, Math.min(3.2, step * 0.34));
  return (
    <Section class="overview" title={`${metric.label} of every system`} note={`Dots are means over queries${state.convention ? "" : `, lines their ${context.level}% intervals`}${metric.direction < 0 ? "; lower is better" : ""}.`}
      aside={reference && <Keys context={context} reference={reference} />}>
      <svg class="everyone" viewBox={`0 0 ${width} ${height}`} width="100%" tabIndex={0} role="application"
        aria-label={`${metric.label} of ${all.length} systems, best first. Arrow keys move, Enter opens the system. The table below has the same values.`} {...handlers}>
        <Across ticks={ticksOf(least, most, 4)} y={y} width={width} />
        {[...groups].map(([kind, group]) => (
          <g key={kind} class={`dot ${kind}`}>
            <path class="interval" stroke-width={Math.max(1.2, Math.min(4, step * 0.45))} d={group.map((one) => `M${one.x.toFixed(1)} ${one.low.toFixed(1)}V${one.high.toFixed(1)}`).join("")} />
            <path class="dots" d={group.map((one) => `M${(one.x - r).toFixed(2)} ${one.y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`).join("")} />
          </g>
        ))}
        {point && <line class="pointer" x1={point.x} x2={point.x} y1={top} y2={height - BOTTOM} />}
        {middle !== marked && <><line class="axis" x1={middle.x} x2={middle.x} y1={clear + 4} y2={middle.high - 2} /><text x={middle.x} y={clear} text-anchor="middle">median system {fixed(values[middle.row], 3)}</text></>}
        <line class="axis" x1={marked.x} x2={marked.x} y1={2} y2={marked.high - 2} />
        <Label x={marked.x} y={12} width={width} strong text={`${systemName(context, marked.row)} ${fixed(values[marked.row], 3)}`} />
        <text x={LEFT} y={height - 4}>rank 1</text>
        {places.map((tick) => <text key={tick} x={x(tick - 1)} y={height - 4} text-anchor="middle">{tick}</text>)}
        <text x={width} y={height - 4} text-anchor="end">{all.length}</text>
      </svg>
      {point && <Readout context={context} row={point.row} at={at} />}
    </Section>
  );
}

/** The values of the only system, query by query from the best on. */
export function EveryQuery({ context }: { context: Context }) {
  const { board, metric, m } = context;
  const values = queryValues(board.columns[m], 0, board.qids.length);
  const bars = ranked(values, metric.direction).filter((query) => !isNaN(values[query])).map((query) => ({ query, value: values[query] }));
  return bars.length ? (
    <QueryBars context={context} bars={bars} title={`${metric.label} of every query`} note="Best first. Click a bar to open its query." text={short}>
      {(i) => <>{metric.label} {fixed(bars[i].value, metric.digits)}</>}
    </QueryBars>
  ) : null;
}

/** Values by query as bars from 0, best first; `children` is what the readout says of a bar. */
export function QueryBars({ context, bars, title, note, aside, up = 1, text, pair = {}, children }: {
  context: Context; bars: { query: number; value: number }[]; title: string; note: string; aside?: ComponentChildren;
  /** -1: negative values point up. */
  up?: number;
  /** Numbers of the axis. */
  text: (value: number) => string;
  pair?: Partial<State>; children: (i: number) => ComponentChildren;
}) {
  const { go, board, report } = context;
  const [width, height] = [context.width - 44, 150];
  const [least, most] = span([0], bars.map(({ value }) => up * value));
  const step = width / bars.length;
  const gap = step > 3 ? step * 0.08 : 0;
  const y = (value: number) => 8 + ((height - 16) * (most - up * value)) / (most - least || 1);
  const points = bars.map(({ value }, row): Point => ({ row, x: step * (row + 0.5), y: y(value), low: 0, high: 0 }));
  const { point, at, handlers } = usePoints(points, (i) => go({ view: "queries", qid: board.qids[bars[i].query], ...pair }));
  const side = (sign: number) => points.map((one, i) => (sign * up * bars[i].value > 0 ? `M${(one.x - step / 2 + gap).toFixed(2)} ${y(0)}V${one.y.toFixed(2)}h${(step - 2 * gap).toFixed(2)}V${y(0)}Z` : "")).join("");
  return (
    <Section title={title} note={note} aside={aside}>
      <div class="bars">
        {[most, 0, least].filter((value, i) => i === 1 || Math.abs(value) > 0.1 * (most - least)).map((value) => <span key={value} aria-hidden="true" style={{ top: `${y(up * value)}px` }}>{text(up * value)}</span>)}
        <svg viewBox={`0 0 ${width} ${height}`} width="100%" height={height} preserveAspectRatio="none" tabIndex={0} role="application" {...handlers}
          aria-label={`${title}, ${plural(bars.length, "query", "queries")}, best first. Arrow keys move, Enter opens the query.`}>
          {point && <rect class="near" x={point.x - step / 2} y="0" width={step} height={height} />}
          <path class="a" d={side(1)} /><path class="b" d={side(-1)} /><path class="axis" d={`M0 ${y(0)}H${width}`} />
        </svg>
      </div>
      {point && <Tip at={at}><b>{queryTitle(context, bars[point.row].query)}</b>{report.texts && <> · <bdi>{board.qids[bars[point.row].query]}</bdi></>}<br />{children(point.row)}</Tip>}
    </Section>
  );
}

/** Numbers of the vertical axis, with lines across the picture. */
function Across({ ticks, y, width }: { ticks: number[]; y: (value: number) => number; width: number }) {
  return <>{ticks.map((tick) => <g key={tick}><line class="grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} /><text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">{tickText(tick, ticks[1] - ticks[0] || 1)}</text></g>)}</>;
}

/** The metric against a column where less is better, and the systems that none beats in both. */
export function Against({ context, axis, reference, kept }: { context: Context; axis: Axis; reference?: Reference; kept: Set<number> }) {
  const { report, board, metric, m, width, go } = context;
  const name = report.columns[axis.column];
  const values = rowValues(context, m);
  const rows = Array.from(board.systems.keys()).filter((row) => !isNaN(values[row] + axis.values[board.systems[row]]));
  const cost = (row: number) => axis.values[board.systems[row]];
  const costs = rows.map(cost);
  const logarithmic = Math.min(...costs) > 0 && Math.max(...costs) > 50 * Math.min(...costs);
  const [height, top] = [context.phone ? 260 : 320, 14];
  const to = (value: number) => (logarithmic ? Math.log10(value) : value);
  const pad = (low: number, high: number): [number, number] => [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)];
  const [left, right] = pad(logarithmic ? to(Math.min(...costs)) : Math.min(0, ...costs), to(Math.max(...costs)));
  const [least, most] = pad(Math.min(...rows.map((row) => values[row])), Math.max(...rows.map((row) => values[row])));
  const x = (value: number) => LEFT + 10 + ((width - LEFT - 20) * (to(value) - left)) / (right - left);
  const y = (value: number) => top + (height - top - BOTTOM - 20) * (1 - (value - least) / (most - least));
  const sign = metric.direction < 0 ? -1 : 1;
  const frontier = rows.filter((row) => !rows.some((one) => cost(one) <= cost(row) && sign * values[one] >= sign * values[row] && (cost(one) < cost(row) || values[one] !== values[row])))
    .sort((a, b) => cost(a) - cost(b) || a - b);
  const points = rows.sort((a, b) => cost(a) - cost(b)).map((row): Point => ({ row, x: x(cost(row)), y: y(values[row]), low: NaN, high: NaN }));
  const { point, at, handlers } = usePoints(points, (row) => go({ view: "system", a: systemName(context, row), b: "" }));
  const costTicks = logarithmic ? Array.from({ length: Math.floor(right) - Math.ceil(left) + 1 }, (_, i) => 10 ** (Math.ceil(left) + i)) : ticksOf(left, right, 6);
  const labels: number[] = [];
  for (const row of [...frontier].reverse())
    if (labels.every((one) => Math.abs(y(values[one]) - y(values[row])) > 15 || Math.abs(x(cost(one)) - x(cost(row))) > 170)) labels.push(row);
  const without = board.systems.length - rows.length;
  return (
    <Section class="overview" title={`${metric.label} against ${name}`}
      note={`No other system has ${sign < 0 ? "lower" : "higher"} ${metric.label} at less ${name} than ${frontier.length > 1 ? `the ${frontier.length} on the line` : systemName(context, frontier[0])}.${logarithmic ? " Logarithmic axis." : ""}${without ? ` ${without} without ${name} left out.` : ""}`}
      aside={reference && <Keys context={context} reference={reference} />}>
      <svg class="against" viewBox={`0 0 ${width} ${height}`} width="100%" tabIndex={0} role="application"
        aria-label={`${metric.label} against ${name} of ${rows.length} systems. Arrow keys move, Enter opens the system. The table below has the same values.`} {...handlers}>
        <Across ticks={ticksOf(least, most, 5)} y={y} width={width} />
        {costTicks.map((tick) => <g key={tick}><line class="grid" x1={x(tick)} x2={x(tick)} y1={top} y2={height - 40} /><text x={x(tick)} y={height - 24} text-anchor="middle">{tick.toLocaleString("en")}</text></g>)}
        <text x={width} y={height - 5} text-anchor="end">{name} →</text>
        <path class="frontier" d={frontier.map((row, i) => `${i ? `H${x(cost(row)).toFixed(1)}V` : `M${x(cost(row)).toFixed(1)} `}${y(values[row]).toFixed(1)}`).join("")} />
        {points.map((one) => <circle key={one.row} class={`dot ${kindOf(one.row, reference)}${kept.has(one.row) ? "" : " faint"}`} cx={one.x} cy={one.y} r={one === point ? 7 : 5} />)}
        {labels.map((row) => <Label key={row} x={x(cost(row)) + 3} y={y(values[row]) - 9} width={width} strong text={systemName(context, row)} />)}
      </svg>
      {point && <Readout context={context} row={point.row} at={at} more={`${name} ${cost(point.row).toLocaleString("en")}`} />}
    </Section>
  );
}
