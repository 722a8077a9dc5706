/** The report page: a header, the choice of dataset and metric, and one view at a time. */

import { render } from "preact";
import type { Report } from "./data";
import { unpack } from "./data";
import type { State, View } from "./state";
import { useAddress } from "./state";
import { select } from "./view";
import { About, Methods } from "./about";
import { Changes } from "./changes";
import { Leaderboard } from "./leaderboard";
import { Pair } from "./pair";
import { Queries } from "./queries";
import { Ranking } from "./ranking";
import { Select } from "./text";

const VIEWS: Record<View, string> = {
  leaderboard: "Leaderboard", pair: "Head to head", queries: "Queries", ranking: "Rankings",
  changes: "Changes", about: "Provenance",
};

/** On paper, the leaderboard is that of every dataset, and the methods follow. */
function Page({ report, printing = false }: { report: Report; printing?: boolean }) {
  const [address, go] = useAddress();
  const views = (Object.keys(VIEWS) as View[]).filter((view) => view !== "changes" || report.old);
  const view = views.includes(address.view) ? address.view : "leaderboard";
  const state = { ...address, view };
  const context = select(report, state, go);
  const { board, metric, source } = context;
  const metrics = context.choices.map((i) => report.metrics[i]).filter((one) => view !== "ranking" || one.gains);
  const wholes = report.boards.filter((one) => !one.group);
  const slices = report.boards.filter((one) => one.whole === board.whole);
  context.printing = printing;
  context.choice = (
    <>
      {wholes.length > 1 && (
        <Select label="Dataset" value={report.boards[source].dataset} options={wholes.map((one): [string, string] => [one.dataset, one.dataset])}
          onChange={(dataset) => go({ dataset, qid: "" })} />
      )}
      {metrics.length > 0 && (
        <Select label={view === "ranking" ? "Gains of" : "Metric"} value={metric.name} options={metrics.map((one): [string, string] => [one.name, one.label])}
          onChange={(name) => go({ metric: name, sort: "", reversed: false })} />
      )}
      {slices.length > 1 && (
        <Select label="Queries" value={board.dataset} onChange={(dataset) => go({ dataset, qid: "" })}
          options={slices.map((one): [string, string] => [one.dataset, `${one.group || "all"} (${one.qids.length})`])} />
      )}
      {report.conventions.length > 0 && view === "leaderboard" && (
        <Select label="Convention" value={context.state.convention} onChange={(convention) => go({ convention })}
          options={[["", "as in the config"], ...report.conventions.map((one): [string, string] => [one.name, one.name])]} />
      )}
      {context.notices.map((notice) => <p key={notice} class="notice" role="status">{notice}</p>)}
    </>
  );
  return (
    <>
      <header class="top">
        <h1 dir="auto">{report.title}</h1>
        <nav aria-label="Views">
          {views.map((name) => (
            <a key={name} href={`#v=${name}`} aria-current={name === view ? "page" : undefined}
              onClick={(event) => { event.preventDefault(); go({ view: name }); }}>{VIEWS[name]}</a>
          ))}
        </nav>
      </header>
      <main>
        {view === "leaderboard" && report.boards.filter((one) => one === board || (printing && !one.group)).map((one) => (
          <Leaderboard key={one.dataset} context={{ ...select(report, { ...state, dataset: one.dataset }, go), choice: context.choice }} />
        ))}
        {view === "leaderboard" && printing && <Methods context={context} />}
        {view === "pair" && <Pair context={context} />}
        {view === "queries" && <Queries context={context} />}
        {view === "ranking" && <Ranking context={context} />}
        {view === "changes" && <Changes context={context} />}
        {view === "about" && <About context={context} />}
      </main>
    </>
  );
}

async function start(): Promise<void> {
  const packed = document.getElementById("data")!.textContent!;
  const root = document.getElementById("app")!;
  try {
    const report = await unpack<Report>(packed);
    root.textContent = "";
    const show = (printing: boolean) => render(<Page report={report} printing={printing} />, root);
    show(false);
    addEventListener("beforeprint", () => show(true));
    addEventListener("afterprint", () => show(false));
    Object.assign(window, { harnessReport: report });
    document.documentElement.dataset.ready = "1";
  } catch (error) {
    const note = document.createElement("p");
    note.textContent = `The interactive view needs a browser of 2023 or newer (${error}). The table below is complete.`;
    root.prepend(note);
  }
}

export type { State };
void start();
