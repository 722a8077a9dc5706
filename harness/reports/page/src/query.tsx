/** One query: the values of all systems, and the rankings of two of them next to the ideal order. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Context } from "./view";
import type { Numbers, Ranked, Sentence } from "./data";
import { ofQuery, ranked, trace } from "./data";
import { useParts } from "./load";
import { usePoints } from "./picture";
import { Axis, rangeOf, scale, ticksOf } from "./marks";
import { byName, nameOptions, placeAmong, rowOf, systemName } from "./view";
import { Command, Lede, Link, Section, Select, SystemLink, Tip, Value, fixed } from "./text";

export function OneQuery({ context, query, rows }: { context: Context; query: number; rows: number[] }) {
  const { report, board, state, metric, m, source } = context;
  const qid = board.qids[query];
  const values = useMemo(() => ofQuery(board, m, query), [board, m, query]);
  const order = useMemo(() => ranked(values, metric.direction), [values]);
  const [named, other] = [rowOf(context, state.a), rowOf(context, state.b)];
  const a = named >= 0 ? named : rows.find((row) => row !== other)!;
  const b = other >= 0 && other !== a ? other : (order.find((row) => row !== a) ?? -1);
  const [loaded] = useParts([source.rankings]);
  const of = (row: number) => (row < 0 ? [] : (loaded?.[`${board.systems[row]}/${qid}`] ?? []));
  const [first, second, ideal] = [of(a), of(b), loaded?.[`ideal/${qid}`] ?? []];
  const places = useMemo(() => [...board.qids].sort(byName), [board]);
  const at = places.indexOf(qid);
  const step = (to: string | undefined, text: string) => to !== undefined && <> · <Link context={context} to={{ qid: to }}>{text}</Link></>;
  const title = report.texts?.[qid];
  return (
    <article class="query">
      <p class="crumb"><Link context={context} to={{ qid: "", b: "" }}>All queries</Link>{step(places[at - 1], `← ${places[at - 1]}`)}{step(places[at + 1], `${places[at + 1]} →`)}</p>
      <div class="heading"><h1 dir="auto">{title ?? `Query ${qid}`}</h1><p class="muted">{[title && `Query ${qid}`, judgements(context, query)].filter(Boolean).join(" · ")}</p></div>
      <Lede context={context} sentence={sentence(context, [a, b], [values[a], values[b]], board.columns[m].median[query], first, second)} />
      <div class="controls">{context.choice}</div>
      {rows.length > 1 && <Dots context={context} order={order} values={values} a={a} b={b} />}
      {loaded === undefined && <p class="empty">Loading the rankings ...</p>}
      {loaded === null && <p class="notice">The rankings need the file <code>{String(source.rankings)}</code> next to the page.</p>}
      {first.length + second.length > 0 && <Rankings context={context} a={a} b={b} lists={[first, second, ideal]} />}
      {report.provenance.results && <p class="notes">To see how the values come about: {[a, b].map((row) => row >= 0 && <Command key={row} text={trace(report, board, report.systems[board.systems[row]], metric, qid)} />)}</p>}
      {rows.length > 1 && <details class="fold">
        <summary>{`Values of all ${rows.length.toLocaleString("en")} systems`}</summary>
        <table class="list">
          <thead><tr><th scope="col" class="number">Rank</th><th scope="col">System</th><th scope="col" class="number">{metric.label}</th></tr></thead>
          <tbody>{order.map((row) => (
            <tr key={row}><td class="number">{isNaN(values[row]) ? "–" : placeAmong(values, row, metric.direction)}</td><th scope="row" class="name"><SystemLink context={context} system={board.systems[row]} /></th><td class="number"><Value value={values[row]} digits={metric.digits} /></td></tr>
          ))}</tbody>
        </table>
      </details>}
    </article>
  );
}

/** How many documents were judged with each grade. */
function judgements({ board }: Context, query: number): string {
  const { grades, judged, qids } = board;
  if (!grades || !judged) return "";
  const counts = grades.map((grade, i) => ({ grade, n: judged[i * qids.length + query] })).filter((one) => one.n > 0).reverse();
  return `judged documents: ${counts.map(({ grade, n }) => `${n.toLocaleString("en")} of grade ${fixed(grade, Number.isInteger(grade) ? 0 : 2)}`).join(", ") || "none"}`;
}

