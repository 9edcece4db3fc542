import type { InboundMessage } from '@parley/contracts';
import { parsePromptCommand } from '../mcp/mcp-command.ts';
import { isForwarded } from '../memory/own-words.ts';
import { BEGIN_WORDS } from '../sub-agents/sub-agent-words.ts';

/** What a turn has been told so far, for the question whose words these are. */
export interface ToldInTurn {
  readonly messages: readonly InboundMessage[];
  /** What tools said; `foreign`: outsiders may have written it. */
  readonly results: readonly { readonly foreign: boolean }[];
  /** Whoever gave a sub-agent its task had been told such words. */
  readonly inherited?: boolean;
}

/** A voice message is spoken into the microphone here; all else may come from anywhere. */
const OF_THE_SENDER: ReadonlySet<string> = new Set(['voice', 'sticker']);

/**
 * Whether a turn holds words of outsiders: of pages, servers and files, of whoever is forwarded or
 * quoted, of sub-agents, which may have read such. It is decided from messages and journal alone, so a
 * turn that is begun again after a crash comes to the same (G16).
 */
export function hasForeignWords({ messages, results, inherited = false }: ToldInTurn): boolean {
  return inherited || results.some(({ foreign }) => foreign) || messages.some(bringsForeignWords);
}

function bringsForeignWords(message: InboundMessage): boolean {
  const { occasion, text, attachments = [], replyTo, chat, sender } = message;
  // What a sub-agent has come to; its own task is told apart from that by its fixed words.
  if (occasion !== undefined) return occasion === 'sub-agent' && text !== BEGIN_WORDS;
  const isQuoting = replyTo?.text !== undefined && replyTo.senderId !== sender.id;
  return (
    isForwarded(text) ||
    isForwarded(replyTo?.text ?? '') ||
    // In a direct chat there is nobody to quote but the two who talk there.
    (isQuoting && chat.type !== 'direct') ||
    attachments.some(({ kind }) => !OF_THE_SENDER.has(kind)) ||
    parsePromptCommand(text) !== null
  );
}
