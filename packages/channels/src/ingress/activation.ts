import type { InboundMessage } from '@parley/contracts';
import type { AccountPolicy } from './policy.ts';

/** Whether a message that is allowed also asks the bot for an answer. */
export type ActivationDecision =
  | { readonly kind: 'answer' }
  /** `overhear`: a later turn of the group may need to know what was said. */
  | { readonly kind: 'stay-silent'; readonly reason: string; readonly overhear: boolean };

/** Decides activation (F06): always in direct chats, in groups only as the settings say. */
export function decideActivation(
  message: InboundMessage,
  policy: AccountPolicy,
): ActivationDecision {
  if (message.chat.type === 'direct') return { kind: 'answer' };
  switch (policy.activation) {
    case 'always':
      return { kind: 'answer' };
    case 'never':
      return { kind: 'stay-silent', reason: 'activation is "never" in groups', overhear: false };
    case 'mention':
      return message.addressed
        ? { kind: 'answer' }
        : { kind: 'stay-silent', reason: 'nobody addressed the bot', overhear: true };
  }
}
