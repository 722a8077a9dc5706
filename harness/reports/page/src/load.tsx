/** Parts of the page in files next to it, which classic scripts load also from disk. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Part } from "./data";
import { unpack } from "./data";

declare global {
  interface Window {
    /** What a side file calls with its path and content. */
    harnessPart: (path: string, packed: string) => void;
    harnessParts: Record<string, Promise<unknown>>;
  }
}

window.harnessParts = {};
window.harnessPart = (path, packed) => { window.harnessParts[path] = unpack(packed); };

/** The content of a part; undefined while it loads, null if its file is not there. */
export function usePart<T>(part: Part<T>): T | undefined | null {
  const [found, set] = useState<{ path: string; content: T | null }>();
  useEffect(() => {
    if (typeof part !== "string") return;
    const show = () => window.harnessParts[part].then((content) => set({ path: part, content: content as T }));
    if (part in window.harnessParts) return void show();
    const script = document.createElement("script");
    script.src = part;
    script.onload = show;
    script.onerror = () => set({ path: part, content: null });
    document.head.append(script);
  }, [part]);
  if (typeof part !== "string") return part;
  return found?.path === part ? found.content : undefined;
}

/** Show what `children` makes of a part once it is loaded. */
export function Load<T>({ part, children }: { part: Part<T>; children: (content: T) => ComponentChildren }) {
  const content = usePart(part);
  if (content === undefined) return <p class="empty">Loading {String(part)} …</p>;
  if (content === null) return <p class="empty">This view needs the file <code>{String(part)}</code> next to the page.</p>;
  return <>{children(content)}</>;
}
