/** The report page: title, tabs, the choice of dataset and metric, and one view at a time. */

import { render } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Report } from "./data";
import { unpack } from "./data";
import type { State, View } from "./state";
import { format, parse, useAddress } from "./state";
import type { Context } from "./view";
import { select } from "./view";
import { About, Methods } from "./about";
import { Changes } from "./changes";
import { Leaderboard } from "./leaderboard";
import { Pair } from "./pair";
import { Queries } from "./queries";
import { SystemView } from "./system";
import { Select } from "./text";
import { startTheme, switchTheme } from "./theme";

const TABS: Partial<Record<View, string>> = {
  leaderboard: "Leaderboard", pair: "Compare", queries: "Queries", changes: "Changes", about: "About",
};
const NAMES: Record<View, string> = { ...TABS, system: "System" } as Record<View, string>;
const KEYS = [
  ["1–4", "Open a view"], ["/", "Filter systems"], ["j k", "Next or previous row"], ["Enter", "Open the row"],
  ["x", "Pick the row to compare it"], ["c", "Compare the two picked systems"], ["m", "Next metric"],
  ["← → ↑ ↓", "Move in a picture"], ["Esc", "Clear the picks, or close"], ["?", "This list"],
];

/** On paper, the leaderboard is that of every dataset, and the methods follow. */
function Page({ report, printing = false }: { report: Report; printing?: boolean }) {
  const [address, go] = useAddress();
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    addEventListener("resize", redraw);
    return () => removeEventListener("resize", redraw);
  }, []);
  const several = report.boards.some((board) => board.systems.length > 1);
  const tabs = (Object.keys(TABS) as View[]).filter((view) => (view !== "changes" || report.old) && (view !== "pair" || several));
  const view = tabs.includes(address.view) || address.view === "system" ? address.view : "leaderboard";
  const state = { ...address, view };
  const context = select(report, state, go, printing);
  context.groups = <GroupChoice context={context} />;
  context.choice = <Choice context={context} />;
  useKeys(context, tabs);
  useEffect(() => {
    document.title = view === "leaderboard" ? report.title : `${view === "system" ? state.a : NAMES[view]} – ${report.title}`;
  }, [view, state.a]);
  const open = view === "leaderboard" || view === "about" || printing;
  const current = view === "system" ? "leaderboard" : view;
  return (
    <>
      <a class="skip" href="#main">Skip to the results</a>
      {open && <Title report={report} />}
      <div class="topbar">
        <div class="wrap">
          <nav aria-label="Views">
            {!open && <a class="site" title={report.title} href={format(state, { view: "leaderboard", a: "", b: "", qid: "" })}><bdi>{report.title}</bdi></a>}
            {tabs.map((name) => <a key={name} href={format(state, { view: name, qid: "", ...(view === "system" ? { a: "" } : {}) })} aria-current={name === current ? "page" : undefined}>{TABS[name]}</a>)}
          </nav>
          <div class="end">
            <button type="button" class="keyboard" title="Keys" aria-label="Keys" onClick={showKeys}>?</button>
            <button type="button" title="Light or dark" aria-label="Light or dark" onClick={switchTheme}><svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><circle cx="7" cy="7" r="6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M7 1a6 6 0 0 1 0 12" fill="currentColor" /></svg></button>
          </div>
        </div>
      </div>
      <main id="main" class="wrap" tabIndex={-1}>
        {!open && view !== "system" && !state.qid && <h1 class="hidden">{NAMES[view]}</h1>}
        {context.notices.map((notice) => <p key={notice} class="notice" role="status">{notice}</p>)}
        {view === "leaderboard" && report.boards.filter((one) => one === context.board || (printing && !one.group)).map((one) => (
          <Leaderboard key={one.dataset} context={{ ...select(report, { ...state, dataset: one.dataset }, go, printing), choice: context.choice, groups: context.groups }} />
        ))}
        {view === "leaderboard" && printing && <Methods context={context} />}
        {view === "system" && <SystemView context={context} />}
        {view === "pair" && <Pair context={context} />}
        {view === "queries" && <Queries context={context} />}
        {view === "changes" && <Changes context={context} />}
        {view === "about" && <About context={context} />}
      </main>
      {view === "leaderboard" && state.a && <Tray context={context} />}
      <dialog id="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl>{KEYS.map(([keys, what]) => <div key={keys}><dt>{keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </>
  );
}

