import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TableChange } from './changes.ts';
import { Disasters } from './disasters.ts';
import { createChance, type RandomChance } from './engine/chance.ts';
import { SOUND_DISK } from './engine/databases.ts';
import type { SimulationMachine } from './engine/machine.ts';
import { BEGINNING, type SimulatedProcess, type VirtualTime } from './engine/virtual-time.ts';
import type { SimulationFault, Weather } from './faults.ts';
import type { Invariant, MakeInvariant } from './invariants/invariant.ts';
import { Observer } from './observe.ts';
import type { PersonQuestion, RecordedRequest, SeedResult } from './records.ts';
import { findAnsweredQuestions, type MessageOrigin, type PersonStatement } from './said.ts';
import type { SceneAdditions, SimulationScene } from './scene.ts';
import { createSettings } from './settings.ts';
import { Trace } from './trace.ts';
import { Deployment } from './world/deployment.ts';
import { createSimulatedModel, drawModelFault, MODEL_HOST } from './world/model.ts';
import { SimulatedNetwork } from './world/network.ts';
import { OvertakingController } from './world/overtaking.ts';
import { type DisplayedMessage, Platform, type RevisedMessage } from './world/platform.ts';
import { DEFAULT_ACCOUNT } from './world/platform-kind.ts';
import { drawSendFate } from './world/send-weather.ts';
import { createSharedServers } from './world/servers.ts';
import { serversNow } from './world/servers-now.ts';
import { SlowFileSystem } from './world/slow-files.ts';
import { ProcessSupervisor } from './world/supervisor.ts';

/** How long people write and faults occur, in ms. */
export const SPAN_MS = 60_000;
/**
 * The time limit in ms for all work to finish after the last fault: the longest lease, retry and
 * sweep.
 */
const AFTERMATH_MS = 300_000;
const POLL_INTERVAL_MS = 1_000;
/** How long a model thinks, in ms. */
const THINK_MS = [20, 2_500] as const;

/** The approximate number of events of a startup. */
const STEPS_OF_A_START = 60;

/** One run of one scene with one seed and a list of faults. */
export class Simulation {
  readonly machine: SimulationMachine;
  readonly scene: SimulationScene;
  readonly seed: number;
  readonly observer: Observer;
  readonly trace = new Trace();
  readonly deployment: Deployment;
  readonly supervisor: ProcessSupervisor;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly questions: PersonQuestion[] = [];
  /** The requests to the model. */
  readonly requests: RecordedRequest[] = [];
  /** Text that people wrote in groups without addressing the bot. */
  readonly remarks: PersonQuestion[] = [];
  /** Edits and deletions of messages that a gateway has accepted. */
  readonly revised: RevisedMessage[] = [];
  /** When the last fault ended, in ms; infinite before that. */
  calmSince = Number.POSITIVE_INFINITY;
  /** All messages written by people, oldest first. */
  readonly said: PersonStatement[] = [];
  readonly violations: string[] = [];
  /**
   * Questions that are missing from an older copy of the database that a scene restored on purpose.
   */
  readonly lost = new Set<string>();
  readonly slowFiles = new SlowFileSystem();
  readonly folder: string;
  readonly brought: SceneAdditions | undefined;
  readonly isShared: boolean;
  /** The only file with tables. */
  readonly databaseFile: string;
  readonly #disasters: Disasters;
  readonly #overtaking: OvertakingController;
  readonly #network: RandomChance;
  readonly #weather = new Map<Weather, number>();
  readonly #invariants: readonly Invariant[];
  readonly #sent: TableChange[] = [];
  readonly #answers = new Map<string, number>();
  readonly #shown = new Map<string, Omit<DisplayedMessage, 'isDeleted'>>();

