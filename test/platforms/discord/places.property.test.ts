import { toConversationId } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

const BEN = '200000000000000502';
const CID = '200000000000000503';

/**
 * A Discord chat in which people reach the bot, by message or, if the bot is absent, by command.
 */
interface Place {
  readonly name: string;
  readonly channel: string;
  readonly from: string;
  readonly by: 'message' | 'command';
}

/**
 * Every kind of chat, and several of the kinds whose ids could be confused with those of another
 * kind.
 */
function placesOf({ double }: DiscordScene): readonly Place[] {
  const { channelId: general, guildId } = double;
  const elsewhere = double.addGuild('Elsewhere', false);
  const random = double.addChannel(elsewhere, 'random');
  const forum = double.addChannel(guildId, 'help', 'forum');
  const voice = double.addChannel(guildId, 'lounge', 'voice');
  const start = double.say({ channel: general, from: ANN, text: 'a thread starts here' });
  const thread = (channel: string, name: string) => double.thread({ channel, name, from: ANN });
  const started = double.thread({ channel: general, name: 'of a message', message: start.id });
  const post = double.thread({ channel: forum, name: 'a post', from: ANN, text: 'first words' });
  const message = (name: string, channel: string, from = ANN): Place => {
    return { name, channel, from, by: 'message' };
  };
  const command = (name: string, channel: string, from = ANN): Place => {
    return { name, channel, from, by: 'command' };
  };
  return [
    message('general', general),
    message('a thread of general', thread(general, 'one')),
    message('another thread of general', thread(general, 'two')),
    message('the thread of a message', started),
    message('a post', post),
    message('another post', thread(forum, 'three')),
    message('the chat of a voice channel', voice),
    message('a thread of a voice channel', thread(voice, 'four')),
    message(`direct with ${ANN}`, double.dmWith(ANN)),
    message(`direct with ${BEN}`, double.dmWith(BEN), BEN),
    command('messages of Ann and Ben', double.openPrivate([ANN, BEN])),
    command('messages of Ann and Cid', double.openPrivate([ANN, CID])),
    command('friends', double.openPrivate([ANN, BEN, CID])),
    command('a channel elsewhere', random),
    command('a thread elsewhere', thread(random, 'five')),
    command('another channel elsewhere', double.addChannel(elsewhere, 'quiet')),
  ];
}

describe.each(['never', 'per-conversation'])('Discord chats with threads: %s', (threads) => {
  let here: DiscordScene;
  let places: readonly Place[];
  let count = 0;

  beforeAll(async () => {
    here = await startDiscordScene({
      commands: [{ name: 'new', summary: 's' }],
      settings: { threads },
    });
    await here.connect();
    await here.double.waitFor(() => here.double.calls('PUT /applications/').length > 0);
    places = placesOf(here);
  });
  afterAll(endScenes);

  async function write({ channel, from, by }: Place): Promise<InboundMessage> {
    count += 1;
    const { double, received } = here;
    const text = `question ${count}`;
    const id =
      by === 'command'
        ? double.slash({ channel, from, name: 'new', options: { text } })
        : double.say({ channel, from, text: `<@${double.me.id}> ${text}` }).id;
    return double.waitFor(() => received.find(({ messageId }) => messageId === id));
  }

  /** The channel or thread that currently contains a text. */
  const whereIs = (text: string, all: readonly string[]) =>
    all.filter((channel) =>
      here.double.conversation(channel).some(({ visible }) => visible === text),
    );

  it('[F17] are separate conversations, regardless of who writes in which order', async () => {
    const owners = new Map<string, string>();
    const any = fc.array(fc.nat({ max: places.length - 1 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(any, async (order) => {
        for (const at of order) {
          const place = places[at];
          if (place === undefined) throw new Error(`no place ${at}`);
          const conversation = toConversationId(await write(place));
          expect(owners.get(conversation) ?? place.name, conversation).toBe(place.name);
          owners.set(conversation, place.name);
        }
      }),
      toRunOptions(20),
    );
    for (const place of places) owners.set(toConversationId(await write(place)), place.name);
    expect(new Set(owners.values()).size).toBe(places.length);
  });

  it('[F11] [F17] get the answers to their own messages', async () => {
    const asked: { place: Place; message: InboundMessage }[] = [];
    for (const place of places) asked.push({ place, message: await write(place) });
    for (const { place, message } of asked.toReversed()) {
      const text = `answer to ${message.messageId}`;
      await here.answers(message.messageId, text, { idempotencyKey: message.messageId });
      // With a thread per question, the answer opens a thread, which has the id of the question.
      const channels = [...places.map(({ channel }) => channel), message.chat.threadId ?? ''];
      const known = channels.filter((id, at) => id !== '' && channels.indexOf(id) === at);
      const exists = known.filter((id) => hasChannel(here, id));
      const { threadId } = message.chat;
      const expected = threadId === message.messageId ? threadId : place.channel;
      expect(whereIs(text, exists), place.name).toEqual([expected]);
    }
  });

  it('[W02] are direct chats only if nobody else can read them', async () => {
    for (const place of places) {
      const { chat, sender } = await write(place);
      const isAlone = place.name === `direct with ${sender.id}`;
      expect(chat.type === 'direct', place.name).toBe(isAlone);
    }
  });
});

function hasChannel({ double }: DiscordScene, channel: string): boolean {
  try {
    double.conversation(channel);
    return true;
  } catch {
    return false;
  }
}
