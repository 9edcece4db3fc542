import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { ChatKey, DeadLetter, DeadLetterWake, Store } from '@parley/store';
import { z } from 'zod';

interface AnyLetter {
  readonly id: number;
  /** In ms. */
  readonly diedAt: number;
  /** Empty where it is not known any more. */
  readonly reason: string;
  /** The chat as people write it: `telegram:501`. */
  readonly chat: string;
  /** Null: Parley sent it by itself. */
  readonly conversationId: string | null;
  /** Whose answer it is, by the name in routes; absent: that is not known. */
  readonly agent?: string;
  readonly settled: DeadLetter['settled'];
}

interface FailedPart extends AnyLetter {
  readonly kind: 'refused' | 'uncertain';
  readonly text: string;
  /** The name of the file that was to come with it; empty where there is none. */
  readonly file: string;
  readonly turnId: string | null;
  /** Which part of its answer, from 1; null for what is no part of an answer. */
  readonly part: number | null;
  /** The current state of its delivery. */
  readonly state: 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';
}

interface UnansweredTurn extends AnyLetter {
  readonly kind: 'unanswered';
  readonly turnId: string;
  /** How many messages there are; perhaps not all are shown. */
  readonly count: number;
  readonly messages: readonly {
    readonly from: string;
    readonly text: string;
    readonly at: number;
  }[];
  /** What the turn had done before it failed: tools may do it again. */
  readonly steps: number;
}

/** A dead letter as operators see it, in JSON. Its texts are private. */
export type ShownDeadLetter = FailedPart | UnansweredTurn;

/** How much of a dead letter is shown. */
export type Extent = 'excerpt' | 'whole';

const LONGEST_EXCERPT = 300;
const MOST_MESSAGES = 3;

/** A dead letter for operators; lists show the beginning of a long one. */
export function shownDeadLetter(
  letter: DeadLetter,
  extent: Extent,
  nameOf: (conversationId: string) => string,
): ShownDeadLetter {
  const { id, diedAt, settled, conversationId } = letter;
  const agent = conversationId !== null && { agent: nameOf(conversationId) };
  const common = {
    id,
    diedAt,
    settled,
    conversationId,
    reason: letter.reason ?? '',
    chat: chatOf(letter),
    ...agent,
  };
  const cut = (text: string) => (extent === 'whole' ? text : excerpt(text));
  if (letter.kind !== 'unanswered') {
    const { kind, turnId, index, state } = letter;
    const part = index === null ? null : index + 1;
    const text = cut(letter.text);
    return { ...common, kind, text, file: letter.file ?? '', turnId, part, state };
  }
  const { kind, turnId, steps } = letter;
  const messages = extent === 'whole' ? letter.messages : letter.messages.slice(0, MOST_MESSAGES);
  return {
    ...common,
    kind,
    turnId,
    steps,
    count: letter.messages.length,
    messages: messages.map(({ from, text, at }) => ({ from, text: cut(text), at })),
  };
}

function chatOf(letter: DeadLetter): string {
  const chat = letter.kind === 'unanswered' ? letter.messages[0]?.chat : letter.chat;
  if (chat !== undefined) return nameOf(chat);
  return letter.kind === 'unanswered' ? letter.conversationId : '';
}

/** Most people have one account of each platform, and never named it. */
function nameOf({ channel, account, chatId }: ChatKey): string {
  return `${account === 'default' ? channel : `${channel}/${account}`}:${chatId}`;
}

function excerpt(text: string): string {
  const letters = [...text];
  return letters.length <= LONGEST_EXCERPT
    ? text
    : `${letters.slice(0, LONGEST_EXCERPT).join('')}…`;
}

const KINDS = ['refused', 'uncertain', 'unanswered'] as const;

/** A page of open dead letters, newest first; `next` is where the page after it begins. */
export interface DeadLetterList {
  readonly letters: readonly ShownDeadLetter[];
  readonly counts: Awaited<ReturnType<Store['deadLetters']['counts']>>;
  readonly next: number | null;
}

const MOST_AT_ONCE = 200;

