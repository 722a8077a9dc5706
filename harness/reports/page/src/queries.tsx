/** Systems x queries as a heat map, and every system's value of one query. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Context } from "./view";
import { orderedRows, quantile, systemName } from "./view";
import { mean } from "./data";
import { Command, MetricName, Panel, Select, Value, fixed } from "./text";

interface QueryFacts {
  query: number;
  mean: number;
  spread: number;
}

const STEP = 50;

export function Queries({ context }: { context: Context }) {
  const { board, state, go, metric, m } = context;
  const by = state.order || "hardest";
  const [shown, setShown] = useState(STEP);
  const column = board.columns[m];
  const n = board.qids.length;
  const rows = orderedRows(context);
  const value = (row: number, query: number) => column.queries[row * n + query];
  const facts: QueryFacts[] = Array.from(context.board.qids.keys()).map((query) => {
    const values = rows.map((row) => value(row, query));
    const middle = mean(values);
    return { query, mean: middle, spread: Math.sqrt(mean(values.map((one) => (one - middle) ** 2))) };
  });
  const worse = metric.direction < 0 ? -1 : 1;
  const last = (one: number) => (isNaN(one) ? Infinity : one);
  const compare: Record<string, (a: QueryFacts, b: QueryFacts) => number> = {
    hardest: (a, b) => last(worse * a.mean) - last(worse * b.mean),
    easiest: (a, b) => last(-worse * a.mean) - last(-worse * b.mean),
    discriminating: (a, b) => last(-a.spread) - last(-b.spread),
    qid: (a, b) => board.qids[a.query].localeCompare(board.qids[b.query], "en", { numeric: true }),
  };
  facts.sort(compare[by]);
  const chosen = board.qids.indexOf(state.qid);
  return (
    <>
      <div class="controls">
        {context.choice}
        <Select label="Order" value={by} onChange={(order) => go({ order: order === "hardest" ? "" : order })} options={[
          ["hardest", "hardest first"], ["easiest", "easiest first"],
          ["discriminating", "most discriminating first"], ["qid", "by qid"],
        ]} />
        <label class="field">
          <span>Query</span>
          <input list="qids" value={state.qid} placeholder="qid" onChange={(event) => go({ qid: event.currentTarget.value.trim() })} />
          <datalist id="qids">{board.qids.slice(0, 2000).map((qid) => <option key={qid} value={qid} />)}</datalist>
        </label>
        {state.qid && <button type="button" onClick={() => go({ qid: "" })}>All queries</button>}
      </div>
      {state.qid && chosen < 0 && <p class="empty">{`${board.dataset} has no query ${state.qid}.`}</p>}
      {chosen >= 0 && <OneQuery context={context} query={chosen} rows={rows} />}
      <Panel title="Systems by queries" aside={<span class="muted"><MetricName metric={metric} />, best system on top</span>}>
        <HeatMap context={context} rows={rows} queries={facts.map((one) => one.query)} />
      </Panel>
      <Panel title={`Queries, ${by === "qid" ? "by qid" : `${by} first`}`}>
        <div class="scroll" tabIndex={0} role="region" aria-label="Queries">
          <table>
            <thead>
              <tr>
                <th scope="col">Query</th><th scope="col" class="number">Mean</th><th scope="col" class="number">Worst</th>
                <th scope="col" class="number">Median</th><th scope="col" class="number">Best</th>
                <th scope="col" class="number">Std. deviation</th><th scope="col">Best system</th>
              </tr>
            </thead>
            <tbody>
              {facts.slice(0, shown).map((one) => {
                const values = rows.map((row) => value(row, one.query));
                const range = [quantile(values, 0), quantile(values, 0.5), quantile(values, 1)];
                const [least, middle, most] = worse > 0 ? range : range.reverse();
                const top = rows.filter((row) => value(row, one.query) === most);
                return (
                  <tr key={one.query}>
                    <th scope="row" dir="auto"><button type="button" class="link" onClick={() => { go({ qid: board.qids[one.query] }); scrollTo(0, 0); }}>{board.qids[one.query]}</button></th>
                    {[one.mean, least, middle, most, one.spread].map((number, i) => <td key={i} class="number"><Value value={number} digits={metric.digits} /></td>)}
                    <td dir="auto">{bestSystems(context, top, values.filter((each) => !isNaN(each)).length)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        {facts.length > shown && (
          <button type="button" class="more" onClick={() => setShown(shown + 4 * STEP)}>{`Show more of ${facts.length.toLocaleString("en")} queries`}</button>
        )}
      </Panel>
    </>
  );
}

/** Which systems have a query's best value, of how many with a value. */
function bestSystems(context: Context, top: number[], n: number): ComponentChildren {
  if (!top.length) return "–";
  if (n > 1 && top.length === n) return <span class="muted">all equal</span>;
  const rest = top.length - 1;
  return <>{systemName(context, top[0])}{rest > 0 && <span class="muted" title={top.map((row) => systemName(context, row)).join(", ")}>{` and ${rest} more`}</span>}</>;
}

