import type { Clock } from '@parley/contracts';
import type { BeatSlot, Store } from '@parley/store';
import { wallMinute } from '../clock/wall-words.ts';
import { beatOrder } from './beat-order.ts';
import type { BeatTarget } from './beat-target.ts';
import type { StandingTask } from './standing-task.ts';

/** What beginning a run needs. */
export interface BeginBeatDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  readonly wake: (lane: string) => Promise<void>;
  readonly clock: Clock;
}

/** A run that is about to begin. */
export interface Beginning {
  readonly task: StandingTask;
  readonly target: Extract<BeatTarget, { kind: 'chat' }>;
  /** The beat that it takes; null where somebody asked for it. */
  readonly slot: BeatSlot | null;
  /** In ms; null: never. */
  readonly lastRun: number | null;
  /** Of a run that somebody asked for. */
  readonly id?: string;
}

/** `stop`: no other task can begin in this beat either. */
export type BegunBeat =
  | { readonly kind: 'begun' }
  | { readonly kind: 'stop'; readonly reason: string };

/** Begins a run and wakes its lane. The beat is taken by it, or left to be rested. */
export async function beginBeat(
  { store, agent, wake, clock }: BeginBeatDeps,
  { task, target, slot, lastRun, id }: Beginning,
): Promise<BegunBeat> {
  const now = clock();
  const order = beatOrder({
    // The beat names its run: whoever else takes the same beat cannot begin another one.
    id: id ?? `beat_${agent.id}_${slot?.dueAt ?? now}`,
    agent: agent.id,
    task,
    lastRun: lastRun === null ? 'never' : wallMinute(lastRun, agent.timeZone),
    target,
    now,
  });
  const begun = await store.heartbeats.begin(order, slot, now);
  if (begun === 'busy') return { kind: 'stop', reason: 'the run before is not over yet' };
  if (begun === 'gone') return { kind: 'stop', reason: 'another process has this beat' };
  await wake(order.message.conversationId);
  return { kind: 'begun' };
}
