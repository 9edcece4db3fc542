import { setTimeout as sleep } from 'node:timers/promises';
import type { GrowingAnswer } from '@parley/channels';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { createPrefixRenderer, render } from '@parley/markup';
import { WIDE_LIMITS } from '@parley/simulators/discord';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import {
  ANN,
  createPart,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from './adapter-scene.ts';

afterEach(endScenes);

const TARGET = { dialect: 'discord', maxLength: 2000, unit: 'utf16' } as const;
const LONG = Array.from({ length: 60 }, (_, n) => `Line ${n}: ${'word '.repeat(20)}`).join('\n\n');

/** Long enough to be shown before the rest has arrived. */
const START =
  'This answer begins with a sentence that is long enough to be shown before it is over.';

/** An unfinished answer. */
function growing(text: string): GrowingAnswer {
  const renderer = createPrefixRenderer(TARGET);
  renderer.push(text);
  return renderer;
}

const visible = ({ double }: DiscordScene) =>
  double.conversation(double.channelId).map((message) => message.visible);
const grow = ({ adapter, double }: DiscordScene, text: string, replyToMessageId?: string) =>
  adapter.streaming?.update({ chatId: double.channelId, replyToMessageId }, 't1', growing(text));

/** Sends the finished answer as the outbox would. */
async function finish({ adapter, double }: DiscordScene, text: string): Promise<string[]> {
  const ids: string[] = [];
  const bodies = render(text, TARGET);
  for (const [index, body] of bodies.entries()) {
    const isLast = index === bodies.length - 1;
    const more = { turnId: 't1', index, isLast, body, idempotencyKey: `key ${index}` };
    const receipt = await adapter.send(createPart(double.channelId, '', more), noSignal());
    ids.push(receipt.platformMessageId);
  }
  return ids;
}

describe('[F12] a streamed answer on Discord', () => {
  it('is one message that is edited, quotes the question and becomes the finished answer', async () => {
    const here = await startDiscordScene();
    const question = here.double.say({ channel: here.double.channelId, from: ANN, text: 'q' });
    await grow(here, START, question.id);
    await grow(here, `${START} It is`);
    await grow(here, `${START} It is`);
    expect(visible(here)).toEqual(['q', `${START} It is`]);
    const [id] = await finish(here, `${START} It is **done**.`);
    expect(here.double.conversation(here.double.channelId)).toMatchObject([
      { visible: 'q' },
      { id, visible: `${START} It is done.`, replyTo: question.id },
    ]);
    expect(here.double.sends().map(({ kind }) => kind)).toEqual(['message', 'edit', 'edit']);
  });

  it('needs one request when it arrives complete', async () => {
    const here = await startDiscordScene();
    await grow(here, START);
    const [id] = await finish(here, START);
    expect(here.double.conversation(here.double.channelId)).toMatchObject([{ id, visible: START }]);
    expect(here.double.sends().map(({ kind }) => kind)).toEqual(['message']);
  });

  it('spans several messages with one edit at a time, and none is lost or duplicated', async () => {
    const here = await startDiscordScene();
    const { double } = here;
    for (let length = 200; length < LONG.length; length += 700) {
      const before = double.sends().filter(({ kind }) => kind === 'edit').length;
      await grow(here, LONG.slice(0, length));
      const edits = double.sends().filter(({ kind }) => kind === 'edit').length - before;
      expect(edits).toBeLessThanOrEqual(1);
    }
    const ids = await finish(here, LONG);
    const expected = render(LONG, TARGET).map(({ text }) => text);
    const shown = double.conversation(double.channelId);
    expect(shown.map(({ content }) => content)).toEqual(expected.map((text) => text.trim()));
    expect(shown.map(({ id }) => id)).toEqual(ids);
  });

  it('is continued by the finished answer even after a restart', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    await grow(before, START);
    await before.adapter.stop();
    const after = await startDiscordScene({ values, on: before.double });
    await grow(after, `${START} half of it`);
    expect(visible(after)).toEqual([`${START} half of it`]);
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it('is continued even if it is unknown whether the first message arrived', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    before.double.fault({ kind: 'hang-up', after: true });
    await expect(grow(before, START)).rejects.toThrow('may have arrived');
    await before.adapter.stop();
    const after = await startDiscordScene({ values, on: before.double });
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it("[D04] does not leave messages of the turn's first run behind if the second run produces less", async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    await grow(before, LONG);
    await before.adapter.stop();
    expect(visible(before).length).toBeGreaterThan(2);
    const after = await startDiscordScene({ values, on: before.double });
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it('[D04] leaves nothing behind even if it is unknown whether the last message of the first run arrived', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    await grow(before, START);
    before.double.fault({ kind: 'hang-up', after: true, call: 'POST /channels' });
    await expect(grow(before, LONG)).rejects.toThrow('may have arrived');
    await before.adapter.stop();
    expect(visible(before)).toHaveLength(2);
    const after = await startDiscordScene({ values, on: before.double });
    await finish(after, 'all of it');
    expect(visible(after)).toEqual(['all of it']);
  });

  it('is sent as one message without drafts when it is short', async () => {
    const here = await startDiscordScene();
    await grow(here, 'Yes, it');
    expect(visible(here)).toEqual([]);
    await finish(here, 'Yes, it is.');
    expect(here.double.sends().map(({ kind }) => kind)).toEqual(['message']);
  });

  it('[M05] is sent as a new message when it pings someone, because edits do not ping', async () => {
    const here = await startDiscordScene();
    await grow(here, START);
    const text = `<@${ANN}> ${START}`;
    const more = { body: { text, plain: text }, turnId: 't1', mentions: 'live' as const };
    await here.adapter.send(createPart(here.double.channelId, '', more), noSignal());
    expect(here.double.sends().at(-1)).toMatchObject({ kind: 'message', pings: { users: [ANN] } });
    expect(visible(here)).toEqual([text]);
  });

  it('is no longer edited once the finished answer is being sent', async () => {
    const here = await startDiscordScene();
    await grow(here, START);
    here.double.fault({ kind: 'delay', ms: 50, call: 'PATCH' });
    const finishing = finish(here, 'whole');
    await grow(here, `${START} half of`);
    await finishing;
    expect(visible(here)).toEqual(['whole']);
  });

  it.each<[string, (here: DiscordScene, lose: () => void) => unknown]>([
    ['is stopped', ({ adapter }) => adapter.stop()],
    ['stalled until another gateway had the account', (_, lose) => lose()],
  ])(
    '[D09] is no longer edited once it %s, and an edit that waits for its rate limit is not sent',
    async (_, end) => {
      const [values, account] = [createInMemoryAdapterValues(), { isHeld: true }];
      const limits = { ...WIDE_LIMITS, routes: { count: 1, windowMs: 1_000 } };
      const holdsAccount = () => account.isHeld;
      const before = await startDiscordScene({ values, holdsAccount, double: { limits } });
      await grow(before, START);
      await grow(before, `${START} It is`);
      const late = grow(before, `${START} It is almost`)?.catch(() => undefined);
      // The edit is now waiting within discord.js.
      await sleep(50);
      await end(before, () => {
        account.isHeld = false;
      });
      await late;
      await grow(before, `${START} It is nearly`)?.catch(() => undefined);
      const after = await startDiscordScene({ values, on: before.double });
      await finish(after, `${START} It is done.`);
      const edits = before.double.sends().filter(({ kind }) => kind === 'edit');
      expect(edits.map(({ visible }) => visible)).toEqual([
        `${START} It is`,
        `${START} It is done.`,
      ]);
    },
  );

  it('is no longer edited after Discord refuses an edit, because Discord counts refusals', async () => {
    const here = await startDiscordScene();
    here.double.deny(here.double.channelId, 'send');
    await expect(grow(here, START)).rejects.toThrow('Send Messages');
    await grow(here, `${START} And so on.`);
    expect(here.double.calls('POST /channels/')).toHaveLength(1);
  });

  it('is sent again when a person has deleted the visible message', async () => {
    const here = await startDiscordScene();
    await grow(here, START);
    const [shown] = here.double.conversation(here.double.channelId);
    here.double.erase(here.double.channelId, shown?.id ?? '');
    await finish(here, 'whole');
    expect(visible(here)).toEqual(['whole']);
  });

  it('[D04] does not change when the finished part is sent twice', async () => {
    const here = await startDiscordScene();
    await grow(here, START);
    const once = await finish(here, 'whole');
    expect(await finish(here, 'whole')).toEqual(once);
    expect(visible(here)).toEqual(['whole']);
  });
});
