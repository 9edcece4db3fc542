import { createContractError, parseCommand, type Revision } from '@parley/channels';
import { InboundMessage, stripInternalFields } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';

const RevisionShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edited'), message: InboundMessage }),
  z.object({ kind: z.literal('deleted'), chatId: z.string(), messageId: z.string() }),
]);

/**
 * Applies a person's edit or deletion of an earlier message. Throws ParleyError `inbound-invalid`.
 */
export async function reviseMessage(
  { inbox }: Pick<Store, 'inbox'>,
  place: { readonly channel: string; readonly account: string },
  revision: Revision,
): Promise<void> {
  const { data: known, error } = RevisionShape.safeParse(revision);
  if (error)
    throw createContractError(`The ${place.channel} adapter reported an invalid change`, error);
  if (known.kind === 'deleted') {
    const { chatId, messageId } = known;
    await inbox.revise({ ...place, chatId, messageId }, null);
    return;
  }
  const message = stripInternalFields(known.message);
  // Commands are authorized when they arrive, so an edit cannot turn a message into a command.
  if (message.chat.type !== 'direct' && parseCommand(message.text) !== null) return;
  await inbox.revise({ ...place, chatId: message.chat.id, messageId: message.messageId }, message);
}
