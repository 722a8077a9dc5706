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

/** Show what `children` makes of a part once it is loaded. */
export function Load<T>({ part, children }: { part: Part<T>; children: (content: T) => ComponentChildren }) {
  const [found, set] = useState<{ path: string; content?: T }>();
  useEffect(() => {
    if (typeof part !== "string") return;
    const show = () => window.harnessParts[part].then((content) => set({ path: part, content: content as T }));
    if (part in window.harnessParts) return void show();
    const script = document.createElement("script");
    script.src = part;
    script.onload = show;
    script.onerror = () => set({ path: part });
    document.head.append(script);
  }, [part]);
  if (typeof part !== "string") return <>{children(part)}</>;
  if (found?.path !== part) return <p class="empty">Loading {part} ...</p>;
  if (!found.content) return <p class="empty">This view needs the file <code>{part}</code> next to the page.</p>;
  return <>{children(found.content)}</>;
}
