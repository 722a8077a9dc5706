/** One system: its metrics among all systems, neighbours in rank, queries, groups and files. */

import type { Context } from "./view";
import type { Board, Tests } from "./data";
import { queryValues, ranked, relation, trace } from "./data";
import { usePart } from "./load";
import { Bar, Dot, Line, Ticks, Zero, scale, span } from "./marks";
import { allRows, placeOf, quantile, queryTitle, rowOf, systemName } from "./view";
import { Command, Lede, Link, MetricName, Select, Section, SystemLink, Value, fixed, interval, signed } from "./text";

const NEAR = 4;
const QUERIES = 6;

export function SystemView({ context }: { context: Context }) {
  const { report, board, state, m, go } = context;
  const row = rowOf(context, state.a);
  const all = <Link context={context} to={{ view: "leaderboard", a: "", b: "" }}>All systems</Link>;
  if (row < 0) {
    const known = report.systems.some((one) => one.name === state.a);
    return <p class="empty">{known ? `${board.dataset} has no results of ${state.a}.` : `This page has no system called “${state.a}”.`} {all}</p>;
  }
  const system = report.systems[board.systems[row]];
  const order = allRows(context);
  const at = order.indexOf(row);
  const facts = report.columns.map((name, i) => [name, system.columns[i]]).filter(([, value]) => value);
  const findings = board.findings[row].map((i) => report.provenance.findings[i]);
  const others = order.filter((one) => one !== row).map((one) => systemName(context, one));
  const step = (to: number, text: string) => to in order && <> · <Link context={context} to={{ a: systemName(context, order[to]) }}>{text}</Link></>;
  const slices = report.boards.filter((one) => one.whole === board.whole);
  return (
    <article class="system">
      <p class="crumb">{all}{step(at - 1, "← next better")}{step(at + 1, "next worse →")}</p>
      <div class="heading">
        <h1 dir="auto">{system.name}</h1>
        <p class="muted">
          {facts.map(([name, value]) => <span key={name}>{name}: <bdi>{value}</bdi></span>)}
          {system.link && <a href={system.link} rel="noreferrer">Report</a>}
        </p>
      </div>
      <Lede context={context} sentence={board.columns[m].systemLedes[row]} />
      {findings.map((one, i) => <p key={i} class="finding"><b aria-hidden="true">⚠</b> {one.sentence}</p>)}
      <div class="controls">
        {context.choice}
        {others.length > 0 && <Select label="Compare with" value="" options={[["", "choose a system"], ...others.map((name): [string, string] => [name, name])]}
          onChange={(name) => name && go({ view: "pair", b: name })} />}
        {at > 0 && <Link context={context} to={{ view: "pair", b: others[0] }}>Compare with the best system</Link>}
      </div>
      <div class="two uneven">
        <Metrics context={context} row={row} />
        {others.length > 0 && <Neighbours context={context} row={row} near={order.slice(Math.max(0, at - NEAR), at + NEAR + 1)} />}
      </div>
      {others.length > 0 && board.qids.length > 1 && <Extremes context={context} row={row} />}
      <div class="two">
        {slices.length > 1 && <Groups context={context} name={system.name} slices={slices} />}
        <Files context={context} row={row} />
      </div>
    </article>
  );
}

/** A system's value among those of all systems of a board: ticks, the median, a dot with interval. */
function Strip({ board, m, row, direction, digits }: { board: Board; m: number; row: number; direction: number; digits: number }) {
  const { value, low, high } = board.columns[m];
  const middle = quantile([...value], 0.5);
  const [least, most] = span(value, [low[row], high[row]]);
  const at = scale(least, most, direction < 0);
  return (
    <Line label={`${fixed(value[row], digits)} among values from ${fixed(least, digits)} to ${fixed(most, digits)}, median ${fixed(middle, digits)}`}>
      <Ticks at={at} values={value} long={isNaN(middle) ? [] : [middle]} />
      <Dot at={at} value={value[row]} low={low[row]} high={high[row]} kind="a" />
    </Line>
  );
}

