/** The page's data: what Python wrote, and how it is unpacked. */

/** NaN where there is no number. */
export type Numbers = Float64Array;

/** A sentence for the reader: text, bold text, and links to systems (by number) and queries. */
export type Sentence = (string | { bold: string } | { system: number } | { query: string })[];

export interface Metric {
  /** As commands and the config call it. */
  name: string;
  /** As readers call it: nDCG@10, MAP. */
  label: string;
  explanation: string;
  /** 1: higher is better, -1: lower is better, 0: neither. */
  direction: number;
  /** The smallest and largest possible value. */
  low: number;
  high: number;
  digits: number;
  /** Of DCG and nDCG, if the page has rankings: the gain of each grade, and discounts by rank. */
  gains?: Record<string, number>;
  discounts?: Numbers;
}

export interface System {
  name: string;
  /** What commands call it, if the config's `names` give another name. */
  run?: string;
  link?: string;
  /** It is none, but the median or the best of all systems on each query. */
  reference?: true;
}

/** A column of placeholders or metadata: an entry a system. */
export interface Attribute {
  name: string;
  texts: string[];
  /** Of a column that has nothing else, such as latency. */
  numbers?: Numbers;
  /** Metrics can be drawn against these numbers; lower is better. */
  isCost: boolean;
}

/** Values of one metric: one entry per row of the board. */
export interface Column {
  value: Numbers;
  /** Means of the board's references, whose rows follow those of systems in queries and pairs. */
  references: Numbers;
  low: Numbers;
  high: Numbers;
  rank: Numbers;
  rankLow: Numbers;
  rankHigh: Numbers;
  tier: string[];
  /** Rows x queries, row by row. */
  queries: Numbers;
  /** Why no value is best, or "". */
  note: string;
  /** Tests that were corrected together; 0: this metric was not tested on this board. */
  family: number;
  /** Rows that all others were tested against; empty: every pair was, or none. */
  baselines: number[];
  /**
   * What the tests say of each pair of rows, a letter a pair, read with `relation`:
   * "+" the first is significantly better, "-" significantly worse, "~" not significantly different,
   * "=" same value on every query, "." not tested. Empty if the metric was not tested.
   */
  pairs: string;
  /** Of each query: the median system's value, and the correlation over systems of its values
   * with the mean of the other queries. */
  median: Numbers;
  discrimination: Numbers;
  /** 1: the query has one value for all systems, which tells nothing. */
  constant: Numbers;
  /** The sentence that opens the leaderboard, each system's view (by row), and the queries. */
  lede: Sentence;
  systemLedes: Sentence[];
  queryLede: Sentence;
}

/** A dataset, or a group of its queries. */
export interface Board {
  dataset: string;
  /** What commands call the dataset. */
  key?: string;
  /** Of a group: the column and label of its queries; "" for all queries. */
  group: string;
  /** The same for readers: "length: 70 or more"; "all queries" for all. */
  groupLabel: string;
  /** The dataset without the group. */
  whole: string;
  qids: string[];
  /** Numbers of the systems, one per row. */
  systems: number[];
  /** Indices of what systems are tested against that is none: the median, the best. */
  references: number[];
  columns: Column[];
  /** Of each row, the numbers of its files and of its warnings in `provenance`. */
  files: number[][];
  findings: number[][];
  notes: string[];
  testing?: { test: string; correction: string; alpha: number; tiers: string };
  /** Grades, lowest first, and the documents judged with each, a row a grade, a column a query;
   * absent where the judgements were not read. */
  grades?: number[];
  judged?: Numbers;
  tests: Part<Tests>;
  /** System and query as `system/qid`, or `ideal/qid`, to documents; none in groups. */
  rankings: Part<Record<string, Ranked[]>>;
}

/** A part of the page, or the path of the side file that holds it. */
export type Part<T> = T | string;

/** Tests as columns, one entry a test; metrics and systems by their numbers. */
export type Tests = Record<"metric" | "run" | "baseline" | "difference" | "low" | "high" | "p" | "adjusted", Numbers>;

/** A document of a ranking. */
export interface Ranked {
  docno: string;
  /** NaN in the ideal order. */
  score: number;
  /** NaN: unjudged. */
  grade: number;
  tied: boolean;
  text?: string;
}

/** A warning about files: `sentence` says what it is and what it does to the numbers. */
export interface Finding { rule: string; link: string; sentence: string }

/** Values of the page's metrics as another software computes them. */
export interface Convention {
  name: string;
  /** The software, such as LightGBM. */
  tool: string;
  /** Readers' names of the page's metrics; "" for those that it does not have. */
  labels: string[];
  /** Board, then metric, then row. */
  values: Numbers[][];
}

