import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboundMessage } from '@parley/core';
import { isDueToday } from '@parley/core/testing';
import { proto } from '@whiskeysockets/baileys';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openTurnScene, type TurnScene } from '../../packages/agent/src/testing/turn-scene.ts';
import { openLastingScene } from '../platforms/whatsapp/adapter-scene.ts';
import { trustMediaUntilReverted } from '../platforms/whatsapp/trust-media.ts';
import { checkFacts, checkReading, Expected, getExpectedMessage } from './events-outcome.ts';

const FOLDER = join(import.meta.dirname, 'events-whatsapp');

/** An event as Baileys prints it; of a kind that it does not know there are only the bytes. */
const Input = z.object({
  key: z.object({
    remoteJid: z.string(),
    id: z.string(),
    participant: z.string().optional(),
  }),
  message: z.record(z.string(), z.unknown()).optional(),
  /** Base64. */
  bytes: z.string().optional(),
  /** The content is kept from linked devices, for this reason. */
  unavailable: z.string().optional(),
  /** The same person wrote this before, under the id in it. */
  after: z.object({ id: z.string(), text: z.string() }).optional(),
});
type Input = z.infer<typeof Input>;

const files = readdirSync(FOLDER);
const inputs = files.filter((file) => !file.endsWith('.expected.json'));

/** The double with the adapter, its people and their group, and what its files look like in a message. */
async function openStage() {
  const [whatsapp, turns] = await Promise.all([openLastingScene(), openTurnScene()]);
  const { double } = whatsapp;
  const stopTrusting = trustMediaUntilReverted(double);
  const ann = double.addPerson({ name: 'Ann', number: '491510000001', lid: '88000000000001' });
  const ben = double.addPerson({ name: 'Ben', lid: '88000000000002', hidden: true });
  const members = [ann.id, ben.id, double.me.id];
  const group = double.addGroup({ subject: 'Friends', members });
  // What their phones tell about names.
  await double.say({ chat: group.jid, from: ben.id, text: 'hello' });
  await double.say({ chat: group.jid, from: ann.id, text: 'hello' });
  await double.waitFor(() => whatsapp.received.length === 2);
  const fields = new Map<string, unknown>();
  for (const kind of ['image', 'video', 'audio', 'document', 'sticker'] as const) {
    const draft = { kind, content: Buffer.from(`a ${kind}`), mimetype: `${kind}/x` };
    const message = proto.Message.fromObject(await double.acts.file(draft));
    fields.set(kind, proto.Message.toObject(message)[`${kind}Message`]);
  }
  return { whatsapp, turns, ann, ben, group, fields, stopTrusting };
}
type Stage = Awaited<ReturnType<typeof openStage>>;

let opening: Promise<Stage> | undefined;
const stage = (): Promise<Stage> => {
  opening ??= openStage();
  return opening;
};
afterAll(async () => {
  if (opening === undefined) return;
  const { whatsapp, turns, stopTrusting } = await opening;
  await whatsapp.close();
  await turns.close();
  stopTrusting();
});

/** The ids of the double in place of those that the cases write. */
function named(text: string, { whatsapp, ann, ben, group }: Stage): string {
  const { me } = whatsapp.double;
  return text
    .replaceAll('GROUP', group.jid)
    .replaceAll('BOT_LID_DIGITS', me.lid.split('@')[0] ?? '')
    .replaceAll('BOT_DIGITS', me.pn?.split('@')[0] ?? '')
    .replaceAll('BOT_LID', me.lid)
    .replaceAll('BOT', me.pn ?? '')
    .replaceAll('ANN_LID', ann.lid)
    .replaceAll('ANN', ann.id)
    .replaceAll('BEN_DIGITS', ben.lid.split('@')[0] ?? '')
    .replaceAll('BEN', ben.lid);
}