function Metrics({ context, row }: { context: Context; row: number }) {
  const { report, board, m } = context;
  return (
    <Section title="Every metric" note={`Ticks are all ${board.systems.length} systems, the long one is the median; better to the right.`}>
      <table>
        <thead><tr><th scope="col">Metric</th><th scope="col" class="number">Value</th><th scope="col" class="wide number">{context.level}% interval</th><th scope="col" class="number">Rank</th><th scope="col" class="picture">Among all systems</th></tr></thead>
        <tbody>
          {context.choices.map((i) => {
            const metric = report.metrics[i];
            const { value, low, high } = board.columns[i];
            return (
              <tr key={metric.name} class={i === m ? "chosen" : ""}>
                <th scope="row" title={metric.explanation}><Link context={context} to={{ metric: metric.name }}><MetricName metric={metric} /></Link></th>
                <td class="number"><Value value={value[row]} digits={metric.digits} /></td>
                <td class="wide number">{interval(low[row], high[row], Math.min(3, metric.digits)) || "–"}</td>
                <td class="number">{placeOf(board, i, row, metric.direction)}</td>
                <td class="picture"><Strip board={board} m={i} row={row} direction={metric.direction} digits={metric.digits} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Section>
  );
}

/** Of each other system, its test against `system`: difference of the other one minus `system`. */
function against(tests: Tests | undefined, m: number, system: number): Map<number, [number, number, number]> {
  const found = new Map<number, [number, number, number]>();
  tests?.metric.forEach((metric, i) => {
    if (metric !== m) return;
    const [low, high, difference] = [tests.low[i], tests.high[i], tests.difference[i]];
    if (tests.baseline[i] === system) found.set(tests.run[i], [low, difference, high]);
    else if (tests.run[i] === system) found.set(tests.baseline[i], [-high, -difference, -low]);
  });
  return found;
}

export const VERDICTS: Record<string, [string, string]> = {
  "+": ["over", "significantly better"], "-": ["under", "significantly worse"],
  "~": ["same", "not told apart"], "=": ["same", "same on all queries"], ".": ["none", "not tested"],
};

function Neighbours({ context, row, near }: { context: Context; row: number; near: number[] }) {
  const { board, metric, m } = context;
  const tests = usePart(board.tests);
  const found = against(tests ?? undefined, m, board.systems[row]);
  const values = board.columns[m].value;
  const most = Math.max(1e-12, ...near.flatMap((one) => [...(found.get(board.systems[one]) ?? [values[one] - values[row]])].filter((x) => !isNaN(x)).map(Math.abs)));
  const at = scale(-most, most, metric.direction < 0);
  return (
    <Section title="Neighbours in rank" note={`Their ${metric.label} minus this system's${found.size ? `, with ${context.level}% interval` : ""}.`}>
      <table>
        <thead><tr><th scope="col" class="number">Rank</th><th scope="col">System</th><th scope="col" class="wide number">Value</th><th scope="col" class="picture"><span class="ends"><span>← worse</span><span>better →</span></span></th><th scope="col" class="verdict">Test</th></tr></thead>
        <tbody>
          {near.map((one) => {
            const own = one === row;
            const [low, difference, high] = found.get(board.systems[one]) ?? [NaN, values[one] - values[row], NaN];
            const [kind, words] = VERDICTS[own ? "." : relation(board, m, one, row)];
            return (
              <tr key={one} class={own ? "picked" : ""}>
                <td class="number">{placeOf(board, m, one, metric.direction)}</td>
                <th scope="row" class="name">{own ? <bdi>{systemName(context, one)}</bdi> : <SystemLink context={context} system={board.systems[one]} />}</th>
                <td class="wide number"><Value value={values[one]} digits={metric.digits} /></td>
                <td class="picture">{!own && <Line label={`difference ${signed(difference, 3)}${isNaN(low) ? "" : `, interval ${signed(low, 3)} to ${signed(high, 3)}`}`}><Zero at={at} /><Dot at={at} value={difference} low={low} high={high} kind={kind} /></Line>}</td>
                <td class="verdict">{own ? <span class="muted">this system</span> : <Link context={context} to={{ view: "pair", b: systemName(context, one) }}>{words}</Link>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Section>
  );
}

/** The queries with the largest differences from the median system, at both ends. */
function Extremes({ context, row }: { context: Context; row: number }) {
  const { board, metric, m } = context;
  const column = board.columns[m];
  const values = queryValues(column, row, board.qids.length);
  const differences = values.map((value, q) => value - column.median[q]);
  const sorted = ranked(differences, metric.direction).filter((q) => !isNaN(differences[q]) && !column.constant[q]);
  const most = Math.max(1e-12, ...sorted.map((q) => Math.abs(differences[q])));
  const at = scale(-most, most);
  const half = Math.min(QUERIES, Math.ceil(sorted.length / 2));
  if (!sorted.length) return null;
  const list = (title: string, queries: number[]) => queries.length > 0 && (
    <table>
      <thead><tr><th scope="col" class="number">Query</th><th scope="col">{title}</th><th scope="col" class="wide number">Value</th><th scope="col" class="number">vs. median</th><th scope="col" class="picture"><span class="hidden">Picture</span></th></tr></thead>
      <tbody>
        {queries.map((q) => (
          <tr key={q}>
            <td class="number muted"><bdi>{board.qids[q]}</bdi></td>
            <th scope="row" class="name"><Link context={context} to={{ view: "queries", qid: board.qids[q] }}><bdi>{queryTitle(context, q)}</bdi></Link></th>
            <td class="wide number"><Value value={values[q]} digits={metric.digits} /></td>
            <td class="number"><Value value={differences[q]} digits={Math.min(3, metric.digits)} sign /></td>
            <td class="picture"><Line label=""><Zero at={at} /><Bar at={at} value={differences[q]} kind={differences[q] * (metric.direction < 0 ? -1 : 1) < 0 ? "b" : "a"} /></Line></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <Section title="Strongest and weakest queries" note={`Difference from the median system in ${metric.label}, query by query.`}>
      <div class="two">{list("Strongest", sorted.slice(0, half))}{list("Weakest", sorted.slice(half).slice(-half).reverse())}</div>
    </Section>
  );
}

function Groups({ context, name, slices }: { context: Context; name: string; slices: Board[] }) {
  const { metric, m } = context;
  return (
    <Section title={`${metric.label} by group of queries`}>
      <table>
        <thead><tr><th scope="col">Queries</th><th scope="col" class="number">Value</th><th scope="col" class="number">Rank</th><th scope="col" class="picture">Among all systems</th></tr></thead>
        <tbody>
          {slices.map((board) => {
            const row = rowOf({ ...context, board }, name);
            return row >= 0 && (
              <tr key={board.dataset}>
                <th scope="row"><Link context={context} to={{ dataset: board.dataset }}><bdi>{board.groupLabel}</bdi></Link> <span class="muted">({board.qids.length.toLocaleString("en")})</span></th>
                <td class="number"><Value value={board.columns[m].value[row]} digits={metric.digits} /></td>
                <td class="number">{placeOf(board, m, row, metric.direction)}</td>
                <td class="picture"><Strip board={board} m={m} row={row} direction={metric.direction} digits={metric.digits} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Section>
  );
}

function Files({ context, row }: { context: Context; row: number }) {
  const { report, board, metric } = context;
  const files = board.files[row].map((i) => report.provenance.inputs[i]);
  if (!files.length && !report.provenance.results) return null;
  return (
    <Section title="Files and commands">
      <ul class="files">
        {files.map(([path, size, hash]) => <li key={path}><code>{path}</code> <span class="muted">{Number(size).toLocaleString("en")} bytes, SHA-256 <code title={hash}>{hash.slice(0, 12)}…</code></span></li>)}
      </ul>
      {report.provenance.results && <p>This command shows where the {metric.label} comes from: <Command text={trace(report, board, report.systems[board.systems[row]], metric)} /></p>}
    </Section>
  );
}
