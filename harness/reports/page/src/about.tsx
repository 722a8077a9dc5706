/** Where the numbers come from, and how to make them again. */

import type { Context } from "./view";
import { Command, Copy, Panel } from "./text";

export function Methods({ context }: { context: Context }) {
  const { methods } = context.report.provenance;
  return methods ? <Panel title="Methods" aside={<Copy text={methods} />}><p class="prose">{methods}</p></Panel> : null;
}

export function About({ context }: { context: Context }) {
  const { provenance } = context.report;
  return (
    <>
      <Methods context={context} />
      {provenance.commands.length > 0 && <Panel title="Make these numbers again" aside={provenance.config && <span class="muted">in the folder of the config</span>}>
        <dl class="commands">
          {provenance.commands.map(([what, command]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd><Command text={command} /></dd>
            </div>
          ))}
        </dl>
      </Panel>}
      {provenance.downloads.length > 0 && (
        <Panel title="Download">
          <ul class="downloads">
            {provenance.downloads.map((file) => (
              <li key={file.name}>
                {file.text === undefined ? (
                  <><a href={file.name}>{file.name}</a> <span class="muted">(in {provenance.results}: this link works while the page is there too)</span></>
                ) : (
                  <a download={file.name.replace(/^.*\//, "")} href={`data:${file.type};base64,${base64(file.text)}`}>{file.name}</a>
                )}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {provenance.results && <Panel title="Findings of the guard">
        {provenance.findings.length ? (
          <ul class="findings">
            {provenance.findings.map((one, i) => (
              <li key={i}><span class={`severity ${one.severity}`}>{one.severity}</span> <a href={one.link}><code>{one.rule}</code></a> <span>{one.text}</span></li>
            ))}
          </ul>
        ) : (
          <p class="empty">None.</p>
        )}
      </Panel>}
      <Panel title="Facts">
        <dl class="facts">{provenance.facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd dir="auto">{value}</dd></div>)}</dl>
      </Panel>
      {provenance.inputs.length > 0 && <Panel title="Inputs">
        <div class="scroll" tabIndex={0} role="region" aria-label="Inputs">
          <table>
            <thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th><th scope="col">SHA-256</th></tr></thead>
            <tbody>{provenance.inputs.map(([path, size, hash]) => <tr key={path}><th scope="row" dir="auto">{path}</th><td class="number">{Number(size).toLocaleString("en")}</td><td><code title={hash}>{hash.slice(0, 16)}</code></td></tr>)}</tbody>
          </table>
        </div>
      </Panel>}
      {provenance.config && <Panel title="Config" aside={<Copy text={provenance.config} />}>
        <pre tabIndex={0}>{provenance.config}</pre>
      </Panel>}
    </>
  );
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
