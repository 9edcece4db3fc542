import { reasonOf } from '@parley/contracts';
import type { SoulVersion } from '@parley/store';
import type { SoulJudging } from './judge-soul.ts';
import type { Soul, SoulAnswer, SoulWish } from './soul-orders.ts';
import type { SoulSettings } from './soul-text.ts';

/** Every change of SOUL.md goes through here: propose, judge, apply, roll back (W06). */
export interface SoulKeeper {
  readonly settings: SoulSettings;
  list(): Promise<readonly SoulVersion[]>;
  get(number: number): Promise<SoulVersion | null>;
  /** The version in use; null before the seed. */
  current(): Promise<SoulVersion | null>;
  /** Stores a proposal, and judges it at once where the rules decide alone. */
  propose(wish: SoulWish): Promise<SoulAnswer>;
  apply(number: number, by: string): Promise<SoulAnswer>;
  veto(number: number, by: string): Promise<SoulAnswer>;
  rollback(number: number, by: string, askedBy: string): Promise<SoulAnswer>;
  /** Judges pending proposals, also those of a process that died. Never throws for a model. */
  evaluate(stop?: AbortSignal): Promise<void>;
  /** Applies versions whose veto time is over. */
  applyDue(now: number): Promise<void>;
  /** Whether nothing has changed and nothing is pending; costs one query and one look at the file. */
  rests(now: number): Promise<boolean>;
  /** Takes edits of the file as proposals, and judges them where the rules decide alone. */
  look(): Promise<void>;
}

/** Versions that lists show. */
const LISTED = 50;

/** Loads the code of proposals and orders with the first one. */
export function createSoulKeeper(soul: Soul & SoulJudging): SoulKeeper {
  const { agent, souls, guard, settings } = soul;
  const evaluate = evaluationOf(soul);
  const orders = () => import('./soul-orders.ts');
  return {
    settings,
    current: () => souls.applied(agent),
    list: () => souls.list(agent, LISTED),
    get: (number) => souls.get(agent, number),
    async rests(now) {
      const { inUse, isBusy } = await souls.glance(agent, now);
      return !isBusy && guard.isUnchanged(inUse);
    },
    async look() {
      await guard.look('settled');
      // A model would keep the caller waiting; the rules do not.
      if (soul.trial === undefined) await evaluate();
    },
    evaluate,
    async propose(wish) {
      await guard.look('settled');
      const { proposeSoul } = await orders();
      const result = await proposeSoul(soul, wish);
      if (result.kind === 'refused' || soul.trial !== undefined) return result;
      await evaluate();
      const version = await souls.get(agent, result.version.number);
      return version === null ? result : { kind: 'done', version };
    },
    apply: async (number, by) => (await orders()).applySoul(soul, number, by),
    veto: async (number, by) => (await orders()).vetoSoul(soul, number, by),
    async rollback(number, by, askedBy) {
      return (await orders()).rollbackSoul(soul, number, { by, askedBy });
    },
    async applyDue(now) {
      if (settings.apply !== 'after-veto-time') return;
      for (const { number, basedOn } of await souls.due(agent, now)) {
        // Its text is based on another version: applying it would undo the newer one unseen.
        if ((await souls.applied(agent))?.number !== basedOn) {
          await souls.close(agent, number, 'replaced', null, now);
        } else await souls.apply(agent, number, null, basedOn, now);
      }
      await guard.look('settled');
    },
  };
}

/** Pause after a failure of a model, in ms. */
const TRY_AGAIN_MS = 5 * 60_000;

/** Judges pending proposals one after another. Never rejects: a model that fails is asked again later. */
function evaluationOf(soul: SoulJudging): (stop?: AbortSignal) => Promise<void> {
  const { agent, souls, clock, log } = soul;
  let notBefore = 0;
  let running: Promise<void> = Promise.resolve();
  const round = async (stop: AbortSignal): Promise<void> => {
    if (clock() < notBefore) return;
    const waiting = await souls.unjudged(agent);
    if (waiting.length === 0) return;
    const { judgeVersion } = await import('./judge-soul.ts');
    for (const version of waiting) await judgeVersion(soul, version, stop);
  };
  return (stop = new AbortController().signal) => {
    const next = running.then(() => round(stop));
    running = next.catch((error: unknown) => {
      if (stop.aborted) return;
      notBefore = clock() + TRY_AGAIN_MS;
      log.warn({ reason: reasonOf(error) }, 'SOUL.md could not be evaluated; it is tried again');
    });
    return running;
  };
}
