import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboundMessage } from '@parley/core';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openTurnScene, type TurnScene } from '../../packages/agent/src/testing/turn-scene.ts';
import {
  ANN,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from '../platforms/discord/adapter-scene.ts';
import { checkFacts, checkReading, Expected, getExpectedMessage } from './events-outcome.ts';

const FOLDER = join(import.meta.dirname, 'events-discord');

/** An event of the gateway: its name where it is no new message, and its data. */
const Input = z.union([
  z.strictObject({ t: z.string(), d: z.record(z.string(), z.unknown()) }),
  z.record(z.string(), z.unknown()).transform((d) => ({ t: 'MESSAGE_CREATE', d })),
]);

const files = readdirSync(FOLDER);
const inputs = files.filter((file) => !file.endsWith('.expected.json'));

let discord: DiscordScene;
let turns: TurnScene;
let thread: string;
let direct: string;

beforeAll(async () => {
  [discord, turns] = await Promise.all([startDiscordScene(), openTurnScene()]);
  const { double } = discord;
  await discord.connect();
  direct = double.dmWith(ANN);
  thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
  double.say({ channel: double.channelId, from: ANN, text: 'the thread is open' });
  await discord.hears(1);
});
afterAll(async () => {
  await endScenes();
  await turns.close();
});

/** The ids of the double in place of those that the cases write. */
function named(text: string): string {
  const { double } = discord;
  return text
    .replaceAll('BOT_ID', double.me.id)
    .replaceAll('BOT_ROLE', double.botRoleId)
    .replaceAll(/"(?:CHANNEL|20)"/g, `"${double.channelId}"`)
    .replaceAll(/"(?:GUILD|30)"/g, `"${double.guildId}"`)
    .replaceAll('CHANNEL', double.channelId)
    .replaceAll('"DIRECT"', `"${direct}"`)
    .replaceAll('"THREAD"', `"${thread}"`);
}

function read(file: string) {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const expected = readFileSync(join(FOLDER, file.replace(/\.json$/, '.expected.json')), 'utf8');
  return {
    event: Input.parse(JSON.parse(named(text))),
    expected: Expected.parse(JSON.parse(named(expected))),
  };
}

/** What the adapter makes of an event; a message sent after it marks the end. */
async function follow(file: string, { t, d }: z.infer<typeof Input>) {
  const { double, received, revised, ignored } = discord;
  const before = [received.length, revised.length, ignored.length] as const;
  const guild = typeof d['guild_id'] === 'string' ? d['guild_id'] : undefined;
  double.event(t, d, guild);
  const end = `the end of ${file}`;
  double.say({ channel: String(d['channel_id']), from: ANN, text: end });
  await double.waitFor(() => received.at(-1)?.text === end);
  return {
    messages: received.slice(before[0], -1),
    revisions: revised.slice(before[1]),
    notes: ignored.slice(before[2]),
  };
}

/** The user message of a turn that answers this message. */
async function readByModel(message: InboundMessage, conversationId: string): Promise<string> {
  const { store, model } = turns;
  const { channel, account, chat } = message;
  const target = { dialect: 'discord', maxLength: 2_000, unit: 'utf16' } as const;
  const route = { channel, account, chatId: chat.id, target };
  const now = turns.now();
  await store.inbox.accept({ conversationId, message, route, receivedAt: now });
  for (const key of await store.attachments.due(channel, account, now, 99))
    await store.attachments.fail(key, 'it is gone', now);
  await turns.answerNext(conversationId);
  const asked = model.asked.at(-1)?.messages.findLast(({ role }) => role === 'user');
  return JSON.stringify(asked?.content);
}

describe('the corpus of events of Discord', () => {
  it('[F16] has an expectation for each input, and no other', () => {
    const expected = inputs.map((file) => file.replace(/\.json$/, '.expected.json'));
    expect(files.toSorted()).toEqual([...inputs, ...expected].toSorted());
  });

  // On a change a third of them each day.
  it.each(inputs.filter((_, nth) => isDueToday(nth, 3)))(
    '[F16] [F01] brings to the model what people see: %s',
    async (file) => {
      const { event, expected } = read(file);
      const found = getExpectedMessage(await follow(file, event), expected);
      if (found === null) return;
      checkFacts(found.message, found.expected);
      checkReading(await readByModel(found.message, file), found.expected);
    },
  );
});
