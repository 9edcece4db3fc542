import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from './changes.ts';
import { type Chance, chanceFor } from './engine/chance.ts';
import type { Machine } from './engine/machine.ts';
import type { SimulatedProcess, VirtualTime } from './engine/virtual-time.ts';
import type { Fault, Weather } from './faults.ts';
import type { Invariant, MakeInvariant } from './invariants/invariant.ts';
import { Observer } from './observe.ts';
import { answeredIn, type Place, type Question, type Said } from './said.ts';
import type { Scene } from './scene.ts';
import { Trace } from './trace.ts';
import { Deployment } from './world/deployment.ts';
import { MODEL_HOST, type ModelFault, simulatedModel } from './world/model.ts';
import { Network } from './world/network.ts';
import { Platform, type SendFate, type Shown } from './world/platform.ts';
import { serversNow } from './world/servers-now.ts';
import { settingsOf } from './world/settings.ts';
import { Supervisor } from './world/supervisor.ts';

/** How long people write and faults come, in ms. */
export const SPAN_MS = 60_000;
/** Within this time after the last fault everything must be over, in ms: the longest lease, retry and sweep. */
const AFTERMATH_MS = 180_000;
const LOOK_EVERY_MS = 1_000;

/** What became of one seed. */
export interface Result {
  readonly seed: number;
  readonly scene: string;
  readonly hash: string;
  readonly faults: readonly Fault[];
  /** Empty where every promise was kept. */
  readonly violations: readonly string[];
  readonly questions: number;
  readonly answered: number;
  readonly events: number;
  /** Virtual time, in ms. */
  readonly took: number;
}

/** One run of one scene under one seed and a list of faults. */
export class Simulation {
  readonly machine: Machine;
  readonly scene: Scene;
  readonly seed: number;
  readonly observer: Observer;
  readonly trace = new Trace();
  readonly deployment: Deployment;
  readonly supervisor: Supervisor;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly questions: Question[] = [];
  /** All that people have written, the oldest first. */
  readonly said: Said[] = [];
  readonly violations: string[] = [];
  readonly folder: string;
  /** When the last fault has ended, in ms; before that 0. */
  calmSince = 0;
  readonly #network: Chance;
  readonly #weather = new Map<Weather, number>();
  readonly #invariants: readonly Invariant[];
  readonly #sent: Change[] = [];
  readonly #answers = new Map<string, number>();
  readonly #shown = new Map<string, Shown>();

