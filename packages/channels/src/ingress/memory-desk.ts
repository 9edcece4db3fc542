import type { Reader } from '@parley/contracts';
import type { AdmittedMessage } from '@parley/store';
import { personId } from './access.ts';
import type { CommandDecision, TypedCommand } from './command.ts';

/** Who uses `/memory` or `/forget`, and where. */
export interface MemoryAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Who reads the answer decides what may stand in it (W02). */
  readonly reader: Reader;
  readonly isGroup: boolean;
  readonly messageId: string;
}

/** Answers `/memory` and `/forget` (G15), in Markdown. */
export interface MemoryDesk {
  show(asker: MemoryAsker): Promise<string>;
  /** Told twice of the same message, it does nothing more. */
  forget(asker: MemoryAsker, argument: string): Promise<string>;
}

const SWITCHED_OFF = 'Memory is switched off in my settings: I save nothing about anybody.';

/** What the desk says; undefined for all other commands. `isOwner`: an owner, alone with the agent. */
export async function askDesk(
  desk: MemoryDesk | undefined,
  { conversationId, message }: AdmittedMessage,
  decision: CommandDecision,
  { argument }: TypedCommand,
  isOwner: boolean,
): Promise<string | undefined> {
  if (decision.kind !== 'run') return undefined;
  if (decision.name !== 'memory' && decision.name !== 'forget') return undefined;
  if (desk === undefined) return SWITCHED_OFF;
  const asker: MemoryAsker = {
    person: personId(message),
    reader: { kind: isOwner ? 'owner' : 'guest', conversationId },
    isGroup: message.chat.type !== 'direct',
    messageId: message.messageId,
  };
  return decision.name === 'memory' ? desk.show(asker) : desk.forget(asker, argument);
}

/** The message as it is kept: what is to be forgotten must not be stored with the wish to forget it. */
export function withoutSecret(admitted: AdmittedMessage, { name }: TypedCommand): AdmittedMessage {
  if (name !== 'forget') return admitted;
  const { replyTo: _replyTo, ...message } = admitted.message;
  return { ...admitted, message: { ...message, text: '/forget' } };
}
