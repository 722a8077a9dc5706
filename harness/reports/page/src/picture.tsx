/** Pictures of all systems: their intervals in order of rank, and quality against a cost. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Context } from "./view";
import type { Attribute } from "./data";
import { queryValues, ranked } from "./data";
import type { Reference } from "./leaderboard";
import { Keys, kindOf } from "./leaderboard";
import { extent, powersOf, span, tickText, ticksOf } from "./marks";
import type { State } from "./state";
import { queryTitle, rowValues, systemName } from "./view";
import { Section, Tip, fixed, interval, plural } from "./text";

const LEFT = 34;
const BOTTOM = 20;

/** The `n` places of a picture that the pointer and the arrow keys reach. */
interface Places {
  n: number;
  /** How far the arrows up and down go. */
  row: number;
  nearest: (x: number, y: number) => number;
  place: (i: number) => [number, number];
  open: (i: number) => void;
}

/** The place that the pointer or the keys are at, and where it is on the screen. */
export function usePointer({ n, row, nearest, place, open }: Places) {
  const [now, set] = useState<{ i: number; at: [number, number] }>();
  const near = now && now.i < n ? now : undefined;
  const frame = (event: Event) => (event.currentTarget as Element).getBoundingClientRect();
  const handlers = {
    onMouseMove: (event: MouseEvent) => {
      const box = frame(event);
      set({ i: nearest(event.clientX - box.left, event.clientY - box.top), at: [event.clientX, event.clientY] });
    },
    onMouseLeave: () => set(undefined),
    onBlur: () => set(undefined),
    onClick: () => near && open(near.i),
    onKeyDown: (event: KeyboardEvent) => {
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, Home: -1, End: 1 }[event.key];
      if (event.key === "Enter" && near) open(near.i);
      if (!move) return;
      event.preventDefault();
      const to = { Home: 0, End: n - 1 }[event.key] ?? (near ? near.i + move : 0);
      const i = to >= 0 && to < n ? to : near!.i;
      const [box, [x, y]] = [frame(event), place(i)];
      set({ i, at: [box.left + x, box.top + y] });
    },
  };
  return { near: near?.i, at: near?.at ?? ([0, 0] as [number, number]), handlers };
}

interface Point {
  row: number;
  x: number;
  y: number;
}

/** The same for points: the nearest in both directions, or only in that across. */
export function usePoints(points: Point[], open: (row: number) => void, flat = true) {
  const distance = (p: Point, x: number, y: number) => (p.x - x) ** 2 + (flat ? 0 : (p.y - y) ** 2);
  const { near, ...rest } = usePointer({
    n: points.length, row: 10, open: (i) => open(points[i].row), place: (i) => [points[i].x, points[i].y],
    nearest: (x, y) => points.reduce((best, one, i) => (distance(one, x, y) < distance(points[best], x, y) ? i : best), 0),
  });
  return { point: near === undefined ? undefined : points[near], ...rest };
}

/** A name at a point, on the side where it fits. */
function Label({ x, y, width, text }: { x: number; y: number; width: number; text: string }) {
  const left = x > width - 180;
  return <text class="strong" x={left ? x - 6 : x + 6} y={y} text-anchor={left ? "end" : "start"}>{text}</text>;
}

/** A picture of systems as points: the metric's axis, and a readout of the point that is near. */
function Plot({ context, name, label, title, note, height, points, y, ticks, reference, more, children }: {
  context: Context; name: string; label: string; title: string; note: string; height: number; points: Point[];
  y: (value: number) => number; ticks: number[]; reference?: Reference; more?: (row: number) => string; children: ComponentChildren;
}) {
  const { report: { level }, board, metric, m, convention, width, go } = context;
  const { low, high } = board.columns[m];
  const { point, at, handlers } = usePoints(points, (row) => go({ view: "system", a: systemName(context, row), b: "" }), name === "everyone");
  return (
    <Section class="overview" title={title} note={note} aside={reference && <Keys context={context} reference={reference} />}>
      <svg class={name} viewBox={`0 0 ${width} ${height}`} width="100%" tabIndex={0} role="application" {...handlers}
        aria-label={`${label}. Arrow keys move, Enter opens the system. The table below has the same values.`}>
        {ticks.map((tick) => <g key={tick}><line class="grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} /><text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">{tickText(tick, ticks)}</text></g>)}
        {children}
        {point && <circle class="ring" cx={point.x} cy={point.y} r="7" />}
      </svg>
      {point && <Tip at={at}>
        <b><bdi>{systemName(context, point.row)}</bdi></b><br />
        {metric.label} <b>{fixed(rowValues(context, m)[point.row], metric.digits)}</b>{!convention && `, rank ${fixed(board.columns[m].rank[point.row], 0)}`}
        {!convention && !isNaN(low[point.row]) && <><br />{level}% interval {interval(low[point.row], high[point.row], 3)}</>}
        {more && <><br />{more(point.row)}</>}
      </Tip>}
    </Section>
  );
}

