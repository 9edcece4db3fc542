import { createHash } from 'node:crypto';
import type { StreamingFacet } from '@parley/channels';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import { threadOf } from './place.ts';
import type { TelegramApi } from './telegram-api.ts';

/** What drafts need. */
export interface DraftsDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** Streaming by drafts, and what a final message has to wait for. */
export interface Drafts extends StreamingFacet {
  /** No draft of this turn is shown any more: its answer is about to be sent. */
  finish(turnId: string): Promise<void>;
}

/** A draft that takes longer is of no use, and its answer waits for it. In ms. */
const DRAFT_TIMEOUT_MS = 5_000;
/** Turns that are over; remembered for as long as an update could still come. */
const REMEMBERED = 1_000;

/**
 * Shows a growing answer as a draft: private chats only, gone 30 s after the last update or when a
 * message comes, so nothing of it has to be taken back. A draft is one message, so of a long answer
 * the part that is being written is shown. A server that knows no drafts is asked once.
 */
export function createDrafts({ api, log, clock, stopping }: DraftsDeps): Drafts {
  const underWay = new Map<string, Promise<void>>();
  const over = new Set<string>();
  let known = true;
  let notBefore = 0;

  const show = async (
    chatId: string,
    threadId: string | undefined,
    turnId: string,
    text: string,
  ) => {
    const draft = { chat_id: chatId, draft_id: draftId(turnId), text, parse_mode: 'HTML' };
    const limit = AbortSignal.any([stopping, AbortSignal.timeout(DRAFT_TIMEOUT_MS)]);
    try {
      await api.call('sendMessageDraft', { ...draft, ...threadOf(threadId) }, limit);
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused') throw thrown;
      if (failure.code === 404) known = false;
      else if (failure.code === 429) notBefore = clock() + (failure.retryAfterMs ?? 5_000);
      else remember(over, turnId);
      log.debug({ chat: chatId, reason: failure.reason }, 'draft not shown');
    }
  };

  const finish = async (turnId: string): Promise<void> => {
    remember(over, turnId);
    await underWay.get(turnId)?.catch((error: unknown) => {
      log.debug({ turn: turnId, reason: reasonOf(error) }, 'last draft not shown');
    });
  };

  return {
    minIntervalMs: 1_000,
    async update({ chatId, threadId }, turnId, answer) {
      if (!known || !isPrivate(chatId) || over.has(turnId) || clock() < notBefore) return;
      const { settled, open } = answer.show();
      const text = (open.at(-1) ?? settled.at(-1))?.text;
      if (text === undefined) return;
      const showing = show(chatId, threadId, turnId, text);
      underWay.set(turnId, showing);
      await showing.finally(() => underWay.delete(turnId));
    },
    // A turn that is handed back goes on under the same id, so only its answer ends it.
    end: async () => undefined,
    finish,
  };
}

/** Groups and channels have negative ids. */
function isPrivate(chatId: string): boolean {
  return !chatId.startsWith('-');
}

/** Not zero; the same for all updates of a turn, so that they replace each other. */
function draftId(turnId: string): number {
  return (createHash('sha256').update(turnId).digest().readUInt32BE() >>> 1) + 1;
}

function remember(turns: Set<string>, turnId: string): void {
  turns.add(turnId);
  const [oldest] = turns;
  if (turns.size > REMEMBERED && oldest !== undefined) turns.delete(oldest);
}
