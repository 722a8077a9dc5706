/** What the reader looks at. It is kept in the URL's hash, so that a link shows what its sender saw. */

import { useEffect, useState } from "preact/hooks";

export type View = "leaderboard" | "pair" | "queries" | "ranking" | "changes" | "about";

export interface State {
  view: View;
  dataset: string;
  metric: string;
  /** Metrics shown in the leaderboard; empty: all. */
  metrics: string[];
  sort: string;
  reversed: boolean;
  filter: string;
  where: Record<string, string>;
  a: string;
  b: string;
  qid: string;
  /** Of the queries; empty: hardest first. */
  order: string;
  convention: string;
  counts: boolean;
}

const KEYS: Record<string, keyof State> = {
  v: "view", d: "dataset", m: "metric", ms: "metrics", s: "sort", r: "reversed", f: "filter",
  a: "a", b: "b", q: "qid", o: "order", c: "convention", n: "counts",
};

const EMPTY: State = {
  view: "leaderboard", dataset: "", metric: "", metrics: [], sort: "", reversed: false, filter: "",
  where: {}, a: "", b: "", qid: "", order: "", convention: "", counts: false,
};

export function parse(hash: string): State {
  const state: State = { ...EMPTY, where: {} };
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const name = KEYS[key];
    if (key.startsWith("w.")) state.where[key.slice(2)] = text;
    else if (name === "metrics") state.metrics = text.split("|");
    else if (name === "reversed" || name === "counts") state[name] = true;
    else if (name) (state as unknown as Record<string, string>)[name] = text;
  }
  return state;
}

export function format(state: State): string {
  const found = new URLSearchParams();
  for (const [key, name] of Object.entries(KEYS)) {
    const value = state[name];
    if (name === "view" && value === "leaderboard") continue;
    if (Array.isArray(value)) value.length && found.set(key, value.join("|"));
    else if (value === true) found.set(key, "1");
    else if (value) found.set(key, String(value));
  }
  for (const [column, value] of Object.entries(state.where)) if (value) found.set(`w.${column}`, value);
  return `#${found}`;
}

export type Go = (change: Partial<State>, replace?: boolean) => void;

/** Return the state of the address, and a function that changes it. */
export function useAddress(): [State, Go] {
  const [state, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const read = () => set(parse(location.hash));
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
    };
  }, []);
  const go: Go = (change, replace = false) => {
    const next = { ...parse(location.hash), ...change };
    if (location.protocol === "about:") location.hash = format(next); // in a notebook's frame
    else history[replace ? "replaceState" : "pushState"](null, "", format(next));
    set(next);
    if (change.view) scrollTo(0, 0);
  };
  return [state, go];
}