function sentence({ board, metric }: Context, [a, b]: number[], [one, two]: number[], median: number, first: Ranked[], second: Ranked[]): Sentence {
  const digits = Math.min(3, metric.digits);
  const reaches = (row: number, value: number, verb: string): Sentence => [{ system: board.systems[row] }, verb, ...(isNaN(value) ? ["no value"] : [{ bold: fixed(value, digits) }])];
  const opening: Sentence = [...reaches(a, one, " reaches "), ` in ${metric.label}`, ...(b >= 0 ? [" and ", ...reaches(b, two, " ")] : [])];
  const middle = b >= 0 && !isNaN(median) ? [`; the median system reaches ${fixed(median, digits)}`] : [];
  if (!first.length || !second.length) return [...opening, ...middle, "."];
  const depth = Math.min(10, Math.max(first.length, second.length));
  const [tops, others] = [first.slice(0, depth), second.slice(0, depth)];
  const shared = tops.filter((document) => others.some((each) => each.docno === document.docno)).length;
  const [left, right] = [tops, others].map((list) => list.filter((document) => isNaN(document.grade)).length);
  const unjudged = left + right ? `; ${left} and ${right} were not judged` : "";
  return [...opening, ...middle, `. Their first ${depth} have ${shared || "no"} ${shared === 1 ? "document" : "documents"} in common${unjudged}.`];
}

const SIZE = 7;

/** Every system as a dot over its value. */
function Dots({ context, order, values, a, b }: { context: Context; order: number[]; values: Numbers; a: number; b: number }) {
  const { report, metric, go, width } = context;
  const rows = order.filter((row) => !isNaN(values[row])).sort((x, y) => Number(y === a || y === b) - Number(x === a || x === b));
  const ends = rangeOf(metric, values);
  const at = scale(ends);
  const x = (value: number) => (at(value) / 100) * width;
  const levels = new Map<number, number>();
  const stacked = rows.map((row) => {
    const bin = Math.round(x(values[row]) / SIZE);
    levels.set(bin, (levels.get(bin) ?? 0) + 1);
    return { row, x: row === a || row === b ? x(values[row]) : bin * SIZE, level: levels.get(bin)! };
  });
  const tallest = Math.max(5, ...levels.values());
  const rise = Math.min(SIZE, 200 / tallest);
  const base = tallest * rise + 10;
  const points = stacked.map((one) => ({ ...one, y: base - (one.level - 0.5) * rise })).sort((p, q) => p.x - q.x || q.y - p.y);
  const choose = (row: number) => go(row === b ? { a: systemName(context, row), b: systemName(context, a) } : { a: systemName(context, row), b: b < 0 ? "" : systemName(context, b) });
  const { point, at: pointer, handlers } = usePoints(points, choose, false);
  return (
    <Section title="All systems on this query" note={`One dot a system, by ${metric.label}; click a dot to ${report.rankingDepth ? "show its ranking" : "choose its system"}.`}>
      <svg class="dots" viewBox={`0 0 ${width} ${base + 4}`} width="100%" role="application" tabIndex={0} {...handlers}
        aria-label={`${metric.label} of ${rows.length} systems on this query. Arrow keys move, Enter chooses the system. The table below has the values.`}>
        <line class="axis" x1="0" x2={width} y1={base + 1} y2={base + 1} />
        {points.map((one) => one.row === b
          ? <rect key={one.row} class="dot b" x={one.x - 5} y={one.y - 5} width="10" height="10" rx="2" />
          : <circle key={one.row} class={`dot${one.row === a ? " a" : ""}`} cx={one.x} cy={one.y} r={one.row === a ? 5.5 : 3} />)}
        {point && <circle class="ring" cx={point.x} cy={point.y} r="7" />}
      </svg>
      <Axis at={at} ticks={ticksOf(ends)} />
      {point && <Tip at={pointer}><b><bdi>{systemName(context, point.row)}</bdi></b><br />{metric.label} {fixed(values[point.row], metric.digits)}, rank {placeAmong(values, point.row, metric.direction)} of {rows.length} here</Tip>}
    </Section>
  );
}

