import { type OutboundPart, silentLogger } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { expect, it } from 'vitest';
import { AnswerStreamManager, deriveNonce } from './stream.ts';

const ADDRESS = { chatId: '1' };
const target = { dialect: 'discord', maxLength: 2000, unit: 'utf16' } as const;
const growing = (...texts: string[]) => ({
  show: async () => texts.map((text) => ({ text, plain: text })),
});
const part = (index: number, isLast = false): OutboundPart => ({
  id: `p${index}`,
  idempotencyKey: `k${index}`,
  turnId: 't',
  index,
  isLast,
  route: { channel: 'discord', account: 'default', chatId: '1', target },
  body: { text: 'a', plain: 'a' },
});

function streams(values = createInMemoryAdapterValues()) {
  const removed: string[] = [];
  const waiting: (() => void)[] = [];
  let ids = 0;
  const api = {
    create: async () => {
      ids += 1;
      return { id: String(ids), content: '' };
    },
    change: async (_: string, id: string) => ({ id, content: '' }),
    remove: async (_: string, id: string) => void removed.push(id),
  };
  const later = (work: () => void) => {
    waiting.push(work);
    return () => void waiting.splice(waiting.indexOf(work), 1);
  };
  const all = new AnswerStreamManager({
    api,
    values,
    linkPreviews: false,
    log: silentLogger,
    later,
  });
  return { all, removed, waiting, values };
}

it('[D04] deletes messages beyond the end of the finished answer together with its last part, and then forgets the turn', async () => {
  const { all, removed, waiting, values } = streams();
  await all.update(ADDRESS, 't', growing('a'.repeat(80), 'b', 'c'));
  expect(await all.claim(part(0), async (it) => it)).toMatchObject({ messageId: '1' });
  expect(removed).toEqual([]);
  const last = () => all.claim(part(1, true), async (it) => it);
  expect(await last()).toMatchObject({ messageId: '2' });
  expect(removed).toEqual(['3']);
  // A part that is sent again must still find its message.
  expect(await last()).toMatchObject({ messageId: '2' });
  expect(removed).toEqual(['3']);
  expect(waiting).toHaveLength(1);
  waiting.pop()?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect((await values.get('streamed', ['t'])).size).toBe(0);
});

it('[D01] keeps the messages from an earlier process when this process sends the rest', async () => {
  const before = streams();
  await before.all.update(ADDRESS, 't', growing('a'.repeat(80), 'b', 'c'));
  await before.all.claim(part(0), async (it) => it);
  const after = streams(before.values);
  expect(await after.all.claim(part(1, true), async (it) => it)).toEqual({ messageId: '2' });
  for (const work of [...after.waiting]) work();
  await new Promise((resolve) => setImmediate(resolve));
  expect(after.removed).toEqual(['3']);
});

it('[D04] finds the messages of parts even if many other answers are processed in between', async () => {
  const { all, values } = streams();
  await all.update(ADDRESS, 't', growing('a'.repeat(80), 'b'));
  await all.claim(part(0), async (it) => it);
  for (let other = 0; other < 600; other += 1) await all.update(ADDRESS, `o${other}`, growing('a'));
  expect(await all.claim(part(1, true), async (it) => it)).toMatchObject({ messageId: '2' });
  for (let other = 0; other < 600; other += 1) await all.update(ADDRESS, `p${other}`, growing('a'));
  expect((await values.get('streamed', ['t'])).size).toBe(1);
  // The confirmation of this part was lost.
  expect(await all.claim(part(1, true), async (it) => it)).toMatchObject({ messageId: '2' });
});

it('[F12] deletes the visible text of an answer that is never finished', async () => {
  const { all, removed, waiting, values } = streams();
  await all.update(ADDRESS, 't', growing('a'.repeat(80), 'b'));
  await all.discard(ADDRESS, 't');
  expect(removed).toEqual(['1', '2']);
  await all.update(ADDRESS, 't', growing('a'.repeat(90)));
  await all.discard(ADDRESS, 'other');
  for (const work of [...waiting]) work();
  await new Promise((resolve) => setImmediate(resolve));
  expect(removed).toHaveLength(2);
  expect((await values.get('streamed', ['t'])).size).toBe(0);
});

it('does not find a message for a part without a turn or without streamed text', async () => {
  const { all } = streams();
  const notice = { ...part(0), turnId: null, index: null };
  expect(await all.claim(notice, async (it) => it)).toEqual({});
  expect(await all.claim(part(0), async (it) => it)).toEqual({});
});

it('[D04] uses the same short nonce for the same position', () => {
  expect(deriveNonce('t', 1)).toBe(deriveNonce('t', 1));
  expect(new Set([deriveNonce('t', 1), deriveNonce('t', 2), deriveNonce('u', 1)]).size).toBe(3);
  expect(deriveNonce('turn', 12)).toHaveLength(22);
});
