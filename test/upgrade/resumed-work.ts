import { z } from 'zod';
import { startParleyInProcess, type TestParley } from '../e2e/parley-here.ts';
import { runCommand } from '../e2e/parley-process.ts';
import { getMessageText } from '../model/chat-request.ts';
import { OWNER, SECOND_OWNER } from './later-work.ts';
import { createClock, openLeftWork, type ServerAddresses } from './left-work.ts';
import { findNumbers, nameRequest } from './model-words.ts';
import { type FixtureWorld, openWorld } from './world.ts';

/** All Telegram chats in the fixture: a bot may only write where it is known. */
export const CHATS = [
  ...[SECOND_OWNER, OWNER, 502, 503, 504, 999, -5, -7],
  ...Array.from({ length: 11 }, (_, nth) => 601 + nth),
];

/** The first id of new messages, higher than any that the earlier Telegram assigned. */
const FIRST_NUMBER = 90_001;

const Status = z.looseObject({
  channels: z.array(
    z.looseObject({ channel: z.string(), state: z.looseObject({ kind: z.string() }) }),
  ),
});

/**
 * The current Parley on an installation that was killed while working, with the actions and
 * observations of a test.
 */
export type ResumedWork = Awaited<ReturnType<typeof resumeWork>>;

/** Starts Parley in the test process. `servers` is null for SQLite. */
export async function resumeWork(fixture: string, servers: ServerAddresses | null) {
  const clock = createClock(fixture, servers);
  const world = await openWorld(clock);
  const left = await openLeftWork(fixture, world, servers);
  for (const chat of CHATS) world.telegram.promote(chat, OWNER);
  const parley = await startParleyInProcess(left.data, { clock });
  return {
    world,
    left,
    clock,
    ...createObservers(world),
    ...createPeople(world, clock),
    ...createRequests(parley),
    async cli(...args: string[]): Promise<string> {
      const { out, err } = await runCommand(['--data', left.data, ...args]);
      return out + err;
    },
    parley,
    async close(): Promise<void> {
      await parley.discard();
      await world.close();
      await left.remove();
    },
  };
}

/** The messages visible to people and the requests to the model. */
function createObservers({ telegram, discord, rooms, model }: FixtureWorld) {
  const said = (chat: number): readonly string[] =>
    telegram.conversation(chat).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
  const requestsFor = (name: string) =>
    model.requests.map(({ body }) => body).filter((body) => nameRequest(body) === name);
  return {
    said,
    /** Numbers of the questions that were answered in a chat, in the order of the answers. */
    answered: (chat: number) => findAnsweredNumbers(said(chat)),
    answeredIn: (room: keyof FixtureWorld['rooms']) => {
      const sends = discord.sends();
      const isThere = ({ route }: (typeof sends)[number]) =>
        'channelId' in route && route.channelId === rooms[room];
      return findAnsweredNumbers(sends.filter(isThere).map(({ content }) => content));
    },
    requestsFor,
    /** The number and the content of the model requests for this question. */
    asked: (name: string) => requestsFor(name).length,
    told: (name: string) => requestsFor(name)[0]?.messages.map(getMessageText).join('\n'),
  };
}

function findAnsweredNumbers(texts: readonly string[]): readonly string[] {
  return texts
    .filter((text) => /^(⚙️ )?This answers/.test(text))
    .flatMap((text) => findNumbers(text.split('.')[0] ?? ''));
}

/** People's actions. */
function createPeople({ telegram, discord }: FixtureWorld, clock: () => number) {
  let next = FIRST_NUMBER;
  return {
    /** Writes in Telegram, as the person in the direct chat or as the given person. */
    write(chat: number, text: string, person = chat): void {
      const from = { id: person, is_bot: false, first_name: `User ${person}` };
      const [first = ''] = text.split(' ');
      const type = { '/': 'bot_command', '@': 'mention' }[text[0] ?? ''];
      const entities = type === undefined ? [] : [{ type, offset: 0, length: first.length }];
      const place =
        chat < 0
          ? { id: chat, type: 'group', title: 'Group' }
          : { id: chat, type: 'private', first_name: from.first_name };
      const date = Math.floor(clock() / 1_000);
      const message = { message_id: next, from, chat: place, date, text, entities };
      telegram.update('message', message);
      next += 1;
    },
    writeOnDiscord: (from: string, text: string) =>
      void discord.say({ channel: discord.dmWith(from), from, text }),
  };
}

/** HTTP requests to Parley. */
function createRequests(parley: TestParley) {
  const ask = (path: string, init: RequestInit = {}, token = parley.token) =>
    fetch(`${parley.address}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
  return {
    ask,
    async stateOf(channel: string): Promise<string | undefined> {
      const { channels } = Status.parse(await (await ask('/api/status/report')).json());
      return channels.find((one) => one.channel === channel)?.state.kind;
    },
    /** Writes on the board of the plugin's channel; returns the status. */
    async pin(text: string): Promise<number> {
      const body = JSON.stringify({ id: text, from: 'bo', text });
      return (await ask('/channels/board/default/', { method: 'POST', body })).status;
    },
    /** The text on the board. */
    board: async () => (await ask('/channels/board/default/')).text(),
  };
}
