import { createTraceChecker } from '../model/allowed-steps.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * Each step is one that the model of the lane and the outbox allows (D17). Where the database has gone back, or Parley
 * has noticed that it has, a trace of its own begins: `survivesPowerCut` says what a power cut may undo.
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
      // What an earlier Parley has left is shown with the first step, whatever it was before.
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

/** A notice is sent once more after the death of a process; how often at most, `uncertainOnce` says. */
function mayRepeat({ platforms, observer }: Simulation, chat: string, part: string): boolean {
  const [channel = ''] = chat.split(':');
  const isNotice = observer.tables.parts.get(part)?.notice_of != null;
  return isNotice || platforms.get(channel)?.kind.whenUncertain === 'resend';
}
