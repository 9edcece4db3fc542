import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '@parley/core';
import type { TelegramDouble } from '@parley/simulators/telegram';
import type { PlayedMessage } from './played-messages.ts';
import { markPart } from './rehearsal-model.ts';

/** What the simulated platform saw of the answer to one message. */
export interface PlayedAnswer {
  readonly number: number;
  /** How often each part of the answer is visible in the chat. */
  readonly seen: readonly number[];
  /** How long (ms) it took until the last part was visible; null if that did not happen. */
  readonly tookMs: number | null;
}

export interface PlayLimits {
  /** How long (ms) to wait for one answer. */
  readonly answerMs: number;
  /** After this many messages without an answer, the rest is not played. */
  readonly unanswered: number;
  /** How long (ms) to wait at the end for parts that are sent twice. */
  readonly settleMs: number;
}

const POLL_INTERVAL_MS = 10;

/**
 * Writes the messages one after another, each after the answer to the previous one, so that two
 * releases see exactly the same conversations. What was answered is counted from outside, on the
 * platform, whatever the release itself records.
 */
export async function playMessages(
  telegram: Pick<TelegramDouble, 'say' | 'conversation'>,
  messages: readonly PlayedMessage[],
  limits: PlayLimits,
  hasEnded: () => boolean,
): Promise<readonly PlayedAnswer[]> {
  const took = new Map<number, number>();
  let unanswered = 0;
  for (const message of messages) {
    const { number, chat, from, text, parts } = message;
    telegram.say({ chat, from, text });
    const startedAt = systemTime.monotonic();
    const elapsed = () => systemTime.monotonic() - startedAt;
    const isAnswered = () => countMark(telegram, message, parts) > 0;
    while (!isAnswered() && elapsed() < limits.answerMs && !hasEnded())
      await sleep(POLL_INTERVAL_MS);
    if (isAnswered()) took.set(number, elapsed());
    else unanswered += 1;
    if (hasEnded() || unanswered >= limits.unanswered) break;
  }
  await sleep(limits.settleMs);
  return messages.map((message) => ({
    number: message.number,
    seen: Array.from({ length: message.parts }, (_, part) =>
      countMark(telegram, message, part + 1),
    ),
    tookMs: took.get(message.number) ?? null,
  }));
}

/** Counts how often a part of an answer is visible in its chat. */
function countMark(
  telegram: Pick<TelegramDouble, 'conversation'>,
  { number, chat }: PlayedMessage,
  part: number,
): number {
  const mark = markPart(number, part);
  return telegram
    .conversation(chat.id)
    .filter(({ from }) => from === 'bot')
    .reduce((count, { text }) => count + text.split(mark).length - 1, 0);
}
