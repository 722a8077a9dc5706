/** What the reader looks at. It is kept in the URL's hash, so that a link shows what its sender saw. */

import { useEffect, useState } from "preact/hooks";

export type View = "leaderboard" | "system" | "pair" | "queries" | "changes" | "about";

export interface State {
  view: View;
  dataset: string;
  metric: string;
  /** Columns shown in the leaderboard; empty: those that fit. */
  shown: string[];
  sort: string;
  reversed: boolean;
  filter: string;
  where: Record<string, string>;
  /** The systems that are picked; `a` is that of the system's view. */
  a: string;
  b: string;
  qid: string;
  /** Of the queries; empty: hardest first. */
  order: string;
  convention: string;
  /** The column of numbers that the picture draws the metric against. */
  axis: string;
}

const KEYS: Record<string, keyof State> = {
  v: "view", d: "dataset", m: "metric", ms: "shown", s: "sort", r: "reversed", f: "filter",
  a: "a", b: "b", q: "qid", o: "order", c: "convention", x: "axis",
};

const EMPTY: State = {
  view: "leaderboard", dataset: "", metric: "", shown: [], sort: "", reversed: false, filter: "",
  where: {}, a: "", b: "", qid: "", order: "", convention: "", axis: "",
};

export function parse(hash: string): State {
  const state: State = { ...EMPTY, where: {} };
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const name = KEYS[key];
    if (key.startsWith("w.")) state.where[key.slice(2)] = text;
    else if (name === "shown") state.shown = text.split("|");
    else if (name === "reversed") state.reversed = true;
    else if (name) (state as unknown as Record<string, string>)[name] = text;
  }
  return state;
}

/** The address of a state, or of `state` with changes. */
export function format(state: State, change: Partial<State> = {}): string {
  const next = { ...state, ...change };
  const found = new URLSearchParams();
  for (const [key, name] of Object.entries(KEYS)) {
    const value = next[name];
    if (name === "view" && value === "leaderboard") continue;
    if (Array.isArray(value)) value.length && found.set(key, value.join("|"));
    else if (value === true) found.set(key, "1");
    else if (value) found.set(key, String(value));
  }
  for (const [column, value] of Object.entries(next.where)) if (value) found.set(`w.${column}`, value);
  return `#${found}`;
}

export type Go = (change: Partial<State>, replace?: boolean) => void;

/** Return the state of the address, and a function that changes it. Links to addresses use it too. */
export function useAddress(): [State, Go] {
  const [state, set] = useState(() => parse(location.hash));
  const go: Go = (change, replace = false) => {
    const now = parse(location.hash);
    const next = { ...now, ...change };
    if (location.protocol === "about:") location.hash = format(next); // in a notebook's frame
    else history[replace ? "replaceState" : "pushState"](null, "", format(next));
    set(next);
    if (next.view !== now.view || next.qid !== now.qid || (next.view === "system" && next.a !== now.a)) scrollTo(0, 0);
  };
  useEffect(() => {
    const read = () => set(parse(location.hash));
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest?.("a[href^='#']");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const to = link.getAttribute("href")!;
      if (to === "#main") document.getElementById("main")!.focus();
      else go(parse(to));
    };
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    document.addEventListener("click", follow);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
      document.removeEventListener("click", follow);
    };
  }, []);
  return [state, go];
}
