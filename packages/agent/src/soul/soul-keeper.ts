import type { SoulVersion } from '@parley/store';
import { createSoulEvaluation, type SoulEvaluationDeps } from './soul-evaluation.ts';
import type { SoulGuard } from './soul-guard.ts';
import type { SoulAnswer, SoulWish } from './soul-proposals.ts';
import type { SoulSettings } from './soul-settings.ts';

/** What keeping a soul needs. */
export interface SoulKeeperDeps extends SoulEvaluationDeps {
  readonly guard: SoulGuard;
}

/** The one way to another SOUL.md: propose, evaluate, apply, roll back (W06). */
export interface SoulKeeper {
  readonly settings: SoulSettings;
  list(): Promise<readonly SoulVersion[]>;
  get(number: number): Promise<SoulVersion | null>;
  /** What stands in use; null before the seed. */
  current(): Promise<SoulVersion | null>;
  /** Stores a proposal, and judges it at once where the rules do so alone. */
  propose(wish: SoulWish): Promise<SoulAnswer>;
  apply(number: number, by: string): Promise<SoulAnswer>;
  veto(number: number, by: string): Promise<SoulAnswer>;
  rollback(number: number, by: string, askedBy: string): Promise<SoulAnswer>;
  /** Judges what waits for it, also what a process that died has left. Never throws for a model. */
  evaluate(stop?: AbortSignal): Promise<void>;
  /** Puts into use what nobody has vetoed in time. */
  applyDue(now: number): Promise<void>;
  /** Whether nothing has changed and nothing waits; costs one look into the database and one at the file. */
  rests(now: number): Promise<boolean>;
  /** Notices what was done to the file, and judges it where the rules do so alone. */
  look(): Promise<void>;
}

/** Versions that lists show. */
const LISTED = 50;

/** Makes the keeper of one agent’s soul. Loads what carries out wishes and orders with the first one. */
export function createSoulKeeper(deps: SoulKeeperDeps): SoulKeeper {
  const { agent, souls, guard, settings } = deps;
  const evaluate = createSoulEvaluation(deps);
  const current = () => souls.applied(agent);
  const orders = () => import('./soul-orders.ts');
  return {
    settings,
    current,
    list: () => souls.list(agent, LISTED),
    get: (number) => souls.get(agent, number),
    async rests(now) {
      const { inUse, isBusy } = await souls.glance(agent, now);
      return !isBusy && guard.isUnchanged(inUse);
    },
    async look() {
      await guard.look('settled');
      // A model would keep whoever asks waiting; the rules do not.
      if (deps.trial === undefined) await evaluate();
    },
    evaluate,
    async propose(wish) {
      await guard.look('settled');
      const { proposeSoul } = await import('./soul-proposals.ts');
      const result = await proposeSoul(deps, wish);
      if (result.kind === 'refused' || deps.trial !== undefined) return result;
      await evaluate();
      const version = await souls.get(agent, result.version.number);
      return version === null ? result : { kind: 'done', version };
    },
    apply: async (number, by) => (await orders()).applySoul(deps, number, by),
    veto: async (number, by) => (await orders()).vetoSoul(deps, number, by),
    async rollback(number, by, askedBy) {
      return (await orders()).rollbackSoul(deps, number, { by, askedBy });
    },
    async applyDue(now) {
      if (settings.apply !== 'after-veto-time') return;
      for (const { number, basedOn } of await souls.due(agent, now)) {
        // Its text knows nothing of what came into use since: applying it would undo that unseen.
        if ((await current())?.number !== basedOn) {
          await souls.close(agent, number, 'replaced', null, now);
        } else await souls.apply(agent, number, null, basedOn, now);
      }
      await guard.look('settled');
    },
  };
}
