import { type ChannelContext, resolveReplyRoute } from '@parley/channels';
import { silentLogger } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { describe, expect, it } from 'vitest';
import { createHypotheticalTurn } from './request.ts';

const KNOWN = CHANNEL_DEFINITIONS.map(({ id }) => id);

/**
 * Minimal settings for creating each adapter. Adapters do not use the network until they are
 * started.
 */
const SETTINGS: Readonly<Record<string, object>> = {
  discord: { token: 'a.b.c' },
  telegram: { token: '1:a' },
};

describe('a preview request', () => {
  it.each(KNOWN)('[P17] [F04] has the same route as a message from the %s adapter', async (id) => {
    const definition = CHANNEL_DEFINITIONS.find((candidate) => candidate.id === id);
    if (definition === undefined) throw new Error('there is no such channel');
    const context: ChannelContext<unknown> = {
      account: 'default',
      settings: definition.settings.parse(SETTINGS[id] ?? {}),
      log: silentLogger,
      clock: () => 0,
      monotonic: () => 0,
      values: { get: async () => new Map(), set: async () => {}, clear: async () => {} },
      receive: () => Promise.reject(new Error('nothing is received')),
      holdsAccount: () => true,
      revise: async () => {},
      reacted: async () => {},
      message: async () => null,
      commands: [],
      report: () => {},
      skipped: async () => {},
      ignored: async () => {},
      notifyOwner: async () => {},
      history: async () => [],
    };
    const adapter = (await definition.load())(context);
    const turn = createHypotheticalTurn({ channel: id }, KNOWN, 5);
    const row = turn.messages[0];
    if (row === undefined) throw new Error('there is no message');
    const style = { mentions: 'dead', numbered: false } as const;
    // Route fields that only delivery reads are omitted, because they do not affect prompts.
    const { streams, inputs, maxButtons, maxFileBytes, ...route } = resolveReplyRoute(
      row.message,
      adapter.capabilities,
      style,
    );
    expect(row.route).toEqual(route);
  });

  it('[P17] comes from the owner on the page by default', () => {
    const turn = createHypotheticalTurn({ channel: 'web' }, KNOWN, 5);
    expect(turn.conversationId).toBe('web:default:main');
    expect(turn.messages).toMatchObject([
      { message: { sender: { id: 'owner', name: 'Owner' }, chat: { id: 'main', type: 'direct' } } },
    ]);
  });

  it('[P17] uses the requested chat', () => {
    const asked = { channel: 'discord', chatType: 'thread', chatId: 'c 1', title: 'Crew' } as const;
    const turn = createHypotheticalTurn({ ...asked, user: '7', name: 'Bo', text: 'hey' }, KNOWN, 5);
    expect(turn.conversationId).toBe('discord:default:c%201:c%201-thread');
    expect(turn.messages[0]?.message).toMatchObject({
      chat: { title: 'Crew', threadId: 'c 1-thread' },
      sender: { id: '7', name: 'Bo' },
      text: 'hey',
    });
  });
});
