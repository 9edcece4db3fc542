import { type Capabilities, InboundMessage, ParleyError, stripInternalFields } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import { z } from 'zod';
import type { SenderFacts } from '../adapter.ts';
import type { TypedCommand } from '../commands/command.ts';
import { parseMessageCommand } from '../commands/typed-command.ts';
import { resolveAgent } from './agent-route.ts';
import { type AlbumTracker, computeSettleTime } from './albums.ts';
import { decideGroup } from './decide.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { resolveConversation, resolveReplyRoute } from './route.ts';
import type { DecisionRules } from './rules.ts';
import { askPlatform, findSenderRights, type SenderRights } from './sender.ts';

export interface ArrivedMessage {
  readonly message: InboundMessage;
  readonly capabilities: Capabilities;
  readonly facts: SenderFacts;
  readonly files: readonly Uint8Array[] | undefined;
  readonly trace: string | undefined;
}

/** A message with all facts about it and its sender, before any decision. */
export interface IdentifiedMessage {
  readonly admitted: AdmittedMessage;
  readonly rights: SenderRights;
  readonly facts: SenderFacts;
  /** The command that the message consists of or begins with. */
  readonly command: TypedCommand | null;
  /** The rules of the account, with the owners and approvers of the agent. */
  readonly rules: DecisionRules;
  /** False when the chat names an agent that does not exist. */
  readonly isAgentKnown: boolean;
  /** Why this agent answers, for `why`; null when there is only one agent. */
  readonly agentReason: string | null;
}

/** Validates a message and determines its sender, its agent and its conversation. */
export async function identifyMessage(
  deps: IngressDeps,
  { message: unchecked, capabilities, facts, files, trace }: ArrivedMessage,
  albums: AlbumTracker,
): Promise<IdentifiedMessage> {
  const checked = validateInbound(unchecked);
  const joined = checked.albumId === undefined ? checked : albums.join(checked);
  const message =
    facts.roles === undefined ? joined : await addSenderRoles(deps, joined, facts.roles);
  const { agent, rules, why: agentReason, unknown } = resolveAgent(message, deps.rules);
  const command = parseMessageCommand(message, deps.commands);
  const rights = await findSenderRights({ store: deps.store, rules }, message, command !== null);
  const receivedAt = deps.clock();
  const settles = computeSettleTime(message, capabilities.target, receivedAt);
  const admitted: AdmittedMessage = {
    conversationId: resolveConversation(message, rights.mainConversation, agent),
    message,
    route: resolveReplyRoute(message, capabilities, rules.policy.answers),
    receivedAt,
    ...(settles !== undefined && { settlesAt: settles }),
    fromOwner: rights.isOwner && message.chat.type === 'direct',
    trace,
    ...(files && { files }),
  };
  const isAgentKnown = !unknown;
  return { admitted, rights, facts, command, rules, isAgentKnown, agentReason };
}

/**
 * A message that was fetched later does not contain its sender's roles; if the platform does not
 * answer, the sender has none.
 */
async function addSenderRoles(
  { rules, log }: Pick<IngressDeps, 'rules' | 'log'>,
  message: InboundMessage,
  roles: NonNullable<SenderFacts['roles']>,
): Promise<InboundMessage> {
  const { access } = rules.policy;
  const { chat, sender } = message;
  if ((access.allowRoles ?? []).length === 0) return message;
  if (sender.isBot || sender.roles !== undefined || chat.type === 'direct') return message;
  if (decideGroup(chat, access).kind === 'refused') return message;
  const found = await askPlatform(roles, 'which roles the sender has', log);
  return { ...message, sender: { ...sender, roles: [...(found ?? [])] } };
}

function validateInbound(unchecked: InboundMessage): InboundMessage {
  const parsed = InboundMessage.safeParse(unchecked);
  if (parsed.success) return stripInternalFields(parsed.data);
  throw createContractError(`The ${unchecked.channel} adapter made a message`, parsed.error);
}

/** The error for a contract violation, which is a bug in the adapter. */
export function createContractError(what: string, cause: z.ZodError): ParleyError {
  return new ParleyError({
    code: 'inbound-invalid',
    message: `${what} that violates the contract: ${z.prettifyError(cause)}. This is a bug in the adapter.`,
    retryable: false,
    cause,
  });
}