/** `"$file": "image"` stands for the fields that point to such a file on the double's media host. */
function withFiles(value: unknown, fields: Stage['fields']): unknown {
  if (Array.isArray(value)) return value.map((one) => withFiles(one, fields));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const { $file: file, ...rest } = Object(value);
  const own = Object.entries(rest).map(([name, one]) => [name, withFiles(one, fields)] as const);
  const found = typeof file === 'string' ? fields.get(file) : undefined;
  return { ...Object(found), ...Object.fromEntries(own) };
}

function read(file: string, on: Stage) {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const expected = readFileSync(join(FOLDER, file.replace(/\.json$/, '.expected.json')), 'utf8');
  return {
    event: Input.parse(JSON.parse(named(text, on))),
    expected: Expected.parse(JSON.parse(named(expected, on))),
  };
}

/** Posts an event as the phone of its sender does. */
async function post({ whatsapp, ann, fields }: Stage, event: Input): Promise<void> {
  const { acts } = whatsapp.double;
  const { remoteJid: chat, participant, id } = event.key;
  const place = { chat, from: participant ?? ann.id, id };
  if (event.unavailable !== undefined) acts.withhold(place, event.unavailable);
  else if (event.bytes !== undefined)
    await acts.postBytes(place, Buffer.from(event.bytes, 'base64'));
  else await acts.post(place, proto.Message.fromObject(Object(withFiles(event.message, fields))));
}

/** What the adapter makes of an event; a message behind it tells when all of it is done. */
async function follow(on: Stage, file: string, event: Input) {
  const { double, received, revised, ignored } = on.whatsapp;
  const from = event.key.participant ?? on.ann.id;
  if (event.after !== undefined) {
    await double.say({ chat: event.key.remoteJid, from, ...event.after });
    await double.waitFor(() => received.at(-1)?.messageId === event.after?.id);
  }
  const before = [received.length, revised.length, ignored.length] as const;
  await post(on, event);
  const end = `the end of ${file}`;
  await double.say({ chat: on.ann.id, from: on.ann.id, text: end });
  await double.waitFor(() => received.at(-1)?.text === end);
  return {
    messages: received.slice(before[0], -1),
    revisions: revised.slice(before[1]),
    notes: ignored.slice(before[2]),
  };
}

/** The user message of a turn that answers this message. */
async function readByModel(turns: TurnScene, message: InboundMessage, conversationId: string) {
  const { store, model } = turns;
  const { channel, account, chat } = message;
  const target = { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' } as const;
  const route = { channel, account, chatId: chat.id, target };
  const now = turns.now();
  await store.inbox.accept({ conversationId, message, route, receivedAt: now });
  for (const key of await store.attachments.due(channel, account, now, 99))
    await store.attachments.fail(key, 'it is gone', now);
  await turns.answerNext(conversationId);
  const asked = model.asked.at(-1)?.messages.findLast(({ role }) => role === 'user');
  return JSON.stringify(asked?.content);
}

/** The bytes of the files that came along are those that the double has. */
async function checkFiles(
  { whatsapp }: Stage,
  { attachments = [] }: InboundMessage,
): Promise<void> {
  for (const { ref } of attachments) {
    const bytes = await whatsapp.adapter.files?.fetch(ref, 99, AbortSignal.timeout(10_000));
    expect(Buffer.from(bytes ?? []).toString()).toMatch(/^a /);
  }
}

describe('the corpus of events of WhatsApp', () => {
  it('[F16] has an expectation for each input, and no other', () => {
    const expected = inputs.map((file) => file.replace(/\.json$/, '.expected.json'));
    expect(files.toSorted()).toEqual([...inputs, ...expected].toSorted());
  });

  // On a change a third of them each day.
  it.each(inputs.filter((_, nth) => isDueToday(nth, 3)))(
    '[F16] [F01] brings to the model what people see: %s',
    async (file) => {
      const on = await stage();
      const { event, expected } = read(file, on);
      const found = getExpectedMessage(await follow(on, file, event), expected);
      if (found === null) return;
      checkFacts(found.message, found.expected);
      await checkFiles(on, found.message);
      checkReading(await readByModel(on.turns, found.message, file), found.expected);
    },
  );
});
