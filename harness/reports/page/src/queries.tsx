/** Systems x queries as a heat map, and every query with the values of all systems. */

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { Context } from "./view";
import type { Numbers } from "./data";
import { ofQuery } from "./data";
import { Line, Ticks, rangeOf, scale, span } from "./marks";
import { usePointer } from "./picture";
import { OneQuery } from "./query";
import { colour, onTheme } from "./theme";
import { allRows, byName, placeAmong, queryTitle, systemName } from "./view";
import { Lede, QueryTable, Section, Select, SystemLink, Tip, Value, fixed, interval, plural, short } from "./text";

const STEP = 50;
const ORDERS: [string, string][] = [["hardest", "hardest first"], ["easiest", "easiest first"], ["discriminating", "most discriminating first"], ["qid", "by number"]];

export function Queries({ context }: { context: Context }) {
  const { board, state, go, metric, m } = context;
  const by = state.order || "hardest";
  const [search, setSearch] = useState("");
  const rows = useMemo(() => allRows(context), [board, m]);
  const order = useMemo(() => queryOrder(context, by), [board, m, by]);
  const chosen = board.qids.indexOf(state.qid);
  if (chosen >= 0) return <OneQuery key={state.qid} context={context} query={chosen} rows={rows} />;
  const column = board.columns[m];
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const queries = words.length ? order.filter((q) => words.every((word) => `${board.qids[q]} ${queryTitle(context, q)}`.toLowerCase().includes(word))) : order;
  const constant = column.constant.reduce((sum, one) => sum + one, 0);
  const judged = board.grades && board.judged && board.grades.map((grade, i) => ({ grade, i })).filter(({ grade }) => grade > 0);
  const range = rangeOf(metric, column.queries);
  const at = scale(range);
  const n = board.qids.length;
  const digits = Math.min(3, metric.digits);
  const telling = rows.length > 2 && n > 1;
  return (
    <article class="queries">
      <Lede context={context} sentence={column.queryLede} />
      {state.qid && <p class="notice" role="status">{`${board.dataset} has no query ${state.qid}.`}</p>}
      <div class="controls">
        {context.choice}
        <Select label="Order" value={by} onChange={(order) => go({ order: order === "hardest" ? "" : order })} options={ORDERS} />
        <label class="field grow"><span>Find</span><input type="search" id="filter" value={search} placeholder="number or words of a query" onInput={(event) => setSearch(event.currentTarget.value)} /></label>
      </div>
      {queries.length ? <HeatMap context={context} rows={rows} queries={queries} /> : <p class="empty">No query matches “{search}”. <button type="button" onClick={() => setSearch("")}>{`Show all ${n.toLocaleString("en")} queries`}</button></p>}
      {queries.length > 0 && <Section title={`${plural(queries.length, "query", "queries")}, ${ORDERS.find(([name]) => name === by)?.[1]}`} note={rows.length > 1 && "Ticks are systems; the long one is the median system."}>
        <QueryTable context={context} queries={queries} first={STEP} heads={<>
          {judged && <th scope="col" class="wide number" title="Documents judged with a grade above 0">Relevant</th>}
          <th scope="col" class="number">{rows.length > 1 ? "Median" : "Value"}</th>
          <th scope="col" class="picture"><span class="ends"><span>{short(range[0])}</span><span class="wide">{metric.label}</span><span>{short(range[1])}</span></span></th>
          {telling && <th scope="col" class="wide number" title="Correlation over systems between this query and the mean of all others">Discrimination</th>}
          {rows.length > 1 && <th scope="col" class="wide name">Best system</th>}
        </>}>
          {(q) => {
            const values = ofQuery(board, m, q);
            return <>
              {judged && <td class="wide number">{judged.reduce((sum, { i }) => sum + board.judged![i * n + q], 0).toLocaleString("en")}</td>}
              <td class="number"><Value value={column.median[q]} digits={digits} /></td>
              <td class="picture"><Line label={interval(...span(values), digits)}><Ticks at={at} values={values} long={column.median[q]} /></Line></td>
              {telling && <td class="wide number"><Value value={column.discrimination[q]} digits={2} /></td>}
              {rows.length > 1 && <td class="wide name"><Best context={context} rows={rows} values={values} constant={column.constant[q] === 1} /></td>}
            </>;
          }}
        </QueryTable>
        <p class="notes">
          {telling && "“Discrimination” is the correlation over systems between a query and the mean of all others: a query near 1 orders systems as the others do."}
          {constant > 0 && ` ${plural(constant, "query has", "queries have")} one value for all systems, which tells nothing, and ${constant === 1 ? "comes" : "come"} last.`}
        </p>
      </Section>}
    </article>
  );
}

