import type { ChatType } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { readerOf } from './reader-of.ts';

const OWNERS = ['telegram:42', 'web:ann'];

describe('for whom a turn runs', () => {
  it.each<[string, ChatType, readonly string[], 'owner' | 'guest']>([
    ['telegram:42', 'direct', OWNERS, 'owner'],
    ['web:ann', 'direct', OWNERS, 'owner'],
    ['telegram:42', 'group', OWNERS, 'guest'],
    ['telegram:42', 'channel', OWNERS, 'guest'],
    ['telegram:42', 'thread', OWNERS, 'guest'],
    ['telegram:7', 'direct', OWNERS, 'guest'],
    ['telegram:7', 'group', OWNERS, 'guest'],
    ['discord:42', 'direct', OWNERS, 'guest'],
    ['telegram:4', 'direct', OWNERS, 'guest'],
    ['TELEGRAM:42', 'direct', OWNERS, 'guest'],
    ['telegram:42', 'direct', [], 'guest'],
    ['telegram:42', 'direct', ['*'], 'guest'],
  ])('[W02] %s in a %s chat, owners %j: %s', (id, chatType, owners, kind) => {
    expect(readerOf({ user: { id }, chatType }, owners, 'c1')).toEqual({
      kind,
      conversationId: 'c1',
    });
  });

  it('[W02] a guest where the answer goes elsewhere, whoever asked', () => {
    const asked = { user: { id: 'telegram:42' }, chatType: 'direct' } as const;
    const facts = { ...asked, deliversElsewhere: true };
    expect(readerOf(facts, OWNERS, 'c1').kind).toBe('guest');
  });
});
