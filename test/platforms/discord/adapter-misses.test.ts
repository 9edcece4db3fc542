import { type AdapterValues, ParleyError } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted } from '../adapter-core.ts';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const STRANGER = '200000000000000601';
const texts = ({ received }: DiscordScene) => received.map(({ text }) => text);
const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `missed ${first + n}`);

/** An offline bot that has received one message in a channel. */
async function away(): Promise<{ double: DiscordScene['double']; values: AdapterValues }> {
  const values = createInMemoryAdapterValues();
  const before = await startDiscordScene({ values });
  const { double } = before;
  await before.connect();
  double.say({ channel: double.channelId, from: ANN, text: 'before' });
  await before.hears(1);
  await before.adapter.stop();
  return { double, values };
}

describe('[D01] [D07] a Discord channel with more missed messages than are fetched', () => {
  it.each([
    { missed: 300, skipped: 0 },
    { missed: 301, skipped: 1 },
    { missed: 399, skipped: 99 },
    { missed: 400, skipped: 100 },
    { missed: 650, skipped: 350 },
  ])(
    'passes on the newest 300 of $missed messages in order, before new messages',
    async ({ missed, skipped }) => {
      const { double, values } = await away();
      for (const text of numbered(1, missed))
        double.say({ channel: double.channelId, from: ANN, text });
      const after = await startDiscordScene({ values, on: double });
      await after.connect();
      await after.hears(missed - skipped);
      double.say({ channel: double.channelId, from: ANN, text: 'now' });
      await double.waitFor(() => texts(after).includes('now'));
      expect(texts(after)).toEqual([...numbered(skipped + 1, missed), 'now']);
      await double.waitFor(() => after.skipped.length >= skipped);
      expect(after.skipped.map(({ message }) => message.text)).toEqual(numbered(1, skipped));
      const reasons = new Set(after.skipped.map(({ reason }) => reason));
      const reason =
        'more than 300 messages were written here while the bot was away; it reads the newest 300';
      expect([...reasons]).toEqual(skipped === 0 ? [] : [reason]);
      expect(after.notes).toHaveLength(skipped === 0 ? 0 : 1);
    },
  );

  it('skips only the invalid message among the missed messages', async () => {
    const { double, values } = await away();
    for (const text of ['first', 'broken', 'third'])
      double.say({ channel: double.channelId, from: ANN, text });
    const after = await startDiscordScene({
      values,
      on: double,
      receive: async ({ text }) => {
        if (text !== 'broken') return accepted;
        const invalid = { code: 'inbound-invalid', message: 'not a message', retryable: false };
        throw new ParleyError(invalid);
      },
    });
    await after.connect();
    await after.hears(3);
    expect(texts(after)).toEqual(['first', 'broken', 'third']);
  });
});