/** All systems from the best on, each with its interval. */
export function Everyone({ context, order, reference, kept }: { context: Context; order: number[]; reference?: Reference; kept: Set<number> }) {
  const { board, metric, m, width, phone, convention } = context;
  const values = rowValues(context, m);
  const { low, high } = convention ? { low: values, high: values } : board.columns[m];
  const all = order.filter((row) => !isNaN(values[row]));
  const [height, top] = [phone ? 160 : 176, 26];
  const ends = extent(metric, values, low, high);
  const y = (value: number) => top + (height - top - BOTTOM) * (1 - (Math.min(ends[1], Math.max(ends[0], value)) - ends[0]) / (ends[1] - ends[0]));
  const step = (width - LEFT - 4) / all.length;
  const x = (place: number) => LEFT + step * (place + 0.5);
  const end = (ends: ArrayLike<number>, row: number) => y(isNaN(ends[row]) ? values[row] : ends[row]);
  const points = all.map((row, i) => ({ row, x: x(i), y: y(values[row]), low: end(low, row), high: end(high, row) }));
  const groups = new Map<string, typeof points>();
  for (const one of points) {
    const kind = `${kindOf(one.row, reference)}${kept.has(one.row) ? "" : " faint"}`;
    groups.set(kind, [...(groups.get(kind) ?? []), one]);
  }
  const marked = points.find((one) => one.row === reference?.row) ?? points[0];
  const half = Math.floor(points.length / 2);
  const middle = points[half];
  const close = Math.ceil(80 / step);
  const clear = Math.max(10, Math.min(...points.slice(Math.max(0, half - close), half + close).map((one) => one.high)) - 8);
  const r = Math.max(1.3, Math.min(3.2, step * 0.34));
  return (
    <Plot context={context} name="everyone" label={`${metric.label} of ${all.length} systems, best first`} title={`${metric.label} of every system`}
      note={`Dots are means over queries${convention ? "" : `, lines their ${context.report.level}% intervals`}${metric.direction < 0 ? "; lower is better" : ""}.`}
      height={height} points={points} y={y} ticks={ticksOf(ends, 5)} reference={reference}>
      {[...groups].map(([kind, group]) => (
        <g key={kind} class={`dot ${kind}`}>
          <path class="interval" stroke-width={Math.max(1.2, Math.min(4, step * 0.45))} d={group.map((one) => `M${one.x.toFixed(1)} ${one.low.toFixed(1)}V${one.high.toFixed(1)}`).join("")} />
          <path class="dots" d={group.map((one) => `M${(one.x - r).toFixed(2)} ${one.y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`).join("")} />
        </g>
      ))}
      {middle !== marked && <><line class="axis" x1={middle.x} x2={middle.x} y1={clear + 4} y2={middle.high - 2} /><text x={middle.x} y={clear} text-anchor="middle">median of the means {fixed(values[middle.row], 3)}</text></>}
      <line class="axis" x1={marked.x} x2={marked.x} y1={2} y2={marked.high - 2} />
      <Label x={marked.x} y={12} width={width} text={`${systemName(context, marked.row)} ${fixed(values[marked.row], 3)}`} />
      <text x={LEFT} y={height - 4}>rank 1</text>
      {ticksOf([1, all.length], phone ? 4 : 10).filter((tick) => tick > all.length * 0.06 && tick < all.length * 0.94).map((tick) => <text key={tick} x={x(tick - 1)} y={height - 4} text-anchor="middle">{tick}</text>)}
      <text x={width} y={height - 4} text-anchor="end">{all.length}</text>
    </Plot>
  );
}

