import type { Reader } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { CommandDecision, TypedCommand } from './command.ts';
import { personId } from './decide.ts';

/** Who uses a command that a desk answers, and where. */
export interface DeskAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Who reads the answer decides what may stand in it (W02); `owner`: alone with the agent. */
  readonly reader: Reader;
  readonly isGroup: boolean;
  /** No other message has it, of whatever chat. */
  readonly messageId: string;
}

/**
 * Answers one command about what lies outside of the chat, in Markdown. Whether the asker may use it
 * is decided before. Told twice of the same message, it does nothing more.
 */
export type Desk = (asker: DeskAsker, argument: string) => Promise<string>;

/** The commands that desks answer, and what is said where nobody sits at one. */
const NOBODY = {
  memory: 'Memory is switched off in my settings: I save nothing about anybody.',
  forget: 'Memory is switched off in my settings: I save nothing about anybody.',
  soul: 'There is nobody here who keeps a SOUL.md.',
  heartbeat: 'There is nobody here who looks after standing tasks.',
} as const;

/** The desks of an installation. */
export interface Desks extends Readonly<Partial<Record<keyof typeof NOBODY, Desk | undefined>>> {
  /** What `/status` tells the owner besides, in one line. */
  readonly statusLine?: () => Promise<string>;
}

/** What the desk of a command says; undefined for commands that have none. */
export async function askDesk(
  desks: Desks,
  { conversationId, message }: Pick<AdmittedMessage, 'conversationId' | 'message'>,
  decision: CommandDecision,
  { argument }: TypedCommand,
  audience: 'owner' | 'others',
): Promise<string | undefined> {
  if (decision.kind !== 'run') return undefined;
  const { name } = decision;
  if (!isDeskCommand(name)) return undefined;
  const desk = desks[name];
  if (desk === undefined) return NOBODY[name];
  const { channel, account, chat, messageId } = message;
  const asker: DeskAsker = {
    person: personId(message),
    reader: { kind: audience === 'owner' ? 'owner' : 'guest', conversationId },
    isGroup: chat.type !== 'direct',
    messageId: JSON.stringify([channel, account, chat.id, messageId]),
  };
  return desk(asker, argument);
}

function isDeskCommand(name: string): name is keyof typeof NOBODY {
  return Object.hasOwn(NOBODY, name);
}
