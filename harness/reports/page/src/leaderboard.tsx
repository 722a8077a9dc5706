/** Systems x metrics of one dataset: a picture of all systems, and a table with ranks and intervals. */

import type { ComponentChildren } from "preact";
import type { Context } from "./view";
import type { NumberColumn, Numbers } from "./data";
import { ranked, relation } from "./data";
import { Against, EveryQuery, Everyone } from "./picture";
import { Axis, Dot, Line, extent, rangeOf, scale, ticksOf } from "./marks";
import { byName, keptRows, meanOf, placeAmong, rowOf, rowValues, systemName } from "./view";
import { ColumnText, Key, Lede, MetricName, Select, SystemLink, Value, interval, plural, ranks } from "./text";

/** Systems from which on a picture of them all stands above the table. */
const MANY = 26;

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
  const { report, state, board, metric, m, printing, convention } = context;
  const all = ranked(rowValues(context, m), metric.direction);
  const rows = sortedRows(context);
  const reference = referenceOf(context, all);
  const drawn = report.axes.find((column) => report.columns[column] === state.axis);
  const axis = drawn === undefined ? undefined : numbersOf(context, drawn);
  const { lede } = board.columns[m];
  const pictured = axis || all.length >= MANY;
  const extras = extrasOf(context);
  const shown = shownExtras(context, extras);
  return (
    <div class="leaderboard">
      {printing && report.boards.length > 1 && <h2>{board.dataset}</h2>}
      {convention ? <p class="lede">These are the values as <b>{convention.tool}</b> computes them.</p> : <Lede context={context} sentence={lede} />}
      {axis ? <Against context={context} axis={axis} reference={reference} kept={new Set(rows)} />
        : pictured && <Everyone context={context} order={all} reference={reference} kept={new Set(rows)} />}
      {all.length === 1 && board.qids.length > 1 && <EveryQuery context={context} />}
      <Controls context={context} count={rows.length} extras={extras} now={shown.map((one) => one.id)} />
      {!pictured && reference && <p class="keys"><Keys context={context} reference={reference} /></p>}
      {rows.length ? <Table context={context} rows={rows} reference={reference} all={all} extras={shown} /> : <Nothing context={context} />}
      <div class="notes">{notesOf(context).filter(Boolean).map((note) => <p key={note}>{note}</p>)}</div>
    </div>
  );
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
  const count = (...letters: string[]) => reference.letters.filter((one) => letters.includes(one)).length;
  const words: [string, string, number][] = [
    ["over", "significantly better", count("+")], ["same", `not told apart from ${name}`, count("~", "=")],
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
  const { report, board, choices, m, convention } = context;
  const tier = convention ? [] : board.columns[m].tier;
  const metrics = choices.filter((i) => i !== m).map((i) => {
    const { name, label, explanation } = report.metrics[i];
    const best = bestRows(context, i);
    const cell = (row: number) => <><Score context={context} m={i} row={row} best={best} />{!convention && <Mini context={context} m={i} row={row} />}</>;
    return { id: name, title: nameIn(context, i), hint: explanation, width: Math.max(92, 30 + 7 * label.length), order: 2, kind: convention ? "number value" : "number value marked", cell };
  });
  const columns = report.columns.map((title, i) => {
    const isCost = report.axes.includes(i);
    const kind = numbersOf(context, i) ? "number" : "text";
    const cell = (row: number) => <ColumnText text={report.systems[board.systems[row]].columns[i]} />;
    return { id: `column ${title}`, title, width: 112, order: isCost ? 0 : i ? 3 : 1, kind, cell };
  });
  const hint = "Systems that share a tier are not told apart by the tests";
  const tiers = tier.some(Boolean) ? [{ id: "tier", title: "Tier", hint, width: 70, order: 0, kind: "number tier", cell: (row: number) => tier[row].replace("-", "–") }] : [];
  return [...metrics, ...tiers, ...columns];
}

/** The columns that the reader chose, or those that fit. */
function shownExtras({ state, phone, width, printing }: Context, extras: Extra[]): Extra[] {
  if (phone && !printing) return [];
  if (state.shown.length) return extras.filter((one) => state.shown.includes(one.id));
  let room = (printing ? 1500 : width) - 640;
  const fitting = [...extras].sort((a, b) => a.order - b.order).filter((one) => room >= one.width && (room -= one.width, true));
  return extras.filter((one) => fitting.includes(one));
}

/** A value of a system, bold if it is the best. */
function Score({ context, m, row, best }: { context: Context; m: number; row: number; best: Set<number> }) {
  const value = <Value value={rowValues(context, m)[row]} digits={context.report.metrics[m].digits} />;
  return best.has(row) ? <span class="best">{value}</span> : value;
}

