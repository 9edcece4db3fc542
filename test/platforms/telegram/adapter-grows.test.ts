import type { ChannelAdapter } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { createPrefixRenderer } from '@parley/markup';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import {
  endScenes,
  startTelegramScene,
  type TelegramScene,
  type TelegramSceneOptions,
} from './adapter-scene.ts';

afterEach(endScenes);

const GROUP = -5;
const FORUM = -1_000_000_000_005;
/** Long enough to be shown before the rest has arrived. */
const START =
  'This answer begins with a sentence that is long enough to be shown before it is over.';

/** A group with a message, so that the adapter knows the group. */
async function asked(wishes: TelegramSceneOptions = {}, chat = GROUP, thread?: number) {
  const here = await startTelegramScene(wishes);
  const question = here.double.say({ chat, text: 'q', thread });
  await here.adapter.start();
  await here.double.waitFor(() => here.received.length > 0);
  const place = {
    replyToMessageId: String(question.message_id),
    ...(thread !== undefined && { threadId: String(thread) }),
  };
  return { ...here, chat, place, question };
}
type Asked = Awaited<ReturnType<typeof asked>>;

/** Shows an unfinished answer. */
async function grow(here: Asked, text: string, by: ChannelAdapter = here.adapter): Promise<void> {
  const answer = createPrefixRenderer(by.capabilities.target);
  answer.push(text);
  await by.streaming?.update({ chatId: String(here.chat), ...here.place }, 't', answer);
}

const finished = (here: Asked, text: string, more: Partial<OutboundPart> = {}): OutboundPart => ({
  ...createPart(here.chat, text, here.place),
  ...more,
});
const texts = ({ double, chat }: Pick<Asked, 'double' | 'chat'>) =>
  double
    .conversation(chat)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);
const writes = ({ double }: TelegramScene) =>
  double
    .calls()
    .map(({ method }) => method)
    .filter((method) => /^(?:send|edit|delete)(?!ChatAction)/.test(method));

describe('[F12] a streamed answer in a Telegram group', () => {
  it.each([
    ['a group', GROUP, undefined],
    ['a topic', FORUM, 42],
  ])(
    'is one message that is edited and becomes the finished answer: %s',
    async (_, chat, thread) => {
      const here = await asked({}, chat, thread);
      await grow(here, START);
      await grow(here, `${START} It is`);
      await grow(here, `${START} It is`);
      expect(texts(here)).toEqual([`${START} It is`]);
      const receipt = await here.adapter.send(
        finished(here, `${START} It is <b>done</b>.`),
        noSignal(),
      );
      const shown = here.double.conversation(chat).slice(1);
      expect(shown).toMatchObject([
        { text: `${START} It is done.`, replyTo: here.question.message_id },
      ]);
      expect(shown[0]?.threadId).toBe(thread);
      expect(receipt.platformMessageId).toBe(String(shown[0]?.messageId));
      expect(writes(here)).toEqual(['sendMessage', 'editMessageText', 'editMessageText']);
    },
  );

  it('needs one call when it arrives complete, and otherwise gets its buttons in the second call', async () => {
    const here = await asked();
    await grow(here, START);
    await here.adapter.send(finished(here, START), noSignal());
    expect(writes(here)).toEqual(['sendMessage']);
    const buttons = [{ label: 'Yes', data: 'yes' }];
    await here.adapter.send(finished(here, START, { buttons }), noSignal());
    expect(here.double.conversation(GROUP).at(-1)).toMatchObject({ text: START, buttons: ['Yes'] });
  });

  it('is edited less often the longer it is, and only its first message is shown, unless it is short', async () => {
    const { adapter } = await asked();
    const pace = (length: number, chatId = String(GROUP)) =>
      adapter.streaming?.pace?.({ chatId }, length);
    expect(pace(79)).toBeNull();
    expect(pace(500)?.minIntervalMs).toBe(3_500);
    expect(pace(4_000)?.minIntervalMs).toBe(7_000);
    expect(pace(5_000)).toBeNull();
    expect(pace(1, '501')?.minIntervalMs).toBe(1_000);
  });

  it('is not shown if the settings disable it, in channels, or while no message is known', async () => {
    const off = await asked({ settings: () => ({ growInGroups: false }) });
    expect(off.adapter.streaming?.pace?.({ chatId: String(GROUP) }, 500)).toBeNull();
    const { adapter, double, received } = await asked();
    const channel = -1_000_000_000_009;
    double.say({ chat: { id: channel, type: 'channel' }, text: 'a post' });
    double.say({ chat: FORUM, text: '/status', ephemeral: true });
    await double.waitFor(() => received.length === 3);
    for (const chat of [channel, FORUM])
      expect(adapter.streaming?.pace?.({ chatId: String(chat) }, 500)).toBeNull();
  });

  it('is deleted when no answer follows, even after a restart', async () => {
    const here = await asked();
    const address = { chatId: String(GROUP) };
    await grow(here, START);
    await here.adapter.streaming?.end(address, 't', 'later');
    expect(texts(here)).toEqual([START]);
    await here.again().streaming?.end(address, 't', 'nothing');
    expect(texts(here)).toEqual([]);
    await grow(here, `${START} more`);
    await here.adapter.streaming?.end(address, 't', 'nothing');
    expect(writes(here).filter((method) => method === 'sendMessage')).toHaveLength(1);
  });

  it('[D09] is not shown once another gateway may have finished it', async () => {
    const account = { isHeld: true };
    const here = await asked({ holdsAccount: () => account.isHeld });
    await grow(here, START);
    account.isHeld = false;
    await grow(here, `${START} more`);
    expect(texts(here)).toEqual([START]);
  });

  it('is replaced by a new message when people must be pinged, because an edit does not ping', async () => {
    const here = await asked();
    await grow(here, START);
    const target = {
      dialect: 'telegram',
      maxLength: 4096,
      unit: 'utf16',
      mentions: 'live',
    } as const;
    const asks = finished(here, 'Ask @bo');
    await here.adapter.send({ ...asks, route: { ...asks.route, target } }, noSignal());
    expect(texts(here)).toEqual(['Ask @bo']);
    expect(writes(here)).toEqual(['sendMessage', 'deleteMessage', 'sendMessage']);
  });

  it('is sent again when it was deleted, or the group has become a supergroup', async () => {
    const here = await asked();
    await grow(here, START);
    const [grown] = here.double.conversation(GROUP).filter(({ from }) => from === 'bot');
    const address = { chatId: String(GROUP) };
    await here.adapter.messages?.delete?.(address, String(grown?.messageId));
    await here.adapter.send(finished(here, 'all of it'), noSignal());
    expect(texts(here)).toEqual(['all of it']);
    const other = await asked();
    await grow(other, START);
    const chat = other.double.migrate(GROUP);
    await other.adapter.send(finished(other, 'all of it'), noSignal());
    expect(texts({ ...other, chat })).toEqual(['all of it']);
  });
});

