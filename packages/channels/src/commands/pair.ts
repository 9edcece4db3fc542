import type { Clock } from '@parley/core';
import { render } from '@parley/markup';
import type { NewPart, PairingRequest, PairingState, Store } from '@parley/store';
import { canAllowStranger } from '../ingress/agent-route.ts';
import { typedPairingCode } from '../ingress/one-time-code.ts';
import { createNoticeParts } from '../ingress/route.ts';
import { formatQuotedName } from '../ingress/sender.ts';
import { defineChatCommand } from './command.ts';

/** Admits the stranger with this code, or lists the people who wait for access (F05). */
export const pair = defineChatCommand({
  name: 'pair',
  summary: 'allow a person',
  takes: '[code]',
  rest: 'argument',
  who: 'owner',
  where: 'direct',
  private: true,
  async run({ argument, message, rules }, transaction) {
    const code = typedPairingCode(argument);
    const found = await transaction.pair(code, (stranger) =>
      canAllowStranger(rules, message, stranger),
    );
    const { approved } = found;
    return {
      answer: describePairing(argument, found),
      notify: approved === null ? [] : createWelcomeParts(approved),
    };
  },
});

/**
 * `/pair` outside a chat: admits the sender with the code `argument`, or lists the waiting people
 * if it is empty. A running gateway notifies the admitted person within seconds; otherwise the
 * person is notified when the next gateway starts.
 */
export async function pairOutsideChat(
  store: Pick<Store, 'pairing'>,
  argument: string,
  clock: Clock,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const code = typedPairingCode(argument);
  const now = clock();
  const approved =
    code === null ? null : await store.pairing.approve(code, createWelcomeParts, now);
  const pending = await store.pairing.pending(now);
  const ok = approved !== null || argument === '';
  return { ok, text: renderPlainText(describePairing(argument, { approved, pending })) };
}

/**
 * Removes the access request with this code from the list. The person is not notified, and can ask
 * again once the code has expired.
 */
export async function refusePairing(
  store: Pick<Store, 'pairing'>,
  argument: string,
  clock: Clock,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const code = typedPairingCode(argument);
  const refused = code === null ? null : await store.pairing.refuse(code, clock());
  if (refused === null) {
    return { ok: false, text: 'No one is waiting with that code; it may have expired.' };
  }
  return { ok: true, text: renderPlainText(`${describeApplicant(refused)} gets no access.`) };
}

/** The notice to an admitted person, in their own chat. */
function createWelcomeParts({ route }: PairingRequest): readonly NewPart[] {
  const text = 'You have access now. Just write to me; /help shows what else there is.';
  return createNoticeParts(text, route, { conversationId: null });
}

function describePairing(argument: string, { approved, pending }: PairingState): string {
  const waiting =
    pending.length === 0
      ? 'No one is waiting for access.'
      : ['Waiting for access:\n', ...pending.map(formatPairingRequest)].join('\n');
  if (approved !== null) return `${describeApplicant(approved)} has access now.`;
  if (argument === '') return waiting;
  return `No one is waiting with that code; it may have expired.\n\n${waiting}`;
}

function formatPairingRequest(request: PairingRequest): string {
  return `- ${describeApplicant(request)}: \`/pair ${request.code}\``;
}

function describeApplicant({ channel, senderId, senderName }: PairingRequest): string {
  return `${formatQuotedName(senderName)} (\`${channel}:${senderId}\`)`;
}

function renderPlainText(markdown: string): string {
  const parts = render(markdown, { dialect: 'plain', maxLength: 10_000, unit: 'utf16' });
  return parts.map(({ plain }) => plain).join('\n');
}