/** The metric against a column where less is better, and the systems that none beats in both. */
export function Against({ context, axis, reference, kept }: { context: Context; axis: Attribute; reference?: Reference; kept: Set<number> }) {
  const { board, metric, m, width, phone } = context;
  const values = rowValues(context, m);
  const { name } = axis;
  const cost = (row: number) => axis.numbers![board.systems[row]];
  const rows = Array.from(board.systems.keys()).filter((row) => !isNaN(values[row] + cost(row))).sort((a, b) => cost(a) - cost(b) || a - b);
  const [cheapest, dearest] = span(rows.map(cost));
  const logarithmic = cheapest > 0 && dearest > 50 * cheapest;
  const to = (value: number) => (logarithmic ? Math.log10(value) : value);
  const pad = ([low, high]: number[]) => [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)];
  const across = pad(logarithmic ? [to(cheapest), to(dearest)] : [Math.min(0, cheapest), dearest]);
  const up = pad(span(rows.map((row) => values[row])));
  const [height, top] = [phone ? 260 : 320, 14];
  const place = (value: number) => LEFT + 10 + ((width - LEFT - 20) * (to(value) - across[0])) / (across[1] - across[0]);
  const x = (row: number) => place(cost(row));
  const y = (value: number) => top + (height - top - BOTTOM - 20) * (1 - (value - up[0]) / (up[1] - up[0]));
  const sign = metric.direction < 0 ? -1 : 1;
  const frontier = rows.filter((row) => !rows.some((one) => cost(one) <= cost(row) && sign * values[one] >= sign * values[row] && (cost(one) < cost(row) || values[one] !== values[row])));
  const points = rows.map((row) => ({ row, x: x(row), y: y(values[row]) }));
  const ticks = logarithmic ? powersOf(across) : ticksOf(across, phone ? 4 : 6);
  const labels: number[] = [];
  for (const row of [...frontier].reverse())
    if (labels.every((one) => Math.abs(y(values[one]) - y(values[row])) > 15 || Math.abs(x(one) - x(row)) > 170)) labels.push(row);
  const without = board.systems.length - rows.length;
  return (
    <Plot context={context} name="against" label={`${metric.label} against ${name} of ${rows.length} systems`} title={`${metric.label} against ${name}`}
      note={`No other system has ${sign < 0 ? "lower" : "higher"} ${metric.label} with lower ${name} than ${frontier.length > 1 ? `the ${frontier.length} on the line` : systemName(context, frontier[0])}.${logarithmic ? " Logarithmic axis." : ""}${without ? ` ${without} without ${name} left out.` : ""}`}
      height={height} points={points} y={y} ticks={ticksOf(up)} reference={reference} more={(row) => `${name} ${cost(row).toLocaleString("en")}`}>
      {ticks.map((tick) => <g key={tick}><line class="grid" x1={place(tick)} x2={place(tick)} y1={top} y2={height - 40} /><text x={place(tick)} y={height - 24} text-anchor="middle">{tick.toLocaleString("en", { notation: tick < 1e5 ? "standard" : "compact" })}</text></g>)}
      <text x={width} y={height - 5} text-anchor="end">{name} →</text>
      <path class="frontier" d={frontier.map((row, i) => `${i ? `H${x(row).toFixed(1)}V` : `M${x(row).toFixed(1)} `}${y(values[row]).toFixed(1)}`).join("")} />
      {points.map((one) => <circle key={one.row} class={`dot ${kindOf(one.row, reference)}${kept.has(one.row) ? "" : " faint"}`} cx={one.x} cy={one.y} r="5" />)}
      {labels.map((row) => <Label key={row} x={x(row) + 3} y={y(values[row]) - 9} width={width} text={systemName(context, row)} />)}
    </Plot>
  );
}

/** The values of the only system, query by query from the best on. */
export function EveryQuery({ context }: { context: Context }) {
  const { board, metric, m } = context;
  const values = queryValues(board.columns[m], 0, board.qids.length);
  const bars = ranked(values, metric.direction).filter((query) => !isNaN(values[query])).map((query) => ({ query, value: values[query] }));
  return bars.length ? (
    <QueryBars context={context} bars={bars} title={`${metric.label} of every query`} note="Best first. Click a bar to open its query.">
      {(i) => <>{metric.label} {fixed(bars[i].value, metric.digits)}</>}
    </QueryBars>
  ) : null;
}

/** Values by query as bars from 0, best first; `children` is what the readout says of a bar. */
export function QueryBars({ context, bars, title, note, aside, up = 1, pair = {}, children }: {
  context: Context; bars: { query: number; value: number }[]; title: string; note: string; aside?: ComponentChildren;
  /** -1: negative values point up. */
  up?: number;
  pair?: Partial<State>; children: (i: number) => ComponentChildren;
}) {
  const { go, board, report } = context;
  const [width, height] = [context.width - 44, 150];
  const [least, most] = span([0], bars.map(({ value }) => up * value));
  const ticks = ticksOf([least, most], 5);
  const step = width / bars.length;
  const gap = step > 3 ? step * 0.08 : 0;
  const y = (value: number) => 8 + ((height - 16) * (most - up * value)) / (most - least || 1);
  const points = bars.map(({ value }, row): Point => ({ row, x: step * (row + 0.5), y: y(value) }));
  const { point, at, handlers } = usePoints(points, (i) => go({ view: "queries", qid: board.qids[bars[i].query], ...pair }));
  const side = (sign: number) => points.map((one, i) => (sign * up * bars[i].value > 0 ? `M${(one.x - step / 2 + gap).toFixed(2)} ${y(0)}V${one.y.toFixed(2)}h${(step - 2 * gap).toFixed(2)}V${y(0)}Z` : "")).join("");
  return (
    <Section title={title} note={note} aside={aside}>
      <div class="bars">
        {ticks.map((tick) => <span key={tick} aria-hidden="true" style={{ top: `${y(up * tick)}px` }}>{tickText(up * tick, ticks)}</span>)}
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
