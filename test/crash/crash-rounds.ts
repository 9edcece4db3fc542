import { setTimeout as sleep } from 'node:timers/promises';
import type { Kill } from './kill.ts';
import type { Side } from './side.ts';
import { endedParts, unfinished } from './stored.ts';
import { addTallies, NOTHING, type Tally, tallyChat } from './tally.ts';
import type { Order } from './victim-order.ts';
import { startVictim, type Victim } from './victim-process.ts';
import { tellsUncertainty } from './words.ts';

/** A kill that people's questions do not lead to is tried with so many bursts more. */
const MOST_BURSTS = 8;
const QUESTIONS_IN_BURST = 3;
const BETWEEN_QUESTIONS_MS = 15;
const LOOK_EVERY_MS = 30;
/** When nothing moves any more, what is missing is lost. */
const PATIENCE_MS = 30_000;

/** The lives of Parley on one data folder: killed while people ask, started again at once. */
export class CrashRounds {
  readonly #folder: string;
  readonly #side: Side;
  readonly #onRequest: (listener: () => void) => void;
  #victim: Victim | undefined;
  #kills = 0;
  /** Per chat, the uncertain parts told in each round; more than its kills is more than promised. */
  #told = new Map<string, number>();
  #beyondPromise = 0;

  /** `onRequest` takes what is to be called at each request to the model. */
  constructor(folder: string, side: Side, onRequest: (listener: () => void) => void) {
    this.#folder = folder;
    this.#side = side;
    this.#onRequest = onRequest;
  }

  /** One kill, or a few in a row, and the rest after it. */
  async round(kill: Kill): Promise<void> {
    const before = this.#kills;
    if (kill.kind === 'start-up') await this.#killStarts(kill.afterMs);
    else await this.#killAtWork(kill);
    await this.#rest();
    await this.#compareTold(this.#kills - before);
  }

  /** Ends the last life in order and counts. */
  async count(again: number): Promise<Tally> {
    const chats = await this.#side.look();
    await this.#victim?.end();
    this.#victim = undefined;
    const ended = endedParts(this.#folder);
    const perChat = chats.map((chat) => tallyChat(chat, ended));
    const own = { kills: this.#kills, askedAgain: again, beyondPromise: this.#beyondPromise };
    return perChat.reduce(addTallies, { ...NOTHING, ...own });
  }

  /** Leaves no process behind, however the series went. */
  abandon(): void {
    this.#victim?.kill();
  }

  async #killAtWork(kill: Exclude<Kill, { kind: 'start-up' }>): Promise<void> {
    const victim = this.#victim ?? this.#start();
    await Promise.race([victim.ready, victim.dead]);
    await this.#prepare(kill, victim);
    await this.#askUntilDead(victim, () => {
      if (kill.kind === 'moment') setTimeout(victim.kill, kill.afterMs);
    });
    this.#onRequest(() => {});
    // While nobody is there.
    this.#side.askAll();
    const again = kill.kind === 'point' && kill.again ? { point: kill.point, nth: 1 } : undefined;
    const next = this.#start(again);
    if (again === undefined) return;
    await this.#askUntilDead(next, () => {});
    this.#start();
  }

  /** Not all of what people ask passes the point that the victim waits for, so they ask again. */
  async #askUntilDead(victim: Victim, onBurst: () => void): Promise<void> {
    for (let burst = 0; victim.isAlive(); burst += 1) {
      if (burst === MOST_BURSTS) throw new Error('People asked and asked, but nobody died.');
      onBurst();
      await this.#burst();
      await Promise.race([victim.dead, this.#rest(() => !victim.isAlive())]);
    }
    this.#kills += 1;
  }

  async #prepare(kill: Kill, victim: Victim): Promise<void> {
    if (kill.kind === 'point') await victim.arm({ point: kill.point, nth: kill.nth });
    if (kill.kind !== 'thinking') return;
    let left = kill.nth;
    this.#onRequest(() => {
      left -= 1;
      if (left === 0) victim.kill();
    });
  }

  async #killStarts(afterMs: readonly number[]): Promise<void> {
    if (this.#victim !== undefined) {
      this.#victim.kill();
      await this.#victim.dead;
      this.#kills += 1;
    }
    for (const ms of afterMs) {
      this.#side.askAll();
      const victim = this.#start();
      await sleep(ms);
      victim.kill();
      await victim.dead;
      this.#kills += 1;
    }
    this.#start();
  }

  #start(armed?: Order): Victim {
    this.#victim = startVictim(this.#folder, armed);
    return this.#victim;
  }

  async #burst(): Promise<void> {
    for (let asked = 0; asked < QUESTIONS_IN_BURST; asked += 1) {
      this.#side.askAll();
      await sleep(BETWEEN_QUESTIONS_MS);
    }
  }

  /** Waits until everything is handed over and done, or `enough`; gives up when it takes too long. */
  async #rest(enough = () => false): Promise<void> {
    const victim = this.#victim;
    const until = Date.now() + PATIENCE_MS;
    await Promise.race([victim?.ready, victim?.dead]);
    while (!enough() && Date.now() < until) {
      if (this.#side.handedOver() && unfinished(this.#folder) === 0) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #compareTold(kills: number): Promise<void> {
    for (const { chatId, texts } of await this.#side.look()) {
      const told = texts.filter(tellsUncertainty).length;
      const inRound = told - (this.#told.get(chatId) ?? 0);
      this.#beyondPromise += Math.max(0, inRound - kills);
      this.#told.set(chatId, told);
    }
  }
}
