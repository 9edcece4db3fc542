import type { Audience } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { GUEST, OWNER } from '../testing/example-turn.ts';
import { narrowestAudience } from '../text.ts';

const everyone: Audience = { kind: 'everyone' };
const owner: Audience = { kind: 'owner' };
const here: Audience = { kind: 'conversation', conversationId: GUEST.conversationId };
const elsewhere: Audience = { kind: 'conversation', conversationId: 'elsewhere' };

describe('the audience of a text made from several parts', () => {
  it.each([
    ['nothing', [], GUEST, everyone],
    ['public parts', [everyone, everyone], GUEST, everyone],
    ['a part of this chat', [everyone, here], GUEST, here],
    ['a part of another chat, behind one of this chat', [here, elsewhere], GUEST, elsewhere],
    ['a part of the owner, for a guest', [here, owner], GUEST, owner],
    ['a part of the owner, for the owner', [everyone, owner], OWNER, owner],
    ['a part of another chat, for the owner', [owner, elsewhere], OWNER, elsewhere],
  ])('[W02] %s: the one that shuts most people out', (_, audiences, reader, expected) => {
    const parts = audiences.map((audience) => ({ audience }));
    expect(narrowestAudience(parts, reader)).toEqual(expected);
  });
});
