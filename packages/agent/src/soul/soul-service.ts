import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import type { SoulRepository, SoulVersion } from '@parley/store';
import {
  createLocalLock,
  getSoulText,
  type ManagedFile,
  SOUL,
  type SoulFile,
} from '@parley/workspace';
import type { SoulCandidate, SoulJudgment } from './soul-rules.ts';
import type { OpenScenarioServices } from './soul-scenarios.ts';
import { explainAgentOnlyEdits, MAX_SOUL, type SoulSettings } from './soul-text.ts';
import { diffWithCurrentVersion, syncSoulFile } from './sync-soul-file.ts';

/** `askedBy` is the key that deduplicates proposals. */
interface ProposedSoul extends Pick<SoulVersion, 'text' | 'reason'> {
  readonly askedBy: string;
  readonly author: 'agent' | 'person';
  readonly by: string;
}

/** The result of a `/soul` command. `reason` is shown to the sender. */
export type SoulCommandResult =
  | { readonly kind: 'done'; readonly version: SoulVersion }
  | { readonly kind: 'refused'; readonly reason: string };

export interface SoulOptions {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly file: SoulFile;
  readonly settings: SoulSettings;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** Opens the scenarios for a proposal. If it is absent, only the rules decide. */
  readonly trial?: OpenScenarioServices;
}

/** `at-once` syncs immediately, even though an editor may still be writing the file. */
type SyncTiming = 'at-once' | 'settled';

const LISTED = 50;
/** The maximum number of open proposals by the agent. */
const MAX_OPEN = 3;
/** The delay before the evaluation is retried after a model failure, in ms. */
const RETRY_MS = 5 * 60_000;
/** A file that changed less than this many ms ago may still be open in an editor. */
const SETTLED_MS = 1_000;
const CONFLICT = 'SOUL.md changed in the meantime; please look again.';
const FROZEN = 'SOUL.md stays as it is: soul.apply is "never" in the settings.';

/**
 * Manages the SOUL.md of one agent (W06). Every change goes through this class, which proposes,
 * judges, applies and rolls back versions. The store holds the versions, the file is a copy of the
 * version in use, and an edit to the file becomes a proposal.
 */
export class SoulService implements ManagedFile {
  readonly name = SOUL;
  readonly settings: SoulSettings;
  readonly #soul: SoulOptions;
  readonly #evaluations = createLocalLock();
  /**
   * Allows one sync at a time, because two syncs that detect the same edit would both restore the
   * file.
   */
  readonly #syncs = createLocalLock();
  /** The file and the version in use as of the last sync. */
  #synced = '';
  #retryAt = 0;

  constructor(soul: SoulOptions) {
    this.#soul = soul;
    this.settings = soul.settings;
  }

  list(): Promise<readonly SoulVersion[]> {
    return this.#soul.souls.list(this.#soul.agent, LISTED);
  }

  get(number: number): Promise<SoulVersion | null> {
    return this.#soul.souls.get(this.#soul.agent, number);
  }

  /**
   * Whether only the agent may change SOUL.md: by the settings, or because one of its proposals was
   * applied (W06).
   */
  async isOnlyAgents(): Promise<boolean> {
    const { agent, souls, settings } = this.#soul;
    if (settings.humanEdits !== 'until-first-proposal') return settings.humanEdits === 'seed-only';
    return souls.hasAgentChange(agent);
  }

  /** Turns edits to the file into proposals. Returns the version in use; null before the seed. */
  async current(): Promise<SoulVersion | null> {
    try {
      return await this.sync('settled');
    } catch (error) {
      this.#soul.log.warn({ reason: reasonOf(error) }, 'SOUL.md could not be checked');
      return this.#inUse();
    }
  }

  /**
   * Whether the file is unchanged since the last sync and no version is pending. The check costs
   * one query and one file access.
   */
  async isIdle(now: number): Promise<boolean> {
    const { inUse, isBusy } = await this.#soul.souls.status(this.#soul.agent, now);
    return !isBusy && this.#mark(inUse) === this.#synced;
  }

  /** Turns edits to the file into proposals, and judges those that do not need a model. */
  async syncFromDisk(): Promise<void> {
    await this.sync('settled');
    await this.#judgeByRules();
  }