function Title({ report }: { report: Report }) {
  const deciding = report.metrics[report.deciding];
  return (
    <header class="title wrap">
      <h1 dir="auto">{report.title}</h1>
      {report.description && <p dir="auto">{report.description}</p>}
      <p class="facts">
        {report.organiser && <span><bdi>{report.organiser}</bdi></span>}
        {report.date && <span>{report.date}</span>}
        {deciding?.direction !== 0 && report.metrics.length > 1 && <span>{deciding.label} decides the ranks</span>}
        {report.link && <a href={report.link} rel="noreferrer">{report.link.replace(/^https?:\/\/|\/$/g, "")}</a>}
      </p>
    </header>
  );
}

/** The group of queries, where there are several. */
function GroupChoice({ context: { board, go, slices } }: { context: Context }) {
  return slices.length > 1 ? (
    <Select label="Queries" value={board.dataset} onChange={(dataset) => go({ dataset })}
      options={slices.map((one): [string, string] => [one.dataset, `${one.groupLabel} (${one.qids.length.toLocaleString("en")})`])} />
  ) : null;
}

/** The dataset, the metric and the group of queries, where there are several. */
function Choice({ context }: { context: Context }) {
  const { report, state, go, metric, source } = context;
  const wholes = report.boards.filter((one) => !one.group);
  return (
    <>
      {wholes.length > 1 && <Select label="Dataset" value={source.dataset} options={wholes.map((one): [string, string] => [one.dataset, one.dataset])}
        onChange={(dataset) => go({ dataset, ...(state.view === "queries" ? { qid: "" } : {}) })} />}
      {context.choices.length > 1 && <Select label="Metric" value={metric.name} options={context.choices.map((i): [string, string] => [report.metrics[i].name, report.metrics[i].label])}
        onChange={(name) => go({ metric: name, sort: "", reversed: false })} />}
      {!(context.phone && state.view === "leaderboard") && context.groups}
    </>
  );
}

/** The picked systems, and the way to their comparison. */
function Tray({ context }: { context: Context }) {
  const { state, go } = context;
  return (
    <div class="tray" role="region" aria-label="Picked systems">
      <span class="key"><span class="mark a" /><bdi title={state.a}>{state.a}</bdi></span>
      {state.b ? <span class="key"><span class="mark b" /><bdi title={state.b}>{state.b}</bdi></span> : <span class="muted">Pick a second system.</span>}
      {state.b && <a class="button" href={format(state, { view: "pair" })}>Compare</a>}
      <button type="button" onClick={() => go({ a: "", b: "" })}>Clear</button>
    </div>
  );
}

function showKeys(): void {
  (document.getElementById("keys") as HTMLDialogElement).showModal();
}

/** Keys of all views. Rows are links: `j` and `k` move the focus, so that Enter opens them. */
function useKeys(context: Context, tabs: View[]): void {
  const latest = useRef(context);
  latest.current = context;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { report, state, go, choices, m } = latest.current;
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const typing = target.matches("textarea, select, input:not([type=checkbox])");
      if (typing && event.key === "Escape") target.blur();
      if (typing) return;
      const links = [...document.querySelectorAll<HTMLElement>("main tbody tr:not([hidden]) th a")];
      const row = document.activeElement?.closest("tbody tr");
      const move = (by: number) => {
        const at = links.findIndex((link) => link.closest("tr") === row);
        links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
      };
      const actions: Record<string, () => void> = {
        "/": () => document.querySelector<HTMLElement>("input[type=search]")?.focus(),
        j: () => move(1),
        k: () => move(-1),
        x: () => row?.querySelector<HTMLElement>("input[type=checkbox]")?.click(),
        c: () => state.a && state.b && go({ view: "pair" }),
        m: () => go({ metric: report.metrics[choices[(choices.indexOf(m) + 1) % choices.length]].name, sort: "", reversed: false }),
        Escape: () => state.view === "leaderboard" && (state.a || state.filter) && go({ a: "", b: "", filter: "" }),
        "?": showKeys,
      };
      const tab = tabs[Number(event.key) - 1];
      const action = tab ? () => go({ view: tab, qid: "" }) : actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [tabs.join()]);
}

async function start(): Promise<void> {
  const packed = document.getElementById("data")!.textContent!;
  const root = document.getElementById("app")!;
  startTheme();
  try {
    const report = await unpack<Report>(packed);
    root.textContent = "";
    if (report.participants && !location.hash)
      history.replaceState(null, "", format(parse(""), { view: "system", a: report.systems[report.participants[0]].name }));
    const show = (printing: boolean) => render(<Page report={report} printing={printing} />, root);
    show(false);
    addEventListener("beforeprint", () => show(true));
    addEventListener("afterprint", () => show(false));
    Object.assign(window, { harnessReport: report });
    document.documentElement.dataset.ready = "1";
  } catch (error) {
    const note = document.createElement("p");
    note.textContent = `The interactive view needs a browser of 2024 or newer (${error}). The table below is complete.`;
    root.prepend(note);
  }
}

export type { State };
void start();
