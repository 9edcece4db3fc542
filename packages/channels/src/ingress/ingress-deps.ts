import type {
  Clock,
  LiveBus,
  Logger,
  Meter,
  Monotonic,
  PassPoint,
  Reader,
  ReplyRoute,
  Tracer,
  WorkRecord,
} from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, Store } from '@parley/store';
import type { CommandDecision, SkillCommands, TypedCommand } from './command.ts';
import { type DecisionRules, personId } from './decide.ts';
import type { Situation } from './notices.ts';

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

/** The user of a command that a service answers, and the chat. */
export interface ServiceAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Bounds what the answer may contain (W02); `owner`: alone with the agent. */
  readonly reader: Reader;
  readonly isGroup: boolean;
  /** Unique among the messages of all chats. */
  readonly messageId: string;
}

/**
 * Answers one command about something outside the chat, in Markdown. Whether the asker may use it is
 * decided before. A second call for the same message changes nothing.
 */
export type CommandService = (asker: ServiceAsker, argument: string) => Promise<string>;

/** The commands that services answer, and the answer where the service is missing. */
const UNAVAILABLE = {
  memory: 'Memory is switched off in my settings: I save nothing about anyone.',
  forget: 'Memory is switched off in my settings: I save nothing about anyone.',
  soul: 'SOUL.md is not available here.',
  heartbeat: 'Standing tasks are not available here.',
  zone: 'Jobs are not available here.',
} as const;

export interface CommandServices
  extends Readonly<Partial<Record<keyof typeof UNAVAILABLE, CommandService | undefined>>> {
  /** An extra line of `/status` for the owner. */
  readonly statusLine?: () => Promise<string>;
}

/** The answer of the command's service; undefined for commands that have none. */
export async function askService(
  services: CommandServices,
  { conversationId, message }: Pick<AdmittedMessage, 'conversationId' | 'message'>,
  decision: CommandDecision,
  { argument }: TypedCommand,
  audience: 'owner' | 'others',
): Promise<string | undefined> {
  if (decision.kind !== 'run') return undefined;
  const { name } = decision;
  if (!hasService(name)) return undefined;
  const service = services[name];
  if (service === undefined) return UNAVAILABLE[name];
  const { channel, account, chat, messageId } = message;
  const asker: ServiceAsker = {
    person: personId(message),
    reader: { kind: audience === 'owner' ? 'owner' : 'guest', conversationId },
    isGroup: chat.type !== 'direct',
    messageId: JSON.stringify([channel, account, chat.id, messageId]),
  };
  return service(asker, argument);
}

function hasService(name: string): name is keyof typeof UNAVAILABLE {
  return Object.hasOwn(UNAVAILABLE, name);
}
