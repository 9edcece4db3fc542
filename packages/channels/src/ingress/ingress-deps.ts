import type {
  Checkpoint,
  Clock,
  LiveBus,
  Logger,
  Meter,
  Monotonic,
  ReplyRoute,
  Tracer,
  WorkRecord,
} from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type {
  ChatCommand,
  CommandServices,
  GatewayInfo,
  SkillCommands,
} from '../commands/command.ts';
import type { DecisionRules } from './rules.ts';

export interface IngressDeps {
  readonly store: Pick<
    Store,
    | 'inbox'
    | 'outbox'
    | 'groupContext'
    | 'reactions'
    | 'pairing'
    | 'seenGroups'
    | 'decisions'
    | 'why'
    | 'links'
    | 'todos'
    | 'shownQuestions'
  >;
  readonly lanes: Pick<WakeUpQueue, 'wake'>;
  /** Wakes the delivery of a chat, of any account. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** When false, strangers get no notice on this channel (F05). */
  readonly answersStrangers: boolean;
  readonly newCode: (characters?: number) => string;
  readonly bus: LiveBus;
  /** The rules are read for each message, because they change with the settings. */
  readonly rules: DecisionRules;
  readonly situation: (agent: string | undefined) => GatewayInfo;
  /** The built-in commands when absent. */
  readonly commands?: readonly ChatCommand[] | undefined;
  /** For `/help`; absent when there are no skills. */
  readonly skillCommands?: SkillCommands | undefined;
  /**
   * For `/memory`, `/soul` and similar commands; a command whose service is missing answers that it
   * is not available.
   */
  readonly commandServices?: ((agent: string | undefined) => CommandServices) | undefined;
  readonly log: Logger;
  readonly meter: Meter;
  /** Absent when tracing is disabled. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly checkpoint: Checkpoint;
  /**
   * Records which message is being received, because receiving it may crash the process; absent in
   * processes without such a record.
   */
  readonly work?: WorkRecord | undefined;
}