/** Two rankings and the ideal order; lines join documents that both systems retrieve. */
function Rankings({ context, a, b, lists: [first, second, ideal] }: { context: Context; a: number; b: number; lists: Ranked[][] }) {
  const { go, report } = context;
  const box = useRef<HTMLDivElement>(null);
  const [lines, setLines] = useState<{ docno: string; d: string; relevant: boolean }[]>([]);
  const [hot, setHot] = useState("");
  const shared = first.filter((one) => second.some((each) => each.docno === one.docno));
  useLayoutEffect(() => {
    const measure = () => {
      const link = box.current?.querySelector("svg.links")?.getBoundingClientRect();
      if (!link) return;
      const middle = (list: number, docno: string) => {
        const row = box.current!.querySelectorAll("table")[list].querySelector(`tr[data-docno="${CSS.escape(docno)}"]`)!.getBoundingClientRect();
        return row.top + Math.min(17, row.height / 2) - link.top;
      };
      setLines(shared.map((one) => {
        const [from, to, x] = [middle(0, one.docno), middle(1, one.docno), link.width];
        return { docno: one.docno, relevant: one.grade > 0, d: `M2 ${from}C${x / 2} ${from} ${x / 2} ${to} ${x - 2} ${to}` };
      }));
    };
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, [first, second]);
  const options = nameOptions(context);
  const head = (kind: "a" | "b", row: number, other: number) => (
    <><i class={`mark ${kind}`} /><Select label={kind === "a" ? "System" : "Other system"} hidden value={systemName(context, row)} options={options}
      onChange={(name) => go({ [kind]: name, [kind === "a" ? "b" : "a"]: name === systemName(context, other) ? systemName(context, row) : other < 0 ? "" : systemName(context, other) })} /></>
  );
  const metric = context.metric.gains ? context.metric : undefined;
  return (
    <Section title="Rankings side by side" note={`The first ${report.rankingDepth} documents. Lines join the same document; blue lines join relevant ones.`}>
      <div class="rankings" ref={box} onMouseOver={(event) => setHot((event.target as Element).closest("[data-docno]")?.getAttribute("data-docno") ?? "")} onMouseLeave={() => setHot("")}>
        <List context={context} head={head("a", a, b)} name={systemName(context, a)} documents={first} hot={hot} />
        {b >= 0 && <svg class="links" aria-hidden="true">{lines.map((line) => <path key={line.docno} data-docno={line.docno} class={`${line.relevant ? "relevant" : ""}${line.docno === hot ? " hot" : ""}`} d={line.d} />)}</svg>}
        {b >= 0 && <List context={context} head={head("b", b, a)} name={systemName(context, b)} documents={second} hot={hot} />}
        {ideal.length > 0 && <List context={context} head="Ideal order" name="the ideal order" documents={ideal} hot={hot} ideal />}
      </div>
      <p class="notes">“?” was not judged and counts as not relevant.{metric && ` “Adds” is the gain of a document divided by the discount of its rank, as ${metric.label} adds them up.`}{first.concat(second).some((one) => one.tied) && " “tied”: another document of the query has the same score."}</p>
    </Section>
  );
}

function List({ context, head, name, documents, hot, ideal = false }: { context: Context; head: preact.ComponentChildren; name: string; documents: Ranked[]; hot: string; ideal?: boolean }) {
  const metric = context.metric.gains ? context.metric : undefined;
  const adds = documents.map((one, i) => (metric?.gains?.[String(one.grade)] ?? 0) / (metric?.discounts?.[i] ?? Infinity));
  const most = Math.max(1, ...(context.board.grades ?? []));
  const shade = (grade: number) => (isNaN(grade) ? "u" : grade <= 0 ? "0" : String(Math.max(1, Math.floor((3 * grade) / most))));
  const isNarrow = context.phone && !ideal;
  const minus = (text: string) => text.replace("-", "−");
  return (
    <table class={ideal ? "ideal" : ""} aria-label={`Ranking of ${name}`}>
      <colgroup><col class="number" /><col /><col class="number" />{!ideal && <col class="wide number" />}{metric && <col class="wide number" />}</colgroup>
      <thead><tr><th scope="col" class="number"><span class="rank">Rank</span></th><th scope="col" colSpan={isNarrow ? 2 : 1}>{head}</th>{!isNarrow && <th scope="col" class="number">Grade</th>}{!ideal && <th scope="col" class="wide number">Score</th>}{metric && <th scope="col" class="wide number">Adds</th>}</tr></thead>
      <tbody>
        {documents.map((one, i) => (
          <tr key={one.docno} data-docno={one.docno} class={one.docno === hot ? "hot" : ""}>
            <td class="number muted">{i + 1}</td>
            <th scope="row"><code dir="auto" title={one.docno}>{one.docno}</code>{one.tied && <small> tied</small>}{one.text && <p class="text" dir="auto">{one.text}</p>}</th>
            <td class="number"><span class={`grade g${shade(one.grade)}`} title={isNaN(one.grade) ? "not judged" : undefined}>{isNaN(one.grade) ? "?" : minus(String(one.grade))}</span></td>
            {!ideal && <td class="wide number muted"><span title={isNaN(one.score) ? "" : String(one.score)}>{isNaN(one.score) ? "–" : minus(String(Number(one.score.toPrecision(4))))}</span></td>}
            {metric && <td class="wide number">{adds[i] ? fixed(adds[i], 3) : "–"}</td>}
          </tr>
        ))}
      </tbody>
      {metric && <tfoot><tr><td /><th scope="row" colSpan={ideal ? 2 : 3}>Sum</th><td class="wide number"><Value value={adds.reduce((sum, one) => sum + one, 0)} digits={3} /></td></tr></tfoot>}
    </table>
  );
}
