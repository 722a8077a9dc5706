/** Two systems: their difference, as Python tested it, by metric, query and group. */

import { useMemo, useState } from "preact/hooks";
import type { Context } from "./view";
import type { Board, Metric, Sentence, Tests } from "./data";
import { queryValues, relation } from "./data";
import { usePart } from "./load";
import { usePoints } from "./picture";
import { Dot, Dumbbell, Line, Zero, scale, span } from "./marks";
import { allRows, queryTitle, rowOf, systemName } from "./view";
import { Key, Lede, Link, MetricName, Section, Select, Tip, Value, fixed, plural, probability, signed } from "./text";

const SHOWN = 15;

export function Pair({ context }: { context: Context }) {
  const { go, board, state } = context;
  const names = allRows(context).map((row) => systemName(context, row));
  if (names.length < 2) return <p class="empty">This dataset has one system, so there is nothing to compare.</p>;
  const a = names.includes(state.a) ? state.a : names.find((name) => name !== state.b)!;
  const b = names.includes(state.b) && state.b !== a ? state.b : names.find((name) => name !== a)!;
  const options = [...names].sort((x, y) => x.localeCompare(y, "en", { numeric: true })).map((name): [string, string] => [name, name]);
  return <Two key={`${a}/${b}`} context={context} a={rowOf(context, a)} b={rowOf(context, b)} controls={
    <div class="controls pair">
      <span class="mark a" /><Select label="System" hidden value={a} options={options} onChange={(value) => go({ a: value, b: value === b ? a : b })} />
      <button type="button" title="Swap the two systems" onClick={() => go({ a: b, b: a })}><span aria-hidden="true">⇄</span><span class="hidden">Swap</span></button>
      <span class="mark b" /><Select label="compared with" hidden value={b} options={options} onChange={(value) => go({ a: value === a ? b : a, b: value })} />
      {context.choice}
      {[state.a, state.b].filter((name) => name && !names.includes(name)).map((name) => <p key={name} class="notice" role="status">{`${board.dataset} has no system called “${name}”.`}</p>)}
    </div>
  } />;
}

interface Query { query: number; first: number; second: number; value: number }

interface Test { difference: number; low: number; high: number; p: number; adjusted: number }

/** Two systems in one metric: what the files say, and what is counted from them. */
interface Duel {
  first: number;
  second: number;
  difference: number;
  test?: Test;
  /** A letter of `relation`. */
  verdict: string;
  queries: Query[];
  won: number;
  lost: number;
}

function duel(board: Board, tests: Tests | undefined | null, metric: Metric, m: number, a: number, b: number): Duel {
  const column = board.columns[m];
  const n = board.qids.length;
  const [one, two] = [queryValues(column, a, n), queryValues(column, b, n)];
  const queries = board.qids.map((_, query) => ({ query, first: one[query], second: two[query], value: one[query] - two[query] })).filter((each) => !isNaN(each.value));
  const better = metric.direction < 0 ? -1 : 1;
  const test = tests ? tested(tests, m, board.systems[a], board.systems[b]) : undefined;
  return {
    first: column.value[a], second: column.value[b], queries, test,
    difference: test ? test.difference : column.value[a] - column.value[b],
    verdict: relation(board, m, a, b),
    won: queries.filter((each) => each.value * better > 0).length,
    lost: queries.filter((each) => each.value * better < 0).length,
  };
}

function tested(all: Tests, m: number, a: number, b: number): Test | undefined {
  const find = (run: number, baseline: number) => all.run.findIndex((one, i) => one === run && all.baseline[i] === baseline && all.metric[i] === m);
  const [same, swapped] = [find(a, b), find(b, a)];
  const i = same >= 0 ? same : swapped;
  if (i < 0) return undefined;
  const [difference, low, high] = [all.difference[i], all.low[i], all.high[i]];
  return { ...(same >= 0 ? { difference, low, high } : { difference: -difference, low: -high, high: -low }), p: all.p[i], adjusted: all.adjusted[i] };
}

