/** One system: its metrics among all systems, neighbours in rank, queries, groups and files. */

import type { ComponentChildren } from "preact";
import type { Context } from "./view";
import type { Board } from "./data";
import { queryValues, ranked, relation, tested, trace } from "./data";
import { KINDS } from "./leaderboard";
import { useParts } from "./load";
import { Across, Between, Dot, Line, Ticks, mirrored, scale, span } from "./marks";
import { allRows, meanOf, median, numberOf, referenceRows, rowOf, systemName } from "./view";
import { ColumnText, Command, GroupLink, Lede, Link, MetricName, QueryTable, Section, Select, SystemLink, TierNote, Value, fixed, interval, signed } from "./text";

const NEAR = 4;
const QUERIES = 6;

export function SystemView({ context }: { context: Context }) {
  const { report, board, state, m, go, slices, choices } = context;
  const row = rowOf(context, state.a);
  const all = <Link context={context} to={{ view: "leaderboard", a: "", b: "" }}>All systems</Link>;
  if (row < 0) {
    const isKnown = report.systems.some((one) => one.name === state.a);
    return <p class="empty">{isKnown ? `${board.dataset} has no results of ${state.a}.` : `This page has no system called “${state.a}”.`} {all}</p>;
  }
  const system = report.systems[board.systems[row]];
  const order = allRows(context);
  const at = order.indexOf(row);
  const names = order.map((one) => systemName(context, one));
  const metrics = choices.map((m) => ({ board, m, row, head: <Link context={context} to={{ metric: report.metrics[m].name }}><MetricName metric={report.metrics[m]} /></Link> }));
  const groups = slices.map((board) => ({ board, m, row: rowOf({ ...context, board }, system.name), head: <GroupLink context={context} board={board} /> })).filter((one) => one.row >= 0);
  const ours = order.filter((one) => report.participants?.includes(board.systems[one]));
  const own = ours.map((row) => ({ board, m, row, head: <SystemLink context={context} system={board.systems[row]} /> }));
  const step = (to: number, text: string) => to in order && <> · <Link context={context} to={{ a: names[to] }}>{text}</Link></>;
  return (
    <article class="system">
      <p class="crumb">{all}{step(at - 1, "← next better")}{step(at + 1, "next worse →")}</p>
      <div class="heading">
        <h1 dir="auto">{system.name}</h1>
        <p class="muted">
          {report.columns.map(({ name, texts: { [board.systems[row]]: text } }) => text && <span key={name}><ColumnText text={text} title={name} /></span>)}
          {system.link && <a href={system.link} rel="noreferrer">Report</a>}
        </p>
      </div>
      <Lede context={context} sentence={board.columns[m].systemLedes[row]} />
      {board.findings[row].map((i) => <p key={i} class="finding"><b aria-hidden="true">⚠</b> {report.provenance.findings[i].sentence}</p>)}
      <div class="controls">
        {context.choice}
        {order.length > 1 && <Select label="Compare with" value="" options={[["", "choose a system"], ...[...names, ...referenceRows(board).map((one) => systemName(context, one))].filter((name) => name !== system.name).map((name): [string, string] => [name, name])]}
          onChange={(name) => name && go({ view: "pair", b: name })} />}
        {at > 0 && <Link context={context} to={{ view: "pair", b: names[0] }}>Compare with the best system</Link>}
      </div>
      {own.length > 1 && <Section title="Runs of your team" note={`By ${context.metric.label}. Open a run to see its queries.`}><Among context={context} first="Run" places={own} /></Section>}
      <div class="two uneven">
        <Section title="Every metric" note={order.length > 1 && `Ticks are all ${order.length} systems, the long one is the median; better to the right.`}><Among context={context} first="Metric" places={metrics} /></Section>
        {order.length > 1 && <Neighbours context={context} row={row} near={order.slice(Math.max(0, at - NEAR), at + NEAR + 1)} />}
      </div>
      {order.length > 1 && board.qids.length > 1 && <Extremes context={context} row={row} />}
      <div class="two">
        {groups.length > 1 && <Section title={`${context.metric.label} by group of queries`}><Among context={context} first="Queries" places={groups} /></Section>}
        <Files context={context} row={row} />
      </div>
    </article>
  );
}

interface Place { head: ComponentChildren; board: Board; m: number; row: number }

