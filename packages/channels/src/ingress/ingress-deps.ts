import type { Clock, LiveBus, Logger, Meter, PassPoint, ReplyRoute, Tracer } from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { SkillCommands } from './command.ts';
import type { CommandServices } from './command-services.ts';
import type { DecisionRules } from './decide.ts';
import type { Situation } from './notices.ts';

export interface IngressDeps {
  readonly store: Pick<
    Store,
    | 'inbox'
    | 'outbox'
    | 'groupContext'
    | 'pairing'
    | 'seenGroups'
    | 'decisions'
    | 'why'
    | 'links'
    | 'todos'
  >;
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** Wakes the delivery of a chat, of any account. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False: strangers get no notice on this channel (F05). */
  readonly answersStrangers: boolean;
  /** A fresh one-time code, unguessable. */
  readonly newCode: () => string;
  readonly bus: LiveBus;
  /** Read for each message: they change with the settings. */
  readonly rules: DecisionRules;
  readonly situation: () => Situation;
  /** For `/help`; absent: there are no skills. */
  readonly skillCommands?: SkillCommands | undefined;
  /** For `/memory`, `/soul` and others; without its service a command answers that it is not available. */
  readonly commandServices?: (() => CommandServices) | undefined;
  readonly log: Logger;
  readonly meter: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly pass: PassPoint;
}
