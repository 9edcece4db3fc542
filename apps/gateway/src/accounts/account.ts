import type {
  ChannelDefinition,
  ChannelState,
  CommandServices,
  DecisionRules,
  DeliveryDeps,
  MediaLimits,
  SendNotes,
  Situation,
  SkillCommands,
} from '@parley/channels';
import type {
  Checkpoint,
  Clock,
  DefectSummary,
  LiveBus,
  Logger,
  Meter,
  Monotonic,
  WorkRecord,
} from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { AccountRights } from './account-rights.ts';
import type { AccountSweeps } from './sweep-accounts.ts';

/** One account of a channel, as `parley status` and the start banner show it. */
export interface AccountStatus {
  readonly channel: string;
  readonly account: string;
  readonly state: AccountState;
  /** The path at which the platform of a hosted channel calls this gateway; absent if it does not. */
  readonly webhook?: string;
  /** Contract violations by its adapter since startup; absent when there are none. */
  readonly defects?: DefectSummary;
}

/**
 * `paused`: a person disconnected the account. `by` names that person, and `since` is in ms since
 * 1970.
 */
export type AccountState =
  | ChannelState
  | { readonly kind: 'paused'; readonly by: string; readonly since: number };

/** The services that all accounts of a gateway share. */
export interface AccountDeps {
  readonly store: Store;
  readonly turns: Pick<WakeUpQueue, 'wake' | 'check'>;
  readonly bus: LiveBus;
  readonly sweeps: AccountSweeps;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly random: () => number;
  readonly checkpoint: Checkpoint;
  /** Records which messages have been received, for the next start; absent in tests. */
  readonly work?: WorkRecord | undefined;
  readonly situation: (agent: string | undefined) => Situation;
  /** The commands that skills define; absent when there are none. */
  readonly skillCommands?: SkillCommands | undefined;
  /** Services for `/memory`, `/soul` and similar commands. */
  readonly commandServices?: ((agent: string | undefined) => CommandServices) | undefined;
  readonly media: MediaLimits;
  /** Removes secrets from everything that is sent to chats. */
  readonly scrub: Scrub;
  /** The id of this process if other gateways may use the same database; absent if none can. */
  readonly sharedAs?: string | undefined;
  /** Decides which gateway is connected as which account; absent if this is the only gateway. */
  readonly rights?: AccountRights | undefined;
  /**
   * The secret that all gateways share; it authorizes the requests that they forward to each other.
   */
  readonly token?: (() => string) | undefined;
  /** Notes of an earlier process about its sends; absent if there are none. */
  readonly sendNotes?: SendNotes | undefined;
  /** Called whenever the state of an account changes. */
  readonly onState?: (status: AccountStatus) => void;
}

/** An account to open, with its validated settings and its ingress rules. */
export interface AccountPlan {
  readonly definition: ChannelDefinition;
  readonly account: string;
  readonly settings: unknown;
  readonly rules: DecisionRules;
  /** What to do with a part that may have arrived; `notify` when absent. */
  readonly whenUncertain?: DeliveryDeps['whenUncertain'];
}
