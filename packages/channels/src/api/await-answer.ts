import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageAnswer } from '@parley/store';
import type { ChannelContext } from '../adapter.ts';
import type { EventHub } from '../web/events.ts';

export interface AnswerRef {
  readonly chatId: string;
  readonly messageId: string;
}

interface AwaitAnswerDeps {
  readonly context: Pick<ChannelContext<unknown>, 'answer'>;
  readonly hub: EventHub;
}

/** The polling interval for changes made by other gateways and earlier processes, in ms. */
const POLL_INTERVAL_MS = 1_000;

/**
 * Waits until a message is answered or its turn waits for a person. Null when the signal fired
 * first, or when the message is no longer stored. The tables are authoritative; live events only
 * trigger a check. `onText` receives the whole growing answer each time.
 */
export async function awaitAnswer(
  { context, hub }: AwaitAnswerDeps,
  { chatId, messageId }: AnswerRef,
  signal: AbortSignal,
  onText: (text: string) => void = () => undefined,
): Promise<MessageAnswer | null> {
  let wake = Promise.withResolvers<void>();
  let turnId: string | null = null;
  let shown: { readonly turnId: string; readonly text: string } | undefined;
  const unwatch = hub.watch(chatId, (event) => {
    if (event.type !== 'stream') return wake.resolve();
    // On the first text of a turn, the table shows which message the text answers.
    if (event.turnId !== turnId && event.turnId !== shown?.turnId) wake.resolve();
    shown = event;
    if (event.turnId === turnId) onText(event.text);
  });
  try {
    for (let isStopped = false; ; ) {
      wake = Promise.withResolvers<void>();
      const answer = (await context.answer?.(chatId, messageId)) ?? null;
      if (answer === null || isAnswerComplete(answer, isStopped)) return answer;
      isStopped = answer.outcome === 'stopped';
      turnId = answer.turnId;
      if (shown !== undefined && shown.turnId === turnId) onText(shown.text);
      if (signal.aborted) return null;
      const pause = sleep(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(
        () => undefined,
      );
      await Promise.race([wake.promise, pause]);
    }
  } finally {
    unwatch();
  }
}

/**
 * Whether the answer is complete. The text of a stopped answer is stored shortly after the stop.
 */
function isAnswerComplete(
  { outcome, isSuspended, parts }: MessageAnswer,
  wasStopped: boolean,
): boolean {
  if (outcome === null && !isSuspended) return false;
  if (outcome === 'stopped' && parts.length === 0) return wasStopped;
  return parts.every(({ isSent }) => isSent);
}
