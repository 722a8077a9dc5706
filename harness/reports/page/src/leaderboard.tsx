/** Systems x metrics of one dataset: a picture of all systems, and a table with ranks and intervals. */

import type { ComponentChildren } from "preact";
import type { Context } from "./view";
import type { Attribute } from "./data";
import { ranked, relation } from "./data";
import { Against, EveryQuery, Everyone } from "./picture";
import { Axis, extent, rangeOf, scale, ticksOf } from "./marks";
import { allRows, byName, meanOf, placeAmong, rowOf, rowValues, systemName } from "./view";
import { ColumnText, Key, Lede, MetricName, Select, SystemLink, everyDigit, fixed, interval, plural, ranks } from "./text";

/** Systems from which on a picture of them all stands above the table. */
const MANY = 26;
/** Pixels of the table's first columns: ranks, names, the metric and its picture. */
const firstColumns = ({ report, board }: Context) => 410 + Math.min(480, Math.max(230, ...board.systems.map((system) => 80 + 8 * report.systems[system].name.length)));

export type Reference = NonNullable<ReturnType<typeof referenceOf>>;

/** The colours of letters of `relation`; that of the reference itself is "same". */
export const KINDS: Record<string, string> = { "+": "over", "-": "under", "~": "same", "=": "same", "": "same", ".": "none" };
export const kindOf = (row: number, reference?: Reference): string => (reference ? KINDS[reference.letters[row]] : "a");

/** The picked row, or else the leader; none where nothing was tested. */
function referenceOf(context: Context, all: number[]) {
  const { board, m, state, convention } = context;
  if (convention || !board.columns[m].pairs) return undefined;
  const picked = rowOf(context, state.a);
  const row = picked >= 0 ? picked : (board.columns[m].baselines[0] ?? all[0]);
  return {
    row,
    /** Of each row, its letter of `relation` to the reference. */
    letters: board.systems.map((_, one) => (one === row ? "" : relation(board, m, one, row))),
  };
}

export function Leaderboard({ context }: { context: Context }) {
  const { report, state, board, m, printing, convention } = context;
  const all = allRows(context);
  const kept = new Set(keptRows(context));
  const reference = referenceOf(context, all);
  const axis = report.columns.find((column) => column.isCost && column.name === state.axis);
  const pictured = axis || all.length >= MANY;
  const extras = extrasOf(context);
  const shown = shownExtras(context, extras);
  return (
    <div class="leaderboard">
      {printing && report.boards.length > 1 && <h2>{board.dataset}</h2>}
      {convention ? <p class="lede">These are the values as <b>{convention.tool}</b> computes them.</p> : <Lede context={context} sentence={board.columns[m].lede} />}
      {axis ? <Against context={context} axis={axis} reference={reference} kept={kept} />
        : pictured && <Everyone context={context} order={all} reference={reference} kept={kept} />}
      {all.length === 1 && board.qids.length > 1 && <EveryQuery context={context} />}
      <Controls context={context} count={kept.size} extras={extras} shown={shown} />
      {!pictured && reference && <p class="keys"><Keys context={context} reference={reference} /></p>}
      <Table context={context} kept={kept} reference={reference} all={all} extras={shown} />
      {!kept.size && <Nothing context={context} />}
      <div class="notes">{notesOf(context).filter(Boolean).map((note) => <p key={note}>{note}</p>)}</div>
    </div>
  );
}

/** The rows that the filters keep. */
function keptRows({ report, state, board }: Context): number[] {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  return [...board.systems.keys()].filter((row) => {
    const system = board.systems[row];
    const text = [report.systems[system].name, ...report.columns.map((column) => column.texts[system])].join(" ").toLowerCase();
    const isChosen = report.columns.every(({ name, texts }) => !state.where[name] || texts[system] === state.where[name]);
    return isChosen && words.every((word) => text.includes(word));
  });
}

/** A metric's name, as the selected convention calls it. */
function nameIn({ report, convention }: Context, m: number): ComponentChildren {
  return convention ? `${convention.labels[m]} (${convention.tool})` : <MetricName metric={report.metrics[m]} />;
}

function notesOf(context: Context): string[] {
  const { board, convention, metric, m } = context;
  if (convention) return [`Ranks are by ${metric.label} of ${convention.tool}; ▲ and ▼ count the places that a system moves against the values of this benchmark.`];
  return [board.columns[m].pairs || board.systems.length < 2 ? "" : `Differences in ${metric.label} were not tested.`, ...board.notes].slice(0, 3);
}

