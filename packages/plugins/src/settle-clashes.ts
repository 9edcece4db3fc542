import { createToolRegistry } from '@parley/agent';
import type { Brought } from './plugin-outcome.ts';

/** Names that are given: Parley's own, then those of each plugin before. */
export interface Taken {
  readonly tools: readonly string[];
  readonly layers: readonly string[];
  readonly channels: readonly string[];
}

/** What is left of a plugin's parts, what was left out and why, and what is taken afterwards. */
export interface Settled {
  readonly brings: Brought;
  readonly left: readonly string[];
  readonly taken: Taken;
}

/**
 * First come, first served: a part whose name is taken is left out, the others stay. So is a tool
 * that cannot be described to a model.
 */
export function settleClashes(brings: Brought, taken: Taken): Settled {
  const tools = keep('tool', brings.tools, taken.tools, ({ name }) => name);
  const layers = keep('layer', brings.layers, taken.layers, ({ id }) => id);
  const channels = keep('channel', brings.channels, taken.channels, ({ id }) => id);
  const { problems } = createToolRegistry({ builtIn: tools.kept });
  const sound = tools.kept.filter(({ name }) => problems.every(({ tool }) => tool !== name));
  const unsound = problems.map(({ tool, message }) => `the tool "${tool}": ${message}`);
  return {
    brings: { ...brings, tools: sound, layers: layers.kept, channels: channels.kept },
    left: [...tools.left, ...unsound, ...layers.left, ...channels.left],
    taken: { tools: tools.taken, layers: layers.taken, channels: channels.taken },
  };
}

function keep<Part>(
  what: string,
  parts: readonly Part[],
  taken: readonly string[],
  nameOf: (part: Part) => string,
) {
  const names = new Set(taken);
  const kept: Part[] = [];
  const left: string[] = [];
  for (const part of parts) {
    const name = nameOf(part);
    if (names.has(name)) left.push(`the ${what} "${name}": that name is taken; rename it`);
    else kept.push(part);
    names.add(name);
  }
  return { kept, left, taken: [...names] };
}
