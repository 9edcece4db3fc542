import type { DueAttachment } from '@parley/store';

/**
 * The number of messages whose files are fetched concurrently; those of one message are fetched one
 * after another.
 */
const AT_ONCE = 4;
/** The number of concurrent messages per person who is not an owner. */
const AT_ONCE_OF_PERSON = 2;
/** The number of additional messages for owners, who never wait for other people's files. */
const MORE_FOR_OWNERS = 2;

type FetchCandidate = Pick<DueAttachment, 'messageSeq' | 'person' | 'fromOwner'>;

/** When the last file of each person with waiting or running fetches was started. */
export interface FetchTurnTracker {
  /** 0 for people for whom no file has been started. */
  of(person: string): number;
  take(person: string): void;
  /** Removes everyone without waiting or running fetches. */
  keepOnly(people: ReadonlySet<string>): void;
}

export function createFetchTurnTracker(): FetchTurnTracker {
  const last = new Map<string, number>();
  let count = 0;
  return {
    of: (person) => last.get(person) ?? 0,
    take(person) {
      count += 1;
      last.set(person, count);
    },
    keepOnly(people) {
      for (const person of last.keys()) if (!people.has(person)) last.delete(person);
    },
  };
}

/**
 * Chooses which files to fetch next (G19): owners' files first, then one file per person in turn,
 * however many each has sent. In `due`, each person's oldest file comes first. Changes only
 * `turns`.
 */
export function chooseFetches<One extends FetchCandidate>(
  due: readonly One[],
  running: readonly FetchCandidate[],
  turns: FetchTurnTracker,
): readonly One[] {
  turns.keepOnly(new Set([...running, ...due].map(({ person }) => person)));
  const under = [...running];
  const chosen: One[] = [];
  for (;;) {
    const [next] = due
      .filter((one) => canStartFetch(one, under))
      .toSorted(
        (one, other) =>
          Number(other.fromOwner) - Number(one.fromOwner) ||
          turns.of(one.person) - turns.of(other.person),
      );
    if (next === undefined) return chosen;
    turns.take(next.person);
    under.push(next);
    chosen.push(next);
  }
}

function canStartFetch(one: FetchCandidate, running: readonly FetchCandidate[]): boolean {
  if (running.some(({ messageSeq }) => messageSeq === one.messageSeq)) return false;
  if (one.fromOwner) return running.length < AT_ONCE + MORE_FOR_OWNERS;
  const own = running.filter(({ person }) => person === one.person);
  return own.length < AT_ONCE_OF_PERSON && running.length < AT_ONCE;
}
