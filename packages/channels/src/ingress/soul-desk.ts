import type { AdmittedMessage } from '@parley/store';
import { personId } from './access.ts';
import type { CommandDecision, TypedCommand } from './command.ts';

/** Who uses `/soul`: an owner, alone with the agent. */
export interface SoulAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** No other message has it, of whatever chat. */
  readonly messageId: string;
}

/** Answers `/soul` (W06), in Markdown. Told twice of the same message, it does nothing more. */
export interface SoulDesk {
  answer(asker: SoulAsker, argument: string): Promise<string>;
}

const NO_DESK = 'There is nobody here who keeps a SOUL.md.';

/** What the desk says; undefined for all other commands. */
export async function askSoulDesk(
  desk: SoulDesk | undefined,
  { message }: Pick<AdmittedMessage, 'message'>,
  decision: CommandDecision,
  { argument }: TypedCommand,
): Promise<string | undefined> {
  if (decision.kind !== 'run' || decision.name !== 'soul') return undefined;
  if (desk === undefined) return NO_DESK;
  const { channel, account, chat, messageId } = message;
  const unique = JSON.stringify([channel, account, chat.id, messageId]);
  return desk.answer({ person: personId(message), messageId: unique }, argument);
}
