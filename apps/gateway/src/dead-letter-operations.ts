import {
  type Clock,
  defineChangeOperation,
  defineReadOperation,
  getConversationAgent,
  type WakeServices,
  wakeIfPossible,
} from '@parley/core';
import type { ChatKey, DeadLetter, DeadLetterWake, Store } from '@parley/store';
import { z } from 'zod';

interface DeadLetterFields {
  readonly id: number;
  /** The time of the failure, in ms since 1970. */
  readonly diedAt: number;
  /** The reason for the failure; empty if it is no longer known. */
  readonly reason: string;
  /** The chat as people write it, such as `telegram:501`. */
  readonly chat: string;
  /** The conversation; null if Parley sent the message on its own initiative. */
  readonly conversationId: string | null;
  /** The answering agent's name in `routes`; absent if unknown. */
  readonly agent?: string;
  readonly settled: DeadLetter['settled'];
}

interface FailedPart extends DeadLetterFields {
  readonly kind: 'refused' | 'uncertain';
  readonly text: string;
  /** The name of the part's file; empty if the part has no file. */
  readonly file: string;
  readonly turnId: string | null;
  /**
   * The number of the part within its answer, starting at 1; null if it is not part of an answer.
   */
  readonly part: number | null;
  /** The part's current delivery state. */
  readonly state: 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';
}

interface UnansweredTurn extends DeadLetterFields {
  readonly kind: 'unanswered';
  readonly turnId: string;
  /** The total number of messages, including those that are not shown. */
  readonly count: number;
  readonly messages: readonly {
    readonly from: string;
    readonly text: string;
    readonly at: number;
  }[];
  /**
   * The number of steps that the turn had completed when it failed. A replay may repeat the tool
   * calls in these steps.
   */
  readonly steps: number;
}

/** A dead letter as shown to operators, in JSON. A dead letter's text is private. */
export type DeadLetterDetails = FailedPart | UnansweredTurn;

const MAX_EXCERPT = 300;
const MAX_MESSAGES = 3;

/** Lists contain only the beginning of it. */
function toDeadLetterDetails(
  letter: DeadLetter,
  extent: 'excerpt' | 'whole',
  defaultAgent: string,
): DeadLetterDetails {
  const { id, diedAt, settled, conversationId } = letter;
  const agent = conversationId !== null && {
    agent: getConversationAgent(conversationId) ?? defaultAgent,
  };
  const common = {
    id,
    diedAt,
    settled,
    conversationId,
    reason: letter.reason ?? '',
    chat: getLetterChat(letter),
    ...agent,
  };
  const cut = (text: string) => (extent === 'whole' ? text : shortenText(text));
  if (letter.kind !== 'unanswered') {
    const { kind, turnId, index, state } = letter;
    const part = index === null ? null : index + 1;
    const text = cut(letter.text);
    return { ...common, kind, text, file: letter.file ?? '', turnId, part, state };
  }
  const { kind, turnId, steps } = letter;
  const messages = extent === 'whole' ? letter.messages : letter.messages.slice(0, MAX_MESSAGES);
  return {
    ...common,
    kind,
    turnId,
    steps,
    count: letter.messages.length,
    messages: messages.map(({ from, text, at }) => ({ from, text: cut(text), at })),
  };
}

function getLetterChat(letter: DeadLetter): string {
  const chat = letter.kind === 'unanswered' ? letter.messages[0]?.chat : letter.chat;
  if (chat !== undefined) return formatChatName(chat);
  return letter.kind === 'unanswered' ? letter.conversationId : '';
}

/** The default account is omitted, because most people have only one account per platform. */
function formatChatName({ channel, account, chatId }: ChatKey): string {
  return `${account === 'default' ? channel : `${channel}/${account}`}:${chatId}`;
}

function shortenText(text: string): string {
  const letters = [...text];
  return letters.length <= MAX_EXCERPT ? text : `${letters.slice(0, MAX_EXCERPT).join('')}…`;
}

interface DeadLetterOperationDeps extends WakeServices<DeadLetterWake> {
  readonly store: Pick<Store, 'deadLetters'>;
  readonly clock: Clock;
  readonly defaultAgent: string;
}

