/** Two results folders: old and new values of every system, and the systems that moved. */

import type { Context } from "./view";
import { orderedRows, systemName } from "./view";
import { ranked } from "./data";
import { MetricName, Panel, Value } from "./text";

export function Changes({ context }: { context: Context }) {
  const { report, board, at, metric, m } = context;
  const before = report.old!.boards[at]?.columns[m];
  if (!before) return <p class="empty">The old results have no values for this dataset and metric.</p>;
  const now = board.columns[m].value;
  const places = (values: Float64Array) => new Map(ranked(values, metric.direction).filter((row) => !isNaN(values[row])).map((row, i) => [row, i + 1]));
  const [oldPlace, newPlace] = [places(before), places(now)];
  return (
    <>
    <div class="controls">{context.choice}</div>
    <Panel title={board.dataset} aside={<span class="muted"><MetricName metric={metric} />, {report.old!.title} and {report.title}</span>}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
        <table>
          <thead><tr>{["System", "old", "new", "difference", "old rank", "new rank", "moved"].map((text, i) => <th key={text} scope="col" class={i ? "number" : ""}>{text}</th>)}</tr></thead>
          <tbody>
            {orderedRows(context).map((row) => {
              const [was, is] = [oldPlace.get(row), newPlace.get(row)];
              const moved = was !== undefined && is !== undefined ? was - is : 0;
              return (
                <tr key={row}>
                  <th scope="row" dir="auto">{systemName(context, row)}</th>
                  <td class="number"><Value value={before[row]} digits={metric.digits} /></td>
                  <td class="number"><Value value={now[row]} digits={metric.digits} /></td>
                  <td class="number"><Value value={now[row] - before[row]} digits={metric.digits} sign /></td>
                  <td class="number">{was ?? "–"}</td>
                  <td class="number">{is ?? "–"}</td>
                  <td class="number">{moved > 0 ? `▲ ${moved}` : moved < 0 ? `▼ ${-moved}` : ""}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
    </>
  );
}