function Two({ context, a, b, controls }: { context: Context; a: number; b: number; controls: preact.ComponentChildren }) {
  const { report, board, m, metric } = context;
  const tests = usePart(board.tests);
  const duels = useMemo(
    () => new Map(context.choices.map((i) => [i, duel(board, tests, report.metrics[i], i, a, b)])),
    [board, tests, a, b, context.choices.join()],
  );
  const chosen = duels.get(m)!;
  const names = [systemName(context, a), systemName(context, b)];
  const sign = metric.direction < 0 ? -1 : 1;
  const sorted = useMemo(() => [...chosen.queries].sort((x, y) => sign * (y.value - x.value)), [chosen]);
  const slices = report.boards.filter((one) => one.whole === board.whole);
  return (
    <article class="compare">
      {controls}
      <Lede context={context} sentence={sentence(context, chosen, a, b)} />
      {tests === null && <p class="notice">Intervals and p need the file <code>{String(board.tests)}</code> next to the page.</p>}
      {chosen.won + chosen.lost > 0 && <Waterfall context={context} sorted={sorted} a={names[0]} b={names[1]} won={chosen.won} lost={chosen.lost} />}
      <Metrics context={context} duels={duels} a={a} b={b} />
      {chosen.won + chosen.lost > 0 && <Queries context={context} sorted={sorted} a={names[0]} b={names[1]} />}
      {slices.length > 1 && <Groups context={context} slices={slices} names={names} />}
      {board.testing && <p class="notes">{`The test is a ${board.testing.test} over ${plural(chosen.queries.length, "query", "queries")}. Corrected p-values use ${board.testing.correction} over ${board.columns[m].family.toLocaleString("en")} tests: they say whether the difference would still stand out among so many comparisons.`}</p>}
    </article>
  );
}

/** The sentence that opens the view. */
function sentence({ board, metric, level, m }: Context, { difference, first, second, test, verdict, queries, won, lost }: Duel, a: number, b: number): Sentence {
  const [one, two] = [{ system: board.systems[a] }, { system: board.systems[b] }];
  const [n, digits] = [plural(queries.length, "query", "queries"), Math.min(3, metric.digits)];
  const { label, direction } = metric;
  if (isNaN(first) || isNaN(second)) return [isNaN(first) ? one : two, ` has no value of ${label}, so there is nothing to compare.`];
  if (queries.length && won + lost === 0) return [one, " and ", two, ` have the same ${label} on ${queries.length === 1 ? "the only query" : `all ${n}`}.`];
  if (difference === 0) return [one, " and ", two, ` have the same ${label}, `, { bold: fixed(first, digits) }, `; the first wins ${won} of ${n} and loses ${lost}.`];
  const ahead = difference * (direction || 1) > 0;
  const [low, high] = test ? (difference < 0 ? [-test.high, -test.low] : [test.low, test.high]) : [NaN, NaN];
  const interval = isNaN(low + high) ? "" : ` (${level}% interval ${signed(low, digits)} to ${signed(high, digits)})`;
  const wins = queries.length > 1 ? `, winning ${ahead ? won : lost} of ${n} and losing ${ahead ? lost : won}` : "";
  const size = { bold: fixed(Math.abs(difference), digits) };
  if (!direction) return [ahead ? one : two, ` has a ${label} that is `, size, ` higher${interval}. Neither high nor low is better.`];
  const opening: Sentence = [ahead ? one : two, " is ahead by ", size, ` in ${label}${direction < 0 ? ", where lower is better" : ""}${interval}${wins}.`];
  const corrected = test && !isNaN(test.adjusted) ? ` (corrected p ${probability(test.adjusted)})` : "";
  if ("+-".includes(verdict)) return [...opening, " The difference is ", { bold: "significant" }, `${corrected}.`];
  if ("~=".includes(verdict)) return [...opening, " The difference is ", { bold: "not significant" }, `${corrected}: chance in the choice of queries could produce it.`];
  const isTested = board.columns[m].family > 0;
  return [...opening, isTested ? " The tests compare systems with the baseline only, so this difference was not tested." : ` Differences in ${label} were not tested.`];
}

const LEFT = 44;
const HEIGHT = 150;

