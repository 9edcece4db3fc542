import type { Simulation } from '../simulation.ts';
import type { Attempt } from '../world/attempts.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import type { MakeInvariant } from './invariant.ts';

/** So often a part is tried under one key before its outcome is called uncertain. */
const MAX_ATTEMPTS = 8;

/**
 * A part becomes sent only where some process has heard that the platform took it, or found it there (D04): what a dead
 * process left behind is not known to have arrived.
 */
export const sentIsKnown: MakeInvariant = () => ({
  id: 'D04',
  afterStep: ({ changes }, simulation) =>
    changes.flatMap((change) => {
      if (change.kind !== 'part' || change.from !== 'sending' || change.to !== 'sent') return [];
      const { part, chat } = change;
      const { kind, attempts, found } = attemptsAt(simulation, chat, part);
      // What an earlier Parley has sent, and what is done to messages, no platform of the simulation counts.
      if (kind === undefined || attempts.length === 0) return [];
      const isHeard = attempts.some(({ heard }) => heard === 'receipt');
      return isHeard || found
        ? []
        : [`part ${part} of ${chat} became sent, which nobody had heard`];
    }),
});

/** Where the platform knows a repeated send by its key, a part is tried again until it is certain (D04). */
export const keysMakeCertain: MakeInvariant = () => ({
  id: 'D04',
  afterStep: ({ changes }, simulation) => {
    // What a database that has gone back holds back is not tried at all.
    if (simulation.observer.tables.setbacks > 0) return [];
    return changes.flatMap((change) => {
      if (change.kind !== 'part' || change.from !== 'sending' || change.to !== 'unknown') return [];
      const { part, chat } = change;
      const { kind, attempts } = attemptsAt(simulation, chat, part);
      if (kind?.hasKeys !== true || kind.keysForMs !== undefined) return [];
      return attempts.length >= MAX_ATTEMPTS
        ? []
        : [`part ${part} of ${chat} was given up as uncertain after ${attempts.length} attempts`];
    });
  },
});

function attemptsAt(
  { platforms }: Simulation,
  chat: string,
  part: string,
): {
  readonly kind: PlatformKind | undefined;
  readonly attempts: readonly Attempt[];
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
