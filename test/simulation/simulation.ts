import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { InboundMessage } from '@parley/core';
import type { Change } from './changes.ts';
import { Disasters } from './disasters.ts';
import { type Chance, chanceFor } from './engine/chance.ts';
import { SOUND_DISK } from './engine/databases.ts';
import type { Machine } from './engine/machine.ts';
import type { SimulatedProcess, VirtualTime } from './engine/virtual-time.ts';
import type { Fault, Weather } from './faults.ts';
import type { Invariant, MakeInvariant } from './invariants/invariant.ts';
import { Observer } from './observe.ts';
import type { Question, Result } from './result.ts';
import type { Scene } from './scene.ts';
import { Trace } from './trace.ts';
import { Deployment } from './world/deployment.ts';
import { MODEL_HOST, type ModelFault, simulatedModel } from './world/model.ts';
import { Network } from './world/network.ts';
import { Platform, type SendFate, type Shown } from './world/platform.ts';
import { serversOf } from './world/servers.ts';
import { serversNow } from './world/servers-now.ts';
import { settingsOf } from './world/settings.ts';

/** How long people write and faults come, in ms. */
export const SPAN_MS = 60_000;
/** Within this time after the last fault everything must be over, in ms: the longest lease, retry and sweep. */
const AFTERMATH_MS = 300_000;
const LOOK_EVERY_MS = 1_000;
/** About as many events as a start has. */
const STEPS_OF_A_START = 60;
/** A supervisor starts again what has failed to start, in ms. */
const START_AGAIN_MS = 2_000;

/** One run of one scene under one seed and a list of faults. */
export class Simulation {
  readonly machine: Machine;
  readonly scene: Scene;
  readonly seed: number;
  readonly observer: Observer;
  readonly trace = new Trace();
  readonly deployment: Deployment;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly questions: Question[] = [];
  readonly violations: string[] = [];
  /** Questions that an older copy of the database, put in its place on purpose, does not know. */
  readonly lost = new Set<string>();
  readonly folder: string;
  readonly isShared: boolean;
  /** The only file of the tables. */
  readonly databaseFile: string;
  readonly #disasters: Disasters;
  readonly #network: Chance;
  readonly #weather = new Map<Weather, number>();
  readonly #invariants: readonly Invariant[];
  readonly #sent: Change[] = [];
  readonly #answers = new Map<string, number>();
  readonly #shown = new Map<string, Shown>();
  /** Called after each event of a process that is about to be killed or paused. */
  readonly #soon = new Map<SimulatedProcess, () => void>();

