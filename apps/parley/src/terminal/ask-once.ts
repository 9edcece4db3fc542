import { ParleyError } from '@parley/contracts';
import { CliError } from '../cli-error.ts';
import type { ChatHistory, GatewayClient } from './gateway-client.ts';

/**
 * Sends one message and waits for its answer, for scripts and pipes. Throws CliError when the gateway
 * does not take the message; an empty one has no answer.
 */
export async function askOnce(
  client: GatewayClient,
  ended: AbortController,
  message: string,
): Promise<string> {
  if (message.trim() === '') return '';
  const sent = await client.send(message.trimEnd());
  if (sent.kind === 'refused' || sent.kind === 'ignored') {
    throw new CliError('chat-refused', `The message was not taken: ${sent.reason ?? sent.kind}.`);
  }
  let answer: string | null = null;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || ended.signal.aborted) return;
    looking = true;
    try {
      answer = answerTo(await client.history(), sent.id);
    } catch (error) {
      if (error instanceof ParleyError) ended.abort(error);
    } finally {
      looking = false;
    }
    if (answer !== null) ended.abort();
  };
  await client.watch({
    linked: look,
    lost: () => undefined,
    event: (event) => {
      if (event.type === 'part' || event.type === 'stream-end') look();
    },
  });
  if (ended.signal.reason instanceof ParleyError) throw ended.signal.reason;
  return answer ?? '';
}

/** The answer to a message once its turn has ended, '' for none; null while it is still to come. */
export function answerTo(history: ChatHistory, messageId: string): string | null {
  const at = history.findIndex(
    (entry) => entry.type === 'inbound' && entry.messageId === messageId,
  );
  const asked = history[at];
  if (asked?.type !== 'inbound' || asked.outcome === null) return null;
  const parts = history.slice(at + 1).filter((entry) => entry.type === 'part');
  // A part of an earlier question may have come in between; this one's turn was the last to end.
  const turnId = parts.at(-1)?.turnId ?? null;
  const own = turnId === null ? parts.slice(-1) : parts.filter((part) => part.turnId === turnId);
  return own.map(({ text }) => text).join('\n\n');
}
