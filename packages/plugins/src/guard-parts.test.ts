import type { Tool, TurnHook } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import type { ProbeEnv } from '@parley/channels/probe';
import { Defects } from '@parley/core';
import type { ContextSource } from '@parley/prompt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { guardChannel, withResultValidation } from './guard-parts.ts';
import type { PluginLayer } from './plugin.ts';

/** A plugin's parts, all of whose functions return the same result. */
function parts(result: () => unknown) {
  const give = async () => result();
  const tool: object = {
    ...{ name: 'weather', summary: 'x', tier: 'middleware', effect: 'read', audience: 'everyone' },
    ...{ approval: 'never', input: z.object({}), run: give, proposes: give },
  };
  const layer: object = { id: 'sky', volatility: 'turn', placement: 'user', render: give };
  const defects = new Defects({ clock: () => 1, onDefect: () => {} });
  const watched = withResultValidation(
    {
      tools: [tool as Tool],
      layers: [layer as PluginLayer],
      hooks: [{ id: 'hour', before: give } as TurnHook],
      sources: [{ id: 'sun', gather: give } as ContextSource],
    },
    defects,
  );
  const [one, sky, hour, sun] = [
    watched.tools[0],
    watched.layers[0],
    watched.hooks[0],
    watched.sources[0],
  ];
  const none = {} as never;
  const calls: readonly (() => unknown)[] = [
    () => one?.run(none, none),
    () => one?.proposes?.(none, none),
    () => sky?.render(none, none),
    () => hour?.before?.(none, none),
    () => sun?.gather(none),
  ];
  return { calls, defects };
}

const SKY: ChannelDefinition = {
  id: 'sky',
  settings: z.strictObject({}),
  menu: { commands: 9, description: { max: 100, unit: 'utf16' }, name: /^[a-z]+$/ },
  load: () => Promise.reject(new Error('not loaded here')),
};
const ENV: ProbeEnv = { signal: new AbortController().signal, clock: () => 1, values: null };

describe('a plugin’s channel', () => {
  it('[P16] [U02] keeps its probe for "parley doctor" and the limits of its menu', async () => {
    const works = { kind: 'works', as: '@sky', warnings: [], clock: null } as const;
    const channel = guardChannel({ ...SKY, probe: async () => works });
    expect(channel.menu).toBe(SKY.menu);
    expect(await channel.probe?.({}, ENV)).toEqual(works);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no net'))],
    ['returns an invalid value', async () => ({ kind: 'works' }) as never],
  ])('[P16] [U02] is reported by "parley doctor" if its probe %s', async (_what, probe) => {
    const probed = await guardChannel({ ...SKY, probe }).probe?.({}, ENV);
    expect(probed).toMatchObject({ kind: 'problem', reason: expect.stringMatching(/^its probe/) });
  });
});

describe('the results returned by a plugin’s parts', () => {
  it('[P16] are dropped and counted if they are invalid, and the function is not called after three in a row', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(7, 'text', [7], true, undefined, { text: 7 }),
        async (wrong) => {
          let asked = 0;
          const { calls, defects } = parts(() => {
            asked += 1;
            return wrong;
          });
          const [run] = calls;
          for (let nth = 0; nth < 5; nth += 1)
            await expect(run?.()).rejects.toThrow('tool weather');
          expect(asked).toBe(3);
          expect(defects.summary()).toMatchObject({ count: 3, last: { what: 'tool weather' } });
        },
      ),
    );
  });

  it('[P16] are counted separately for each part, and passed on if they are valid', async () => {
    const { calls, defects } = parts(() => 7);
    for (const call of calls) await expect(call()).rejects.toThrow('broke its contract');
    expect(defects.summary()?.count).toBe(calls.length);
    const right = { text: 'hi', source: 'x', audience: { kind: 'everyone' } };
    const fine = parts(() => right);
    const [run, , render, before, gather] = fine.calls;
    for (const call of [run, render, before, gather]) expect(await call?.()).toEqual(right);
    expect(fine.defects.summary()).toBeUndefined();
  });
});