/** A system's values among those of all systems: ticks, the median, a dot with interval. */
function Among({ context, first, places }: { context: Context; first: string; places: Place[] }) {
  const { report: { metrics, level }, board: { systems }, m: chosen } = context;
  const several = systems.length > 1;
  return (
    <table>
      <thead><tr><th scope="col">{first}</th><th scope="col" class="number">Value</th><th scope="col" class="wide number">{level}% interval</th>{several && <><th scope="col" class="number">Rank</th><th scope="col" class="picture">Among all<span class="wide"> systems</span></th></>}</tr></thead>
      <tbody>
        {places.map(({ head, board, m, row }, i) => {
          const { digits, direction } = metrics[m];
          const { value: values, rank, low: { [row]: low }, high: { [row]: high } } = board.columns[m];
          const [value, middle, ends] = [values[row], median(values), span(values, [low, high])];
          const at = scale(ends, direction < 0);
          const [own, from, to, half] = [value, ...ends, middle].map((one) => fixed(one, digits));
          return (
            <tr key={i} class={(first === "Metric" ? m === chosen : first === "Run" && systemName(context, row) === context.state.a) ? "chosen" : ""}>
              <th scope="row">{head}</th>
              <td class="number"><Value value={value} digits={digits} /></td>
              <td class="wide number">{interval(low, high, Math.min(3, digits)) || "–"}</td>
              {several && <td class="number">{fixed(rank[row], 0)}</td>}
              {several && <td class="picture"><Line label={`${own} among ${from} to ${to}, median ${half}, ${level}% interval ${interval(low, high, digits) || "unknown"}`}>
                <Ticks at={at} values={values} long={middle} /><Dot at={at} value={value} low={low} high={high} kind="a" />
              </Line></td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const VERDICTS: Record<string, string> = {
  "+": "significantly better", "-": "significantly worse", "~": "not significant", "=": "same on all queries", ".": "not tested",
};

/** Systems of similar rank and tested references; a participant sees what was tested. */
function Neighbours({ context, row, near }: { context: Context; row: number; near: number[] }) {
  const { report, board, metric, m } = context;
  const [tests] = useParts([board.tests]);
  const { rank } = board.columns[m];
  const value = (one: number) => meanOf(board.columns[m], one);
  const isTested = (one: number) => relation(board, m, one, row) !== ".";
  const kept = [...near.filter((one) => one === row || !report.participants || isTested(one)), ...referenceRows(board).filter(isTested)];
  const rows = ranked(Float64Array.from(kept, value), metric.direction).map((i) => kept[i]).map((one) => (
    { one, test: tested(tests, m, numberOf(board, one), board.systems[row]) ?? { difference: value(one) - value(row), low: NaN, high: NaN } }));
  if (rows.length < 2) return null;
  const at = scale(mirrored(rows.flatMap(({ test }) => [test.difference, test.low, test.high])), metric.direction < 0);
  return (
    <Section title={report.participants ? "Tests" : "Neighbours in rank"} note={`Their ${metric.label} minus this system's${rows.some(({ test }) => !isNaN(test.low)) ? `, with ${context.report.level}% interval` : ""}.`}>
      <table>
        <thead><tr><th scope="col" class="number">Rank</th><th scope="col" class="name">System</th><th scope="col" class="wide number">Value</th><th scope="col" class="picture"><span class="ends sides"><span>worse</span><span>better</span></span></th><th scope="col" class="verdict">Test</th></tr></thead>
        <tbody>
          {rows.map(({ one, test: { difference, low, high } }) => {
            const letter = relation(board, m, one, row);
            const words = `difference ${signed(difference, metric.digits)}${isNaN(low) ? "" : `, interval ${signed(low, metric.digits)} to ${signed(high, metric.digits)}`}`;
            return (
              <tr key={one} class={one === row ? "picked" : ""}>
                <td class="number">{fixed(rank[one], 0)}</td>
                <th scope="row" class="name">{one === row ? <bdi title={systemName(context, one)}>{systemName(context, one)}</bdi> : <SystemLink context={context} system={numberOf(board, one)} />}</th>
                <td class="wide number"><Value value={value(one)} digits={metric.digits} /></td>
                <td class="picture">{one !== row && !isNaN(difference) && <Line label={words}><Across at={at} value={0} kind="zero" /><Dot at={at} value={difference} low={low} high={high} kind={KINDS[letter]} /></Line>}</td>
                <td class="verdict">{one === row ? <span class="muted">this system</span> : <Link context={context} to={{ view: "pair", b: systemName(context, one) }}>{VERDICTS[letter]}</Link>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {board.columns[m].tier.some(Boolean) && rows.some(({ one }) => one !== row && !isTested(one)) && <p class="notes"><TierNote context={context} /></p>}
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
  const at = scale(span([0], sorted.map((q) => differences[q])), metric.direction < 0);
  const digits = Math.min(3, metric.digits);
  const sign = metric.direction < 0 ? -1 : 1;
  const heads = <><th scope="col" class="wide number">Value</th><th scope="col" class="number">vs. median</th><th scope="col" class="picture"><span class="hidden">Picture</span></th></>;
  const list = (title: string, queries: number[]) => queries.length > 0 && (
    <QueryTable context={context} queries={queries} title={title} heads={heads} pair={{ b: "" }}>
      {(q) => <>
        <td class="wide number"><Value value={values[q]} digits={metric.digits} /></td>
        <td class="number"><Value value={differences[q]} digits={digits} sign /></td>
        <td class="picture"><Line label={signed(differences[q], digits)}><Across at={at} value={0} kind="zero" /><Between at={at} from={0} to={differences[q]} kind={`bar ${differences[q] * sign < 0 ? "b" : "a"}`} /></Line></td>
      </>}
    </QueryTable>
  );
  return sorted.some((q) => differences[q] !== 0) ? (
    <Section title="Strongest and weakest queries" note={`Difference from the median system in ${metric.label}, query by query.`}>
      <div class="two">{list("Strongest", sorted.filter((q) => sign * differences[q] > 0).slice(0, QUERIES))}{list("Weakest", sorted.filter((q) => sign * differences[q] < 0).slice(-QUERIES).reverse())}</div>
    </Section>
  ) : null;
}

function Files({ context, row }: { context: Context; row: number }) {
  const { report, board, metric } = context;
  const files = board.files[row].map((i) => report.provenance.inputs[i]);
  return files.length || report.provenance.results ? (
    <Section title="Files and commands">
      <ul class="files">
        {files.map(([path, size, hash]) => <li key={path}><code>{path}</code> <span class="muted">{Number(size).toLocaleString("en")} bytes, SHA-256 <code title={hash}>{hash.slice(0, 12)}…</code></span></li>)}
      </ul>
      {report.provenance.results && <p>This command shows where the {metric.label} comes from: <Command text={trace(report, board, report.systems[board.systems[row]], metric)} /></p>}
    </Section>
  ) : null;
}
