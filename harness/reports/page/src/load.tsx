/** Parts of the page in files next to it, which classic scripts load also from disk. */

import { useEffect, useReducer } from "preact/hooks";
import type { Part } from "./data";
import { unpack } from "./data";

declare global {
  interface Window {
    /** What a side file calls with its path and content. */
    harnessPart: (path: string, packed: string) => void;
    harnessParts: Record<string, Promise<unknown>>;
  }
}

/** By path: the content of a file, or null if it is not there. Files that load have no entry. */
const contents: Record<string, unknown> = {};
window.harnessParts = {};
window.harnessPart = (path, packed) => { window.harnessParts[path] = unpack(packed); };

async function load(path: string): Promise<void> {
  await new Promise((done) => {
    const script = document.createElement("script");
    script.src = path;
    script.onload = script.onerror = done;
    document.head.append(script);
  });
  contents[path] = (await window.harnessParts[path]) ?? null;
}

/** The content of each part; undefined while it loads, null if its file is not there. */
export function useParts<T>(parts: Part<T>[]): (T | undefined | null)[] {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const paths = parts.filter((part): part is string => typeof part === "string");
  useEffect(() => {
    for (const path of paths) if (!(path in contents)) void load(path).then(() => redraw(0));
  }, [paths.join()]);
  return parts.map((part) => (typeof part === "string" ? (contents[part] as T) : part));
}
