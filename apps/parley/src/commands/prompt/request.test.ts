import { answerRoute, type ChannelContext } from '@parley/channels';
import { silentLogger } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { describe, expect, it } from 'vitest';
import { createHypotheticalTurn } from './request.ts';

const KNOWN = CHANNEL_DEFINITIONS.map(({ id }) => id);

/** Minimal settings for creating an adapter, which uses no network before it is started. */
const SETTINGS: Readonly<Record<string, object>> = {
  discord: { token: 'a.b.c' },
  telegram: { token: '1:a' },
};

describe('a preview', () => {
  it.each(KNOWN)('[P17] [F04] has the route that the adapter of %s gives a message', async (id) => {
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
    // Omits the route fields that only delivery reads, because they do not affect a prompt.
    const { streams, inputs, maxButtons, maxFileBytes, ...route } = answerRoute(
      row.message,
      adapter.capabilities,
      style,
    );
    expect(row.route).toEqual(route);
  });

  it('[P17] belongs to the owner on the page by default', () => {
    const turn = createHypotheticalTurn({ channel: 'web' }, KNOWN, 5);
    expect(turn.conversationId).toBe('web:default:main');
    expect(turn.messages).toMatchObject([
      { message: { sender: { id: 'owner', name: 'Owner' }, chat: { id: 'main', type: 'direct' } } },
    ]);
  });

  it('[P17] is in the requested chat', () => {
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
