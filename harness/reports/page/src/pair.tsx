/** Two systems: their difference, as Python tested it, by metric, query and group. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Context } from "./view";
import type { Board, Metric, Sentence, Tests } from "./data";
import { command, queryValues, relation, tested } from "./data";
import { useParts } from "./load";
import { Across, Between, Dot, Line, mirrored, rangeOf, scale } from "./marks";
import { QueryBars } from "./picture";
import { allRows, meanOf, nameOptions, numberOf, referenceRows, rowOf, systemName } from "./view";
import { Command, GroupLink, Key, Lede, Link, MetricName, QueryTable, Section, Select, TierNote, Value, fixed, plural, probability, short, signed } from "./text";

const SHOWN = 15;

export function Pair({ context }: { context: Context }) {
  const { go, board, state } = context;
  const names = [...allRows(context), ...referenceRows(board)].map((row) => systemName(context, row));
  if (names.length < 2) return <p class="empty">This dataset has one system, so there is nothing to compare.</p>;
  const a = names.includes(state.a) ? state.a : names.find((name) => name !== state.b)!;
  const b = names.includes(state.b) && state.b !== a ? state.b : names.find((name) => name !== a)!;
  const options = nameOptions(context, referenceRows(board));
  return (
    <article class="compare">
      <div class="controls pair">
        <span class="mark a" /><Select label="System" hidden value={a} options={options} onChange={(value) => go({ a: value, b: value === b ? a : b })} />
        <button type="button" title="Swap the two systems" onClick={() => go({ a: b, b: a })}><span class="swap" /><span class="hidden">Swap</span></button>
        <span class="mark b" /><Select label="compared with" hidden value={b} options={options} onChange={(value) => go({ a: value === a ? b : a, b: value })} />
        {context.choice}
      </div>
      {[state.a, state.b].map((name) => name && !names.includes(name) && <p key={name} class="notice" role="status">{`${board.dataset} has no system called “${name}”.`}</p>)}
      <Two context={context} a={sideOf(context, a)} b={sideOf(context, b)} />
    </article>
  );
}

/** The row of a system or reference. */
function sideOf(context: Context, name: string): number {
  const row = rowOf(context, name);
  return row < 0 ? (referenceRows(context.board).find((one) => systemName(context, one) === name) ?? row) : row;
}

/** Two systems in one metric: what the files say, and what is counted from them. */
type Duel = ReturnType<typeof duel>;

function duel(board: Board, tests: Tests | undefined | null, metric: Metric, m: number, a: number, b: number) {
  const { queries } = board.columns[m];
  const [first, second] = [a, b].map((row) => meanOf(board.columns[m], row));
  const n = board.qids.length;
  const sign = metric.direction < 0 ? -1 : 1;
  const [one, two] = [queryValues(board.columns[m], a, n), queryValues(board.columns[m], b, n)];
  const shared = queries.length ? board.qids.map((_, query) => ({ query, first: one[query], second: two[query], value: one[query] - two[query] })).filter((each) => !isNaN(each.value)) : [];
  const test = tested(tests, m, numberOf(board, a), numberOf(board, b));
  return {
    first, second, test, difference: test?.difference ?? first - second,
    /** A letter of `relation`. */
    verdict: relation(board, m, a, b),
    /** Those that both have a value for, from the best for the first system. */
    queries: shared.sort((x, y) => sign * (y.value - x.value)),
    won: shared.filter((each) => sign * each.value > 0).length, lost: shared.filter((each) => sign * each.value < 0).length,
  };
}

