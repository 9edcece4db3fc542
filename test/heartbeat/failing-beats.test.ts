import { openIdleRuntime } from '@parley/cli/idle-runtime';
import { ModelError } from '@parley/models';
import { afterEach, describe, expect, it } from 'vitest';

const HALF_HOUR = 30 * 60_000;
const BEGIN = Date.parse('2026-11-21T00:00:00Z');
const CHAT = { channel: 'web', account: 'default', chatId: 'owner' };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('heartbeats that fail', () => {
  it('[H04] notify the owner once a day in the daytime, after three failures in a row', async () => {
    const settings = { agent: { timeZone: 'UTC' } };
    const parley = await openIdleRuntime(settings, BEGIN, ({ messages }) => {
      if (!JSON.stringify(messages).includes('beat_main')) return 'Hello.';
      throw new ModelError({ kind: 'unauthorised' }, 'still/model', 'The key is wrong.');
    });
    closing.push(() => parley.close());
    parley.put('HEARTBEAT.md', '## mail\n- every: 30 min\n- do: Look for mail.\n');
    await parley.say('Hello');
    await parley.runDue();
    for (let beat = 1; beat <= 96; beat += 1) {
      parley.at(BEGIN + beat * HALF_HOUR);
      await parley.runDue();
    }
    const runs = await parley.store.heartbeats.recent('main', 200);
    expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['failed']));
    const told = (await parley.store.outbox.recent(CHAT, 200))
      .map(({ part }) => part.body.text)
      .filter((text) => text.includes('⚙️'));
    expect(told).toHaveLength(2);
    expect(told[0]).toContain('My standing tasks have failed 3 times in a row (mail).');
    expect(told[0]).not.toMatch(/HEARTBEAT_OK/);
  });
});