function Table({ context, rows, reference, all, extras }: { context: Context; rows: number[]; reference?: Reference; all: number[]; extras: Extra[] }) {
  const { report, state, go, board, metric, m, phone, printing } = context;
  const column = board.columns[m];
  const values = rowValues(context, m);
  const plain = !context.convention;
  const wide = !phone && !printing && 640 + extras.reduce((sum, one) => sum + one.width, 0) > context.width;
  const withRange = plain && column.rankLow.some((low) => !isNaN(low));
  const ends = extent(metric, values, column.low, column.high);
  const [at, ticks] = [scale(ends), ticksOf(ends, phone ? 4 : 6)];
  const best = bestRows(context, m);
  const line = (value: number, colours: string) => `repeating-linear-gradient(${colours}) ${at(value)}% 0 / 1px 20px repeat-y`;
  const mark = reference ? meanOf(column, reference.row) : values[all[0]];
  /** Lines down the column, as a background: elements in each row would take longer to draw. */
  const lines = [...(isNaN(mark) ? [] : [line(mark, "var(--a) 0 2px, transparent 2px 5px")]), ...ticks.map((tick) => line(tick, "var(--rule) 0 20px"))].join();
  const pick = (name: string) => {
    const { a, b } = state;
    if (name === a) go({ a: b, b: "" });
    else if (name === b) go({ b: "" });
    else go(a ? { b: name } : { a: name });
  };
  return (
    <div class={`scroll board${wide ? " wide" : ""}`} {...(wide ? { tabIndex: 0, role: "region", "aria-label": `Leaderboard of ${board.dataset}` } : {})}>
      <table class="board" style={{ "--lines": lines }}>
        <caption class="hidden">{`Leaderboard of ${board.dataset} by ${metric.label}`}</caption>
        <thead>
          <tr>
            {all.length > 1 && <th scope="col" class="pick"><span class="hidden">Compare</span></th>}
            <th scope="col" class="number rank">Rank</th>
            {withRange && <th scope="col" class="range" title={`${report.level}% interval of the rank`}>range</th>}
            <Heading context={context} id="system" title="System" kind="name" />
            <Heading context={context} id={metric.name} title={nameIn(context, m)} kind="number" />
            <th scope="col" class="forest"><Axis at={at} ticks={ticks} /><span class="hidden">Interval</span></th>
            {extras.map((one) => <Heading key={one.id} context={context} {...one} />)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const system = report.systems[board.systems[row]];
            const kind = kindOf(row, reference);
            const picked = system.name === state.a || system.name === state.b;
            const warnings = board.findings[row].map((i) => report.provenance.findings[i].sentence);
            return (
              <tr key={system.name} class={`${kind}${picked ? " picked" : ""}`}>
                {all.length > 1 && <td class="pick"><input type="checkbox" aria-label={`Pick ${system.name}`} checked={picked} onChange={() => pick(system.name)} /></td>}
                <td class="number rank"><Rank context={context} row={row} values={values} /></td>
                {withRange && <td class="range">{ranks(column.rankLow[row], column.rankHigh[row])}</td>}
                <th scope="row" class="name" title={system.name}>
                  <SystemLink context={context} system={board.systems[row]} />
                  {column.baselines.includes(row) && <small class="muted"> baseline</small>}
                  {warnings.length > 0 && <abbr class="flag" title={warnings.join("\n")}><span class="hidden">, with warnings</span></abbr>}
                </th>
                <td class="number value"><Score context={context} m={m} row={row} best={best} /></td>
                <td class="forest">
                  <Line label={plain ? interval(column.low[row], column.high[row], 3) : ""}>
                    <Dot at={at} value={values[row]} low={plain ? column.low[row] : NaN} high={column.high[row]} kind={kind} />
                  </Line>
                </td>
                {extras.map((one) => <td key={one.id} class={one.kind}>{one.cell(row)}</td>)}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** An interval inside the row, on the range of its metric. */
function Mini({ context, m, row }: { context: Context; m: number; row: number }) {
  const { report: { metrics }, board } = context;
  const { value, low, high } = board.columns[m];
  if (isNaN(low[row]) || isNaN(value[row])) return null;
  const at = scale(rangeOf(metrics[m], low, high));
  const place = (number: number) => `${at(number).toFixed(1)}%`;
  const words = interval(low[row], high[row], 3);
  return <span class="mini" role="img" aria-label={words} title={`${context.report.level}% interval ${words}`} style={{ "--value": place(value[row]), "--low": place(low[row]), "--high": place(high[row]) }} />;
}

function Rank({ context, row, values }: { context: Context; row: number; values: Numbers }) {
  const { board, m, metric, convention } = context;
  const column = board.columns[m];
  if (!convention && !isNaN(column.rank[row])) return <>{column.rank[row]}</>;
  const now = metric.direction ? placeAmong(values, row, metric.direction) : NaN;
  const places = placeAmong(column.value, row, metric.direction) - now;
  return <>{isNaN(now) ? "–" : now}{convention && places ? <small title="Places against the values of this benchmark">{places > 0 ? ` ▲${places}` : ` ▼${-places}`}</small> : null}</>;
}

function Heading({ context, id, title, kind }: { context: Context; id: string; title: ComponentChildren; kind: string }) {
  const { state, go, metric, report } = context;
  const current = (state.sort || metric.name) === id;
  const own = report.metrics.find((one) => one.name === id);
  const descending = (own ? own.direction >= 0 : false) !== state.reversed;
  const sort = () => go({ sort: own ? "" : id, reversed: current && !state.reversed, ...(own ? { metric: id } : {}) });
  return (
    <th scope="col" class={kind} aria-sort={current ? (descending ? "descending" : "ascending") : undefined}>
      {context.printing ? title : <button type="button" onClick={sort}>{title}</button>}
    </th>
  );
}

/** The numbers of a column that has nothing else. */
function numbersOf({ report }: Context, column: number): NumberColumn | undefined {
  return report.numbers.find((one) => one.column === column);
}

export function sortedRows(context: Context): number[] {
  const { state, report, board, m } = context;
  const kept = new Set(keptRows(context));
  const column = report.columns.findIndex((name) => state.sort === `column ${name}`);
  const text = (row: number) => (column >= 0 ? report.systems[board.systems[row]].columns[column] : state.sort === "tier" ? board.columns[m].tier[row] : systemName(context, row));
  const numbers = numbersOf(context, column);
  let rows: number[];
  if (!state.sort) rows = ranked(rowValues(context, m), report.metrics[m].direction);
  else if (numbers) rows = ranked(Float64Array.from(board.systems, (system) => numbers.values[system]), -1);
  else rows = Array.from(board.systems.keys()).sort((a, b) => Number(!text(a)) - Number(!text(b)) || byName(text(a), text(b)) || a - b);
  rows = rows.filter((row) => kept.has(row));
  return state.reversed ? rows.reverse() : rows;
}

/** Rows whose value is the best as shown; none where the board says why. */
function bestRows(context: Context, m: number): Set<number> {
  const { direction, digits } = context.report.metrics[m];
  const values = rowValues(context, m);
  const order = ranked(values, direction);
  if (!direction || context.board.columns[m].note || order.length < 2 || isNaN(values[order[0]])) return new Set();
  const top = values[order[0]].toFixed(digits);
  const best = order.filter((row) => !isNaN(values[row]) && values[row].toFixed(digits) === top);
  return new Set(best.length < order.length ? best : []);
}

function Controls({ context, count, extras, now }: { context: Context; count: number; extras: Extra[]; now: string[] }) {
  const { report, state, go, board, phone } = context;
  const toggle = (id: string) => go({ shown: now.includes(id) ? now.filter((one) => one !== id) : [...now, id] });
  const total = board.systems.length;
  const choices = (
    <>
      {phone && context.groups}
      {report.columns.map((name, i) => {
        const values = [...new Set(board.systems.map((system) => report.systems[system].columns[i]))].filter(Boolean);
        return values.length > 1 && values.length <= Math.min(12, total - 1) && !numbersOf(context, i) ? (
          <Select key={name} label={name} value={state.where[name] ?? ""}
            options={[["", "all"], ...values.sort(byName).map((value): [string, string] => [value, value])]}
            onChange={(value) => go({ where: { ...state.where, [name]: value } })} />
        ) : null;
      })}
      {report.axes.length > 0 && <Select label="Picture" value={state.axis} onChange={(axis) => go({ axis })}
        options={[["", total >= MANY ? "all systems" : "none"], ...report.axes.map((column): [string, string] => [report.columns[column], `against ${report.columns[column]}`])]} />}
      {report.conventions.length > 0 && <Select label="Convention" value={context.convention?.name ?? ""} onChange={(convention) => go({ convention })}
        options={[["", "this benchmark's"], ...report.conventions.map((one): [string, string] => [one.name, `${one.tool}: ${one.labels.filter(Boolean).join(", ") || "none of these metrics"}`])]} />}
    </>
  );
  const hasChoices = report.columns.length + report.axes.length + report.conventions.length > 0 || context.slices.length > 1;
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
                <input type="checkbox" checked={now.includes(one.id)} onChange={() => toggle(one.id)} />
                <span>{one.title}</span>{one.hint && <small>{one.hint}</small>}
              </label>
            ))}
          </fieldset>
        </details>
      )}
      <span class="end muted" role="status">{count === total ? plural(total, "system") : `${count} of ${plural(total, "system")}`}{context.slices.length < 2 && board.qids.length > 0 && `, ${plural(board.qids.length, "query", "queries")}`}</span>
    </div>
  );
}
