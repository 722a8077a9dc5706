/** Systems x metrics of one dataset: sorted, filtered, with ranks, tiers and intervals. */

import type { Context } from "./view";
import { extent, keptRows, rowValues, systemName } from "./view";
import type { Numbers } from "./data";
import { ranked } from "./data";
import { MetricName, Panel, Select, Value, fixed } from "./text";

const COUNTS: Record<string, string> = {
  queries: "queries in the mean",
  missing: "queries without an answer",
  empty: "queries without relevant documents",
  tied: "documents with tied scores",
};

export function Leaderboard({ context }: { context: Context }) {
  const { report, state, board, metric, m } = context;
  const columns = context.choices.map((i) => ({ one: report.metrics[i], i }));
  const chosen = columns.filter(({ one }) => state.metrics.includes(one.name));
  const shown = chosen.length ? chosen : columns;
  const rows = sortedRows(context);
  const tiers = board.columns[m].tier;
  const plain = !state.convention;
  const withTiers = plain && tiers.some(Boolean);
  const counts = Object.keys(COUNTS).filter((name) => board.counts[name]);
  const best = shown.map(({ i }) => bestRows(context, i));
  const values = shown.map(({ i }) => rowValues(context, i));
  const scales = shown.map(({ i }) => extent([board.columns[i]], (one) => [one.value, one.low, one.high]));
  return (
    <>
      <Controls context={context} />
      <Panel
        title={board.dataset}
        aside={
          <span class="muted">
            {rows.length === board.systems.length ? `${rows.length} systems` : `${rows.length} of ${board.systems.length} systems`}
            {board.qids.length > 0 && `, ${board.qids.length.toLocaleString("en")} queries`}
          </span>
        }
      >
        <div class={`scroll${rows.length > 20 ? " long" : ""}`} tabIndex={0} role="region" aria-label={`Leaderboard of ${board.dataset}`}>
          <table class="board">
            <caption class="hidden">{`Leaderboard of ${board.dataset}, sorted by ${state.sort || metric.label}`}</caption>
            <thead>
              <tr>
                <th scope="col" class="number">Rank</th>
                <Heading context={context} name="system" text="System" />
                {shown.map(({ one }) => (
                  <Heading key={one.name} context={context} name={one.name} numeric text={<MetricName metric={one} />} />
                ))}
                {report.columns.map((name) => (
                  <Heading key={name} context={context} name={`column ${name}`} text={name} />
                ))}
                {state.counts && counts.map((name) => (
                  <Heading key={name} context={context} name={`count ${name}`} numeric text={name} title={COUNTS[name]} />
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, place) => {
                const system = report.systems[board.systems[row]];
                const fresh = withTiers && place > 0 && !shareTier(tiers[row], tiers[rows[place - 1]]);
                return (
                  <tr key={system.name} class={fresh ? "fresh" : ""}>
                    <td class="number rank">
                      <Rank context={context} row={row} plain={plain} />
                    </td>
                    <th scope="row" title={system.name}>
                      <bdi>{system.link ? <a href={system.link} rel="noreferrer">{system.name}</a> : system.name}</bdi>
                      {withTiers && tiers[row] && <>{" "}<span class="tier" title="Tests do not tell systems that share a tier apart">tier {tiers[row]}</span></>}
                      {board.warned[row] && <abbr class="warned" title={`The guard warns of ${board.warned[row]}`}>!</abbr>}
                    </th>
                    {shown.map(({ one, i }, k) => (
                      <td key={one.name} class={`number value${best[k].has(row) ? " best" : ""}`}>
                        <Value value={values[k][row]} digits={one.digits} />
                        {plain && <Interval context={context} row={row} m={i} scale={scales[k]} />}
                      </td>
                    ))}
                    {system.columns.map((value, i) => <td key={i} dir="auto" title={value}>{value}</td>)}
                    {state.counts && counts.map((name) => <td key={name} class="number">{fixed(board.counts[name][row], 0)}</td>)}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        <Notes context={context} withTiers={withTiers} />
      </Panel>
    </>
  );
}

/** Whether two systems share a tier; "1-2" is tiers 1 and 2. */
function shareTier(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split("-").map(Number));
  return one === other || (a[0] <= b[b.length - 1] && b[0] <= a[a.length - 1]);
}

function Rank({ context, row, plain }: { context: Context; row: number; plain: boolean }) {
  const column = context.board.columns[context.m];
  const rank = column.rank[row];
  if (!plain || isNaN(rank)) {
    const place = (values: Numbers) => {
      const sign = context.metric.direction < 0 ? -1 : 1;
      return isNaN(values[row]) ? NaN : 1 + values.filter((one) => sign * one > sign * values[row]).length;
    };
    const now = place(rowValues(context, context.m));
    return <>{isNaN(now) ? "–" : now}<Moved places={place(column.value) - now} /></>;
  }
  const low = column.rankLow[row];
  const high = column.rankHigh[row];
  return (
    <>
      {rank}
      {!isNaN(low) && low !== high && (
        <small title={`95% interval of the rank by ${context.metric.label}`}>{`${low}–${high}`}</small>
      )}
    </>
  );
}

function Moved({ places }: { places: number }) {
  if (!places || isNaN(places)) return null;
  return <small title="Places against the config's values">{places > 0 ? `▲ ${places}` : `▼ ${-places}`}</small>;
}

/** The interval of a value, on the column's own scale. */
function Interval({ context, row, m, scale }: { context: Context; row: number; m: number; scale: [number, number] }) {
  const column = context.board.columns[m];
  const value = column.value[row];
  const [low, high] = [column.low[row], column.high[row]];
  if (isNaN(value)) return null;
  const [least, most] = scale;
  const start = Math.min(0, least);
  const x = (number: number) => `${(100 * (number - start)) / (most - start || 1)}%`;
  const words = isNaN(low) ? "" : `95% interval ${fixed(low, context.report.metrics[m].digits)} to ${fixed(high, context.report.metrics[m].digits)}`;
  const places = { "--value": x(value), ...(words && { "--low": x(low), "--high": x(high) }) };
  return <span class="bar" role="img" aria-label={words || "no interval"} title={words} style={places} />;
}

function Heading({ context, name, text, title, numeric = false }: {
  context: Context;
  name: string;
  text: preact.ComponentChildren;
  numeric?: boolean;
  title?: string;
}) {
  const { state, go, metric, report } = context;
  const current = (state.sort || metric.name) === name;
  const isMetric = report.metrics.some((one) => one.name === name);
  const descending = isMetric ? (report.metrics.find((one) => one.name === name)!.direction >= 0) !== state.reversed : state.reversed;
  const sort = () =>
    go({ sort: isMetric ? "" : name, reversed: current && !state.reversed, ...(isMetric ? { metric: name } : {}) });
  return (
    <th scope="col" class={numeric ? "number" : ""} aria-sort={current ? (descending ? "descending" : "ascending") : undefined}>
      <button type="button" title={title} onClick={sort}>
        {text}
        <span class="order" aria-hidden="true">{current ? (descending ? "▾" : "▴") : ""}</span>
      </button>
    </th>
  );
}

export function sortedRows(context: Context): number[] {
  const { state, report, board, m } = context;
  const kept = new Set(keptRows(context));
  let rows: number[];
  const count = state.sort.startsWith("count ") ? board.counts[state.sort.slice(6)] : undefined;
  if (count) rows = ranked(count, -1);
  else if (state.sort) {
    const column = report.columns.findIndex((name) => state.sort === `column ${name}`);
    const text = (row: number) =>
      column < 0 ? systemName(context, row) : report.systems[board.systems[row]].columns[column];
    rows = Array.from(board.systems.keys()).sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }) || a - b);
  } else rows = ranked(rowValues(context, m), report.metrics[m].direction);
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
  return new Set(order.filter((row) => !isNaN(values[row]) && values[row].toFixed(digits) === top));
}

