/** How to read the page, where the numbers come from, and how to make them again. */

import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import type { Context } from "./view";
import type { Finding } from "./data";
import { Command, Copy, Section, SystemLink, interval, plural } from "./text";

export function Methods({ context }: { context: Context }) {
  const { methods } = context.report.provenance;
  return methods ? <Section title="Methods" aside={<Copy text={methods} />}><p class="prose">{methods}</p></Section> : null;
}

export function About({ context }: { context: Context }) {
  const { report, board } = context;
  const { provenance } = report;
  const withIntervals = board.columns.some((one) => one.low.some((low) => !isNaN(low)));
  const sums = report.metrics.filter(({ digits }) => !digits).map(({ label }) => label);
  const rules = new Map<string, Finding[]>();
  for (const one of provenance.findings) rules.set(one.rule, [...(rules.get(one.rule) ?? []), one]);
  const here = provenance.downloads.filter((file) => file.text !== undefined);
  const beside = provenance.downloads.filter((file) => file.text === undefined);
  return (
    <>
      <div class="two uneven">
        <div>
          <Section title="How to read this page">
            <p class="prose">
              Values are means over queries{sums.length > 0 && `, or sums for ${new Intl.ListFormat("en-GB").format(sums)}`}.{withIntervals && ` A ${report.level}% interval says how far the mean could lie with other queries of the same kind.`}
              {board.testing && " “Not significantly different” does not mean that two systems are equal: with more queries, the tests may find a difference."}
            </p>
            <ul class="prose">
              {board.columns.some((one) => one.rankLow.some((low) => !isNaN(low))) && <li><b>Range</b> is the {report.level}% interval of a rank, from resampled queries.</li>}
              {withIntervals && report.metrics.length > 1 && <li><b>The line under a value</b> is its {report.level}% interval, on a scale from 0 (left) to 1 or the largest value.</li>}
              {board.testing && board.columns.some((one) => one.tier.some(Boolean)) && <li>Systems that share a <b>tier</b> are not significantly different; tier 2–3 means both 2 and 3. {board.testing.tiers}</li>}
            </ul>
          </Section>
          <Methods context={context} />
        </div>
        <div>
          {provenance.commands.length > 0 && <Section title="Check the numbers" note={provenance.config && "In the folder of the config."}>
            {provenance.commands.map(([what, command]) => <div key={what}><p class="muted">{what}</p><Command text={command} /></div>)}
          </Section>}
          {provenance.downloads.length > 0 && <Section title="Download">
            <ul class="files">{here.map((file) => <li key={file.name}><a download={file.name.replace(/^.*\//, "")} href={`data:${file.type};base64,${base64(file.text!)}`}>{file.name}</a> <span class="muted">{size(file.bytes)}</span></li>)}</ul>
            {beside.length > 0 && <p class="muted">In the folder {provenance.results}, next to this page:</p>}
            <ul class="files">{beside.map((file) => <li key={file.name}><a href={file.name}>{file.name}</a> <span class="muted">{size(file.bytes)}</span></li>)}</ul>
          </Section>}
        </div>
      </div>
      <div class="folds">
        {provenance.results && <Fold title="Warnings" text={warningsIn(context)} open={rules.size > 0}>
          <table><tbody>
            {[...rules].map(([rule, [one, ...more]]) => (
              <tr key={rule} class="finding">
                <td class="rule"><a href={one.link}><code>{rule}</code></a></td>
                <td>{one.sentence}{more.length > 0 && <span class="muted"> {plural(more.length, "more warning")} of this kind.</span>}</td>
                <td>{systemsWith(context, [one, ...more]).map((system, i) => <Fragment key={system}>{i > 0 && ", "}<SystemLink context={context} system={system} /></Fragment>)}</td>
              </tr>
            ))}
          </tbody></table>
        </Fold>}
        <Fold title="Metrics" text="what they measure, and their names in the config">
          <table>
            <thead><tr><th scope="col">Metric</th><th scope="col">In the config</th><th scope="col">Better</th><th scope="col">Range</th><th scope="col">Measures</th></tr></thead>
            <tbody>{report.metrics.map((one) => <tr key={one.name}><th scope="row">{one.label}</th><td><code>{one.name}</code></td><td>{one.direction > 0 ? "higher" : one.direction < 0 ? "lower" : "neither"}</td><td>{isNaN(one.high) ? "–" : interval(one.low, one.high, 0)}</td><td>{one.explanation}</td></tr>)}</tbody>
          </table>
        </Fold>
        {provenance.inputs.length > 0 && <Fold title="Input files" text={plural(provenance.inputs.length, "file")}>
          <div class="scroll" tabIndex={0} role="region" aria-label="Input files">
            <table>
              <thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th><th scope="col">SHA-256</th></tr></thead>
              <tbody>{provenance.inputs.map(([path, bytes, hash]) => <tr key={path}><th scope="row" dir="auto">{path}</th><td class="number">{Number(bytes).toLocaleString("en")}</td><td><code title={hash}>{hash.slice(0, 16)}</code></td></tr>)}</tbody>
            </table>
          </div>
        </Fold>}
        {provenance.config && <Fold title="Config" text=""><Copy text={provenance.config} /><pre tabIndex={0}>{provenance.config}</pre></Fold>}
        <Fold title="Run" text="when, where and with which version">
          <dl>{provenance.facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd dir="auto">{value}</dd></div>)}</dl>
        </Fold>
      </div>
    </>
  );
}

function Fold({ title, text, children, open = false }: { title: string; text: string; children: ComponentChildren; open?: boolean }) {
  return <details class="fold" open={open}><summary>{title} <span class="muted">{text}</span></summary>{children}</details>;
}

function warningsIn(context: Context): string {
  const { findings } = context.report.provenance;
  return findings.length ? `${plural(findings.length, "warning")} about ${plural(systemsWith(context, findings).length, "system")}` : "none";
}

/** The numbers of the systems that findings are about. */
function systemsWith({ report }: Context, findings: Finding[]): number[] {
  const all = report.provenance.findings;
  return [...new Set(report.boards.flatMap((board) => board.systems.filter((_, row) => board.findings[row].some((i) => findings.includes(all[i])))))];
}

function size(bytes: number): string {
  if (isNaN(bytes)) return "";
  const [unit, word] = bytes < 1e3 ? [1, "bytes"] : bytes < 1e6 ? [1e3, "kB"] : [1e6, "MB"];
  return `${(bytes / unit).toLocaleString("en", { maximumFractionDigits: bytes < 1e6 ? 0 : 1 })} ${word}`;
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
