import type { InputOf } from '@parley/gateway/operations';
import { saveText } from '../drafts.ts';

/**
 * The gateway stores a request id once, so retrying a reply that may have arrived cannot send it
 * twice.
 */
export type ReplyRequest = Pick<
  InputOf<'conversations/reply'>,
  'conversationId' | 'text' | 'as' | 'requestId'
>;

/**
 * The request for a reply. It is the previous request if the text is the same. Otherwise it has a
 * new id, because the gateway would ignore different text under a known id.
 */
export function createReplyRequest(
  reply: Omit<ReplyRequest, 'requestId'>,
  last: ReplyRequest | null,
  newId: () => string,
): ReplyRequest {
  const isSame =
    last?.conversationId === reply.conversationId &&
    last.text === reply.text &&
    last.as === reply.as;
  return isSame ? last : { ...reply, requestId: newId() };
}

/** Prefix of the storage keys; the id of the conversation follows. */
const SENT = 'parley.reply.';

/** The last request of a conversation that the gateway has not confirmed; null if there is none. */
export function readReplyRequest(conversationId: string): ReplyRequest | null {
  try {
    const kept = JSON.parse(localStorage.getItem(SENT + conversationId) ?? '{}');
    const { text, as, requestId } = kept;
    const isSound =
      typeof text === 'string' &&
      typeof requestId === 'string' &&
      (as === 'agent' || as === 'self');
    return isSound ? { conversationId, text, as, requestId } : null;
  } catch {
    return null;
  }
}

/** Keeps a request until it is confirmed, so that a reload does not give the reply a new id. */
export function saveReplyRequest(request: ReplyRequest): void {
  saveText(SENT + request.conversationId, JSON.stringify(request));
}

/** Forgets the request of a conversation, because the gateway has confirmed it. */
export function removeReplyRequest(conversationId: string): void {
  saveText(SENT + conversationId, '');
}
