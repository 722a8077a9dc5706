/** The page's data: what Python wrote, and how it is unpacked. */

/** One number per entry; NaN where there is none. */
export type Numbers = Float64Array;

export interface Metric {
  name: string;
  label: string;
  /** 1: higher is better, -1: lower is better, 0: neither. */
  direction: number;
  digits: number;
  /** Of DCG and nDCG, if the page has rankings: the gain of each grade, and discounts by rank. */
  gains?: Record<string, number>;
  discounts?: Numbers;
}

export interface System {
  name: string;
  /** What commands call it, if the config's `names` give another name. */
  run?: string;
  /** Values of the page's columns (placeholders and metadata), in their order. */
  columns: string[];
  link?: string;
}

/** Values of one metric: one entry per row of the board. */
export interface Column {
  value: Numbers;
  low: Numbers;
  high: Numbers;
  rank: Numbers;
  rankLow: Numbers;
  rankHigh: Numbers;
  tier: string[];
  n: Numbers;
  /** Rows x queries, row by row. */
  queries: Numbers;
  /** Why no value is best, or "". */
  note: string;
}

export interface Board {
  dataset: string;
  /** What commands call the dataset. */
  key?: string;
  /** Of a slice: its queries' column and label; "" for all queries. */
  group: string;
  /** The dataset without the group. */
  whole: string;
  qids: string[];
  /** Indices of the systems, one per row. */
  systems: number[];
  columns: Column[];
  counts: Record<string, Numbers>;
  /** Rules of the guard's warnings about each row. */
  warned: string[];
  notes: string[];
  tests: Part<Tests>;
  /** System and query as `system/qid`, or `ideal/qid`, to documents; none in slices. */
  rankings: Part<Record<string, Ranked[]>>;
}

/** A part of the page, or the path of the side file that holds it. */
export type Part<T> = T | string;

/** Tests as columns, one entry a test; metrics and systems by their numbers. */
export interface Tests {
  metric: Numbers;
  run: Numbers;
  baseline: Numbers;
  difference: Numbers;
  low: Numbers;
  high: Numbers;
  p: Numbers;
  adjusted: Numbers;
  significant: Numbers;
}

/** One document of a ranking. */
export interface Ranked {
  docno: string;
  /** NaN in the ideal order. */
  score: number;
  /** NaN: unjudged. */
  grade: number;
  tied: boolean;
  text?: string;
}

export interface Provenance {
  facts: [string, string][];
  inputs: [string, string, string][];
  findings: { severity: string; rule: string; link: string; text: string }[];
  methods: string;
  config: string;
  commands: [string, string][];
  /** The results folder, as commands name it. */
  results: string;
  /** Small files that the page holds, and links to files next to it. */
  downloads: { name: string; type?: string; text?: string }[];
}

export interface Switch {
  name: string;
  /** Board, then metric, then row. */
  values: Numbers[][];
}

export interface Report {
  title: string;
  metrics: Metric[];
  columns: string[];
  systems: System[];
  boards: Board[];
  comparisonNote: string;
  rankingDepth: number;
  /** Texts of queries. */
  texts?: Record<string, string>;
  conventions: Switch[];
  old?: { title: string; boards: { columns: Numbers[] }[] };
  provenance: Provenance;
}

/** Unpack base64 of gzip of: length of the JSON text (uint32), the text, the arrays. */
export async function unpack<T>(packed: string): Promise<T> {
  const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const { report, arrays } = JSON.parse(text) as { report: unknown; arrays: ArrayEntry[] };
  const start = 4 + length;
  const numbers = arrays.map((entry) => decode(buffer, start, entry));
  return resolve(report, numbers) as T;
}

/** Distinct values (float64) at `values`, and a code per entry at `codes`. */
interface ArrayEntry {
  values: number;
  distinct: number;
  codes: number;
  width: 1 | 2 | 4;
  size: number;
}

function decode(buffer: ArrayBuffer, start: number, entry: ArrayEntry): Numbers {
  const at = (offset: number, bytes: number) => buffer.slice(start + offset, start + offset + bytes);
  const values = new Float64Array(at(entry.values, entry.distinct * 8));
  const raw = at(entry.codes, entry.size * entry.width);
  const codes =
    entry.width === 1 ? new Uint8Array(raw) : entry.width === 2 ? new Uint16Array(raw) : new Uint32Array(raw);
  return Float64Array.from(codes, (code) => values[code]);
}

/** Replace every `{"$": i}` by array i, and null by NaN, which JSON does not have. */
function resolve(node: unknown, numbers: Numbers[]): unknown {
  if (node === null) return NaN;
  if (Array.isArray(node)) return node.map((one) => resolve(one, numbers));
  if (typeof node !== "object") return node;
  const entries = Object.entries(node);
  if (entries.length === 1 && entries[0][0] === "$") return numbers[entries[0][1] as number];
  return Object.fromEntries(entries.map(([key, value]) => [key, resolve(value, numbers)]));
}

/** Values of one row of a column, by query. */
export function queryValues(column: Column, row: number, n: number): Numbers {
  return column.queries.subarray(row * n, (row + 1) * n);
}

/** Rows from the best to the worst value; rows without a value come last. */
export function ranked(values: Numbers, direction: number): number[] {
  const sign = direction < 0 ? 1 : -1;
  return Array.from(values.keys()).sort(
    (a, b) => Number(isNaN(values[a])) - Number(isNaN(values[b])) || sign * (values[a] - values[b]) || a - b,
  );
}

export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  let n = 0;
  for (let i = 0; i < values.length; i++)
    if (!isNaN(values[i])) {
      sum += values[i];
      n++;
    }
  return n ? sum / n : NaN;
}
