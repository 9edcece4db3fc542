import {
  silenceLibsignal,
  startWhatsAppDouble,
  type WhatsAppDouble,
} from '@parley/simulators/whatsapp';
import { linkWhatsApp } from '../../e2e/channel-states.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';

const OWNER = '491700000001';

/** WhatsApp with Noise and Signal, as implemented by the double. */
export async function startWhatsAppPeer(): Promise<PlatformPeer> {
  const unhush = silenceLibsignal();
  const double = await startWhatsAppDouble();
  const owner = double.addPerson({ name: 'The Owner', number: OWNER });
  const members = new Map<string, readonly [string, string]>();
  const group = (): ChatLocation => {
    const both = [double.addPerson().id, double.addPerson().id] as const;
    const made = double.addGroup({ subject: 'A group', members: [...both, double.me.id] });
    members.set(made.jid, both);
    return { id: made.jid, kind: 'group' };
  };
  return {
    channel: 'whatsapp',
    traits: new Set([
      ...(['direct-chats', 'groups', 'bot-edits'] as const),
      ...(['administrators', 'edits', 'deletes', 'quotes', 'idempotent', 'twice'] as const),
      ...(['lost-before', 'lost-after', 'server-error', 'thrown-out'] as const),
    ]),
    longest: 4_096,
    settings: { url: double.url, pace: false },
    owner: `whatsapp:${OWNER}`,
    ownerPlace: { id: owner.id, kind: 'direct' },
    link: (parley) => linkWhatsApp(double, parley),
    direct: () => ({ id: double.addPerson().id, kind: 'direct' }),
    group,
    thread: () => {
      throw new Error('WhatsApp has no threads');
    },
    other: ({ id }) => members.get(id)?.[1] ?? '',
    promote: ({ id }, who) => void double.changeGroup(id, { kind: 'promote', who: [who] }),
    say: (place, saying) => {
      const first = members.get(place.id)?.[0];
      return sendMessage(double, place, first === undefined ? saying : { from: first, ...saying });
    },
    edit: async ({ id: chat }, id, text) => {
      await double.acts.reword({ chat, from: members.get(chat)?.[0], id, text });
    },
    erase: async ({ id: chat }, id) => {
      await double.acts.takeBack({ chat, from: members.get(chat)?.[0], id });
    },
    seen: (place) => listMessages(double, place),
    trouble: ({ id }, trouble) => injectFault(double, id, trouble),
    tellTwice: ({ id }) => double.fault({ kind: 'twice', chat: id }),
    tellSwapped: () => {
      throw new Error('WhatsApp keeps the order');
    },
    disconnect: () => double.drop(),
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: async () => {
      await double.close();
      unhush();
    },
  };
}

function injectFault(double: WhatsAppDouble, chat: string, trouble: SendFault): void {
  switch (trouble) {
    case 'lost-before':
      double.fault({ kind: 'drop', lost: true, chat });
      break;
    case 'server-error':
      double.fault({ kind: 'refuse', code: 503, chat });
      break;
    case 'thrown-out':
      double.changeGroup(chat, { kind: 'remove', who: [double.me.id] });
      break;
    case 'lost-after':
      double.fault({ kind: 'drop', chat });
      break;
    default:
      throw new Error(`WhatsApp has no ${trouble}`);
  }
}

function sendMessage(
  double: WhatsAppDouble,
  place: ChatLocation,
  { text, mention, from, replyTo }: PersonMessage,
): Promise<string> {
  return double.say({
    chat: place.id,
    from,
    text,
    quote: replyTo,
    mentions: mention ? [double.me.id] : undefined,
  });
}

function listMessages(double: WhatsAppDouble, place: ChatLocation): VisibleMessage[] {
  return double
    .conversation(place.id)
    .filter(({ deleted }) => !deleted)
    .map(({ id, from, formatted, quoted }) => ({
      id,
      from,
      text: formatted.visible,
      ...(quoted === undefined ? {} : { replyTo: quoted }),
    }));
}