function OneQuery({ context, query, rows }: { context: Context; query: number; rows: number[] }) {
  const { board, go, metric, m, report, source } = context;
  const { rankings } = report.boards[source];
  const n = board.qids.length;
  const values = rows.map((row) => ({ row, value: board.columns[m].queries[row * n + query] }));
  const worse = metric.direction < 0 ? 1 : -1;
  values.sort((a, b) => Number(isNaN(a.value)) - Number(isNaN(b.value)) || worse * (a.value - b.value));
  const most = Math.max(...values.map((one) => (isNaN(one.value) ? 0 : one.value)), 1e-300);
  const all = values.map((one) => one.value);
  const qid = board.qids[query];
  return (
    <Panel title={`Query ${qid}`} aside={
      <span class="muted">{`worst ${fixed(quantile(all, worse < 0 ? 0 : 1), metric.digits)}, median ${fixed(quantile(all, 0.5), metric.digits)}, best ${fixed(quantile(all, worse < 0 ? 1 : 0), metric.digits)}`}</span>
    }>
      {report.texts?.[qid] && <p class="prose" dir="auto">{report.texts[qid]}</p>}
      <div class="scroll tall" tabIndex={0} role="region" aria-label={`Values of query ${qid}`}>
        <table>
          <thead><tr><th scope="col">System</th><th scope="col" class="number"><MetricName metric={metric} /></th><th scope="col" class="wide"><span class="hidden">bar</span></th><th scope="col"><span class="hidden">ranking</span></th></tr></thead>
          <tbody>
            {values.map(({ row, value }) => {
              const name = systemName(context, row);
              return (
                <tr key={name}>
                  <th scope="row" dir="auto">{name}</th>
                  <td class="number"><Value value={value} digits={metric.digits} /></td>
                  <td class="wide"><span class="bar long" style={{ "--value": `${isNaN(value) ? 0 : Math.max(0, (100 * value) / most)}%` }} /></td>
                  <td>{(typeof rankings === "string" || rankings[`${board.systems[row]}/${qid}`]) && <button type="button" class="link" onClick={() => go({ view: "queries", a: name, qid })}>ranking</button>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {context.report.provenance.results && <p class="notes">Trace a value: <Command text={trace(context, values[0].row, qid)} /></p>}
    </Panel>
  );
}

/** The command that traces one query's value to its ranking. */
export function trace(context: Context, row: number, qid: string): string {
  const { report, board } = context;
  const run = report.systems[board.systems[row]].run ?? systemName(context, row);
  const words = ["--run", run, "--dataset", board.key ?? board.dataset, "--metric", context.metric.name, "--query", qid];
  const quoted = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return `harness trace ${context.report.provenance.results} ${quoted.join(" ")}`;
}

/** Colours from light to dark of one hue, so that they can be told apart without seeing colours. */
function colour(share: number, dark: boolean): [number, number, number] {
  const [from, to] = dark ? [[30, 34, 44], [150, 190, 255]] : [[238, 242, 250], [28, 62, 140]];
  return [0, 1, 2].map((i) => Math.round(from[i] + share * (to[i] - from[i]))) as [number, number, number];
}

function HeatMap({ context, rows, queries }: { context: Context; rows: number[]; queries: number[] }) {
  const { board, go, metric, m } = context;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [near, setNear] = useState<[number, number] | null>(null);
  const n = board.qids.length;
  const values = board.columns[m].queries;
  const dark = !context.printing && matchMedia("(prefers-color-scheme: dark)").matches;
  const finite = rows.flatMap((row) => queries.map((query) => values[row * n + query])).filter((one) => !isNaN(one));
  let [least, most] = [Infinity, -Infinity];
  for (const one of finite) {
    if (one < least) least = one;
    if (one > most) most = one;
  }
  useLayoutEffect(() => {
    const area = canvas.current?.getContext("2d");
    if (!area || !rows.length || !queries.length) return;
    const image = area.createImageData(queries.length, rows.length);
    rows.forEach((row, y) =>
      queries.forEach((query, x) => {
        const value = values[row * n + query];
        const at = 4 * (y * queries.length + x);
        const rgb = isNaN(value) ? [128, 128, 128] : colour((value - least) / (most - least || 1), dark);
        image.data.set([...rgb, isNaN(value) ? 90 : 255], at);
      }),
    );
    area.putImageData(image, 0, 0);
  });
  const place = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = (share: number, size: number) => Math.min(size - 1, Math.max(0, Math.floor(share * size)));
    return [at((event.clientX - box.left) / box.width, queries.length), at((event.clientY - box.top) / box.height, rows.length)];
  };
  const open = (query: number) => { go({ qid: board.qids[query] }); scrollTo(0, 0); };
  const onKey = (event: KeyboardEvent) => {
    const [x, y] = near ?? [0, 0];
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y], ArrowUp: [x, y - 1], ArrowDown: [x, y + 1],
      Home: [0, y], End: [queries.length - 1, y],
    };
    const step = steps[event.key];
    if (step) setNear(near ? [Math.min(Math.max(step[0], 0), queries.length - 1), Math.min(Math.max(step[1], 0), rows.length - 1)] : [0, 0]);
    else if (event.key === "Enter" && near) open(queries[x]);
    else return;
    event.preventDefault();
  };
  const height = Math.min(Math.max(rows.length * 16, 60), 560);
  return (
    <div class="heat">
      {rows.length <= 35 && <ol class="names" style={{ height: `${height}px` }} aria-hidden="true">{rows.map((row) => <li key={row} dir="auto" title={systemName(context, row)}>{systemName(context, row)}</li>)}</ol>}
      <canvas ref={canvas} width={queries.length} height={rows.length} style={{ height: `${height}px` }} role="application" tabIndex={0}
        aria-label={`Heat map of ${rows.length} systems and ${queries.length} queries. Arrow keys move over the values, Enter shows the query. The table below has the values.`}
        onMouseMove={(event) => setNear(place(event))} onMouseLeave={() => setNear(null)} onBlur={() => setNear(null)}
        onKeyDown={onKey} onClick={(event) => open(queries[place(event)[0]])} />
      <p class="readout" aria-live="polite">
        {near && near[1] < rows.length && near[0] < queries.length ? (
          <><b dir="auto">{systemName(context, rows[near[1]])}</b>, query <b dir="auto">{board.qids[queries[near[0]]]}</b>: {fixed(values[rows[near[1]] * n + queries[near[0]]], metric.digits)}</>
        ) : (
          <span class="legend">{fixed(least, 2)} <i aria-hidden="true" /> {fixed(most, 2)}<span class="muted">, grey: no value. Click a column, or press Enter on it, to see the query.</span></span>
        )}
      </p>
    </div>
  );
}