/** Queries in the chosen order; those with one value for all systems, or none, come last. */
function queryOrder({ board, metric, m }: Context, by: string): number[] {
  const { median, discrimination, constant } = board.columns[m];
  const sign = metric.direction < 0 ? -1 : 1;
  const last = (value: number) => (isNaN(value) ? Infinity : value);
  const isLast = (q: number) => Number(constant[q] === 1 || isNaN(median[q]));
  const places = board.qids.map((_, q) => q).sort((a, b) => byName(board.qids[a], board.qids[b]));
  const keys: Record<string, (q: number) => number> = { hardest: (q) => sign * median[q], easiest: (q) => -sign * median[q], discriminating: (q) => -discrimination[q] };
  const key = keys[by] ?? (() => 0);
  return places.sort((a, b) => isLast(a) - isLast(b) || last(key(a)) - last(key(b)) || 0);
}

/** The systems with a query's best value. */
function Best({ context, rows, values, constant }: { context: Context; rows: number[]; values: Numbers; constant: boolean }) {
  const top = rows.filter((row) => placeAmong(values, row, context.metric.direction) === 1);
  if (!top.length) return <>–</>;
  if (constant) return <span class="muted">one value for all systems</span>;
  return <><SystemLink context={context} system={context.board.systems[top[0]]} />{top.length > 1 && <span class="muted" title={top.map((row) => systemName(context, row)).join(", ")}>{` and ${top.length - 1} more`}</span>}</>;
}

/** 256 colours of the heat map, from the tokens of the theme: lightness carries the value. */
function palette(): number[][] {
  const stops = ["--h0", "--h1", "--h2", "--h3"].map((token) => colour(token).match(/[\d.]+/g)!.slice(0, 3).map(Number));
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    return [...stops[low].map((from, k) => Math.round(from + (at - low) * (stops[low + 1][k] - from))), 255];
  });
}

