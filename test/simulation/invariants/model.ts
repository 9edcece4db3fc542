import { createTraceChecker } from '../model/allowed-steps.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * The model of the lane and the outbox allows each step (D17). When the database was rolled back,
 * or Parley has noticed a rollback, a new trace starts: `survivesPowerCut` checks what a power cut
 * may undo.
 */
export const allowedSteps: MakeInvariant = () => {
  let check: ReturnType<typeof createTraceChecker> | undefined;
  let setbacks = 0;
  let isFirst = true;
  return {
    id: 'D17',
    afterStep: (step, simulation) => {
      const { tables } = simulation.observer;
      const isBack = step.changes.some(({ kind }) => kind === 'rewound');
      // Rows left by an earlier Parley appear with the first step, in whatever state they were.
      const isLeft = isFirst && simulation.scene.prepare !== undefined;
      isFirst = false;
      if (isLeft || isBack || tables.setbacks !== setbacks) {
        check = undefined;
        setbacks = tables.setbacks;
        return [];
      }
      check ??= createTraceChecker({
        mayRepeat: (chat, part) => mayRepeat(simulation, chat, part),
      });
      return check(step);
    },
  };
};

/** A notice is repeated after a crash; `uncertainOnce` limits the repetitions. */
function mayRepeat({ platforms, observer }: Simulation, chat: string, part: string): boolean {
  const [channel = ''] = chat.split(':');
  const isNotice = observer.tables.parts.get(part)?.notice_of != null;
  return isNotice || platforms.get(channel)?.kind.whenUncertain === 'resend';
}