  constructor(machine: Machine, scene: Scene, seed: number, invariants: readonly MakeInvariant[]) {
    machine.begin(seed);
    this.machine = machine;
    this.scene = scene;
    this.seed = seed;
    this.#network = chanceFor(seed, 'network');
    this.#invariants = [...invariants, ...(scene.invariants ?? [])].map((make) => make());
    this.folder = mkdtempSync('/dev/shm/parley-simulation-');
    this.platforms = new Map(
      scene.platforms.map((kind) => [kind.id, new Platform(kind, machine.time, this.#network)]),
    );
    const isShared = Object.keys(scene.processes).length > 1;
    const data = join(this.folder, 'data');
    this.deployment = new Deployment(machine, {
      folder: data,
      channels: [...this.platforms.values()].map((platform) => platform.definition()),
      settings: settingsOf(scene, isShared),
      files: scene.files,
    });
    this.supervisor = new Supervisor(machine.time, this.deployment, scene.processes);
    this.observer = new Observer(join(isShared ? this.folder : data, 'parley.db'));
    serversNow.servers = isShared ? this.#servers() : null;
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
  ask(platform: string, text: string, message: Place, words = text): void {
    const id = this.say(platform, words, message);
    this.questions.push({ id, text, chat: message.chat.id, platform, at: this.time.now });
  }

  /** A person writes something that is no question; returns the id of the message. */
  say(platform: string, text: string, message: Place): string {
    this.said.push({ platform, text, chat: message.chat.id, by: message.sender.id });
    return this.#platform(platform).write({ ...message, text });
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
        (request) => {
          this.#check(({ onRequest }) => onRequest?.(request, this));
          return this.scene.answer(request, this);
        },
        () => ({ thinkMs: this.#network.between(20, 2_500), fault: this.#modelFault() }),
      ),
    );
    for (const platform of this.platforms.values()) {
      platform.onShown = (shown) => this.#note(platform, shown);
      platform.sendFate = () => this.#sendFate();
      platform.repeats = () => this.#is('updates') && this.#network.happens(0.3);
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
    this.time.as(undefined, () => this.scene.seen?.(shown, platform.kind.id, this));
    for (const question of answeredIn(shown.text)) {
      this.#answers.set(question, this.answers(question) + 1);
    }
  }

  async #startAll(): Promise<void> {
    for (const [name, role] of Object.entries(this.scene.processes)) {
      const { parley } = await this.deployment.start(name, role);
      if (parley !== undefined) continue;
      throw new Error(`${name} did not start: ${this.deployment.log.at(-1)?.line}`);
    }
    this.observer.open();
  }

  /** Looks at the tables after each event, which is the only moment at which another process could look. */
  #afterEvent(process: SimulatedProcess | undefined): void {
    const { changed } = this.observer;
    const changes = [...this.observer.changes(), ...this.#sent.splice(0)];
    if (this.observer.changed > changed) {
      this.#check(({ afterChange }) => afterChange?.(this, process?.name));
    }
    if (changes.length > 0) {
      const step = { at: this.time.now, process: process?.name ?? 'world', changes };
      this.trace.add(step);
      this.#check(({ afterStep }) => afterStep?.(step, this));
    }
    if (process !== undefined) this.supervisor.afterEvent(process);
  }

  async #inject(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        return this.supervisor.killAfter(fault.process, fault.steps, fault.downMs);
      case 'restart': {
        const role = this.scene.processes[fault.process];
        if (role === undefined || !this.deployment.alive.includes(fault.process)) return;
        await this.deployment.stop(fault.process);
        this.supervisor.startLater(fault.process, fault.downMs);
        return;
      }
      case 'pause': {
        const process = this.deployment.running.get(fault.process)?.process;
        if (process !== undefined) {
          process.pausedUntil = Math.max(process.pausedUntil, this.time.now + fault.forMs);
        }
        return;
      }
      case 'clock':
        for (const [name, { process }] of this.deployment.running) {
          if (fault.process === 'all' || fault.process === name) process.clockAhead += fault.byMs;
        }
        return;
      case 'weather':
        this.#weather.set(fault.what, this.time.now + fault.forMs);
    }
  }

  /** Lets faults end and gives everything its time. */
  async #calmDown(): Promise<void> {
    this.#weather.clear();
    const pauses = [...this.deployment.running.values()].map(({ process }) => process.pausedUntil);
    this.calmSince = Math.max(this.time.now, ...pauses);
    this.supervisor.killNoMore();
    const until = this.calmSince + AFTERMATH_MS;
    while (this.time.now < until && this.violations.length === 0) {
      await this.time.runUntil(this.time.now + LOOK_EVERY_MS, () => this.violations.length > 0);
      this.supervisor.startMissing();
      if (this.#isOver()) break;
    }
    if (this.violations.length > 0) return;
    this.#check(({ atEnd }) => atEnd?.(this));
  }

  #check(ask: (invariant: Invariant) => readonly string[] | undefined): void {
    for (const invariant of this.#invariants) {
      this.violations.push(...(ask(invariant) ?? []).map((what) => `[${invariant.id}] ${what}`));
    }
  }

  #isOver(): boolean {
    const { messages, parts, turns } = this.observer.tables;
    return (
      this.scene.isUnderWay?.(this) !== true &&
      [...this.platforms.values()].every(({ unconfirmed }) => unconfirmed === 0) &&
      [...messages.values()].every(({ state }) => state === 'done') &&
      [...turns.values()].every(({ state }) => state !== 'running') &&
      [...parts.values()].every(({ state }) => state !== 'pending' && state !== 'sending')
    );
  }

  #is(weather: Weather): boolean {
    return this.time.now < (this.#weather.get(weather) ?? 0);
  }

  #sendFate(): SendFate {
    if (!this.#is('sends')) return { kind: 'sent' };
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
    if (!this.#is('model')) return { kind: 'none' };
    return this.#network.one<ModelFault>([
      { kind: 'none' },
      { kind: 'silent' },
      { kind: 'endless' },
      { kind: 'cut' },
      { kind: 'refuses', status: 429 },
      { kind: 'refuses', status: 503 },
    ]);
  }

  #servers() {
    const { time } = this;
    const listeners = new Map<SimulatedProcess | undefined, Set<(event: never) => void>>();
    return {
      database: join(this.folder, 'parley.db'),
      queue: join(this.folder, 'queue.db'),
      databaseTime: () => time.as(undefined, () => time.wallClock()),
      chance: this.#network,
      wakeUp: (): 'stored' | 'lost' | 'doubled' | 'away' => {
        if (this.#is('queue-away')) return 'away';
        if (!this.#is('wake-ups')) return 'stored';
        return this.#network.one(['stored', 'lost', 'doubled']);
      },
      eventDelay: () => (this.#is('wake-ups') && this.#network.happens(0.5) ? null : 5),
      listen: (hear: (event: never) => void) => {
        const { process } = time;
        const own = listeners.get(process) ?? new Set();
        listeners.set(process, own.add(hear));
        return () => void own.delete(hear);
      },
      tell: (event: object) => {
        for (const [process, own] of listeners) {
          if (process === time.process || process?.alive === false) continue;
          if (this.#is('queue-away')) continue;
          if (this.#is('wake-ups') && this.#network.happens(0.5)) continue;
          time.as(process, () => {
            time.plan(this.#network.between(1, 30), () => {
              for (const hear of own) hear(event as never);
            });
          });
        }
      },
    };
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
    for (const name of this.deployment.alive) this.deployment.kill(name);
    databases.closeAllOf(undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
