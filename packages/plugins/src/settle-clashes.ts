import { createToolRegistry } from '@parley/agent';
import { reasonOf } from '@parley/contracts';
import { z } from 'zod';
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
 * that cannot be described to a model, and a channel whose settings cannot be checked.
 */
export function settleClashes(brings: Brought, taken: Taken): Settled {
  const tools = keep('tool', brings.tools, taken.tools, ({ name }) => name);
  const layers = keep('layer', brings.layers, taken.layers, ({ id }) => id);
  const channels = keep('channel', brings.channels, taken.channels, ({ id }) => id);
  const soundTools = describable(tools.kept);
  const soundChannels = checkable(channels.kept);
  return {
    brings: {
      ...brings,
      tools: soundTools.kept,
      layers: layers.kept,
      channels: soundChannels.kept,
    },
    left: [
      ...tools.left,
      ...soundTools.left,
      ...layers.left,
      ...channels.left,
      ...soundChannels.left,
    ],
    taken: { tools: tools.taken, layers: layers.taken, channels: channels.taken },
  };
}

function describable(tools: Brought['tools']) {
  const { problems } = createToolRegistry({ builtIn: tools });
  return {
    kept: tools.filter(({ name }) => problems.every(({ tool }) => tool !== name)),
    left: problems.map(({ tool, message }) => `the tool "${tool}": ${message}`),
  };
}

/** What a schema throws here it would throw in the middle of reading the settings. */
function checkable(channels: Brought['channels']) {
  const faults = channels.map(({ settings }) => {
    try {
      z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' });
      settings.safeParse({});
      return null;
    } catch (error) {
      return reasonOf(error);
    }
  });
  return {
    kept: channels.filter((_, index) => faults[index] === null),
    left: channels.flatMap(({ id }, index) => {
      const fault = faults[index];
      return fault == null ? [] : [`the channel "${id}": its settings cannot be checked: ${fault}`];
    }),
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
