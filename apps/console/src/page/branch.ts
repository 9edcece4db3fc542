import { saveDraft } from './drafts.ts';
import { type ActionOutcome, createRandomId, performOperation } from './gateway.ts';
import { toChatHref } from './route.ts';

/**
 * Opens a copy of a conversation up to a message and shows it; `draft` becomes its unsent text.
 * Returns the reason if there is no copy.
 */
export async function openBranch(
  id: string,
  message: string,
  draft = '',
): Promise<ActionOutcome | undefined> {
  const answer = await performOperation('conversations/branch', {
    ...{ id, message },
    requestId: createRandomId(),
  });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  const { chatId } = answer.value;
  saveDraft(chatId, draft);
  location.hash = toChatHref(chatId);
  return undefined;
}
