import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomChance } from '../privacy/chance.ts';
import type { CrashSide } from './side.ts';
import type { Question } from './words.ts';

/** The maximum number of questions that one person asks in a row. */
const MAX_BURST = 4;
/**
 * The maximum number of one person's waiting questions; a conversation accepts 50, including those
 * in progress.
 */
const MAX_OF_ONE = 12;
/** The maximum number of waiting questions per person, on average over all people of a channel. */
const MAX_ON_AVERAGE = 6;
const PAUSE_MS = 5;
const RECHECK_MS = 20;

export interface LoadOptions {
  readonly sides: readonly CrashSide[];
  readonly chance: RandomChance;
  /**
   * The people of a channel stop asking while this many of their questions have not reached the
   * model.
   */
  readonly mostWaiting: number;
  /** The pause between two bursts, in ms. */
  readonly pauseMs: number;
}

/** People on all channels, who ask in bursts whether or not any process is running. */
export class QuestionLoad {
  readonly #options: LoadOptions;
  readonly #asked = new Map<number, number>();
  /** Questions that have not reached the model, by side and name. */
  readonly #waiting: ReadonlyMap<CrashSide, Set<string>>;
  #total = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#waiting = new Map(options.sides.map((side) => [side, new Set()]));
  }

  /** The number of questions that each person has asked. */
  get asked(): ReadonlyMap<number, number> {
    return this.#asked;
  }

  get total(): number {
    return this.#total;
  }

  /** The number of questions that have not reached the model yet. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Records the questions that reached the model. */
  hear(questions: readonly Question[]): void {
    for (const names of this.#waiting.values()) {
      for (const question of questions) names.delete(formatQuestionName(question));
    }
  }

  /** Lets everyone ask one more question. */
  async askAll(): Promise<void> {
    for (const side of this.#options.sides) {
      for (const sender of side.senders) await this.#ask(side, sender);
    }
  }

  /** Lets random people ask a few questions at a time, until `enough` returns true. */
  async askUntil(enough: () => boolean): Promise<void> {
    const { sides, chance, mostWaiting, pauseMs } = this.#options;
    while (!enough()) {
      const free = sides.filter((side) => {
        const most = Math.min(mostWaiting, side.senders.length * MAX_ON_AVERAGE);
        return (this.#waiting.get(side)?.size ?? 0) < most;
      });
      if (free.length === 0) await sleep(RECHECK_MS);
      else {
        const side = pickSide(free, chance);
        const sender = chance.pick(side.senders);
        const burst = this.#waitingOf(side, sender) < MAX_OF_ONE ? MAX_BURST : 0;
        for (let left = chance.below(burst + 1); left > 0; left -= 1) await this.#ask(side, sender);
        await sleep(pauseMs);
      }
    }
  }

  #waitingOf(side: CrashSide, sender: number): number {
    const names = this.#waiting.get(side) ?? [];
    return [...names].filter((name) => name.startsWith(`${sender}-`)).length;
  }

  async #ask(side: CrashSide, sender: number): Promise<void> {
    const number = (this.#asked.get(sender) ?? 0) + 1;
    this.#asked.set(sender, number);
    this.#total += 1;
    this.#waiting.get(side)?.add(formatQuestionName({ sender, number }));
    side.ask({ sender, number });
    await sleep(PAUSE_MS);
  }
}

/** A side with twice as many people is chosen twice as often. */
function pickSide(sides: readonly CrashSide[], chance: RandomChance): CrashSide {
  const people = sides.reduce((sum, { senders }) => sum + senders.length, 0);
  let nth = chance.below(people);
  for (const side of sides) {
    if (nth < side.senders.length) return side;
    nth -= side.senders.length;
  }
  throw new Error('There is nobody to ask.');
}

function formatQuestionName({ sender, number }: Question): string {
  return `${sender}-${number}`;
}
