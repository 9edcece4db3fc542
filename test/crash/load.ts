import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../privacy/chance.ts';
import type { Side } from './side.ts';
import type { Question } from './words.ts';

/** Questions one person asks in a row. */
const LONGEST_BURST = 4;
const PAUSE_MS = 5;
const LOOK_AGAIN_MS = 20;

/** What a load is. */
export interface LoadOptions {
  readonly sides: readonly Side[];
  readonly chance: Chance;
  /** People stop to ask while so many questions have not reached the model. */
  readonly mostWaiting: number;
}

/** People of all channels who ask, in bursts, whether anybody is there or not. */
export class Load {
  readonly #options: LoadOptions;
  readonly #asked = new Map<number, number>();
  readonly #sideOf = new Map<number, Side>();
  readonly #senders: readonly number[];
  /** Questions that the model was asked, by name. */
  readonly #heard = new Set<string>();
  #total = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    for (const side of options.sides) {
      for (const sender of side.senders) this.#sideOf.set(sender, side);
    }
    this.#senders = [...this.#sideOf.keys()];
  }

  /** How many questions each person has asked. */
  get asked(): ReadonlyMap<number, number> {
    return this.#asked;
  }

  get total(): number {
    return this.#total;
  }

  /** Questions that the model has not been asked yet. */
  get waiting(): number {
    return this.#total - this.heard;
  }

  /** Questions that the model has been asked. */
  get heard(): number {
    return this.#heard.size;
  }

  /** The model was asked these. */
  hear(questions: readonly Question[]): void {
    for (const { sender, number } of questions) this.#heard.add(`${sender}-${number}`);
  }

  /** Everybody asks one more. */
  async askAll(): Promise<void> {
    for (const sender of this.#senders) await this.#ask(sender);
  }

  /** People ask, somebody a few questions at a time, until `enough`. */
  async askUntil(enough: () => boolean): Promise<void> {
    const { chance } = this.#options;
    while (!enough()) {
      const sender = chance.pick(this.#senders);
      for (let left = 1 + chance.below(LONGEST_BURST); left > 0; left -= 1) await this.#ask(sender);
    }
  }

  async #ask(sender: number): Promise<void> {
    while (this.waiting >= this.#options.mostWaiting) await sleep(LOOK_AGAIN_MS);
    const number = (this.#asked.get(sender) ?? 0) + 1;
    this.#asked.set(sender, number);
    this.#total += 1;
    this.#sideOf.get(sender)?.ask({ sender, number });
    await sleep(PAUSE_MS);
  }
}