describe('[D01] first direct messages sent while the Discord bot was offline', () => {
  it('arrive even if Discord resumes the earlier session long after the restart', async () => {
    const { double, values } = await away();
    double.say({ channel: double.dmWith(STRANGER), text: 'hello?' });
    double.fault({ kind: 'hold-resumes' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await double.waitFor(() => double.gateway().identifies === 2);
    double.say({ channel: double.channelId, from: ANN, text: 'now' });
    await double.waitFor(() => texts(after).includes('now'));
    double.fault({ kind: 'release-resumes' });
    await double.waitFor(() => texts(after).includes('hello?'));
    expect(after.notes).toEqual([]);
  });

  it('arrive even if Discord refuses to resume several times', async () => {
    const { double, values } = await away();
    double.say({ channel: double.dmWith(STRANGER), text: 'hello?' });
    double.fault({ kind: 'close-resumes', code: 4000, count: 3 });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await double.waitFor(() => texts(after).includes('hello?'));
    expect(after.notes).toEqual([]);
  });

  it('arrive in the next process when this process stopped before Discord resumed the session', async () => {
    const { double, values } = await away();
    double.say({ channel: double.dmWith(STRANGER), text: 'hello?' });
    double.fault({ kind: 'hold-resumes' });
    const during = await startDiscordScene({ values, on: double });
    await during.connect();
    double.say({ channel: double.dmWith('200000000000000602'), text: 'me too' });
    await double.waitFor(() => texts(during).includes('me too'));
    await during.adapter.stop();
    double.say({ channel: double.dmWith('200000000000000603'), text: 'and me' });
    double.fault({ kind: 'release-resumes' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await double.waitFor(() => ['hello?', 'and me'].every((text) => texts(after).includes(text)));
    expect(after.notes).toEqual([]);
  });

  it('arrive in order when the person writes again before Discord resumes the session', async () => {
    const { double, values } = await away();
    const dm = double.dmWith(STRANGER);
    double.say({ channel: dm, text: 'hello?' });
    double.fault({ kind: 'hold-resumes' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    double.say({ channel: dm, text: 'anyone?' });
    await after.hears(2);
    expect(texts(after)).toEqual(['hello?', 'anyone?']);
  });

  it("arrive with the person's next message if the session was lost, even after another restart, and the owner is notified once", async () => {
    const { double, values } = await away();
    await comeAgain(double, values);
  });

  it("arrive with the person's next message if the session was lost, even if the bot had never received a message", async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    await before.connect();
    await before.adapter.stop();
    await comeAgain(before.double, values);
  });

  /**
   * Two people write, their session is lost, and each writes again, the second after another
   * restart.
   */
  async function comeAgain(double: DiscordScene['double'], values: AdapterValues): Promise<void> {
    const [first, second] = [STRANGER, '200000000000000602'].map(double.dmWith);
    double.say({ channel: first ?? '', text: 'hello?' });
    double.say({ channel: second ?? '', text: 'me too' });
    double.fault({ kind: 'forget-sessions' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await double.waitFor(() => after.notes.length > 0);
    expect(after.logged.join()).toContain('no longer has the earlier session');
    expect(after.notes).toEqual([expect.stringMatching(/^first messages \d{4}-\d\d-\d\d$/)]);
    double.say({ channel: first ?? '', text: 'anyone?' });
    await after.hears(2);
    expect(texts(after)).toEqual(['hello?', 'anyone?']);
    await after.adapter.stop();
    const next = await startDiscordScene({ values, on: double });
    await next.connect();
    double.say({ channel: second ?? '', text: 'still there?' });
    await next.hears(2);
    expect(texts(next)).toEqual(['me too', 'still there?']);
  }

  it("arrive with the person's next message if the session was lost within one process", async () => {
    const here = await startDiscordScene();
    const { double } = here;
    await here.connect();
    double.say({ channel: double.channelId, from: ANN, text: 'before' });
    await here.hears(1);
    const dm = double.dmWith(STRANGER);
    double.fault({ kind: 'forget-sessions' });
    double.fault({ kind: 'drop' });
    double.say({ channel: dm, text: 'hello?' });
    await double.waitFor(() => double.gateway().identifies === 2 && here.notes.length > 0);
    double.say({ channel: dm, text: 'anyone?' });
    await here.hears(3);
    expect(texts(here)).toEqual(['before', 'hello?', 'anyone?']);
  });

  it('arrive even if the person has only used a command there before', async () => {
    const values = createInMemoryAdapterValues();
    const commands = [{ name: 'help', summary: 'what I can do' }];
    const here = await startDiscordScene({ values, commands });
    const { double } = here;
    await here.connect();
    await double.waitFor(() => double.calls('PUT /applications/').length > 0);
    const dm = double.dmWith(STRANGER);
    double.slash({ channel: dm, from: STRANGER, name: 'help' });
    await here.hears(1);
    await here.adapter.stop();
    double.say({ channel: dm, text: 'hello?' });
    double.fault({ kind: 'forget-sessions' });
    const after = await startDiscordScene({ values, on: double, commands });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['hello?']);
  });
});