function Two({ context, a, b }: { context: Context; a: number; b: number }) {
  const { report, board, m, metric, choices, slices } = context;
  const parts = useParts(slices.map((one) => one.tests));
  const tests = parts[slices.indexOf(board)];
  const duels = useMemo(() => new Map(choices.map((i) => [i, duel(board, tests, report.metrics[i], i, a, b)])), [board, tests, a, b, choices.join()]);
  const chosen = duels.get(m)!;
  const { queries, won, lost } = chosen;
  const names = [systemName(context, a), systemName(context, b)];
  const groups = slices.map((one, i) => ({ one, tests: parts[i], rows: names.map((name) => sideOf({ ...context, board: one }, name)) })).filter(({ rows }) => Math.min(...rows) >= 0);
  const { testing, columns: { [m]: { family } } } = board;
  const untested = [...duels].filter(([i, one]) => tests !== undefined && !one.test && report.metrics[i].direction && one.queries.length > 1).map(([i]) => report.metrics[i]);
  const runs = [b, a].map((row) => report.systems[numberOf(board, row)]).map(({ run, name }) => run ?? name);
  const comparison = command(`harness compare --results ${report.provenance.results}`, [...runs, ...untested.flatMap(({ name }) => ["--metric", name])], { "--dataset": report.boards.length > 1 ? board.whole : "" });
  return (
    <>
      <Lede context={context} sentence={sentence(context, chosen, a, b)} />
      {tests === null && <p class="notice">Intervals and p need the file <code>{String(board.tests)}</code> next to the page.</p>}
      {won + lost > 0 && (
        <QueryBars context={context} bars={queries} title="Difference on every query" note={`${metric.label}${metric.direction < 0 ? ", lower is better" : ""}; ${metric.direction ? `best for ${names[0]}` : "highest"} first. Click a bar to open its query.`}
          up={metric.direction < 0 ? -1 : 1} pair={{ a: names[0], b: names[1] }}
          aside={<><Key kind="a">{`${won.toLocaleString("en")} ${metric.direction ? "won by" : "higher for"} `}<bdi>{names[0]}</bdi></Key><Key kind="b">{`${lost.toLocaleString("en")} ${metric.direction ? "by" : "for"} `}<bdi>{names[1]}</bdi></Key></>}>
          {(i) => <>
            <bdi>{names[0]}</bdi> {fixed(queries[i].first, metric.digits)}<br /><bdi>{names[1]}</bdi> {fixed(queries[i].second, metric.digits)}<br />difference {signed(queries[i].value, metric.digits)}
          </>}
        </QueryBars>
      )}
      <Table context={context} title="Every metric" first="Metric" names={names} rows={[...duels].map(([i, one]) => ({
        duel: one, metric: report.metrics[i], chosen: i === m, head: <Link context={context} to={{ metric: report.metrics[i].name }}><MetricName metric={report.metrics[i]} /></Link>,
      }))} />
      {won + lost > 0 && <Queries context={context} queries={queries} names={names} />}
      {groups.length > 1 && <Table context={context} title={`${metric.label} by group of queries`} first="Queries" names={names} rows={groups.map(({ one, tests, rows }) => ({
        duel: duel(one, tests, metric, m, rows[0], rows[1]), metric,
        head: <GroupLink context={context} board={one} />,
      }))} />}
      <div class="notes">
        {chosen.verdict === "." && board.columns[m].tier.some(Boolean) && <p><TierNote context={context} /></p>}
        {testing && family > 0 && <p>{`The test is a ${testing.test} over ${plural(queries.length, "query", "queries")}.${family > 1 ? ` Corrected p-values use ${testing.correction} over ${plural(family, "test")}: they say whether a difference would still stand out among so many comparisons.` : ""}`}</p>}
        {untested.length > 0 && <p>{`Differences in ${new Intl.ListFormat("en-GB").format(untested.map(({ label }) => label))} were not tested, so they have no interval.`}{report.provenance.results && !board.group && Math.max(a, b) < board.systems.length && <> This command tests them: <Command text={comparison} /></>}</p>}
      </div>
    </>
  );
}

