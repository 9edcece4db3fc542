import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilConnected } from '../../e2e/channel-states.ts';
import {
  type CloudPerson,
  WhatsAppCloudDouble,
} from '../../platforms/chat-sdk/doubles/whatsapp-cloud.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';
import { createApiFaults, createWebhookPeer } from './webhook-peer.ts';

const OWNER = '491700000001';
const FAULTS = createApiFaults(
  { status: 429, body: { error: { code: 131_056, message: 'Too fast for this person' } } },
  500,
);

/** The WhatsApp Cloud API: only direct chats, in which every second person hides their number. */
export async function startWhatsAppCloudPeer(): Promise<PlatformPeer> {
  const double = await new WhatsAppCloudDouble().start();
  const people = new Map<string, CloudPerson>();
  let next = 0;
  const direct = (phone?: string): ChatLocation => {
    next += 1;
    const number = next % 2 === 0 ? undefined : `4917100${String(next).padStart(5, '0')}`;
    const person = double.addPerson(`Person ${next}`, phone ?? number);
    people.set(person.userId, person);
    return { id: person.userId, kind: 'direct' };
  };
  const { apiUrl, accessToken, appSecret, verifyToken, phoneNumberId } = double;
  return {
    ...createWebhookPeer('whatsapp-cloud', double, [double.deliveries]),
    traits: new Set([
      ...(['direct-chats', 'buttons', 'twice', 'out-of-order', 'rate-limited'] as const),
      ...(['server-error', 'lost-before', 'lost-after', 'thrown-out'] as const),
    ]),
    longest: 4_096,
    settings: {
      use: '@chat-adapter/whatsapp',
      options: { apiUrl, accessToken, appSecret, verifyToken, phoneNumberId },
    },
    owner: `whatsapp-cloud:${OWNER}`,
    ownerPlace: direct(OWNER),
    async link(parley) {
      await waitUntilConnected(parley);
      for (;;) {
        try {
          return await double.subscribe(`${parley.address}/channels/whatsapp-cloud/default/`);
        } catch {
          await sleep(50);
        }
      }
    },
    direct: () => direct(),
    group: () => direct(),
    thread() {
      throw new Error('WhatsApp has no threads');
    },
    other() {
      throw new Error('there is one person in each chat');
    },
    say: (place, saying) => sendMessage(double, getPerson(people, place), saying),
    press: (place, id, label) => void double.press(getPerson(people, place), id, label),
    seen: (place) => listMessages(double, getPerson(people, place)),
    trouble: (place, trouble) => injectFault(double, getPerson(people, place), trouble),
  };
}

function getPerson(people: ReadonlyMap<string, CloudPerson>, { id }: ChatLocation): CloudPerson {
  const person = people.get(id);
  if (person === undefined) throw new Error(`There is no person ${id}.`);
  return person;
}

async function sendMessage(
  double: WhatsAppCloudDouble,
  person: CloudPerson,
  { text, replyTo }: PersonMessage,
): Promise<string> {
  return (await double.say({ person, text, replyTo })).id;
}

function listMessages(double: WhatsAppCloudDouble, person: CloudPerson): VisibleMessage[] {
  return double.conversation(person).map(({ id, from, visible, replyTo, buttons }) => ({
    id,
    from: from === 'bot' ? 'bot' : from.userId,
    text: visible,
    ...(replyTo !== undefined && { replyTo }),
    ...(buttons.length > 0 && { buttons: buttons.map(({ title }) => title) }),
  }));
}

function injectFault(double: WhatsAppCloudDouble, person: CloudPerson, trouble: SendFault): void {
  if (trouble === 'format-refused') throw new Error('WhatsApp refuses no format');
  if (trouble === 'thrown-out') person.hasBlocked = true;
  else {
    // Typing indicators are sent to the same address.
    const where = ({ json }: { readonly json: unknown }) => {
      const { to, recipient } = json as { readonly to?: string; readonly recipient?: string };
      return to === undefined ? recipient === person.userId : to === person.phone;
    };
    double.fault({ ...FAULTS[trouble], route: 'POST /:version/:phone/messages', where });
  }
}