  constructor(
    machine: SimulationMachine,
    scene: SimulationScene,
    seed: number,
    invariants: readonly MakeInvariant[],
  ) {
    machine.begin(seed);
    this.machine = machine;
    this.scene = scene;
    this.seed = seed;
    this.#network = createChance(seed, 'network');
    this.#invariants = invariants.map((make) => make());
    this.folder = mkdtempSync(join(tmpdir(), 'parley-simulation-'));
    this.platforms = new Map(
      scene.platforms.map((kind) => [kind.id, new Platform(kind, machine.time, this.#network)]),
    );
    this.brought = scene.bring?.(this);
    const isShared = Object.keys(scene.processes).length > 1;
    const data = join(this.folder, 'data');
    this.isShared = isShared;
    this.databaseFile = join(isShared ? this.folder : data, 'parley.db');
    this.#disasters = new Disasters(this, data);
    machine.databases.disk = this.#disasters.disk;
    machine.databases.serverAhead = 0;
    machine.fileDelays = this.slowFiles;
    this.deployment = new Deployment(machine, {
      folder: data,
      channels: [
        ...[...this.platforms.values()].map((platform) => platform.definition()),
        ...(this.brought?.channels ?? []),
      ],
      settings: createSettings(scene, isShared, this.brought),
      onEnd: (process) => this.brought?.onEnd?.(process),
      files: scene.files,
    });
    this.supervisor = new ProcessSupervisor(machine.time, this.deployment, scene.processes);
    this.#overtaking = new OvertakingController(machine.time, this.deployment, machine.databases);
    this.observer = new Observer(this.databaseFile, () => this.#disasters.disk.commits);
    serversNow.servers = isShared ? createSharedServers(this, this.#network) : null;
  }

  get time(): VirtualTime {
    return this.machine.time;
  }

  get span(): number {
    return this.scene.spanMs ?? SPAN_MS;
  }

  /** Random numbers for one purpose of a scene. */
  chance(name: string): RandomChance {
    return createChance(this.seed, name);
  }

  /** Asks a question as a person; the model's answer must name `text`. */
  ask(
    platform: string,
    text: string,
    message: MessageOrigin,
    words = text,
    account = DEFAULT_ACCOUNT,
  ): string {
    const id = this.say(platform, words, message, account);
    this.asked({ id, text, chat: message.chat.id, platform, account });
    return id;
  }

  /** Records a question that was asked by other means than `ask`. */
  asked(question: Omit<PersonQuestion, 'at'>): void {
    this.questions.push({ ...question, at: this.time.now });
  }

  /** Writes a message that is not a question; returns the id of the message. */
  say(platform: string, text: string, message: MessageOrigin, account = DEFAULT_ACCOUNT): string {
    this.said.push({ platform, text, chat: message.chat.id, by: message.sender.id });
    return this.platform(platform).write({ ...message, text }, account);
  }

  /** The number of visible parts that name the question. */
  answers(question: string): number {
    return this.#answers.get(question) ?? 0;
  }

  /** The message on the platform that shows a part. */
  readonly shownPart = (part: string): Omit<DisplayedMessage, 'isDeleted'> | undefined =>
    this.#shown.get(part);

  /** The time that the clock of the shared database read at a moment of the simulation. */
  readonly databaseTime = (at: number): number =>
    Math.floor(BEGINNING + at + this.machine.databases.serverAhead);

  /** The end of the current or last pause of the process with this name, in ms. */
  pausedUntil(process: string): number {
    const running = [...this.deployment.running.values()];
    return running.find((one) => one.process.name === process)?.process.pausedUntil ?? 0;
  }

  /** Runs the scene with these faults, then without faults until everything has finished. */
  async run(faults: readonly SimulationFault[]): Promise<SeedResult> {
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

  #result(faults: readonly SimulationFault[], took: number): SeedResult {
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
    const network = new SimulatedNetwork(this.time, () => this.#network);
    network.install();
    network.serve(
      MODEL_HOST,
      createSimulatedModel(
        (request) => {
          this.requests.push({ ...request, at: this.time.now });
          this.#check(({ onRequest }) => onRequest?.(request, this));
          return this.scene.answer(request, this);
        },
        () => ({
          thinkMs: this.#network.between(...(this.scene.thinkMs ?? THINK_MS)),
          fault: drawModelFault(this.#network, this.is('model')),
        }),
      ),
    );
    for (const platform of this.platforms.values()) {
      const { sending, kind } = platform;
      sending.onShown = (shown) => this.note(kind.id, shown, kind.hasKeys);
      sending.fate = (part) => drawSendFate(this.#network, this.is('sends'), kind, part);
      platform.onRevised = (revised) => this.revised.push(revised);
      platform.updates = {
        repeats: () => this.is('updates') && this.#network.happens(0.3),
        reorders: () => this.is('updates') && this.#network.happens(0.5),
      };
    }
    for (const [host, serve] of Object.entries(this.brought?.hosts ?? {}))
      network.serve(host, serve);
  }

  /** Called when people see a bot message. */
  note(platform: string, shown: Omit<DisplayedMessage, 'isDeleted'>, hasKeys: boolean): void {
    const chat = `${platform}:${shown.account}:${shown.chat}`;
    this.#sent.push({ kind: 'sent', part: shown.part, key: hasKeys ? shown.key : null, chat });
    if (this.#shown.has(shown.part)) return;
    this.#shown.set(shown.part, shown);
    this.time.as(undefined, () => this.scene.seen?.(shown, platform, this));
    for (const question of findAnsweredQuestions(shown.text)) {
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

  /**
   * Reads the tables after each event, the only moment at which another process could read them.
   */
  #afterEvent(process: SimulatedProcess | undefined): void {
    this.look([], process);
    for (const { process: crashed, error } of this.machine.crashes.take()) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.violations.push(`[D12] ${crashed?.name ?? 'some process'} would have ended: ${reason}`);
    }
    if (process !== undefined) {
      this.supervisor.afterEvent(process);
      this.#overtaking.afterEvent(process);
    }
    this.#disasters.afterEvent();
  }

  /**
   * Reads the tables after an event of a process, or of the world, which itself made the changes in
   * `done`.
   */
  look(done: readonly TableChange[], process?: SimulatedProcess): void {
    const { changed } = this.observer;
    const changes = [...done, ...this.observer.changes(), ...this.#sent.splice(0)];
    if (this.observer.changed > changed) {
      this.#check(({ afterChange }) => afterChange?.(this, process?.name));
    }
    if (changes.length > 0) {
      this.#overtaking.note(changes, process?.name ?? 'world');
      const step = { at: this.time.now, process: process?.name ?? 'world', changes };
      this.trace.add(step);
      this.#check(({ afterStep }) => afterStep?.(step, this));
    }
  }

  async #inject(fault: SimulationFault): Promise<void> {
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
      case 'pause':
        return this.supervisor.pause(fault.process, fault.when, fault.forMs);
      case 'overtaken':
        return this.#overtaking.begin(fault);
      case 'clock':
        for (const [name, { process }] of this.deployment.running) {
          if (fault.process === 'all' || fault.process === name) process.clockAhead += fault.byMs;
        }
        return;
      case 'database-clock':
        this.machine.databases.serverAhead += fault.byMs;
        return;
      case 'power-cut':
      case 'older-copy':
        this.#disasters.inject(fault);
        return;
      case 'weather':
        this.#weather.set(fault.what, this.time.now + fault.forMs);
    }
  }

  /** Ends all faults and gives all work time to finish. */
  async #calmDown(): Promise<void> {
    this.#weather.clear();
    const paused = [...this.deployment.running.values()].map(({ process }) => process.pausedUntil);
    this.calmSince = Math.max(this.time.now, ...paused);
    this.supervisor.endFaults();
    this.#disasters.end();
    this.#overtaking.end();
    const until = this.calmSince + AFTERMATH_MS;
    while (this.time.now < until && this.violations.length === 0) {
      await this.time.runUntil(this.time.now + POLL_INTERVAL_MS, () => this.violations.length > 0);
      this.supervisor.startMissing();
      const { calmMs = 0 } = this.scene;
      if (this.time.now >= this.calmSince + calmMs && this.#isOver()) break;
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
      this.#disasters.isOver() &&
      [...this.platforms.values()].every(({ unconfirmed }) => unconfirmed === 0) &&
      (this.brought?.isOver?.() ?? true) &&
      [...messages.values()].every(({ state }) => state === 'done') &&
      [...turns.values()].every(({ state }) => state !== 'running') &&
      [...parts.values()].every(({ state }) => state !== 'pending' && state !== 'sending')
    );
  }

  /** Whether this kind of failure is active. */
  is(weather: Weather): boolean {
    return this.time.now < (this.#weather.get(weather) ?? 0);
  }

  platform(id: string): Platform {
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
