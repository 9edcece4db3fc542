import { describe, expect, it } from 'vitest';
import { type Audience, mayRead, type Reader } from './prompt.ts';

const owner: Reader = { kind: 'owner', conversationId: 'here' };
const guest: Reader = { kind: 'guest', conversationId: 'here' };
const everyone: Audience = { kind: 'everyone' };
const ownerOnly: Audience = { kind: 'owner' };
const here: Audience = { kind: 'conversation', conversationId: 'here' };
const elsewhere: Audience = { kind: 'conversation', conversationId: 'elsewhere' };

describe('permission to read a piece of text', () => {
  it.each([
    ['the owner', owner, 'what is for everyone', everyone, true],
    ['a guest', guest, 'what is for everyone', everyone, true],
    ['the owner', owner, 'what is for the owner', ownerOnly, true],
    ['a guest', guest, 'what is for the owner', ownerOnly, false],
    ['the owner', owner, 'the words of this conversation', here, true],
    ['a guest', guest, 'the words of this conversation', here, true],
    ['the owner', owner, 'the words of another conversation', elsewhere, false],
    ['a guest', guest, 'the words of another conversation', elsewhere, false],
  ])('[W02] %s (%o) may read %s (%o): %s', (_who, reader, _what, audience, expected) => {
    expect(mayRead(reader, audience)).toBe(expected);
  });
});
