import type { ChatSeen } from './side.ts';
import type { EndedPart } from './stored.ts';
import { judge, type Verdict } from './verdict.ts';
import { stretchesIn, tellsUncertainty } from './words.ts';

/** What became of the questions of a series of kills. */
export interface Tally extends Verdict {
  readonly kills: number;
  readonly questions: number;
  /** Parts of answers of which Parley itself says that it does not know whether they arrived. */
  readonly uncertain: number;
  /** Those of them whose chat was not told; being told twice is no harm. */
  readonly untold: number;
  /** Told more often in one chat than Parley was killed meanwhile. */
  readonly beyondPromise: number;
  /** Parts that were given up as refused; there is no reason for one here. */
  readonly failed: number;
  /** Model calls that repeat an earlier one. */
  readonly askedAgain: number;
}

/** Before anything was counted. */
export const NOTHING: Tally = {
  kills: 0,
  questions: 0,
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  uncertain: 0,
  untold: 0,
  beyondPromise: 0,
  failed: 0,
  askedAgain: 0,
};

/** Counts one chat: what its people see, beside what the store says of parts that did not go through. */
export function tallyChat(chat: ChatSeen, ended: readonly EndedPart[]): Tally {
  const ours = ended.filter(({ chatId }) => chatId === chat.chatId);
  const uncertain = ours.filter(({ state, kind }) => state === 'unknown' && kind === 'answer');
  const told = chat.texts.filter(tellsUncertainty).length;
  return {
    ...NOTHING,
    ...judge({
      asked: chat.asked,
      heard: chat.texts.flatMap(stretchesIn),
      uncertain: uncertain.flatMap(({ text }) => stretchesIn(text)),
    }),
    questions: [...chat.asked.values()].reduce((sum, count) => sum + count, 0),
    uncertain: uncertain.length,
    untold: Math.max(0, uncertain.length - told),
    failed: ours.filter(({ state }) => state === 'failed').length,
  };
}

/** Number by number. */
export function addTallies(one: Tally, other: Tally): Tally {
  return {
    kills: one.kills + other.kills,
    questions: one.questions + other.questions,
    lost: one.lost + other.lost,
    doubled: one.doubled + other.doubled,
    outOfOrder: one.outOfOrder + other.outOfOrder,
    uncertain: one.uncertain + other.uncertain,
    untold: one.untold + other.untold,
    beyondPromise: one.beyondPromise + other.beyondPromise,
    failed: one.failed + other.failed,
    askedAgain: one.askedAgain + other.askedAgain,
  };
}
