import { noSignal } from '../../platforms/adapter-core.ts';
import { endScenes, startTelegramScene } from '../../platforms/telegram/adapter-scene.ts';
import type { LocationPeer, PlatformLocation } from './place-peer.ts';

const FORUM = -1_000_000_000_005;
const NEWS_DIRECT = -1_000_000_000_008;
const PEOPLE = [501, 502] as const;
/** Topics of all kinds have such numbers; 1 is a forum's general topic. */
const TOPICS = [1, 7, 11] as const;
const CONNECTIONS = ['conn-1', 'conn-2', '7'] as const;
const TARGET = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;

interface TelegramLocation extends PlatformLocation {
  readonly chat: number;
  readonly from: number;
  readonly thread?: number;
  readonly subscriber?: number;
  readonly business?: string;
  /** Each guest question is a separate location. */
  readonly guest?: true;
}

function createLocations(): readonly TelegramLocation[] {
  const direct = PEOPLE.map((person) => ({ chat: person, from: person }));
  const group = { chat: FORUM, from: PEOPLE[0] };
  return [
    ...direct.flatMap((chat) => [chat, ...TOPICS.map((thread) => ({ ...chat, thread }))]),
    ...direct.flatMap((chat) => CONNECTIONS.map((business) => ({ ...chat, business }))),
    ...direct.map((chat) => ({ ...chat, guest: true as const })),
    group,
    { ...group, guest: true as const },
    ...TOPICS.filter((thread) => thread !== 1).map((thread) => ({ ...group, thread })),
    ...TOPICS.map((subscriber, at) => ({
      chat: NEWS_DIRECT,
      from: PEOPLE[at % 2] ?? PEOPLE[0],
      subscriber,
    })),
  ].map((place) => ({ ...place, name: formatLocationName(place) }));
}

function formatLocationName(place: {
  readonly chat: number;
  readonly thread?: number | undefined;
  readonly subscriber?: number | undefined;
  readonly business?: string | undefined;
  readonly guest?: true;
}): string {
  const { chat, thread = 'all', subscriber = 'none', business = 'own', guest } = place;
  return `${business} chat ${chat}, topic ${thread}, subscriber ${subscriber}${guest ? ', guest' : ''}`;
}

/**
 * The Telegram double: chats, topics, channel subscribers, business accounts, and guest questions.
 */
export async function startTelegramLocations(): Promise<LocationPeer<TelegramLocation>> {
  const { double, adapter, received } = await startTelegramScene();
  for (const id of CONNECTIONS) double.connectBusiness({ id });
  await adapter.start();
  /** Guest questions by the id of their query. */
  const asked = new Map<string, TelegramLocation>();
  return {
    places: createLocations(),
    async write(place, text) {
      const { name: _name, guest, ...where } = place;
      const query = `query-${asked.size + 1}`;
      if (guest) asked.set(query, place);
      double.say({ ...where, text, ...(guest && { guest: query }) });
      return double.waitFor(() => received.find((message) => message.text === text));
    },
    async answer({ chat, messageId }, text) {
      const route = {
        ...{ channel: 'telegram', account: 'default', target: TARGET },
        ...{ chatId: chat.id, chatType: chat.type, replyToMessageId: messageId },
        ...(chat.threadId !== undefined && { threadId: chat.threadId }),
      };
      const body = { text, plain: text };
      const part = { id: text, idempotencyKey: text, turnId: text, index: 0, route, body };
      await adapter.send(part, noSignal());
    },
    placeOfAnswer(text) {
      for (const [query, place] of asked) if (double.guestAnswer(query) === text) return place.name;
      const shown = double.transcript.messages().find((one) => one.text === text);
      if (shown === undefined) return undefined;
      const { chatId: chat, threadId: thread, subscriber, business } = shown;
      return formatLocationName({ chat, thread, subscriber, business });
    },
    end: endScenes,
  };
}