/** What the colours stand for, with counts. */
export function Keys({ context, reference }: { context: Context; reference: Reference }) {
  const name = systemName(context, reference.row);
  const count = (letters: string) => reference.letters.filter((one) => one && letters.includes(one)).length;
  const words: [string, string, number][] = [
    ["over", "significantly better", count("+")], ["same", `not significantly different from ${name}`, count("~=")],
    ["under", "significantly worse", count("-")], ["none", `not tested against ${name}`, count(".")],
  ];
  return <>{words.filter(([, , n]) => n).map(([kind, text, n]) => <Key key={kind} kind={kind}>{n.toLocaleString("en")} {text}</Key>)}</>;
}

function Nothing({ context: { state, go, board } }: { context: Context }) {
  const asked = [state.filter, ...Object.values(state.where)].filter(Boolean).map((text) => `“${text}”`).join(" and ");
  return <p class="empty">No system matches {asked}. <button type="button" onClick={() => go({ filter: "", where: {} })}>Show all {plural(board.systems.length, "system")}</button></p>;
}

/** A column of the table after the chosen metric. */
interface Extra {
  id: string;
  title: ComponentChildren;
  hint?: string;
  /** Pixels. */
  width: number;
  /** Low numbers are shown first where not all fit. */
  order: number;
  kind: string;
  cell: (row: number) => ComponentChildren;
}

/** All columns that a reader can show. */
function extrasOf(context: Context): Extra[] {
  const { report, board, choices, m } = context;
  const { tier } = board.columns[m];
  const metrics = choices.filter((i) => i !== m).map((i) => {
    const { name, label, explanation } = report.metrics[i];
    return { id: name, title: nameIn(context, i), hint: explanation, width: Math.max(92, 30 + 7 * label.length), order: 2, kind: "number", cell: scoreOf(context, i) };
  });
  const columns = report.columns.map(({ name, texts, numbers, isCost }, i) => {
    const kind = numbers ? "number" : "text";
    const cell = (row: number) => <td key={i} class={kind}><ColumnText text={texts[board.systems[row]]} /></td>;
    return { id: `column ${name}`, title: name, width: 112, order: isCost ? 0 : i ? 3 : 1, kind, cell };
  });
  const hint = `Systems that share a tier are not significantly different. ${board.testing?.tiers ?? ""}`;
  const tiers = { id: "tier", title: "Tier", hint, width: 70, order: 0, kind: "number", cell: (row: number) => <td key="tier" class="number muted">{tier[row].replace("-", "–")}</td> };
  return [...metrics, ...(tier.some(Boolean) && !context.convention ? [tiers] : []), ...columns];
}

/** The columns that the reader chose, or those that fit. */
function shownExtras(context: Context, extras: Extra[]): Extra[] {
  const { state, phone, width, printing } = context;
  if (phone && !printing) return [];
  if (state.shown.length) return extras.filter((one) => state.shown.includes(one.id));
  let room = (printing ? 1500 : width) - firstColumns(context);
  const fitting = [...extras].sort((a, b) => a.order - b.order).filter((one) => room >= one.width && (room -= one.width, true));
  return extras.filter((one) => fitting.includes(one));
}

/** Cells of a metric: the value, bold if it is the best, with its interval below on the metric's range. */
function scoreOf(context: Context, m: number): (row: number) => ComponentChildren {
  const { report: { metrics, level }, board, convention } = context;
  const { low, high } = board.columns[m];
  const [values, best] = [rowValues(context, m), bestRows(context, m)];
  const at = scale(rangeOf(metrics[m], low, high));
  return (row) => {
    const isMarked = !convention && m !== context.m && !isNaN(low[row]);
    const title = everyDigit(values[row]) + (isMarked ? `\n${level}% interval ${interval(low[row], high[row], 3)}` : "");
    return (
      <td key={m} class={`number value${best.has(row) ? " best" : ""}${isMarked ? " marked" : ""}`} title={title} style={isMarked ? placed(at, values[row], low[row], high[row]) : undefined}>
        {fixed(values[row], metrics[m].digits)}
      </td>
    );
  };
}

/** Where the style sheet draws a value and its interval, as the background of a cell: elements would take longer. */
function placed(at: (value: number) => number, value: number, low: number, high: number) {
  const share = (number: number) => (at(number) / 100).toFixed(4);
  const ends = isNaN(low + high) ? {} : { "--low": share(low), "--high": share(high) };
  return isNaN(value) ? {} : { "--value": share(value), ...ends };
}

