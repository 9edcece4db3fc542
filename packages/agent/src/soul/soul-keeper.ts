import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { SoulRepository, SoulVersion } from '@parley/store';
import { localLock, soulText } from '@parley/workspace';
import type { ScenarioServices } from './judge-soul.ts';
import type { SoulGuard } from './soul-guard.ts';
import { LONGEST_SOUL, type SoulSettings, soulDiff } from './soul-text.ts';

/** What proposes a text; `askedBy` deduplicates proposals. */
export interface SoulProposal {
  readonly askedBy: string;
  readonly text: string;
  readonly author: 'agent' | 'person';
  readonly by: string;
  readonly reason: string;
}

/** `words` is a sentence for the sender. */
export type SoulAnswer =
  | { readonly kind: 'done'; readonly version: SoulVersion }
  | { readonly kind: 'refused'; readonly words: string };

export interface SoulOptions {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly guard: SoulGuard;
  readonly settings: SoulSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** Opens the scenarios with the first proposal; without a judge the rules decide alone. */
  readonly trial?: () => Promise<ScenarioServices>;
}

const LISTED = 50;
/** Proposals of one author that may be open at a time. */
const MOST_OPEN = 3;
/** Pause after a failure of a model. */
const RETRY_MS = 5 * 60_000;
const CONFLICT = 'Something else came in between; please look again.';
const FROZEN = 'SOUL.md stays as it is: soul.apply is "never" in the settings.';

/** Every change of SOUL.md goes through here: propose, judge, apply, roll back (W06). */
export class SoulKeeper {
  readonly settings: SoulSettings;
  readonly #soul: SoulOptions;
  #retryAt = 0;
  readonly #evaluations = localLock();

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

  /** The version in use; null before the seed. */
  current(): Promise<SoulVersion | null> {
    return this.#soul.souls.applied(this.#soul.agent);
  }

  /** Whether nothing has changed and nothing is pending; costs one query and one look at the file. */
  async rests(now: number): Promise<boolean> {
    const { inUse, isBusy } = await this.#soul.souls.glance(this.#soul.agent, now);
    return !isBusy && this.#soul.guard.isUnchanged(inUse);
  }

  /** Takes edits of the file as proposals, and judges them where the rules decide alone. */
  async look(): Promise<void> {
    await this.#soul.guard.look('settled');
    // A model would keep the caller waiting; the rules do not.
    if (this.#soul.trial === undefined) await this.evaluate();
  }

  /** Stores a proposal against the text in use, and judges it at once where the rules decide alone. */
  async propose({ text: raw, ...proposal }: SoulProposal): Promise<SoulAnswer> {
    const { agent, souls, guard, clock, trial } = this.#soul;
    await guard.look('settled');
    if (raw.includes('\0') || !raw.isWellFormed()) return refused('That is no plain text.');
    if (proposal.author === 'agent' && this.settings.apply === 'never') return refused(FROZEN);
    if (raw.length > LONGEST_SOUL * 2) return refused('That is far too long for SOUL.md.');
    const inUse = await this.current();
    const text = soulText(raw);
    if (inUse === null) return this.#seed({ ...proposal, text });
    const { head, number: basedOn } = inUse;
    const version = { ...proposal, text, head, basedOn, diff: soulDiff(inUse.text, text) };
    const stored = await souls.propose(agent, version, MOST_OPEN, clock());
    if (stored.kind === 'full') {
      return refused(
        `${MOST_OPEN} proposals are open already; the owner has to decide on them first.`,
      );
    }
    if (trial !== undefined) return { kind: 'done', version: stored.version };
    await this.evaluate();
    return this.#done(stored.version.number);
  }

  /** Only a person writes the first version. */
  async #seed({ author, by, text }: SoulProposal): Promise<SoulAnswer> {
    if (author === 'agent')
      return refused('There is no SOUL.md yet, and a person writes the first.');
    if (text.trim() === '') return refused('It says nothing.');
    const { agent, souls, clock } = this.#soul;
    await souls.seed(agent, { text, head: '', by }, clock());
    return this.#done(0);
  }

  async apply(number: number, by: string): Promise<SoulAnswer> {
    const { agent, souls, guard, clock } = this.#soul;
    const [version, inUse] = [await this.get(number), await this.current()];
    const objection = objectionTo(number, version, this.settings);
    if (objection !== null) return refused(objection);
    if (inUse === null || !(await souls.apply(agent, number, by, inUse.number, clock())))
      return refused(CONFLICT);
    await guard.look('at-once');
    return this.#done(number);
  }

