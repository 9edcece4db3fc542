import { startDiscordDouble } from '@parley/simulators/discord';
import { type CrashSide, listSenders } from './side.ts';
import { formatQuestion } from './words.ts';

const FIRST_SENDER = 20_001;
/**
 * One in this many chats is a direct chat, whose missed messages Discord does not report after
 * downtime.
 */
const DIRECT_EVERY = 5;

interface DiscordRoom {
  readonly sender: number;
  readonly channel: string;
  readonly isDirect: boolean;
}

/** Channels of a server, each with one person who mentions the bot, and direct chats. */
export async function startDiscordSide(chats: number): Promise<CrashSide> {
  const double = await startDiscordDouble();
  const rooms = listSenders(FIRST_SENDER, chats).map((sender, nth): DiscordRoom => {
    const isDirect = nth % DIRECT_EVERY === DIRECT_EVERY - 1;
    const channel = isDirect
      ? double.dmWith(getPersonId(sender))
      : double.addChannel(double.guildId, `room-${sender}`);
    return { sender, channel, isDirect };
  });
  const roomOf = new Map(rooms.map((room) => [room.sender, room]));
  return {
    channel: 'discord',
    settings: {
      token: double.token,
      apiRoot: double.apiRoot,
      access: { direct: 'open', groups: 'open' },
    },
    senders: rooms.map(({ sender }) => sender),
    ask(question) {
      const room = roomOf.get(question.sender);
      if (room === undefined) throw new Error(`${question.sender} has no room`);
      const text = room.isDirect
        ? formatQuestion(question)
        : `<@${double.me.id}> ${formatQuestion(question)}`;
      double.say({ channel: room.channel, from: getPersonId(question.sender), text });
    },
    // Discord does not track which messages were accepted.
    allDelivered: () => true,
    look: async () =>
      rooms.map(({ sender, channel }) => ({
        chatId: channel,
        senders: [sender],
        texts: double
          .conversation(channel)
          .filter(({ from }) => from === 'bot')
          .map(({ content }) => content),
      })),
    close: () => double.close(),
  };
}

function getPersonId(sender: number): string {
  return String(200_000_000_000_000_000n + BigInt(sender));
}
