import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { LetterWake, Store } from '@parley/store';
import { z } from 'zod';
import { ShownLetter, shownLetter } from './shown-letter.ts';

const KINDS = ['refused', 'uncertain', 'unanswered'] as const;
const Kind = z.enum(KINDS);

/** A page of letters that nobody has settled, newest first; `next` is where the page after it begins. */
export const DeadList = z.object({
  letters: z.array(ShownLetter),
  counts: z.record(Kind, z.int()),
  next: z.int().nullable(),
});
export type DeadList = z.infer<typeof DeadList>;

const MOST_AT_ONCE = 200;

/**
 * What is to be settled: these letters, or all of these kinds that are newer than `after`, the oldest first.
 * `evenTwice`: a person says that what may have arrived may come twice; without it those are left alone.
 */
export const DeadOrder = z.object({
  action: z.enum(['replay', 'drop']),
  letters: z.union([
    z.array(z.int().nonnegative()).min(1).max(MOST_AT_ONCE),
    z.object({
      after: z.int().nonnegative(),
      kinds: z
        .array(Kind)
        .min(1)
        .default([...KINDS]),
    }),
  ]),
  evenTwice: z.boolean().default(false),
});
export type DeadOrder = z.infer<typeof DeadOrder>;

/** What came of each letter, and where to go on if there are more; null: that was all. */
export const DeadOutcome = z.object({
  results: z.array(
    z.object({
      id: z.int(),
      result: z.enum(['replayed', 'dropped', 'uncertain', 'settled', 'missing']),
    }),
  ),
  next: z.int().nullable(),
});
export type DeadOutcome = z.infer<typeof DeadOutcome>;

/** What operators see of dead letters and do about them (D06), on the page and on the command line. */
export interface DeadDesk {
  list(page: { readonly before?: number | undefined; readonly limit: number }): Promise<DeadList>;
  letter(id: number): Promise<ShownLetter | null>;
  settle(order: DeadOrder): Promise<DeadOutcome>;
}

/** What the desk works with. */
export interface DeadDeskDeps {
  readonly store: Pick<Store, 'deadLetters'>;
  /** Tells a lane or a delivery that there is work; where nobody does, the sweep finds it. */
  readonly wake: (wake: LetterWake) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes the desk. */
export function createDeadDesk(deps: DeadDeskDeps): DeadDesk {
  const { deadLetters } = deps.store;
  return {
    async list({ before, limit }) {
      const found = await deadLetters.open({ before, limit });
      const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
      const letters = found.map((letter) => shownLetter(letter, 'excerpt'));
      return { letters, counts: await deadLetters.counts(), next };
    },
    async letter(id) {
      const letter = await deadLetters.get(id);
      return letter === null ? null : shownLetter(letter, 'whole');
    },
    async settle(order) {
      const { ids, next } = await lettersOf(deps, order);
      const results: DeadOutcome['results'] = [];
      for (const id of ids) results.push({ id, result: await settleOne(deps, id, order) });
      return { results, next };
    },
  };
}

/** In the order in which they died: so the parts of an answer keep theirs. */
async function lettersOf(
  { store }: DeadDeskDeps,
  { action, letters, evenTwice }: DeadOrder,
): Promise<{ readonly ids: readonly number[]; readonly next: number | null }> {
  if (Array.isArray(letters)) return { ids: letters.toSorted((a, b) => a - b), next: null };
  const mayBeTwice = action === 'drop' || evenTwice;
  const kinds = letters.kinds.filter((kind) => mayBeTwice || kind !== 'uncertain');
  if (kinds.length === 0) return { ids: [], next: null };
  const ids = await store.deadLetters.openIds(kinds, letters.after, MOST_AT_ONCE);
  return { ids, next: ids.length < MOST_AT_ONCE ? null : (ids.at(-1) ?? null) };
}

async function settleOne(
  { store, wake, clock, log }: DeadDeskDeps,
  id: number,
  { action, evenTwice }: DeadOrder,
): Promise<DeadOutcome['results'][number]['result']> {
  if (action === 'drop') {
    const result = await store.deadLetters.drop(id, clock());
    if (result === 'dropped') log.info({ letter: id }, 'dead letter dropped');
    return result;
  }
  const replay = await store.deadLetters.replay(id, evenTwice ? 'even-twice' : 'once', clock());
  if (replay.kind !== 'replayed') return replay.kind;
  log.info({ letter: id }, 'dead letter replayed');
  await wake(replay.wake).catch((error: unknown) =>
    log.warn({ letter: id, reason: reasonOf(error) }, 'nobody was woken; the sweep finds it'),
  );
  return 'replayed';
}
