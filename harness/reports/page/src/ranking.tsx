/** One query of one system: its documents in order, next to the ideal order or another system. */

import type { Ranked } from "./data";
import type { Context } from "./view";
import { Load } from "./load";
import { trace } from "./queries";
import { orderedRows, rowOf, systemName } from "./view";
import { Command, Panel, Select, fixed } from "./text";

export function Ranking({ context }: { context: Context }) {
  return <Load part={context.report.boards[context.source].rankings}>{(all) => <Lists context={context} all={all} />}</Load>;
}

function Lists({ context, all }: { context: Context; all: Record<string, Ranked[]> }) {
  const { report, board, state, go } = context;
  const names = orderedRows({ ...context, state: { ...state, filter: "", where: {} } }).map((row) => systemName(context, row));
  const has = (name: string, qid: string) => all[`${board.systems[rowOf(context, name)]}/${qid}`];
  const a = names.includes(state.a) ? state.a : (names[0] ?? "");
  const qids = board.qids.filter((qid) => names.some((name) => has(name, qid)));
  const qid = qids.includes(state.qid) ? state.qid : (qids[0] ?? "");
  if (!qids.length)
    return <p class="empty">This page holds no rankings. Write <code>page: {"{rankings: 20}"}</code> in the config to embed them.</p>;
  const options = names.map((name): [string, string] => [name, name]);
  const first = has(a, qid) ?? [];
  const second = state.b && state.b !== a ? has(state.b, qid) : undefined;
  return (
    <>
      <div class="controls">
        {context.choice}
        <Select label="Query" value={qid} options={qids.map((one): [string, string] => [one, one])} onChange={(value) => go({ qid: value })} />
        <Select label="System" value={a} options={options} onChange={(value) => go({ a: value })} />
        <Select label="next to" value={second ? state.b : ""} options={[["", "the ideal order"], ...options.filter(([name]) => name !== a)]} onChange={(value) => go({ b: value })} />
      </div>
      <div class="columns">
        <List title={a} documents={first} context={context} />
        {second ? <List title={state.b} documents={second} context={context} /> : <List title="Ideal order" documents={all[`ideal/${qid}`] ?? []} context={context} />}
      </div>
      {report.provenance.results && <p class="notes">To see how the value comes about: <Command text={trace(context, rowOf(context, a), qid)} /></p>}
    </>
  );
}

function List({ title, documents, context }: { title: string; documents: Ranked[]; context: Context }) {
  const metric = context.metric.gains ? context.metric : undefined;
  const gain = (one: Ranked) => metric?.gains?.[String(one.grade)] ?? 0;
  const added = (one: Ranked, i: number) => gain(one) / (metric?.discounts?.[i] ?? Infinity);
  const most = Math.max(1, ...documents.map((one) => (isNaN(one.grade) ? 0 : one.grade)));
  return (
    <Panel title={title} aside={<span class="muted">{`first ${Math.min(context.report.rankingDepth, documents.length)} documents`}</span>}>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Ranking of ${title}`}>
        <table>
          <thead><tr><th scope="col" class="number">Rank</th><th scope="col">Document</th><th scope="col" class="number">Grade</th><th scope="col" class="number">Score</th>{metric && <><th scope="col" class="number">Gain</th><th scope="col" class="number" title="Gain divided by the discount of its rank">Adds</th></>}</tr></thead>
          <tbody>
            {documents.map((one, i) => (
              <tr key={one.docno} class={isNaN(one.grade) ? "unjudged" : one.grade > 0 ? "relevant" : ""}>
                <td class="number">{i + 1}</td>
                <th scope="row" dir="auto">
                  {one.docno}
                  {one.tied && <>{" "}<span class="tier" title="Another document of this query has the same score">tied</span></>}
                  {one.text && <p class="text" dir="auto">{one.text}</p>}
                </th>
                <td class="number">{isNaN(one.grade) ? <span class="muted">unjudged</span> : <span class="grade" style={{ "--share": String(Math.max(one.grade, 0) / most) }}>{one.grade}</span>}</td>
                <td class="number"><span title={isNaN(one.score) ? "" : String(one.score)}>{fixed(one.score, 4)}</span></td>
                {metric && <><td class="number">{gain(one) || "–"}</td><td class="number">{added(one, i) ? fixed(added(one, i), 4) : "–"}</td></>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
