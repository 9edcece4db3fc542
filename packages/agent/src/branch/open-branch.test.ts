import { toAgentConversation } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerBranchCommand, openBranch } from './open-branch.ts';

const PLACE = { channel: 'telegram', account: 'default' };
const LANE = 'telegram:default:42';
const CHAT = { ...PLACE, chatId: '42' };

let store: Store;
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

/** Stores a question and its answer in a direct chat with an owner. */
async function exchange(id: string, lane = LANE, fromOwner = true): Promise<void> {
  await store.inbox.accept({
    conversationId: lane,
    route: { ...CHAT, target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' } },
    receivedAt: Number(id),
    fromOwner,
    message: {
      ...{ ...PLACE, messageId: id, text: `question ${id}` },
      chat: { id: '42', type: 'direct' },
      sender: { id: '42', name: 'Ada', isBot: false },
      ...{ addressed: true, mentions: [], sentAt: 0, variables: {} },
    },
  });
  const turnId = `t${id}`;
  const work = { conversationId: lane, owner: 'w', leaseMs: 1_000 };
  const started = await store.lanes.begin(work, 'collect', turnId, Number(id));
  if (started.kind !== 'turn') throw new Error(started.kind);
  const entries = [
    { role: 'user', content: { text: `question ${id}` } },
    { role: 'assistant', content: { text: `**answer** ${id}` } },
  ] as const;
  const commit = { turnId, outcome: 'answered', entries, parts: [], usage: null } as const;
  await store.lanes.commit(started.lease, commit, Number(id));
  await store.lanes.release(started.lease);
}

const open = (more: Partial<Parameters<typeof openBranch>[1]> = {}) =>
  openBranch(
    { store, clock: () => 99 },
    { conversationId: LANE, point: null, requestId: 'r1', reader: 'Ann', ...more },
  );
const branch = async (more: Parameters<typeof open>[0] = {}) => {
  const result = await open(more);
  if (result.kind !== 'opened') throw new Error(result.kind);
  return result;
};
const quoted = (messageId: string) => ({ kind: 'quoted', chat: CHAT, messageId }) as const;
const history = async (conversationId: string) => {
  const { summary, entries } = await store.transcript.sinceSummary(
    { conversationId, session: 0, reader: 'owner' },
    99,
  );
  return [summary?.content ?? null, ...entries.map(({ content }) => Object(content).text)];
};
const shown = async (conversationId: string) => {
  const query = { conversationId, before: null, until: null, limit: 50 };
  return (await store.conversations.messages(query)).messages;
};

describe('a branch', () => {
  it('[G23] begins with a copy of the history up to a message, and changes nothing in the original', async () => {
    for (const id of ['1', '2']) await exchange(id);
    const before = await shown(LANE);
    const { conversationId, chatId, title } = await branch({ point: quoted('2') });
    expect(conversationId).toBe(`web:default:${chatId}`);
    expect(chatId).toMatch(/^[0-9a-f]{32}$/);
    expect(await history(conversationId)).toEqual([null, 'question 1', '**answer** 1']);
    const copy = await shown(conversationId);
    expect(copy.map(({ text, state }) => [text, state])).toEqual([
      ['question 1', 'answered'],
      ['answer 1', 'sent'],
      [expect.stringContaining('copy of Ada'), 'sent'],
    ]);
    expect(copy[1]?.sent?.text).toContain('<strong>answer</strong>');
    expect(await shown(LANE)).toEqual(before);
    expect((await store.conversations.titles([conversationId], 'Ann')).get(conversationId)).toBe(
      title,
    );
  });

  it('[G23] is opened once per request, and is independent of the original from then on', async () => {
    for (const id of ['1', '2']) await exchange(id);
    const { conversationId: id } = await branch();
    expect(await branch()).toMatchObject({ conversationId: id });
    expect(await shown(id)).toHaveLength(5);
    const last = { kind: 'exchanges', count: 1 } as const;
    await store.conversations.rewind(id, last, 5);
    expect(await history(LANE)).toHaveLength(5);
    expect(await history(id)).toEqual([null, 'question 1', '**answer** 1']);
    await store.conversations.rewind(LANE, { ...last, count: 2 }, 5);
    expect(await history(id)).toHaveLength(3);
    expect(await branch({ conversationId: id, requestId: 'r2' })).toMatchObject({ kind: 'opened' });
  });

  it('[G23] copies a summary that ends before the point, and leaves out a later one', async () => {
    for (const id of ['1', '2', '3']) await exchange(id);
    const seqs = (
      await store.transcript.oldestAfter({ conversationId: LANE, session: 0 }, 0, 9)
    ).map(({ seq }) => seq);
    for (const [mark, reaches] of [
      ['0', seqs[1] ?? 0],
      [String(seqs[1]), seqs[3] ?? 0],
    ] as const) {
      const place = { conversationId: LANE, session: 0, reader: 'owner' };
      const task = { ...place, kind: 'history', mark } as const;
      await store.summaries.claim(task, { by: 'w', now: 0, claimMs: 9, impatient: true });
      await store.summaries.finish(task, 'w', { content: `notes ${mark}`, reaches });
    }
    const { conversationId } = await branch({ point: quoted('2') });
    expect(await history(conversationId)).toEqual(['notes 0']);
    const whole = await branch({ requestId: 'r2' });
    expect(await history(whole.conversationId)).toEqual([
      `notes ${seqs[1]}`,
      'question 3',
      '**answer** 3',
    ]);
  });

  it('[G15] [G23] is forgotten together with everything else that an owner said', async () => {
    await exchange('1');
    const { conversationId: id } = await branch();
    expect(await store.inbox.ownerChats()).toMatchObject([{ conversationId: LANE }]);
    await store.forgetting.forgetPerson({
      ...{ persons: ['telegram:42'], ownersToo: true, only: null, now: 9 },
      onStopped() {},
      retell: () => ({ text: '' }),
    });
    expect(await history(id)).toEqual([null]);
    expect((await shown(id)).slice(0, 2).map(({ text }) => text)).toEqual([
      '[forgotten]',
      '[forgotten]',
    ]);
  });

  it('[G23] [F14] belongs to the agent of the original', async () => {
    const lane = toAgentConversation('garden', LANE);
    await exchange('1', lane);
    const { conversationId, chatId } = await branch({ conversationId: lane });
    expect(chatId).toMatch(/^@garden\/[0-9a-f]{32}$/);
    expect(conversationId).toMatch(/^@garden\/web:default:%40garden%2F/);
    expect(await history(conversationId)).toEqual([null, 'question 1', '**answer** 1']);
  });

  it('[G23] [W02] is refused where other people write, and for unknown messages', async () => {
    await exchange('1');
    expect(await open({ point: quoted('9') })).toEqual({ kind: 'unknown' });
    expect(await open({ point: quoted('1') })).toEqual({ kind: 'empty' });
    expect(await open({ conversationId: 'web:none' })).toEqual({ kind: 'no-conversation' });
    await exchange('2', LANE, false);
    expect(await open()).toEqual({ kind: 'others' });
    expect((await store.conversations.list({ before: null, limit: 9 })).length).toBe(1);
    const reader = { kind: 'owner', conversationId: LANE } as const;
    const asked = { reader, messageId: 'm' };
    expect(await answerBranchCommand({ store, clock: () => 9 }, asked, null)).toContain(
      'Other people have written here',
    );
  });
});
