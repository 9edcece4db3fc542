import type { InboundMessage } from '@parley/contracts';
import type { AccountPolicy } from './policy.ts';

/** Whether a message that is allowed also asks the bot for an answer, and why. */
export type ActivationDecision =
  | { readonly kind: 'answer'; readonly reason: string }
  /** `overhear`: a later turn of the group may need to know what was said. */
  | { readonly kind: 'stay-silent'; readonly reason: string; readonly overhear: boolean };

/** Decides activation (F06): always in direct chats, in groups only as the settings say. */
export function decideActivation(
  message: InboundMessage,
  { activation }: Pick<AccountPolicy, 'activation'>,
): ActivationDecision {
  if (message.chat.type === 'direct') return { kind: 'answer', reason: 'in a direct chat' };
  switch (activation) {
    case 'always':
      return { kind: 'answer', reason: 'everything in groups is answered' };
    case 'never':
      return { kind: 'stay-silent', reason: 'groups are never answered', overhear: false };
    case 'mention':
      return message.addressed
        ? { kind: 'answer', reason: 'addressed to the bot' }
        : { kind: 'stay-silent', reason: 'nobody addressed the bot', overhear: true };
  }
}
