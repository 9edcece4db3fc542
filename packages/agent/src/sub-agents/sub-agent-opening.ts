import type { LiveBus, Reader } from '@parley/contracts';
import type { ClaimedTurn, SubAgentRun } from '@parley/store';
import type { OpenedTurn, OpenTurnDeps } from '../turn-opening.ts';
import { openTurn, turnReader } from '../turn-opening.ts';
import { originIn } from './task-origin.ts';

/**
 * The turn as if it were one of the chat that it works for: facts, format and privacy come from there.
 * Its lane stays its own.
 */
export function turnOfItsChat(turn: ClaimedTurn): ClaimedTurn {
  const messages = turn.messages.map((row) => {
    const { message, route } = row;
    return { ...row, message: { ...message, chat: { ...message.chat, id: route.chatId } } };
  });
  return { ...turn, messages };
}

/**
 * For whom a sub-agent runs (W02): for the conversation that it works for, as an owner only if the turn
 * that started it did and this conversation is still an owner's. Never more than its parent.
 */
function subAgentReader(
  turn: ClaimedTurn,
  run: Pick<SubAgentRun, 'reader' | 'rootConversation'>,
  deps: Parameters<typeof turnReader>[1],
): Reader {
  const now = turnReader(turn, deps);
  const kind = run.reader === 'owner' && now.kind === 'owner' ? 'owner' : 'guest';
  return { kind, conversationId: run.rootConversation };
}

/** What its prompt and its tools begin with: everything through the view of that reader. */
export async function openSubAgentTurn(
  turn: ClaimedTurn,
  run: SubAgentRun,
  text: string,
  deps: OpenTurnDeps,
): Promise<OpenedTurn> {
  const reader = subAgentReader(turn, run, deps);
  const { named, foreignWords } = originIn(run.task);
  return { ...(await openTurn(turn, text, deps, reader)), origin: { said: named, foreignWords } };
}

/** Nobody watches how the answer of a turn without people grows. */
export function mute(bus: LiveBus): LiveBus {
  return { publish() {}, subscribe: (listener) => bus.subscribe(listener) };
}
