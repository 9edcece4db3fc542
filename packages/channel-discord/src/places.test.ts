import { describe, expect, it } from 'vitest';
import { toChat } from './places.ts';

const general = { id: '10', type: 0, guild_id: '1', name: 'general' };
const thread = { id: '20', type: 11, guild_id: '1', name: 'plans', parent_id: '10' };

describe('[F02] the chat of a Discord channel', () => {
  it.each([
    ['a direct chat', { id: '5', type: 1 }, undefined, undefined, { id: '5', type: 'direct' }],
    ['a channel', general, undefined, 'Club', { id: '10', type: 'group', title: 'Club #general' }],
    [
      'a channel of an unknown server',
      general,
      undefined,
      undefined,
      { id: '10', type: 'group', title: '#general' },
    ],
    [
      'a thread',
      thread,
      general,
      'Club',
      { id: '10', type: 'thread', threadId: '20', title: 'Club #general › #plans' },
    ],
    [
      'a private thread',
      { ...thread, type: 12 },
      undefined,
      undefined,
      { id: '10', type: 'thread', threadId: '20', title: '#plans' },
    ],
    [
      'a channel below a category',
      { ...general, parent_id: '9' },
      undefined,
      'Club',
      { id: '10', type: 'group', title: 'Club #general' },
    ],
  ])('%s', (_, here, above, guild, chat) => {
    expect(toChat(here, above, guild)).toEqual(chat);
  });
});
