import type { InboundMessage } from '@parley/contracts';
import { decideAccess } from './access.ts';
import { decideActivation } from './activation.ts';
import { type CommandName, parseCommand } from './command.ts';
import type { AccountPolicy, IngressLimits } from './policy.ts';

/** What ingress will do with a message, decided from facts alone. */
export type IngressDecision =
  | { readonly kind: 'turn' }
  | { readonly kind: 'command'; readonly name: CommandName }
  /** `overhear`: the text is kept for the next turn of the group (F06). */
  | { readonly kind: 'ignore'; readonly reason: string; readonly overhear: boolean }
  /** `tell` says whether the sender deserves an explanation, and which. */
  | {
      readonly kind: 'refuse';
      readonly reason: string;
      readonly tell: 'stranger' | 'too-long' | null;
    };

/** What the decision is made by. */
export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  readonly limits: IngressLimits;
}

/** The ingress pipeline as one pure function: bot guard, access, activation, command, size. */
export function decideIngress(message: InboundMessage, rules: DecisionRules): IngressDecision {
  if (message.sender.isBot) return ignore('written by a bot');
  const access = decideAccess(message, rules.policy, rules.owners);
  if (access.kind === 'refused') {
    // In a group that is not served an explanation would be noise, and would tell that a bot listens.
    return {
      kind: 'refuse',
      reason: access.reason,
      tell: message.chat.type === 'direct' ? 'stranger' : null,
    };
  }
  const activation = decideActivation(message, rules.policy);
  const isEmpty = message.text.trim() === '' && message.attachments === undefined;
  if (activation.kind === 'stay-silent') {
    return ignore(activation.reason, activation.overhear && !isEmpty);
  }
  if (isEmpty) return ignore('no text');
  const command = parseCommand(message.text);
  if (command) return { kind: 'command', name: command };
  if (message.text.length > rules.limits.messageCharacters) {
    return {
      kind: 'refuse',
      reason: `longer than ${rules.limits.messageCharacters} characters`,
      tell: 'too-long',
    };
  }
  return { kind: 'turn' };
}

function ignore(reason: string, overhear = false): IngressDecision {
  return { kind: 'ignore', reason, overhear };
}
