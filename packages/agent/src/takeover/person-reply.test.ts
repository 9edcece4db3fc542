import type { DeadLetterWake, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  formatReply,
  isReadByPeople,
  type NewPersonReply,
  sendPersonReply,
} from './person-reply.ts';

const LANE = 'web:default:c1';
const PLACE = { channel: 'web', account: 'default' };

function message(messageId: string, more: { type?: 'direct' | 'group'; channel?: string } = {}) {
  const { type = 'direct', channel = 'web' } = more;
  const sender = { id: 'u1', name: 'Cleo', isBot: false };
  return {
    conversationId: LANE,
    route: {
      ...{ ...PLACE, channel, chatId: 'c1', replyToMessageId: messageId, response: 'r' },
      target: { dialect: 'plain', maxLength: 100, unit: 'utf16' },
    } as const,
    receivedAt: 0,
    message: {
      ...{ ...PLACE, channel, messageId, sender, text: `text of ${messageId}` },
      ...{ chat: { id: 'c1', type }, addressed: true, mentions: [], sentAt: 0, variables: {} },
    },
  };
}

let store: Store;
const woken: DeadLetterWake[] = [];
beforeEach(async () => {
  woken.length = 0;
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

const wake = async (to: DeadLetterWake) => void woken.push(to);
const send = (more: Partial<NewPersonReply> = {}, name = 'Ann') =>
  sendPersonReply(
    { store, wake },
    { conversationId: LANE, text: 'I am **here**', as: 'self', requestId: 'r1', ...more },
    { name },
  );
const takeOver = () =>
  store.takeovers.takeOver({ conversationId: LANE, by: 'Ann', lastsMs: 60_000 });
const history = async () =>
  (await store.transcript.recent(LANE, 0, 9)).map((one) => ({
    role: one.role,
    text: Object(one.content).text,
  }));
const parts = async () =>
  (await store.outbox.recent({ ...PLACE, chatId: 'c1' }, 99)).map(({ part }) => part);

describe('a person’s reply', () => {
  it('[U12] names its author, does not quote a message, and wakes delivery', async () => {
    await store.inbox.accept(message('m1'));
    expect(await send()).toMatchObject({ kind: 'stored' });
    const [part] = await parts();
    expect(part?.body.text).toBe('Ann: I am here');
    expect(part?.route).not.toHaveProperty('replyToMessageId');
    expect(part?.route).not.toHaveProperty('response');
    expect(woken).toMatchObject([{ kind: 'chat', chat: { chatId: 'c1' } }]);
  });

  it('[U12] is formatted like one of the agent’s answers if it is sent as the agent', async () => {
    await store.inbox.accept(message('m1'));
    await send({ as: 'agent' });
    expect((await parts()).map(({ body }) => body.text)).toEqual(['I am here']);
  });

  it('[U12] never enters the history as the agent’s own words, under any name', async () => {
    await store.inbox.accept(message('m1'));
    await takeOver();
    await send({ text: 'one\ntwo' });
    await send({ text: 'three', as: 'agent', requestId: 'r2' });
    expect(await history()).toEqual([
      { role: 'user', text: 'text of m1' },
      {
        role: 'user',
        text: '⚙️ "Ann", an owner, wrote this here under their own name:\n> one\n> two',
      },
      {
        role: 'user',
        text: '⚙️ "Ann", an owner, wrote this here in your name, so that people take it for your words:\n> three',
      },
    ]);
  });

  it('[U12] records the senders of the group messages that it answers', async () => {
    for (const id of ['m1', 'm2']) await store.inbox.accept(message(id, { type: 'group' }));
    await takeOver();
    expect(await send()).toMatchObject({ answered: 2 });
    expect((await history())[0]?.text).toBe('From "Cleo": text of m1\n\nFrom "Cleo": text of m2');
  });

  it('[U12] is split like an answer if it is long', async () => {
    await store.inbox.accept(message('m1'));
    await send({ text: 'word '.repeat(60) });
    const texts = (await parts()).map(({ body }) => body.text);
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.every(({ length }) => length <= 100)).toBe(true);
  });

  it('[U12] is stored once if the same request is repeated, and wakes delivery again', async () => {
    await store.inbox.accept(message('m1'));
    const first = await send();
    expect(await send()).toEqual({ ...first, kind: 'known', answered: 0 });
    expect(await send({ requestId: 'r2' })).toMatchObject({ kind: 'stored' });
    expect(await parts()).toHaveLength(2);
    expect(woken).toHaveLength(3);
  });

  it('[U12] is refused if nobody reads the chat or the text has no visible part', async () => {
    expect((await send()).kind).toBe('no-conversation');
    await store.inbox.accept(message('m1', { channel: 'api' }));
    expect((await send()).kind).toBe('no-chat');
    expect(isReadByPeople({ channel: 'telegram' })).toBe(true);
    await store.inbox.accept(message('m2'));
    expect((await send({ text: ' \n ' })).kind).toBe('empty');
    expect(await parts()).toEqual([]);
  });

  it.each([
    ['a sentence', 'Hello', '**Ann:** Hello'],
    ['a list', '- one', '**Ann:**\n\n- one'],
    ['a numbered list', '1. one', '**Ann:**\n\n1. one'],
    ['code', '```\nx\n```', '**Ann:**\n\n```\nx\n```'],
    ['a number', '17 euros', '**Ann:** 17 euros'],
  ])('[U12] keeps its Markdown intact after the name: %s', (_case, text, shown) => {
    expect(formatReply(text, 'self', 'Ann')).toBe(shown);
  });

  it('[U12] shows the author’s name literally, including special characters', async () => {
    await store.inbox.accept(message('m1'));
    await send({ text: 'Hi' }, '*A* [b](c)');
    expect((await parts()).map(({ body }) => body.text)).toEqual(['*A* [b](c): Hi']);
  });
});