function HeatMap({ context, rows, queries }: { context: Context; rows: number[]; queries: number[] }) {
  const { board, go, metric, m, phone } = context;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [named, setNamed] = useState(false);
  const [painted, paint] = useReducer((n: number) => n + 1, 0);
  const n = board.qids.length;
  const values = board.columns[m].queries;
  const high = named ? 15 : Math.min(18, Math.max(phone ? 3 : 1.5, (phone ? 430 : 580) / rows.length));
  const left = phone ? 30 : Math.min(280, Math.max(100, ...rows.map((row) => 36 + 7 * systemName(context, row).length)));
  const [width, height] = [context.width - left, high * rows.length];
  const wide = width / queries.length;
  const [least, most] = useMemo(() => span(values), [values]);
  useEffect(() => onTheme(() => paint(0)), []);
  useLayoutEffect(() => {
    const area = canvas.current?.getContext("2d");
    if (!area) return;
    const image = area.createImageData(queries.length, rows.length);
    const colours = palette();
    rows.forEach((row, y) =>
      queries.forEach((query, x) => {
        const value = values[row * n + query];
        image.data.set(isNaN(value) ? [128, 128, 128, 60] : colours[Math.round((255 * (value - least)) / (most - least || 1))], 4 * (y * queries.length + x));
      }),
    );
    area.putImageData(image, 0, 0);
  }, [rows, queries, values, painted, context.printing]);
  const within = (value: number, size: number) => Math.min(size - 1, Math.max(0, Math.floor(value)));
  const split = (i: number) => [i % queries.length, Math.floor(i / queries.length)];
  const { near, at, handlers } = usePointer({
    n: queries.length * rows.length, row: queries.length,
    nearest: (x, y) => within(x / wide, queries.length) + queries.length * within(y / high, rows.length),
    place: (i) => [(split(i)[0] + 0.5) * wide, (split(i)[1] + 0.5) * high],
    open: (i) => go({ qid: board.qids[queries[split(i)[0]]], a: systemName(context, rows[split(i)[1]]), b: "" }),
  });
  const every = Math.ceil(15 / high);
  const nth = every > 1 ? Math.ceil(every / 10) * 10 : 1;
  const longest = Math.max(...queries.slice(0, 200).map((q) => board.qids[q].length));
  const skip = Math.ceil((Math.min(longest, 12) * 7.2 + 6) / wide);
  const [x, y] = near === undefined ? [-1, -1] : split(near);
  const [query, row] = [queries[x], rows[y]];
  const value = values[row * n + query];
  return (
    <Section title="Every system on every query" note={`${metric.label}; best system on top${metric.direction < 0 ? ", lower is better" : ""}. Click a cell to open the query.`}
      aside={<>{rows.length > 40 && <label class="tick wide"><input type="checkbox" checked={named} onChange={() => setNamed(!named)} /> Name every system</label>}<span class="key">{short(least)} <i class="ramp" /> {short(most)}</span></>}>
      <div class="heat" style={{ height: `${height + 24}px` }}>
        {queries.map((q, i) => i % skip === 0 && i + skip / 2 <= queries.length && <span key={q} class="qid" aria-hidden="true" style={{ left: `${left + (i + 0.5) * wide}px`, width: `${wide * skip}px` }}><bdi>{board.qids[q]}</bdi></span>)}
        {rows.map((one, i) => (i === 0 || (i + 1) % nth === 0) && (near === undefined || Math.abs(i - y) * high >= 15) && (
          <span key={one} class="system" style={{ top: `${24 + (i + 0.5) * high}px`, width: `${left - 8}px` }}>{!phone && <SystemLink context={context} system={board.systems[one]} />} <b>{i + 1}</b></span>
        ))}
        <canvas ref={canvas} width={queries.length} height={rows.length} class={wide < 1 ? "dense" : ""} style={{ left: `${left}px`, width: `${width}px`, height: `${height}px` }} role="application" tabIndex={0} {...handlers}
          aria-label={`Heat map of ${rows.length} systems and ${queries.length} queries. Arrow keys move over the values, Enter shows the query. The table below has the values.`} />
        {near !== undefined && <>
          <span class="cross" style={{ left: `${left}px`, top: `${24 + y * high}px`, width: `${width}px`, height: `${high}px` }} />
          <span class="cross" style={{ left: `${left + x * wide}px`, top: "24px", width: `${wide}px`, height: `${height}px` }} />
          <span class="system now" aria-hidden="true" style={{ top: `${24 + (y + 0.5) * high}px`, width: `${left - 8}px` }}>{!phone && <bdi>{systemName(context, row)}</bdi>} <b>{y + 1}</b></span>
          <Tip at={at}>
            <b dir="auto">{systemName(context, row)}</b><br />
            <bdi>{board.qids[query]}</bdi>{context.report.texts && ` · ${queryTitle(context, query)}`}<br />
            {isNaN(value) ? "no value" : <>{metric.label} <b>{fixed(value, metric.digits)}</b>, rank {placeAmong(ofQuery(board, m, query), row, metric.direction)} of {rows.length} here</>}<br />
            median {fixed(board.columns[m].median[query], metric.digits)}
          </Tip>
        </>}
      </div>
    </Section>
  );
}
