import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWERS } from './answers.ts';
import { APPROVALS } from './approvals.ts';
import type { ChannelBehavior } from './behaviour.ts';
import { COMMANDS } from './commands.ts';
import { CONVERSATIONS } from './conversations.ts';
import type { PlatformPeer, PlatformTrait } from './peer.ts';
import { restarts } from './restarts.ts';
import { type ChannelScene, startScene } from './scene.ts';
import { LOST_CONNECTIONS, TROUBLES } from './troubles.ts';

const table = (quotes: boolean): readonly ChannelBehavior[] => [
  ...CONVERSATIONS,
  ...COMMANDS,
  ...APPROVALS,
  ...ANSWERS,
  ...TROUBLES,
  ...restarts(quotes),
  ...LOST_CONNECTIONS,
];

/**
 * The channel that runs all rows in a normal run; the other channels skip rows that test shared
 * code.
 */
const FIRST = 'Telegram';

/**
 * Tests the behaviors of a channel row by row over its real protocol, with one Parley for all rows.
 * @param lacks the abilities that the platform does not have; rows that need one are skipped.
 */
export function everyChannel(
  name: string,
  makePeer: () => Promise<PlatformPeer>,
  lacks: readonly PlatformTrait[],
): void {
  describe(`every channel: ${name}`, () => {
    let scene: ChannelScene;
    beforeAll(async () => {
      scene = await startScene(makePeer);
    });
    afterAll(() => scene?.close());

    const rows = table(!lacks.includes('quotes'));
    for (const { title, needs = [], isSameEverywhere, run } of rows) {
      if (needs.some((trait) => lacks.includes(trait))) continue;
      if (isSameEverywhere && name !== FIRST && !isFullRun()) continue;
      it(title, async () => {
        await run(scene);
        expect(scene.leaks()).toEqual([]);
      });
    }

    it('[F04] lacks exactly the abilities whose rows were skipped', () => {
      for (const trait of lacks) expect([...scene.peer.traits]).not.toContain(trait);
      const needed = new Set(table(true).flatMap(({ needs = [] }) => needs));
      const missing = [...needed].filter((trait) => !scene.peer.traits.has(trait));
      expect(missing.filter((trait) => !lacks.includes(trait))).toEqual([]);
    });
  });
}
