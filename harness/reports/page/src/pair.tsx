/** Two systems: their difference, as Python tested it, and every query's difference. */

import type { Context } from "./view";
import { orderedRows, rowOf, rowValues, systemName } from "./view";
import type { Tests } from "./data";
import { queryValues } from "./data";
import { Load } from "./load";
import { MetricName, Panel, Select, Value, fixed, probability, signed } from "./text";
import { useState } from "preact/hooks";

export function Pair({ context }: { context: Context }) {
  const { go, board, metric, state } = context;
  const order = orderedRows({ ...context, state: { ...state, filter: "", where: {} } });
  const names = order.map((row) => systemName(context, row));
  const a = names.includes(state.a) ? state.a : (names[0] ?? "");
  const b = names.includes(state.b) && state.b !== a ? state.b : (names.find((name) => name !== a) ?? "");
  if (!a || !b) return <p class="empty">This dataset has one system, so there is nothing to compare.</p>;
  const options = [...names].sort((x, y) => x.localeCompare(y, "en", { numeric: true })).map((name): [string, string] => [name, name]);
  return (
    <>
      <div class="controls">
        {context.choice}
        <Select label="System" value={a} options={options} onChange={(value) => go({ a: value, b })} />
        <Select label="compared with" value={b} options={options} onChange={(value) => go({ a, b: value })} />
        <button type="button" onClick={() => go({ a: b, b: a })}>Swap</button>
      </div>
      <Panel title={`${a} against ${b}`} aside={<span class="muted">{board.dataset}</span>}>
        <Load part={board.tests}>{(tests) => <Summary context={context} tests={tests} a={a} b={b} />}</Load>
      </Panel>
      <Panel title="Difference by query" aside={<span class="muted"><MetricName metric={metric} />, sorted; click a bar to see the query</span>}>
        <Differences context={context} a={a} b={b} />
      </Panel>
    </>
  );
}

/** Differences of a from b, one per selected query that both have a value for. */
function differences(context: Context, m: number, a: number, b: number): { query: number; value: number }[] {
  const column = context.board.columns[m];
  const n = context.board.qids.length;
  const [first, second] = [queryValues(column, a, n), queryValues(column, b, n)];
  return Array.from(context.board.qids.keys())
    .map((query) => ({ query, value: first[query] - second[query] }))
    .filter((one) => !isNaN(one.value));
}

interface Test {
  difference: number;
  low: number;
  high: number;
  p: number;
  adjusted: number;
  significant: boolean;
}

/** The test of a against b, if the results hold one. */
function tested({ board }: Context, all: Tests, m: number, a: number, b: number): Test | undefined {
  const find = (run: number, baseline: number) =>
    all.run.findIndex((one, i) => one === run && all.baseline[i] === baseline && all.metric[i] === m);
  const [one, two] = [board.systems[a], board.systems[b]];
  const [same, swapped] = [find(one, two), find(two, one)];
  const i = same >= 0 ? same : swapped;
  if (i < 0) return undefined;
  const [difference, low, high] = [all.difference[i], all.low[i], all.high[i]];
  return {
    ...(same >= 0 ? { difference, low, high } : { difference: -difference, low: -high, high: -low }),
    p: all.p[i], adjusted: all.adjusted[i], significant: all.significant[i] === 1,
  };
}

