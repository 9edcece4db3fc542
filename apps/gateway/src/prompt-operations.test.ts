import type { SentPart } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from './prompt-operations.ts';

const DAY = 24 * 60 * 60_000;
const NOW = 100 * DAY;

let store: Store;
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => NOW });
  for (const age of [1, 6, 8, 30]) await record(`${age} days`, NOW - age * DAY);
});
afterEach(() => store.close());

async function record(turnId: string, at: number): Promise<void> {
  const part: SentPart = {
    layer: 'soul',
    placement: 'system',
    source: 'SOUL.md',
    audience: { kind: 'everyone' },
    stable: true,
    cut: null,
    tokens: 1,
    text: turnId,
  };
  await store.prompts.record({
    turnId,
    at,
    conversationId: 'c',
    layout: 'parley',
    model: 'm',
    place: {
      channel: 'web',
      account: 'default',
      chatId: 'main',
      chatType: 'direct',
      personId: 'web:owner',
      personName: 'Owner',
    },
    messageIds: [],
    parts: [part],
    unsent: [],
    tools: [],
    messages: [],
  });
}

const CALL = { caller: { name: 'Ann', role: 'owner' } } as const;
const needs = () => ({ store, preview: async (): Promise<never> => Promise.reject() });
const list = (asked: { limit: number; before?: string }) =>
  operations.list.run(needs(), asked, CALL);

describe('recorded prompts', () => {
  it('[P17] are listed page by page to the end, and an invalid cursor starts at the newest prompt', async () => {
    const first = await list({ limit: 3 });
    expect(first).toMatchObject({ prompts: [{ turnId: '1 days' }, {}, { turnId: '8 days' }] });
    expect(await list({ limit: 3, before: first.next ?? '' })).toMatchObject({
      prompts: [{ turnId: '30 days' }],
      next: null,
    });
    expect(await list({ limit: 9, before: 'nonsense' })).toMatchObject({ prompts: { length: 4 } });
  });

  it('[P17] are compared, with a notice if one of the two no longer exists', async () => {
    const compare = (before: string, after: string) =>
      operations.compare.run(needs(), { before, after }, CALL);
    expect(await compare('6 days', '1 days')).toMatchObject({ share: 0 });
    await expect(compare('6 days', 'never')).rejects.toThrow('inspector.keepDays');
    const shown = operations.show.run(needs(), { turn: 'never' }, CALL);
    await expect(shown).rejects.toThrow('inspector.keepDays');
  });
});
