import { createHash } from 'node:crypto';
import type { InboundMessage } from '@parley/core';
import { REHEARSAL_OWNER } from './rehearsal-copy.ts';
import { markMessage } from './rehearsal-model.ts';

/** A message that is played through the simulated platform. */
export interface PlayedMessage {
  readonly number: number;
  readonly chat: {
    readonly id: number;
    readonly type: 'private' | 'supergroup';
    readonly title?: string;
  };
  readonly from: { readonly id: number; readonly first_name: string };
  readonly text: string;
  /** Whether only the owner reads the answer. */
  readonly isPrivate: boolean;
  /** The number of parts of its answer. */
  readonly parts: number;
}

const GROUP = { id: -990_002, type: 'supergroup', title: 'Rehearsal' } as const;
const STRANGER = { id: 990_003, first_name: 'Sam' };
const OWNER = { id: REHEARSAL_OWNER, first_name: 'Olga' };

/**
 * Lists the messages of a rehearsal: its own, which try a long answer, a group and a stranger, and
 * then the recorded ones. Messages of all channels are played through Telegram.
 */
export function listPlayedMessages(
  recorded: readonly InboundMessage[],
  owners: readonly string[],
): readonly PlayedMessage[] {
  const privately = {
    chat: { id: OWNER.id, type: 'private' },
    from: OWNER,
    isPrivate: true,
  } as const;
  const own: readonly Omit<PlayedMessage, 'number'>[] = [
    { ...privately, text: 'Please give me a long answer.', parts: 3 },
    {
      chat: GROUP,
      from: STRANGER,
      text: 'What do you know about Olga?',
      isPrivate: false,
      parts: 1,
    },
    {
      ...{ chat: { id: STRANGER.id, type: 'private' }, from: STRANGER, isPrivate: false, parts: 1 },
      text: 'Hello, who are you?',
    },
    { ...privately, text: 'And what did I ask before?', parts: 1 },
    {
      chat: GROUP,
      from: OWNER,
      text: 'Is this answered for everyone here?',
      isPrivate: false,
      parts: 1,
    },
  ];
  const theirs = recorded.filter(isPlayable).map((message) => toPlayed(message, owners));
  return [...own, ...theirs].map((message, number) => ({
    ...message,
    number,
    text: `${message.text} ${markMessage(number)}`,
  }));
}

/** Commands and messages without text are left out. */
function isPlayable({ text }: InboundMessage): boolean {
  return text.trim() !== '' && !text.startsWith('/');
}

function toPlayed(
  { channel, chat, sender, text }: InboundMessage,
  owners: readonly string[],
): Omit<PlayedMessage, 'number'> {
  const from = { id: toNumber(channel, sender.id), first_name: sender.name || 'Someone' };
  const isDirect = chat.type === 'direct';
  return {
    chat: isDirect
      ? { id: from.id, type: 'private' }
      : {
          id: -Math.abs(toNumber(channel, chat.id)),
          type: 'supergroup',
          title: chat.title ?? 'Group',
        },
    ...{ from, text, parts: 1 },
    isPrivate: isDirect && owners.includes(`telegram:${from.id}`),
  };
}

/** Telegram's own ids are kept; others become numbers that no real account has. */
function toNumber(channel: string, id: string): number {
  const number = Number(id);
  if (channel === 'telegram' && Number.isSafeInteger(number) && number !== 0) return number;
  const hash = createHash('sha256').update(`${channel} ${id}`).digest();
  return 900_000_000_000 + hash.readUInt32BE(0);
}
