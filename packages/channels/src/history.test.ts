import { CAPABILITIES } from '@parley/core/testing';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveReplyRoute, toConversationId } from './ingress/route.ts';
import { readChatHistory } from './known-chats.ts';
import { createMessage } from './testing/ingress-scene.ts';

const CHAT = { channel: 'telegram', account: 'default', chatId: '42' };
const route = resolveReplyRoute(createMessage(), CAPABILITIES, {
  mentions: 'dead',
  numbered: false,
});
let store: Store;
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

async function ask(text: string, at: number, chatId = '42'): Promise<void> {
  const message = createMessage({ text, messageId: `${text} ${at}`, chat: { id: chatId } });
  const conversationId = toConversationId(message);
  await store.inbox.accept({ conversationId, message, route, receivedAt: at });
}

async function answer(text: string, at: number): Promise<void> {
  await store.outbox.enqueue([{ route, body: { text, plain: text } }], at);
}

const shown = async (limit = 10) =>
  (await readChatHistory(store, CHAT, limit)).map((entry) => {
    if (entry.kind === 'replaced') return `gone: ${entry.id}`;
    return entry.kind === 'inbound' ? `> ${entry.text}` : entry.body.text;
  });

describe('a chat’s history', () => {
  it('shows questions and answers in order, even within one millisecond', async () => {
    await ask('one', 10);
    await answer('first', 10);
    await answer('second', 10);
    await ask('two', 20);
    await answer('third', 30);
    expect(await shown()).toEqual(['> one', 'first', 'second', '> two', 'third']);
  });

  it("[W08] omits Parley's own startup messages, but shows their answers", async () => {
    await ask('one', 10);
    const message = createMessage({ messageId: 'boot_1', text: 'BOOT.md', trigger: 'boot' });
    const conversationId = toConversationId(message);
    await store.inbox.accept({ conversationId, message, route, receivedAt: 20 });
    await answer('Good morning', 30);
    expect(await shown()).toEqual(['> one', 'Good morning']);
  });

  it('[U08] does not contain text that a later message replaced', async () => {
    const message = createMessage({ messageId: 'm1', text: 'secret' });
    const conversationId = toConversationId(message);
    await store.inbox.accept({ conversationId, message, route, receivedAt: 10 });
    const work = { conversationId, owner: 'w', leaseMs: 1_000 };
    const found = await store.lanes.begin(work, 'collect', 't1', 10);
    if (found.kind !== 'turn') throw new Error(`no turn: ${found.kind}`);
    const parts = [{ route, body: { text: 'secret', plain: 'secret' } }];
    const commit = { turnId: 't1', outcome: 'answered', entries: [], parts, usage: null } as const;
    await store.lanes.commit(found.lease, commit, 11);
    const id = (await store.outbox.next(CHAT))?.part.id ?? '';
    await store.outbox.markSending(id, 12);
    await store.outbox.markSent(id, 'p', 12);
    const again = createMessage({ messageId: 'm2', text: 'instead', replaces: 'm1' });
    await store.inbox.accept({ conversationId, message: again, route, receivedAt: 20 });
    expect(await shown()).toEqual(['gone: m1', `gone: ${id}`, '> instead']);
  });

  it('[F03] names the message that a command’s answer belongs to', async () => {
    await ask('one', 10);
    const message = createMessage({ messageId: 'c1', text: '/help' });
    const conversationId = toConversationId(message);
    const help = { route, body: { text: 'Help', plain: 'Help' } };
    const admitted = { conversationId, message, route, receivedAt: 10 };
    await store.inbox.command(admitted, async (command) => command.answer(help));
    await answer('first', 10);
    const parts = (await readChatHistory(store, CHAT, 10)).flatMap((entry) =>
      entry.kind === 'outbound' ? [[entry.body.text, entry.answers]] : [],
    );
    expect(parts).toEqual([
      ['Help', 'c1'],
      ['first', undefined],
    ]);
  });

  it('ends with the newest entry when the limit is exceeded', async () => {
    for (let at = 1; at <= 5; at += 1) {
      await ask(`q${at}`, at * 10);
      await answer(`a${at}`, at * 10 + 5);
    }
    expect(await shown(3)).toEqual(['a4', '> q5', 'a5']);
  });

  it('[W02] does not contain entries from other chats', async () => {
    await ask('private', 10, '43');
    expect(await shown()).toEqual([]);
  });

  it('reports which messages are still waiting', async () => {
    await ask('one', 10);
    expect(await readChatHistory(store, CHAT, 1)).toMatchObject([{ outcome: null }]);
  });
});
