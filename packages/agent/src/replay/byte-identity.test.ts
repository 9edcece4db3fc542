import { LAYOUT_NAMES, neutralizeTemplateTokens } from '@parley/core';
import { isFullRun } from '@parley/core/testing';
import type { ModelRequest } from '@parley/models';
import { describe, expect, it } from 'vitest';
import { KINDS, openReplayWorld, type ReplayWorld } from '../testing/replay-world.ts';
import { replayRecordedTurn } from './replay.ts';

const WORLDS = LAYOUT_NAMES.flatMap((layout, nth) => {
  const [seed, isEven] = [nth, nth % 2 === 0];
  const roomy = { layout, seed, agent: undefined, contextTokens: 100_000, summarizes: isEven };
  const tight = { layout, seed: 100 + seed, agent: 'support', contextTokens: 9_000 };
  return [
    { ...roomy, provider: 'openai-compatible' as const },
    { ...tight, provider: 'anthropic' as const, summarizes: !isEven },
  ];
});

/** The kinds of turns, repeated until there are `count`, in an order that depends on the seed. */
async function fill(world: ReplayWorld, count: number, seed: number): Promise<void> {
  const kinds = Object.values(KINDS);
  for (let nth = 0; world.runs.length < count; nth += 1) {
    const at = (nth * 7 + seed * 3 + Math.floor(nth / kinds.length)) % kinds.length;
    await kinds[at]?.(world, nth);
  }
}

/** Ten turns in each world on a change; the seeds make them all kinds of turns. */
const TURNS = isFullRun() ? 1_000 : 10 * WORLDS.length;

/** `callable` is not sent, and a record has only those tools that the turn could call in the end. */
function describeRequest({ messages, system, callable: _, ...facts }: ModelRequest) {
  return {
    ...facts,
    system: system.map(({ text, stable }) => [neutralizeTemplateTokens(text), stable]),
    messages: messages.map(({ content, ...more }) => [neutralizeTemplateTokens(content), more]),
  };
}

const seen = { turns: 0, requests: 0 };

describe('an unchanged replay', () => {
  it.each(WORLDS)(
    '[G22] sends byte for byte what the provider received: layout $layout, $provider, $contextTokens tokens, summaries: $summarizes',
    { timeout: 600_000 },
    async (options) => {
      const world = await openReplayWorld(options);
      try {
        const count = Math.ceil(TURNS / WORLDS.length);
        await fill(world, count, options.seed);
        world.server.replay();
        for (const { turnId, what, bodies, requests } of world.runs) {
          world.server.forget();
          world.requests.splice(0);
          const asked = { model: world.model };
          const signal = AbortSignal.timeout(60_000);
          const outcome = await replayRecordedTurn(world.services, turnId, asked, signal);
          const about = `${what} ${turnId} ${JSON.stringify(outcome).slice(0, 600)}`;
          expect(world.server.bodies.length, about).toBe(bodies.length);
          for (const [at, body] of bodies.entries())
            expect(world.server.bodies[at], `${at} of ${about}`).toBe(body);
          // Facts that only other dialects send: format, cache boundary, uncertain text.
          expect(world.requests.map(describeRequest), about).toEqual(requests.map(describeRequest));
          expect(outcome?.kind, about).toBe('same');
          seen.turns += 1;
          seen.requests += bodies.length;
        }
      } finally {
        await world.close();
      }
    },
  );

  it('[G22] was compared in as many turns as promised', () => {
    expect(seen.turns).toBeGreaterThanOrEqual(TURNS);
    expect(seen.requests).toBeGreaterThan(seen.turns);
    if (isFullRun()) console.info(`${seen.turns} turns with ${seen.requests} requests`);
  });
});
