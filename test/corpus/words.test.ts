import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Attachment, Authored, InboundMessage, type ReplyRoute } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import type { NewPart } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createMessage,
  IngressScene,
  POLICY,
} from '../../packages/channels/src/testing/ingress-scene.ts';

const FOLDER = fileURLToPath(new URL('./words/', import.meta.url));
const EXPECTED = '.expected.json';

/** A question that waits when the message comes. Times in ms before the message was sent. */
const Question = z.strictObject({
  code: z.string().length(6),
  /** Of its last part; `elsewhere`: it was put in another chat of the same conversation. */
  state: z.enum(['sent', 'pending', 'elsewhere']).default('sent'),
  sentBefore: z.number().default(5_000),
  messageId: z.string().optional(),
});

/** A message as typed, and what waits in its chat. */
const Typed = z.strictObject({
  text: z.string(),
  by: z.enum(['owner', 'approver', 'guest']).default('owner'),
  chat: z.enum(['direct', 'group']).default('direct'),
  addressed: z.boolean().default(true),
  /** When the bot answers in groups. */
  activation: z.enum(['mention', 'always']).default('mention'),
  mentions: z.array(z.string()).default([]),
  authored: Authored.default({ text: true }),
  attachments: z.array(Attachment).optional(),
  replyTo: InboundMessage.shape.replyTo,
  questions: z.array(Question).default([]),
  /** What Parley said in this chat after the questions. */
  saidSince: z.string().optional(),
});

const Expected = z.strictObject({
  /** `/new`: that command is run; `message`: it is an ordinary one; `context`: the group's next turn knows it. */
  is: z.union([z.enum(['message', 'context']), z.string().startsWith('/')]),
  /** The text that waits for a turn; null: none does. */
  waits: z.string().nullable(),
  files: z.number().default(0),
  /** Whether the text that waits counts as typed by its sender. */
  isTyped: z.boolean().default(true),
  approved: z.array(z.string()).default([]),
  denied: z.array(z.string()).default([]),
  /** What the answer contains. */
  says: z.array(z.string()).default([]),
});

const files = readdirSync(FOLDER);
const inputs = files.filter((name) => !name.endsWith(EXPECTED));
const read = (name: string): unknown => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
const expectationOf = (name: string) => name.replace(/\.[^.]+$/, EXPECTED);

const SENDERS = { owner: '42', approver: '8', guest: '9' } as const;
/** When the message is sent, in ms. */
const NOW = 1_790_000_000_500;

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const routeTo = (chatId: string): ReplyRoute => ({
  ...{ channel: 'telegram', account: 'default', chatId },
  target: CAPABILITIES.target,
});

const receiveWith = (activation: 'mention' | 'always' = 'mention') =>
  scene.ingressWith(
    { activation, access: { ...POLICY.access, direct: 'open', groupCommands: 'everyone' } },
    {},
    {
      approvers: ['telegram:8'],
      limits: { messageCharacters: 4_000, waitingPerConversation: 9, totalWaiting: 99 },
    },
  );

/** A turn of another chat that waits for a decision in this one. */
async function ask(
  { code, state, sentBefore, messageId = `q-${code}` }: z.infer<typeof Question>,
  chatId: string,
): Promise<void> {
  const asker = `1${code}`;
  scene.now = NOW - sentBefore - 1_000;
  const wish = { messageId: code, text: 'note it', chat: { id: asker }, sender: { id: asker } };
  await receiveWith()(createMessage(wish), CAPABILITIES);
  const work = { conversationId: `telegram:default:${asker}`, owner: 'w', leaseMs: 1_000 };
  const taken = await scene.store.lanes.begin(work, 'collect', `t-${code}`, scene.now);
  if (taken.kind !== 'turn') throw new Error(`no turn: ${taken.kind}`);
  const buttons = [{ label: 'Approve', data: `/approve ${code}` }];
  const body = { text: 'May I?', plain: 'May I?' };
  const route = routeTo(state === 'elsewhere' ? 'other' : chatId);
  const approval = {
    ...{ code, turnId: `t-${code}`, callKey: `${code}.0`, tool: 'write', shown: `text: "${code}"` },
    ...{ askedBy: `telegram:${asker}`, place: 'telegram direct 1', approvers: [] },
    ...{ askedIn: `telegram:default:${chatId}`, expiresAt: NOW + 600_000 },
  };
  await scene.store.approvals.ask(taken.lease, approval, [{ route, body, buttons }], scene.now);
  scene.now = NOW - sentBefore;
  if (state === 'sent') await deliver(chatId, messageId);
}

async function deliver(chatId: string, messageId: string): Promise<void> {
  const { outbox } = scene.store;
  for (const { part } of await outbox.unfinished({ ...routeTo(chatId) }, 99)) {
    await outbox.markSending(part.id, scene.now);
    await outbox.markSent(part.id, messageId, scene.now);
  }
}

async function happened(typed: z.infer<typeof Typed>) {
  const sender = SENDERS[typed.by];
  const isGroup = typed.chat === 'group';
  const chatId = isGroup ? '-5' : sender;
  for (const question of typed.questions) await ask(question, chatId);
  if (typed.saidSince !== undefined) {
    const body = { text: typed.saidSince, plain: typed.saidSince };
    const part: NewPart = { route: routeTo(chatId), body };
    await scene.store.outbox.post({ key: 'since', parts: [part] }, scene.now);
    await deliver(chatId, 'since');
  }
  scene.now = NOW + 300;
  const { questions: _questions, saidSince: _since, by: _by, chat: _chat, ...rest } = typed;
  const { activation, ...message } = rest;
  const chat = isGroup ? ({ id: chatId, type: 'group', title: 'Team' } as const) : { id: chatId };
  const told = (await scene.told(chatId)).length;
  const outcome = await receiveWith(activation)(
    createMessage({ ...message, messageId: 'm', chat, sender: { id: sender }, sentAt: NOW }),
    CAPABILITIES,
  );
  const rows = await scene.store.inbox.recent(routeTo(chatId), 9);
  const row = rows.find((one) => one.message.messageId === 'm');
  const waiting = row?.outcome === null ? row.message : undefined;
  const decided = await scene.store.approvals.recent(9);
  const codes = (state: string) =>
    decided.flatMap((one) => (one.state === state ? [one.code] : [])).sort();
  return {
    is: outcome.kind === 'command' ? `/${outcome.name}` : row === undefined ? 'context' : 'message',
    waits: waiting?.text ?? null,
    files: waiting?.attachments?.length ?? 0,
    isTyped: waiting === undefined || waiting.authored?.text === true,
    approved: codes('approved'),
    denied: codes('denied'),
    said: (await scene.told(chatId)).slice(told).join('\n'),
  };
}

describe('what a message in words does', () => {
  it('[F09] each message of the folder has an expectation, and each expectation a message', () => {
    const expectations = files.filter((name) => name.endsWith(EXPECTED)).sort();
    expect(inputs.map(expectationOf).sort()).toEqual(expectations);
    expect(inputs.length).toBeGreaterThanOrEqual(60);
  });

  it.each(inputs)('[F09] [G05] %s', async (name) => {
    const { says, ...expected } = Expected.parse(read(expectationOf(name)));
    const { said, ...found } = await happened(Typed.parse(read(name)));
    expect(found).toEqual(expected);
    for (const words of says) expect(said).toContain(words);
    if (expected.is.startsWith('/')) expect(said).not.toBe('');
  });
});
