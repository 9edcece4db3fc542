import { randomUUID } from 'node:crypto';
import type { Attachment, InboundMessage, ReplyRoute } from '@parley/core';
import type { CommandTransaction, Store } from '@parley/store';

export interface WriteMessageOptions {
  readonly chat?: InboundMessage['chat'];
  readonly sender?: InboundMessage['sender'];
  readonly files?: readonly SentFile[];
  readonly fromOwner?: true;
  /** How long the message may still be part of a burst, in ms. */
  readonly settlesInMs?: number;
  readonly quotes?: true;
  /** The largest file that can be sent to the chat, in bytes. */
  readonly maxFileBytes?: number | undefined;
  readonly acts?: ReplyRoute['acts'];
  readonly voice?: true;
  readonly inputs?: true;
  readonly maxButtons?: number;
  /** True if the chat cannot take back shown text. */
  readonly appends?: true;
  readonly response?: string;
  /** A different chat that receives the answer. */
  readonly answersIn?: string;
  readonly responseFormat?: InboundMessage['responseFormat'];
  /** The conversation, if it is not named like its chat. */
  readonly conversationId?: string;
  /** The data that an API client sends along. */
  readonly client?: InboundMessage['client'];
}

/** For tests: a file sent by a person. If `bytes` is null, the file could not be fetched. */
export interface SentFile extends Omit<Attachment, 'ref'> {
  readonly bytes: Uint8Array | null;
}

export const OWNER_CHAT = 'c';
export const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
const DIRECT: InboundMessage['chat'] = { id: OWNER_CHAT, type: 'direct' };
const OWNER = { id: '1', name: 'Ada', isBot: false };

/** For tests: stores a message whose attachments are already fetched. */
export async function writeMessage(
  store: Store,
  { messageId, text, now }: { messageId: string; text: string; now: number },
  {
    chat = DIRECT,
    sender = OWNER,
    files = [],
    quotes,
    fromOwner,
    settlesInMs,
    answersIn,
    responseFormat,
    client,
    conversationId = chat.id,
    ...more
  }: WriteMessageOptions,
): Promise<void> {
  const attachments = files.map(({ bytes: _bytes, ...file }) => ({ ...file, ref: 'r' }));
  const message: InboundMessage = {
    ...PLACE,
    messageId,
    chat,
    sender,
    text,
    mentions: [],
    addressed: true,
    sentAt: 0,
    variables: {},
    ...(attachments.length > 0 && { attachments }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(client !== undefined && { client }),
  };
  const route = {
    ...PLACE,
    chatId: answersIn ?? chat.id,
    target: TARGET,
    ...(quotes && { quotes }),
    ...more,
  };
  await store.inbox.accept({
    conversationId,
    message,
    route,
    receivedAt: now,
    ...(fromOwner && { fromOwner }),
    ...(settlesInMs !== undefined && { settlesAt: now + settlesInMs }),
  });
  const due = await store.attachments.due(PLACE.channel, PLACE.account, now, 99);
  for (const [at, { bytes }] of files.entries()) {
    const key = due[at];
    if (key === undefined) throw new Error('the attachment was not stored');
    if (bytes === null) await store.attachments.fail(key, 'it is gone', now);
    else await store.attachments.keep(key, bytes, now);
  }
}

/**
 * For tests: applies the owner's `/approve` or `/deny` like ingress, in the chat of the question.
 */
export async function decideAsOwner(
  store: Pick<Store, 'inbox'>,
  verdict: 'approved' | 'denied',
  code = 'CODE1',
  chatId = OWNER_CHAT,
): Promise<void> {
  await runAsCommand(store, (one) => one.decideApproval({ code, verdict, by: 'test:1' }), chatId);
}

/** For tests: runs a command by the owner; returns null if it is a duplicate. */
export function runAsCommand<T>(
  store: Pick<Store, 'inbox'>,
  run: (transaction: CommandTransaction) => Promise<T>,
  chatId = OWNER_CHAT,
): Promise<T | null> {
  const now = Date.UTC(2026, 10, 21, 13, 5);
  return store.inbox.command(
    {
      conversationId: chatId,
      route: { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 99, unit: 'utf16' } },
      receivedAt: now,
      message: {
        ...PLACE,
        messageId: randomUUID(),
        chat: { id: chatId, type: 'direct' },
        sender: { id: '1', name: 'Ada', isBot: false },
        text: '/approve',
        mentions: [],
        addressed: true,
        sentAt: 0,
        variables: {},
      },
    },
    run,
  );
}
