/** Two results folders: old and new values of every system, and the systems that moved. */

import type { Context } from "./view";
import { allRows, placeAmong } from "./view";
import { Across, Dot, Line, extent, scale } from "./marks";
import { Key, Lede, Section, SystemLink, Value } from "./text";

export function Changes({ context }: { context: Context }) {
  const { report, board, at, metric, m } = context;
  const old = report.old!.boards[at];
  const before = old?.columns[m];
  if (!before || before.every(isNaN)) return <p class="empty">The earlier results have no {metric.label} on {board.dataset}.</p>;
  const now = board.columns[m].value;
  const place = scale(extent(metric, before, now));
  return (
    <article class="changes">
      <Lede context={context} sentence={old.ledes[m]} />
      <div class="controls">{context.choice}</div>
      <Section title={`${metric.label} before and now`} note={report.old!.title !== report.title && `Before: ${report.old!.title}.`}
        aside={<span class="wide"><Key kind="b">before</Key><Key kind="a">now</Key></span>}>
        <table>
          <thead><tr>{["Rank", "System", "Before", "Now", "Difference"].map((text) => <th key={text} scope="col" class={text === "System" ? "name" : text === "Before" ? "wide number" : "number"}>{text}</th>)}<th scope="col" class="wide picture"><span class="hidden">Picture</span></th><th scope="col" class="number">Places</th></tr></thead>
          <tbody>
            {allRows(context).map((row) => {
              const moved = placeAmong(before, row, metric.direction) - placeAmong(now, row, metric.direction);
              return (
                <tr key={row}>
                  <td class="number">{placeAmong(now, row, metric.direction) || "–"}</td>
                  <th scope="row" class="name"><SystemLink context={context} system={board.systems[row]} /></th>
                  <td class="wide number"><Value value={before[row]} digits={metric.digits} /></td>
                  <td class="number"><Value value={now[row]} digits={metric.digits} /></td>
                  <td class="number"><Value value={now[row] - before[row]} digits={metric.digits} sign /></td>
                  <td class="wide picture"><Line label=""><Across at={place} value={0} kind="zero" /><Dot at={place} value={before[row]} kind="b" /><Dot at={place} value={now[row]} kind="a" /></Line></td>
                  <td class="number">{moved > 0 ? `▲ ${moved}` : moved < 0 ? `▼ ${-moved}` : isNaN(moved) ? "–" : 0}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Section>
    </article>
  );
}