/** Differences of all queries, largest first, as one picture of bars. */
function Waterfall({ context, sorted, a, b, won, lost }: { context: Context; sorted: Query[]; a: string; b: string; won: number; lost: number }) {
  const { go, board, metric, width } = context;
  const sign = metric.direction < 0 ? -1 : 1;
  const [most, least] = [Math.max(0, sign * sorted[0].value), Math.min(0, sign * sorted[sorted.length - 1].value)];
  const step = (width - LEFT) / sorted.length;
  const gap = step > 3 ? step * 0.08 : 0;
  const y = (value: number) => 8 + ((HEIGHT - 16) * (most - sign * value)) / (most - least);
  const points = sorted.map((one, i) => ({ row: i, x: LEFT + step * (i + 0.5), y: y(one.value), low: 0, high: 0 }));
  const { point, at, handlers } = usePoints(points, (i) => go({ view: "queries", qid: board.qids[sorted[i].query], a, b }));
  const bars = (side: number) => points.map((one, i) => (side * sign * sorted[i].value > 0 ? `M${(one.x - step / 2 + gap).toFixed(2)} ${y(0)}V${one.y.toFixed(2)}h${(step - 2 * gap).toFixed(2)}V${y(0)}Z` : "")).join("");
  const near = point && sorted[point.row];
  return (
    <Section title="Difference on every query" note={`${metric.label}, largest first. Click a bar to see both rankings.`}
      aside={<><Key kind="a">{`${won.toLocaleString("en")} won by `}<bdi>{a}</bdi></Key><Key kind="b">{`${lost.toLocaleString("en")} by `}<bdi>{b}</bdi></Key></>}>
      <svg class="waterfall" viewBox={`0 0 ${width} ${HEIGHT}`} width="100%" tabIndex={0} role="application" {...handlers}
        aria-label={`Differences of ${plural(sorted.length, "query", "queries")}, largest first. Arrow keys move, Enter opens the query. The table below has the values.`}>
        {[most, 0, least].filter((value, i) => i === 1 || Math.abs(value) > 0.1 * (most - least)).map((value) => <text key={value} x={LEFT - 8} y={y(sign * value) + 4} text-anchor="end">{signed(sign * value, value ? 2 : 0)}</text>)}
        {point && <rect class="near" x={point.x - step / 2} y="0" width={step} height={HEIGHT} />}
        <path class="a" d={bars(1)} /><path class="b" d={bars(-1)} /><path class="axis" d={`M${LEFT} ${y(0)}H${width}`} />
      </svg>
      {near && <Tip at={at}>
        <b><bdi>{board.qids[near.query]}</bdi></b> {context.report.texts && queryTitle(context, near.query)}<br />
        <bdi>{a}</bdi> {fixed(near.first, metric.digits)}<br /><bdi>{b}</bdi> {fixed(near.second, metric.digits)}<br />difference {signed(near.value, metric.digits)}
      </Tip>}
    </Section>
  );
}

/** A row's difference as picture: system a is better on the left. */
function Difference({ context, metric, duel, most }: { context: Context; metric: Metric; duel: Duel; most: number }) {
  const { difference, test } = duel;
  const [low, high] = test ? [test.low, test.high] : [NaN, NaN];
  const at = scale(-most, most, metric.direction >= 0);
  const kind = !"+-".includes(duel.verdict) ? "none" : duel.verdict === "+" ? "a" : "b";
  const words = isNaN(low + high) ? signed(difference, metric.digits) : `${context.level}% interval ${signed(low, metric.digits)} to ${signed(high, metric.digits)}`;
  return <Line label={words}><Zero at={at} />{metric.direction !== 0 && <Dot at={at} value={difference} low={low} high={high} kind={kind} />}</Line>;
}

function reach({ difference, test }: Duel): number {
  return Math.max(1e-12, ...[difference, test?.low ?? NaN, test?.high ?? NaN].filter((value) => !isNaN(value)).map(Math.abs));
}

function Head({ context, first, a, b }: { context: Context; first: string; a: string; b: string }) {
  return (
    <thead><tr>
      <th scope="col">{first}</th>
      <th scope="col" class="wide number"><i class="mark a" /><bdi>{a}</bdi></th><th scope="col" class="wide number"><i class="mark b" /><bdi>{b}</bdi></th>
      <th scope="col" class="number">Difference</th>
      <th scope="col" class="picture"><span class="ends"><span>← <i class="mark a" /><span class="wide"> better</span></span><span><span class="wide">better </span><i class="mark b" /> →</span></span></th>
      <th scope="col" class="wide number">{context.level}% interval</th><th scope="col" class="wide number">Corrected p</th><th scope="col" class="verdict">Significant</th>
      <th scope="col" class="wide number">Won / tied / lost</th>
    </tr></thead>
  );
}

/** The cells of a row after its heading. */
function Cells({ context, metric, duel, most }: { context: Context; metric: Metric; duel: Duel; most: number }) {
  const { first, second, difference, test, verdict, queries, won, lost } = duel;
  const better = metric.direction * difference;
  const words = { "+": <b class="a">yes</b>, "-": <b class="b">yes</b>, "~": "no", "=": "no" }[verdict] ?? (metric.direction ? <span class="muted">not tested</span> : "–");
  return (
    <>
      <td class={`wide number${better > 0 ? " best" : ""}`}><Value value={first} digits={metric.digits} /></td>
      <td class={`wide number${better < 0 ? " best" : ""}`}><Value value={second} digits={metric.digits} /></td>
      <td class="number"><Value value={difference} digits={metric.digits} sign /></td>
      <td class="picture"><Difference context={context} metric={metric} duel={duel} most={most} /></td>
      <td class="wide number">{test && !isNaN(test.low + test.high) ? `${signed(test.low, 3)} to ${signed(test.high, 3)}` : "–"}</td>
      <td class="wide number">{test ? <span title={`corrected ${test.adjusted}, uncorrected ${test.p}`}>{probability(test.adjusted)}</span> : "–"}</td>
      <td class="verdict">{words}</td>
      <td class="wide number">{queries.length ? `${won} / ${queries.length - won - lost} / ${lost}` : "–"}</td>
    </>
  );
}

