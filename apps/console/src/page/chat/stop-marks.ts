import { type CommandHint, commandIn } from './composer-keys.ts';
import type { Entry } from './conversation.ts';

/** The marks of a stopped turn that repeat another one. */
export interface StopMarks {
  /** Ids of entries that only say what the answer says already: `/stop`, and the notice that it was done. */
  readonly hidden: ReadonlySet<string>;
  /** Place of the last `/stop`; what was stopped before it has its mark. -1: there is none. */
  readonly last: number;
}

/** The end of an answer that was stopped after it had said something. */
const STOPPED_ANSWER = /<em>Stopped\.<\/em><\/p>\s*$/;
const STOPPED_NOTICE = /^<p>Stopped\.<\/p>\s*$/;
/** The notice and the end of the answer are stored one after the other, in either order. */
const NEAR = 2;

/** Finds the marks to leave out, so that stopping an answer leaves one. */
export function stopMarks(entries: readonly Entry[], commands: readonly CommandHint[]): StopMarks {
  const isStop = (entry: Entry): boolean =>
    entry.kind === 'mine' &&
    entry.delivery.kind === 'sent' &&
    commandIn(entry.text, commands) === 'stop';
  const isSaidBeside = (nth: number): boolean =>
    entries
      .slice(Math.max(0, nth - NEAR), nth + NEAR + 1)
      .some((entry) => entry.kind === 'answer' && STOPPED_ANSWER.test(entry.html));
  const isNotice = (entry: Entry, nth: number): boolean =>
    entry.kind === 'answer' &&
    entry.turnId === null &&
    STOPPED_NOTICE.test(entry.html) &&
    isSaidBeside(nth);
  const hidden = entries.filter((entry, nth) => isStop(entry) || isNotice(entry, nth));
  return { hidden: new Set(hidden.map(({ id }) => id)), last: entries.findLastIndex(isStop) };
}
