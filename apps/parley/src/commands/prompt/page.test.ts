import type { SentPart } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInspector } from './page.ts';

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

function inspectorFor(keepDays: number) {
  return openInspector(store.prompts, { keepDays }, async () => ({}));
}

describe('recorded prompts', () => {
  it('[P17] are recorded unless they are kept for 0 days', () => {
    expect(inspectorFor(7).recording.prompts).toBe(store.prompts);
    expect(inspectorFor(0).recording).toEqual({});
  });

  it('[P17] page after page until there are no more; an invalid mark starts again', async () => {
    const inspector = inspectorFor(365);
    const { list } = inspector.shown;
    const first = await list({ limit: 3 });
    expect(first).toMatchObject({ prompts: [{ turnId: '1 days' }, {}, { turnId: '8 days' }] });
    const next = 'next' in first ? String(first.next) : '';
    expect(await list({ limit: 3, before: next })).toMatchObject({
      prompts: [{ turnId: '30 days' }],
      next: null,
    });
    expect(await list({ limit: 9, before: 'nonsense' })).toMatchObject({ prompts: { length: 4 } });
  });

  it('[P17] compares two turns, and knows when one is gone', async () => {
    const inspector = inspectorFor(7);
    expect(await inspector.shown.compare('6 days', '1 days')).toMatchObject({ share: 0 });
    expect(await inspector.shown.compare('6 days', 'never')).toBeNull();
    expect(await inspector.shown.prompt('never')).toBeNull();
  });
});
