import type { BusyPolicy, InboundMessage } from '@parley/contracts';
import { decideAccess, type StrangerNews } from './access.ts';
import { decideActivation } from './activation.ts';
import { isInTurn, parseCommand, type TypedCommand } from './command.ts';
import type { AccountPolicy, IngressLimits } from './policy.ts';
import type { Standing } from './standing.ts';

/** What ingress will do with a message and why, decided from facts alone. */
export type IngressDecision = {
  readonly reason: string;
} /** `command`: one that is carried out as a turn. */ & (
  | { readonly kind: 'turn'; readonly command?: TypedCommand }
  | { readonly kind: 'command'; readonly command: TypedCommand }
  /** `overhear`: the text is kept for the next turn of the group (F06). */
  | { readonly kind: 'ignore'; readonly overhear: boolean }
  /** `tell` says whether the sender deserves an explanation, and which. */
  | { readonly kind: 'refuse'; readonly tell: StrangerNews | 'too-long' | null }
);

/** What the decision is made by. */
export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  /** Who may decide approvals besides owners. */
  readonly approvers?: readonly string[];
  readonly limits: IngressLimits;
  /** What becomes of messages that arrive during a turn; `collect` when absent. */
  readonly busy?: BusyPolicy;
}

/** The ingress pipeline as one pure function: bot guard, access, activation, command, size. */
export function decideIngress(
  message: InboundMessage,
  { policy, limits }: Pick<DecisionRules, 'policy' | 'limits'>,
  standing: Pick<Standing, 'isOwner' | 'isLetIn'>,
): IngressDecision {
  if (message.sender.isBot) return ignore('written by a bot');
  const access = decideAccess(message, policy, standing);
  if (access.kind === 'refused') {
    return { kind: 'refuse', reason: access.reason, tell: access.tell };
  }
  const activation = decideActivation(message, policy);
  const isEmpty = message.text.trim() === '' && message.attachments === undefined;
  if (activation.kind === 'stay-silent') {
    return ignore(activation.reason, activation.overhear && !isEmpty);
  }
  if (isEmpty) return ignore('no text');
  const reason = `${access.reason}; ${activation.reason}`;
  const command = parseCommand(message.text);
  if (command && !isInTurn(command.name)) return { kind: 'command', command, reason };
  if (message.text.length > limits.messageCharacters) {
    const tooLong = `longer than ${limits.messageCharacters} characters`;
    return { kind: 'refuse', reason: tooLong, tell: 'too-long' };
  }
  return { kind: 'turn', reason, ...(command && { command }) };
}

function ignore(reason: string, overhear = false): IngressDecision {
  return { kind: 'ignore', reason, overhear };
}
