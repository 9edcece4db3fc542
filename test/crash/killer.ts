import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomChance } from '../privacy/chance.ts';
import type { Deployment } from './deployment.ts';
import type { SupervisedProcess } from './kept-alive.ts';
import type { Kill, VictimKind } from './kill.ts';

/**
 * People keep asking until the kill has happened, so this timeout only ends a series without
 * progress. In ms.
 */
const TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 10;
/** The deadline for restarting killed processes, in ms. */
const BACK_WITHIN_MS = 180_000;

/** Kills processes and servers of a deployment, which are restarted immediately. */
export class Killer {
  readonly #deployment: Deployment;
  readonly #chance: RandomChance;
  #onRequest = (): void => {};

  constructor(deployment: Deployment, chance: RandomChance) {
    this.#deployment = deployment;
    this.#chance = chance;
  }

  /** Must be called for each model request. */
  requested(): void {
    this.#onRequest();
  }

  /**
   * Performs one kill; resolves with the number of processes that died, once all are running again.
   */
  async run(kill: Kill): Promise<number> {
    const before = this.#kills();
    switch (kill.kind) {
      case 'point':
        await this.#atPoint(kill);
        break;
      case 'takeover':
        await this.#atTakeover(kill.nth);
        break;
      case 'thinking':
        await this.#whileThinking(kill.nth);
        break;
      case 'moment':
        await this.#together(kill.victims, kill.awayMs);
        break;
      case 'start-up':
        await this.#atStart(kill.afterMs);
        break;
    }
    await this.untilUp();
    return this.#kills() - before;
  }

  /** Rejects if a process does not start again. */
  async untilUp(): Promise<void> {
    const { processes } = this.#deployment;
    if (await waitUntil(() => processes.every((one) => one.isReady()), BACK_WITHIN_MS)) return;
    const away = processes.filter((one) => !one.isReady());
    const words = away.flatMap(({ name, failedStarts }) => [name, ...failedStarts.slice(-1)]);
    throw new Error(`Not started again within three minutes: ${words.join('\n')}`);
  }

  #kills(): number {
    const { processes, servers } = this.#deployment;
    return [...processes, ...servers].reduce((sum, { kills }) => sum + kills, 0);
  }

  async #atPoint({ point, nth, again }: Extract<Kill, { kind: 'point' }>): Promise<void> {
    const { processes } = this.#deployment;
    const before = new Map(processes.map((one) => [one, one.kills]));
    const died = () => processes.filter((one) => one.kills > (before.get(one) ?? 0));
    if (again) for (const one of processes) one.armNext({ point, nth: 1 });
    await Promise.all(processes.map((one) => one.tell({ point, nth })));
    await waitUntil(() => died().length > 0, TIMEOUT_MS);
    for (const one of processes) one.armNext(undefined);
    await Promise.all(
      processes.filter((one) => !died().includes(one)).map((one) => one.tell(null)),
    );
    if (!again) return;
    const [second] = died();
    if (second === undefined) return;
    const twice = (before.get(second) ?? 0) + 2;
    await waitUntil(() => second.kills >= twice, TIMEOUT_MS);
    if (second.kills < twice) await second.tell(null);
  }

  async #atTakeover(nth: number): Promise<void> {
    const gateways = this.#deployment.processes.filter(({ role }) => role !== 'worker');
    const order = { point: 'account-taken', nth } as const;
    const kills = () => gateways.reduce((sum, one) => sum + one.kills, 0);
    const before = kills();
    for (const one of gateways) one.armNext(order);
    await Promise.all(gateways.map((one) => one.tell(order)));
    await this.#killOne(this.#chance.pick(gateways));
    await waitUntil(() => kills() >= before + 2, TIMEOUT_MS);
    for (const one of gateways) one.armNext(undefined);
    await Promise.all(gateways.map((one) => one.tell(null)));
  }

  async #whileThinking(nth: number): Promise<void> {
    const workers = this.#deployment.processes.filter(({ role }) => role !== 'gateway');
    let left = nth;
    this.#onRequest = () => {
      left -= 1;
    };
    await waitUntil(() => left <= 0, TIMEOUT_MS);
    this.#onRequest = () => {};
    await this.#killOne(this.#chance.pick(workers));
  }

  async #together(victims: readonly VictimKind[], awayMs: number): Promise<void> {
    const { processes, servers } = this.#deployment;
    const left: SupervisedProcess[] = [...processes];
    const dying: Promise<void>[] = [];
    for (const kind of victims) {
      const server = servers.find(({ name }) => name === kind);
      if (server !== undefined) dying.push(server.killFor(awayMs));
      else {
        const role = kind === 'parley' ? 'all' : kind;
        const victim = this.#chance.pick(left.filter((one) => one.role === role));
        left.splice(left.indexOf(victim), 1);
        dying.push(this.#killOne(victim));
      }
    }
    await Promise.all(dying);
  }

  async #atStart(afterMs: readonly number[]): Promise<void> {
    const victim = this.#chance.pick(this.#deployment.processes);
    await this.#killOne(victim);
    for (const ms of afterMs) {
      await sleep(ms);
      await this.#killOne(victim);
    }
  }

  async #killOne(victim: SupervisedProcess): Promise<void> {
    const { kills } = victim;
    victim.kill();
    await waitUntil(() => victim.kills > kills, TIMEOUT_MS);
  }
}

async function waitUntil(look: () => boolean, withinMs: number): Promise<boolean> {
  const limit = Date.now() + withinMs;
  while (!look()) {
    if (Date.now() > limit) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}
