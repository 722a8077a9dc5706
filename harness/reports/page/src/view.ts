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
  /** Of intervals, in percent. */
  level: number;
  /** What the address asks for and the page does not have. */
  notices: string[];
  /** The boards of the dataset: all queries, and groups of them. */
  slices: Board[];
  /** The choice of dataset, metric and queries, which every view shows first. */
  choice: ComponentChildren;
  /** That of queries alone; the leaderboard of a phone shows it with further choices. */
  groups: ComponentChildren;
  /** Pixels for content, and whether the page has a phone's layout. */
  width: number;
  phone: boolean;
  /** Whether the page is on its way to paper. */
  printing: boolean;
}

export const PHONE = 760;

/** Pixels that the page's width leaves to content. */
export function contentWidth(): number {
  const width = document.documentElement.clientWidth;
  return Math.min(1400, Math.max(320, width)) - 2 * (width <= PHONE ? 16 : width <= 1100 ? 20 : 28);
}

/** Only the leaderboard has conventions. */
export function select(report: Report, address: State, go: Go): Context {
  const { view } = address;
  const at = Math.max(0, report.boards.findIndex((board) => board.dataset === address.dataset));
  const board = report.boards[at];
  const asked = view === "leaderboard" ? report.conventions.find((one) => one.name === address.convention) : undefined;
  const used = asked?.values[at].some(hasValues) ? asked : undefined;
  const state = { ...address, convention: used?.name ?? "" };
  const choices = Array.from(report.metrics.keys()).filter((i) => hasValues(used ? used.values[at][i] : board.columns[i].value));
  const named = report.metrics.findIndex((metric) => metric.name === state.metric);
  const first = choices.includes(report.deciding) ? report.deciding : (choices[0] ?? 0);
  const m = choices.includes(named) ? named : first;
  const notices: string[] = [];
  if (address.dataset && board.dataset !== address.dataset) notices.push(`This page has no dataset “${address.dataset}”. It shows ${board.dataset}.`);
  if (view === "leaderboard" && address.convention && !used)
    notices.push(`${board.dataset} has no values as ${address.convention} computes them. The page shows the values of this benchmark.`);
  if (state.metric && m !== named) {
    const label = report.metrics[named]?.label ?? `metric ${state.metric}`;
    const who = named < 0 ? "This page" : used ? used.tool : board.dataset;
    notices.push(`${who} has no ${label}. The page shows ${report.metrics[m].label}.`);
  }
  const source = report.boards.findIndex((one) => (one.key ?? one.dataset) === board.whole);
  const level = Math.round(100 * (1 - (board.testing?.alpha ?? 0.05)) * 10) / 10;
  const width = contentWidth();
  return { report, state, go, board, at, source, metric: report.metrics[m], m, choices, level, notices, choice: null, groups: null, slices: report.boards.filter((one) => one.whole === board.whole), width, phone: innerWidth <= PHONE, printing: false };
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

/** All rows, from the best by the metric. */
export function allRows(context: Context, m = context.m): number[] {
  return ranked(rowValues(context, m), context.report.metrics[m].direction);
}

/** The rank of a row: that of the tests, or its place among the values. */
export function placeOf(board: Board, m: number, row: number, direction: number): string {
  const { rank, value } = board.columns[m];
  const place = direction ? (isNaN(rank[row]) ? placeAmong(value, row, direction) : rank[row]) : NaN;
  return isNaN(place) ? "–" : String(place);
}

/** Equal values share a place. */
export function placeAmong(values: Numbers, row: number, direction: number): number {
  const sign = direction < 0 ? -1 : 1;
  return isNaN(values[row]) ? NaN : 1 + values.filter((one) => sign * one > sign * values[row]).length;
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
