import type { InboundMessage } from '@parley/contracts';
import type { ClaimedTurn } from '@parley/store';
import { type OpenTurnDeps, turnReader } from '../turn-opening.ts';
import type { Compaction } from './compact.ts';
import type { Compactor } from './compactor.ts';

/** What became of `/compact`, and of the turn that it came with. */
export interface AskedToCompact {
  /** For the person. */
  readonly words: string;
  /** What else there is to answer. */
  readonly rest: ClaimedTurn | null;
}

/**
 * Carries `/compact` out. It comes through the lane as any message does, so that it is stored, waits for
 * the turn before it, and is carried out by one worker. Null where nobody asked for it; `stopped` when `stop` fired meanwhile.
 */
export async function askedToCompact(
  deps: Pick<OpenTurnDeps, 'agent' | 'owners' | 'clock'> & {
    readonly compactor?: Compactor | undefined;
  },
  turn: ClaimedTurn,
  stop: AbortSignal,
): Promise<AskedToCompact | 'stopped' | null> {
  const messages = turn.messages.filter(({ message }) => !isCompact(message));
  if (deps.compactor === undefined || messages.length === turn.messages.length) return null;
  const { conversationId, session } = turn;
  const reader = turnReader(turn, deps);
  const order = { conversationId, session, reader, forced: true };
  try {
    const words = compactionWords(await deps.compactor.now(order, stop));
    return { words, rest: messages.length === 0 ? null : { ...turn, messages } };
  } catch (error) {
    if (stop.aborted) return 'stopped';
    throw error;
  }
}

/** What Parley itself put into the lane is a task for the model, whatever it says. */
function isCompact({ text, occasion }: InboundMessage): boolean {
  return occasion === undefined && /^\s*\/compact(?:\s|$)/i.test(text);
}

function compactionWords(compaction: Compaction): string {
  switch (compaction.kind) {
    case 'done': {
      const { entries, from, to } = compaction;
      return `I have summed up the older part of our conversation: ${entries} messages and notes of about ${shown(from)} tokens are now notes of about ${shown(to)}. The newest messages stay as they are.`;
    }
    case 'nothing':
      return compaction.already
        ? 'The older part of our conversation is summed up, and there is nothing more to sum up yet.'
        : 'There is nothing to sum up yet: our conversation is short.';
    case 'busy':
      return 'I am summing up our conversation already.';
    case 'failed':
      return 'I could not sum up our conversation, so everything stays as it is. Please try again later.';
  }
}

function shown(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
