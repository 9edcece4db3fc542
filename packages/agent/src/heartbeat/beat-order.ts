import type { ReplyRoute, RuntimeFacts } from '@parley/contracts';
import type { HeartbeatNote } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { z } from 'zod';
import { leadingMessage } from '../turn-opening.ts';

/** What a heartbeat’s message carries in its variables: the task as it stood when the run began. */
const Note = z.object({ task: z.string(), instruction: z.string(), schedule: z.string() });
const Routine = z.object({ routine: z.string().optional() });

/** The task of a run, and its turn without it: the prompt tells of it at its own place. */
export function readTask(turn: ClaimedTurn): {
  readonly note: HeartbeatNote;
  readonly turn: ClaimedTurn;
  /** Built-in work that it asks for in place of an instruction. */
  readonly routine: string | undefined;
} {
  const { variables } = leadingMessage(turn).message;
  const note = Note.parse(variables);
  const { routine } = Routine.parse(variables);
  const messages = turn.messages.map((row) => ({
    ...row,
    message: { ...row.message, variables: {} },
  }));
  return { note, turn: { ...turn, messages }, routine };
}

/**
 * Whether what is said there is read by the owner alone. Both have to say so: a route into a group
 * makes every reader of it a guest, whatever the message claims (W02).
 */
export function isOwnersAlone(
  { chatType }: Pick<RuntimeFacts, 'chatType'>,
  route: Pick<ReplyRoute, 'chatType'>,
): boolean {
  return chatType === 'direct' && (route.chatType ?? 'direct') === 'direct';
}
