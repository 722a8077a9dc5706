/** What every view receives, and the parts of the report that the address selects. */

import type { ComponentChildren } from "preact";
import type { Board, Column, Numbers, Report } from "./data";
import type { Go, State } from "./state";
import { ranked } from "./data";

const PHONE = 760;

export type Context = ReturnType<typeof select>;

export function select(report: Report, state: State, go: Go, printing = false) {
  const at = Math.max(0, report.boards.findIndex((board) => board.dataset === state.dataset));
  const board = report.boards[at];
  const asked = state.view === "leaderboard" && report.conventions.find((one) => one.name === state.convention);
  const convention = asked && asked.values[at].some(hasValues) ? asked : undefined;
  const choices = [...report.metrics.keys()].filter((i) => hasValues(convention ? convention.values[at][i] : board.columns[i].value));
  const named = report.metrics.findIndex((metric) => metric.name === state.metric);
  const first = choices.includes(report.deciding) ? report.deciding : (choices[0] ?? 0);
  const m = choices.includes(named) ? named : first;
  const page = document.documentElement.clientWidth;
  return {
    report, state, go, board, at, convention, m, choices, printing,
    metric: report.metrics[m],
    /** The board with all queries of the dataset, which has the rankings. */
    source: report.boards.find((one) => (one.key ?? one.dataset) === board.whole) ?? board,
    /** The boards of the dataset: all queries, and groups of them. */
    slices: report.boards.filter((one) => one.whole === board.whole),
    notices: [...noticesOf()],
    /** The choice of dataset, metric and queries, which every view shows first. */
    choice: null as ComponentChildren,
    /** That of queries alone; the leaderboard of a phone shows it with further choices. */
    groups: null as ComponentChildren,
    /** Pixels that the page's width leaves to content. */
    width: Math.min(1400, Math.max(320, page)) - 2 * (page <= PHONE ? 16 : page <= 1100 ? 20 : 28),
    phone: innerWidth <= PHONE,
  };

  /** What the address asks for and the page does not have. */
  function* noticesOf() {
    if (state.dataset && board.dataset !== state.dataset) yield `This page has no dataset “${state.dataset}”. It shows ${board.dataset}.`;
    if (asked !== false && state.convention && !convention) yield `${board.dataset} has no values as ${state.convention} computes them. The page shows the values of this benchmark.`;
    if (!state.metric || m === named) return;
    const who = named < 0 ? "This page" : (convention?.tool ?? board.dataset);
    yield `${who} has no ${report.metrics[named]?.label ?? `metric ${state.metric}`}. The page shows ${report.metrics[m].label}.`;
  }
}

function hasValues(values: Numbers): boolean {
  return !values.every(isNaN);
}

/** Values of one metric for the rows, of the selected convention. */
export function rowValues({ board, at, convention }: Context, m: number): Numbers {
  return convention ? convention.values[at][m] : board.columns[m].value;
}

/** All rows, from the best by the metric. */
export function allRows(context: Context, m = context.m): number[] {
  return ranked(rowValues(context, m), context.report.metrics[m].direction);
}

/** The rank of a row's value: equal values share it. */
export function placeAmong(values: Numbers, row: number, direction: number): number {
  const sign = direction < 0 ? -1 : 1;
  return isNaN(values[row]) || !direction ? NaN : 1 + values.filter((one) => sign * one > sign * values[row]).length;
}

export function systemName({ report, board }: Context, row: number): string {
  return report.systems[numberOf(board, row)].name;
}

/** The number in the report of a row; rows of references follow those of systems. */
export function numberOf({ systems, references }: Board, row: number): number {
  return systems[row] ?? references[row - systems.length];
}

/** The mean of a system or reference. */
export function meanOf({ value, references }: Column, row: number): number {
  return value[row] ?? references[row - value.length];
}

/** The rows of references. */
export function referenceRows({ systems, references }: Board): number[] {
  return references.map((_, i) => systems.length + i);
}

export function rowOf({ report, board }: Context, name: string): number {
  return board.systems.findIndex((system) => report.systems[system].name === name);
}

export function queryTitle({ report, board }: Context, query: number): string {
  return report.texts?.[board.qids[query]] ?? `query ${board.qids[query]}`;
}

/** The middle of the numbers. */
export function median(values: Numbers): number {
  const sorted = values.filter((value) => !isNaN(value)).sort();
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

/** The names of the board's systems, and of other rows, as a choice in the order of their letters and numbers. */
export function nameOptions(context: Context, others: number[] = []): [string, string][] {
  const names = [...context.board.systems.keys(), ...others].map((row) => systemName(context, row));
  return names.sort(byName).map((name) => [name, name]);
}

/** Compare texts as a reader sorts them: 9 before 10. */
export const byName = new Intl.Collator("en", { numeric: true }).compare;
