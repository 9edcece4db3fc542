import { type CommandHint, findCommand } from './composer-keys.ts';
import type { ConversationEntry } from './conversation.ts';

/** Marks of stopped turns that are redundant. */
export interface StopMarks {
  /**
   * The ids of entries that repeat what the answer already shows: `/stop`, and the notice that
   * confirms it.
   */
  readonly hidden: ReadonlySet<string>;
  /**
   * Index of the last `/stop`, or -1. Answers that were stopped before the last `/stop` already
   * have their own mark.
   */
  readonly last: number;
}

/** Matches the end of an answer that was stopped midway. */
const STOPPED_ANSWER = /<em>Stopped\.<\/em><\/p>\s*$/;
const STOPPED_NOTICE = /^<p>Stopped\.<\/p>\s*$/;
/**
 * The maximum distance between the notice and the end of the answer, which are stored in quick
 * succession in either order.
 */
const NEAR = 2;

/** Finds redundant marks, so that stopping an answer leaves exactly one visible mark. */
export function findStopMarks(
  entries: readonly ConversationEntry[],
  commands: readonly CommandHint[],
): StopMarks {
  const isStop = (entry: ConversationEntry): boolean =>
    entry.kind === 'mine' &&
    entry.delivery.kind === 'sent' &&
    findCommand(entry.text, commands) === 'stop';
  const isSaidBeside = (nth: number): boolean =>
    entries
      .slice(Math.max(0, nth - NEAR), nth + NEAR + 1)
      .some((entry) => entry.kind === 'answer' && STOPPED_ANSWER.test(entry.html));
  const isNotice = (entry: ConversationEntry, nth: number): boolean =>
    entry.kind === 'answer' &&
    entry.turnId === null &&
    STOPPED_NOTICE.test(entry.html) &&
    isSaidBeside(nth);
  const hidden = entries.filter((entry, nth) => isStop(entry) || isNotice(entry, nth));
  return { hidden: new Set(hidden.map(({ id }) => id)), last: entries.findLastIndex(isStop) };
}
