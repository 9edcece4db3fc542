import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InboundMessage } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toInbound } from '../../packages/channel-discord/src/content.ts';
import type { ChatDetails } from '../../packages/channel-discord/src/places.ts';
import { WireMessage } from '../../packages/channel-discord/src/wire-message.ts';

const FOLDER = join(import.meta.dirname, 'events-discord');
const ME = '190000000000000009';
const WORDS = 'the words of their author';

/** The cases, each with words of its author and of a type that people write. */
const cases: readonly Readonly<Record<string, unknown>>[] = readdirSync(FOLDER)
  .filter((file) => !file.endsWith('.expected.json'))
  .map((file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8')
      .replaceAll('BOT_ID', ME)
      .replaceAll(/BOT_ROLE|CHANNEL|GUILD|DIRECT|THREAD/g, (name) => String(40 + name.length));
    const { d, ...bare } = JSON.parse(text);
    const author = { id: '200000000000000501', username: 'ann' };
    return { ...(d ?? bare), author, content: WORDS, type: 0 };
  });

/** Without these there is no message, or it would be another one. */
const FIXED = new Set(['id', 'channel_id', 'author', 'content', 'type']);

/** Every place in a document, as the keys that lead to it. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (path.length === 0 && FIXED.has(key)) return [];
    return [[...path, key], ...placesIn(inner, [...path, key])];
  });
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((one, at) => (String(at) === key ? replaced(one, rest, by) : one));
  return { ...Object(value), [key]: replaced(Object(value)[key], rest, by) };
}

const message = fc.constantFrom(...cases).chain((data) =>
  fc.tuple(fc.constantFrom(...placesIn(data)), fc.jsonValue()).map(([path, by]) => ({
    path: path.join('.'),
    data: Object(replaced(data, path, by)),
  })),
);

const place: ChatDetails = {
  chat: { id: '1', type: 'direct' },
  guildId: '45',
  nameOf: () => undefined,
};

describe('a message of Discord of which any part has an unexpected form', () => {
  it('[F16] [F01] still brings the words of its author, in the form that the core takes', () => {
    fc.assert(
      fc.property(message, ({ data }) => {
        const read = WireMessage.parse(data);
        const inbound = toInbound(read, place, { account: 'default', me: ME, threads: 'never' });
        expect(InboundMessage.parse(inbound).text).toBe(WORDS);
      }),
      toRunOptions(2_000),
    );
  });
});