/** The sentence that opens the view. */
function sentence({ report: { level }, board, metric, m }: Context, { difference, first, second, test, verdict, queries, won, lost }: Duel, a: number, b: number): Sentence {
  const [one, two] = [{ system: numberOf(board, a) }, { system: numberOf(board, b) }];
  const [n, digits] = [plural(queries.length, "query", "queries"), Math.min(3, metric.digits)];
  const { label, direction } = metric;
  if (isNaN(first) || isNaN(second)) return [isNaN(first) ? one : two, ` has no value of ${label}, so there is nothing to compare.`];
  if (queries.length && won + lost === 0) return [one, " and ", two, ` have the same ${label} on ${queries.length === 1 ? "the only query" : `all ${n}`}.`];
  if (difference === 0) return [one, " and ", two, ` have the same ${label}, `, { bold: fixed(first, digits) }, `; the first wins ${won} of ${n} and loses ${lost}.`];
  const isAhead = difference * (direction || 1) > 0;
  const [low, high] = test ? (difference < 0 ? [-test.high, -test.low] : [test.low, test.high]) : [NaN, NaN];
  const interval = isNaN(low + high) ? "" : ` (${level}% interval ${signed(low, digits)} to ${signed(high, digits)})`;
  const [shown, least] = [fixed(Math.abs(difference), digits), 10 ** -digits];
  const size = { bold: Number(shown) ? shown : `less than ${least}` };
  const [more, fewer] = (isAhead ? [won, lost] : [lost, won]).map((count) => count.toLocaleString("en"));
  if (!direction) return [isAhead ? one : two, ` has a ${label} that is `, size, ` higher${interval}. Neither high nor low is better.`];
  const wins = queries.length > 1 ? `, winning ${more} of ${n} and losing ${fewer}` : "";
  const opening: Sentence = [isAhead ? one : two, " is ahead by ", size, ` in ${label}${direction < 0 ? ", where lower is better" : ""}${interval}${wins}.`];
  const corrected = test && !isNaN(test.adjusted) ? ` (${board.columns[m].family > 1 ? "corrected p" : "p"} ${probability(test.adjusted)})` : "";
  if ("+-".includes(verdict)) return [...opening, " The difference is ", { bold: "significant" }, `${corrected}.`];
  if ("~=".includes(verdict)) return [...opening, " The difference is ", { bold: "not significant" }, `${corrected}: chance in the choice of queries could produce it.`];
  return [...opening, board.columns[m].family ? " The tests compare systems with the baseline only, so this difference was not tested." : ` Differences in ${label} were not tested.`];
}

interface Row { duel: Duel; metric: Metric; head: ComponentChildren; chosen?: boolean }