export interface Report {
  /** The title block; parts of it may be empty. */
  title: string;
  description: string;
  organiser: string;
  date: string;
  link: string;
  /** Number of the metric that decides the ranks. */
  deciding: number;
  /** Of intervals, in percent. */
  level: number;
  metrics: Metric[];
  columns: Attribute[];
  systems: System[];
  boards: Board[];
  /** Of a participant's page, the numbers of its systems; the view of the first opens. */
  participants?: number[];
  rankingDepth: number;
  /** Texts of queries. */
  texts?: Record<string, string>;
  conventions: Convention[];
  /** Earlier results: values by metric and row, and the sentence of each metric. */
  old?: { title: string; boards: { columns: Numbers[]; ledes: Sentence[] }[] };
  provenance: {
    facts: [string, string][];
    inputs: [string, string, string][];
    findings: Finding[];
    methods: string;
    config: string;
    commands: [string, string][];
    /** The results folder, as commands name it. */
    results: string;
    /** Small files that the page holds, and links to files next to it. */
    downloads: { name: string; bytes: number; type?: string; text?: string }[];
  };
}

/** Distinct values (float64) at `values`, and a code per entry at `codes`. */
type ArrayEntry = Record<"values" | "distinct" | "codes" | "size", number> & { width: keyof typeof CODES };
const CODES = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/** Unpack base64 of gzip of: length of the JSON text (uint32), the text, the arrays. */
export async function unpack<T>(packed: string): Promise<T> {
  const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as { report: T; arrays: ArrayEntry[] };
  const at = (offset: number, size: number) => buffer.slice(4 + length + offset, 4 + length + offset + size);
  const arrays = content.arrays.map(({ values, distinct, codes, width, size }) => {
    const numbers = new Float64Array(at(values, distinct * 8));
    return Float64Array.from(new CODES[width](at(codes, size * width)), (code) => numbers[code]);
  });
  putArrays(content as never, arrays);
  return content.report;
}

/** Replace every `{"$": i}` by array i, and null by NaN, which JSON does not have. */
function putArrays(node: Record<string, any>, arrays: Numbers[]): void {
  for (const [key, value] of Object.entries(node)) {
    if (value === null) node[key] = NaN;
    else if (typeof value === "object") "$" in value ? (node[key] = arrays[value.$]) : putArrays(value, arrays);
  }
}

/** What the tests say of row `a` against row `b`: a letter of `Column.pairs`. */
export function relation(board: Board, m: number, a: number, b: number): string {
  if (a > b) return { "+": "-", "-": "+" }[relation(board, m, b, a)] ?? relation(board, m, b, a);
  const n = board.systems.length + board.references.length;
  return board.columns[m].pairs[(a * (2 * n - a - 1)) / 2 + b - a - 1] ?? ".";
}

/** A command with further words; options without a value are left out. */
export function command(start: string, words: string[], options: Record<string, string>): string {
  const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);
  const given = Object.entries(options).filter(([, value]) => value).flat();
  return [start, ...[...words, ...given].map(quoted)].join(" ");
}

/** The command that traces a system's value, or its value for one query. */
export function trace({ provenance, boards }: Report, board: Board, system: System, metric: Metric, qid = ""): string {
  return command(`harness trace ${provenance.results}`, [], {
    "--run": system.run ?? system.name, "--metric": metric.name,
    "--dataset": boards.length > 1 ? (board.key ?? board.dataset) : "", "--query": qid,
  });
}

/** Values of one row of a column, by query. */
export function queryValues(column: Column, row: number, n: number): Numbers {
  return column.queries.subarray(row * n, (row + 1) * n);
}

/** The test of system `a` against `b`, by their numbers in the report, in either direction. */
export function tested(tests: Tests | undefined | null, m: number, a: number, b: number) {
  for (let i = 0; tests && i < tests.metric.length; i++) {
    const swapped = tests.run[i] === b && tests.baseline[i] === a;
    if (tests.metric[i] !== m || !(swapped || (tests.run[i] === a && tests.baseline[i] === b))) continue;
    const [difference, low, high] = [tests.difference[i], tests.low[i], tests.high[i]];
    return { ...(swapped ? { difference: -difference, low: -high, high: -low } : { difference, low, high }), p: tests.p[i], adjusted: tests.adjusted[i] };
  }
}

/** Values of one query, by row. */
export function ofQuery(board: Board, m: number, query: number): Numbers {
  return Float64Array.from(board.systems, (_, row) => board.columns[m].queries[row * board.qids.length + query]);
}

/** Rows from the best to the worst value; rows without a value come last. */
export function ranked(values: Numbers, direction: number): number[] {
  const sign = direction < 0 ? 1 : -1;
  return Array.from(values.keys()).sort(
    (a, b) => Number(isNaN(values[a])) - Number(isNaN(values[b])) || sign * (values[a] - values[b]) || a - b,
  );
}