function Metrics({ context, duels, a, b }: { context: Context; duels: Map<number, Duel>; a: number; b: number }) {
  const { report, m } = context;
  const bounded = (metric: Metric) => metric.high - metric.low <= 1;
  const shared = Math.max(...[...duels].filter(([i]) => bounded(report.metrics[i]) && report.metrics[i].direction).map(([, one]) => reach(one)), 1e-12);
  return (
    <Section title="Every metric" note="Difference with its interval; grey if it is not significant or not tested.">
      <div class="scroll" tabIndex={0} role="region" aria-label="Differences by metric">
        <table>
          <Head context={context} first="Metric" a={systemName(context, a)} b={systemName(context, b)} />
          <tbody>
            {[...duels].map(([i, one]) => {
              const metric = report.metrics[i];
              return (
                <tr key={metric.name} class={i === m ? "chosen" : ""}>
                  <th scope="row" title={metric.explanation}><Link context={context} to={{ metric: metric.name }}><MetricName metric={metric} /></Link></th>
                  <Cells context={context} metric={metric} duel={one} most={bounded(metric) ? shared : reach(one)} />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Groups({ context, slices, names }: { context: Context; slices: Board[]; names: string[] }) {
  const rows = slices.map((board) => ({ board, rows: names.map((name) => rowOf({ ...context, board }, name)) })).filter((one) => one.rows.every((row) => row >= 0));
  return (
    <Section title={`${context.metric.label} by group of queries`}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Differences by group">
        <table>
          <Head context={context} first="Queries" a={names[0]} b={names[1]} />
          <tbody>{rows.map(({ board, rows: [a, b] }) => <Group key={board.dataset} context={context} board={board} a={a} b={b} />)}</tbody>
        </table>
      </div>
    </Section>
  );
}

/** Its tests may be in a side file of its own. */
function Group({ context, board, a, b }: { context: Context; board: Board; a: number; b: number }) {
  const { metric, m } = context;
  const tests = usePart(board.tests);
  const one = useMemo(() => duel(board, tests, metric, m, a, b), [board, tests, m, a, b]);
  return (
    <tr>
      <th scope="row"><Link context={context} to={{ dataset: board.dataset }}><bdi>{board.groupLabel}</bdi></Link> <span class="muted">({board.qids.length.toLocaleString("en")})</span></th>
      <Cells context={context} metric={metric} duel={one} most={reach(one)} />
    </tr>
  );
}

/** The values of both systems for each query, from the largest difference at both ends. */
function Queries({ context, sorted, a, b }: { context: Context; sorted: Query[]; a: string; b: string }) {
  const { board, metric } = context;
  const [shown, setShown] = useState(SHOWN);
  const sign = metric.direction < 0 ? -1 : 1;
  const [least, most] = metric.high - metric.low <= 1 ? [metric.low, metric.high] : span(sorted.map((one) => one.first), sorted.map((one) => one.second));
  const at = scale(least, most);
  const half = Math.ceil(sorted.length / 2);
  const digits = Math.min(3, metric.digits);
  const list = (part: Query[]) => part.length > 0 && (
    <table>
      <thead><tr><th scope="col" class="number">Query</th><th scope="col"><span class="hidden">Title</span></th><th scope="col" class="number">Difference</th><th scope="col" class="picture"><span class="ends"><span>{fixed(least, 1)}</span><span class="wide">{metric.label}</span><span>{fixed(most, 1)}</span></span></th></tr></thead>
      <tbody>
        {part.slice(0, shown).map((one) => (
          <tr key={one.query}>
            <td class="number muted"><bdi>{board.qids[one.query]}</bdi></td>
            <th scope="row" class="name"><Link context={context} to={{ view: "queries", qid: board.qids[one.query], a, b }}><bdi>{queryTitle(context, one.query)}</bdi></Link></th>
            <td class="number"><Value value={one.value} digits={digits} sign /></td>
            <td class="picture"><Line label={`${fixed(one.first, digits)} and ${fixed(one.second, digits)}`}><Dumbbell at={at} a={one.first} b={one.second} better={sign * one.value > 0 ? "a" : sign * one.value < 0 ? "b" : "none"} /></Line></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <Section title="Every query" note="Largest differences first. A query leads to both rankings." aside={<><Key kind="a"><bdi>{a}</bdi></Key><Key kind="b"><bdi>{b}</bdi></Key></>}>
      <div class="two">{list(sorted.slice(0, half))}{list(sorted.slice(half).reverse())}</div>
      {half > shown && <button type="button" class="more" onClick={() => setShown(shown + 4 * SHOWN)}>{`Show more of ${sorted.length.toLocaleString("en")} queries`}</button>}
    </Section>
  );
}
