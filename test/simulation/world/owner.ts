import { silentLogger, systemTime } from '@parley/core';
import {
  type OperationName,
  type OperationServices,
  performOperation,
} from '@parley/gateway/operations';
import { openStore, type Store } from '@parley/store';
import type { SimulatedProcess } from '../engine/virtual-time.ts';
import type { Simulation } from '../simulation.ts';
import { serversNow } from './servers-now.ts';

/** How long the page waits for an answer before it asks another gateway, in ms. */
const PATIENCE_MS = 6_000;
/** The delay between a failure and the next attempt, in ms. */
const RETRY_MS = [50, 1_000] as const;
const OWNER = { caller: { name: 'a browser', person: 'Ann', role: 'owner' } } as const;

/**
 * An owner on the page of several gateways, who requests an operation until a gateway has answered,
 * so it may run more than once. Gateways do not have web servers in the simulation, so the
 * operation runs in the gateway's process on a separate database connection, and ends with the
 * process.
 */
export class PageOwner {
  readonly #simulation: Simulation;
  readonly #stores = new WeakMap<SimulatedProcess, Promise<Store>>();
  #unanswered = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Whether an answer is pending. */
  get isWaiting(): boolean {
    return this.#unanswered > 0;
  }

  /**
   * Performs an operation that may be repeated. Waits in the world, so it outlives every process.
   */
  async perform(name: OperationName, input: object): Promise<object> {
    this.#unanswered += 1;
    try {
      for (;;) {
        const answer = await this.#ask(name, input);
        if (answer !== undefined) return answer;
        await this.#wait(this.#simulation.chance('patience').between(...RETRY_MS));
      }
    } finally {
      this.#unanswered -= 1;
    }
  }

  /**
   * Asks one gateway; undefined when it failed, did not answer in time, or no gateway is running.
   */
  #ask(name: OperationName, input: object): Promise<object | undefined> {
    const { time, deployment } = this.#simulation;
    const gateways = [...deployment.running.values()].filter(
      ({ process, role, parley }) => process.alive && role !== 'worker' && parley !== undefined,
    );
    const chosen = this.#simulation.chance(`gateway at ${time.now}`);
    return new Promise((resolve) => {
      time.as(undefined, () => time.plan(PATIENCE_MS, () => resolve(undefined)));
      if (gateways.length === 0) return;
      const { process } = chosen.one(gateways);
      const answered = (answer: object | undefined): void => {
        // The answer is in transit; the page sees it in an event of the world.
        time.as(undefined, () => time.plan(0, () => resolve(answer)));
      };
      time.as(process, () => {
        // A request is a separate event, which is delayed while the process is paused.
        time.plan(0, () => {
          this.#performIn(process, name, input).then(answered, () => answered(undefined));
        });
      });
    });
  }

  async #performIn(process: SimulatedProcess, name: OperationName, input: object): Promise<object> {
    const opened = this.#stores.get(process) ?? this.#open();
    this.#stores.set(process, opened);
    const store = await opened;
    const needs = {
      ...{ store, clock: systemTime.clock, log: silentLogger, defaultAgent: 'main' },
      bus: { publish() {} },
      // The next sweep finds the stored work.
      async wake() {},
      scrub: (text: string) => text,
    };
    // The operations on conversations do not use other services.
    return performOperation(needs as unknown as OperationServices, name, input, OWNER);
  }

  #open(): Promise<Store> {
    const { databaseFile } = this.#simulation;
    const url =
      serversNow.servers === null ? `sqlite:${databaseFile}` : 'postgres://simulation/parley';
    return openStore({ url, clock: systemTime.clock });
  }

  #wait(ms: number): Promise<void> {
    const { time } = this.#simulation;
    return new Promise((resolve) => {
      time.as(undefined, () => time.plan(ms, resolve));
    });
  }
}