const KINDS = ['refused', 'uncertain', 'unanswered'] as const;
const MAX_LISTED = 50;
const MAX_AT_ONCE = 200;
const Id = z.int().nonnegative();
const FromQuery = z.coerce.number<number | string>().int().nonnegative();

const Order = {
  action: z.enum(['replay', 'drop']),
  /** The dead letters to act on, or all dead letters of the given kinds after `after`. */
  letters: z.union([
    z.array(Id).min(1).max(MAX_AT_ONCE),
    z.object({
      after: Id,
      kinds: z
        .array(z.enum(KINDS))
        .min(1)
        .default([...KINDS]),
    }),
  ]),
  /** Whether to resend message parts that may have arrived already; otherwise they are skipped. */
  evenTwice: z.boolean().default(false),
};
type DeadLetterRequest = z.output<z.ZodObject<typeof Order>>;

/** Operations on messages that failed (D06); they contain private text. */
export const operations = {
  list: defineReadOperation(
    'List open dead letters, newest first; pass `next` as `before` to get the next page',
    { before: FromQuery.optional(), limit: FromQuery.min(1).max(MAX_LISTED).default(MAX_LISTED) },
    async (
      { store: { deadLetters }, defaultAgent }: DeadLetterOperationDeps,
      { before, limit },
    ) => {
      const found = await deadLetters.open({ before, limit });
      const letters = found.map((letter) => toDeadLetterDetails(letter, 'excerpt', defaultAgent));
      const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
      return { letters, counts: await deadLetters.counts(), next };
    },
  ),
  show: defineReadOperation(
    'Show one dead letter in full; null if it does not exist',
    { id: FromQuery },
    async ({ store, defaultAgent }: DeadLetterOperationDeps, { id }) => {
      const letter = await store.deadLetters.get(id);
      return { letter: letter && toDeadLetterDetails(letter, 'whole', defaultAgent) };
    },
  ),
  settle: defineChangeOperation(
    'Replay or drop dead letters, oldest first; `next` shows where to continue and is null when all are done',
    Order,
    async (needs: DeadLetterOperationDeps, order) => {
      const { ids, next } = await listLettersToSettle(needs, order);
      const results: { readonly id: number; readonly result: SettleResult }[] = [];
      for (const id of ids) results.push({ id, result: await settleDeadLetter(needs, id, order) });
      return { results, next };
    },
  ),
};

/** The dead letters are sorted oldest first, so that the parts of an answer keep their order. */
async function listLettersToSettle(
  { store }: DeadLetterOperationDeps,
  { action, letters, evenTwice }: DeadLetterRequest,
): Promise<{ readonly ids: readonly number[]; readonly next: number | null }> {
  if (Array.isArray(letters)) return { ids: letters.toSorted((a, b) => a - b), next: null };
  const mayBeTwice = action === 'drop' || evenTwice;
  const kinds = letters.kinds.filter((kind) => mayBeTwice || kind !== 'uncertain');
  if (kinds.length === 0) return { ids: [], next: null };
  const ids = await store.deadLetters.openIds(kinds, letters.after, MAX_AT_ONCE);
  return { ids, next: ids.length < MAX_AT_ONCE ? null : (ids.at(-1) ?? null) };
}

type SettleResult = 'replayed' | 'dropped' | 'uncertain' | 'settled' | 'missing';

async function settleDeadLetter(
  needs: DeadLetterOperationDeps,
  id: number,
  { action, evenTwice }: DeadLetterRequest,
): Promise<SettleResult> {
  const { store, clock, log } = needs;
  if (action === 'drop') {
    const result = await store.deadLetters.drop(id, clock());
    if (result === 'dropped') log.info({ letter: id }, 'dead letter dropped');
    return result;
  }
  const replay = await store.deadLetters.replay(id, evenTwice ? 'even-twice' : 'once', clock());
  if (replay.kind !== 'replayed') return replay.kind;
  log.info({ letter: id }, 'dead letter replayed');
  await wakeIfPossible(needs, replay.wake);
  return 'replayed';
}