  async veto(number: number, by: string): Promise<SoulAnswer> {
    const { agent, souls, clock } = this.#soul;
    const version = await this.get(number);
    if (version === null) return missing(number);
    const isVetoed =
      version.state === 'vetoed' || (await souls.close(agent, number, 'vetoed', by, clock()));
    if (isVetoed) return this.#done(number);
    return refused(
      version.state === 'applied'
        ? `Version ${number} is in use already. \`/soul rollback ${version.basedOn ?? 0}\` goes back.`
        : `Version ${number} is not open any more.`,
    );
  }

  /** Applies the text of a former version again, as a new version. */
  async rollback(number: number, by: string, askedBy: string): Promise<SoulAnswer> {
    const { agent, souls, guard, clock } = this.#soul;
    const [inUse, to] = [await this.current(), await this.get(number)];
    if (inUse === null || to === null) return missing(number);
    if (to.appliedAt === null)
      return refused(`Version ${number} was never in use, so there is no way back to it.`);
    const reason = `back to version ${number}`;
    if (to.text === inUse.text) {
      // The same order received again.
      if (inUse.reason === reason) return { kind: 'done', version: inUse };
      return refused(`Version ${inUse.number}, in use now, says just that.`);
    }
    const diff = soulDiff(inUse.text, to.text);
    const order = { to: number, askedBy, by, reason, basedOn: inUse.number, diff };
    const version = await souls.rollback(agent, order, clock());
    if (version === null) return refused(CONFLICT);
    await guard.look('at-once');
    return { kind: 'done', version };
  }

  /** Applies versions whose veto time is over. */
  async applyDue(now: number): Promise<void> {
    const { agent, souls, guard } = this.#soul;
    if (this.settings.apply !== 'after-veto-time') return;
    for (const { number, basedOn } of await souls.due(agent, now)) {
      // Its text is based on another version: applying it would undo the newer one unseen.
      if ((await this.current())?.number !== basedOn)
        await souls.close(agent, number, 'replaced', null, now);
      else await souls.apply(agent, number, null, basedOn, now);
    }
    await guard.look('settled');
  }

  /**
   * Judges pending proposals one after another, also those of a process that died. Never rejects: a model
   * that fails is asked again later.
   */
  async evaluate(stop: AbortSignal = new AbortController().signal): Promise<void> {
    try {
      await this.#evaluations.hold(() => this.#judgePending(stop));
    } catch (error) {
      if (stop.aborted) return;
      this.#retryAt = this.#soul.clock() + RETRY_MS;
      const reason = reasonOf(error);
      this.#soul.log.warn({ reason }, 'SOUL.md could not be evaluated; it is tried again');
    }
  }

  async #judgePending(stop: AbortSignal): Promise<void> {
    const { agent, souls, settings, clock, log, trial } = this.#soul;
    if (clock() < this.#retryAt) return;
    const pending = await souls.unjudged(agent);
    if (pending.length === 0) return;
    const { judgeWithScenarios } = await import('./judge-soul.ts');
    for (const { number, text, author } of pending) {
      const before = (await this.current())?.text ?? null;
      const verdict = await judgeWithScenarios({ text, before, author }, trial, stop);
      const now = clock();
      const { state, score } = verdict;
      const isTimed = state === 'passed' && settings.apply === 'after-veto-time';
      const appliesAt = isTimed ? now + settings.vetoHours * 3_600_000 : null;
      await souls.judge(agent, number, { ...verdict, appliesAt }, now);
      log.info({ version: number, state, score }, 'a text for SOUL.md was evaluated');
    }
  }

  async #done(number: number): Promise<SoulAnswer> {
    const version = await this.get(number);
    return version === null ? missing(number) : { kind: 'done', version };
  }
}

/** Why a version cannot be applied; null where it can. */
function objectionTo(number: number, version: SoulVersion | null, { apply }: SoulSettings) {
  if (version === null) return `There is no version ${number}.`;
  if (apply === 'never') return FROZEN;
  switch (version.state) {
    case 'passed':
      return null;
    case 'proposed':
      return `Version ${number} is still being evaluated.`;
    case 'refused':
      return `Version ${number} did not pass the evaluation.`;
    case 'applied':
      return `Version ${number} is in use already.`;
    case 'vetoed':
      return `Version ${number} was vetoed.`;
    case 'replaced':
      return version.appliedAt === null
        ? `Version ${number} was overtaken by another one; propose it again.`
        : `Version ${number} was in use before: \`/soul rollback ${number}\`.`;
  }
}

function missing(number: number): SoulAnswer {
  return refused(`There is no version ${number}.`);
}

function refused(words: string): SoulAnswer {
  return { kind: 'refused', words };
}
