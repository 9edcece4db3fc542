import type { Simulation } from '../simulation.ts';
import type { SendAttempt } from '../world/attempts.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import type { MakeInvariant } from './invariant.ts';

/** The number of attempts with one key before the outcome of a part is called uncertain. */
const MAX_ATTEMPTS = 8;

/**
 * A part becomes sent only when a process has learned that the platform accepted it, or found the
 * part there (D04), because the outcome of a part from a killed process is unknown.
 */
export const sentIsKnown: MakeInvariant = () => ({
  id: 'D04',
  afterStep: ({ changes }, simulation) =>
    changes.flatMap((change) => {
      if (change.kind !== 'part' || change.from !== 'sending' || change.to !== 'sent') return [];
      const { part, chat } = change;
      const { kind, attempts, found } = listAttempts(simulation, chat, part);
      // The simulated platforms do not count parts sent by an earlier Parley, nor edits, deletions
      // and reactions.
      if (kind === undefined || attempts.length === 0) return [];
      const isHeard = attempts.some(({ heard }) => heard === 'receipt');
      return isHeard || found
        ? []
        : [`part ${part} of ${chat} became sent, though no process had confirmation`];
    }),
});

/**
 * On a platform that recognizes a repeated send by its key, a part is retried until it is certain
 * (D04).
 */
export const keysMakeCertain: MakeInvariant = () => ({
  id: 'D04',
  afterStep: ({ changes }, simulation) => {
    // Parts held back after a rollback of the database are not sent at all.
    if (simulation.observer.tables.setbacks > 0) return [];
    return changes.flatMap((change) => {
      if (change.kind !== 'part' || change.from !== 'sending' || change.to !== 'unknown') return [];
      const { part, chat } = change;
      const { kind, attempts } = listAttempts(simulation, chat, part);
      if (kind?.hasKeys !== true || kind.keysForMs !== undefined) return [];
      return attempts.length >= MAX_ATTEMPTS
        ? []
        : [`part ${part} of ${chat} was given up as uncertain after ${attempts.length} attempts`];
    });
  },
});

function listAttempts(
  { platforms }: Simulation,
  chat: string,
  part: string,
): {
  readonly kind: PlatformKind | undefined;
  readonly attempts: readonly SendAttempt[];
  readonly found: boolean;
} {
  const [channel = ''] = chat.split(':');
  const platform = platforms.get(channel);
  return {
    kind: platform?.kind,
    attempts: platform?.attempts.ofPart.get(part) ?? [],
    found: platform?.sending.found.has(part) === true,
  };
}
