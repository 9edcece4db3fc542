import type {
  ChannelDefinition,
  ChannelState,
  CommandServices,
  DecisionRules,
  DeliveryDeps,
  GatewayInfo,
  MediaLimits,
  SendNotes,
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

/** The status of a channel account, as shown by `parley status` and in the startup banner. */
export interface AccountStatus {
  readonly channel: string;
  readonly account: string;
  readonly state: AccountState;
  /**
   * The path at which a hosted channel's platform calls this gateway; absent if the platform does
   * not call it.
   */
  readonly webhook?: string;
  /** Violations of the adapter contract since startup; absent if there are none. */
  readonly defects?: DefectSummary;
}

/**
 * `paused` means that a person disconnected the account. `by` names the person, and `since` is in
 * ms since 1970.
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
  /** Records received messages for the next start; absent in tests. */
  readonly work?: WorkRecord | undefined;
  readonly situation: (agent: string | undefined) => GatewayInfo;
  /** The commands defined by skills; absent if there are none. */
  readonly skillCommands?: SkillCommands | undefined;
  /** Services for `/memory`, `/soul` and similar commands. */
  readonly commandServices?: ((agent: string | undefined) => CommandServices) | undefined;
  readonly media: MediaLimits;
  /** Removes secrets from all text that is sent to chats. */
  readonly scrub: Scrub;
  /** The id of this process if other gateways may use the same database; otherwise absent. */
  readonly sharedAs?: string | undefined;
  /** Decides which gateway is connected as which account; absent if this is the only gateway. */
  readonly rights?: AccountRights | undefined;
  /**
   * Returns the secret that all gateways share. The secret authorizes the requests that gateways
   * forward to each other.
   */
  readonly token?: (() => string) | undefined;
  /** An earlier process's notes about its sends; absent if there are none. */
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
  /** The policy for a message part that may have been delivered; the default is `notify`. */
  readonly whenUncertain?: DeliveryDeps['whenUncertain'];
}
