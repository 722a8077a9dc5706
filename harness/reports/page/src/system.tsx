/** One system. */

import type { Context } from "./view";

export function SystemView({ context }: { context: Context }) {
  return <h1 dir="auto">{context.state.a}</h1>;
}
