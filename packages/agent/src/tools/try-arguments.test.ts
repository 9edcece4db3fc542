import { createCheckRunner } from '@parley/core';
import { SLOW_PATTERN } from '@parley/core/testing/hostile-schemas';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';
import { createToolRegistry } from './tool-registry.ts';
import { validateArguments } from './try-arguments.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;
const NEVER = new AbortController().signal;

function toolWith(input: z.ZodType): Tool {
  const rest = { tier: 'middleware', audience: 'everyone', approval: 'never' } as const;
  const run = async () => ({ text: 'done' });
  return defineTool({ name: 'look', summary: 'Looks.', effect: 'read', input, run, ...rest });
}

async function tried(input: z.ZodType, values: unknown, from: 'mine' | 'Parley' = 'mine') {
  const tools = [toolWith(input)];
  const { registry } = createToolRegistry(
    from === 'mine' ? { builtIn: [], added: [{ from, tools }] } : { builtIn: tools },
  );
  const runner = createCheckRunner();
  let threads = 0;
  const checks: typeof runner = {
    ...runner,
    tryValue: (...order) => {
      threads += 1;
      return runner.tryValue(...order);
    },
  };
  const call = { id: 'x', name: 'look', arguments: JSON.stringify(values) };
  const refused = await validateArguments({ tools: registry.for(OWNER), checks }, call, NEVER);
  return { refused: refused?.text ?? null, threads };
}

const Slow = z.object({ text: z.string().regex(new RegExp(SLOW_PATTERN.pattern)) });
const Recursive = z.object({
  get next() {
    return z.union([Recursive, z.null()]);
  },
});
const Wide = z.object({
  all: z.array(z.union(Array.from({ length: 1_000 }, (_, nth) => z.literal(nth)))),
});
const numbers = (length: number) => ({ all: Array.from({ length }, () => -1) });

describe('arguments of a third-party tool', () => {
  it('[D13] are refused if their validation never ends, and the event loop keeps running', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 10);
    const { refused } = await tried(Slow, { text: SLOW_PATTERN.text });
    clearInterval(timer);
    expect(refused).toMatch(/^look was not run, because its arguments cannot be checked: .* 2 s /);
    expect(turns).toBeGreaterThan(5);
  });

  it.each([
    ['a regular expression', Slow, { text: 'aaab' }, 1],
    ['a recursive schema', Recursive, { next: { next: null } }, 1],
    ['many choices for many values', Wide, numbers(60), 1],
    ['many choices for few values', Wide, numbers(5), 0],
    ['a simple schema', z.object({ a: z.array(z.number()) }), { a: [1, 2, 3] }, 0],
    ['arguments that are not an object', Slow, null, 0],
  ])(
    '[D16] are validated in a thread only if that may be needed: %s',
    async (_, schema, values, threads) => {
      expect(await tried(schema, values)).toEqual({ refused: null, threads });
    },
  );

  it('[D16] are never validated in a thread for Parley’s own tools', async () => {
    expect(await tried(Slow, { text: 'aaab' }, 'Parley')).toEqual({ refused: null, threads: 0 });
  });
});
