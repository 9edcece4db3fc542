import { toConversationId } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocationPeer, PlatformLocation } from './places/place-peer.ts';
import { startTelegramLocations } from './places/telegram-places.ts';

/** Platforms that keep several conversations under one chat, or use one id in several chats. */
const PLATFORMS: Readonly<Record<string, () => Promise<LocationPeer<PlatformLocation>>>> = {
  Telegram: startTelegramLocations,
};

describe.each(Object.entries(PLATFORMS))('the conversations of %s', (_name, connect) => {
  let peer: LocationPeer<PlatformLocation>;
  let count = 0;
  beforeAll(async () => {
    peer = await connect();
  });
  afterAll(() => peer.end());

  const write = (place: PlatformLocation): Promise<InboundMessage> => {
    count += 1;
    return peer.write(place, `question ${count}`);
  };

  it('[F17] stay separate, and the ids of their messages never collide', async () => {
    const conversations = new Map<string, string>();
    const ids = new Set<string>();
    for (const place of peer.places) {
      const message = await write(place);
      const conversation = toConversationId(message);
      expect(conversations.get(conversation), `${place.name}, ${conversation}`).toBeUndefined();
      conversations.set(conversation, place.name);
      const id = JSON.stringify([message.chat.id, message.messageId]);
      expect(ids.has(id), id).toBe(false);
      ids.add(id);
    }
  });

  it('[F11] [F17] get the answers to their own messages, regardless of the order in which people write', async () => {
    const any = fc.array(fc.constantFrom(...peer.places), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(any, async (places) => {
        const written = [];
        for (const place of places) written.push({ place, message: await write(place) });
        for (const { place, message } of written.toReversed()) {
          count += 1;
          const text = `answer ${count}`;
          await peer.answer(message, text);
          expect(peer.placeOfAnswer(text)).toBe(place.name);
        }
      }),
      toRunOptions(25),
    );
  });

  it('[W02] are direct chats only when nobody else can read them', async () => {
    for (const place of peer.places) {
      const { chat, sender } = await write(place);
      const isAlone = chat.type === 'direct';
      expect(isAlone && !place.name.includes(sender.id), place.name).toBe(false);
      if (isAlone) expect(place.name).not.toMatch(/guest|conn|subscriber \d/);
    }
  });
});