/**
 * Settles these dead letters, or all of these kinds newer than `after`, the oldest first.
 * `evenTwice`: a person says that what may have arrived may come twice; without it those are left alone.
 */
export const DeadLetterOrder = z.object({
  action: z.enum(['replay', 'drop']),
  letters: z.union([
    z.array(z.int().nonnegative()).min(1).max(MOST_AT_ONCE),
    z.object({
      after: z.int().nonnegative(),
      kinds: z
        .array(z.enum(KINDS))
        .min(1)
        .default([...KINDS]),
    }),
  ]),
  evenTwice: z.boolean().default(false),
});
export type DeadLetterOrder = z.infer<typeof DeadLetterOrder>;

/** The outcome of each dead letter, and where to go on if there are more; null: that was all. */
export interface DeadLetterOutcome {
  readonly results: readonly {
    readonly id: number;
    readonly result: 'replayed' | 'dropped' | 'uncertain' | 'settled' | 'missing';
  }[];
  readonly next: number | null;
}

/** What operators see of dead letters and do about them (D06), on the page and on the command line. */
export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

export interface DeadLetterServiceDeps {
  readonly store: Pick<Store, 'deadLetters'>;
  /** Wakes a lane or a delivery; if that fails, the sweep finds the work. */
  readonly wake: (wake: DeadLetterWake) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whose a conversation is. */
  readonly nameOf: (conversationId: string) => string;
}

export function createDeadLetterService(deps: DeadLetterServiceDeps) {
  const { store, nameOf } = deps;
  const { deadLetters } = store;
  return {
    async list({
      before,
      limit,
    }: {
      readonly before?: number | undefined;
      readonly limit: number;
    }): Promise<DeadLetterList> {
      const found = await deadLetters.open({ before, limit });
      const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
      const letters = found.map((letter) => shownDeadLetter(letter, 'excerpt', nameOf));
      return { letters, counts: await deadLetters.counts(), next };
    },
    async letter(id: number): Promise<ShownDeadLetter | null> {
      const letter = await deadLetters.get(id);
      return letter === null ? null : shownDeadLetter(letter, 'whole', nameOf);
    },
    async settle(order: DeadLetterOrder): Promise<DeadLetterOutcome> {
      const { ids, next } = await lettersOf(deps, order);
      const results: DeadLetterOutcome['results'][number][] = [];
      for (const id of ids) results.push({ id, result: await settleOne(deps, id, order) });
      return { results, next };
    },
  };
}

/** Oldest first, so that the parts of an answer keep their order. */
async function lettersOf(
  { store }: DeadLetterServiceDeps,
  { action, letters, evenTwice }: DeadLetterOrder,
): Promise<{ readonly ids: readonly number[]; readonly next: number | null }> {
  if (Array.isArray(letters)) return { ids: letters.toSorted((a, b) => a - b), next: null };
  const mayBeTwice = action === 'drop' || evenTwice;
  const kinds = letters.kinds.filter((kind) => mayBeTwice || kind !== 'uncertain');
  if (kinds.length === 0) return { ids: [], next: null };
  const ids = await store.deadLetters.openIds(kinds, letters.after, MOST_AT_ONCE);
  return { ids, next: ids.length < MOST_AT_ONCE ? null : (ids.at(-1) ?? null) };
}

async function settleOne(
  { store, wake, clock, log }: DeadLetterServiceDeps,
  id: number,
  { action, evenTwice }: DeadLetterOrder,
): Promise<DeadLetterOutcome['results'][number]['result']> {
  if (action === 'drop') {
    const result = await store.deadLetters.drop(id, clock());
    if (result === 'dropped') log.info({ letter: id }, 'dead letter dropped');
    return result;
  }
  const replay = await store.deadLetters.replay(id, evenTwice ? 'even-twice' : 'once', clock());
  if (replay.kind !== 'replayed') return replay.kind;
  log.info({ letter: id }, 'dead letter replayed');
  await wake(replay.wake).catch((error: unknown) =>
    log.warn({ letter: id, reason: reasonOf(error) }, 'nothing was woken; the sweep finds it'),
  );
  return 'replayed';
}