function Summary({ context, tests, a, b }: { context: Context; tests: Tests; a: string; b: string }) {
  const { report, board } = context;
  const [first, second] = [rowOf(context, a), rowOf(context, b)];
  const rows = report.metrics
    .map((metric, m) => ({ metric, m }))
    .filter(({ m }) => !board.columns[m].value.every(isNaN));
  const hasTests = tests.run.length > 0;
  const untested = hasTests && rows.some(({ m }) => !tested(context, tests, m, first, second));
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Differences by metric">
        <table>
          <thead>
            <tr>
              {["Metric", a, b, "Difference", ...(hasTests ? ["95% interval", "p", "corrected p"] : []), "won / tied / lost"].map((text, i) => (
                <th key={i} scope="col" dir="auto" class={i ? "number" : ""}>{text}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ metric, m }) => {
              const values = rowValues(context, m);
              const test = tested(context, tests, m, first, second);
              const found = differences(context, m, first, second);
              const better = metric.direction < 0 ? -1 : 1;
              const won = found.filter((one) => one.value * better > 0).length;
              const lost = found.filter((one) => one.value * better < 0).length;
              const difference = test ? test.difference : values[first] - values[second];
              return (
                <tr key={metric.name}>
                  <th scope="row"><MetricName metric={metric} /></th>
                  <td class="number"><Value value={values[first]} digits={metric.digits} /></td>
                  <td class="number"><Value value={values[second]} digits={metric.digits} /></td>
                  <td class="number"><Value value={difference} digits={metric.digits} sign /></td>
                  {hasTests && <><td class="number">{test && !isNaN(test.low) ? `[${signed(test.low, metric.digits)}, ${signed(test.high, metric.digits)}]` : "–"}</td>
                  <td class="number"><span title={String(test?.p ?? "not tested")}>{test ? probability(test.p) : "not tested"}</span></td>
                  <td class={`number${test?.significant ? " best" : ""}`}><span title={String(test?.adjusted ?? "")}>{test ? probability(test.adjusted) : "–"}</span></td></>}
                  <td class="number">{found.length ? `${won} / ${found.length - won - lost} / ${lost}` : "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <ul class="notes">
        {report.comparisonNote && <li>{report.comparisonNote}{hasTests && " Bold: significant."}</li>}
        {untested && <li>“Not tested”: the results hold no test of this pair. The difference is shown without one.</li>}
      </ul>
    </>
  );
}

function Differences({ context, a, b }: { context: Context; a: string; b: string }) {
  const { go, board, metric, m } = context;
  const [near, setNear] = useState(-1);
  const found = differences(context, m, rowOf(context, a), rowOf(context, b)).sort((x, y) => y.value - x.value);
  if (!found.length) return <p class="empty">No query has a value for both systems.</p>;
  const most = Math.max(...found.map((one) => Math.abs(one.value)), 1e-300);
  const [width, height] = [1000, 240];
  const step = width / found.length;
  const y = (value: number) => height / 2 - (value / most) * (height / 2 - 8);
  const better = metric.direction < 0 ? -1 : 1;
  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(found.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * found.length)));
  };
  const open = (i: number) => go({ view: "queries", qid: board.qids[found[i].query] });
  const keys = (event: KeyboardEvent) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, Home: -found.length, End: found.length }[event.key];
    if (move) {
      event.preventDefault();
      setNear(Math.min(found.length - 1, Math.max(0, near + move)));
    } else if (event.key === "Enter" && near >= 0) open(near);
  };
  const chosen = near >= 0 ? found[near] : undefined;
  return (
    <div class="chart">
      <div class="scale"><span>{signed(most, 2)}</span><span>0</span><span>{signed(-most, 2)}</span></div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" tabindex={0} role="application"
        aria-label={`Differences of ${found.length} queries, largest first. Arrow keys move, Enter opens the query.`}
        onMouseMove={(event) => setNear(at(event))} onMouseLeave={() => setNear(-1)} onClick={(event) => open(at(event))} onKeyDown={keys}>
        {found.map((one, i) => (
          <rect key={one.query} class={`${one.value * better >= 0 ? "plus" : "minus"}${i === near ? " near" : ""}`}
            x={i * step + step * 0.08} width={Math.max(step * 0.84, 0.4)} y={Math.min(y(one.value), y(0))} height={Math.max(Math.abs(y(one.value) - y(0)), 0.5)} />
        ))}
        <line class="axis" x1={0} x2={width} y1={y(0)} y2={y(0)} />
      </svg>
      <p class="readout" aria-live="polite">
        {chosen ? <><b dir="auto">query {board.qids[chosen.query]}</b>: {signed(chosen.value, metric.digits)}</> : <span class="muted">{`${a} is better on the left, ${b} on the right${better < 0 ? " (reversed: lower is better)" : ""}.`}</span>}
      </p>
      <div class="hidden"><table><caption>Largest differences</caption><tbody>
        {[...found.slice(0, 10), ...found.slice(-10)].map((one, i) => <tr key={i}><th scope="row">{board.qids[one.query]}</th><td>{fixed(one.value, metric.digits)}</td></tr>)}
      </tbody></table></div>
    </div>
  );
}