function Controls({ context }: { context: Context }) {
  const { report, state, go, board } = context;
  const toggle = (name: string) => {
    const now = state.metrics.length ? state.metrics : report.metrics.map((one) => one.name);
    const next = now.includes(name) ? now.filter((one) => one !== name) : [...now, name];
    go({ metrics: next.length === report.metrics.length || !next.length ? [] : next });
  };
  return (
    <div class="controls">
        {context.choice}
      <label class="field grow">
        <span>Filter</span>
        <input type="search" value={state.filter} placeholder="part of a name"
          onInput={(event) => go({ filter: event.currentTarget.value }, true)} />
      </label>
      {report.columns.map((name, i) => {
        const values = [...new Set(board.systems.map((system) => report.systems[system].columns[i]))].filter(Boolean);
        return values.length > 1 && values.length <= 100 ? (
          <Select key={name} label={name} value={state.where[name] ?? ""}
            options={[["", "all"], ...values.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).map((value): [string, string] => [value, value])]}
            onChange={(value) => go({ where: { ...state.where, [name]: value } })} />
        ) : null;
      })}
      {report.metrics.length > 1 && (
        <details class="menu">
          <summary>Metrics</summary>
          <fieldset>
            <legend class="hidden">Metrics shown</legend>
            {report.metrics.map((metric) => (
              <label key={metric.name}>
                <input type="checkbox" checked={!state.metrics.length || state.metrics.includes(metric.name)} onChange={() => toggle(metric.name)} />
                {metric.label}
              </label>
            ))}
          </fieldset>
        </details>
      )}
      <label class="check">
        <input type="checkbox" checked={state.counts} onChange={() => go({ counts: !state.counts })} />
        Counts
      </label>
    </div>
  );
}

function Notes({ context, withTiers }: { context: Context; withTiers: boolean }) {
  const { board, state, report, metric } = context;
  const plain = !state.convention;
  const withIntervals = board.columns.some((one) => one.low.some((low) => !isNaN(low)));
  const notes = [
    "Bold: the best value of its column, as shown. It is not a significance test.",
    ...(state.convention ? [] : [`Bars start at 0 and show the value${withIntervals ? " with its 95% interval over queries" : ""}.`]),
    ...(withTiers ? [`Tiers are by ${metric.label}: tests do not tell systems that share a tier apart. A line separates neighbours that share none.`] : []),
    ...(plain && !withTiers ? [typeof board.tests === "string" || board.tests.run.length ? `No tiers: ${metric.label} was not compared.` : report.comparisonNote] : []),
    ...(state.convention ? [`Values as ${state.convention} computes them. Ranks are by ${metric.label}; arrows count the places that a system moves.`] : []),
    ...board.notes,
  ];
  return <ul class="notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>;
}