describe('[D04] a streamed message in a Telegram group', () => {
  it('becomes the finished answer after a restart, however often the answer is sent', async () => {
    const here = await asked();
    await grow(here, START);
    const again = here.again();
    await again.send(finished(here, 'all of it'), noSignal());
    await here.again().send(finished(here, 'all of it'), noSignal());
    expect(texts(here)).toEqual(['all of it']);
  });

  it.each(['this process', 'the next one'])(
    'is found by %s when it is unknown whether it arrived',
    async (who) => {
      const here = await asked();
      here.double.fault({ kind: 'reset', method: 'sendMessage', after: true });
      await grow(here, START);
      await grow(here, `${START} more`);
      expect(texts(here)).toEqual([START]);
      here.double.say({ chat: GROUP, text: 'meanwhile' });
      const by = who === 'this process' ? here.adapter : here.again();
      await by.send(finished(here, 'all of it'), noSignal());
      expect(texts(here)).toEqual(['all of it']);
    },
  );

  it('is not mistaken for another message when it did not arrive', async () => {
    const here = await asked();
    here.double.fault({ kind: 'reset', method: 'sendMessage' });
    await grow(here, START);
    await here.adapter.send(createPart(GROUP, 'of another turn', { turnId: 'o' }), noSignal());
    await here.adapter.send(finished(here, 'all of it'), noSignal());
    expect(texts(here)).toEqual(['of another turn', 'all of it']);
  });

  it('is retried instead of given up when the last edit got no response', async () => {
    const here = await asked();
    await grow(here, START);
    here.double.fault({ kind: 'reset', method: 'editMessageText', after: true });
    let started = 0;
    const send = () =>
      here.adapter.send(finished(here, 'all of it'), noSignal(), () => {
        started += 1;
      });
    expect(await readFailure(send())).toEqual({ kind: 'transient' });
    await send();
    expect([texts(here), started]).toEqual([['all of it'], 0]);
  });

  it('is completed when the part is searched for, and is never taken for another part', async () => {
    const values = createInMemoryAdapterValues();
    const here = await asked({ values });
    await grow(here, START);
    const known = [
      {
        chatId: String(GROUP),
        messageId: String(here.question.message_id),
        direction: 'in' as const,
        at: 0,
      },
    ];
    const again = here.again();
    const find = (sought: OutboundPart) =>
      again.findSent?.(sought, { known, uncertainAt: null }, noSignal());
    expect(await find(createPart(GROUP, 'x', { turnId: 'other' }))).toBeUndefined();
    const [grown] = here.double.conversation(GROUP).filter(({ from }) => from === 'bot');
    expect(await find(finished(here, 'all of it'))).toBe(String(grown?.messageId));
    expect(texts(here)).toEqual(['all of it']);
  });
});

describe('[D05] the rate limit of a group with a streamed answer', () => {
  it('pauses the streamed answer after a 429, and the finished answer waits, too', async () => {
    let now = 1_000_000;
    const here = await asked({ clock: () => now });
    await grow(here, START);
    const parameters = { retry_after: 9 };
    const refusal = { code: 429, description: 'Too Many Requests', parameters };
    here.double.fault({ kind: 'refuse', method: 'editMessageText', ...refusal });
    await grow(here, `${START} more`);
    await grow(here, `${START} more and more`);
    const send = () => here.adapter.send(finished(here, 'all of it'), noSignal());
    now += 4_000;
    const wait = { kind: 'rate-limited', retryAfterMs: 5_000, scope: 'chat' };
    expect(await readFailure(send())).toEqual(wait);
    now += 5_000;
    await send();
    expect(texts(here)).toEqual(['all of it']);
    expect(writes(here)).toEqual(['sendMessage', 'editMessageText', 'editMessageText']);
    const pace = () => here.adapter.streaming?.pace?.({ chatId: String(GROUP) }, 500);
    expect(pace()).toBeNull();
    await here.adapter.streaming?.update({ chatId: String(GROUP) }, 'next', {
      show: async () => [{ text: START, plain: START }],
    });
    expect(texts(here)).toEqual(['all of it']);
    now += 10 * 60_000;
    expect(pace()).not.toBeNull();
  });
});