/** Rows that the filters do not keep are hidden, which is faster than to make them again. */
function Table({ context, kept, reference, all, extras }: { context: Context; kept: Set<number>; reference?: Reference; all: number[]; extras: Extra[] }) {
  const { report, state, go, board, metric, m, phone, printing, convention } = context;
  const { low, high, rankLow, rankHigh, baselines } = board.columns[m];
  const values = rowValues(context, m);
  const isWide = !phone && !printing && firstColumns(context) + extras.reduce((sum, one) => sum + one.width, 0) > context.width;
  const withRange = !convention && rankLow.some((one) => !isNaN(one));
  const ends = extent(metric, values, low, high);
  const [at, ticks] = [scale(ends), ticksOf(ends, phone ? 4 : 6)];
  const score = scoreOf(context, m);
  const line = (value: number, colours: string) => `repeating-linear-gradient(${colours}) ${at(value)}% 0 / 1px 20px repeat-y`;
  const mark = reference ? meanOf(board.columns[m], reference.row) : values[all[0]];
  const lines = [...(isNaN(mark) ? [] : [line(mark, "var(--a) 0 2px, transparent 2px 5px")]), ...ticks.map((tick) => line(tick, "var(--rule) 0 20px"))].join();
  const pick = (name: string) => {
    const { a, b } = state;
    if (name === a) go({ a: b, b: "" });
    else if (name === b) go({ b: "" });
    else go(a ? { b: name } : { a: name });
  };
  return (
    <div class={`scroll board${isWide ? " wide" : ""}`} {...(isWide ? { tabIndex: 0, role: "region", "aria-label": `Leaderboard of ${board.dataset}` } : {})}>
      <table class="board" style={{ "--lines": lines }}>
        <caption class="hidden">{`Leaderboard of ${board.dataset} by ${metric.label}`}</caption>
        <thead>
          <tr>
            {all.length > 1 && <th scope="col" class="pick"><span class="hidden">Compare</span></th>}
            <th scope="col" class="number rank">Rank</th>
            {withRange && <th scope="col" class="range" title={`${report.level}% interval of the rank`}>Range</th>}
            <Heading context={context} id="system" title="System" kind="name" />
            <Heading context={context} id={metric.name} title={nameIn(context, m)} kind="number" />
            <th scope="col" class="forest"><Axis at={at} ticks={ticks} /><span class="hidden">Interval</span></th>
            {extras.map((one) => <Heading key={one.id} context={context} {...one} />)}
          </tr>
        </thead>
        <tbody>
          {sortedRows(context).map((row) => {
            const { name } = report.systems[board.systems[row]];
            const isPicked = name === state.a || name === state.b;
            const warnings = board.findings[row].map((i) => report.provenance.findings[i].sentence);
            const between = convention ? "" : interval(low[row], high[row], 3);
            return (
              <tr key={name} class={`${kindOf(row, reference)}${isPicked ? " picked" : ""}`} hidden={!kept.has(row)}>
                {all.length > 1 && <td class="pick"><input type="checkbox" aria-label={`Pick ${name}`} checked={isPicked} onChange={() => pick(name)} /></td>}
                <td class="number rank"><Rank context={context} row={row} /></td>
                {withRange && <td class="range">{ranks(rankLow[row], rankHigh[row])}</td>}
                <th scope="row" class="name">
                  <SystemLink context={context} system={board.systems[row]} />
                  {baselines.includes(row) && <small class="muted"> baseline</small>}
                  {warnings.length > 0 && <abbr class="flag" title={warnings.join("\n")}><span class="hidden">, with warnings</span></abbr>}
                </th>
                {score(row)}
                <td class="forest" title={between && `${report.level}% interval ${between}`} style={placed(at, values[row], between ? low[row] : NaN, high[row])} />
                {extras.map((one) => one.cell(row))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The rank; of a convention, also how far that moves the system. */
function Rank({ context, row }: { context: Context; row: number }) {
  const { board, m, metric, convention } = context;
  const { rank } = board.columns[m];
  const now = convention ? placeAmong(rowValues(context, m), row, metric.direction) : rank[row];
  const places = rank[row] - now;
  return <>{isNaN(now) ? "–" : now}{places ? <small title="Places against the values of this benchmark">{places > 0 ? ` ▲${places}` : ` ▼${-places}`}</small> : null}</>;
}

function Heading({ context, id, title, hint, kind }: { context: Context; id: string; title: ComponentChildren; hint?: string; kind: string }) {
  const { state, go, metric, report } = context;
  const current = (state.sort || metric.name) === id;
  const own = report.metrics.find((one) => one.name === id);
  const descending = (own ? own.direction >= 0 : false) !== state.reversed;
  const sort = () => go({ sort: own ? "" : id, reversed: current && !state.reversed, ...(own ? { metric: id } : {}) });
  return (
    <th scope="col" class={kind} title={hint} aria-sort={current ? (descending ? "descending" : "ascending") : undefined}>
      {context.printing ? title : <button type="button" onClick={sort}>{title}</button>}
    </th>
  );
}

function sortedRows(context: Context): number[] {
  const { state, report, board, m } = context;
  const column = report.columns.find(({ name }) => state.sort === `column ${name}`);
  const text = (row: number) => column?.texts[board.systems[row]] ?? (state.sort === "tier" ? board.columns[m].tier[row] : systemName(context, row));
  let rows = allRows(context);
  if (column?.numbers) rows = ranked(Float64Array.from(board.systems, (system) => column.numbers![system]), -1);
  else if (state.sort) rows = [...board.systems.keys()].sort((a, b) => Number(!text(a)) - Number(!text(b)) || byName(text(a), text(b)) || a - b);
  return state.reversed ? rows.reverse() : rows;
}

/** Rows whose value is the best as shown; none where the board says why. */
function bestRows(context: Context, m: number): Set<number> {
  const { direction, digits } = context.report.metrics[m];
  const values = rowValues(context, m);
  const order = allRows(context, m);
  if (!direction || context.board.columns[m].note) return new Set();
  const best = order.filter((row) => values[row].toFixed(digits) === values[order[0]].toFixed(digits));
  return new Set(best.length < order.length ? best : []);
}

function Controls({ context, count, extras, shown }: { context: Context; count: number; extras: Extra[]; shown: Extra[] }) {
  const { report, state, go, board, phone, slices } = context;
  const total = board.systems.length;
  const ids = shown.map((one) => one.id);
  const toggle = (id: string) => go({ shown: ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id] });
  const costs = report.columns.filter((column) => column.isCost).map(({ name }): [string, string] => [name, `against ${name}`]);
  const tools = report.conventions.map(({ name, tool, labels }): [string, string] => [name, `${tool}: ${labels.filter(Boolean).join(", ") || "none of these metrics"}`]);
  const choices = (
    <>
      {phone && context.groups}
      {report.columns.map((column) => <Where key={column.name} context={context} column={column} />)}
      {costs.length > 0 && <Select label="Picture" value={state.axis} onChange={(axis) => go({ axis })} options={[["", total >= MANY ? "all systems" : "none"], ...costs]} />}
      {tools.length > 0 && <Select label="Convention" value={context.convention?.name ?? ""} onChange={(convention) => go({ convention })} options={[["", "this benchmark's"], ...tools]} />}
    </>
  );
  const hasChoices = report.columns.length + tools.length > 0 || slices.length > 1;
  return (
    <div class="controls">
      {context.choice}
      {total > 1 && <input type="search" class="filter" aria-label="Filter systems" value={state.filter} placeholder={phone ? "Filter" : "Filter systems"}
        onInput={(event) => go({ filter: event.currentTarget.value }, true)} />}
      {!phone && choices}
      {phone && hasChoices && <details class="menu"><summary>More</summary><fieldset><legend class="hidden">More choices</legend>{choices}</fieldset></details>}
      {!phone && extras.length > 0 && (
        <details class="menu">
          <summary>Columns</summary>
          <fieldset>
            <legend class="hidden">Columns shown</legend>
            {extras.map((one) => (
              <label key={one.id}>
                <input type="checkbox" checked={ids.includes(one.id)} onChange={() => toggle(one.id)} />
                <span>{one.title}</span>{one.hint && <small>{one.hint}</small>}
              </label>
            ))}
          </fieldset>
        </details>
      )}
      <span class="end muted" role="status">{count === total ? plural(total, "system") : `${count} of ${plural(total, "system")}`}{slices.length < 2 && board.qids.length > 0 && `, ${plural(board.qids.length, "query", "queries")}`}</span>
    </div>
  );
}

/** The choice among the texts of a column, if they are few. */
function Where({ context: { board, state, go }, column: { name, texts, numbers } }: { context: Context; column: Attribute }) {
  const values = [...new Set(board.systems.map((system) => texts[system]))].filter(Boolean).sort(byName);
  if (numbers || values.length < 2 || values.length > Math.min(12, board.systems.length - 1)) return null;
  return (
    <Select label={name} value={state.where[name] ?? ""} options={[["", "all"], ...values.map((value): [string, string] => [value, value])]}
      onChange={(value) => go({ where: { ...state.where, [name]: value } })} />
  );
}
