import type {
  Clock,
  InboundMessage,
  LiveBus,
  Logger,
  Meter,
  Monotonic,
  PassPoint,
  ReplyRoute,
  Tracer,
  WorkRecord,
} from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, Store } from '@parley/store';
import type {
  ChatCommand,
  CommandServices,
  Situation,
  SkillCommands,
} from '../commands/command.ts';
import type { Albums } from './albums.ts';
import type { BacklogLimit } from './limits.ts';
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
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** Wakes the delivery of a chat, of any account. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False: strangers get no notice on this channel (F05). */
  readonly answersStrangers: boolean;
  /** A fresh one-time code, unguessable, of eight characters where no number is given. */
  readonly newCode: (characters?: number) => string;
  readonly bus: LiveBus;
  /** Read for each message: they change with the settings. */
  readonly rules: DecisionRules;
  readonly situation: (agent: string | undefined) => Situation;
  /** Those of Parley when absent. */
  readonly commands?: readonly ChatCommand[] | undefined;
  /** For `/help`; absent: there are no skills. */
  readonly skillCommands?: SkillCommands | undefined;
  /** For `/memory`, `/soul` and others; without its service a command answers that it is not available. */
  readonly commandServices?: ((agent: string | undefined) => CommandServices) | undefined;
  readonly log: Logger;
  readonly meter: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly pass: PassPoint;
  /** Records which message is taken in, which may end the process; nothing is recorded when absent. */
  readonly work?: WorkRecord | undefined;
}

/** What the ingress of one account remembers between messages, in memory and bounded. */
export interface IngressMemory {
  readonly explain: Explainer;
  readonly albums: Albums;
  readonly backlog: BacklogLimit;
  /** Whether a sender answers like a machine. */
  readonly isLoop: (message: InboundMessage) => boolean;
  /** Whether a group that is not allowed is to be noted, seldom enough. */
  readonly isGroupNews: (chatId: string) => boolean;
}

/** Explains to senders why a message was not admitted (D07), seldom enough to be no nuisance. */
export interface Explainer {
  /** Once an hour per sender. */
  stranger(admitted: AdmittedMessage): Promise<void>;
  /** With a code that an owner can approve; once while it is valid. */
  pairing(admitted: AdmittedMessage): Promise<void>;
  /** Once a minute per conversation, as all that is refused for its number or size. `limit` in characters. */
  tooLong(admitted: AdmittedMessage, limit: number): Promise<void>;
  /** Too many wait in this conversation. */
  overflow(admitted: AdmittedMessage, waiting: number): Promise<void>;
  /** Too many wait in all conversations together. */
  noRoom(admitted: AdmittedMessage): Promise<void>;
  /** Its ingress ended the process too often. */
  givenUp(admitted: AdmittedMessage): Promise<void>;
}
