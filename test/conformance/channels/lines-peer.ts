import { resolve } from 'node:path';
import { ChangeNotifier } from '@parley/simulators/telegram';
import { lines } from '../../../examples/channel-lines/src/index.ts';
import { LinesServer } from './lines-server.ts';
import type { PlatformPeer } from './peer.ts';

/** The example channel of `docs/new-channel.md`. */
export async function startLinesPeer(): Promise<PlatformPeer> {
  const changes = new ChangeNotifier(() => `${server.rooms.size} rooms`);
  const server: LinesServer = new LinesServer(() => changes.changed());
  const port = await server.listen();
  let next = 0;
  let twice = false;
  const fresh = (kind: string) => {
    next += 1;
    return `${kind}-${next}`;
  };
  return {
    channel: 'lines',
    channels: [lines],
    program: resolve(import.meta.dirname, 'lines-program.ts'),
    traits: new Set([
      ...(['direct-chats', 'groups'] as const),
      ...(['bots', 'quotes', 'idempotent', 'twice', 'out-of-order'] as const),
      ...(['rate-limited', 'lost-before', 'lost-after'] as const),
    ]),
    longest: 1_000,
    settings: { port },
    owner: 'lines:olga',
    ownerPlace: { id: 'olgas-room', kind: 'direct' },
    direct: () => ({ id: fresh('direct'), kind: 'direct' }),
    group: () => ({ id: fresh('group'), kind: 'group' }),
    thread: () => {
      throw new Error('there are no threads');
    },
    other: () => fresh('person'),
    say: async ({ id: room, kind }, { text, from, mention, replyTo, bot }) => {
      const times = twice ? 2 : 1;
      twice = false;
      const owner = room === 'olgas-room' ? 'olga' : undefined;
      const author = bot === true ? 'bot-9' : (from ?? owner ?? `person-in-${room}`);
      const answered = server.rooms.get(room)?.find(({ id }) => id === replyTo);
      const message = { room, direct: kind === 'direct', from: author, text };
      const reply = answered === undefined ? {} : { replyTo: answered };
      return server.say({ ...message, mentioned: mention === true, ...reply }, times);
    },
    edit: () => Promise.reject(new Error('nothing can be changed')),
    erase: () => Promise.reject(new Error('nothing can be deleted')),
    seen: ({ id }) =>
      (server.rooms.get(id) ?? []).map((message) => ({
        id: message.id,
        from: message.from === 'parley' ? 'bot' : message.from,
        text: message.text,
        ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo.id }),
      })),
    trouble: ({ id }, trouble) => {
      if (trouble === 'rate-limited' || trouble === 'lost-before' || trouble === 'lost-after') {
        server.troubles.set(id, trouble);
      } else throw new Error(`there is no ${trouble}`);
    },
    tellTwice: () => {
      twice = true;
    },
    tellSwapped: () => server.swapNext(),
    disconnect: () => server.disconnect(),
    waitFor: (look, timeoutMs = 30_000) => changes.waitFor(look, timeoutMs),
    close: () => server.close(),
  };
}
