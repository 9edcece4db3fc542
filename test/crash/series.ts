import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startModelDouble } from '../model/index.ts';
import type { Kill } from './kill.ts';
import type { Side } from './side.ts';
import { endedParts, unfinished } from './stored.ts';
import { addTallies, NOTHING, type Tally, tallyChat } from './tally.ts';
import type { Order } from './victim-order.ts';
import { startVictim, type Victim } from './victim-process.ts';
import { replyTo, tellsUncertainty } from './words.ts';

/** What a series of rounds runs on. */
export interface SeriesOptions {
  /** Empty or absent; afterwards it holds what Parley left there. */
  readonly folder: string;
  readonly openSide: (folder: string) => Promise<Side>;
  readonly kills: readonly Kill[];
}

/** Short, so that bursts become several turns, and long enough to be killed in. */
const THINKING_MS = 40;
const BETWEEN_QUESTIONS_MS = 15;
const LOOK_EVERY_MS = 30;
/** When nothing moves any more, what is missing is lost. */
const PATIENCE_MS = 30_000;
/** A kill that a burst does not come to is tried with so many more. */
const MOST_BURSTS = 8;

/**
 * Kills Parley once or more in each round while people ask, lets it come to rest after each round,
 * ends it in order and counts what became of every question.
 */
export async function runSeries(options: SeriesOptions): Promise<Tally> {
  mkdirSync(options.folder, { recursive: true });
  const side = await options.openSide(options.folder);
  const requests = new Map<string, number>();
  let replies = 0;
  let onRequest = (): void => {};
  const model = await startModelDouble({
    latencyMs: THINKING_MS,
    reply(request) {
      replies += 1;
      const reply = replyTo(request, replies);
      const [, asked = ''] = / to (.*?) ok/.exec(reply) ?? [];
      requests.set(asked, (requests.get(asked) ?? 0) + 1);
      onRequest();
      return reply;
    },
  });
  writeSettings(options.folder, side, model.baseUrl);
  const crash = new CrashRounds(options.folder, side, (listener) => {
    onRequest = listener;
  });
  try {
    for (const kill of options.kills) await crash.round(kill);
    return await crash.count(askedAgain(requests));
  } finally {
    crash.abandon();
    await Promise.all([side.close(), model.close()]);
  }
}

class CrashRounds {
  readonly #folder: string;
  readonly #side: Side;
  readonly #onRequest: (listener: () => void) => void;
  #victim: Victim | undefined;
  #kills = 0;
  /** Per chat, the uncertain parts told in each round; more than its kills is more than promised. */
  #told = new Map<string, number>();
  #beyondPromise = 0;

  constructor(folder: string, side: Side, onRequest: (listener: () => void) => void) {
    this.#folder = folder;
    this.#side = side;
    this.#onRequest = onRequest;
  }

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
    let dead = false;
    const death = victim.dead.then(() => {
      dead = true;
    });
    for (let burst = 0; !dead; burst += 1) {
      if (burst === MOST_BURSTS) throw new Error(`Never came to ${JSON.stringify(kill)}.`);
      if (kill.kind === 'moment') setTimeout(victim.kill, kill.afterMs);
      await this.#burst(3);
      await Promise.race([death, this.#rest(() => dead)]);
    }
    this.#onRequest(() => {});
    this.#kills += 1;
    // While nobody is there.
    this.#side.askAll();
    const again = kill.kind === 'point' && kill.again ? { point: kill.point, nth: 1 } : undefined;
    const next = this.#start(again);
    if (again === undefined) return;
    await this.#deathOf(next, again);
  }

  async #deathOf(victim: Victim, order: Order): Promise<void> {
    let dead = false;
    const death = victim.dead.then(() => {
      dead = true;
    });
    for (let burst = 0; !dead; burst += 1) {
      if (burst === MOST_BURSTS) throw new Error(`Never came to ${JSON.stringify(order)}.`);
      await Promise.race([death, this.#rest(() => dead)]);
      if (!dead) await this.#burst(1);
    }
    this.#kills += 1;
    this.#start();
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

  async #burst(questions: number): Promise<void> {
    for (let asked = 0; asked < questions; asked += 1) {
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

/** Requests about the same questions as an earlier one: what crashes cost in model calls. */
function askedAgain(requests: ReadonlyMap<string, number>): number {
  return [...requests.values()].reduce((sum, times) => sum + times - 1, 0);
}

function writeSettings(folder: string, side: Side, modelUrl: string): void {
  const settings = {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: side.settings,
    lanes: { collectPauseMs: 30 },
    http: { port: 0 },
    log: { level: 'warn', format: 'json' },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(settings));
}