  /** Syncs the file with the version in use if either has changed. Returns the version in use. */
  sync(when: SyncTiming): Promise<SoulVersion | null> {
    return this.#syncs.hold(async () => {
      const { clock, file } = this.#soul;
      const applied = await this.#inUse();
      if (this.#mark(applied?.number) === this.#synced) return applied;
      const age = clock() - (file.stat()?.changedAt ?? Number.NEGATIVE_INFINITY);
      if (when === 'settled' && age >= 0 && age < SETTLED_MS) return applied;
      return file.alone(async (write) => {
        // Another process may have synced the file while this call waited for the lock.
        const inUse = await this.#inUse();
        await syncSoulFile({ ...this.#soul, write }, inUse, await file.read());
        this.#synced = this.#mark(inUse?.number);
        return inUse ?? this.#inUse();
      });
    });
  }

  /** Stores a proposal to change the text in use, and judges it if no model is needed. */
  async propose({ text: raw, ...proposal }: ProposedSoul): Promise<SoulCommandResult> {
    const { agent, souls, clock } = this.#soul;
    const inUse = await this.sync('settled');
    if (raw.includes('\0') || !raw.isWellFormed())
      return refuseSoulChange('That is not plain text.');
    if (proposal.author === 'agent' && this.settings.apply === 'never')
      return refuseSoulChange(FROZEN);
    if (raw.length > MAX_SOUL * 2) return refuseSoulChange('That is far too long for SOUL.md.');
    const text = getSoulText(raw);
    if (inUse === null) return this.#seed({ ...proposal, text });
    const version = { ...proposal, text, head: inUse.head, ...diffWithCurrentVersion(inUse, text) };
    const stored = await souls.propose(agent, version, MAX_OPEN, clock());
    if (stored.kind === 'full') {
      return refuseSoulChange(
        `${MAX_OPEN} proposals are already open; the owner has to decide on them first.`,
      );
    }
    await this.#judgeByRules();
    return this.#done(stored.version.number);
  }

  /** Stores the first version, which must come from a person. */
  async #seed({ author, by, text }: ProposedSoul): Promise<SoulCommandResult> {
    if (author === 'agent')
      return refuseSoulChange(
        'There is no SOUL.md yet, and only a person can write the first one.',
      );
    if (text.trim() === '') return refuseSoulChange('It is empty.');
    const { agent, souls, clock } = this.#soul;
    await souls.seed(agent, { text, head: '', by }, clock());
    return this.#done(0);
  }

