import { type CrashableWork, type CrashCounts, NO_ENDS } from '@parley/core';
import { z } from 'zod';

/** The record that an ended process left behind. */
export interface EndedProcess {
  /** The work in progress when the process ended, keyed by its number. */
  readonly inProgress: ReadonlyMap<number, CrashableWork>;
  /** How often work has ended earlier processes, keyed by `toWorkName`. */
  readonly ends: ReadonlyMap<string, DatedCrashCounts>;
  /** Set if the event loop was blocked when the process ended. */
  readonly stall?: StalledWork;
}

/** `at` is the time (ms since 1970) of the last counted end. */
export interface DatedCrashCounts extends CrashCounts {
  readonly at: number;
}

/**
 * What the main thread was running: the number of the work, null if there was none, or undefined if
 * the main thread could not answer.
 */
export interface StalledWork {
  readonly work: number | null | undefined;
  readonly stack: string | undefined;
}

/** The work that is blamed for the end of a process. */
export interface SuspectWork {
  readonly hung: readonly CrashableWork[];
  readonly died: readonly CrashableWork[];
}

export function toWorkName({ kind, key }: CrashableWork): string {
  return `${kind} ${key}`;
}

const Kind = z.enum(['ingress', 'claim', 'turn']);

/**
 * A line in the record: work that starts (+) or completes (-), a count of earlier ends, or an entry
 * by the watchdog's thread.
 */
const Line = z.union([
  z.tuple([z.literal('+'), z.int(), Kind, z.string()]),
  z.tuple([z.literal('-'), z.int()]),
  z.tuple([z.literal('ends'), z.string(), z.int(), z.int(), z.number()]),
  z.tuple([z.literal('cleared'), z.string()]),
  z.tuple([z.literal('still'), z.string().nullable()]),
  z.tuple([z.literal('moves')]),
]);
export type RecordLine = z.infer<typeof Line>;

/**
 * Parses the record of a process. Truncated lines are skipped, because their content is unknown.
 */
export function parseProcessRecord(text: string): EndedProcess {
  const inProgress = new Map<number, CrashableWork>();
  const ends = new Map<string, DatedCrashCounts>();
  let stall: StalledWork | undefined;
  for (const line of text.split('\n').flatMap((each) => parseRecordLine(each) ?? [])) {
    switch (line[0]) {
      case '+':
        inProgress.set(line[1], { kind: line[2], key: line[3] });
        break;
      case '-':
        inProgress.delete(line[1]);
        break;
      case 'ends':
        ends.set(line[1], { hangs: line[2], deaths: line[3], at: line[4] });
        break;
      case 'cleared':
        ends.delete(line[1]);
        break;
      case 'still':
        stall = parseStall(line[1]);
        break;
      case 'moves':
        stall = undefined;
    }
  }
  return { inProgress, ends, ...(stall && { stall }) };
}

/** Parses a line in the record; returns an array with one line for `flatMap`, or undefined. */
function parseRecordLine(text: string): readonly [RecordLine] | undefined {
  const line = text === '' ? undefined : Line.safeParse(parseRecordJson(text)).data;
  return line && [line];
}

const Answer = z.object({ work: z.int().nullable(), stack: z.string() });

function parseStall(answer: string | null): StalledWork {
  const read = answer === null ? undefined : Answer.safeParse(parseRecordJson(answer)).data;
  return { work: read?.work, stack: read?.stack };
}

function parseRecordJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Decides which work to blame for the end of a process. After a hang, the work that the main thread
 * was running is blamed. If the main thread could not answer, every turn in progress is blamed,
 * because only turns run code from plugins and programs. If there was no turn, all work in progress
 * is blamed. If a process was killed or crashed, all work in progress is blamed, because any of it
 * may have exhausted the memory.
 */
export function findSuspectWork({ inProgress, stall }: EndedProcess): SuspectWork {
  const all = [...inProgress.values()];
  if (stall === undefined) return { hung: [], died: all };
  const { work } = stall;
  if (work === undefined) {
    const turns = all.filter(({ kind }) => kind === 'turn');
    return { hung: turns.length > 0 ? turns : all, died: [] };
  }
  // With null, or with the number of completed work, nothing is blamed: the code that blocked the
  // loop will not be started again.
  const running = work === null ? undefined : inProgress.get(work);
  return { hung: running === undefined ? [] : [running], died: [] };
}

/** How long (ms) unchanged counts are kept. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
const MAX_COUNTED = 1_000;

/**
 * Returns the updated counts after a process has ended, newest last. Turns are not included,
 * because the database counts them.
 */
export function updateCrashCounts(
  ended: EndedProcess,
  now: number,
): ReadonlyMap<string, DatedCrashCounts> {
  const counts = new Map(ended.ends);
  const add = (work: CrashableWork, end: keyof CrashCounts): void => {
    if (work.kind === 'turn') return;
    const name = toWorkName(work);
    const { hangs, deaths } = counts.get(name) ?? NO_ENDS;
    const more = { hangs, deaths, at: now };
    more[end] += 1;
    counts.delete(name);
    counts.set(name, more);
  };
  const { hung, died } = findSuspectWork(ended);
  for (const work of hung) add(work, 'hangs');
  for (const work of died) add(work, 'deaths');
  const kept = [...counts].filter(([, { at }]) => now - at < KEPT_MS);
  return new Map(kept.slice(-MAX_COUNTED));
}
