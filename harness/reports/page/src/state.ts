/** What the reader looks at. It is kept in the URL's hash, so that a link shows what its sender saw. */

import { useEffect, useState } from "preact/hooks";

export type View = "leaderboard" | "system" | "pair" | "queries" | "changes" | "about";

const EMPTY = {
  view: "leaderboard" as View, dataset: "", metric: "", filter: "", sort: "", reversed: false, qid: "", convention: "",
  /** Columns shown in the leaderboard; empty: those that fit. */
  shown: [] as string[],
  /** Values that the columns of metadata must have. */
  where: {} as Record<string, string>,
  /** The systems that are picked; `a` is that of the system's view. */
  a: "", b: "",
  /** Of the queries; empty: hardest first. */
  order: "",
  /** The column of numbers that the picture draws the metric against. */
  axis: "",
};
export type State = typeof EMPTY;

const KEYS: Record<string, keyof State> = {
  v: "view", d: "dataset", m: "metric", ms: "shown", s: "sort", r: "reversed", f: "filter",
  a: "a", b: "b", q: "qid", o: "order", c: "convention", x: "axis",
};

export function parse(hash: string): State {
  const state: State = { ...EMPTY, where: {} };
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const name = KEYS[key];
    if (key.startsWith("w.")) state.where[key.slice(2)] = text;
    else if (name) Object.assign(state, { [name]: name === "shown" ? text.split("|") : name === "reversed" ? true : text });
  }
  return state;
}

/** The address of a state, or of `state` with changes. */
export function format(state: State, change: Partial<State> = {}): string {
  const next = { ...state, ...change };
  const texts = new URLSearchParams();
  for (const [key, name] of Object.entries(KEYS)) {
    const value = name === "shown" ? next.shown.join("|") : name === "reversed" ? (next.reversed ? "1" : "") : next[name];
    if (value && value !== EMPTY[name]) texts.set(key, String(value));
  }
  for (const [column, value] of Object.entries(next.where)) if (value) texts.set(`w.${column}`, value);
  return `#${texts}`;
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
