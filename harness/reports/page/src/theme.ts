/** Light or dark: the reader's choice, that of the notebook around the page, or the system's. */

const KEY = "harness-theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");

function set(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function isDark(): boolean {
  return (document.documentElement.dataset.theme ?? (DARK.matches ? "dark" : "light")) === "dark";
}

export function switchTheme(): void {
  const theme = isDark() ? "light" : "dark";
  set(theme);
  try { localStorage.setItem(KEY, theme); } catch { /* A page without storage forgets the choice. */ }
}

/** The colour of a token such as "--a", as canvases need it. */
export function colour(token: string): string {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${token})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Call `then` when the theme changes; return a function that stops this. */
export function onTheme(then: () => void): () => void {
  const watch = new MutationObserver(then);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  DARK.addEventListener("change", then);
  return () => {
    watch.disconnect();
    DARK.removeEventListener("change", then);
  };
}

/** Whether the first background around the page's frame is dark. */
function darkAround(frame: Element): boolean {
  for (let node: Element | null = frame; node; node = node.parentElement) {
    const [r, g, b, alpha = 1] = (parent.getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (alpha) return 0.3 * r + 0.6 * g + 0.1 * b < 128;
  }
  return false;
}

/** Use the theme of the notebook that shows the page, or the one that the reader chose last. */
export function startTheme(): void {
  try {
    const frame = window.frameElement;
    if (!frame) return set(localStorage.getItem(KEY) ?? "");
    const follow = () => set(darkAround(frame) ? "dark" : "light");
    follow();
    const watch = new MutationObserver(() => setTimeout(follow, 100));
    for (const node of [parent.document.documentElement, parent.document.body]) watch.observe(node, { attributes: true });
  } catch { /* A frame of another site, or no storage: the system's theme. */ }
}
