/** What every view receives, and the parts of the report that the address selects. */

import type { ComponentChildren } from "preact";
import type { Board, Column, Metric, Numbers, Report } from "./data";
import type { Go, State } from "./state";
import { ranked } from "./data";

export interface Context {
  report: Report;
  state: State;
  go: Go;
  /** The selected board and its number. */
  board: Board;
  at: number;
  /** The number of the board with all queries of the dataset, which rankings are kept by. */
  source: number;
  /** The selected metric and its number. */
  metric: Metric;
  m: number;
  /** The numbers of the metrics that can be selected. */
  choices: number[];
  /** What the address asks for and the page does not have. */
  notices: string[];
  /** The choice of dataset, metric and queries, which every view shows first. */
  choice: ComponentChildren;
  /** Whether the page is on its way to paper. */
  printing: boolean;
}

/** Only the leaderboard has conventions, and only metrics with gains explain a ranking. */
export function select(report: Report, address: State, go: Go): Context {
  const { view } = address;
  const at = Math.max(0, report.boards.findIndex((board) => board.dataset === address.dataset));
  const board = report.boards[at];
  const asked = view === "leaderboard" ? report.conventions.find((one) => one.name === address.convention) : undefined;
  const used = asked?.values[at].some(hasValues) ? asked : undefined;
  const state = { ...address, convention: used?.name ?? "" };
  const withValues = Array.from(report.metrics.keys()).filter((i) => hasValues(used ? used.values[at][i] : board.columns[i].value));
  const withGains = view === "ranking" ? withValues.filter((i) => report.metrics[i].gains) : [];
  const choices = withGains.length ? withGains : withValues;
  const named = report.metrics.findIndex((metric) => metric.name === state.metric);
  const m = choices.includes(named) ? named : (choices[0] ?? 0);
  const notices: string[] = [];
  if (view === "leaderboard" && address.convention && !used)
    notices.push(`This board has no values as ${address.convention} computes them. It shows the values of the config.`);
  if (state.metric && m !== named) {
    const [metric, shown] = [report.metrics[named]?.label ?? state.metric, report.metrics[m].label];
    const [who, what] = named < 0 ? ["This page", `metric ${metric}`] : used ? [used.name, metric] : withGains.length && withValues.includes(named) ? [metric, "gains"] : [board.dataset, `value of ${metric}`];
    notices.push(`${who} has no ${what}. The page shows ${shown}.`);
  }
  const source = report.boards.findIndex((one) => (one.key ?? one.dataset) === board.whole);
  return { report, state, go, board, at, source, metric: report.metrics[m], m, choices, notices, choice: null, printing: false };
}

function hasValues(values: Numbers): boolean {
  return !values.every(isNaN);
}

/** Values of one metric for the rows, of the selected convention. */
export function rowValues(context: Context, m: number): Numbers {
  const { report, state, board, at } = context;
  const other = report.conventions.find((one) => one.name === state.convention);
  return other ? other.values[at][m] : board.columns[m].value;
}

/** The rows that the filters keep. */
export function keptRows({ report, state, board }: Context): number[] {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  return Array.from(board.systems.keys()).filter((row) => {
    const system = report.systems[board.systems[row]];
    const text = [system.name, ...system.columns].join(" ").toLowerCase();
    const kept = report.columns.every((name, i) => !state.where[name] || system.columns[i] === state.where[name]);
    return kept && words.every((word) => text.includes(word));
  });
}

/** Kept rows, from the best by the selected metric. */
export function orderedRows(context: Context, m = context.m): number[] {
  const kept = new Set(keptRows(context));
  return ranked(rowValues(context, m), context.report.metrics[m].direction).filter((row) => kept.has(row));
}

export function systemName({ report, board }: Context, row: number): string {
  return report.systems[board.systems[row]].name;
}

export function rowOf({ report, board }: Context, name: string): number {
  return board.systems.findIndex((system) => report.systems[system].name === name);
}

/** The value that lies at `share` of the sorted numbers. */
export function quantile(values: number[], share: number): number {
  const sorted = values.filter((value) => !isNaN(value)).sort((a, b) => a - b);
  if (!sorted.length) return NaN;
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

export function extent(columns: Column[], pick: (column: Column) => Numbers[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns)
    for (const numbers of pick(column))
      for (const value of numbers) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
  return low <= high ? [low, high] : [0, 1];
}