  async apply(number: number, by: string): Promise<SoulCommandResult> {
    const { agent, souls, clock } = this.#soul;
    const [version, inUse] = [await this.get(number), await this.#inUse()];
    const isRefused = version?.author === 'person' && (await this.isOnlyAgents());
    const objection = findRejectionReason(number, version, this.settings, isRefused);
    if (objection !== null) return refuseSoulChange(objection);
    if (inUse === null || !(await souls.apply(agent, number, by, inUse.number, clock())))
      return refuseSoulChange(CONFLICT);
    await this.sync('at-once');
    return this.#done(number);
  }

  async veto(number: number, by: string): Promise<SoulCommandResult> {
    const { agent, souls, clock } = this.#soul;
    const version = await this.get(number);
    if (version === null) return createUnknownVersionResult(number);
    const isVetoed =
      version.state === 'vetoed' || (await souls.close(agent, number, 'vetoed', by, clock()));
    if (isVetoed) return this.#done(number);
    return refuseSoulChange(
      version.state === 'applied'
        ? `Version ${number} is already in use. \`/soul rollback ${version.basedOn ?? 0}\` goes back.`
        : `Version ${number} is no longer open.`,
    );
  }

  /** Applies the text of an earlier version again, as a new version. */
  async rollback(number: number, by: string, askedBy: string): Promise<SoulCommandResult> {
    const { agent, souls, clock } = this.#soul;
    const [inUse, to] = [await this.#inUse(), await this.get(number)];
    if (inUse === null || to === null) return createUnknownVersionResult(number);
    if (to.appliedAt === null)
      return refuseSoulChange(`Version ${number} was never in use, so it cannot be restored.`);
    const reason = `back to version ${number}`;
    if (to.text === inUse.text) {
      // The same command was delivered again.
      if (inUse.reason === reason) return { kind: 'done', version: inUse };
      return refuseSoulChange(`Version ${inUse.number}, now in use, has the same text.`);
    }
    const order = { to: number, askedBy, by, reason, ...diffWithCurrentVersion(inUse, to.text) };
    const version = await souls.rollback(agent, order, clock());
    if (version === null) return refuseSoulChange(CONFLICT);
    await this.sync('at-once');
    return { kind: 'done', version };
  }

  /** Applies versions whose veto period has expired. */
  async applyDue(now: number): Promise<void> {
    const { agent, souls } = this.#soul;
    if (this.settings.apply !== 'after-veto-time') return;
    await souls.restartVetoTimes(agent, now);
    for (const { number, basedOn, author } of await souls.due(agent, now)) {
      if (author === 'person' && (await this.isOnlyAgents())) {
        await souls.close(agent, number, 'vetoed', 'the settings (soul.humanEdits)', now);
        continue;
      }
      const isApplied = await souls.apply(agent, number, null, basedOn, now);
      // The version is based on one that is no longer in use, so applying it would silently undo
      // the newer version.
      if (!isApplied) await souls.close(agent, number, 'replaced', null, now);
    }
    await this.sync('settled');
  }

  /**
   * Judges pending proposals one after another, including those left by a process that died. Never
   * rejects; after a model failure the evaluation is retried later.
   */
  async evaluate(stop: AbortSignal = new AbortController().signal): Promise<void> {
    try {
      await this.#evaluations.hold(() => this.#judgePending(stop));
    } catch (error) {
      if (stop.aborted) return;
      this.#retryAt = this.#soul.monotonic() + RETRY_MS;
      const reason = reasonOf(error);
      this.#soul.log.warn({ reason }, 'SOUL.md could not be evaluated; will retry');
    }
  }

  async #judgePending(stop: AbortSignal): Promise<void> {
    const { agent, souls, monotonic, trial } = this.#soul;
    await this.#judgeByRules();
    if (trial === undefined || monotonic() < this.#retryAt) return;
    const pending = await souls.unjudged(agent);
    if (pending.length === 0) return;
    const { judgeWithScenarios } = await import('./soul-scenarios.ts');
    for (const version of pending) {
      const candidate = await this.#candidate(version);
      await this.#keep(version.number, await judgeWithScenarios(candidate, trial, stop));
    }
  }

  /**
   * Runs without the evaluation lock, because a model may hold the lock for minutes. A second
   * verdict for the same version has no effect.
   */
  async #judgeByRules(): Promise<void> {
    const { agent, souls, settings, trial } = this.#soul;
    const pending = await souls.unjudged(agent);
    if (pending.length === 0) return;
    const { judgeSoul, createHumanEditRefusal } = await import('./soul-rules.ts');
    const isOnlyAgents = await this.isOnlyAgents();
    for (const version of pending) {
      const isRefused = isOnlyAgents && version.author === 'person';
      const verdict = isRefused
        ? createHumanEditRefusal(settings)
        : judgeSoul(await this.#candidate(version), null);
      if (trial === undefined || verdict.state === 'refused') {
        await this.#keep(version.number, verdict);
      }
    }
  }

  async #candidate({ text, author }: SoulVersion): Promise<SoulCandidate> {
    return { text, author, before: (await this.#inUse())?.text ?? null };
  }

  async #keep(number: number, verdict: SoulJudgment): Promise<void> {
    const { agent, souls, settings, clock, log } = this.#soul;
    const now = clock();
    const { state, score } = verdict;
    const isTimed = state === 'passed' && settings.apply === 'after-veto-time';
    const appliesAt = isTimed ? now + settings.vetoHours * 3_600_000 : null;
    await souls.judge(agent, number, { ...verdict, appliesAt }, now);
    log.info({ version: number, state, score }, 'a text for SOUL.md was evaluated');
  }

  #inUse(): Promise<SoulVersion | null> {
    return this.#soul.souls.applied(this.#soul.agent);
  }

  #mark(inUse: number | null = null): string {
    return `${this.#soul.file.stat()?.fingerprint ?? 'none'} ${inUse ?? 'none'}`;
  }

  async #done(number: number): Promise<SoulCommandResult> {
    const version = await this.get(number);
    return version === null ? createUnknownVersionResult(number) : { kind: 'done', version };
  }
}

/** Returns why a version cannot be applied; null if it can. */
function findRejectionReason(
  number: number,
  version: SoulVersion | null,
  settings: SoulSettings,
  isRefusedToPeople: boolean,
): string | null {
  if (version === null) return `There is no version ${number}.`;
  if (settings.apply === 'never') return FROZEN;
  switch (version.state) {
    case 'passed':
      if (!isRefusedToPeople) return null;
      return `${explainAgentOnlyEdits(settings)} To use this text, ask the agent to propose it.`;
    case 'proposed':
      return `Version ${number} is still being evaluated.`;
    case 'refused':
      return `Version ${number} did not pass the evaluation.`;
    case 'applied':
      return `Version ${number} is already in use.`;
    case 'vetoed':
      return `Version ${number} was vetoed.`;
    case 'replaced':
      return version.appliedAt === null
        ? `Version ${number} was superseded by another version; propose it again.`
        : `Version ${number} was in use before: \`/soul rollback ${number}\`.`;
  }
}

function createUnknownVersionResult(number: number): SoulCommandResult {
  return refuseSoulChange(`There is no version ${number}.`);
}

function refuseSoulChange(reason: string): SoulCommandResult {
  return { kind: 'refused', reason };
}