/** Differences by metric or by group. The first system is better on the right. */
function Table({ context, title, first, names, rows }: { context: Context; title: string; first: string; names: string[]; rows: Row[] }) {
  const ends = ({ difference, test }: Duel) => [difference, test?.low ?? NaN, test?.high ?? NaN];
  /** Metrics without a range of 1 have no common axis: theirs ends at the larger value. */
  const isShared = (metric: Metric) => metric.high - metric.low <= 1 || rows.every((row) => row.metric === metric);
  const shared = mirrored(rows.filter(({ metric }) => isShared(metric)).flatMap(({ duel }) => ends(duel)));
  const picture = ({ duel, metric }: Row) => {
    const [difference, low, high] = ends(duel);
    const at = scale(isShared(metric) ? shared : mirrored([...ends(duel), duel.first, duel.second]), metric.direction < 0);
    const kind = { "+": "a", "-": "b" }[duel.verdict] ?? "none";
    return (
      <Line label={isNaN(low + high) ? signed(difference, metric.digits) : `${context.report.level}% interval ${signed(low, metric.digits)} to ${signed(high, metric.digits)}`}>
        <Across at={at} value={0} kind="zero" />{metric.direction !== 0 && !isNaN(difference) && <Dot at={at} value={difference} low={low} high={high} kind={kind} />}
      </Line>
    );
  };
  const words: Record<string, ComponentChildren> = { "+": <b class="a">yes</b>, "-": <b class="b">yes</b>, "~": "no", "=": "no" };
  return (
    <Section title={title} note={<><bdi>{names[0]}</bdi> minus <bdi>{names[1]}</bdi>, with interval; grey if not significant or not tested.</>}>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead><tr>
            <th scope="col">{first}</th>
            {names.map((name, i) => <th key={i} scope="col" class="wide number"><i class={`mark ${"ab"[i]}`} /><bdi title={name}>{name}</bdi></th>)}
            <th scope="col" class="number">Difference</th>
            <th scope="col" class="picture"><span class="hidden">Picture</span><span class="ends sides"><span><i class="mark b" /><span class="wide">better</span></span><span><i class="mark a" /><span class="wide">better</span></span></span></th>
            <th scope="col" class="wide number">{context.report.level}% interval</th><th scope="col" class="wide number">Corrected p</th><th scope="col" class="verdict">Significant</th>
            <th scope="col" class="wide number">Won / tied / lost</th>
          </tr></thead>
          <tbody>
            {rows.map((row, i) => {
              const { metric: { digits, direction }, duel: { first, second, difference, test, verdict, queries, won, lost } } = row;
              return (
                <tr key={i} class={row.chosen ? "chosen" : ""}>
                  <th scope="row">{row.head}</th>
                  {[first, second].map((value, i) => <td key={i} class={`wide number${direction * difference * (i ? -1 : 1) > 0 ? " best" : ""}`}><Value value={value} digits={digits} /></td>)}
                  <td class="number"><Value value={difference} digits={digits} sign /></td>
                  <td class="picture">{picture(row)}</td>
                  <td class="wide number">{test && !isNaN(test.low + test.high) ? `${signed(test.low, 3)} to ${signed(test.high, 3)}` : "–"}</td>
                  <td class="wide number">{test ? <span title={`corrected ${test.adjusted}, uncorrected ${test.p}`}>{probability(test.adjusted)}</span> : "–"}</td>
                  <td class="verdict">{words[verdict] ?? (direction ? <span class="muted">not tested</span> : "–")}</td>
                  <td class="wide number">{queries.length ? [won, queries.length - won - lost, lost].map((count) => count.toLocaleString("en")).join(" / ") : "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** The values of both systems for each query: where the first is better, and where the second is. */
function Queries({ context, queries, names: [a, b] }: { context: Context; queries: Duel["queries"]; names: string[] }) {
  const { metric } = context;
  const [least, most] = rangeOf(metric, queries.flatMap((one) => [one.first, one.second]));
  const [at, digits, sign] = [scale([least, most]), Math.min(3, metric.digits), metric.direction < 0 ? -1 : 1];
  const word = metric.direction ? "better" : "higher";
  const ties = queries.filter(({ value }) => !value).length;
  const by = new Map(queries.map((one) => [one.query, one]));
  const heads = <><th scope="col" class="number">Difference</th><th scope="col" class="picture"><span class="ends"><span>{short(least)}</span><span class="wide">{metric.label}</span><span>{short(most)}</span></span></th></>;
  const list = (name: string, part: Duel["queries"]) => part.length ? (
    <QueryTable context={context} queries={part.map((one) => one.query)} title={`${name} ${word}`} first={SHOWN} heads={heads} pair={{ a, b }}>
      {(q) => {
        const { first, second, value } = by.get(q)!;
        return <>
          <td class="number"><Value value={value} digits={digits} sign /></td>
          <td class="picture"><Line label={`${fixed(first, digits)} and ${fixed(second, digits)}`}>
            <Between at={at} from={least} to={most} kind="rail" /><Between at={at} from={first} to={second} kind={sign * value > 0 ? "a" : "b"} />
            <Dot at={at} value={second} kind="b" /><Dot at={at} value={first} kind="a" />
          </Line></td>
        </>;
      }}
    </QueryTable>
  ) : <p class="empty">{`${name} is ${word} on no query.`}</p>;
  return (
    <Section title="Every query" note={`Largest differences first.${ties ? ` ${plural(ties, "query", "queries")} with equal values ${ties === 1 ? "is" : "are"} not listed.` : ""}${context.report.rankingDepth ? " A query leads to both rankings." : ""}`} aside={<><Key kind="a"><bdi>{a}</bdi></Key><Key kind="b"><bdi>{b}</bdi></Key></>}>
      <div class="two">{list(a, queries.filter(({ value }) => sign * value > 0))}{list(b, queries.filter(({ value }) => sign * value < 0).reverse())}</div>
    </Section>
  );
}