  constructor(machine: Machine, scene: Scene, seed: number, invariants: readonly MakeInvariant[]) {
    machine.begin(seed);
    this.machine = machine;
    this.scene = scene;
    this.seed = seed;
    this.#network = chanceFor(seed, 'network');
    this.#invariants = invariants.map((make) => make());
    this.folder = mkdtempSync('/dev/shm/parley-simulation-');
    this.platforms = new Map(
      scene.platforms.map((kind) => [kind.id, new Platform(kind, machine.time, this.#network)]),
    );
    const isShared = Object.keys(scene.processes).length > 1;
    const data = join(this.folder, 'data');
    this.isShared = isShared;
    this.databaseFile = join(isShared ? this.folder : data, 'parley.db');
    this.#disasters = new Disasters(this, data);
    machine.databases.disk = this.#disasters.disk;
    this.deployment = new Deployment(machine, {
      folder: data,
      channels: [...this.platforms.values()].map((platform) => platform.definition()),
      settings: settingsOf(scene, isShared),
    });
    this.deployment.onFailedStart = (name) => this.startLater(name, START_AGAIN_MS);
    this.observer = new Observer(this.databaseFile);
    serversNow.servers = isShared ? serversOf(this, this.#network) : null;
  }

  get time(): VirtualTime {
    return this.machine.time;
  }

  get span(): number {
    return this.scene.spanMs ?? SPAN_MS;
  }

  /** Numbers for a purpose of a scene. */
  chance(name: string): Chance {
    return chanceFor(this.seed, name);
  }

  /** A person asks something; the model's answer must name `text`. */
  ask(
    platform: string,
    text: string,
    message: Pick<InboundMessage, 'chat' | 'sender' | 'addressed'>,
    words = text,
  ): void {
    const id = this.#platform(platform).write({ ...message, text: words });
    this.questions.push({ id, text, chat: message.chat.id, platform, at: this.time.now });
  }

  /** How many parts that people see name the question. */
  answers(question: string): number {
    return this.#answers.get(question) ?? 0;
  }

  /** The message of the platform that a part became. */
  shownPart(part: string): Shown | undefined {
    return this.#shown.get(part);
  }

  /** Runs the scene with these faults, and then without any until everything is over. */
  async run(faults: readonly Fault[]): Promise<Result> {
    const { time } = this;
    try {
      this.#connectWorld();
      time.afterEach = (process) => this.#afterEvent(process);
      this.scene.prepare?.(this);
      await this.#startAll();
      const began = time.now;
      this.scene.people(this);
      for (const fault of faults) {
        if (this.violations.length > 0) break;
        await time.runUntil(began + fault.at, () => this.violations.length > 0);
        await this.#inject(fault);
      }
      await time.runUntil(began + this.span, () => this.violations.length > 0);
      await this.#calmDown();
      return this.#result(faults, time.now - began);
    } finally {
      this.#close();
    }
  }

  #result(faults: readonly Fault[], took: number): Result {
    return {
      seed: this.seed,
      scene: this.scene.name,
      hash: this.trace.hash,
      faults,
      violations: this.violations,
      questions: this.questions.length,
      answered: this.questions.filter(({ text }) => this.answers(text) > 0).length,
      events: this.time.fired,
      took,
    };
  }

  #connectWorld(): void {
    const network = new Network(this.time, () => this.#network);
    network.install();
    network.serve(
      MODEL_HOST,
      simulatedModel(
        (request) => this.scene.answer(request),
        () => ({ thinkMs: this.#network.between(20, 2_500), fault: this.#modelFault() }),
      ),
    );
    for (const platform of this.platforms.values()) {
      platform.onShown = (shown) => this.#note(platform, shown);
      platform.sendFate = () => this.#sendFate();
      platform.repeats = () => this.is('updates') && this.#network.happens(0.3);
    }
  }

  #note(platform: Platform, shown: Shown): void {
    const chat = `${platform.kind.id}:default:${shown.chat}`;
    this.#sent.push({
      kind: 'sent',
      part: shown.part,
      key: platform.kind.hasKeys ? shown.key : null,
      chat,
    });
    if (this.#shown.has(shown.part)) return;
    this.#shown.set(shown.part, shown);
    for (const question of new Set(shown.text.match(/\bq\d+\b/g) ?? [])) {
      this.#answers.set(question, this.answers(question) + 1);
    }
  }

  async #startAll(): Promise<void> {
    const chance = this.chance('start');
    for (const [name, role] of Object.entries(this.scene.processes)) {
      if (this.scene.interruptsStart) {
        const steps = chance.between(1, STEPS_OF_A_START);
        await this.deployment.startAndKill(name, role, steps);
      }
      const { parley } = await this.deployment.start(name, role);
      if (parley !== undefined) continue;
      throw new Error(`${name} did not start: ${this.deployment.log.at(-1)?.line}`);
    }
    this.observer.open();
  }

  /** Looks at the tables after each event, which is the only moment at which another process could look. */
  #afterEvent(process: SimulatedProcess | undefined): void {
    this.look([], process);
    if (process !== undefined) this.#soon.get(process)?.();
    this.#disasters.afterEvent();
  }

  /** Looks at the tables after an event of a process or of the world, which has done this itself. */
  look(done: readonly Change[], process?: SimulatedProcess): void {
    const changes = [...done, ...this.observer.changes(), ...this.#sent.splice(0)];
    if (changes.length > 0) {
      const step = { at: this.time.now, process: process?.name ?? 'world', changes };
      this.trace.add(step);
      for (const { id, afterStep } of this.#invariants) {
        const wrong = afterStep?.(step, this) ?? [];
        this.violations.push(...wrong.map((what) => `[${id}] ${what}`));
      }
    }
    for (const { process: crashed, error } of this.machine.crashes.take()) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.violations.push(`[D12] ${crashed?.name ?? 'some process'} would have ended: ${reason}`);
    }
  }

  async #inject(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        return this.#killAfter(fault.process, fault.steps, fault.downMs);
      case 'restart': {
        const role = this.scene.processes[fault.process];
        if (role === undefined || !this.deployment.alive.includes(fault.process)) return;
        await this.deployment.stop(fault.process);
        this.startLater(fault.process, fault.downMs);
        return;
      }
      case 'pause':
        return this.#pause(fault.process, fault.when, fault.forMs);
      case 'clock':
        for (const [name, { process }] of this.deployment.running) {
          if (fault.process === 'all' || fault.process === name) process.clockAhead += fault.byMs;
        }
        return;
      case 'power-cut':
      case 'older-copy':
        this.#disasters.inject(fault);
        return;
      case 'weather':
        this.#weather.set(fault.what, this.time.now + fault.forMs);
    }
  }

  #pause(name: string, when: 'at-once' | 'midway', forMs: number): void {
    const process = this.deployment.running.get(name)?.process;
    if (process === undefined || !process.alive || this.#soon.has(process)) return;
    const stand = (): void => {
      process.pausedUntil = this.time.now + forMs;
    };
    if (when === 'at-once') {
      stand();
      return;
    }
    this.#soon.set(process, () => {
      if (!this.time.isMidway(process)) return;
      this.#soon.delete(process);
      stand();
    });
  }

  #killAfter(name: string, steps: number, downMs: number): void {
    const process = this.deployment.running.get(name)?.process;
    if (process === undefined || !process.alive || this.#soon.has(process)) return;
    let left = steps;
    this.#soon.set(process, () => {
      if (left > 0) {
        left -= 1;
        return;
      }
      this.#soon.delete(process);
      this.deployment.kill(name);
      this.startLater(name, downMs);
    });
  }

  /** Starts a process again, unless it lives by then. */
  startLater(name: string, afterMs: number): void {
    const role = this.scene.processes[name];
    if (role === undefined) return;
    this.time.as(undefined, () => {
      this.time.plan(afterMs, () => {
        if (!this.deployment.alive.includes(name)) this.deployment.begin(name, role);
      });
    });
  }

  /** Lets faults end and gives everything its time. */
  async #calmDown(): Promise<void> {
    this.#weather.clear();
    this.#soon.clear();
    const until = this.time.now + AFTERMATH_MS;
    while (this.time.now < until && this.violations.length === 0) {
      await this.time.runUntil(this.time.now + LOOK_EVERY_MS, () => this.violations.length > 0);
      this.#startMissing();
      if (this.#isOver()) break;
    }
    if (this.violations.length > 0) return;
    for (const { id, atEnd } of this.#invariants) {
      this.violations.push(...(atEnd?.(this) ?? []).map((what) => `[${id}] ${what}`));
    }
  }

  /** A start that a fault has spoilt is tried again, as a supervisor does. */
  #startMissing(): void {
    for (const [name, role] of Object.entries(this.scene.processes)) {
      const running = this.deployment.running.get(name);
      if (running?.process.alive === false && !running.isStarting)
        this.deployment.begin(name, role);
    }
  }

  #isOver(): boolean {
    const { messages, parts, turns } = this.observer.tables;
    return (
      [...this.platforms.values()].every(({ unconfirmed }) => unconfirmed === 0) &&
      [...messages.values()].every(({ state }) => state === 'done') &&
      [...turns.values()].every(({ state }) => state !== 'running') &&
      [...parts.values()].every(({ state }) => state !== 'pending' && state !== 'sending')
    );
  }

  is(weather: Weather): boolean {
    return this.time.now < (this.#weather.get(weather) ?? 0);
  }

  #sendFate(): SendFate {
    if (!this.is('sends')) return { kind: 'sent' };
    const number = this.#network.next();
    if (number < 0.15) return { kind: 'reset-before' };
    if (number < 0.3) return { kind: 'reset-after' };
    if (number < 0.4) return { kind: 'swallowed' };
    if (number < 0.55) {
      return { kind: 'rate-limited', retryAfterMs: this.#network.between(200, 6_000) };
    }
    return { kind: 'sent' };
  }

  #modelFault(): ModelFault {
    if (!this.is('model')) return { kind: 'none' };
    return this.#network.one<ModelFault>([
      { kind: 'none' },
      { kind: 'silent' },
      { kind: 'endless' },
      { kind: 'cut' },
      { kind: 'refuses', status: 429 },
      { kind: 'refuses', status: 503 },
    ]);
  }

  #platform(id: string): Platform {
    const platform = this.platforms.get(id);
    if (platform === undefined) throw new Error(`the scene has no platform ${id}`);
    return platform;
  }

  #close(): void {
    const { time, databases } = this.machine;
    time.afterEach = () => {};
    this.observer.close();
    databases.disk = SOUND_DISK;
    for (const name of this.deployment.alive) this.deployment.kill(name);
    databases.closeAllOf(undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
