import { type DiscordDouble, listButtons, startDiscordDouble } from '@parley/simulators/discord';
import { z } from 'zod';
import { FILES } from './files.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';

const OWNER = '200000000000000500';
const ANOTHER_BOT = '200000000000000777';

/** Discord: the gateway and the REST API, as implemented by the double. */
export async function startDiscordPeer(): Promise<PlatformPeer> {
  const double = await startDiscordDouble();
  let next = 0;
  const fresh = () => {
    next += 1;
    return String(200000000000001000n + BigInt(next));
  };
  const channel = () => double.addChannel(double.guildId, `room-${fresh().slice(-4)}`);
  return {
    channel: 'discord',
    traits: new Set([
      ...(['direct-chats', 'groups', 'bot-edits'] as const),
      ...([
        'threads',
        'albums',
        'edits',
        'deletes',
        'documents',
        'bots',
        'quotes',
        'buttons',
        'administrators',
        'pings',
      ] as const),
      ...([
        'forms',
        'idempotent',
        'rate-limited',
        'server-error',
        'lost-before',
        'lost-after',
      ] as const),
      ...(['thrown-out', 'twice', 'out-of-order'] as const),
    ]),
    longest: 2_000,
    settings: { token: double.token, apiRoot: double.apiRoot },
    owner: `discord:${OWNER}`,
    ownerPlace: { id: double.dmWith(OWNER), kind: 'direct' },
    direct: () => ({ id: double.dmWith(fresh()), kind: 'direct' }),
    group: () => ({ id: channel(), kind: 'group' }),
    thread: () => ({ id: double.thread({ channel: channel(), name: 'a thread' }), kind: 'thread' }),
    other: () => fresh(),
    promote: (_place, person) => double.promote(double.guildId, person),
    say: async (place, saying) => sendMessage(double, place, saying),
    edit: async (place, id, text) => double.reword(place.id, id, text),
    erase: async (place, id) => double.erase(place.id, id),
    press: (place, id, label, from) => void pressButton(double, place, id, { label, from }),
    choose: (place, id, label, from) => chooseOption(double, place, id, { label, from }),
    fillIn: async (place, id, label, { from, words }) => {
      const interaction = pressButton(double, place, id, { label, from });
      await double.waitFor(() => double.interaction(interaction).modal !== undefined);
      double.submit({ interaction, values: { words } });
    },
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, place, trouble),
    tellTwice: () => double.fault({ kind: 'duplicate', events: 1 }),
    tellSwapped: () => double.fault({ kind: 'swap', pairs: 1 }),
    // Only the first event of a session is indispensable.
    garble: () => double.event('READY', { user: null, guilds: [] }, double.guildId),
    disconnect: () => double.fault({ kind: 'drop' }),
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: () => double.close(),
  };
}

function injectFault(double: DiscordDouble, { id }: ChatLocation, trouble: SendFault): void {
  const call = { call: `POST /channels/${id}/messages` };
  switch (trouble) {
    case 'rate-limited':
      double.fault({ ...call, kind: 'rate-limit', retryAfterMs: 1_000 });
      break;
    case 'server-error':
      // discord.js retries a request three times.
      double.fault({ ...call, kind: 'status', status: 502, times: 4 });
      break;
    case 'lost-before':
      double.fault({ ...call, kind: 'hang-up' });
      break;
    case 'lost-after':
      double.fault({ ...call, kind: 'hang-up', after: true });
      break;
    case 'thrown-out':
      double.deny(id, 'send');
      break;
    case 'format-refused':
      throw new Error('Discord refuses no format');
  }
}

function sendMessage(double: DiscordDouble, place: ChatLocation, saying: PersonMessage): string {
  const { text, mention, from, replyTo, files, bot } = saying;
  return double.say({
    channel: place.id,
    from: bot ? ANOTHER_BOT : from,
    text: mention ? `<@${double.me.id}> ${text}` : text,
    replyTo,
    bot,
    files: files?.map((file) =>
      file === 'picture'
        ? { name: 'a.png', type: 'image/png', bytes: FILES.picture }
        : { name: 'a.txt', type: 'text/plain', bytes: FILES.document },
    ),
  }).id;
}

function pressButton(
  double: DiscordDouble,
  { id: channel }: ChatLocation,
  message: string,
  { label, from }: { readonly label: string; readonly from: string },
): string {
  const below = double.conversation(channel).find(({ id }) => id === message);
  const button = listButtons(below?.message.components ?? []).find((one) => one.label === label);
  if (typeof button?.custom_id !== 'string') throw new Error(`there is no button "${label}"`);
  return double.press({ channel, message, from, customId: button.custom_id });
}

const Menu = z.object({
  custom_id: z.string(),
  options: z.array(z.object({ label: z.string(), value: z.string() })),
});

function chooseOption(
  double: DiscordDouble,
  { id: channel }: ChatLocation,
  message: string,
  { label, from }: { readonly label: string; readonly from: string },
): void {
  const below = double.conversation(channel).find(({ id }) => id === message);
  const rows = below?.message.components ?? [];
  const all = rows.flatMap(({ components }) => (Array.isArray(components) ? components : []));
  for (const component of all) {
    const { data: menu } = Menu.safeParse(component);
    const value = menu?.options.find((option) => option.label === label)?.value;
    if (menu === undefined || value === undefined) continue;
    double.press({ channel, message, from, customId: menu.custom_id, values: [value] });
    return;
  }
  throw new Error(`there is no choice "${label}"`);
}

function listMessages(double: DiscordDouble, place: ChatLocation): VisibleMessage[] {
  return double.conversation(place.id).map(({ id, from, visible, replyTo, message }) => {
    const buttons = listButtons(message.components ?? []).map(({ label }) => String(label));
    return {
      id,
      from,
      text: visible,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(buttons.length === 0 ? {} : { buttons }),
    };
  });
}
