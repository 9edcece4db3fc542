import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toConversationId } from '@parley/channels';
import { type Chat, InboundMessage } from '@parley/core';
import { formatMessageContext } from '@parley/prompt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  endScenes,
  startTelegramScene,
  type TelegramScene,
} from '../platforms/telegram/adapter-scene.ts';

/** A case is an update as Telegram sends it, or several, of which the last one is meant; beside it `NAME.expected.json`. */
const FOLDER = join(import.meta.dirname, 'events-telegram');
const EXPECTED = '.expected.json';

const Update = z.looseObject({ update_id: z.int() });
const Input = z.union([Update.transform((update) => [update]), z.array(Update).min(1)]);

const Expected = z.strictObject({
  /** What a person did. */
  about: z.string(),
  /** The conversation, and the kind of its chat. */
  chat: z.string().optional(),
  type: z.enum(['direct', 'group', 'thread', 'channel']).optional(),
  separate: z.literal(true).optional(),
  /** By which an access list may name the chat. */
  within: z.string().optional(),
  addressed: z.boolean().optional(),
  isBot: z.boolean().default(false),
  /** All of the text. */
  text: z.string().optional(),
  /** What the model must read, wherever in the user message. */
  reads: z.array(z.string()).default([]),
  replyTo: z.string().optional(),
  quotation: z.strictObject({ text: z.string(), from: z.string().optional() }).optional(),
  mentions: z.array(z.string()).optional(),
  /** Kind and file id of each file that comes along. */
  files: z.array(z.string()).optional(),
  names: z.array(z.string()).optional(),
  /** How the id of the message ends. */
  messageId: z.string().optional(),
  /** How the id of the message with the button ends. */
  pressed: z.string().optional(),
  /** It changes a message that was sent before. */
  revised: z.literal('edited').optional(),
  /** Ids of messages that are not there any more. */
  deleted: z.array(z.string()).optional(),
  /** Why nothing follows. */
  ignored: z.string().optional(),
});
type Expected = z.infer<typeof Expected>;

const files = readdirSync(FOLDER);
const expectations = files.filter((file) => file.endsWith(EXPECTED));
const inputs = files.filter((file) => file.endsWith('.json') && !file.endsWith(EXPECTED));
const nameOf = (file: string) => file.replace(/(?:\.expected)?\.json$/, '');
const read = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

describe("the corpus of Telegram's events", () => {
  let telegram: TelegramScene;
  beforeAll(async () => {
    telegram = await startTelegramScene();
    await telegram.adapter.start();
    telegram.double.say({ chat: 1, text: 'first' });
    await telegram.double.waitFor(() => telegram.received.length === 1);
  });
  afterAll(endScenes);

  it('[F16] has an expectation for each input, and an input for each expectation', () => {
    expect(expectations.map(nameOf).toSorted()).toEqual(inputs.map(nameOf).toSorted());
  });

  it.each(inputs)('[F16] [F17] is read as it was meant: %s', async (file) => {
    const expected = Expected.parse(read(`${nameOf(file)}${EXPECTED}`));
    const { double, received, revised, ignored, logged } = telegram;
    for (const all of [received, revised, ignored, logged]) all.splice(0);
    for (const { update_id: _, ...event } of Input.parse(read(file)))
      for (const [kind, content] of Object.entries(event)) double.update(kind, content);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expectOutcome(telegram, expected);
  });
});

function expectOutcome({ received, revised, ignored }: TelegramScene, expected: Expected): void {
  if (expected.ignored !== undefined) {
    expect([received, revised]).toEqual([[], []]);
    expect(ignored.map(({ reason }) => reason)).toEqual([
      expect.stringContaining(expected.ignored),
    ]);
    return;
  }
  expect(ignored).toEqual([]);
  if (expected.deleted !== undefined) {
    const ids = revised.map((one) => (one.kind === 'deleted' ? one.messageId : one.kind));
    expect(ids).toEqual(expected.deleted);
    return;
  }
  const changed = revised.flatMap((one) => (one.kind === 'edited' ? [one.message] : []));
  const [message, ...others] = expected.revised === undefined ? received : changed;
  expect(others).toEqual([]);
  if (message === undefined) throw new Error('Nothing was handed over.');
  expectMessage(InboundMessage.parse(message), expected);
}

function expectMessage(message: InboundMessage, expected: Expected): void {
  const { text, chat, addressed, sender, attachments = [], replyTo, quotation, mentions } = message;
  // As a request to the model has it.
  const userMessage = `${formatMessageContext([message])}\n\n${text}`;
  for (const words of expected.reads) expect(plain(userMessage)).toContain(words);
  const is = <T>(wanted: T | undefined, found: unknown) =>
    wanted === undefined || expect(found).toEqual(wanted);
  is(expected.text, text);
  is(expected.replyTo, replyTo?.text);
  is(expected.quotation, quotation && { text: quotation.text, from: quotation.from });
  is(expected.mentions, mentions);
  is(
    expected.files,
    attachments.map(({ kind, ref }) => `${kind} ${ref}`),
  );
  is(
    expected.names,
    attachments.map(({ name }) => name),
  );
  is(expected.chat, toConversationId(message));
  expect(shape(chat)).toEqual({
    type: expected.type,
    separate: expected.separate,
    within: expected.within,
  });
  is(expected.addressed, addressed);
  expect(sender.isBot).toBe(expected.isBot);
  is(expected.pressed, expected.pressed && message.pressed?.slice(-expected.pressed.length));
  is(expected.messageId, expected.messageId && message.messageId.slice(-expected.messageId.length));
}

function shape({ type, separate, within }: Chat): Partial<Chat> {
  return { type, separate, within };
}

/** Quoted texts are JSON inside the user message. */
function plain(text: string): string {
  return text.replace(/\\n/g, '\n').replace(/\\"/g, '"');
}
